"""A mesh's equation: the fundamental circuit, closed by coaxiality (paper 001, eq. 9-11)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import MeshRecord
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.gears.forms import Form, combined, exact
from geared_dynamics.model.gears.skeleton import Bearing, Bodies, way

PARALLEL = 2e-3  # [rad] axes may differ by as much: some files print pi/2 as 1.57
COLLINEAR = 2e-3  # [m] and lines lie as far apart where no radius is known
COAXIAL = 1e-2  # of the smaller pitch radius where one is
ONE_LINE = 1e-6  # [m] positions are printed no better; no two gears stand so close


@dataclass(frozen=True, eq=False)
class Line:
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
    for key, name in (("mesh", mesh.members[0]), ("mesh", mesh.members[1]), ("arm", mesh.arm)):
        if name not in bodies:
            raise UnknownNameError(f"{place}.{key}", "link or wheel", name, bodies)
    one, other = mesh.members
    if one == other or mesh.arm in mesh.members:
        finding = f"members {one!r}, {other!r} and arm {mesh.arm!r} are not three bodies"
        raise ModelError(place, finding, "name two members and the link that holds both axes")
    if all(bodies[name].link == name for name in (*mesh.members, mesh.arm)):
        finding = f"links {one!r} and {other!r} mesh with each other, which fixes no wheel"
        remedy = "let one joint mimic the other, or name the wheel between them"
        raise ModelError(place, finding, remedy)


def check_sizes(mesh: MeshRecord, place: str) -> None:
    """Refuse teeth and radii that are not positive numbers."""
    for size in mesh.sizes:
        if not (math.isfinite(size) and size > 0):
            finding = f"size {size:g} of members {mesh.members[0]!r}, {mesh.members[1]!r}"
            remedy = "write positive numbers of teeth, or pitch radii"
            raise ModelError(place, f"{finding} is not positive", remedy)


def line_of(member: str, arm: str, bodies: Bodies, place: str) -> Line:
    """Axis of a member: a wheel's own, a link's nearest joint's on the way to the arm."""
    if bodies[member].link != member:
        own = bodies[member].bearing
        if own is not None:
            return Line(own.axis, own.point)
    bearings = [bearing for _, bearing in way(bodies, member, arm)]
    for kind in ("turns", "frozen"):
        for bearing in bearings:
            if bearing.kind == kind:
                return Line(bearing.axis, bearing.point)
    finding = f"link {member!r} does not turn relative to arm {arm!r}"
    raise ModelError(place, finding, "name as arm the link that holds the axes of both members")


def directions(mesh: MeshRecord, lines: list[Line], bodies: Bodies, place: str) -> list[Array]:
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
        finding = f"says neither kind nor sign of {one!r} and {other!r}"
        raise ModelError(place, finding, "add kind: external or internal, or sign: 1 or -1")
    off = angle(stated[0], stated[1])
    if off > PARALLEL:
        finding = f"the axes of {one!r} and {other!r} are {math.degrees(off):.3g} deg apart"
        remedy = "of bevel and worm gears state the sign: 1 or -1, about the members' axes"
        raise ModelError(place, finding, remedy)
    kind = -1 if mesh.kind == "external" else 1
    return kind * int(np.sign(stated[0] @ stated[1]))


def distance(point: Array, line: Line) -> float:
    """How far a point lies from a line [m]."""
    between = point - line.point
    return float(np.linalg.norm(between - (between @ line.axis) * line.axis))


def coaxial_within(radius: float | None) -> float:
    """How far axes that are one may lie apart [m], by the smallest radius there is, if known."""
    return COAXIAL * radius if radius else COLLINEAR


def rate(
    bodies: Bodies, ends: tuple[str, str], line: Line, place: str, within: float = COLLINEAR
) -> Form:
    """Rate of a body relative to another, its arm, about a line (paper 001, eq. 10).

    Everything between the two turns about that line, to ``within`` [m], or slides along it.
    """
    end, start = ends
    terms: list[tuple[Fraction | int, Form]] = []
    for sign, bearing in way(bodies, end, start):
        gap = "" if bearing.kind == "fixed" else misfit(bearing, line, within)
        if bearing.kind == "fixed" or (bearing.kind == "frozen" and gap):
            continue
        if gap:
            finding = f"{bearing.words} between {end!r} and arm {start!r} {gap}"
            remedy = f"let the arm carry {end!r}, or name the arm that holds its axis"
            raise ModelError(place, finding, remedy)
        if bearing.kind != "slides":
            terms.append((sign * int(np.sign(bearing.axis @ line.axis)), bearing.rate))
    return combined(terms)


def misfit(bearing: Bearing, line: Line, within: float = COLLINEAR) -> str:
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
