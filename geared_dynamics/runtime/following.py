"""Parameters of a joint trajectory controller (JTC), and the tolerances that follow from them."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.model_source import numbers
from geared_dynamics.runtime.parameters import Parameter, ParameterError, Value, Values, When
from geared_dynamics.trajectory import Tolerances, default_tolerances

# -- Parameters under the names of ros2_controllers' joint trajectory controller (JTC) ------------
#
# A block of a JTC loads unchanged under this node's name. Defaults are JTC's. Those marked
# ``ignored`` say how JTC's own loop works, and mean nothing here.


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
    Parameter("gains.<joint>.p", "double", 0.0, "Position gain [N m/rad or N/m].", 0.0),
    Parameter("gains.<joint>.i", "double", 0.0, "Integral gain [N m/(rad s)].", 0.0),
    Parameter("gains.<joint>.d", "double", 0.0, "Velocity gain [N m s/rad].", 0.0),
    Parameter("gains.<joint>.i_clamp", "double", 0.0,
              "largest integral term; 0: i_clamp_max counts [N m or N]", 0.0),
    Parameter("gains.<joint>.i_clamp_max", "double", 0.0, "Largest integral term; 0: any.", 0.0),
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


# -- How far the arm may be from its reference: given, as in a JTC's file, or by default ----------


ANGLE, LENGTH = 0.2, 0.05  # [rad], [m], where the node closes the loop and nothing is given
PATTERN = "constraints.{}.trajectory"
# Given in every JTC's parameter file, and without effect here: what such a file leaves out is
# what a JTC takes for it.
JTC_MARKS = ("command_interfaces", "state_interfaces", "type")


def tracking_of(values: Values, model: GearedModel) -> Array:
    """Largest position errors (n,) [rad or m], infinite for none.

    Args:
        values: The parameters. NaN is not given, 0 is any error.
        model: Whose joints they are for.

    Raises:
        ParameterError: for a negative one.
    """
    given = numbers(values, PATTERN, model.joint_names)
    for name, value in zip(model.joint_names, given.tolist(), strict=True):
        if value < 0.0:
            remedy = "give a tolerance above zero, 0 for any error, or NaN for the default"
            raise ParameterError(PATTERN.format(name), f"is {value:g}", remedy)
    usual = np.where(of_a_jtc(values), 0.0, default_of(values, model))
    found = np.where(np.isnan(given), usual, given)
    return np.where(found > 0.0, found, np.inf)


def default_of(values: Values, model: GearedModel) -> Array:
    """Tolerances where none are given (n,): 0 where somebody else closes the loop."""
    if values["mode"] != "computed_torque":
        return np.zeros(model.n)
    return np.where(model.prismatic, LENGTH, ANGLE)


def of_a_jtc(values: Values) -> bool:
    """Whether the parameters are those of a joint trajectory controller."""
    return any(bool(values[name]) for name in JTC_MARKS)


def untracked(values: Values, model: GearedModel) -> list[str]:
    """A line where the node closes the loop of joints that may be anywhere, unasked."""
    if values["mode"] != "computed_torque":
        return []
    silent = np.isnan(numbers(values, PATTERN, model.joint_names))
    free = silent & ~np.isfinite(tracking_of(values, model))
    names = [name for name, is_free in zip(model.joint_names, free, strict=True) if is_free]
    if not names:
        return []
    remedy = f"set {PATTERN.format('<joint>')}, {ANGLE:g} rad or {LENGTH:g} m by default"
    finding = f"position errors of {', '.join(names)} stop nothing, as in a JTC without tolerances"
    return [f"{finding}; {remedy}"]


# -- From parameter values to what a trajectory's end may look like: tolerances, times, stops -----


def tolerances_of(values: Values, model: GearedModel) -> Tolerances:
    """Tolerances of trajectories that bring none along."""
    goal = numbers(values, "constraints.{}.goal", model.joint_names)
    path = tracking_of(values, model)
    path = np.where(np.isfinite(path), path, 0.0)
    stopped = cast(float, values["constraints.stopped_velocity_tolerance"])
    return default_tolerances(path, goal, stopped, cast(float, values["constraints.goal_time"]))


def deceleration_of(values: Values, model: GearedModel) -> Array | None:
    """Decelerations of a cancelled motion (n,); None where not wanted, or one is missing."""
    names = model.joint_names
    found = numbers(values, "constraints.{}.max_deceleration_on_cancel", names)
    wanted = bool(values["constraints.decelerate_on_cancel"])
    return found if wanted and (found > 0.0).all() else None


def reference_timeout(values: Values) -> float:
    """Age at which a reference that has ended is dropped [s].

    As in JTC a ``cmd_timeout`` that is not longer than ``constraints.goal_time`` does not count.
    """
    timeout = cast(float, values["cmd_timeout"])
    counts = timeout > cast(float, values["constraints.goal_time"])
    return timeout if timeout > 0.0 and counts else math.inf


def without_effect(values: Values, model: GearedModel) -> list[str]:
    """A line for each of these parameters that is given and does not count."""
    lines = []
    timeout = cast(float, values["cmd_timeout"])
    time = cast(float, values["constraints.goal_time"])
    if timeout > 0.0 and math.isinf(reference_timeout(values)):
        lines.append(
            f"cmd_timeout ({timeout:g} s) has no effect: give more than constraints.goal_time "
            f"({time:g} s)"
        )
    if values["constraints.decelerate_on_cancel"] and deceleration_of(values, model) is None:
        lines.append(
            "constraints.decelerate_on_cancel has no effect: give "
            "constraints.<joint>.max_deceleration_on_cancel above zero for every joint"
        )
    return lines
