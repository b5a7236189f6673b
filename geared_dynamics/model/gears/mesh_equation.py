"""The equation of one mesh: links and wheels as one tree, the circuit that the mesh closes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.drive_records import MeshRecord, WheelRecord
from geared_dynamics.description.robot_records import JointRecord, RobotRecord
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.facts import Follow, coordinates, following, root_link
from geared_dynamics.model.gears.solve import Form, Variable, combined, exact, quoted

# -- Links and wheels as one tree of bodies, placed at joint positions zero -----------------------


@dataclass(frozen=True, eq=False)
class Bearing:
    """How a body moves in the body that holds it.

    Attributes:
        holder: Name of the body that holds it.
        words: What to call it in an error, such as ``joint 'elbow'``.
        kind: ``frozen`` is a joint that is held still; how it moved is not known any more.
        axis: Unit vector in the root frame, all joints at zero.
        point: A point on the axis there [m].
        rate: Angular rate of the body relative to its holder about ``axis``.
    """

    holder: str
    words: str
    kind: Literal["fixed", "turns", "slides", "frozen"]
    axis: Array
    point: Array
    rate: Form


@dataclass(frozen=True, eq=False)
class Body:
    """A link in its frame, or a wheel in the frame of the link that it sits in at last."""

    link: str
    rotation: Array
    position: Array
    bearing: Bearing | None


Bodies = Mapping[str, Body]


def placed_bodies(
    robot: RobotRecord, wheels: Iterable[WheelRecord], frozen: frozenset[str], source: str
) -> dict[str, Body]:
    """Place every link and wheel in the root frame.

    Args:
        robot: A tree of links without free joints.
        wheels: Wheels, carried by links or by each other.
        frozen: Joints that were frozen and are fixed in ``robot``.
        source: The drivetrain file, for errors.
    """
    bodies = placed_links(robot, frozen)
    waiting = {}
    for wheel in wheels:
        place = f"{source}, wheels.{wheel.name}"
        if wheel.name in bodies:
            raise ModelError(place, "is also the name of a link", "rename the wheel")
        if wheel.name in waiting:
            raise ModelError(place, "duplicate wheel name", "rename one of the two wheels")
        waiting[wheel.name] = wheel
    for wheel in waiting.values():
        if wheel.carrier not in bodies and wheel.carrier not in waiting:
            place = f"{source}, wheels.{wheel.name}.carrier"
            raise UnknownNameError(place, "link or wheel", wheel.carrier, [*bodies, *waiting])
    while waiting:
        ready = [wheel for wheel in waiting.values() if wheel.carrier in bodies]
        if not ready:
            raise carried_in_circle(waiting, source)
        for wheel in ready:
            bodies[wheel.name] = placed_wheel(waiting.pop(wheel.name), bodies)
    return bodies


def carried_in_circle(waiting: Mapping[str, WheelRecord], source: str) -> ModelError:
    """Wheels that no link carries at last: those of the circle, without what rides on it."""
    seen: list[str] = []
    name = next(iter(waiting))
    while name not in seen:
        seen.append(name)
        name = waiting[name].carrier
    circle = sorted(seen[seen.index(name) :], key=list(waiting).index)
    verb = "carry each other in a circle" if len(circle) > 1 else "carries itself"
    which = "one of them" if len(circle) > 1 else "it"
    return ModelError(f"{source}, wheels", f"{quoted(circle)} {verb}", f"mount {which} on a link")


def placed_links(robot: RobotRecord, frozen: frozenset[str]) -> dict[str, Body]:
    """Place the links."""
    incoming = {joint.child: joint for joint in robot.joints}
    follow, own = following(robot), coordinates(robot)
    root = root_link(robot)
    bodies = {root: Body(root, np.eye(3), np.zeros(3), None)}
    for link in robot.links:
        chain = []
        name = link.name
        while name not in bodies:
            chain.append(incoming[name])
            name = incoming[name].parent
        for joint in reversed(chain):
            parent = bodies[joint.parent]
            rotation = parent.rotation @ np.array(joint.rotation)
            position = parent.position + parent.rotation @ np.array(joint.position)
            bearing = Bearing(
                holder=joint.parent,
                words=f"joint {joint.name!r}",
                kind=motion_of(joint, frozen),
                axis=rotation @ np.array(joint.axis),
                point=position,
                rate=rate_of(joint, follow, own, frozen),
            )
            bodies[joint.child] = Body(joint.child, rotation, position, bearing)
    return bodies


def motion_of(
    joint: JointRecord, frozen: frozenset[str]
) -> Literal["fixed", "turns", "slides", "frozen"]:
    """How a joint moves."""
    if joint.kind == "fixed":
        return "frozen" if joint.name in frozen else "fixed"
    return "slides" if joint.kind == "prismatic" else "turns"


def rate_of(
    joint: JointRecord, follow: Mapping[str, Follow], own: tuple[str, ...], frozen: frozenset[str]
) -> Form:
    """Rate of a joint in terms of coordinates; a frozen joint's keeps its name.

    What follows a frozen joint is thereby distinguished from what is locked; the model drops it.
    """
    if joint.name in follow:
        motion = follow[joint.name]
        return {Variable("rate", own[motion.dof]): exact(motion.multiplier)}
    return {Variable("rate", joint.name): Fraction(1)} if joint.name in frozen else {}


def placed_wheel(wheel: WheelRecord, bodies: Bodies) -> Body:
    """Place a wheel whose carrier is placed."""
    carrier = bodies[wheel.carrier]
    bearing = Bearing(
        holder=wheel.carrier,
        words=f"wheel {wheel.name!r}",
        kind="turns",
        axis=carrier.rotation @ np.array(wheel.axis),
        point=carrier.position + carrier.rotation @ np.array(wheel.position),
        rate={Variable("spin", wheel.name): Fraction(1)},
    )
    return Body(carrier.link, carrier.rotation, carrier.position, bearing)


def bearings_between(bodies: Bodies, end: str, start: str) -> list[tuple[int, Bearing]]:
    """Bearings between two bodies, from ``end`` to ``start``.

    The sign is that of the bearing's rate in the rate of ``end`` relative to ``start``.
    """
    above_end, above_start = upwards(bodies, end), upwards(bodies, start)
    common = next(name for name in above_end if name in set(above_start))
    ends = above_end[: above_end.index(common)]
    starts = above_start[: above_start.index(common)]
    signed = [(1, bodies[name].bearing) for name in ends]
    signed += [(-1, bodies[name].bearing) for name in reversed(starts)]
    return [(sign, bearing) for sign, bearing in signed if bearing is not None]


def upwards(bodies: Bodies, name: str) -> list[str]:
    """The body itself, its holder, and so on to the root."""
    chain = [name]
    while (bearing := bodies[chain[-1]].bearing) is not None:
        chain.append(bearing.holder)
    return chain


# -- A mesh's equation: the fundamental circuit, closed by coaxiality (Chen 1998, eq. 9-11) -------


PARALLEL = 2e-3  # [rad] axes may differ by as much: some files print pi/2 as 1.57
COLLINEAR = 2e-3  # [m] and lines lie as far apart where no radius is known
COAXIAL = 1e-2  # of the smaller pitch radius where one is
ONE_LINE = 1e-6  # [m] positions are printed no better; no two gears stand so close


@dataclass(frozen=True, eq=False)
class AxisLine:
    """An axis in the root frame: unit vector and a point [m]."""

    axis: Array
    point: Array


def mesh_form(mesh: MeshRecord, bodies: Bodies, source: str) -> Form:
    """The form that a mesh makes zero: (a - arm) size_a - sign (b - arm) size_b.

    Args:
        mesh: A gear pair, a belt or a chain.
        bodies: Links and wheels.
        source: The drivetrain file, for errors.
    """
    place = f"{source}, {mesh.place}"
    check_names(mesh, bodies, place)
    check_sizes(mesh, place)
    lines = [line_of(member, mesh.arm, bodies, place) for member in mesh.members]
    stated = directions(mesh, lines, bodies, place)
    sign = sign_of(mesh, stated, place)
    within = coaxial_within(min(mesh.sizes) if mesh.radii else None)
    rates = [
        (
            int(np.sign(direction @ line.axis)),
            rate(bodies, (member, mesh.arm), line, place, within),
        )
        for member, line, direction in zip(mesh.members, lines, stated, strict=True)
    ]
    (turn_a, rate_a), (turn_b, rate_b) = rates
    size_a, size_b = exact(mesh.sizes[0]), exact(mesh.sizes[1])
    return combined([(turn_a * size_a, rate_a), (-sign * turn_b * size_b, rate_b)])


def check_names(mesh: MeshRecord, bodies: Bodies, place: str) -> None:
    """Refuse unknown names, and meshes that say nothing of a wheel."""
    for key, name in (("mesh", mesh.members[0]), ("mesh", mesh.members[1]), (mesh.key, mesh.arm)):
        if name not in bodies:
            raise UnknownNameError(f"{place}.{key}", "link or wheel", name, bodies)
    one, other = mesh.members
    if one == other or mesh.arm in mesh.members:
        finding = f"members {one!r}, {other!r} and mesh carrier {mesh.arm!r} are not three bodies"
        raise ModelError(place, finding, "name two members and the link that holds both axes")
    if all(bodies[name].link == name for name in (*mesh.members, mesh.arm)):
        finding = f"{one!r} and {other!r} are links, so their mesh gives no wheel's speed"
        remedy = "let one joint mimic the other, or name the wheel between them"
        raise ModelError(place, finding, remedy)


def check_sizes(mesh: MeshRecord, place: str) -> None:
    """Refuse teeth and radii that are not positive numbers."""
    for size in mesh.sizes:
        if not (math.isfinite(size) and size > 0):
            finding = f"size {size:g} of members {mesh.members[0]!r}, {mesh.members[1]!r}"
            remedy = "write positive numbers of teeth, or pitch radii"
            raise ModelError(place, f"{finding} is not positive", remedy)


def line_of(member: str, arm: str, bodies: Bodies, place: str) -> AxisLine:
    """Axis of a member: a wheel's own, a link's nearest joint's on the way to the arm."""
    if bodies[member].link != member:
        own = bodies[member].bearing
        if own is not None:
            return AxisLine(own.axis, own.point)
    bearings = [bearing for _, bearing in bearings_between(bodies, member, arm)]
    for kind in ("turns", "frozen"):
        for bearing in bearings:
            if bearing.kind == kind:
                return AxisLine(bearing.axis, bearing.point)
    finding = f"link {member!r} does not rotate relative to the mesh carrier {arm!r}"
    raise ModelError(place, finding, "set 'carrier' to the link on which both axes are mounted")


