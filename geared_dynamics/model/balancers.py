"""Springs between links and on joints as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.description.drive_records import LineElementRecord, TorsionSpringRecord
from geared_dynamics.description.records import DrivetrainRecord, RobotRecord
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model.anchors import acting
from geared_dynamics.model.topology import Follow, Placement

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
    motions = [motion(spring, follow, source) for spring in springs]
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


def motion(spring: TorsionSpringRecord, follow: Mapping[str, Follow], source: str) -> Follow:
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
