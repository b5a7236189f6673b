"""The cycle without ROS: what it sends, what it remembers, what it forgets."""

from __future__ import annotations

import gc
import math
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elbow as elastic_elbow
from geared_dynamics.control import ElasticController, RigidController
from geared_dynamics.control.safety import Event, Mode
from geared_dynamics.runtime.acceptance import routed
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.feedforward_settings import FeedforwardSetup, feedforward_setup
from geared_dynamics.runtime.rehearsal import rehearse_feedforward
from geared_dynamics.trajectory import (
    JointTrajectory,
    MotionLimits,
    Point,
    Rules,
    TrajectoryError,
    checked,
    follow,
    state,
)
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
REST = np.array([0.3, 0.5, -0.4])
STILL = np.zeros(3)


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


def values(model: gd.GearedModel, **changes: Any) -> FeedforwardParameters:
    return feedforward(model, **{"mode": "stream"} | changes)


def made(model: gd.GearedModel, **changes: Any) -> FeedforwardSetup:
    return feedforward_setup(values(model, **changes), model)


def path(model: gd.GearedModel, goal: Any = (0.4, 0.6, -0.2), time: float = 1.0) -> Any:
    return JointTrajectory(model.joint_names, [Point(time, goal, STILL, STILL)])


def run(loop: FeedforwardLoop, begin: float, end: float, step: float = 0.01, q: Any = REST) -> Any:
    command = None
    for t in np.arange(begin, end, step):
        command = loop.cycle(float(t), float(t), np.array(q), STILL.copy())
    return command


def test_it_samples_one_period_ahead(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model, update_rate=100))
    loop.cycle(0.0, 0.0, REST, STILL)
    loop.accept(path(model), 0.0, 0.0)
    command = run(loop, 0.01, 0.405)
    motion = loop.motion
    assert motion is not None
    exact = [gd.trajectory.sample(motion, t) for t in (0.40, 0.41)]
    now, ahead = (gd.inverse_dynamics(model, s.q, s.v, s.a) for s in exact)
    np.testing.assert_allclose(command, ahead, atol=1e-9)
    assert np.abs(now - ahead).max() > 1e-3


def test_the_period_is_measured_where_none_is_given(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model))
    run(loop, 0.0, 1.0, step=0.004)
    assert loop.period == pytest.approx(0.004, rel=1e-6)


def test_a_pause_of_the_loop_is_no_jump_of_time(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model, safety__state_timeout=10.0))
    run(loop, 0.0, 0.1)
    loop.cycle(5.0, 5.0, REST, STILL)
    assert loop.decision is not None
    assert not loop.decision.events & Event.TIME_JUMP
    loop.cycle(5.01, 8.0, REST, STILL)
    assert loop.decision.events & Event.TIME_JUMP


@pytest.mark.parametrize("clock", [0.2, math.nan])
def test_time_that_goes_back_ends_the_motion_once(model: gd.GearedModel, clock: float) -> None:
    loop = FeedforwardLoop(made(model))
    run(loop, 0.0, 0.05)
    loop.accept(path(model), 0.05, 0.05)
    run(loop, 0.05, 0.5)
    assert loop.decision is not None
    assert loop.decision.running
    loop.cycle(0.5, clock, REST, STILL)
    assert loop.decision.events & Event.TIME_JUMP
    assert loop.motion is None
    later = 0.51 if math.isnan(clock) else 0.21
    loop.accept(path(model), 0.51, later)
    for k in range(30):
        loop.cycle(0.51 + 0.01 * k, later + 0.01 * k, REST, STILL)
    assert loop.decision.running, "a new trajectory ends the stop"


def test_nan_is_never_sent_and_never_kept(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model, mode="computed_torque"))
    run(loop, 0.0, 0.05)
    loop.accept(path(model), 0.05, 0.05)
    run(loop, 0.05, 0.2)
    bad = REST.copy()
    bad[1] = np.nan
    for t in np.arange(0.2, 0.6, 0.01):
        command = loop.cycle(float(t), float(t), bad, STILL)
        assert command is not None
        assert np.isfinite(command).all()
    assert loop.counters.nan == 40
    assert loop.decision is not None
    assert loop.decision.mode is Mode.OPEN_LOOP


