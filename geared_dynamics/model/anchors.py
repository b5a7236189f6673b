"""Springs between links: where their ends sit, and whether they can act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.drive_records import LineElementRecord
from geared_dynamics.description.freeze import freeze
from geared_dynamics.description.records import RobotRecord
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.topology import Placement, placements

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
