"""Links and wheels as one tree of bodies, placed at joint positions zero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import JointRecord, RobotRecord, WheelRecord
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.gears.forms import Form, Variable, exact, quoted
from geared_dynamics.model.topology import Follow, coordinates, following, root_link


@dataclass(frozen=True, eq=False)
class Bearing:
    """How a body moves in the body that holds it.

    Attributes:
        holder: Name of the body that holds it.
        words: What to call it in an error, such as ``joint 'elbow'``.
        kind: ``frozen`` is a joint that is held still; nobody knows any more how it moved.
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


def skeleton(
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
            raise ModelError(place, "has the name of a link", "name the wheel otherwise")
        if wheel.name in waiting:
            raise ModelError(place, "is there twice", "name one of the two wheels otherwise")
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
    return ModelError(f"{source}, wheels", f"{quoted(circle)} {verb}", f"let a link carry {which}")


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

    What follows a frozen joint is thereby told from what is locked; the model drops it.
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


def way(bodies: Bodies, end: str, start: str) -> list[tuple[int, Bearing]]:
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
