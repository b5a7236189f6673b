"""What the loop sends after an unexpected exception."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety import Event, Mode
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_settings import feedforward_setup
from geared_dynamics.trajectory import JointTrajectory, Point
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
REST, STILL = np.array([0.3, 0.5, -0.4]), np.zeros(3)
DEFECT = ZeroDivisionError("defect")


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


@pytest.fixture
def moving(model: gd.GearedModel) -> FeedforwardLoop:
    """A loop that follows a trajectory; its last cycle was at 0.1 s."""
    loop = FeedforwardLoop(feedforward_setup(feedforward(model, mode="stream"), model))
    loop.cycle(0.0, 0.0, REST, STILL)
    loop.accept(JointTrajectory(model.joint_names, [Point(1.0, REST + 0.2, STILL, STILL)]), 0.0, 0)
    for t in np.arange(0.01, 0.105, 0.01):
        loop.cycle(float(t), float(t), REST.copy(), STILL.copy())
    assert loop.decision is not None
    assert loop.decision.mode is Mode.RUNNING
    return loop


def test_the_arm_is_held_and_the_motion_dropped(
    moving: FeedforwardLoop, model: gd.GearedModel
) -> None:
    command = moving.failing(0.105, 0.105, DEFECT)
    assert moving.decision is not None
    assert moving.decision.mode is Mode.HOLDING
    assert Event.COMPUTATION in moving.decision.events
    assert moving.error is DEFECT
    assert moving.motion is None
    np.testing.assert_allclose(command, gd.gravity_forces(model, REST), atol=1e-9)


def test_it_does_not_go_on_with_the_state_that_it_failed_at(
    moving: FeedforwardLoop, model: gd.GearedModel
) -> None:
    moving.q = np.full(3, np.nan)
    command = moving.failing(0.105, 0.105, DEFECT)
    assert moving.decision is not None
    assert Event.COMPUTATION in moving.decision.events
    np.testing.assert_allclose(command, gd.gravity_forces(model, REST), atol=1e-9)


def test_if_it_lasts_the_state_becomes_stale(
    moving: FeedforwardLoop, model: gd.GearedModel
) -> None:
    for t in np.arange(0.105, 0.4, 0.01):
        command = moving.failing(float(t), float(t), DEFECT)
    assert moving.decision is not None
    assert moving.decision.mode is Mode.OPEN_LOOP
    np.testing.assert_allclose(command, gd.gravity_forces(model, REST), atol=1e-9)


def test_before_the_first_state_nothing_is_sent(moving: FeedforwardLoop) -> None:
    fresh = FeedforwardLoop(moving.setup)
    assert fresh.failing(0.0, 0.0, DEFECT) is None
    assert fresh.remaining() is None


def test_gravity_is_left_where_all_else_fails(
    moving: FeedforwardLoop, model: gd.GearedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(*_: Any) -> Any:
        raise DEFECT

    np.testing.assert_allclose(moving.remaining(), gd.gravity_forces(model, REST), atol=1e-9)
    monkeypatch.setattr(type(moving.setup.control), "hold", defective)
    monkeypatch.setattr(type(moving.setup.control), "decelerate", defective)
    moving.leave("gravity")
    command = moving.silence(moving.decided + 0.1, moving.decided + 0.1)
    np.testing.assert_allclose(command, gd.gravity_forces(model, REST), atol=1e-9)
    assert moving.error is DEFECT
