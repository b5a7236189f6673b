"""Gear graph from records: graph, canonical, open chain."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.robot_records import (
    MOVABLE_KINDS,
    DrivetrainRecord,
    JointRecord,
    RobotRecord,
    WheelRecord,
)
from geared_dynamics.model.facts import Placement, body_order, placements, root_link
from geared_dynamics.model.gears import ResolvedDrivetrain
from geared_dynamics.model.gears.mesh_equation import COLLINEAR, PARALLEL

# -- The graph of a geared arm: links and wheels, turning pairs, gear pairs -----------------------
#
# Vertices are links (those fixed to each other are one) and wheels. A pair holds one of
# them in another and bears the letter of its axis in space; a gearing joins two members of
# a gear pair (Chen 1998, section 2).


@dataclass(frozen=True)
class Vertex:
    """A link or a wheel; ``motor`` marks a wheel that a motor turns."""

    name: str
    kind: Literal["link", "wheel"]
    motor: bool = False


@dataclass(frozen=True)
class JointEdge:
    """Thin edge: ``held`` turns or slides in ``holder`` about or along an axis.

    ``name`` is the joint's, or the wheel's own where the pair is its bearing.
    """

    holder: str
    held: str
    axis: str
    name: str
    slides: bool = False


@dataclass(frozen=True)
class GearPair:
    """Heavy edge: a gear pair, or (``stated``) a ratio without the wheels that make it.

    ``sizes`` are the members' teeth or radii; ``ratio`` is what is stated instead.
    """

    members: tuple[str, str]
    sizes: tuple[float, float] = (1.0, 1.0)
    ratio: float = 0.0
    stated: bool = False

    def label(self, end: int) -> str:
        """What is written at one of the members: its own size first, or the ratio."""
        if self.stated:
            return f"{self.ratio:.6g}"
        return f"{self.sizes[end]:.6g}:{self.sizes[1 - end]:.6g}"


@dataclass(frozen=True)
class Graph:
    """Vertices, the root link first; pairs make them a tree."""

    vertices: tuple[Vertex, ...]
    pairs: tuple[JointEdge, ...]
    gearings: tuple[GearPair, ...] = ()

    @property
    def root(self) -> str:
        """Name of the root link."""
        return self.vertices[0].name

    def holders(self) -> dict[str, JointEdge]:
        """The pair that holds each vertex but the root."""
        return {pair.held: pair for pair in self.pairs}


def canonical(graph: Graph) -> Graph:
    """Rearrange coaxial turning pairs: no axis occurs twice on a path from the root.

    Of coaxial links the one nearest to the root then holds all others. Gear pairs stay, and
    so do wheels whose ratio is stated: it is relative to the link that carries them.

    References:
        Chen 1998, section 2, fig. 2 (b).
    """
    holders = graph.holders()
    wheels = {vertex.name for vertex in graph.vertices if vertex.kind == "wheel"}
    stay = wheels & {gearing.members[0] for gearing in graph.gearings if gearing.stated}

    def moved(pair: JointEdge) -> JointEdge:
        """Hang a vertex on the first of the links that are coaxial with it."""
        holder = pair.holder
        if pair.held in stay:
            return pair
        while holder in holders and holders[holder].axis == pair.axis:
            holder = holders[holder].holder
        return replace(pair, holder=holder)

    return replace(graph, pairs=tuple(moved(pair) for pair in graph.pairs))


def open_loop_chain(graph: Graph) -> Graph:
    """Primary links with their joints, each secondary link at its canonical holder.

    Coaxial joints in series, which ``canonical`` would hang on one link, stay in
    series: the joints are the coordinates. Gearings are left out.

    References:
        Chen 1998, section 2, fig. 3.
    """
    wheels = {vertex.name for vertex in graph.vertices if vertex.kind == "wheel"}
    own = [pair for pair in graph.pairs if pair.held not in wheels]
    carried = [pair for pair in canonical(graph).pairs if pair.held in wheels]
    return Graph(graph.vertices, (*own, *carried))


# -- Which turning pairs are coaxial, whatever the posture, and letters for their axes ------------


@dataclass(frozen=True, eq=False)
class GraphAxis:
    """A pair's axis in the frame of one of its two members: unit vector, point [m]."""

    member: str
    axis: Array
    point: Array


