"""A policy from what the model's files say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args

from geared_dynamics.control.arguments import choice
from geared_dynamics.control.limits import command_limits
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.control.values import Side
from geared_dynamics.description.records import LimitRecord
from geared_dynamics.dynamics.border import as_numbers
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel, require_model

SWING = 0.02  # [s] in which a command may go from zero to its limit, where no rate is given


def default_policy(model: GearedModel, side: Side = "joint_torque", **options: Any) -> Policy:
    """Policy with the limits of the URDF and of the motors.

    Positions and speeds: the URDF's. Commands: on the joint side the URDF's effort, and no
    more than all motors together can give; on the motor side torque, current or voltage as the
    drivetrain says. A limit of zero for effort or speed counts as not given, as URDF writers
    mean it. Their rate: each command's limit in 20 ms; none where there is no limit.

    Args:
        model: Geared model.
        side: What commands are.
        options: Fields of ``Policy``; a single number stands for all joints or motors.
    """
    require_model(model)
    choice("side", "side", side, get_args(Side))
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
    most = command_limits(model, side)
    given["command"] = spread("command", options.pop("command", None), most.tolist())
    given["command_rate"] = [limit / SWING for limit in given["command"]]
    for name, value in given.items():
        given[name] = spread(name, options.pop(name, None), value)
    names = [entry.name for entry in fields(Policy) if entry.init and entry.name != "continuous"]
    for name in options:
        choice("policy", "option", name, names)
    return Policy(**given, continuous=tuple(endless), **options)  # type: ignore[arg-type]


def bound(value: float | None, sign: float) -> float:
    """A joint's limit, infinite where not given."""
    return sign * math.inf if value is None else value


def spread(name: str, option: Any, value: Sequence[float]) -> tuple[float, ...]:
    """The option, a number or a sequence, in place of the value if given."""
    if option is None:
        return tuple(value)
    array = as_numbers(f"policy.{name}", option, "give one number, or one for each")
    if array.ndim > 1:
        raise ArrayError(f"policy.{name}", f"has shape {array.shape}", "give one row of numbers")
    return tuple(array.tolist()) if array.ndim else (float(array),) * len(value)
