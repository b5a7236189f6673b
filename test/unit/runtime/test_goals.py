"""Goals without ROS: what stops an arm ends them, and how the arm then comes to rest."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety import Event
from geared_dynamics.runtime.acceptance import without_effect
from geared_dynamics.runtime.goals import REACHED, bounds, near, stopped
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Tolerances,
    shortest_way,
    violation,
)
from goal_bench import PERIOD, REST, STILL, Bench, tolerance

URDF = Path(__file__).resolve().parents[3] / "urdf"


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


# -- what stops an arm -----------------------------------------------------------------------


NAMES = {
    "stop": "EMERGENCY_STOP",
    "silence": "STALE_STATE",
    "speed": "VELOCITY_LIMIT",
    "absurd speed": "IMPOSSIBLE_STATE",
    "tracking": "TRACKING_ERROR",
    "clock": "TIME_JUMP",
    "failure": "COMPUTATION",
}


@pytest.mark.parametrize("fault", list(NAMES))
def test_a_fault_ends_the_goal_and_the_motion(model: gd.GearedModel, fault: str) -> None:
    bench = Bench(model, constraints__joint_2__trajectory=0.2)
    bench.send("goal", REST + 0.3, 2.0, tolerance(-1.0))
    bench.run(0.5)
    assert not bench.ended
    if fault == "stop":
        bench.loop.emergency_stop, bench.loop.motion = True, None
        bench.cycle()
    elif fault == "silence":
        for _ in range(10):
            bench.silence()
    elif fault == "speed":
        bench.offset[1, 0] = 1.5 * bench.loop.setup.policy.velocity[0]
        bench.wanted[1, 0] = bench.offset[1, 0]
        bench.cycle()
    elif fault == "absurd speed":
        bench.wanted[1, 0] = bench.offset[1, 0] = 50.0
        bench.cycle()
    elif fault == "tracking":
        bench.wanted[0, 1] = 0.3
        bench.run(0.3)
    elif fault == "clock":
        bench.loop.cycle(bench.t + PERIOD, math.nan, bench.q, bench.v)
        bench.look()
    else:
        bench.command = bench.loop.failing(bench.t + PERIOD, bench.t + PERIOD, ValueError("x"))
        bench.look()
    code = -4 if fault == "tracking" else -1
    assert bench.end("goal") == ("aborted", code)
    assert NAMES[fault] in bench.ended["goal"].text
    assert bench.loop.motion is None, "it is not taken up again"


def test_damaged_joint_states_do_not_count_against_a_goal(model: gd.GearedModel) -> None:
    bench = Bench(model)
    bench.send("goal", REST + 0.1, 0.3, tolerance(0.01), tolerance(0.01))
    for k in range(40):
        if k % 3 == 1:
            bench.t += PERIOD
            bench.loop.cycle(bench.t, bench.t, np.full(3, np.nan), STILL)
            bench.look()
        elif k % 3 == 2:
            bench.t += PERIOD
            bench.loop.unusable(bench.t, bench.t, missing=True)
            bench.look()
        else:
            bench.cycle()
    bench.run(0.1)
    assert bench.end("goal") == REACHED[:2]


def test_a_goal_that_starts_far_from_the_arm_is_not_followed_and_ends(
    model: gd.GearedModel,
) -> None:
    bench = Bench(model)
    points = JointTrajectory(model.joint_names, [Point(0.0, REST + 1.0), Point(0.3, REST + 1.0)])
    bench.goals.accept("goal", points, (), (), 0.0, bench.t, bench.t)
    for _ in range(60):
        bench.t += PERIOD
        bench.loop.cycle(bench.t, bench.t, REST.copy(), STILL.copy())
        bench.look()
    assert bench.end("goal") == ("aborted", -4)
    assert "RESUME_ERROR" in bench.ended["goal"].text
    assert bench.loop.motion is None


@pytest.mark.parametrize("event", [event for event in Event if event])
def test_every_event_has_a_code_and_its_name(event: Event) -> None:
    found = stopped(int(event))
    assert found.status == "aborted"
    assert found.code in {-1, -4, -5}
    assert str(event.name) in found.text or event is Event.STALE_REFERENCE


# -- after the end ---------------------------------------------------------------------------


def test_a_goal_once_reached_is_kept_whatever_cmd_timeout_says(model: gd.GearedModel) -> None:
    bench = Bench(model, cmd_timeout=0.2)
    bench.send("goal", REST + 0.1, 0.1)
    bench.run(2.0)
    assert bench.end("goal") == REACHED[:2]
    assert bench.loop.decision is not None
    assert bench.loop.decision.running
    np.testing.assert_allclose(bench.q, REST + 0.1)


def test_cmd_timeout_ends_a_goal_that_does_not_arrive(model: gd.GearedModel) -> None:
    bench = Bench(model, cmd_timeout=0.2)
    bench.wanted[0] = 0.05
    bench.send("goal", REST + 0.1, 0.1, (), tolerance(0.01))
    bench.run(0.25)
    assert not bench.ended
    bench.run(0.2)
    assert bench.end("goal") == ("aborted", -5)


@pytest.mark.parametrize(("goal_time", "counts"), [(0.1, True), (0.2, False), (0.5, False)])
def test_cmd_timeout_counts_only_beyond_goal_time(
    model: gd.GearedModel, goal_time: float, counts: bool
) -> None:
    bench = Bench(model, cmd_timeout=0.2, constraints__goal_time=goal_time)
    assert math.isfinite(bench.loop.setup.policy.reference_timeout) == counts
    assert bool(without_effect(bench.parameters)) != counts


@pytest.mark.parametrize("arrives", [True, False])
def test_a_trajectory_of_the_topic_is_held_where_it_misses_goal_time(
    model: gd.GearedModel, arrives: bool
) -> None:
    given = {f"constraints.joint_{k}.goal": 0.01 for k in (1, 2, 3)}
    bench = Bench(model, constraints__goal_time=0.2, **given)
    bench.wanted[0] = 0.0 if arrives else 0.05
    points = JointTrajectory(model.joint_names, [Point(0.1, REST + 0.1, STILL)])
    bench.loop.accept(points, bench.t, bench.t)
    bench.run(0.25)
    assert bench.loop.motion is not None
    bench.run(0.2)
    assert bench.loop.resting != arrives
    if arrives:  # the controller goes on watching it
        bench.wanted[0] = 0.05
        bench.run(0.03)
        assert bench.loop.resting
    assert bench.loop.motion is not None, "without feedback the model brakes"
    assert bench.loop.motion.knots[-1] <= 0.5


# -- stops -----------------------------------------------------------------------------------

DECELERATE = {f"constraints.joint_{k}.max_deceleration_on_cancel": 2.0 for k in (1, 2, 3)}


@pytest.mark.parametrize("mode", ["stream", "computed_torque"])
def test_a_cancelled_goal_stops_by_the_decelerations_and_stays(
    model: gd.GearedModel, mode: str
) -> None:
    bench = Bench(
        model, mode=mode, constraints__decelerate_on_cancel=True, cmd_timeout=0.1, **DECELERATE
    )
    bench.send("goal", REST + 1.0, 2.0)
    bench.run(1.0)
    q, v = bench.q.copy(), bench.v.copy()
    assert (v > 0.5).all()
    assert bench.goals.cancel("goal", bench.t)
    bench.collect()
    assert bench.end("goal") == ("canceled", 0)
    bench.run(2.0)
    np.testing.assert_allclose(bench.q, q + v**2 / 4.0, atol=1e-9)
    assert bench.loop.decision is not None
    assert bench.loop.decision.running, "the end of the stop is kept, whatever cmd_timeout says"
    np.testing.assert_allclose(bench.command, gd.gravity_forces(model, bench.q), atol=1e-6)


def test_without_decelerations_feedback_holds_and_feedforward_brakes(
    model: gd.GearedModel,
) -> None:
    for mode in ("stream", "computed_torque"):
        bench = Bench(model, mode=mode, constraints__decelerate_on_cancel=True)
        assert any("max_deceleration" in line for line in without_effect(bench.parameters))
        bench.send("goal", REST + 1.0, 2.0)
        bench.run(1.0)
        bench.goals.cancel("goal", bench.t)
        motion = bench.loop.motion
        if mode == "computed_torque":
            assert motion is None, "the safety step brakes, then holds"
        else:
            assert motion is not None
            assert motion.end == pytest.approx(bench.t + 0.5)


def test_a_cancel_without_a_state_or_of_another_goal_moves_nothing(model: gd.GearedModel) -> None:
    bench = Bench(model, constraints__decelerate_on_cancel=True, **DECELERATE)
    assert not bench.goals.cancel("goal", bench.t)
    assert not bench.goals.cancel(None, bench.t)
    bench.send("goal", REST + 0.5, 2.0)
    bench.run(0.5)
    motion = bench.loop.motion
    assert not bench.goals.cancel("other", bench.t)
    assert bench.loop.motion is motion
    bench.loop.q = np.full(3, np.nan)
    assert bench.goals.cancel("goal", bench.t)
    assert bench.loop.motion is None


# -- the quick look at path tolerances -------------------------------------------------------


def test_the_quick_look_agrees_with_the_judgement() -> None:
    """Several turns away, NaN and infinity included, joints continuous and not."""
    draw, kept, nothing = np.random.default_rng(1506), [], np.zeros((3, 4))
    for _ in range(3000):
        turning = draw.random(4) < 0.5
        path = np.where(draw.random((3, 4)) < 0.4, 0.0, draw.uniform(0.05, 4.0, (3, 4)))
        measured = draw.normal(size=(2, 4))
        desired = measured + draw.uniform(-1.0, 1.0, (2, 4)) * draw.choice([0.2, 5.0])
        desired[0] += 2.0 * np.pi * draw.integers(-3, 4, 4) * turning
        if draw.random() < 0.1:
            measured[draw.integers(2), draw.integers(4)] = draw.choice([np.nan, np.inf, -np.inf])
        error = np.array(
            [shortest_way(measured[0], desired[0], turning), desired[1] - measured[1]]
        )
        quick = bounds(Tolerances(path, nothing, 0.0), turning.tolist())
        rows = zip(desired, measured, (quick.position, quick.velocity), strict=True)
        found = all(near(*row) for row in rows)
        assert found == (not violation(path, error, list("abcd")))
        kept.append(found)
    assert 300 < sum(kept) < 2700