def letters(axes: Sequence[tuple[GraphAxis, ...]]) -> list[str]:
    """Letter of each pair's axis; coaxial pairs have the same one.

    Args:
        axes: Each pair's axis as either member sees it. It is fixed in both, so that
            pairs with a common member are coaxial in every posture or in none. An empty
            tuple (a sliding pair) is coaxial with nothing.
    """
    group: list[int] = []
    for k, lines in enumerate(axes):
        same = {group[i] for i in range(k) if coaxial(axes[i], lines)}
        first = min(same, default=k)
        group = [first if number in same else number for number in group]
        group.append(first)
    order = list(dict.fromkeys(group))
    return [letter(order.index(number)) for number in group]


def coaxial(one: tuple[GraphAxis, ...], other: tuple[GraphAxis, ...]) -> bool:
    """Whether a common member sees both axes as one line."""
    return any(a.member == b.member and coincide(a, b) for a in one for b in other)


def coincide(one: GraphAxis, other: GraphAxis) -> bool:
    """Whether two lines in the same frame are one."""
    between = other.point - one.point
    return bool(
        np.linalg.norm(np.cross(one.axis, other.axis)) < PARALLEL
        and np.linalg.norm(np.cross(one.axis, between)) < COLLINEAR
    )


def letter(k: int) -> str:
    """Return a, b, ... z, aa, ab, ..."""
    text = ""
    k += 1
    while k:
        k, digit = divmod(k - 1, 26)
        text = string.ascii_lowercase[digit] + text
    return text


# -- From a model's records to its graph ----------------------------------------------------------


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
) -> tuple[JointEdge, ...]:
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
        JointEdge(holder, held, axis, name, sliding)
        for (holder, held, name), axis, sliding in zip(ends, letters(lines), slides, strict=True)
    )


def unplaced(drivetrain: DrivetrainRecord) -> set[str]:
    """Wheels whose place is not stated: the URDF's, and planets on a circle of no radius."""
    return {wheel.name for wheel in drivetrain.wheels if wheel.urdf_origin} | {
        f"{record.name}.planet_{k + 1}"
        for record in drivetrain.planetary
        if not record.radius > 0.0
        for k in range(record.planets)
    }


def joint_lines(
    joint: JointRecord, parent: Placement, vertex_of: Mapping[str, str]
) -> tuple[GraphAxis, ...]:
    """A joint's axis as its two links see it; a sliding one has no place in space."""
    if joint.kind == "prismatic":
        return ()
    axis = np.array(joint.axis)
    turned = parent.rotation @ np.array(joint.rotation) @ axis
    point = parent.position + parent.rotation @ np.array(joint.position)
    return GraphAxis(vertex_of[joint.parent], turned, point), GraphAxis(
        joint.child, axis, np.zeros(3)
    )


def wheel_lines(wheel: WheelRecord, holder: str, link: Placement) -> tuple[GraphAxis, ...]:
    """A wheel's axis as its holder and the wheel itself see it.

    On another wheel it is given in the frame of the link that holds both.
    """
    axis = link.rotation @ np.array(wheel.axis)
    point = link.position + link.rotation @ np.array(wheel.position)
    return GraphAxis(holder, axis, point), GraphAxis(wheel.name, axis, point)


def meshes(drivetrain: DrivetrainRecord, vertex_of: Mapping[str, str]) -> list[GearPair]:
    """Gear pairs, belts and chains."""
    return [
        GearPair((vertex_of[mesh.members[0]], vertex_of[mesh.members[1]]), mesh.sizes)
        for mesh in drivetrain.meshes
    ]


def stated(drivetrain: DrivetrainRecord, bodies: tuple[JointRecord, ...]) -> list[GearPair]:
    """Ratios to the joints that a file states, relative to whatever carries the wheel."""
    child = {joint.name: joint.child for joint in bodies}
    given = drivetrain.stated if isinstance(drivetrain, ResolvedDrivetrain) else drivetrain.spins
    return [
        GearPair((spin.wheel, child[joint]), ratio=ratio, stated=True)
        for spin in given
        for joint, ratio in spin.coefficients
        if joint in child and ratio != 0.0
    ]


def mimics(robot: RobotRecord, bodies: tuple[JointRecord, ...]) -> list[GearPair]:
    """Joints that follow another: a ratio between links."""
    child = {joint.name: joint.child for joint in bodies}
    return [
        GearPair((joint.child, child[joint.mimic.leader]), (1, 1), joint.mimic.multiplier, True)
        for joint in robot.joints
        if joint.kind in MOVABLE_KINDS and joint.mimic is not None
    ]