def test_a_law_that_fails_holds_the_arm(
    model: gd.GearedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = FeedforwardLoop(made(model))
    run(loop, 0.0, 0.05)
    loop.accept(path(model), 0.05, 0.05)
    run(loop, 0.05, 0.2)

    def fail(*arguments: object) -> None:
        raise ZeroDivisionError("nobody foresaw this")

    monkeypatch.setattr(RigidController, "step", fail)
    command = run(loop, 0.2, 0.25)
    np.testing.assert_allclose(command, gd.gravity_forces(model, REST), atol=1e-9)
    assert loop.decision is not None
    assert loop.decision.events & Event.COMPUTATION
    assert isinstance(loop.error, ZeroDivisionError)


def test_silence_before_the_first_state_sends_nothing(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model))
    assert loop.silence(1.0, 1.0) is None
    assert loop.unusable(1.1, 1.1, missing=True) is None
    loop.leave("gravity")
    assert loop.silence(1.2, 1.2) is None
    assert loop.left


def test_silence_holds_by_gravity_and_counts_no_missing_reference(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model))
    run(loop, 0.0, 0.05)
    loop.accept(path(model), 0.05, 0.05)
    run(loop, 0.05, 0.2)
    command = loop.silence(0.4, 0.4)
    np.testing.assert_allclose(command, gd.gravity_forces(model, REST), atol=1e-9)
    assert loop.decision is not None
    assert loop.decision.events == Event.STALE_STATE


def test_a_refused_trajectory_leaves_the_reference(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model))
    with pytest.raises(TrajectoryError, match="no joint state has been received"):
        loop.accept(path(model), 0.0, 0.0)
    run(loop, 0.0, 0.05)
    loop.accept(path(model), 0.05, 0.05)
    motion = loop.motion
    with pytest.raises(TrajectoryError):
        loop.accept(JointTrajectory(["joint_1"], [Point(1.0, [0.0])]), 0.1, 0.1)
    assert loop.motion is motion
    loop.emergency_stop = True
    with pytest.raises(TrajectoryError, match="release ~/emergency_stop first"):
        loop.accept(path(model), 0.1, 0.1)


def test_a_new_trajectory_continues_the_old_one_where_asked(model: gd.GearedModel) -> None:
    starts = {}
    for continued in (False, True):
        loop = FeedforwardLoop(made(model, interpolate_from_desired_state=continued))
        run(loop, 0.0, 0.05)
        loop.accept(path(model), 0.05, 0.05)
        run(loop, 0.05, 0.5)
        wanted = loop.present.q.copy()
        loop.accept(path(model, (0.0, 0.0, 0.0)), 0.5, 0.5)
        assert loop.motion is not None
        starts[continued] = gd.trajectory.sample(loop.motion, 0.5).q
    np.testing.assert_allclose(starts[False], REST, atol=1e-12)
    np.testing.assert_allclose(starts[True], wanted, atol=1e-2)
    assert np.abs(starts[True] - REST).max() > 0.01


def test_what_did_not_change_is_taken_over(model: gd.GearedModel) -> None:
    before = values(model)
    one = feedforward_setup(before, model)
    loaded = feedforward_setup(before.replaced({"payload.mass": 2.0}), model, one)
    assert loaded.policy is one.policy
    assert loaded.control.model is not one.control.model
    limited = before.replaced({"safety.state_timeout": 0.2})
    assert feedforward_setup(limited, model, one).policy.state_timeout == 0.2
    assert before.replaced({}).changed(before) == set()
    assert limited.changed(before) == {"safety.state_timeout"}


def test_exchange_takes_effect_in_the_next_cycle(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model))
    run(loop, 0.0, 0.05)
    loop.exchange(made(model, payload__mass=2.0))
    heavy = gd.gravity_forces(model.with_payload(2.0), REST)
    np.testing.assert_allclose(run(loop, 0.05, 0.055), heavy, atol=1e-9)


