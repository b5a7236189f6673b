"""From parameter values to what the pure rooms take: rules, gains, terms, policy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from geared_dynamics.actuation.command_type import CommandType
from geared_dynamics.arrays import Array
from geared_dynamics.control import (
    Controller,
    Gains,
    Terms,
    controller,
    elastic_controller,
    gains_from_modes,
)
from geared_dynamics.control.gains import gains_from_bandwidth
from geared_dynamics.control.safety import Policy, default_policy
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.following import (
    deceleration_of,
    reference_timeout,
    tolerances_of,
    tracking_of,
    untracked,
    without_effect,
)
from geared_dynamics.runtime.model_source import loaded, numbers
from geared_dynamics.runtime.parameters import ParameterError, Values
from geared_dynamics.trajectory import Rules, Tolerances

# -- From parameter values to what the pure rooms take: rules, gains, terms, policy ---------------


ROUNDING = 1e-6  # part of a limit by which a parameter may exceed it: decimals left out
LIMITS = {
    "lower": "min_position",
    "upper": "max_position",
    "velocity": "max_velocity",
    "command": "max_effort",
}


def rules_of(values: Values, model: GearedModel) -> Rules:
    """How trajectories are read."""
    return Rules(
        joints=model.joint_names,
        continuous=tuple(itertools.compress(model.joint_names, model.continuous)),
        interpolation_method=str(values["interpolation_method"]),
        allow_partial_joints_goal=bool(values["allow_partial_joints_goal"]),
        allow_nonzero_velocity_at_trajectory_end=bool(
            values["allow_nonzero_velocity_at_trajectory_end"]
        ),
        allow_integration_in_goal_trajectories=bool(
            values["allow_integration_in_goal_trajectories"]
        ),
        rest_after_end=True,
    )


def terms_of(values: Values) -> Terms:
    """The switches."""
    return Terms(**{field.name: bool(values[field.name]) for field in fields(Terms)})


def command_type_of(values: Values) -> CommandType:
    """What limits are for: commands; in the mode annotate the effort of trajectories."""
    return "joint_torque" if values["mode"] == "annotate" else cast(CommandType, values["output"])


def law_of(values: Values) -> str:
    """The law of the mode."""
    return str(values["law"]) if values["mode"] == "computed_torque" else "feedforward"


def gains_of(values: Values, model: GearedModel) -> Gains | None:
    """The gains: those of JTC where the law takes torques and one is given, else by bandwidth."""
    law = law_of(values)
    if law == "feedforward":
        return None
    joints = model.joint_names
    if law == "pd_plus_feedforward":
        p, i, d, clamp, most = (
            numbers(values, f"gains.{{}}.{name}", joints)
            for name in ("p", "i", "d", "i_clamp", "i_clamp_max")
        )
        if p.any() or d.any():
            limit = np.where(clamp > 0.0, clamp, np.where(most > 0.0, most, np.inf))
            return Gains(p, d, i, limit, kind="torque")
    return gains_from_bandwidth(
        cast(float, values["bandwidth"]),
        cast(float, values["damping_ratio"]),
        integral=cast(float, values["integral"]),
    )


def controller_of(values: Values, model: GearedModel) -> Controller:
    """The law with gains, switches and output, warmed up."""
    if model.elasticity.count and values["use_elasticity"] and values["mode"] != "annotate":
        return elastic_controller_of(values, model)
    return controller(
        model,
        law_of(values),
        gains=gains_of(values, model),
        terms=terms_of(values),
        command_type=cast(CommandType, values["output"]),
        saturation=cast(Any, values["saturation"]),
    )


def elastic_controller_of(values: Values, model: GearedModel) -> Controller:
    """The law of an elastic arm; its gains, where none are given, follow from its modes."""
    feedback = cast(Any, values["feedback"])
    gains = None
    if values["mode"] == "computed_torque":
        p, d = (numbers(values, f"gains.{{}}.{name}", model.joint_names) for name in ("p", "d"))
        gains = Gains(p, d, kind="torque")
        if not (p.any() or d.any()):
            ratio = cast(float, values["damping_ratio"])
            still = np.zeros(model.n)
            try:
                gains = gains_from_modes(model, still, damping_ratio=ratio, feedback=feedback)
            except ModelError as error:
                raise ParameterError(*without_gains(feedback, error)) from None
    return elastic_controller(
        model,
        "flatness" if gains is None else "flatness_plus_pd",
        gains=gains,
        feedback=feedback,
        method=cast(Any, values["elastic_method"]),
        terms=terms_of(values),
        command_type=cast(CommandType, values["output"]),
        saturation=cast(Any, values["saturation"]),
    )


def without_gains(feedback: str, error: ModelError) -> tuple[str, str, str]:
    """Place, finding and remedy where no stable gains follow from an elastic arm's modes."""
    remedy = "give gains.<joint>.p and gains.<joint>.d, lower ones"
    if feedback == "joint":
        remedy = f"set feedback: motor, or {remedy}"
    remedy += ", or give the springs damping in the drivetrain file"
    return "feedback", f"is {feedback}, where the loop {error.finding} with default gains", remedy


