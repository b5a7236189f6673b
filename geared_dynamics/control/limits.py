"""What joints and motors can give, from URDF and drivetrain."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.values import Side
from geared_dynamics.model import GearedModel


def efforts(model: GearedModel) -> Array:
    """Joint force that the URDF allows (n,) [N m or N], infinite where it says none or zero."""
    limits = {joint.name: joint.limit for joint in model.robot.joints}
    given = [limits[name] for name in model.joint_names]
    found = [math.inf if limit is None else limit.effort or math.inf for limit in given]
    return np.array(found)


def command_limits(model: GearedModel, side: Side) -> Array:
    """Largest commands (n,) or (m,), infinite where nothing says any.

    Args:
        model: Geared model.
        side: What commands are.
    """
    voltage, current, torque, _ = model.motors.limits.T
    constant = model.motors.torque_constant
    known = np.isfinite(constant)
    per_ampere = np.where(known, constant, 1.0)
    by_current = np.where(known, current * per_ampere, np.inf)
    if side == "motor_voltage":
        return np.asarray(voltage)
    if side == "motor_current":
        return np.asarray(np.minimum(current, np.where(known, torque / per_ampere, np.inf)))
    shaft = np.asarray(np.minimum(torque, by_current))
    if side == "motor_torque":
        return shaft
    A = np.abs(model.structure_matrix)
    turned = A.any(axis=1)
    with np.errstate(invalid="ignore"):
        together = np.where(A > 0.0, A * shaft, 0.0).sum(axis=1)
    return np.asarray(np.minimum(efforts(model), np.where(turned, together, np.inf)))
