"""Springs by their definition: energy from the lengths, force its derivative.

The distance of two anchors is differentiated by complex step on explicit poses
(``LagrangianTwin.link_pose``); the tension is the formula of the record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geared_dynamics.description.drive_records import LineElementRecord, TorsionSpringRecord
from naive.bodies import Array, joint_row
from naive.lagrangian import STEP, LagrangianTwin, steps


def spring_forces(twin: LagrangianTwin, springs: Any, q: Array) -> Array:
    """Force on the joints (n,): - F dl/dq for each line, the joint's share for the others."""
    total = np.zeros(twin.n)
    for spring in springs:
        if isinstance(spring, TorsionSpringRecord):
            total += torsion(twin, spring, q)
        else:
            slope = [distance(twin, spring, p).imag / STEP for p in steps(q)]
            total -= tension(spring, float(distance(twin, spring, q).real)) * np.array(slope)
    return total


def torsion(twin: LagrangianTwin, spring: TorsionSpringRecord, q: Array) -> Array:
    """Force of a spring on a joint, on the coordinate that the joint follows."""
    joint = next(j for j in twin.robot.joints if j.name == spring.joint)
    row, offset = joint_row(twin.robot, joint)
    x = row @ q + offset
    return (spring.preload - spring.stiffness * (x - spring.rest)) * row


def distance(twin: LagrangianTwin, line: LineElementRecord, q: Any) -> Any:
    """Distance of the anchors [m]; analytic, so that q may be complex."""
    ends = []
    for link, point in line.anchors:
        rotation, origin, _, _ = twin.link_pose(q, link)
        ends.append(origin + rotation @ np.array(point))
    return np.sqrt(np.sum((ends[1] - ends[0]) ** 2))


def tension(line: LineElementRecord, length: float) -> float:
    """Pull on the anchors [N]."""
    x = length - line.length
    if line.kind == "coil":
        return line.preload + line.stiffness * x
    if line.kind == "constant":
        return line.preload
    if line.pull:
        ratio = line.volume / (line.volume - line.area * x)
        return float(line.area * line.pressure * ratio**line.exponent)
    ratio = line.volume / (line.volume + line.area * x)
    return float(-line.area * line.pressure * ratio**line.exponent)
