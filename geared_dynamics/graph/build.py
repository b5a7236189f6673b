"""From a model's records to its graph."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from geared_dynamics.description.records import (
    DrivetrainRecord,
    JointRecord,
    RobotRecord,
    WheelRecord,
)
from geared_dynamics.graph.axes import Line, letters
from geared_dynamics.graph.network import Gearing, Graph, Pair, Vertex
from geared_dynamics.model.gears import ResolvedDrivetrain
from geared_dynamics.model.topology import (
    MOVABLE,
    Placement,
    body_order,
    placements,
    root_link,
)


def graph_of(robot: RobotRecord, drivetrain: DrivetrainRecord) -> Graph:
    """Return the graph of a robot and its drives, with the carriers that the files name.

    Args:
        robot: A tree of links.
        drivetrain: Its drives with every wheel on a link, as in a model.
    """
    bodies = body_order(robot)
    links = placements(robot, bodies)
    names = (root_link(robot), *(joint.child for joint in bodies))
    vertex_of = {link: names[place.body + 1] for link, place in links.items()}
    motors = {motor.wheel for motor in drivetrain.motors}
    wheels = [Vertex(wheel.name, "wheel", wheel.name in motors) for wheel in drivetrain.wheels]
    vertex_of |= {wheel.name: wheel.name for wheel in wheels}
    riders = drivetrain.riders if isinstance(drivetrain, ResolvedDrivetrain) else ()
    return Graph(
        (*(Vertex(name, "link") for name in names), *wheels),
        pairs_of(drivetrain, dict(riders), bodies, links, vertex_of),
        (*meshes(drivetrain, vertex_of), *stated(drivetrain, bodies), *mimics(robot, bodies)),
    )


def pairs_of(
    drivetrain: DrivetrainRecord,
    riders: Mapping[str, str],
    bodies: tuple[JointRecord, ...],
    links: Mapping[str, Placement],
    vertex_of: Mapping[str, str],
) -> tuple[Pair, ...]:
    """Joints, then the wheels' bearings (``riders`` on other wheels), with their axes."""
    ends = [(vertex_of[joint.parent], joint.child, joint.name) for joint in bodies]
    slides = [joint.kind == "prismatic" for joint in bodies]
    lines = [joint_lines(joint, links[joint.parent], vertex_of) for joint in bodies]
    nowhere = unplaced(drivetrain)
    for wheel in drivetrain.wheels:
        holder = vertex_of[riders.get(wheel.name, wheel.carrier)]
        ends.append((holder, wheel.name, wheel.name))
        slides.append(False)
        placed = wheel.name not in nowhere
        lines.append(wheel_lines(wheel, holder, links[wheel.carrier]) if placed else ())
    return tuple(
        Pair(holder, held, axis, name, sliding)
        for (holder, held, name), axis, sliding in zip(ends, letters(lines), slides, strict=True)
    )


def unplaced(drivetrain: DrivetrainRecord) -> set[str]:
    """Wheels whose place nobody states: the URDF's, and planets on a circle of no radius."""
    return {wheel.name for wheel in drivetrain.wheels if wheel.origin} | {
        f"{record.name}.planet_{k + 1}"
        for record in drivetrain.planetary
        if not record.radius > 0.0
        for k in range(record.planets)
    }


def joint_lines(
    joint: JointRecord, parent: Placement, vertex_of: Mapping[str, str]
) -> tuple[Line, ...]:
    """A joint's axis as its two links see it; a sliding one has no place in space."""
    if joint.kind == "prismatic":
        return ()
    axis = np.array(joint.axis)
    turned = parent.rotation @ np.array(joint.rotation) @ axis
    point = parent.position + parent.rotation @ np.array(joint.position)
    return Line(vertex_of[joint.parent], turned, point), Line(joint.child, axis, np.zeros(3))


def wheel_lines(wheel: WheelRecord, holder: str, link: Placement) -> tuple[Line, ...]:
    """A wheel's axis as its holder and the wheel itself see it.

    On another wheel it is given in the frame of the link that holds both.
    """
    axis = link.rotation @ np.array(wheel.axis)
    point = link.position + link.rotation @ np.array(wheel.position)
    return Line(holder, axis, point), Line(wheel.name, axis, point)


def meshes(drivetrain: DrivetrainRecord, vertex_of: Mapping[str, str]) -> list[Gearing]:
    """Gear pairs, belts and chains."""
    return [
        Gearing((vertex_of[mesh.members[0]], vertex_of[mesh.members[1]]), mesh.sizes)
        for mesh in drivetrain.meshes
    ]


def stated(drivetrain: DrivetrainRecord, bodies: tuple[JointRecord, ...]) -> list[Gearing]:
    """Ratios to the joints that a file states, relative to whatever carries the wheel."""
    child = {joint.name: joint.child for joint in bodies}
    given = drivetrain.stated if isinstance(drivetrain, ResolvedDrivetrain) else drivetrain.spins
    return [
        Gearing((spin.wheel, child[joint]), ratio=ratio, stated=True)
        for spin in given
        for joint, ratio in spin.coefficients
        if joint in child and ratio != 0.0
    ]


def mimics(robot: RobotRecord, bodies: tuple[JointRecord, ...]) -> list[Gearing]:
    """Joints that follow another: a ratio between links."""
    child = {joint.name: joint.child for joint in bodies}
    return [
        Gearing((joint.child, child[joint.mimic.leader]), (1, 1), joint.mimic.multiplier, True)
        for joint in robot.joints
        if joint.kind in MOVABLE and joint.mimic is not None
    ]
