"""Parameters under the names of ros2_controllers' joint trajectory controller (JTC).

A block of a JTC loads unchanged under this node's name. Defaults are JTC's. Those marked
``ignored`` say how JTC's own loop works, and mean nothing here.
"""

from __future__ import annotations

from geared_dynamics.nodes.common.parameters import Parameter, Value, When

METHODS = ("splines", "none")
C: When = "configure"


def ignored(name: str, kind: str, default: Value, when: When = "run") -> Parameter:
    """A parameter of JTC without effect here."""
    text = "of JTC; no effect here"
    return Parameter(name, kind, default, text, when=when, ignored=True)  # type: ignore[arg-type]


JTC = (
    Parameter("joints", "strings", [], "joints to move; none: all of the URDF", when=C),
    Parameter("command_joints", "strings", [],
              "order of commands, joints or motors; none: as joints", when=C),
    Parameter("interpolation_method", "string", "splines", "between waypoints",
              choices=METHODS, when=C),
    Parameter("allow_partial_joints_goal", "bool", False, "trajectories may leave out joints"),
    Parameter("allow_nonzero_velocity_at_trajectory_end", "bool", False,
              "trajectories may end in motion; the arm then stops at once"),
    Parameter("allow_integration_in_goal_trajectories", "bool", False,
              "trajectories may have velocities or accelerations alone"),
    Parameter("interpolate_from_desired_state", "bool", False,
              "a new trajectory continues the old reference, not the measured state"),
    Parameter("cmd_timeout", "double", 0.0,
              "time after a trajectory's end at which the reference is dropped; 0: never [s]",
              0.0, weaker="model"),
    Parameter("constraints.<joint>.trajectory", "double", float("nan"),
              "largest position error; 0: any; NaN: 0.2 rad or 0.05 m in the mode "
              "computed_torque, any in the others and in a JTC's file [rad or m]", weaker="model"),
    Parameter("constraints.<joint>.goal", "double", 0.0,
              "largest position error after a trajectory's end; 0: any [rad or m]", 0.0),
    Parameter("constraints.stopped_velocity_tolerance", "double", 0.01,
              "largest velocity error there; 0: any [rad/s or m/s]", 0.0),
    Parameter("constraints.goal_time", "double", 0.0,
              "how long after the end both may be larger; 0: for any time [s]", 0.0,
              weaker="model"),
    Parameter("constraints.decelerate_on_cancel", "bool", False,
              "stop by max_deceleration_on_cancel, where all joints have one", when=C),
    Parameter("constraints.<joint>.max_deceleration_on_cancel", "double", 0.0,
              "of motions that are cancelled or violate a tolerance [rad/s^2 or m/s^2]", 0.0,
              when=C),
    Parameter("action_monitor_rate", "double", 20.0, "feedback of actions [1/s]", 0.1, 1000.0,
              when="start"),
    Parameter("gains.<joint>.p", "double", 0.0, "law pd_plus_feedforward [N m/rad or N/m]", 0.0),
    Parameter("gains.<joint>.i", "double", 0.0, "likewise [N m/(rad s)]", 0.0),
    Parameter("gains.<joint>.d", "double", 0.0, "likewise [N m s/rad]", 0.0),
    Parameter("gains.<joint>.i_clamp", "double", 0.0,
              "largest integral term; 0: i_clamp_max counts [N m or N]", 0.0),
    Parameter("gains.<joint>.i_clamp_max", "double", 0.0, "likewise; 0: any", 0.0),
    ignored("gains.<joint>.i_clamp_min", "double", 0.0),
    ignored("gains.<joint>.ff_velocity_scale", "double", 0.0),
    ignored("gains.<joint>.u_clamp_max", "double", float("inf")),
    ignored("gains.<joint>.u_clamp_min", "double", float("-inf")),
    ignored("gains.<joint>.antiwindup", "bool", False),
    ignored("gains.<joint>.antiwindup_strategy", "string", ""),
    ignored("gains.<joint>.tracking_time_constant", "double", 0.0),
    ignored("gains.<joint>.error_deadband", "double", 0.0),
    ignored("gains.<joint>.angle_wraparound", "bool", False),
    ignored("command_interfaces", "strings", [], "start"),
    ignored("state_interfaces", "strings", [], "start"),
    ignored("allow_trajectory_replacement", "bool", True),
    ignored("positions_upsampling.enable", "bool", False),
    ignored("positions_upsampling.policy_frequency", "double", 0.0),
    ignored("open_loop_control", "bool", False),
    ignored("set_last_command_interface_value_as_state_on_activation", "bool", True),
    ignored("speed_scaling.initial_scaling_factor", "double", 1.0),
    ignored("speed_scaling.state_interface", "string", ""),
    ignored("speed_scaling.command_interface", "string", ""),
    ignored("type", "string", "", "start"),
)  # fmt: skip
