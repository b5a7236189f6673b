"""Trajectories and descriptions that a node refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from demo_robots import elbow
from geared_dynamics.control import controller
from geared_dynamics.errors import ModelError
from geared_dynamics.runtime import annotation, feedforward_loop
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_settings import feedforward_setup
from geared_dynamics.runtime.model_source import rebuilt
from geared_dynamics.trajectory import TrajectoryError, rest_to_rest
from node_values import feedforward
from shafts import URDF

REST, STILL = np.array([0.3, 0.5, -0.4]), np.zeros(3)


@pytest.fixture
def moving() -> FeedforwardLoop:
    """A loop that has had a few good states."""
    model = elbow()
    made = FeedforwardLoop(feedforward_setup(feedforward(model, mode="stream"), model))
    for k in range(5):
        made.cycle(0.01 * k, 0.01 * k, REST, STILL)
    made.refuse(0.05)
    return made


def test_no_trajectory_while_the_node_stops(moving: FeedforwardLoop) -> None:
    moving.leave("gravity")
    with pytest.raises(TrajectoryError, match="node: is stopping; activate it again first"):
        moving.refuse(0.05)


def test_no_trajectory_while_states_are_in_doubt(
    moving: FeedforwardLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedforward_loop, "in_doubt", lambda track: True)
    with pytest.raises(TrajectoryError, match=r"changed more than a joint can move; let only one"):
        moving.refuse(0.05)


def test_forces_beyond_all_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    motion = rest_to_rest(REST, REST + 0.1, 1.0, continuous=3)
    made: Any = SimpleNamespace(n=3, begin=0.0)
    monkeypatch.setattr(annotation, "derivatives", lambda _, t, k: motion.derivatives(t, k))
    control = controller(elbow())
    rows, effort = annotation.looked_at(made, control.setting, np.linspace(0.0, 1.0, 5))
    q, v, a = np.moveaxis(rows, 1, 0)
    np.testing.assert_allclose(effort, gd.inverse_dynamics(control.model, q, v, a), rtol=1e-12)
    lost = SimpleNamespace(torque=np.full((5, 3), np.inf))
    monkeypatch.setattr(annotation, "feedforward", lambda *_: lost)
    with pytest.raises(TrajectoryError, match="needs forces that overflow; use SI units"):
        annotation.looked_at(made, control.setting, np.linspace(0.0, 1.0, 5))


def test_a_description_of_another_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    old, other = elbow(), gd.load_model(URDF)
    monkeypatch.setattr("geared_dynamics.runtime.model_source.load", lambda *_: other)
    assert rebuilt(feedforward(), "text", None).changes == []
    with pytest.raises(ModelError, match="has other joints: joint; deactivate the node"):
        rebuilt(feedforward(), "text", old)
    monkeypatch.setattr("geared_dynamics.runtime.model_source.load", lambda *_: old)
    assert rebuilt(feedforward(), "text", old).changes == []
