"""From the parameters of the feedforward node to rules, gains, terms, policy; their ceilings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple

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
from geared_dynamics.runtime.acceptance import (
    PATTERN,
    deceleration_of,
    reference_timeout,
    tolerances_of,
    tracking_of,
    untracked,
    without_effect,
)
from geared_dynamics.runtime.contact_force import ContactSetup, contact_setup
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.model_source import loaded
from geared_dynamics.runtime.parameters import RESTART, ParameterError, expanded
from geared_dynamics.trajectory import Rules, Tolerances

# -- From parameter values to what the pure rooms take: rules, gains, terms, policy ---------------


ROUNDING = 1e-6  # part of a limit by which a parameter may exceed it: decimals left out
LIMITS = {
    "lower": "min_position",
    "upper": "max_position",
    "velocity": "max_velocity",
    "command": "max_effort",
}


def rules_of(parameters: FeedforwardParameters, model: GearedModel) -> Rules:
    """How trajectories are read."""
    return Rules(
        joints=model.joint_names,
        continuous=tuple(itertools.compress(model.joint_names, model.continuous)),
        interpolation_method=parameters.interpolation_method,
        allow_partial_joints_goal=parameters.allow_partial_joints_goal,
        allow_nonzero_velocity_at_trajectory_end=parameters.allow_nonzero_velocity_at_trajectory_end,
        allow_integration_in_goal_trajectories=parameters.allow_integration_in_goal_trajectories,
        rest_after_end=True,
    )


def terms_of(parameters: FeedforwardParameters) -> Terms:
    """The switches."""
    return Terms(**{field.name: getattr(parameters, field.name) for field in fields(Terms)})


def command_type_of(parameters: FeedforwardParameters) -> CommandType:
    """What limits are for: commands; in the mode annotate the effort of trajectories."""
    return "joint_torque" if parameters.mode == "annotate" else parameters.output


def law_of(parameters: FeedforwardParameters) -> str:
    """The law of the mode."""
    return parameters.law if parameters.mode == "computed_torque" else "feedforward"


def gains_of(parameters: FeedforwardParameters) -> Gains | None:
    """The gains: those of JTC where the law takes torques and one is given, else by bandwidth."""
    law, own = law_of(parameters), parameters.gains
    if law == "feedforward":
        return None
    if law == "pd_plus_feedforward" and (own.p.any() or own.d.any()):
        clamp, most = own.i_clamp, own.i_clamp_max
        limit = np.where(clamp > 0.0, clamp, np.where(most > 0.0, most, np.inf))
        return Gains(own.p, own.d, own.i, limit, kind="torque")
    return gains_from_bandwidth(
        parameters.bandwidth, parameters.damping_ratio, integral=parameters.integral
    )


def controller_of(parameters: FeedforwardParameters, model: GearedModel) -> Controller:
    """The law with gains, switches and output, warmed up."""
    if model.elasticity.count and parameters.use_elasticity and parameters.mode != "annotate":
        return elastic_controller_of(parameters, model)
    return controller(
        model,
        law_of(parameters),
        gains=gains_of(parameters),
        terms=terms_of(parameters),
        command_type=parameters.output,
        saturation=parameters.saturation,
    )


def elastic_controller_of(parameters: FeedforwardParameters, model: GearedModel) -> Controller:
    """The law of an elastic arm; its gains, where none are given, follow from its modes."""
    feedback, gains = parameters.feedback, None
    if parameters.mode == "computed_torque":
        gains = Gains(parameters.gains.p, parameters.gains.d, kind="torque")
        if not (parameters.gains.p.any() or parameters.gains.d.any()):
            ratio, still = parameters.damping_ratio, np.zeros(model.n)
            try:
                gains = gains_from_modes(model, still, damping_ratio=ratio, feedback=feedback)
            except ModelError as error:
                raise ParameterError(*without_gains(feedback, error)) from None
    return elastic_controller(
        model,
        "flatness" if gains is None else "flatness_plus_pd",
        gains=gains,
        feedback=feedback,
        method=parameters.elastic_method,
        terms=terms_of(parameters),
        command_type=parameters.output,
        saturation=parameters.saturation,
    )


def without_gains(feedback: str, error: ModelError) -> tuple[str, str, str]:
    """Place, finding and remedy where no stable gains follow from an elastic arm's modes."""
    remedy = "set lower gains.<joint>.p and gains.<joint>.d"
    if feedback == "joint":
        remedy = f"set feedback: motor, {remedy}"
    remedy += ", or add damping to the springs in the drivetrain file"
    return "feedback", f"is {feedback}, where the loop {error.finding} with default gains", remedy