def unread_gains(values: Values, model: GearedModel) -> list[str]:
    """A line where gains are given, as in a block of JTC, that the law does not read."""
    names = [f"gains.{joint}.{part}" for joint in model.joint_names for part in "pid"]
    given = [name for name in names if values[name]]
    if not given:
        return []
    what = f"{given[0]} and others have" if len(given) > 1 else f"{given[0]} has"
    if values["mode"] == "stream":
        return [f"{what} no effect: the mode stream has no feedback; see mode: computed_torque"]
    elastic = model.elasticity.count and values["use_elasticity"]
    if values["mode"] != "computed_torque" or law_of(values) != "computed_torque" or elastic:
        return []
    remedy = "set law: pd_plus_feedforward to use them"
    return [f"{what} no effect: law computed_torque takes bandwidth and damping_ratio; {remedy}"]


def policy_of(values: Values, model: GearedModel) -> Policy:
    """Thresholds and limits of the safety step."""
    command_type = command_type_of(values)
    standard = default_policy(model, command_type)
    options: dict[str, Any] = {
        name.removeprefix("safety."): value
        for name, value in values.items()
        if name.startswith("safety.") and name != "safety.clock_timeout"  # the loop's own
    }
    options["command_rate"] = rate_of(options["command_rate"])
    for field, name in LIMITS.items():
        if field == "command" and command_type != "joint_torque":
            continue
        pattern = f"joint_limits.{{}}.{name}"
        own = numbers(values, pattern, model.joint_names)
        usual = np.array(getattr(standard, field))
        refuse_wider(field, pattern, model.joint_names, own, usual)
        options[field] = np.where(np.isnan(own), usual, own)
    options["tracking"] = tracking_of(values, model)
    options["reference_timeout"] = reference_timeout(values)
    return default_policy(model, command_type, **options)


def rate_of(rate: float) -> float | None:
    """Largest change of commands per second: None for the policy's own, inf for any."""
    if math.isnan(rate):
        return None
    if rate < 0.0:
        remedy = "give a rate above zero, NaN for each command's limit in 20 ms, or 0 for any"
        raise ParameterError("safety.command_rate", f"is {rate:g}", remedy)
    return rate or math.inf


def refuse_wider(
    field: str, pattern: str, joints: Sequence[str], own: Array, usual: Array
) -> None:
    """Refuse a parameter that allows more than the description does.

    Args:
        field: Of the policy.
        pattern: The parameter's name, ``{}`` for the joint.
        joints: Their names (n,).
        own: The parameter's values (n,), NaN where not given.
        usual: The description's (n,), infinite where it has none.
    """
    sign = -1.0 if field == "lower" else 1.0
    slack = ROUNDING * np.where(np.isfinite(usual), np.abs(usual), 0.0)
    for k in np.flatnonzero(sign * own > sign * usual + slack):
        remedy = "a parameter only narrows a limit; one that is wrong is corrected in the URDF"
        if field == "command":
            remedy += " or in the drivetrain file"
        finding = f"is {own[k]:g}, and the robot's description allows {usual[k]:g}"
        raise ParameterError(pattern.format(joints[int(k)]), finding, remedy)


