"""All parameters of the feedforward node. docs/nodes.md shows this table."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import nan
from typing import Literal

from geared_dynamics.actuation.command_type import EffortType, SentType
from geared_dynamics.control.outputs import Saturation
from geared_dynamics.control.safety.memory import FORMER_REACTIONS, Leaving, Reaction
from geared_dynamics.dynamics.elastic.flatness import Method
from geared_dynamics.runtime.common_parameters import JtcParameters, described
from geared_dynamics.runtime.joint_readings import Feedback
from geared_dynamics.runtime.parameters import (
    ParameterGroup,
    PerJoint,
    PerMotor,
    SignPerMotor,
    at_configure,
    at_start,
    row,
)

Effort = EffortType | Literal["joint_torque_gravity_compensated", "none"]
above = functools.partial(row, weaker="above")
below = functools.partial(row, weaker="below")
reaction = functools.partial(
    row, "hold", weakest=("zero",), former_choices=tuple(FORMER_REACTIONS.items())
)


@dataclass(frozen=True, kw_only=True, eq=False)
class WiringParameters(ParameterGroup):
    """How the motors are wired."""

    encoder_offset: PerMotor = at_configure(
        0.0, "Encoder reading at the zero position of the model, motor side [rad]."
    )
    encoder_sign: SignPerMotor = at_configure(
        1, "Sign of the encoder: 1, or -1 if it counts backwards.", -1, 1
    )
    command_sign: SignPerMotor = at_configure(
        1, "Sign of motor-side commands: 1, or -1 if the motor turns the other way.", -1, 1
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SpeedScalingParameters(ParameterGroup):
    """What ``~/speed_scaling_input`` says."""

    full: float = at_start(
        1.0,
        "Value of ~/speed_scaling_input that means full speed: 1, or 100 if it is a percentage.",
        1e-6,
        1e6,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AnnotateParameters(ParameterGroup):
    """The mode annotate."""

    topic: str = at_start(
        "~/annotated_trajectory",
        "Output topic of the mode annotate. Set it to joint_trajectory of the controller.",
    )
    action: str = at_start(
        "",
        "Action of the controller, for goals. Empty means follow_joint_trajectory in the "
        "namespace of annotate.topic.",
    )
    period: float = row(
        0.01, "Maximum time between two points of the annotated trajectory [s].", 1e-3, 1.0
    )
    tolerance: float = row(
        0.002,
        "Maximum interpolation error of effort between points, as a fraction of the joint's peak "
        "effort.",
        1e-5,
        0.1,
    )
    beyond_limits: Literal["refuse", "warn"] = row(
        "refuse",
        "Treatment of a trajectory that exceeds a limit of position, speed or effort, or begins "
        "with a jump: refuse it, or send it and log a warning.",
        weakest=("warn",),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ContactForceParameters(ParameterGroup):
    """The desired contact force of ``~/contact_wrench``."""

    tool: str = at_configure("", "Link at whose origin the force acts. Empty means the only tip.")
    max_force: float = above(
        0.0, "Maximum force that is accepted [N]. 0 refuses every force.", 0.0, 1e6
    )
    max_torque: float = above(
        0.0, "Maximum torque that is accepted [N m]. 0 refuses every torque.", 0.0, 1e6
    )
    force_rate: float = above(100.0, "Maximum rate of change of the force [N/s].", 1e-3, 1e7)
    torque_rate: float = above(10.0, "Maximum rate of change of the torque [N m/s].", 1e-3, 1e7)
    timeout: float = above(
        0.1, "Maximum age of the last force message; then the force ramps to zero [s].", 1e-3, 10.0
    )
    max_speed: float = above(
        0.1,
        "Speed of the tool relative to its reference at which the force is reduced to zero [m/s].",
        1e-3,
        10.0,
    )
    max_turning_speed: float = above(
        0.5,
        "Angular velocity of the tool relative to its reference at which the torque is reduced to "
        "zero [rad/s].",
        1e-3,
        100.0,
    )
    max_distance: float = above(
        0.02,
        "Distance between tool and reference, along the force, at which the force is set to zero "
        "[m].",
        1e-4,
        10.0,
    )
    max_angle: float = above(
        0.1,
        "Angle between tool and reference, about the torque, at which the torque is set to zero "
        "[rad].",
        1e-4,
        3.0,
    )
    friction: float = row(
        0.0,
        "Coulomb friction coefficient of tool and surface, for compensation. 0 disables it.",
        0.0,
        2.0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SafetyParameters(ParameterGroup):
    """Thresholds and reactions of the safety step: fields of ``Policy``, and ``clock_timeout``."""

    state_timeout: float = above(0.05, "Age above which a joint state is stale [s].", 1e-3, 10.0)
    position_margin: float = row(
        0.05, "Distance to a position limit below which a joint counts as near it [rad or m].", 0.0
    )
    position_tolerance: float = above(
        0.02, "Distance beyond a position limit at which the arm is stopped [rad or m].", 0.0, 0.5
    )
    velocity_tolerance: float = above(
        0.1,
        "Excess over the velocity limit at which the arm is stopped, as a fraction of the limit.",
        0.0,
        1.0,
    )
    command_rate: float = described(
        nan,
        "Maximum rate of change of a command [unit of the command per second]. NaN allows the "
        "full limit of the command within 20 ms, 0 disables the check.",
    )
    time_jump: float = above(1.0, "Step of the ROS clock above which it is a jump [s].", 1e-3)
    clock_timeout: float = above(
        1.0,
        "Maximum time for which ROS time may stand still during a motion before TIME_JUMP is "
        "raised [s].",
        0.01,
        60.0,
    )
    open_loop_time: float = row(
        0.2,
        "Time without valid joint states during which the model brakes a moving arm and gravity "
        "is compensated; then open_loop_end applies [s].",
        0.0,
        1e6,
        weaker="aside",
        former="safety.blind_time",
    )
    open_loop_end: Literal["gravity", "zero"] = row(
        "gravity",
        "Command after open_loop_time: gravity compensation continues, or ramps to zero.",
        weakest=("zero",),
        former="safety.blind_end",
    )
    ramp_time: float = above(
        0.5, "Duration of the ramp to gravity compensation or to zero [s].", 1e-3, 60.0
    )
    recovery_time: float = below(
        0.1, "Fault-free time required before motion resumes [s].", 0.0, 60.0
    )
    resume_time: float = below(
        0.2, "Duration of the transition from holding to running [s].", 0.0, 60.0
    )
    resume_error: float = above(
        0.1, "Maximum position error at which motion resumes [rad or m].", 1e-6
    )
    stop_time: float = above(
        0.2,
        "Duration of the stop before the node ends [s]. It is longer where the limits require it.",
        0.02,
        1.5,
    )
    on_stale_reference: Reaction = reaction(
        "Reaction to a reference that ended more than cmd_timeout ago."
    )
    on_bad_command: Reaction = reaction(
        "Reaction to a command that is not finite or has the wrong size."
    )
    on_position_limit: Reaction = reaction("Reaction to a joint beyond its position limit.")
    on_velocity_limit: Reaction = reaction("Reaction to a joint beyond its velocity limit.")
    on_tracking_error: Reaction = reaction("Reaction to a position error above its limit.")
    on_time_jump: Reaction = reaction("Reaction to a clock that was reset or stands still.")
    on_computation: Reaction = reaction("Reaction to a failed computation.")
    on_emergency_stop: Reaction = reaction("Reaction to the emergency stop.")
    on_impossible_state: Reaction = reaction(
        "Reaction to joint states that changed more than a joint can move."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitParameters(ParameterGroup):
    """Limits narrower than those of the description."""

    min_position: PerJoint = described(
        nan, "Minimum position [rad or m]. NaN uses the limit of the URDF."
    )
    max_position: PerJoint = described(
        nan, "Maximum position [rad or m]. NaN uses the limit of the URDF."
    )
    max_velocity: PerJoint = described(
        nan, "Maximum speed [rad/s or m/s]. NaN uses the limit of the URDF."
    )
    max_effort: PerJoint = described(
        nan, "Maximum joint torque [N m or N]. NaN uses the limit of the URDF."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class FeedforwardParameters(JtcParameters):
    """All parameters of the feedforward node."""

    mode: Literal["annotate", "stream", "computed_torque"] = at_configure(
        "annotate",
        "Operating mode: annotate adds effort to trajectories, stream sends feedforward torque, "
        "computed_torque closes the loop.",
    )
    feedback: Feedback = at_configure(
        "joint",
        "Contents of joint_states: joint for joint values, motor for motor angles under the "
        "names of the motors.",
    )
    effort_feedback: Effort = at_configure(
        "none", "Type of JointState.effort on this robot, used for ~/feedback only."
    )
    compiled: bool = at_configure(
        False,
        "If true, compile the model's functions when the node is configured (gd.compiled). If "
        "that fails, the node logs the reason and uses its general functions.",
    )
    law: Literal["computed_torque", "pd_plus_feedforward"] = at_configure(
        "computed_torque", "Control law of the mode computed_torque."
    )
    bandwidth: float = row(
        10.0, "Bandwidth of the feedback if all gains.* are zero [rad/s].", 1e-3, 1e4
    )
    damping_ratio: float = row(
        1.0, "Damping ratio of the feedback. 1 is critical damping.", 1e-2, 10.0
    )
    integral: float = row(
        0.0, "Integral gain as a fraction of its stability limit (Routh).", 0.0, 0.99
    )
    use_elasticity: bool = at_configure(
        True,
        "If true, use the joint stiffness of the drivetrain file. The mode annotate does not use "
        "it.",
    )
    elastic_method: Method = at_configure(
        "expanded", "Method of the feedforward of elastic arms, see docs/feedforward.md."
    )
    update_rate: int = row(
        0,
        "Rate of joint_states [1/s], used to sample the reference one period ahead. 0 uses the "
        "measured rate.",
        0,
        100_000,
    )
    speed_scaling: SpeedScalingParameters
    use_gravity_compensation: bool = row(
        True, "If true, add gravity compensation. Set false if the robot adds it."
    )
    use_coriolis_compensation: bool = row(True, "If true, add Coriolis and centrifugal forces.")
    use_inertia_feedforward: bool = row(True, "If true, add the inertia forces of the links.")
    use_rotor_inertia: bool = row(True, "If true, add the motors' reflected inertia.")
    use_rotor_coupling: bool = row(
        True,
        "If true, add rotor coupling: all inertia and Coriolis terms of the spinning wheels "
        "except their reflected inertia.",
    )
    use_friction: bool = row(
        True, "If true, add friction compensation. Set false if the robot adds it."
    )
    output: SentType = at_configure("joint_torque", "Type of the published commands.")
    saturation: Saturation = at_configure(
        "each",
        "Limiting of motor commands: each clips each motor, direction scales all by one factor, "
        "none disables limiting.",
    )
    motors: WiringParameters
    publish_commands: bool = at_configure(True, "If true, publish ~/commands (Float64MultiArray).")
    publish_joint_commands: bool = at_configure(
        False, "If true, publish ~/joint_commands (JointState)."
    )
    publish_terms: bool = at_configure(False, "If true, publish each torque term on ~/terms/*.")
    state_publish_rate: float = at_configure(
        20.0,
        "Rate of ~/reference and the other status topics, at most watchdog_rate [1/s]. 0 disables "
        "them.",
        0.0,
        1e6,
    )
    on_deactivate: Leaving = row(
        "gravity",
        "Final command on deactivation: gravity compensation at the present position, or zero.",
        weakest=("zero",),
    )
    annotate: AnnotateParameters
    contact_force: ContactForceParameters
    safety: SafetyParameters
    joint_limits: LimitParameters
