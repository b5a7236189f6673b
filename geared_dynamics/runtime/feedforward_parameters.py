"""All parameters of the feedforward node. docs/nodes.md shows this table."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import inf, nan
from typing import ClassVar, Literal

from geared_dynamics.actuation.command_type import EffortType, SentType
from geared_dynamics.control.outputs import Saturation
from geared_dynamics.control.safety.memory import Leaving, Reaction
from geared_dynamics.dynamics.elastic.flatness import Method
from geared_dynamics.runtime.joint_readings import Feedback
from geared_dynamics.runtime.node_parameters import (
    LifecycleParameters,
    ParameterGroup,
    PerJoint,
    PerMotor,
    SignPerMotor,
    at_configure,
    at_start,
    row,
)
from geared_dynamics.runtime.parameters import Parameter

Effort = EffortType | Literal["joint_torque_gravity_compensated", "none"]
above = functools.partial(row, weaker="above")
below = functools.partial(row, weaker="below")
described = functools.partial(row, weaker="model")  # what the description says counts as well
reaction = functools.partial(row, "hold", weakest=("zero",))
ignored = functools.partial(Parameter, text="of JTC; no effect here", ignored=True)

# -- Parameters under the names of ros2_controllers' joint trajectory controller (JTC) ------------
#
# A block of a JTC loads unchanged under this node's name. Defaults are JTC's. Those that are
# ``ignored`` say how JTC's own loop works, and mean nothing here.


@dataclass(frozen=True, kw_only=True, eq=False)
class ConstraintParameters(ParameterGroup):
    """How far the arm may be from its reference, and how it stops."""

    trajectory: PerJoint = described(
        nan,
        "largest position error; 0: any; NaN: 0.2 rad or 0.05 m in the mode computed_torque, any "
        "in the others and in a JTC's file [rad or m]",
    )
    goal: PerJoint = row(
        0.0, "largest position error after a trajectory's end; 0: any [rad or m]", 0.0
    )
    stopped_velocity_tolerance: float = row(
        0.01, "largest velocity error there; 0: any [rad/s or m/s]", 0.0
    )
    goal_time: float = described(
        0.0, "how long after the end both may be larger; 0: for any time [s]", 0.0
    )
    decelerate_on_cancel: bool = at_configure(
        False, "stop by max_deceleration_on_cancel, where all joints have one"
    )
    max_deceleration_on_cancel: PerJoint = at_configure(
        0.0, "of motions that are cancelled or violate a tolerance [rad/s^2 or m/s^2]", 0.0
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class GainParameters(ParameterGroup):
    """Gains of the feedback."""

    p: PerJoint = row(0.0, "Position gain [N m/rad or N/m].", 0.0)
    i: PerJoint = row(0.0, "Integral gain [N m/(rad s)].", 0.0)
    d: PerJoint = row(0.0, "Velocity gain [N m s/rad].", 0.0)
    i_clamp: PerJoint = row(0.0, "largest integral term; 0: i_clamp_max counts [N m or N]", 0.0)
    i_clamp_max: PerJoint = row(0.0, "Largest integral term; 0: any.", 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class JtcParameters(LifecycleParameters):
    """Those of a joint trajectory controller."""

    joints: tuple[str, ...] = at_configure([], "joints to move; none: all of the URDF")
    command_joints: tuple[str, ...] = at_configure(
        [], "order of commands, joints or motors; none: as joints"
    )
    interpolation_method: Literal["splines", "none"] = at_configure("splines", "between waypoints")
    allow_partial_joints_goal: bool = row(False, "trajectories may leave out joints")
    allow_nonzero_velocity_at_trajectory_end: bool = row(
        False, "trajectories may end in motion; the arm then stops at once"
    )
    allow_integration_in_goal_trajectories: bool = row(
        False, "trajectories may have velocities or accelerations alone"
    )
    interpolate_from_desired_state: bool = row(
        False, "a new trajectory continues the old reference, not the measured state"
    )
    cmd_timeout: float = described(
        0.0, "time after a trajectory's end at which the reference is dropped; 0: never [s]", 0.0
    )
    constraints: ConstraintParameters
    action_monitor_rate: float = at_start(20.0, "feedback of actions [1/s]", 0.1, 1000.0)
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


# -- Ours -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class EncoderParameters(ParameterGroup):
    """How the motors are wired."""

    encoder_offset: PerMotor = at_configure(
        0.0, "what the encoder shows where the model's shows zero [rad]"
    )
    encoder_sign: SignPerMotor = at_configure(1, "-1 for one that counts backwards", -1, 1)
    command_sign: SignPerMotor = at_configure(
        1, "-1 for a motor that turns the other way, of motor-side outputs", -1, 1
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SpeedScalingParameters(ParameterGroup):
    """What ``~/speed_scaling_input`` says."""

    full: float = at_start(
        1.0, "value of ~/speed_scaling_input at full speed; 100 where it is in percent", 1e-6, 1e6
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AnnotateParameters(ParameterGroup):
    """The mode annotate."""

    topic: str = at_start(
        "~/annotated_trajectory",
        "where the mode annotate publishes: the controller's joint_trajectory",
    )
    action: str = at_start(
        "",
        "the controller's action, for goals; empty: follow_joint_trajectory beside annotate.topic",
    )
    period: float = row(0.01, "longest step between its points [s]", 1e-3, 1.0)
    tolerance: float = row(
        0.002, "largest error of effort between points, part of the joint's largest", 1e-5, 0.1
    )
    beyond_limits: Literal["refuse", "warn"] = row(
        "refuse",
        "what is done with a trajectory beyond limits of position, speed or effort, or one that "
        "begins with a jump: refuse it, or send it with a warning in the log",
        weakest=("warn",),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ContactForceParameters(ParameterGroup):
    """The desired contact force of ``~/contact_wrench``."""

    tool: str = at_configure("", "link on whose origin it acts; empty: the only tip")
    max_force: float = above(0.0, "largest force that is accepted; 0: none [N]", 0.0, 1e6)
    max_torque: float = above(0.0, "largest torque that is accepted; 0: none [N m]", 0.0, 1e6)
    force_rate: float = above(100.0, "largest change of the force per second [N/s]", 1e-3, 1e7)
    torque_rate: float = above(10.0, "largest change of the torque per second", 1e-3, 1e7)
    timeout: float = above(
        0.1, "age of the last message at which the force ramps to zero [s]", 1e-3, 10.0
    )
    max_speed: float = above(
        0.1,
        "speed relative to the reference, against the force, at which none is left of it [m/s]",
        1e-3,
        10.0,
    )
    max_turning_speed: float = above(
        0.5, "Turning speed at which no torque is left, as max_speed [rad/s].", 1e-3, 100.0
    )
    max_distance: float = above(
        0.02, "distance of tool and reference along the force that ends it [m]", 1e-4, 10.0
    )
    max_angle: float = above(
        0.1, "angle of tool and reference about the torque that ends it [rad]", 1e-4, 3.0
    )
    friction: float = row(
        0.0, "Coulomb's coefficient of the tool: its friction is compensated", 0.0, 2.0
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SafetyParameters(ParameterGroup):
    """Thresholds and reactions of the safety step: fields of ``Policy``, and ``clock_timeout``."""

    state_timeout: float = above(0.05, "age at which a joint state is stale [s]", 1e-3, 10.0)
    position_margin: float = row(0.05, "distance from a limit that counts as near [rad or m]", 0.0)
    position_tolerance: float = above(
        0.02, "distance beyond a limit at which the arm is stopped [rad or m]", 0.0, 0.5
    )
    velocity_tolerance: float = above(
        0.1, "part beyond the largest speed at which the arm is stopped", 0.0, 1.0
    )
    command_rate: float = described(
        nan,
        "largest change of a command per second; NaN: each command's limit in 20 ms; 0: any",
    )
    time_jump: float = above(1.0, "step of the ROS clock that is a jump [s]", 1e-3)
    clock_timeout: float = above(
        1.0,
        "how long the ROS clock may stand still in a motion, and not be a jump [s]",
        0.01,
        60.0,
    )
    blind_time: float = row(
        0.2,
        "Time without valid joint states during which the model brakes a moving arm and gravity "
        "is compensated; then blind_end applies [s].",
        0.0,
        1e6,
        weaker="aside",
    )
    blind_end: Literal["gravity", "zero"] = row(
        "gravity", "gravity continues, or fades to zero", weakest=("zero",)
    )
    ramp_time: float = above(0.5, "length of a fade [s]", 1e-3, 60.0)
    recovery_time: float = below(
        0.1, "how long nothing may be wrong before the arm runs again [s]", 0.0, 60.0
    )
    resume_time: float = below(0.2, "length of the fade from holding to running [s]", 0.0, 60.0)
    resume_error: float = above(
        0.1, "largest position error with which the arm runs again [rad or m]", 1e-6
    )
    stop_time: float = above(
        0.2,
        "length of the stop before the node ends, where the limits allow it [s]",
        0.02,
        1.5,
    )
    on_stale_reference: Reaction = reaction("reaction to a reference that ended, see cmd_timeout")
    on_bad_command: Reaction = reaction("reaction to NaN in a command")
    on_position_limit: Reaction = reaction("reaction to a joint beyond its range")
    on_velocity_limit: Reaction = reaction("reaction to a joint that is too fast")
    on_tracking_error: Reaction = reaction("reaction to an arm that does not follow")
    on_time_jump: Reaction = reaction("reaction to a clock that was reset or stands still")
    on_computation: Reaction = reaction("reaction to a computation that failed")
    on_emergency_stop: Reaction = reaction("reaction to the emergency stop")
    on_impossible_state: Reaction = reaction(
        "reaction to successive joint states that no arm can have"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitParameters(ParameterGroup):
    """Limits narrower than those of the description."""

    min_position: PerJoint = described(nan, "lowest position [rad or m]; NaN: the URDF's")
    max_position: PerJoint = described(nan, "highest position [rad or m]; NaN: the URDF's")
    max_velocity: PerJoint = described(nan, "largest speed [rad/s or m/s]; NaN: the URDF's")
    max_effort: PerJoint = described(
        nan, "largest joint torque, of the output joint_torque [N m or N]; NaN: the URDF's"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class FeedforwardParameters(JtcParameters):
    """All parameters of the feedforward node."""

    mode: Literal["annotate", "stream", "computed_torque"] = at_configure(
        "annotate", "what the node does"
    )
    feedback: Feedback = at_configure(
        "joint", "what joint_states holds: joints, or motors by the motors' names"
    )
    effort_feedback: Effort = at_configure(
        "none", "what JointState.effort means on this robot; for ~/feedback only"
    )
    law: Literal["computed_torque", "pd_plus_feedforward"] = at_configure(
        "computed_torque", "law of the mode computed_torque"
    )
    bandwidth: float = row(
        10.0, "Bandwidth of the feedback if all gains.* are zero [rad/s].", 1e-3, 1e4
    )
    damping_ratio: float = row(
        1.0, "Damping ratio of the feedback. 1 is critical damping.", 1e-2, 10.0
    )
    integral: float = row(0.0, "Integral gain, part of its stability limit (Routh).", 0.0, 0.99)
    use_elasticity: bool = at_configure(
        True, "count the springs of the drivetrain file; not in the mode annotate"
    )
    elastic_method: Method = at_configure("expanded", "feedforward of elastic arms")
    update_rate: int = row(
        0,
        "rate of the joint states, for sampling one period ahead; 0: as measured [1/s]",
        0,
        100_000,
    )
    speed_scaling: SpeedScalingParameters
    use_gravity_compensation: bool = row(True, "add gravity; off if the robot does")
    use_coriolis_compensation: bool = row(True, "add Coriolis and centrifugal forces")
    use_inertia_feedforward: bool = row(True, "add the links' inertia times acceleration")
    use_rotor_inertia: bool = row(True, "add the motors' reflected inertia")
    use_rotor_coupling: bool = row(True, "If true, add rotor coupling.")
    use_friction: bool = row(True, "add friction; off if the robot does")
    output: SentType = at_configure("joint_torque", "what commands are")
    saturation: Saturation = at_configure(
        "each", "how motor commands are made to fit their limits"
    )
    motors: EncoderParameters
    publish_commands: bool = at_configure(True, "~/commands, Float64MultiArray")
    publish_joint_commands: bool = at_configure(False, "~/joint_commands, JointState by name")
    publish_terms: bool = at_configure(False, "~/terms/*, each term's joint torque")
    state_publish_rate: float = at_configure(
        20.0,
        "~/reference, ~/feedback, ~/error, ~/output for those who listen, at most watchdog_rate; "
        "0: never [1/s]",
        0.0,
        1e6,
    )
    on_deactivate: Leaving = row(
        "gravity",
        "the last command: gravity at the present posture, or zero",
        weakest=("zero",),
    )
    annotate: AnnotateParameters
    contact_force: ContactForceParameters
    safety: SafetyParameters
    joint_limits: LimitParameters
