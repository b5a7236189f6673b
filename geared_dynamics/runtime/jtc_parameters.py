"""Parameters of the feedforward node under the names of a joint trajectory controller (JTC)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import inf, nan
from typing import ClassVar, Literal

from geared_dynamics.runtime.node_parameters import (
    LifecycleParameters,
    ParameterGroup,
    PerJoint,
    at_configure,
    at_start,
    row,
)
from geared_dynamics.runtime.parameters import Parameter

described = functools.partial(row, weaker="model")  # what the description says counts as well
ignored = functools.partial(
    Parameter,
    text="Parameter of the joint trajectory controller, accepted without effect.",
    ignored=True,
)

# A block of a JTC loads unchanged under this node's name. Defaults are JTC's. Those that are
# ``ignored`` say how JTC's own loop works, and mean nothing here.


@dataclass(frozen=True, kw_only=True, eq=False)
class ConstraintParameters(ParameterGroup):
    """How far the arm may be from its reference, and how it stops."""

    trajectory: PerJoint = described(
        nan,
        "Maximum position error during motion [rad or m]. 0 disables the check; NaN means 0.2 "
        "rad or 0.05 m in the mode computed_torque, and no check in other modes or with a JTC's "
        "file.",
    )
    goal: PerJoint = row(
        0.0,
        "Maximum position error after the end of a trajectory [rad or m]. 0 disables the check.",
        0.0,
    )
    stopped_velocity_tolerance: float = row(
        0.01,
        "Maximum velocity error after the end of a trajectory [rad/s or m/s]. 0 disables the "
        "check.",
        0.0,
    )
    goal_time: float = described(
        0.0,
        "Time after the end of a trajectory within which the goal tolerances must be met [s]. 0 "
        "sets no time limit.",
        0.0,
    )
    decelerate_on_cancel: bool = at_configure(
        False,
        "If true, decelerate cancelled motions by max_deceleration_on_cancel, which every joint "
        "then needs.",
    )
    max_deceleration_on_cancel: PerJoint = at_configure(
        0.0,
        "Deceleration of a motion that is cancelled or violates a tolerance [rad/s^2 or m/s^2].",
        0.0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class GainParameters(ParameterGroup):
    """Gains of the feedback."""

    p: PerJoint = row(0.0, "Position gain [N m/rad or N/m].", 0.0)
    i: PerJoint = row(0.0, "Integral gain [N m/(rad s) or N/(m s)].", 0.0)
    d: PerJoint = row(0.0, "Velocity gain [N m s/rad or N s/m].", 0.0)
    i_clamp: PerJoint = row(0.0, "Maximum integral term [N m or N]. 0 uses i_clamp_max.", 0.0)
    i_clamp_max: PerJoint = row(0.0, "Maximum integral term [N m or N]. 0 sets no limit.", 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class JtcParameters(LifecycleParameters):
    """Those of a joint trajectory controller."""

    joints: tuple[str, ...] = at_configure(
        [], "Joints to move. Empty means all joints of the URDF."
    )
    command_joints: tuple[str, ...] = at_configure(
        [], "Order of the commands, by joints or motors. Empty means the order of joints."
    )
    interpolation_method: Literal["splines", "none"] = at_configure(
        "splines",
        "Interpolation between waypoints: splines, or none, which steps to each waypoint.",
    )
    allow_partial_joints_goal: bool = row(
        False,
        "If true, accept trajectories that leave out joints; the others hold their position.",
    )
    allow_nonzero_velocity_at_trajectory_end: bool = row(
        False,
        "If true, accept trajectories that end with a velocity other than zero; the arm then "
        "stops at once.",
    )
    allow_integration_in_goal_trajectories: bool = row(
        False,
        "If true, accept trajectories without positions, which are integrated from velocities or "
        "accelerations.",
    )
    interpolate_from_desired_state: bool = row(
        False,
        "If true, a new trajectory starts at the desired state of the old one; if false, at the "
        "measured state.",
    )
    cmd_timeout: float = described(
        0.0,
        "Time after the end of a trajectory at which its reference is discarded [s]. 0 keeps it.",
        0.0,
    )
    constraints: ConstraintParameters
    action_monitor_rate: float = at_start(
        20.0, "Rate at which an action publishes feedback [1/s].", 0.1, 1000.0
    )
    gains: GainParameters

    without_effect: ClassVar[tuple[Parameter, ...]] = (
        ignored("gains.<joint>.i_clamp_min", "double", 0.0),
        ignored("gains.<joint>.ff_velocity_scale", "double", 0.0),
        ignored("gains.<joint>.u_clamp_max", "double", inf),
        ignored("gains.<joint>.u_clamp_min", "double", -inf),
        ignored("gains.<joint>.antiwindup", "bool", False),
        ignored("gains.<joint>.antiwindup_strategy", "string", ""),
        ignored("gains.<joint>.tracking_time_constant", "double", 0.0),
        ignored("gains.<joint>.error_deadband", "double", 0.0),
        ignored("gains.<joint>.angle_wraparound", "bool", False),
        ignored("command_interfaces", "strings", [], when="start"),
        ignored("state_interfaces", "strings", [], when="start"),
        ignored("allow_trajectory_replacement", "bool", True),
        ignored("positions_upsampling.enable", "bool", False),
        ignored("positions_upsampling.policy_frequency", "double", 0.0),
        ignored("open_loop_control", "bool", False),
        ignored("set_last_command_interface_value_as_state_on_activation", "bool", True),
        ignored("speed_scaling.initial_scaling_factor", "double", 1.0),
        ignored("speed_scaling.state_interface", "string", ""),
        ignored("speed_scaling.command_interface", "string", ""),
        ignored("type", "string", "", when="start"),
    )
