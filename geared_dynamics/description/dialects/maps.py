"""Maps of the three transmissions that ros_control and ros2_control know.

Actuator angle phi = sum of coefficient (q - offset) over the joints; rates go the
same way, and joint force = sum of coefficient * actuator torque. The formulas are
those of the code of transmission_interface; its comments hold misprints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

COUNT = {"SimpleTransmission": 1, "DifferentialTransmission": 2, "FourBarLinkageTransmission": 2}
_PREFIX = "transmission_interface/"


@dataclass(frozen=True)
class End:
    """A joint's or actuator's end of a transmission: name, reduction, offset [rad or m]."""

    name: str
    reduction: float = 1.0
    offset: float = 0.0
    role: str = ""
    inertia: float | None = None


Coefficients = tuple[tuple[str, float], ...]


def kind_of(plugin: str) -> str:
    """Return a transmission's kind, without the package that it comes from."""
    return plugin.strip().removeprefix(_PREFIX)


def offsets(rows: Sequence[Coefficients], joints: Sequence[End]) -> tuple[Coefficients, ...]:
    """Return for each actuator the offsets of the joints that it follows, those not zero.

    Args:
        rows: Each actuator's coefficients.
        joints: The joints' ends.
    """
    given = {joint.name: joint.offset for joint in joints if joint.offset}
    return tuple(tuple((j, given[j]) for j, _ in row if j in given) for row in rows)


def coefficients(
    kind: str, joints: Sequence[End], actuators: Sequence[End]
) -> tuple[Coefficients, ...]:
    """Return each actuator's coefficients over the joints, in the order of their roles.

    Args:
        kind: A key of ``COUNT``.
        joints: The joints' ends, joint1 first.
        actuators: The actuators' ends, actuator1 first.
    """
    if kind == "SimpleTransmission":
        return (((joints[0].name, joints[0].reduction * actuators[0].reduction),),)
    (j1, j2), (a1, a2) = joints, actuators
    if kind == "DifferentialTransmission":
        return (
            (
                (j1.name, a1.reduction * j1.reduction),
                (j2.name, a1.reduction * j2.reduction),
            ),
            (
                (j1.name, a2.reduction * j1.reduction),
                (j2.name, -a2.reduction * j2.reduction),
            ),
        )
    return (
        ((j1.name, a1.reduction * j1.reduction),),
        ((j1.name, a2.reduction), (j2.name, a2.reduction * j2.reduction)),
    )
