"""From parameter values to what a trajectory's end may look like: tolerances, times, stops."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.parameters import Values
from geared_dynamics.nodes.common.values import numbers
from geared_dynamics.nodes.feedforward.tracking import tracking_of
from geared_dynamics.trajectory import Tolerances, default_tolerances


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