def directions(mesh: MeshRecord, lines: list[AxisLine], bodies: Bodies, place: str) -> list[Array]:
    """Positive directions of the members in the root frame: stated, or their own."""
    if mesh.axes is None:
        return [line.axis for line in lines]
    stated = [bodies[mesh.arm].rotation @ np.array(axis) for axis in mesh.axes]
    for member, line, direction in zip(mesh.members, lines, stated, strict=True):
        if not np.linalg.norm(direction) > 0:
            finding, remedy = f"the axis stated for {member!r} is zero", "write a direction"
            raise ModelError(f"{place}.axes", finding, remedy)
        if angle(direction, line.axis) > PARALLEL:
            off = math.degrees(angle(direction, line.axis))
            finding = f"the axis stated for {member!r} is {off:.3g} deg off the member's own"
            remedy = f"write it in the frame of arm {mesh.arm!r}, or leave 'axes' out"
            raise ModelError(f"{place}.axes", finding, remedy)
    return stated


def sign_of(mesh: MeshRecord, stated: list[Array], place: str) -> int:
    """Sign of the gear pair: literal, or from its kind and the two positive directions."""
    if mesh.sign is not None:
        return mesh.sign
    one, other = mesh.members
    if mesh.kind is None:
        finding = f"neither kind nor sign is given for {one!r} and {other!r}"
        raise ModelError(place, finding, "add kind: external or internal, or sign: 1 or -1")
    off = angle(stated[0], stated[1])
    if off > PARALLEL:
        finding = f"the axes of {one!r} and {other!r} are {math.degrees(off):.3g} deg apart"
        remedy = "give the sign for bevel and worm gears: 1 or -1, about the axes of the members"
        raise ModelError(place, finding, remedy)
    kind = -1 if mesh.kind == "external" else 1
    return kind * int(np.sign(stated[0] @ stated[1]))


