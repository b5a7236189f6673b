"""Where a gear set sits: its axis, its housing and the link that it drives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import (
    HarmonicRecord,
    PlanetaryRecord,
    RobotRecord,
    Vector3,
    WheelRecord,
)
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.gears.circuit import Line, coaxial_within, misfit
from geared_dynamics.model.gears.skeleton import Bodies, upwards
from geared_dynamics.model.geometry import rotation_with_z


@dataclass(frozen=True, eq=False)
class Seat:
    """Where a gear set sits.

    Attributes:
        housing: Link that its fixed member is a part of.
        driven: Link that its output is a part of; None if that is a wheel.
        rotation: The set's axes in the housing's frame (3, 3): z is its axis, and x, from
            which planets' phases count, is y x axis (x for an axis along z).
        position: Its centre there (3,) [m].
        line: Its axis in the root frame.
        within: How far axes that lie on it may be away [m].
    """

    housing: str
    driven: str | None
    rotation: Array
    position: Array
    line: Line
    within: float


def seat_of(
    record: PlanetaryRecord | HarmonicRecord,
    robot: RobotRecord,
    links: Bodies,
    frozen: frozenset[str],
    place: str,
) -> Seat:
    """Find where a gear set sits; axis and position default to the joint's.

    Args:
        record: The gear set.
        robot: The robot.
        links: Its links, placed.
        frozen: Joints that were frozen and are fixed in ``robot``.
        place: File and key path of the set.
    """
    if record.housing not in links:
        raise UnknownNameError(f"{place}.housing", "link", record.housing, links)
    axis, position, driven = record.axis, record.position, None
    if record.joint is not None:
        driven, origin, direction = joint_seat(record.joint, record, robot, links, frozen, place)
        axis = direction if axis is None else axis
        position = origin if position is None else position
    if axis is None:
        finding, remedy = "has neither joint nor axis", "add axis, in the housing's frame"
        raise ModelError(place, finding, remedy)
    length = float(np.linalg.norm(axis))
    if not length > 0:
        raise ModelError(f"{place}.axis", "is zero", "write the direction of the set's axis")
    rotation = rotation_with_z(np.array(axis) / length)
    centre, house = np.array(position or (0.0, 0.0, 0.0)), links[record.housing]
    line = Line(house.rotation @ rotation[:, 2], house.position + house.rotation @ centre)
    seat = Seat(record.housing, driven, rotation, centre, line, coaxial_within(smallest(record)))
    if record.joint is not None:
        refuse_beside_joint(record.joint, robot, links, seat, place)
    return seat


def smallest(record: PlanetaryRecord | HarmonicRecord) -> float | None:
    """Pitch radius of the smaller one of sun and planets [m], None where it is not known."""
    if not isinstance(record, PlanetaryRecord) or not record.radius > 0:
        return None
    sun, planet, _ = record.teeth
    return record.radius * min(sun, planet) / (sun + planet)


def refuse_beside_joint(
    name: str, robot: RobotRecord, links: Bodies, seat: Seat, place: str
) -> None:
    """Raise where the stated axis or position is not the joint's."""
    child = next(joint.child for joint in robot.joints if joint.name == name)
    bearing = links[child].bearing
    gap = misfit(bearing, seat.line, seat.within) if bearing is not None else ""
    if gap:
        finding = f"with the set, joint {name!r} {gap}"
        raise ModelError(place, finding, "leave axis and position out, or correct them")


def joint_seat(
    name: str,
    record: PlanetaryRecord | HarmonicRecord,
    robot: RobotRecord,
    links: Bodies,
    frozen: frozenset[str],
    place: str,
) -> tuple[str, Vector3, Vector3]:
    """The link that a joint moves relative to the housing; position and axis of the joint."""
    turning = {j.name: j for j in robot.joints if j.kind != "fixed" or j.name in frozen}
    if name not in turning:
        raise UnknownNameError(f"{place}.joint", "movable joint", name, turning)
    joint = turning[name]
    if joint.kind == "prismatic":
        finding, remedy = f"joint {name!r} slides", "name a revolute joint"
        raise ModelError(f"{place}.joint", finding, remedy)
    child = links[joint.child]
    direction = child.rotation @ np.array(joint.axis)
    driven = joint.parent if joint.child in upwards(links, record.housing) else joint.child
    if record.housing == joint.parent:  # to the last digit
        return driven, joint.position, vector(np.array(joint.rotation) @ joint.axis)
    house = links[record.housing]
    centre = house.rotation.T @ (child.position - house.position)
    return driven, vector(centre), vector(house.rotation.T @ direction)


def installed(
    wheel: WheelRecord, name: str, link: str, seat: Seat, links: Bodies, shift: Array
) -> WheelRecord:
    """A wheel of the set, which is described in the set's frame, as carried by a link.

    Args:
        wheel: Its description; one that says by whom it is carried is taken as it is.
        name: Name that the expanded wheel gets.
        link: Link that carries it.
        seat: Where the set sits.
        links: Links, placed.
        shift: Added to its position in the set's frame (3,) [m].
    """
    if wheel.carrier:
        return replace(wheel, name=name)
    axis = seat.rotation @ np.array(wheel.axis)
    position = seat.position + seat.rotation @ (np.array(wheel.position) + shift)
    if link != seat.housing:
        house, own = links[seat.housing], links[link]
        turn = own.rotation.T @ house.rotation
        axis = turn @ axis
        position = own.rotation.T @ (house.position - own.position) + turn @ position
    return replace(wheel, name=name, carrier=link, axis=vector(axis), position=vector(position))


def vector(values: Array) -> Vector3:
    """Three plain numbers."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)