def test_a_rehearsal_leaves_no_trace(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model, mode="computed_torque"))
    rehearse_feedforward(loop, 20)
    assert loop.motion is None
    assert loop.q is None
    assert loop.decision is None


def test_the_last_command(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model))
    run(loop, 0.0, 0.05)
    loop.leave("gravity")
    np.testing.assert_allclose(left(loop, 0.05), gd.gravity_forces(model, REST), atol=1e-9)
    loop = FeedforwardLoop(made(model))
    run(loop, 0.0, 0.05)
    loop.leave("zero")
    assert not np.any(left(loop, 0.05))


def left(loop: FeedforwardLoop, now: float) -> Any:
    """The last command of an arm that is left, without joint states."""
    for k in range(1, 400):
        command = loop.silence(now + 0.005 * k, now + 0.005 * k)
        if loop.left:
            return command
    raise AssertionError("it does not end")


@pytest.mark.parametrize(("feedback", "mode"), [("joint", "stream"), ("motor", "computed_torque")])
def test_elastic_arms_get_the_flatness_feedforward(feedback: str, mode: str) -> None:
    """The motors' torques of the complete elastic model: in motion, and at rest by feedback."""
    arm = elastic_elbow(damping=1.0)
    changes: dict[str, Any] = {"mode": mode, "feedback": feedback, "output": "motor_torque"}
    loop = FeedforwardLoop(made(arm, update_rate=100, **changes))
    assert isinstance(loop.setup.control, ElasticController)
    rehearse_feedforward(loop, 3)
    loop.cycle(0.0, 0.0, REST, STILL)
    motor = feedback == "motor"
    still = np.array([REST] + 8 * [STILL])
    rest = gd.elastic.feedforward(arm, still, method="expanded").theta
    loop.accept(path(arm), 0.0, 0.0)
    if motor:
        loop.motion = at_rest(arm)
    motion = loop.motion
    assert motion is not None
    rows = gd.trajectory.derivatives(motion, 0.41, loop.setup.control.derivatives_needed)
    command = run(loop, 0.01, 0.405, q=rest if motor else REST)
    exact = gd.elastic.motor_commands(arm, rows, "expanded").torque
    np.testing.assert_allclose(command, exact, atol=1e-8)


def test_elastic_arms_as_if_they_were_rigid() -> None:
    arm = elastic_elbow(damping=1.0)
    assert isinstance(made(arm, use_elasticity=False).control, RigidController)
    assert isinstance(made(arm, mode="annotate").control, RigidController)


def at_rest(arm: gd.GearedModel) -> Any:
    """A reference that stays at REST."""
    rules = Rules(joints=arm.joint_names, rest_after_end=True)
    points = JointTrajectory(arm.joint_names, [Point(9.0, REST, STILL, STILL)])
    return follow(checked(points, rules, 0.0), state(REST), 0.0, rules)


def test_a_clock_that_stands_still_ends_the_motion(model: gd.GearedModel) -> None:
    """Joint states go on: not the feedforward of one instant for ever, but gravity."""
    loop = FeedforwardLoop(made(model, update_rate=100))
    run(loop, 0.0, 0.05)
    loop.accept(path(model), 0.05, 0.05)
    moving = run(loop, 0.05, 0.25)
    gravity = gd.gravity_forces(model, REST)
    assert np.abs(moving - gravity).max() > 0.1
    for k in range(120):
        command = loop.cycle(0.25 + 0.01 * k, 0.245, REST, STILL)
        if k == 90:
            assert loop.decision is not None
            assert loop.decision.running, "not yet"
    np.testing.assert_allclose(command, gravity, atol=1e-9)
    assert loop.motion is None
    assert loop.decision is not None
    assert loop.decision.latched == Event.TIME_JUMP
    with pytest.raises(TrajectoryError, match="ROS time has not advanced for 1"):
        loop.accept(path(model), 1.5, 0.245)
    run(loop, 1.5, 1.6)
    loop.accept(path(model), 1.6, 1.6)
    run(loop, 1.6, 1.9)
    assert loop.decision.running


