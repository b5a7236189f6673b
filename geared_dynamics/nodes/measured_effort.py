"""What a robot's ``JointState.effort`` means, as joint torque."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.model import GearedModel


def joint_effort(model: GearedModel, meaning: str, effort: Array, q: Array) -> Array | None:
    """Joint torque (n,) [N m or N] of what a robot calls effort; None where it says nothing.

    ``motor_torque`` and ``motor_current`` are (m,) of the motors, with tau = A tau_m and
    tau_m = k_t i; losses of the gears are not taken off. ``..._gravity_compensated`` lacks g(q).

    Args:
        model: Geared model.
        meaning: The parameter ``effort_feedback``.
        effort: As it came (n,) or (m,).
        q: Joint position (n,).
    """
    size = len(model.motor_names) if meaning.startswith("motor") else model.n
    if meaning == "none" or effort.shape != (size,) or not np.isfinite(effort).all():
        return None
    if meaning == "motor_current":
        return np.asarray(model.structure_matrix @ (model.motors.torque_constant * effort))
    if meaning == "motor_torque":
        return np.asarray(model.structure_matrix @ effort)
    if meaning == "joint_torque_gravity_compensated":
        return np.asarray(effort + gravity_forces(model, q))
    return effort
