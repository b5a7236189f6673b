"""A policy from what the model's files say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.control.values import Side
from geared_dynamics.description.records import LimitRecord
from geared_dynamics.model import GearedModel, require_model


def default_policy(model: GearedModel, side: Side = "joint_torque", **options: Any) -> Policy:
    """Policy with the limits of the URDF and of the motors.

    Positions and speeds: the URDF's. Commands: on the joint side the URDF's effort, and no
    more than all motors together can give; on the motor side torque, current or voltage as the
    drivetrain says. A limit of zero for effort or speed counts as not given, as URDF writers
    mean it.

    Args:
        model: Geared model.
        side: What commands are.
        options: Fields of ``Policy``; a single number stands for all joints or motors.
    """
    require_model(model)
    named = {joint.name: joint for joint in model.robot.joints}
    joints = [named[name] for name in model.joint_names]
    limits = [joint.limit or LimitRecord() for joint in joints]
    endless = [joint.kind == "continuous" for joint in joints]
    given: dict[str, Sequence[float]] = {
        "lower": [bound(limit.lower, -1.0) for limit in limits],
        "upper": [bound(limit.upper, 1.0) for limit in limits],
        "velocity": [limit.velocity or math.inf for limit in limits],
        "tracking": [math.inf] * model.n,
    }
    for name in ("lower", "upper"):
        sign = -1.0 if name == "lower" else 1.0
        given[name] = [
            sign * math.inf if free else value
            for value, free in zip(given[name], endless, strict=True)
        ]
    effort = [limit.effort or math.inf for limit in limits]
    most = command_limits(model, side, np.array(effort))
    given["command"], given["command_rate"] = most.tolist(), [math.inf] * len(most)
    for name, value in given.items():
        given[name] = spread(options.pop(name, None), value)
    return Policy(**given, continuous=tuple(endless), **options)  # type: ignore[arg-type]


def bound(value: float | None, sign: float) -> float:
    """A joint's limit, infinite where not given."""
    return sign * math.inf if value is None else value


def spread(option: Any, value: Sequence[float]) -> tuple[float, ...]:
    """The option, a number or a sequence, in place of the value if given."""
    if option is None:
        return tuple(value)
    array = np.asarray(option, np.float64)
    return tuple(array.tolist()) if array.ndim else (float(array),) * len(value)


def command_limits(model: GearedModel, side: Side, effort: Array) -> Array:
    """Largest commands (n,) or (m,), infinite where nothing says any.

    Args:
        model: Geared model.
        side: What commands are.
        effort: Joint forces that the URDF allows (n,).
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
    return np.asarray(np.minimum(effort, np.where(turned, together, np.inf)))
