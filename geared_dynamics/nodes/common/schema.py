"""Parameters that every node with a model has."""

from __future__ import annotations

from geared_dynamics.nodes.common.parameters import Parameter

AUTOSTART = Parameter(
    "autostart", "bool", True, "configure and activate without being asked", when="start"
)
MODEL = (
    Parameter(
        "robot_description", "string", "", "URDF as text; empty: from the topic", when="configure"
    ),
    Parameter(
        "urdf_path",
        "string",
        "",
        "path of a URDF file, in place of the text",
        when="configure",
        lock="lock_paths",
    ),
    Parameter(
        "robot_description_topic",
        "string",
        "robot_description",
        "topic of the URDF, looked at where neither text nor path is given",
        when="start",
    ),
    Parameter(
        "drivetrain",
        "string",
        "",
        "drivetrain file: its path or its text",
        when="configure",
        lock="lock_paths",
    ),
    Parameter(
        "gravity",
        "doubles",
        [0.0, 0.0, -9.81],
        "acceleration of free fall in the root link's frame [m/s^2]",
        when="configure",
    ),
    Parameter(
        "locked_joints",
        "strings",
        [],
        "joints that do not move, such as a gripper's",
        when="configure",
    ),
    Parameter(
        "locked_positions", "doubles", [], "where they are [rad or m], default 0", when="configure"
    ),
)
GUARDS = (
    Parameter(
        "allow_description_changes",
        "bool",
        False,
        "If true, an active node uses a robot description that changes mass, inertia, ratio or "
        "limit by more than 1 %",
        when="start",
    ),
    Parameter(
        "lock_paths",
        "bool",
        False,
        "If true, urdf_path and drivetrain keep their values of the start",
        when="start",
    ),
)
PAYLOAD = (
    Parameter("payload.mass", "double", 0.0, "a load on the arm [kg]", 0.0),
    Parameter(
        "payload.max_mass",
        "double",
        float("nan"),
        "largest payload.mass [kg]; NaN: the mass whose weight the command limits hold",
        when="start",
    ),
    Parameter(
        "payload.center_of_mass", "doubles", [0.0, 0.0, 0.0], "in the frame of payload.link [m]"
    ),
    Parameter(
        "payload.inertia",
        "doubles",
        [0.0] * 6,
        "ixx ixy ixz iyy iyz izz about the centre of mass, axes of that frame [kg m^2]",
    ),
    Parameter(
        "payload.link",
        "string",
        "",
        "link that carries it, frames of fixed joints (tool0) included; empty: the only tip",
    ),
)
SYSTEM = (
    Parameter("watchdog_rate", "double", 50.0, "of the check for stale joint states [1/s]",
              1.0, 1000.0, when="start"),
    Parameter("diagnostics_rate", "double", 1.0, "of /diagnostics and ~/timing [1/s]",
              0.0, 10.0, when="start"),
    Parameter("thread_priority", "int", 0, "of SCHED_FIFO; 0: default scheduler", 0, 99,
              when="start"),
    Parameter("cpu_affinity", "ints", [], "cores to run on; none: all", 0, 4095, when="start"),
    Parameter("lock_memory", "bool", False, "keep memory from being paged out", when="start"),
)  # fmt: skip
