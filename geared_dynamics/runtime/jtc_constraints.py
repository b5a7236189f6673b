"""From the parameters of a joint trajectory controller (JTC) to tolerances, times and stops."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.trajectory import Tolerances, default_tolerances

# -- How far the arm may be from its reference: given, as in a JTC's file, or by default ----------


ANGLE, LENGTH = 0.2, 0.05  # [rad], [m], where the node closes the loop and nothing is given
PATTERN = "constraints.{}.trajectory"
# Given in every JTC's parameter file, and without effect here: what such a file leaves out is
# what a JTC takes for it.
JTC_MARKS = ("command_interfaces", "state_interfaces", "type")


def tracking_of(parameters: FeedforwardParameters, model: GearedModel) -> Array:
    """Largest position errors (n,) [rad or m], infinite for none.

    Args:
        parameters: The parameters. NaN is not given, 0 is any error.
        model: Whose joints they are for.

    Raises:
        ParameterError: for a negative one.
    """
    errors = parameters.constraints.trajectory
    for name, value in zip(model.joint_names, errors.tolist(), strict=True):
        if value < 0.0:
            remedy = "set a tolerance above zero, 0 to disable the check, or NaN for the default"
            raise ParameterError(PATTERN.format(name), f"is {value:g}", remedy)
    usual = np.where(of_a_jtc(parameters), 0.0, default_of(parameters, model))
    found = np.where(np.isnan(errors), usual, errors)
    return np.where(found > 0.0, found, np.inf)


def default_of(parameters: FeedforwardParameters, model: GearedModel) -> Array:
    """Tolerances where none are given (n,): 0 where somebody else closes the loop."""
    if parameters.mode != "computed_torque":
        return np.zeros(model.n)
    return np.where(model.prismatic, LENGTH, ANGLE)


def of_a_jtc(parameters: FeedforwardParameters) -> bool:
    """Whether the parameters are those of a joint trajectory controller."""
    return any(bool(parameters.values[name]) for name in JTC_MARKS)


def untracked(parameters: FeedforwardParameters, model: GearedModel) -> list[str]:
    """A line where the node closes the loop of joints that may be anywhere, unasked."""
    if parameters.mode != "computed_torque":
        return []
    silent = np.isnan(parameters.constraints.trajectory)
    free = silent & ~np.isfinite(tracking_of(parameters, model))
    names = [name for name, is_free in zip(model.joint_names, free, strict=True) if is_free]
    if not names:
        return []
    remedy = f"set {PATTERN.format('<joint>')}, {ANGLE:g} rad or {LENGTH:g} m by default"
    finding = (
        f"no position error of {', '.join(names)} stops the arm, as in a JTC without tolerances"
    )
    return [f"{finding}; {remedy}"]


# -- From parameter values to what a trajectory's end may look like: tolerances, times, stops -----


def tolerances_of(parameters: FeedforwardParameters, model: GearedModel) -> Tolerances:
    """Tolerances of trajectories that bring none along."""
    wanted = parameters.constraints
    path = tracking_of(parameters, model)
    path = np.where(np.isfinite(path), path, 0.0)
    stopped = wanted.stopped_velocity_tolerance
    return default_tolerances(path, wanted.goal, stopped, wanted.goal_time)


def deceleration_of(parameters: FeedforwardParameters) -> Array | None:
    """Decelerations of a cancelled motion (n,); None where not wanted, or one is missing."""
    found = parameters.constraints.max_deceleration_on_cancel
    wanted = parameters.constraints.decelerate_on_cancel
    return found if wanted and (found > 0.0).all() else None


def reference_timeout(parameters: FeedforwardParameters) -> float:
    """Age at which a reference that has ended is dropped [s].

    As in JTC a ``cmd_timeout`` that is not longer than ``constraints.goal_time`` does not count.
    """
    timeout = parameters.cmd_timeout
    counts = timeout > parameters.constraints.goal_time
    return timeout if timeout > 0.0 and counts else math.inf


def without_effect(parameters: FeedforwardParameters) -> list[str]:
    """A line for each of these parameters that is given and does not count."""
    lines = []
    timeout, time = parameters.cmd_timeout, parameters.constraints.goal_time
    if timeout > 0.0 and math.isinf(reference_timeout(parameters)):
        lines.append(
            f"cmd_timeout ({timeout:g} s) has no effect: give more than constraints.goal_time "
            f"({time:g} s)"
        )
    if parameters.constraints.decelerate_on_cancel and deceleration_of(parameters) is None:
        lines.append(
            "constraints.decelerate_on_cancel has no effect: give "
            "constraints.<joint>.max_deceleration_on_cancel above zero for every joint"
        )
    return lines
