"""Trajectories beside limits when they are accepted, and while the arm is held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_settings import FeedforwardSetup, feedforward_setup
from geared_dynamics.runtime.rehearsal import rehearse_feedforward
from geared_dynamics.trajectory import JointTrajectory, Point, TrajectoryError
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
REST = np.array([0.3, 0.5, -0.4])
STILL = np.zeros(3)


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


def made(model: gd.GearedModel, **changes: Any) -> FeedforwardSetup:
    return feedforward_setup(feedforward(model, **changes), model)


def path(model: gd.GearedModel, goal: Any = (0.4, 0.6, -0.2), time: float = 1.0) -> Any:
    return JointTrajectory(model.joint_names, [Point(time, goal, STILL, STILL)])


def run(loop: FeedforwardLoop, begin: float, end: float, q: Any = REST) -> None:
    for t in np.arange(begin, end, 0.01):
        loop.cycle(float(t), float(t), np.array(q), STILL.copy())


LIMITED = {"joint_limits__joint_1__max_velocity": 0.5, "joint_limits__joint_3__max_position": 0.2}


@pytest.mark.parametrize("mode", ["stream", "computed_torque"])
@pytest.mark.parametrize(
    ("goal", "time", "words"),
    [
        ((0.3, 0.5, 0.3), 5.0, "position, joint 'joint_3': is 0.3 at 5.000 s, beyond 0.201;"),
        # A cubic or quintic from rest to rest is at its fastest in the middle: 15/8 of the mean.
        ((0.9, 0.5, -0.4), 2.0, "velocity, joint 'joint_1': is 0.5625 at 1.000 s, beyond 0.55;"),
    ],
)
def test_a_trajectory_beyond_limits_is_not_begun(
    model: gd.GearedModel, mode: str, goal: Any, time: float, words: str
) -> None:
    loop = FeedforwardLoop(made(model, mode=mode, **LIMITED))
    run(loop, 0.0, 0.05)
    loop.accept(path(model), 0.05, 0.05)
    before = loop.motion
    with pytest.raises(TrajectoryError) as raised:
        loop.accept(path(model, goal, time), 0.1, 0.1)
    assert words in str(raised.value)
    assert loop.motion is before, "what was followed goes on"
    loop.accept(path(model, (0.86, 0.5, 0.19), time * 1.25), 0.1, 0.1)
    assert loop.motion is not before


def test_the_way_to_the_first_waypoint_is_looked_at(model: gd.GearedModel) -> None:
    """It depends on where the arm is: only then is it too fast."""
    here, away = (FeedforwardLoop(made(model, **LIMITED)) for _ in range(2))
    run(here, 0.0, 0.05)
    run(away, 0.0, 0.05, q=REST - [0.3, 0.0, 0.0])
    points = [Point(0.5, REST, STILL, STILL), Point(3.0, REST, STILL, STILL)]
    here.accept(JointTrajectory(model.joint_names, points), 0.05, 0.05)
    with pytest.raises(TrajectoryError, match=r"velocity, joint 'joint_1': is 1.12\d* at 0.250 s"):
        away.accept(JointTrajectory(model.joint_names, points), 0.05, 0.05)


def test_an_arm_beyond_a_limit_is_led_back(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model, **LIMITED))
    beyond = np.array([0.3, 0.5, 0.21])
    run(loop, 0.0, 0.05, q=beyond)
    loop.accept(path(model, (0.3, 0.5, 0.1)), 0.05, 0.05)
    assert loop.motion is not None


def test_the_held_posture_is_known(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model))
    assert loop.held is None
    run(loop, 0.0, 0.3)
    np.testing.assert_array_equal(loop.held, REST)
    loop.accept(path(model), 0.3, 0.3)
    run(loop, 0.3, 0.4)
    assert loop.held is None


def test_an_arm_whose_zero_is_beyond_its_limits_is_rehearsed(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model, joint_limits__joint_3__max_position=-0.5))
    rehearse_feedforward(loop, 3)
    assert loop.q is None
