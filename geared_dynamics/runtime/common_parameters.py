"""Parameters that nodes share: with each other, and with a joint trajectory controller (JTC)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import inf, nan
from typing import ClassVar, Literal

from geared_dynamics.runtime.parameters import (
    NodeParameters,
    Parameter,
    ParameterGroup,
    PerJoint,
    at_configure,
    at_start,
    row,
)

# -- Parameters that every node with a model has --------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class PayloadParameters(ParameterGroup):
    """A load on the arm."""

    mass: float = row(0.0, "Mass of the payload [kg].", 0.0)
    max_mass: float = at_start(
        nan,
        "Maximum payload.mass [kg]. NaN means the mass whose weight the command limits can hold.",
    )
    center_of_mass: tuple[float, ...] = row(
        [0.0] * 3, "Centre of mass of the payload in the frame of payload.link [m]."
    )
    inertia: tuple[float, ...] = row(
        [0.0] * 6,
        "Inertia ixx, ixy, ixz, iyy, iyz, izz of the payload about its centre of mass, axes of "
        "payload.link [kg m^2].",
    )
    link: str = row(
        "",
        "Link that carries the payload, frames of fixed joints such as tool0 included. Empty "
        "means the only tip.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelParameters(NodeParameters):
    """Where the model comes from, and what it carries."""

    joints: tuple[str, ...]
    robot_description: str = at_configure(
        "", "URDF as text. Empty uses urdf_path, or the topic robot_description_topic."
    )
    urdf_path: str = at_configure(
        "", "Path of a URDF file, used instead of robot_description.", lock="lock_paths"
    )
    robot_description_topic: str = at_start(
        "robot_description",
        "Topic of the URDF, used if both robot_description and urdf_path are empty.",
    )
    drivetrain: str = at_configure("", "Drivetrain file: its path or its text.", lock="lock_paths")
    gravity: tuple[float, ...] = at_configure(
        [0.0, 0.0, -9.81], "Acceleration of free fall in the frame of the root link [m/s^2]."
    )
    locked_joints: tuple[str, ...] = at_configure(
        [], "Joints that do not move, such as those of a gripper."
    )
    locked_positions: tuple[float, ...] = at_configure(
        [], "Positions of locked_joints, in the same order [rad or m]. Empty means all zero."
    )
    payload: PayloadParameters


@dataclass(frozen=True, kw_only=True, eq=False)
class LifecycleParameters(ModelParameters):
    """What both nodes with a lifecycle have."""

    autostart: bool = at_start(True, "If true, the node configures and activates itself.")
    allow_description_changes: bool = at_start(
        False,
        "If true, an active node accepts a robot description that changes a mass, inertia, ratio "
        "or limit by more than 1 %.",
    )
    lock_paths: bool = at_start(
        False, "If true, urdf_path and drivetrain cannot be changed after the start."
    )
    watchdog_rate: float = at_start(
        50.0, "Rate of the check for stale joint states [1/s].", 1.0, 1000.0
    )
    diagnostics_rate: float = at_start(1.0, "Rate of /diagnostics and ~/timing [1/s].", 0.0, 10.0)
    thread_priority: int = at_start(
        0, "Priority under SCHED_FIFO. 0 means the default scheduler.", 0, 99
    )
    cpu_affinity: tuple[int, ...] = at_start(
        [], "Processor cores to run on. Empty means all.", 0, 4095
    )
    lock_memory: bool = at_start(False, "If true, lock the memory so that it is never paged out.")


# -- Parameters of a joint trajectory controller (JTC), of the feedforward node under its names ---
#
# A block of a JTC loads unchanged under this node's name. Defaults are JTC's. Those that are
# ignored say how JTC's own loop works, and mean nothing here.


described = functools.partial(row, weaker="model")  # what the description says counts as well
ignored = functools.partial(
    Parameter,
    text="Parameter of the joint trajectory controller, accepted without effect.",
    ignored=True,
)


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
