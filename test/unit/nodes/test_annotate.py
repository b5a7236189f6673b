"""Effort in a trajectory: dense enough, right at jumps, the same as the model's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control import controller
from geared_dynamics.nodes.annotate import GAP, annotated
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    checked,
    follow,
    sample,
    state,
)

URDF = Path(__file__).resolve().parents[3] / "urdf"
START = [0.1, 0.2, -0.3, 0.2, 0.1, 0.0]
# Linear, cubic and quintic segments: velocity, acceleration or neither jumps between them.
WAYS = {
    "cubic": [(0.6, [0.5] * 6, [0.8] * 6), (1.7, [1.0] * 6, [0.0] * 6)],
    "quintic": [(0.6, [0.5] * 6, [0.8] * 6, [0.1] * 6), (1.7, [1.0] * 6, [0.0] * 6, [0.0] * 6)],
    "short": [(0.02, [0.11, 0.2, -0.3, 0.2, 0.1, 0.0], [0.0] * 6)],
}


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    """With Coulomb friction, steep where a joint turns back."""
    return gd.load_model(URDF / "puma560.urdf", URDF / "puma560.drivetrain.yaml")


def motion(model: gd.GearedModel, way: list[tuple[Any, ...]]) -> Any:
    rules = Rules(joints=model.joint_names, rest_after_end=True)
    points = JointTrajectory(model.joint_names, [Point(*row) for row in way])
    return follow(checked(points, rules, 0.0), state(START), 0.0, rules)


def force(model: gd.GearedModel, rows: Any) -> Any:
    q, v, a = (np.ascontiguousarray(rows[:, k]) for k in range(3))
    return gd.inverse_dynamics(model, q, v, a) + gd.friction_forces(model, v, q)


@pytest.mark.parametrize("way", WAYS)
def test_the_controllers_rules_reproduce_the_force(model: gd.GearedModel, way: str) -> None:
    exact = motion(model, WAYS[way])
    made = annotated(exact, controller(model), 0.01, 0.002)
    assert made.times[0] == 0.0
    assert 0.4 * GAP < np.diff(made.times).min()
    assert np.diff(made.times).max() <= 0.01 + 1e-12
    rules = Rules(joints=model.joint_names)
    rows = zip(made.times, made.q, made.v, made.a, made.effort, strict=True)
    points = JointTrajectory(model.joint_names, [Point(*row) for row in rows])
    read = follow(checked(points, rules, 0.0), state(START), 0.0, rules)
    end = WAYS[way][-1][0]
    times = np.linspace(0.0, end - 2 * GAP, 4001)
    knots = np.array([row[0] for row in WAYS[way]])
    clear = (np.abs(times[:, None] - knots) > 2 * GAP).all(axis=1)
    times = times[clear]
    got = np.array([sample(read, t).effort for t in times])
    true = force(model, gd.trajectory.derivatives(exact, times, 2))
    assert (np.abs(got - true) / np.abs(made.effort).max(axis=0)).max() < 0.005


def test_it_ends_at_rest_with_gravity(model: gd.GearedModel) -> None:
    made = annotated(motion(model, WAYS["cubic"]), controller(model), 0.01, 0.002)
    last = gd.gravity_forces(model, made.q[-1])
    np.testing.assert_allclose(made.effort[-1], last, atol=1e-9)
    assert not made.v[-1].any()


def test_switches_count(model: gd.GearedModel) -> None:
    from geared_dynamics.control import Terms

    way = motion(model, WAYS["cubic"])
    off = Terms(use_gravity_compensation=False)
    whole = annotated(way, controller(model), 0.05, 0.1)
    part = annotated(way, controller(model, terms=off), 0.05, 0.1)
    gravity = gd.gravity_forces(model, whole.q[0])
    np.testing.assert_allclose(whole.effort[0] - part.effort[0], gravity, atol=1e-9)
