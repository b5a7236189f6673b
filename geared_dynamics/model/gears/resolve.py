"""``resolve``: a drivetrain with its gear trains solved: every wheel on a link, its spin known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    HarmonicRecord,
    MeshRecord,
    PlanetaryRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.gear_sections import (
    refuse_impossible_drive,
    refuse_impossible_set,
)
from geared_dynamics.description.robot_records import RobotRecord
from geared_dynamics.errors import ModelError, Note, UnknownNameError
from geared_dynamics.model.facts import coordinates, following
from geared_dynamics.model.gears import gear_sets
from geared_dynamics.model.gears.carried_wheels import on_links, size_doubts, total_spins
from geared_dynamics.model.gears.gear_sets import Seat, seat_of
from geared_dynamics.model.gears.mesh_equation import (
    AxisLine,
    Bodies,
    mesh_form,
    misfit,
    placed_bodies,
)
from geared_dynamics.model.gears.solve import (
    Equation,
    Form,
    Variable,
    coefficients,
    combined,
    exact,
    solve,
)

# -- Gear sets of a drivetrain as wheels and meshes -----------------------------------------------


@dataclass(frozen=True)
class Expansion:
    """What a gear set stands for.

    Attributes:
        wheels: Its wheels.
        meshes: All its gear pairs.
        needed: How many of these, from the first, fix the spins.
        coaxial: Bodies on the set's axis, by name.
        line: That axis.
        within: How far the bodies' own axes may be away from it [m].
        place: File and key path.
    """

    wheels: list[WheelRecord]
    meshes: list[MeshRecord]
    needed: int
    coaxial: list[str]
    line: AxisLine
    within: float
    place: str


@dataclass(frozen=True)
class Started:
    """A planetary set without its planets: which body each member is, and their wheels."""

    record: PlanetaryRecord
    seat: Seat
    bodies: dict[str, str]
    wheels: list[WheelRecord]
    place: str


def expand(
    robot: RobotRecord, drivetrain: DrivetrainRecord, frozen: frozenset[str]
) -> list[Expansion]:
    """Expand planetary sets, then harmonic drives, in file order.

    The sets' members come before any planet, since planets may ride on a wheel of a set
    further down the file.
    """
    source = drivetrain.source
    links = placed_bodies(robot, (), frozen, source)

    def place_and_seat(record: PlanetaryRecord | HarmonicRecord, key: str) -> tuple[str, Seat]:
        place = f"{source}, {key}.{record.name}"
        return place, seat_of(record, robot, links, frozen, place)

    started, generators = [], []
    for record in drivetrain.planetary:
        refuse_impossible_set(record, f"{source}, planetary.{record.name}")
        place, seat = place_and_seat(record, "planetary")
        bodies, wheels = gear_sets.member_wheels(record, seat, links, place)
        started.append(Started(record, seat, bodies, wheels, place))
    for drive in drivetrain.harmonic:
        place, seat = place_and_seat(drive, "harmonic")
        refuse_impossible_drive(drive, place)
        wheel = gear_sets.wave_generator(drive, seat, links)
        generators.append(
            Expansion(
                [wheel],
                [gear_sets.mesh_of(drive, seat)],
                1,
                [wheel.name],
                seat.line,
                seat.within,
                place,
            )
        )
    known = {wheel.name: wheel for wheel in drivetrain.wheels}
    known |= {wheel.name: wheel for one in started for wheel in one.wheels}
    known |= {wheel.name: wheel for one in generators for wheel in one.wheels}
    planets = [
        f"{one.record.name}.planet_{k + 1}" for one in started for k in range(one.record.planets)
    ]
    for one in started:
        refuse_unknown_members(one, [*links, *known, *planets])
    expansions = []
    for one in started:
        carrier = one.bodies["carrier"]
        link = carrying_link(carrier, known)
        if link not in links:
            raise UnknownNameError(
                f"{one.place}.carrier", "link or wheel", carrier, [*links, *known]
            )
        own = gear_sets.planet_wheels(one.record, one.seat, carrier, link, links, one.place)
        meshes = gear_sets.meshes_of(one.record, one.bodies)
        wheels, needed, members = [*one.wheels, *own], len(own) + 1, [*one.bodies.values()]
        seat = one.seat
        expansions.append(
            Expansion(wheels, meshes, needed, members, seat.line, seat.within, one.place)
        )
    return [*expansions, *generators]


def refuse_unknown_members(one: Started, names: Sequence[str]) -> None:
    """Raise for a member that is said to be a body that does not exist."""
    for member, name in one.bodies.items():
        if name not in names:
            raise UnknownNameError(f"{one.place}.{member}", "link or wheel", name, names)


def carrying_link(name: str, wheels: Mapping[str, WheelRecord]) -> str:
    """What carries a body at last; the body itself if it is no wheel."""
    seen = set()
    while name in wheels and name not in seen:
        seen.add(name)
        name = wheels[name].carrier
    return name


def refuse_beside(expansion: Expansion, bodies: Bodies) -> None:
    """Raise for a wheel that is a member of a set and does not turn about the set's axis."""
    for name in expansion.coaxial:
        body = bodies.get(name)
        if body is None or body.link == name or body.bearing is None:
            continue  # names and links are judged with the meshes
        gap = misfit(body.bearing, expansion.line, expansion.within)
        if gap:
            finding = f"{body.bearing.words} {gap}"
            raise ModelError(
                expansion.place, finding, "mount it on the axis of the set, or correct that axis"
            )


