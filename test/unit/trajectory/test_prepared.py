"""Motions prepared for a control loop are the motions themselves."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from geared_dynamics import GearedDynamicsError
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    checked,
    derivatives,
    derivatives_into,
    follow,
    jerk_bounded,
    prepare,
    rest_to_rest,
    smooth,
    state,
    through,
    trapezoidal,
)

RULES = Rules(("a", "b"))
RANDOM = np.random.default_rng(5)
POINTS = [Point(t, *RANDOM.normal(size=(3, 2))) for t in (0.4, 1.0, 1.5)]
POINTS[-1] = POINTS[-1]._replace(velocities=[0.0, 0.0])
ZERO = np.zeros(2)


def reference(start: float | None = None, method: str = "splines") -> Any:
    rules = Rules(("a", "b"), interpolation_method=method)
    waypoints = checked(JointTrajectory(RULES.joints, POINTS, start), rules, 9.0)
    return follow(waypoints, state(ZERO), 9.0, rules)


GOAL = checked(JointTrajectory(RULES.joints, POINTS), RULES, 9.0)
MOTIONS: dict[str, tuple[Any, int]] = {
    "waypoints": (reference(), 6),
    "waypoints joined": (reference(8.3), 3),
    "waypoints over": (reference(7.5), 3),
    "stairs": (reference(method="none"), 4),
    "rest to rest": (rest_to_rest(ZERO, [1.0, -2.0], 1.5, continuous=4, begin=9.0), 4),
    "through": (through(9.0 + np.arange(5), RANDOM.normal(size=(5, 2)), continuous=5), 5),
    "smooth": (smooth(GOAL, RANDOM.normal(size=(4, 2)), 9.0, RULES, continuous=4), 4),
    "trapezoidal": (trapezoidal(ZERO, [1, -2], velocity=1, acceleration=2, begin=9.0), 2),
    "jerk bounded": (jerk_bounded(ZERO, [1, 2], velocity=1, acceleration=2, jerk=8, begin=9.0), 3),
    "no way": (trapezoidal(ZERO, ZERO, velocity=1, acceleration=2, begin=9.0), 2),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_the_same(name: str) -> None:
    motion, order = MOTIONS[name]
    prepared = prepare(motion, order)
    out = np.full((order + 1, 2), np.nan)
    for t in np.r_[np.linspace(8.0, motion.end + 0.5, 83), 9.0, motion.end, np.inf]:
        derivatives_into(prepared, t, out)
        at = min(t, 1e6)
        if hasattr(motion, "derivatives"):
            expected = motion.derivatives(at, order)
        else:
            expected = derivatives(motion, at, order)
        scale = np.abs(expected).max(axis=1, keepdims=True) + 1.0
        assert np.abs((out - expected) / scale).max() < 1e-9, t
    again = pickle.loads(pickle.dumps(prepared))
    derivatives_into(again, 9.3, out)
    known = out.copy()
    derivatives_into(prepared, 9.3, out)
    assert_array_equal(out, known)


def test_refused() -> None:
    prepared = prepare(reference(), 3)
    with pytest.raises(
        GearedDynamicsError, match=r"out: has shape \(3, 2\) .*give shape \(4, 2\)"
    ):
        derivatives_into(prepared, 9.0, np.zeros((3, 2)))
    for odd in (np.zeros((2, 4)).T, np.zeros((4, 2), np.float32)):
        with pytest.raises(GearedDynamicsError, match="C-contiguous float64"):
            derivatives_into(prepared, 9.0, odd)
    with pytest.raises(GearedDynamicsError, match="t: is nan"):
        derivatives_into(prepared, float("nan"), np.zeros((4, 2)))
    with pytest.raises(GearedDynamicsError, match="order"):
        prepare(rest_to_rest([0.0], [1.0], 1.0, continuous=2), 3)
    with pytest.raises(GearedDynamicsError, match="order"):
        prepare(trapezoidal([0.0], [1.0], velocity=1, acceleration=1), 3)
