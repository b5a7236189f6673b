"""Balancers and their anchors as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    LineElementRecord,
    TorsionSpringRecord,
)
from geared_dynamics.description.robot_records import RobotRecord
from geared_dynamics.description.robot_tree import freeze
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.facts import Follow, Placement, placements

# -- Springs between links: where their ends sit, and whether they can act ------------------------


COINCIDENT = 1e-6  # [m]; URDFs print angles with few digits, which moves a point by less

Ends = list[tuple[Placement, Array]]


def acting(
    robot: RobotRecord,
    lines: Sequence[LineElementRecord],
    links: Mapping[str, Placement],
    frozen: frozenset[str],
    source: str,
) -> list[tuple[LineElementRecord, Ends]]:
    """Return the lines that can move something, each with its ends.

    A line whose links only frozen joints hold together is left out.

    Args:
        robot: A tree of links.
        lines: Springs between two links.
        links: Where each link sits.
        frozen: Joints that were frozen and are fixed in ``robot``.
        source: The drivetrain file.

    Raises:
        UnknownNameError: If there is no such link.
        ModelError: If the links are fixed to each other, or the ends of a line coincide
            at q = 0, where its force has no direction.
    """
    result = []
    for line in lines:
        place = f"{source}, balancers.{line.name}.anchors"
        ends = ends_of(line, links, place)
        if ends[0][0].body != ends[1][0].body:
            refuse_coincident(robot, line, place)
            result.append((line, ends))
        else:
            refuse_rigid(robot, line, frozen, place)
    return result


def ends_of(line: LineElementRecord, links: Mapping[str, Placement], place: str) -> Ends:
    """Body of each end, and the end in the body's frame."""
    result = []
    for k, (link, point) in enumerate(line.anchors):
        if link not in links:
            raise UnknownNameError(f"{place}[{k}].link", "link", link, links)
        sits = links[link]
        result.append((sits, in_body(sits, point)))
    return result


def in_body(sits: Placement, point: Sequence[float]) -> Array:
    """Return a point of a link in the frame of the body that the link is fixed to."""
    return np.asarray(sits.position + sits.rotation @ np.array(point))


def refuse_coincident(robot: RobotRecord, line: LineElementRecord, place: str) -> None:
    """Raise where the two ends are one point at q = 0."""
    still = placements(freeze(robot, joints=()), ())
    first, second = (in_body(still[link], point) for link, point in line.anchors)
    if np.linalg.norm(second - first) < COINCIDENT:
        finding = "the two coincide at q = 0, where the force has no direction"
        raise ModelError(place, finding, "move one of them")


def refuse_rigid(
    robot: RobotRecord, line: LineElementRecord, frozen: frozenset[str], place: str
) -> None:
    """Raise where fixed joints of the file alone hold the two links together."""
    (first, _), (second, _) = line.anchors
    if holder(robot, first, frozen) == holder(robot, second, frozen):
        finding = f"links {first!r} and {second!r} are fixed to each other"
        remedy = "anchor it on two links that move against each other"
        raise ModelError(place, finding, remedy)


def holder(robot: RobotRecord, link: str, frozen: frozenset[str]) -> str:
    """Return the first link up the tree that is not fixed to its parent in the file."""
    fixed = {
        joint.child: joint.parent
        for joint in robot.joints
        if joint.kind == "fixed" and joint.name not in frozen
    }
    while link in fixed:
        link = fixed[link]
    return link


# -- Springs between links and on joints as arrays ------------------------------------------------


COIL, GAS, CONSTANT = range(3)
KINDS = {"coil": COIL, "gas": GAS, "constant": CONSTANT}


@dataclass(frozen=True, eq=False)
class Balancers(Frozen):
    """Static elements: k line elements between two bodies, t torsion springs on joints.

    Attributes:
        names: Line elements, then torsion springs.
        bodies: Bodies that hold the anchors (k, 2), -1 for the root.
        points: Anchors in their bodies' frames (k, 2, 3) [m].
        kind: COIL, GAS or CONSTANT (k,).
        law: Rows length, stiffness, preload, area, pressure, volume, exponent, and +1 where
            a gas pulls or -1 where it pushes (k, 8); see ``LineElementRecord``.
        dof: Coordinate of each torsion spring (t,).
        torsion: Rows stiffness and force at q = 0 (t, 2), of the coordinate: the force on it is
            torsion[1] - torsion[0] q.
    """

    names: tuple[str, ...]
    bodies: IntArray
    points: Array
    kind: IntArray
    law: Array
    dof: IntArray
    torsion: Array


NO_BALANCERS = Balancers(
    names=(),
    bodies=readonly_int(np.zeros((0, 2))),
    points=readonly(np.zeros((0, 2, 3))),
    kind=readonly_int([]),
    law=readonly(np.zeros((0, 8))),
    dof=readonly_int([]),
    torsion=readonly(np.zeros((0, 2))),
)


def build_balancers(
    robot: RobotRecord,
    drivetrain: DrivetrainRecord,
    links: Mapping[str, Placement],
    follow: Mapping[str, Follow],
    frozen: frozenset[str],
) -> Balancers:
    """Place the elements; one that only moved with frozen joints has no effect."""
    source = drivetrain.source
    given = [b for b in drivetrain.balancers if isinstance(b, LineElementRecord)]
    lines = acting(robot, given, links, frozen, source)
    springs = [
        b
        for b in drivetrain.balancers
        if isinstance(b, TorsionSpringRecord) and b.joint not in frozen
    ]
    motions = [spring_coordinate(spring, follow, source) for spring in springs]
    return Balancers(
        names=tuple(line.name for line, _ in lines) + tuple(x.name for x in springs),
        bodies=readonly_int(np.reshape([[p.body for p, _ in ends] for _, ends in lines], (-1, 2))),
        points=readonly(np.reshape([[x for _, x in ends] for _, ends in lines], (-1, 2, 3))),
        kind=readonly_int([KINDS[line.kind] for line, _ in lines]),
        law=readonly(np.reshape([law(line) for line, _ in lines], (-1, 8))),
        dof=readonly_int([m.dof for m in motions]),
        torsion=readonly(
            np.reshape([torsion(s, m) for s, m in zip(springs, motions, strict=True)], (-1, 2))
        ),
    )


def spring_coordinate(
    spring: TorsionSpringRecord, follow: Mapping[str, Follow], source: str
) -> Follow:
    """How the spring's joint follows a coordinate."""
    if spring.joint not in follow:
        place = f"{source}, balancers.{spring.name}.joint"
        raise UnknownNameError(place, "movable joint", spring.joint, follow)
    return follow[spring.joint]


def torsion(spring: TorsionSpringRecord, follow: Follow) -> tuple[float, float]:
    """Stiffness and force at q = 0, seen by the coordinate."""
    at_zero = spring.preload - spring.stiffness * (follow.offset - spring.rest)
    return spring.stiffness * follow.multiplier**2, at_zero * follow.multiplier


def law(line: LineElementRecord) -> list[float]:
    """The row of ``Balancers.law``."""
    values = (line.length, line.stiffness, line.preload, line.area, line.pressure, line.volume)
    return [*values, line.exponent, 1.0 if line.pull else -1.0]
