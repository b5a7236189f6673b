"""All parameters of the feedforward node. docs/nodes.md shows this table."""

from __future__ import annotations

from typing import get_args

from geared_dynamics.actuation.command_type import COMMANDS, EFFORTS, GRAVITY_COMPENSATED
from geared_dynamics.control.safety.memory import REACTIONS
from geared_dynamics.dynamics.elastic.flatness import Method
from geared_dynamics.runtime.following import JTC
from geared_dynamics.runtime.parameters import AUTOSTART, GUARDS, MODEL, PAYLOAD, SYSTEM, Parameter

MODES = ("annotate", "stream", "computed_torque")
EFFORT = (*EFFORTS, GRAVITY_COMPENSATED, "none")
NOT_GIVEN = float("nan")

GENERAL = (
    Parameter("mode", "string", "annotate", "what the node does", choices=MODES, when="configure"),
    AUTOSTART,
)
INPUT = (
    Parameter(
        "feedback",
        "string",
        "joint",
        "what joint_states holds: joints, or motors by the motors' names",
        choices=("joint", "motor"),
        when="configure",
    ),
    Parameter(
        "effort_feedback",
        "string",
        "none",
        "what JointState.effort means on this robot; for ~/feedback only",
        choices=EFFORT,
        when="configure",
    ),
    Parameter(
        "motors.<motor>.encoder_offset",
        "double",
        0.0,
        "what the encoder shows where the model's shows zero [rad]",
        when="configure",
    ),
    Parameter(
        "motors.<motor>.encoder_sign",
        "int",
        1,
        "-1 for one that counts backwards",
        -1,
        1,
        when="configure",
    ),
)
LAW = (
    Parameter(
        "law",
        "string",
        "computed_torque",
        "law of the mode computed_torque",
        choices=("computed_torque", "pd_plus_feedforward"),
        when="configure",
    ),
    Parameter(
        "bandwidth",
        "double",
        10.0,
        "Bandwidth of the feedback if all gains.* are zero [rad/s].",
        1e-3,
        1e4,
    ),
    Parameter(
        "damping_ratio",
        "double",
        1.0,
        "Damping ratio of the feedback. 1 is critical damping.",
        1e-2,
        10.0,
    ),
    Parameter(
        "integral", "double", 0.0, "Integral gain, part of its stability limit (Routh).", 0.0, 0.99
    ),
    Parameter(
        "use_elasticity",
        "bool",
        True,
        "count the springs of the drivetrain file; not in the mode annotate",
        when="configure",
    ),
    Parameter(
        "elastic_method",
        "string",
        "expanded",
        "feedforward of elastic arms",
        choices=get_args(Method),
        when="configure",
    ),
    Parameter(
        "update_rate",
        "int",
        0,
        "rate of the joint states, for sampling one period ahead; 0: as measured [1/s]",
        0,
        100_000,
    ),
    Parameter(
        "speed_scaling.full",
        "double",
        1.0,
        "value of ~/speed_scaling_input at full speed; 100 where it is in percent",
        1e-6,
        1e6,
        when="start",
    ),
    Parameter("use_gravity_compensation", "bool", True, "add gravity; off if the robot does"),
    Parameter("use_coriolis_compensation", "bool", True, "add Coriolis and centrifugal forces"),
    Parameter(
        "use_inertia_feedforward", "bool", True, "add the links' inertia times acceleration"
    ),
    Parameter("use_rotor_inertia", "bool", True, "add the motors' reflected inertia"),
    Parameter("use_rotor_coupling", "bool", True, "If true, add rotor coupling."),
    Parameter("use_friction", "bool", True, "add friction; off if the robot does"),
)
OUTPUT = (
    Parameter(
        "output",
        "string",
        "joint_torque",
        "what commands are",
        choices=COMMANDS,
        when="configure",
    ),
    Parameter(
        "saturation",
        "string",
        "each",
        "how motor commands are made to fit their limits",
        choices=("each", "direction", "none"),
        when="configure",
    ),
    Parameter(
        "motors.<motor>.command_sign",
        "int",
        1,
        "-1 for a motor that turns the other way, of motor-side outputs",
        -1,
        1,
        when="configure",
    ),
    Parameter("publish_commands", "bool", True, "~/commands, Float64MultiArray", when="configure"),
    Parameter(
        "publish_joint_commands",
        "bool",
        False,
        "~/joint_commands, JointState by name",
        when="configure",
    ),
    Parameter(
        "publish_terms", "bool", False, "~/terms/*, each term's joint torque", when="configure"
    ),
    Parameter(
        "state_publish_rate",
        "double",
        20.0,
        "~/reference, ~/feedback, ~/error, ~/output for those who listen, at most watchdog_rate; "
        "0: never [1/s]",
        0.0,
        1e6,
        when="configure",
    ),
    Parameter(
        "on_deactivate",
        "string",
        "gravity",
        "the last command: gravity at the present posture, or zero",
        choices=("gravity", "zero"),
        weakest=("zero",),
    ),
    Parameter(
        "annotate.topic",
        "string",
        "~/annotated_trajectory",
        "where the mode annotate publishes: the controller's joint_trajectory",
        when="start",
    ),
    Parameter(
        "annotate.action",
        "string",
        "",
        "the controller's action, for goals; empty: follow_joint_trajectory beside annotate.topic",
        when="start",
    ),
    Parameter("annotate.period", "double", 0.01, "longest step between its points [s]", 1e-3, 1.0),
    Parameter(
        "annotate.tolerance",
        "double",
        0.002,
        "largest error of effort between points, part of the joint's largest",
        1e-5,
        0.1,
    ),
    Parameter(
        "annotate.beyond_limits",
        "string",
        "refuse",
        "what is done with a trajectory beyond limits of position, speed or effort, or one that "
        "begins with a jump: refuse it, or send it with a warning in the log",
        choices=("refuse", "warn"),
        weakest=("warn",),
    ),
)
SAFETY = (
    Parameter(
        "safety.state_timeout",
        "double",
        0.05,
        "age at which a joint state is stale [s]",
        1e-3,
        10.0,
        weaker="above",
    ),
    Parameter(
        "safety.position_margin",
        "double",
        0.05,
        "distance from a limit that counts as near [rad or m]",
        0.0,
    ),
    Parameter(
        "safety.position_tolerance",
        "double",
        0.02,
        "distance beyond a limit at which the arm is stopped [rad or m]",
        0.0,
        0.5,
        weaker="above",
    ),
    Parameter(
        "safety.velocity_tolerance",
        "double",
        0.1,
        "part beyond the largest speed at which the arm is stopped",
        0.0,
        1.0,
        weaker="above",
    ),
    Parameter(
        "safety.command_rate",
        "double",
        NOT_GIVEN,
        "largest change of a command per second; NaN: each command's limit in 20 ms; 0: any",
        weaker="model",
    ),
    Parameter(
        "safety.time_jump",
        "double",
        1.0,
        "step of the ROS clock that is a jump [s]",
        1e-3,
        weaker="above",
    ),
    Parameter(
        "safety.clock_timeout",
        "double",
        1.0,
        "how long the ROS clock may stand still in a motion, and not be a jump [s]",
        0.01,
        60.0,
        weaker="above",
    ),
    Parameter(
        "safety.blind_time",
        "double",
        0.2,
        "Time without valid joint states during which the model brakes a moving arm and gravity "
        "is compensated; then blind_end applies [s].",
        0.0,
        1e6,
        weaker="aside",
    ),
    Parameter(
        "safety.blind_end",
        "string",
        "gravity",
        "gravity continues, or fades to zero",
        choices=("gravity", "zero"),
        weakest=("zero",),
    ),
    Parameter(
        "safety.ramp_time", "double", 0.5, "length of a fade [s]", 1e-3, 60.0, weaker="above"
    ),
    Parameter(
        "safety.recovery_time",
        "double",
        0.1,
        "how long nothing may be wrong before the arm runs again [s]",
        0.0,
        60.0,
        weaker="below",
    ),
    Parameter(
        "safety.resume_time",
        "double",
        0.2,
        "length of the fade from holding to running [s]",
        0.0,
        60.0,
        weaker="below",
    ),
    Parameter(
        "safety.resume_error",
        "double",
        0.1,
        "largest position error with which the arm runs again [rad or m]",
        1e-6,
        weaker="above",
    ),
    Parameter(
        "safety.stop_time",
        "double",
        0.2,
        "length of the stop before the node ends, where the limits allow it [s]",
        0.02,
        1.5,
        weaker="above",
    ),
    *(
        Parameter(
            f"safety.on_{event}",
            "string",
            "hold",
            f"reaction to {text}",
            choices=REACTIONS,
            weakest=("zero",),
        )
        for event, text in (
            ("stale_reference", "a reference that ended, see cmd_timeout"),
            ("bad_command", "NaN in a command"),
            ("position_limit", "a joint beyond its range"),
            ("velocity_limit", "a joint that is too fast"),
            ("tracking_error", "an arm that does not follow"),
            ("time_jump", "a clock that was reset or stands still"),
            ("computation", "a computation that failed"),
            ("emergency_stop", "the emergency stop"),
            ("impossible_state", "successive joint states that no arm can have"),
        )
    ),
    *(
        Parameter(
            f"joint_limits.<joint>.{name}",
            "double",
            NOT_GIVEN,
            f"{text}; NaN: the URDF's",
            weaker="model",
        )
        for name, text in (
            ("min_position", "lowest position [rad or m]"),
            ("max_position", "highest position [rad or m]"),
            ("max_velocity", "largest speed [rad/s or m/s]"),
            ("max_effort", "largest joint torque, of the output joint_torque [N m or N]"),
        )
    ),
)

SCHEMA: tuple[Parameter, ...] = (
    *GENERAL, *JTC, *MODEL, *GUARDS, *INPUT, *LAW, *OUTPUT, *PAYLOAD, *SAFETY, *SYSTEM,
)  # fmt: skip