# -- A drivetrain with gear trains -> the same with every wheel on a link and its spin known ------


@dataclass(frozen=True)
class ResolvedDrivetrain(DrivetrainRecord):
    """A solved drivetrain: every wheel sits on a link and is fixed by one spin.

    ``wheels`` are the file's, then those of the sets, then those that only the URDF gives;
    ``meshes`` are the file's, then those of the sets: all n planets' pairs. ``riders`` are
    the wheels that other wheels carry, with the latter's names. ``stated`` are the spins
    that the files state, relative to whatever carries the wheel. ``apart`` are the riders,
    and the wheels into which the mass of orbiting ones has gone, each as it is by itself and
    on its own carrier. ``doubts`` are notes on gears whose radii hardly fit the distance
    of their axes. ``planetary`` and ``harmonic`` are kept as they were.
    """

    riders: tuple[tuple[str, str], ...] = ()
    stated: tuple[SpinRecord, ...] = ()
    apart: tuple[WheelRecord, ...] = ()
    doubts: tuple[Note, ...] = ()


def resolve(
    robot: RobotRecord, drivetrain: DrivetrainRecord, frozen: frozenset[str] = frozenset()
) -> DrivetrainRecord:
    """Expand gear sets, solve the meshes, put wheels carried by wheels on links.

    A drivetrain without any of these comes back as it is, and so does a resolved one.

    Args:
        robot: A tree of links without free joints.
        drivetrain: Records as the files give them.
        frozen: Joints that were frozen and are fixed in ``robot``; spins may name them.

    Raises:
        ModelError: for screws and racks on joints that turn; for trains that leave wheels
            free or locked, fix them twice, or turn about other axes than their wheels', by
            name.
        UnknownNameError: for names that are neither links nor wheels, or motors' wheels
            that do not exist.

    References:
        Chen 1998, eq. (9)-(12); Fernini 2023, eq. (9), (10) with physical signs.
    """
    refuse_screws_on_turning_joints(robot, drivetrain)
    if isinstance(drivetrain, ResolvedDrivetrain) or not has_trains(drivetrain):
        return drivetrain
    source = drivetrain.source
    expansions = expand(robot, drivetrain, frozen)
    wheels = ordered(drivetrain, expansions)
    bodies = placed_bodies(robot, wheels, frozen, source)
    names = [wheel.name for wheel in wheels]
    refuse_unknown(drivetrain, names)
    for expansion in expansions:
        refuse_beside(expansion, bodies)
    needed = [*drivetrain.meshes, *(m for e in expansions for m in e.meshes[: e.needed])]
    equations = stated_spins(drivetrain, robot, frozen)
    equations += [Equation(mesh_form(mesh, bodies, source), mesh.place) for mesh in needed]
    doubts = [doubt for mesh in drivetrain.meshes for doubt in size_doubts(mesh, bodies, source)]
    total = total_spins(wheels, solve(equations, names, source))
    riders = tuple((wheel.name, wheel.carrier) for wheel in wheels if wheel.carrier in names)
    refuse_riding_motors(drivetrain, dict(riders))
    content = {field.name: getattr(drivetrain, field.name) for field in fields(DrivetrainRecord)}
    flat = tuple(on_links(wheels, source))
    apart = tuple(own for own, put in zip(wheels, flat, strict=True) if own != put)
    content |= {
        "wheels": flat,
        "spins": spins(drivetrain, names, total, dict(riders)),
        "meshes": (*drivetrain.meshes, *(m for e in expansions for m in e.meshes)),
    }
    return ResolvedDrivetrain(
        **content, riders=riders, stated=drivetrain.spins, apart=apart, doubts=tuple(doubts)
    )