def test_a_clock_may_stand_still_where_nothing_moves(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(made(model))
    run(loop, 0.0, 0.05)
    loop.accept(path(model, time=0.1), 0.05, 0.05)
    run(loop, 0.05, 0.5)
    for k in range(300):
        loop.cycle(0.5 + 0.01 * k, 0.495, REST, STILL)
    assert loop.decision is not None
    assert loop.decision.running


@pytest.mark.parametrize("cause", ["speed", "silence"])
def test_a_trajectory_is_refused_while_the_cause_of_a_stop_is_there(
    model: gd.GearedModel, cause: str
) -> None:
    loop = FeedforwardLoop(made(model, joint_limits__joint_1__max_velocity=1.0))
    run(loop, 0.0, 0.05)
    if cause == "speed":
        loop.cycle(0.05, 0.05, REST, np.array([2.0, 0.0, 0.0]))
    else:
        loop.silence(0.3, 0.3)
    with pytest.raises(TrajectoryError, match="limit" if cause == "speed" else "no valid message"):
        loop.accept(path(model), 0.31, 0.31)
    assert loop.motion is None
    run(loop, 0.31, 0.33)
    loop.accept(path(model), 0.33, 0.33)
    run(loop, 0.33, 0.6)
    assert loop.decision is not None
    assert loop.decision.running


def test_a_trajectory_that_does_not_end_a_stop_is_dropped(model: gd.GearedModel) -> None:
    """A reset that comes later starts nothing in its middle."""
    beyond = np.array([0.3, 0.5, 1.5])
    loop = FeedforwardLoop(made(model, joint_limits__joint_3__max_position=1.0))
    run(loop, 0.0, 0.05, q=beyond)
    assert loop.decision is not None
    assert loop.decision.latched == Event.POSITION_LIMIT
    assert not loop.given_up
    farther = path(model, (0.3, 0.5, 1.7))
    with pytest.raises(TrajectoryError, match=r"position, joint 'joint_3': is 1.7 at 1.000 s"):
        loop.accept(farther, 0.05, 0.05)
    free = np.full(3, np.inf)
    route = routed(farther, loop.setup.rules, MotionLimits(-free, free, free), 0.05)
    loop.begin(route, 0.05, 0.05)
    run(loop, 0.05, 0.3, q=beyond)
    assert loop.motion is None
    assert loop.given_up
    loop.acknowledged = True
    run(loop, 0.3, 0.6)
    assert not loop.decision.running
    loop.accept(path(model, (0.3, 0.5, 0.5)), 0.6, 0.6)
    run(loop, 0.6, 0.9)
    assert loop.decision.running


@pytest.mark.parametrize("elastic", [False, True])
def test_what_was_exchanged_is_freed_without_the_garbage_collector(
    model: gd.GearedModel, elastic: bool
) -> None:
    """Nothing refers to itself or is kept beside the loop, so that memory does not grow."""
    arm = elastic_elbow(damping=1.0) if elastic else model
    given = values(arm, mode="computed_torque", feedback="motor" if elastic else "joint")
    loop = FeedforwardLoop(feedforward_setup(given, arm))
    run(loop, 0.0, 0.05)
    gc.collect()
    gc.disable()
    try:
        dead = []
        for k in range(3):
            loop.exchange(
                feedforward_setup(given.replaced({"payload.mass": 1.0 + k}), arm, loop.setup)
            )
            run(loop, 0.05 + 0.05 * k, 0.1 + 0.05 * k)
            parts = loop.setup, loop.setup.control, loop.setup.control.model
            dead.append([weakref.ref(part) for part in parts])
            del parts
        for one in dead[:-1]:
            assert [part() for part in one] == [None] * 3
        assert all(part() is not None for part in dead[-1])
    finally:
        gc.enable()