def distance(point: Array, line: AxisLine) -> float:
    """How far a point lies from a line [m]."""
    between = point - line.point
    return float(np.linalg.norm(between - (between @ line.axis) * line.axis))


def coaxial_within(radius: float | None) -> float:
    """How far axes that are one may lie apart [m], by the smallest radius there is, if known."""
    return COAXIAL * radius if radius else COLLINEAR


def rate(
    bodies: Bodies, ends: tuple[str, str], line: AxisLine, place: str, within: float = COLLINEAR
) -> Form:
    """Rate of a body relative to another, its arm, about a line (Chen 1998, eq. 10).

    Everything between the two turns about that line, to ``within`` [m], or slides along it.
    """
    end, start = ends
    terms: list[tuple[Fraction | int, Form]] = []
    for sign, bearing in bearings_between(bodies, end, start):
        gap = "" if bearing.kind == "fixed" else misfit(bearing, line, within)
        if bearing.kind == "fixed" or (bearing.kind == "frozen" and gap):
            continue
        if gap:
            finding = f"{bearing.words} between {end!r} and mesh carrier {start!r} {gap}"
            remedy = f"set 'carrier' to the link on which the axis of {end!r} is mounted"
            raise ModelError(place, finding, remedy)
        if bearing.kind != "slides":
            terms.append((sign * int(np.sign(bearing.axis @ line.axis)), bearing.rate))
    return combined(terms)


def misfit(bearing: Bearing, line: AxisLine, within: float = COLLINEAR) -> str:
    """In which way a bearing's axis is not the line, in words; empty if it is.

    Directions that files print with few digits move points far along the axis aside; that
    much is not counted in the distance, which may be ``within`` [m].
    """
    off = angle(bearing.axis, line.axis)
    if off > PARALLEL:
        return f"is not coaxial: the axes are {math.degrees(off):.3g} deg apart"
    gap = distance(bearing.point, line)
    tilt = off * abs(float((bearing.point - line.point) @ line.axis))
    if bearing.kind != "slides" and gap > within + tilt:
        allowed = f", and may be {within:.2g} m" if within != COLLINEAR else ""
        return f"is not coaxial: the axes are parallel, {gap:.3g} m apart{allowed}"
    return ""


def angle(one: Array, other: Array) -> float:
    """Angle between two lines' directions [rad], 0 to pi/2."""
    return math.atan2(float(np.linalg.norm(np.cross(one, other))), abs(float(one @ other)))