def unread_gains(parameters: FeedforwardParameters, model: GearedModel) -> list[str]:
    """A line where gains are given, as in a block of JTC, that the law does not read."""
    names = [f"gains.{joint}.{part}" for joint in model.joint_names for part in "pid"]
    own = [name for name in names if parameters.values[name]]
    if not own:
        return []
    what = f"{own[0]} and others have" if len(own) > 1 else f"{own[0]} has"
    if parameters.mode == "stream":
        return [f"{what} no effect: the mode stream has no feedback; see mode: computed_torque"]
    elastic = model.elasticity.count and parameters.use_elasticity
    if parameters.mode != "computed_torque" or law_of(parameters) != "computed_torque" or elastic:
        return []
    remedy = "set law: pd_plus_feedforward to use them"
    return [f"{what} no effect: law computed_torque takes bandwidth and damping_ratio; {remedy}"]


def policy_of(parameters: FeedforwardParameters, model: GearedModel) -> Policy:
    """Thresholds and limits of the safety step."""
    command_type = command_type_of(parameters)
    standard, options = default_policy(model, command_type), asdict(parameters.safety)
    del options["clock_timeout"]  # the loop's own
    options["command_rate"] = rate_of(parameters.safety.command_rate)
    for field, name in LIMITS.items():
        if field == "command" and command_type != "joint_torque":
            continue
        own: Array = getattr(parameters.joint_limits, name)
        usual = np.array(getattr(standard, field))
        refuse_wider(field, f"joint_limits.{{}}.{name}", model.joint_names, own, usual)
        options[field] = np.where(np.isnan(own), usual, own)
    options["tracking"] = tracking_of(parameters, model)
    options["reference_timeout"] = reference_timeout(parameters)
    return default_policy(model, command_type, **options)


def rate_of(rate: float) -> float | None:
    """Largest change of commands per second: None for the policy's own, inf for any."""
    if math.isnan(rate):
        return None
    if rate < 0.0:
        remedy = "give a positive rate, NaN to reach the full limit in 20 ms, or 0 for any rate"
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
        remedy = "set a narrower limit; if the limit of the robot is wrong, correct it in the URDF"
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


def remarks(parameters: FeedforwardParameters, model: GearedModel, policy: Policy) -> list[str]:
    """What the user should know of the parameters: a line each, for the log."""
    return [
        *unread_gains(parameters, model),
        *without_effect(parameters),
        *unlimited(policy, model, command_type_of(parameters)),
        *untracked(parameters, model),
    ]


# -- How far parameters may widen limits while the node runs: no farther than its start allows ----
#
# A limit's ceiling is the wider of two: what the robot's description or the default gives, and
# the value that the node was started with. Where the former is no limit at all, it is the latter.


# Fields of the policy, with the parameter that sets each; ``{}`` stands for the joint.
CEILED = {field: f"joint_limits.{{}}.{name}" for field, name in LIMITS.items()} | {
    "command_rate": "safety.command_rate",
    "tracking": PATTERN,
    "reference_timeout": "cmd_timeout",
}


class Ceiling(NamedTuple):
    """The widest that limits may be.

    Attributes:
        usual: By description and defaults.
        start: By the values of the start.
    """

    usual: Policy
    start: Policy

    def of(self, field: str) -> Array:
        """A field's widest values (n,) or (m,).

        Args:
            field: Of the policy, in ``CEILED``.
        """
        usual, start = (np.atleast_1d(getattr(policy, field)) for policy in self)
        wider = np.minimum if field == "lower" else np.maximum
        return np.where(np.isfinite(usual), wider(usual, start), start)


