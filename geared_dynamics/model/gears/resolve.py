"""A drivetrain with gear trains -> the same with every wheel on a link and its spin known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from geared_dynamics.description.records import (
    DrivetrainRecord,
    RobotRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.gears.circuit import mesh_form
from geared_dynamics.model.gears.expand import Expansion, expand, refuse_beside
from geared_dynamics.model.gears.flatten import on_links, total_spins
from geared_dynamics.model.gears.forms import Form, Variable, coefficients, combined, exact
from geared_dynamics.model.gears.sizes import Doubt, size_doubts
from geared_dynamics.model.gears.skeleton import skeleton
from geared_dynamics.model.gears.solve import Equation, solve
from geared_dynamics.model.topology import coordinates, following


@dataclass(frozen=True)
class ResolvedDrivetrain(DrivetrainRecord):
    """A solved drivetrain: every wheel sits on a link and is fixed by one spin.

    ``wheels`` are the file's, then those of the sets, then those that only the URDF gives;
    ``meshes`` are the file's, then those of the sets: all n planets' pairs. ``riders`` are
    the wheels that other wheels carry, with the latter's names. ``stated`` are the spins
    that the files state, relative to whatever carries the wheel. ``apart`` are the riders,
    and the wheels into which the mass of orbiting ones has gone, each as it is by itself and
    on its own carrier. ``doubts`` are place, finding and remedy of gears whose radii hardly
    fit the distance of their axes. ``planetary`` and ``harmonic`` are kept as they were.
    """

    riders: tuple[tuple[str, str], ...] = ()
    stated: tuple[SpinRecord, ...] = ()
    apart: tuple[WheelRecord, ...] = ()
    doubts: tuple[Doubt, ...] = ()


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
        Paper 001, eq. (9)-(12); paper 003, eq. (9), (10) with physical signs.
    """
    refuse_turning(robot, drivetrain)
    if isinstance(drivetrain, ResolvedDrivetrain) or not has_trains(drivetrain):
        return drivetrain
    source = drivetrain.source
    expansions = expand(robot, drivetrain, frozen)
    wheels = ordered(drivetrain, expansions)
    bodies = skeleton(robot, wheels, frozen, source)
    names = [wheel.name for wheel in wheels]
    refuse_unknown(drivetrain, names)
    for expansion in expansions:
        refuse_beside(expansion, bodies)
    needed = [*drivetrain.meshes, *(m for e in expansions for m in e.meshes[: e.needed])]
    equations = given(drivetrain, robot, frozen)
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


def refuse_turning(robot: RobotRecord, drivetrain: DrivetrainRecord) -> None:
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
    """Key path of a spin that nobody states: it follows from meshes."""
    return f"wheels.{wheel}"


def has_trains(drivetrain: DrivetrainRecord) -> bool:
    """Whether there is anything to solve."""
    names = {wheel.name for wheel in drivetrain.wheels}
    carried = any(wheel.carrier in names for wheel in drivetrain.wheels)
    return carried or bool(drivetrain.meshes or drivetrain.planetary or drivetrain.harmonic)


def ordered(drivetrain: DrivetrainRecord, expansions: Sequence[Expansion]) -> list[WheelRecord]:
    """Wheels of the file, of the sets, and those that only the URDF gives."""
    own = [wheel for wheel in drivetrain.wheels if not wheel.origin]
    foreign = [wheel for wheel in drivetrain.wheels if wheel.origin]
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


def given(
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
