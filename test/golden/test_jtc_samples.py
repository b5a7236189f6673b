"""Samples that the joint trajectory controller's own code gave (data/SOURCE.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    checked,
    follow,
    sample,
    state,
)

CASES = json.loads((Path(__file__).parent / "data" / "jtc_samples.json").read_text("utf-8"))
JOINTS = ("left", "right")


def found(case: dict[str, Any], **changed: Any) -> np.ndarray:
    """Our samples (k, 4, 2) at the case's times."""
    rules = Rules(
        JOINTS,
        continuous=JOINTS if case["continuous"] else (),
        interpolation_method=case["method"],
        allow_integration_in_goal_trajectories=True,
        allow_nonzero_velocity_at_trajectory_end=True,
        **changed,
    )
    points = [Point(**point) for point in case["points"]]
    waypoints = checked(JointTrajectory(JOINTS, points, case["stamp"]), rules, case["now"])
    reference = follow(waypoints, state(**case["before"]), case["now"], rules)
    return np.array([sample(reference, t)[:4] for t in case["times"]])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_same_samples(case: dict[str, Any]) -> None:
    assert_allclose(found(case), case["samples"], rtol=1e-8, atol=1e-7)


def test_another_rule_would_show() -> None:
    """A negative control: at rest after the end, which JTC is not."""
    wrong = [
        case["name"]
        for case in CASES
        if np.abs(found(case, rest_after_end=True) - case["samples"]).max() > 1e-3
    ]
    assert len(wrong) > len(CASES) / 2