def ceiling_of(
    parameters: FeedforwardParameters, start: FeedforwardParameters, model: GearedModel
) -> Ceiling:
    """The ceiling of a node's limits.

    Args:
        parameters: Its parameters.
        start: Those that it was started with.
        model: The robot.

    Raises:
        ParameterError: for a value of the start that is beyond the description.
    """
    limiting = [entry for entry in parameters.rows() if entry.weaker == "model"]
    entries = expanded(limiting, model.joint_names, ())
    usual = {name: entry.default for name, entry in entries.items()}
    own = {name: start.values[name] for name in entries}
    return Ceiling(
        policy_of(parameters.replaced(usual), model), policy_of(parameters.replaced(own), model)
    )


def refuse_wider_than_start(
    parameters: FeedforwardParameters, start: FeedforwardParameters, model: GearedModel
) -> None:
    """Refuse parameters that widen a limit beyond its ceiling.

    Args:
        parameters: The parameters.
        start: Those that the node was started with.
        model: The robot.

    Raises:
        ParameterError: naming the parameter and what it may be.
    """
    most, policy = ceiling_of(parameters, start, model), policy_of(parameters, model)
    for field, pattern in CEILED.items():
        limit, found = most.of(field), np.atleast_1d(getattr(policy, field))
        sign = -1.0 if field == "lower" else 1.0
        slack = ROUNDING * np.where(np.isfinite(limit), np.abs(limit), 0.0)
        for k in np.flatnonzero(sign * found > sign * limit + slack):
            name = pattern.format(model.joint_names[k]) if "{}" in pattern else pattern
            allowed = f"{found[k]:g}" if np.isfinite(found[k]) else "not limited"
            side = "at least" if field == "lower" else "at most"
            finding = f"is {allowed}, and while the node runs it must be {side} {limit[k]:g}"
            raise ParameterError(name, finding, RESTART)


# -- What a cycle reads and the user can change: one frozen value, exchanged as a whole -----------


POLICY = ("safety.", "joint_limits.", "constraints.", "cmd_timeout", "output")


@dataclass(frozen=True, eq=False)
class FeedforwardSetup:
    """What a cycle reads.

    Attributes:
        bare: The model without payload.
        parameters: Those that all this was made from.
        control: The law, warmed up.
        policy: What is safe.
        rules: How trajectories are read.
        period: Given time between joint states [s]; 0: as measured.
        continued: Whether a new trajectory continues the old reference.
        clock_timeout: How long ROS time may stand still in a motion [s].
        tolerances: Of trajectories that bring none along.
        deceleration: With which a cancelled motion is stopped (n,); None: none is given.
        open_loop: Whether the law has no feedback.
        contact: How desired contact forces are read.
    """

    bare: GearedModel
    parameters: FeedforwardParameters
    control: Controller
    policy: Policy
    rules: Rules
    period: float
    continued: bool
    clock_timeout: float
    tolerances: Tolerances
    deceleration: Array | None
    open_loop: bool
    contact: ContactSetup


def feedforward_setup(
    parameters: FeedforwardParameters,
    model: GearedModel,
    old: FeedforwardSetup | None = None,
    carrying: GearedModel | None = None,
) -> FeedforwardSetup:
    """Make all that a cycle reads; takes less than a millisecond once kernels are compiled.

    Args:
        parameters: The parameters.
        model: Without payload.
        old: What is in use: what did not change is taken over.
        carrying: The model with the payload, where it is made already.

    Raises:
        GearedDynamicsError: for parameters that do not go together.
    """
    control = controller_of(parameters, carrying or loaded(model, parameters))
    policy = None
    if old is not None and old.bare is model and not policy_changed(old.parameters, parameters):
        policy = old.policy
    return FeedforwardSetup(
        bare=model,
        parameters=parameters,
        control=control,
        policy=policy or policy_of(parameters, model),
        rules=rules_of(parameters, model),
        period=1.0 / parameters.update_rate if parameters.update_rate else 0.0,
        continued=parameters.interpolate_from_desired_state,
        clock_timeout=parameters.safety.clock_timeout,
        tolerances=tolerances_of(parameters, model),
        deceleration=deceleration_of(parameters),
        open_loop=law_of(parameters) == "feedforward",
        contact=contact_setup(parameters, control),
    )


def policy_changed(before: FeedforwardParameters, after: FeedforwardParameters) -> bool:
    """Whether a parameter of the policy was set."""
    return any(name.startswith(POLICY) for name in after.changed(before))
