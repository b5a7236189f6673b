"""Elastic joints: coordinates behind their springs, and what follows which side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from geared_dynamics.arrays import Array, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.description.magnitude import refuse_too_large
from geared_dynamics.description.records import (
    DrivetrainRecord,
    JointDriveRecord,
    ShaftSpringRecord,
)
from geared_dynamics.errors import ModelError
from geared_dynamics.model.shafts import hang_shafts
from geared_dynamics.model.topology import Follow

SOFTEST = 1e-30  # so that the compliance is no larger than ``refuse_too_large`` lets anything be

ElasticModel = Literal["complete", "uncoupled", "spong_truncated"]


@dataclass(frozen=True, eq=False)
class Elasticity(Frozen):
    """Coordinates x = (q, theta), sizes n and n_e, and the springs between them, s of them.

    theta is first, for each elastic joint, the shaft behind its spring on the joint's scale,
    then, for each spring inside a drive, its motor-side shaft's angle. With all springs at
    rest theta = E q. A spring's stretch is z = P x - rest, its tension K z + D z' (with a gap,
    of what z exceeds it), and its force on x is -P' times that.

    Attributes:
        names: Names of theta (n_e,).
        joint: Coordinates in q of the elastic joints, theta's first entries.
        passive: Coordinates that no motor is meant to move (p,).
        rigid: E (n_e, n).
        link_spin: Gamma_q (w, n), spin of the wheels per joint rate [1 or rad/m].
        shaft_spin: Gamma_theta (w, n_e), per rate of theta.
        stretch: P (s, n + n_e); the last rows are the drives' springs.
        stiffness: K (s,) [N m/rad or N/m].
        damping: D (s,) [N m s/rad or N s/m].
        rest: Value of P x at which there is no force (s,) [rad or m].
        gap: Half the backlash (s,) [rad or m].
    """

    names: tuple[str, ...]
    joint: IntArray
    passive: IntArray
    rigid: Array
    link_spin: Array
    shaft_spin: Array
    stretch: Array
    stiffness: Array
    damping: Array
    rest: Array
    gap: Array

    @property
    def count(self) -> int:
        """Number of coordinates theta, n_e."""
        return len(self.names)


def build_elasticity(
    drivetrain: DrivetrainRecord,
    follow: Mapping[str, Follow],
    spin: Array,
    joint_names: tuple[str, ...],
) -> Elasticity:
    """Give each spring its coordinate, and the wheels behind it to that.

    A spring declared on a mimic joint acts on the leader's coordinate, as its friction does.

    Args:
        drivetrain: Records, gear trains solved.
        follow: How movable joints follow coordinates; springs of others have no effect.
        spin: Gamma (w, n), all joints rigid.
        joint_names: Coordinates q (n,).
    """
    n = spin.shape[1]
    moving = [joint for joint in drivetrain.joints if joint.name in follow]
    springs = [joint for joint in moving if joint.stiffness is not None]
    joint = sorted({follow[s.name].dof for s in springs if not s.passive})
    wheels = [wheel.name for wheel in drivetrain.wheels]
    motor_side = np.array([wheel.side == "motor" for wheel in drivetrain.wheels], bool)
    whole = np.hstack([spin, np.where(motor_side[:, None], spin[:, joint], 0.0)])
    whole[:, joint] -= whole[:, n:]
    acting, whole, between = hang_shafts(drivetrain, wheels, spin, whole)
    rows = [stretch(spring, follow[spring.name], joint, n) for spring in springs]
    wide = np.zeros((len(rows) + len(acting), whole.shape[1]))
    wide[: len(rows), : n + len(joint)] = np.reshape(rows, (-1, n + len(joint)))
    wide[len(rows) :] = between
    laws = [law(s, f"{drivetrain.source}, joints.{s.name}", follow[s.name]) for s in springs]
    laws += [law(s, f"{drivetrain.source}, springs.{s.name}") for s in acting]
    stiffness, damping, rest, gap = np.reshape(laws, (-1, 4)).T
    first = [wheels.index(s.motor_side) for s in acting]
    named = [joint_names[j] for j in joint] + [s.name for s in acting]
    return Elasticity(
        names=tuple(f"{name}.theta" for name in named),
        joint=readonly_int(joint),
        passive=readonly_int(sorted({follow[j.name].dof for j in moving if j.passive})),
        rigid=readonly(np.vstack([np.eye(n)[joint], spin[first]])),
        link_spin=readonly(whole[:, :n]),
        shaft_spin=readonly(whole[:, n:]),
        stretch=readonly(wide),
        stiffness=readonly(stiffness),
        damping=readonly(damping),
        rest=readonly(rest),
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


def law(
    spring: JointDriveRecord | ShaftSpringRecord, place: str, motion: Follow | None = None
) -> list[float]:
    """Stiffness, damping, rest (of the coordinate, as a passive joint's is) and gap."""
    rest = 0.0
    if isinstance(spring, JointDriveRecord) and spring.passive and motion is not None:
        rest = spring.rest - motion.offset
    values = [spring.stiffness or 0.0, spring.damping or 0.0, rest, 0.5 * spring.backlash]
    for value in values:
        refuse_too_large(value, place)
    if not values[0] >= SOFTEST:
        finding = f"{values[0]:g} is too small a stiffness"
        remedy = f"write it in SI units; no spring has one below {SOFTEST:g}"
        raise ModelError(f"{place}.stiffness", finding, remedy)
    return values
