"""Elastic joints: coordinates behind their springs, and what follows which side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from geared_dynamics.arrays import Array, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.description.magnitude import refuse_too_large
from geared_dynamics.description.records import DrivetrainRecord, JointDriveRecord
from geared_dynamics.model.topology import Follow

ElasticModel = Literal["complete", "uncoupled", "spong_truncated"]


@dataclass(frozen=True, eq=False)
class Elasticity(Frozen):
    """Coordinates x = (q, theta), sizes n and n_e, and the springs between them, s of them.

    theta_j is the shaft behind the spring of an elastic joint, on the joint's scale: theta = q
    where the spring is at rest. A spring's stretch is z = P x - rest, its tension K z + D z'
    (with a gap, of what z exceeds it), and its force on x is -P' times that.

    Attributes:
        joint: Coordinate in q of each theta (n_e,).
        passive: Coordinates that no motor is meant to move (p,).
        link_spin: Gamma_q (w, n), spin of the wheels per joint rate [1 or rad/m].
        shaft_spin: Gamma_theta (w, n_e), per rate of theta.
        stretch: P (s, n + n_e).
        stiffness: K (s,) [N m/rad or N/m].
        damping: D (s,) [N m s/rad or N s/m].
        rest: Value of P x at which there is no force (s,) [rad or m].
        gap: Half the backlash (s,) [rad or m].
    """

    joint: IntArray
    passive: IntArray
    link_spin: Array
    shaft_spin: Array
    stretch: Array
    stiffness: Array
    damping: Array
    rest: Array
    gap: Array


def build_elasticity(
    drivetrain: DrivetrainRecord, follow: Mapping[str, Follow], spin: Array
) -> Elasticity:
    """Give each elastic joint its coordinate, and its motor-side wheels to that.

    A spring declared on a mimic joint acts on the leader's coordinate, as its friction does.

    Args:
        drivetrain: Records, gear trains solved.
        follow: How movable joints follow coordinates; springs of others have no effect.
        spin: Gamma (w, n), all joints rigid.
    """
    n = spin.shape[1]
    moving = [joint for joint in drivetrain.joints if joint.name in follow]
    springs = [joint for joint in moving if joint.stiffness is not None]
    joint = sorted({follow[s.name].dof for s in springs if not s.passive})
    motor_side = np.array([wheel.side == "motor" for wheel in drivetrain.wheels], bool)
    shaft = np.where(motor_side[:, None], spin[:, joint], 0.0)
    link = spin.copy()
    link[:, joint] -= shaft
    rows = [stretch(spring, follow[spring.name], joint, n) for spring in springs]
    laws = [law(spring, drivetrain.source) for spring in springs]
    stiffness, damping, rest, gap = np.reshape(laws, (-1, 4)).T
    offsets = [follow[s.name].offset if s.passive else 0.0 for s in springs]
    return Elasticity(
        joint=readonly_int(joint),
        passive=readonly_int(sorted({follow[j.name].dof for j in moving if j.passive})),
        link_spin=readonly(link),
        shaft_spin=readonly(shaft),
        stretch=readonly(np.reshape(rows, (-1, n + len(joint)))),
        stiffness=readonly(stiffness),
        damping=readonly(damping),
        rest=readonly(rest - np.array(offsets)),
        gap=readonly(gap),
    )


def stretch(spring: JointDriveRecord, motion: Follow, joint: list[int], n: int) -> Array:
    """Row of P: theta_j - q_j, and q_j for a passive joint, times a mimic's multiplier."""
    row = np.zeros(n + len(joint))
    if spring.passive:
        row[motion.dof] = motion.multiplier
    else:
        row[n + joint.index(motion.dof)] = motion.multiplier
        row[motion.dof] = -motion.multiplier
    return row


def law(spring: JointDriveRecord, source: str) -> list[float]:
    """Stiffness, damping, rest and gap."""
    values = [spring.stiffness or 0.0, spring.damping or 0.0, spring.rest, 0.5 * spring.backlash]
    for value in values:
        refuse_too_large(value, f"{source}, joints.{spring.name}")
    return values