def unlimited(policy: Policy, model: GearedModel, command_type: CommandType) -> list[str]:
    """A line where commands have no limit."""
    names = model.joint_names if command_type == "joint_torque" else model.motor_names
    free = [name for name, most in zip(names, policy.command, strict=True) if most == math.inf]
    if not free:
        return []
    remedy = "give motors.<motor>.limits in the drivetrain file"
    if command_type == "joint_torque":
        remedy = "give <limit effort> in the URDF, or joint_limits.<joint>.max_effort"
    what = f"no limit is known for the commands of {', '.join(free)}"
    return [f"{what}: neither their size nor their rate is limited; {remedy}"]


def remarks(values: Values, model: GearedModel, policy: Policy) -> list[str]:
    """What the user should know of the parameters: a line each, for the log."""
    return [
        *unread_gains(values, model),
        *without_effect(values, model),
        *unlimited(policy, model, command_type_of(values)),
        *untracked(values, model),
    ]


# -- What a cycle reads and the user can change: one frozen value, exchanged as a whole -----------


POLICY = ("safety.", "joint_limits.", "constraints.", "cmd_timeout", "output")


@dataclass(frozen=True, eq=False)
class FeedforwardSetup:
    """What a cycle reads.

    Attributes:
        bare: The model without payload.
        values: The parameters that all this was made from.
        control: The law, warmed up.
        policy: What is safe.
        rules: How trajectories are read.
        period: Given time between joint states [s]; 0: as measured.
        continued: Whether a new trajectory continues the old reference.
        clock_timeout: How long ROS time may stand still in a motion [s].
        tolerances: Of trajectories that bring none along.
        deceleration: With which a cancelled motion is stopped (n,); None: none is given.
        open_loop: Whether the law has no feedback.
    """

    bare: GearedModel
    values: Values
    control: Controller
    policy: Policy
    rules: Rules
    period: float
    continued: bool
    clock_timeout: float
    tolerances: Tolerances
    deceleration: Array | None
    open_loop: bool


def prepared(
    values: Values,
    model: GearedModel,
    old: FeedforwardSetup | None = None,
    carrying: GearedModel | None = None,
) -> FeedforwardSetup:
    """Make all that a cycle reads; takes less than a millisecond once kernels are compiled.

    Args:
        values: The parameters.
        model: Without payload.
        old: What is in use: what did not change is taken over.
        carrying: The model with the payload, where it is made already.

    Raises:
        GearedDynamicsError: for parameters that do not go together.
    """
    rate = int(values["update_rate"])  # type: ignore[arg-type]
    same = old is not None and old.bare is model and not differ(old.values, values, POLICY)
    control = controller_of(values, carrying or loaded(model, values))
    return FeedforwardSetup(
        bare=model,
        values=values,
        control=control,
        policy=old.policy if old is not None and same else policy_of(values, model),
        rules=rules_of(values, model),
        period=1.0 / rate if rate else 0.0,
        continued=bool(values["interpolate_from_desired_state"]),
        clock_timeout=float(values["safety.clock_timeout"]),  # type: ignore[arg-type]
        tolerances=tolerances_of(values, model),
        deceleration=deceleration_of(values, model),
        open_loop=law_of(values) == "feedforward",
    )


def differ(before: Values, after: Values, beginnings: tuple[str, ...]) -> bool:
    """Whether a parameter whose name begins so was set."""
    return any(
        value is not before.get(name)
        for name, value in after.items()
        if name.startswith(beginnings)
    )