def refuse_screws_on_turning_joints(robot: RobotRecord, drivetrain: DrivetrainRecord) -> None:
    """Raise for a screw or a rack whose joint turns: its ratio is per metre of slide."""
    turning = {j.name: j.kind for j in robot.joints if j.kind in ("revolute", "continuous")}
    for spin in drivetrain.spins:
        for joint, _ in spin.coefficients if spin.length else ():
            if joint in turning:
                place = f"{drivetrain.source}, {spin.place}.{spin.length}"
                finding = f"joint {joint!r} of wheel {spin.wheel!r} is {turning[joint]}"
                remedy = "write ratio, or name a prismatic joint"
                raise ModelError(place, finding, remedy)


def solved_place(wheel: str) -> str:
    """Key path of a spin that is not stated: it follows from meshes."""
    return f"wheels.{wheel}"


def has_trains(drivetrain: DrivetrainRecord) -> bool:
    """Whether there is anything to solve."""
    names = {wheel.name for wheel in drivetrain.wheels}
    carried = any(wheel.carrier in names for wheel in drivetrain.wheels)
    return carried or bool(drivetrain.meshes or drivetrain.planetary or drivetrain.harmonic)


def ordered(drivetrain: DrivetrainRecord, expansions: Sequence[Expansion]) -> list[WheelRecord]:
    """Wheels of the file, of the sets, and those that only the URDF gives."""
    own = [wheel for wheel in drivetrain.wheels if not wheel.urdf_origin]
    foreign = [wheel for wheel in drivetrain.wheels if wheel.urdf_origin]
    return [*own, *(wheel for e in expansions for wheel in e.wheels), *foreign]


def refuse_unknown(drivetrain: DrivetrainRecord, names: Sequence[str]) -> None:
    """Raise for spins and motors of wheels that do not exist."""
    places = [(spin.place, spin.wheel) for spin in drivetrain.spins]
    places += [(f"motors.{motor.name}", motor.wheel) for motor in drivetrain.motors]
    for place, wheel in places:
        if wheel not in names:
            raise UnknownNameError(f"{drivetrain.source}, {place}.wheel", "wheel", wheel, names)


def refuse_riding_motors(drivetrain: DrivetrainRecord, riders: Mapping[str, str]) -> None:
    """Raise for a motor whose housing is a wheel: A holds spins relative to links."""
    for motor in drivetrain.motors:
        if motor.wheel in riders:
            finding = f"turns {motor.wheel!r}, which the wheel {riders[motor.wheel]!r} carries"
            remedy = "let the motor turn a wheel that a link carries"
            raise ModelError(f"{drivetrain.source}, motors.{motor.name}.wheel", finding, remedy)


def stated_spins(
    drivetrain: DrivetrainRecord, robot: RobotRecord, frozen: frozenset[str]
) -> list[Equation]:
    """The spins that the file states: wheel - sum of coefficient * rate = 0."""
    own = coordinates(robot)
    rates: dict[str, Form] = {
        joint: {Variable("rate", own[motion.dof]): exact(motion.multiplier)}
        for joint, motion in following(robot).items()
    }
    rates |= {joint: {Variable("rate", joint): Fraction(1)} for joint in frozen}
    equations = []
    for spin in drivetrain.spins:
        for joint, _ in spin.coefficients:
            if joint not in rates:
                place = f"{drivetrain.source}, {spin.place}"
                raise UnknownNameError(place, "movable joint", joint, rates)
        wheel: Form = {Variable("spin", spin.wheel): Fraction(1)}
        terms = [(-exact(factor), rates[joint]) for joint, factor in spin.coefficients]
        equations.append(Equation(combined([(1, wheel), *terms]), spin.place, is_spin=True))
    return equations


def spins(
    drivetrain: DrivetrainRecord,
    names: Sequence[str],
    total: Mapping[str, Form],
    riders: Mapping[str, str],
) -> tuple[SpinRecord, ...]:
    """Each wheel's spin relative to its link: in the file's own words where it has them."""
    own = {spin.wheel: spin for spin in drivetrain.spins}
    result = []
    for name in names:
        if name in own and name not in riders:
            result.append(own[name])
        else:
            place = own[name].place if name in own else solved_place(name)
            found = coefficients(total[name], f"{drivetrain.source}, {place}")
            result.append(SpinRecord(name, found, place))
    return tuple(result)
