"""Goals without ROS: random histories end with the codes of a joint trajectory controller."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety import Event
from geared_dynamics.nodes.common.parameters import Value, expanded
from geared_dynamics.nodes.feedforward.goals import (
    DEACTIVATED,
    REACHED,
    Goals,
    judged,
    stopped,
)
from geared_dynamics.nodes.feedforward.loop import Loop
from geared_dynamics.nodes.feedforward.prepared import prepared
from geared_dynamics.nodes.feedforward.schema import SCHEMA
from geared_dynamics.nodes.feedforward.tolerated import without_effect
from geared_dynamics.trajectory import (
    JointTolerance,
    JointTrajectory,
    Point,
    TrajectoryError,
    default_tolerances,
    sample,
)
from naive.jtc_actions import Controller

URDF = Path(__file__).resolve().parents[3] / "urdf"
REST = np.array([0.3, 0.5, -0.4])
STILL = np.zeros(3)
PERIOD = 0.01
SEEDS = range(120)


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


class Bench:
    """A loop with goals and a robot that is where it is told to be."""

    def __init__(self, model: gd.GearedModel, **changes: Value) -> None:
        schema = expanded(SCHEMA, model.joint_names, model.motor_names)
        values = {name: entry.default for name, entry in schema.items()}
        values |= {name.replace("__", "."): value for name, value in changes.items()}
        self.model, self.values, self.t = model, values, 0.0
        self.loop = Loop(prepared(values, model))
        self.goals = Goals(self.loop)
        self.q, self.v = REST.copy(), STILL.copy()
        self.offset = np.zeros((2, 3))  # by which the robot is away from the reference
        self.wanted = np.zeros((2, 3))  # to where that goes, at 1 rad/s
        self.followed: Any = None
        self.ended: dict[Any, Any] = {}
        self.command: Any = None
        self.cycle()

    def cycle(self) -> None:
        """One period: the robot follows, up to its offset, and never jumps."""
        self.t += PERIOD
        if self.loop.motion is not self.followed:
            self.followed = self.loop.motion
            self.offset = np.zeros((2, 3))
        self.offset += np.clip(self.wanted - self.offset, -PERIOD, PERIOD)
        if self.loop.motion is not None:
            wanted = sample(self.loop.motion, self.t)
            self.q, self.v = wanted.q - self.offset[0], wanted.v - self.offset[1]
        else:
            self.v = STILL.copy()
        self.command = self.loop.cycle(self.t, self.t, self.q.copy(), self.v.copy())
        self.look()

    def silence(self) -> None:
        self.t += PERIOD
        self.command = self.loop.silence(self.t, self.t)
        self.look()

    def look(self) -> None:
        if self.goals.judging:
            self.goals.look(self.t)
        self.collect()

    def collect(self) -> None:
        for key, ending in self.goals.take()[0]:
            assert key not in self.ended, "a goal ends once"
            self.ended[key] = ending

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.cycle()

    def send(
        self, key: Any, goal: Any = REST, time: float = 0.5, path: Any = (), end: Any = (),
        goal_time: float = 0.0,
    ) -> None:  # fmt: skip
        points = JointTrajectory(self.model.joint_names, [Point(time, goal, STILL)])
        self.goals.accept(key, points, path, end, goal_time, self.t, self.t)
        self.collect()

    def end(self, key: Any) -> tuple[str, int]:
        return self.ended[key][:2]


def tolerance(position: float, velocity: float = 0.0) -> list[JointTolerance]:
    return [JointTolerance(f"joint_{k}", position, velocity) for k in (1, 2, 3)]


# -- one cycle -------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("over", [-0.1, 0.0, 0.2, 0.4])
@pytest.mark.parametrize("position", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("goal_time", [0.0, 0.3])
def test_one_cycle_is_judged_as_by_the_controller(
    first: bool, over: float, position: float, goal_time: float
) -> None:
    limits = default_tolerances(np.full(3, 0.1), np.full(3, 0.01), 0.0, goal_time)
    given = {
        "path": [(0.1, 0.0)] * 3, "goal": [(0.01, 0.0)] * 3, "goal_time": goal_time
    }  # fmt: skip
    jtc = Controller(given)
    jtc.goal_accepted("goal", None)
    jtc.sampled = not first
    jtc.update(over < 0.0, over, [(position, 0.0)] * 3)
    error = np.array([np.full(3, position), STILL])
    found = judged(limits, first, over, error, ("a", "b", "c"))
    assert (None if found is None else found[:2]) == jtc.results.get("goal")


# -- histories -------------------------------------------------------------------------------


def random_history(model: gd.GearedModel, seed: int) -> tuple[Bench, dict[Any, Any], set[str]]:
    """Goals with cancels, preemptions, refusals, offsets, a deactivation: ours, the codes of a
    controller, and what has happened.
    """
    rng = np.random.default_rng(seed)
    tight, late = rng.choice([0.0, 0.05, 0.2], 2)
    usual = {"path": [(tight, 0.0)] * 3, "goal": [(late, 0.1)] * 3}
    usual["goal_time"] = float(rng.choice([0.0, 0.2]))
    names = {f"constraints.{name}.goal": float(late) for name in model.joint_names}
    names |= {"constraints.stopped_velocity_tolerance": 0.1}
    names |= {"constraints.goal_time": usual["goal_time"], "safety.resume_error": 10.0}
    bench, jtc, happened = Bench(model, **names), Controller(usual | {"path": [(0, 0)] * 3}), set()
    usual["path"] = [(0.0, 0.0)] * 3
    for key in range(4):
        own = bool(rng.random() < 0.7)
        numbers = rng.choice([0.0, 0.05, 0.3, -1.0], 3), rng.choice([0.0, 0.2, -1.0])
        given = resolved(usual, numbers) if own else usual
        path = tolerance(numbers[0][0], numbers[0][1]) if own else []
        end = tolerance(numbers[0][2]) if own else []
        time = float(rng.choice([0.5, 0.8]))
        bench.send(key, REST + rng.uniform(-0.1, 0.1, 3), time, path, end,
                   float(numbers[1]) if own else 0.0)  # fmt: skip
        jtc.goal_accepted(key, given)
        for _ in range(rng.integers(1, 150)):
            step(bench, jtc, rng, happened, key)
    bench.goals.abort(DEACTIVATED)
    bench.collect()
    jtc.on_deactivate()
    return bench, jtc.results, happened


def resolved(usual: dict[str, Any], numbers: Any) -> dict[str, Any]:
    """Tolerances of a goal: 0 takes the default, -1 none."""

    def one(given: float, default: float) -> float:
        return 0.0 if given == -1.0 else (given or default)

    (position, speed, end), time = numbers
    return {
        "path": [(one(position, usual["path"][0][0]), one(speed, usual["path"][0][1]))] * 3,
        "goal": [(one(end, usual["goal"][0][0]), usual["goal"][0][1])] * 3,
        "goal_time": one(time, usual["goal_time"]),
    }


def step(bench: Bench, jtc: Controller, rng: Any, happened: set[str], key: Any) -> None:
    """One cycle with perhaps something in it."""
    chance = rng.random()
    if chance < 0.02:
        bench.wanted[0] = rng.choice([0.0, 0.04, 0.1, 0.4]) * rng.choice([-1.0, 0.0, 1.0], 3)
    elif chance < 0.03:
        bench.wanted[1] = rng.choice([0.0, 0.15], 3)
    elif chance < 0.035:
        bench.goals.cancel(key, bench.t)
        bench.collect()
        jtc.goal_cancelled(key)
        happened.add("cancel")
    elif chance < 0.04:
        with pytest.raises(TrajectoryError):
            bench.send("refused", [np.nan] * 3)
        happened.add("refusal")
    motion = bench.loop.motion
    bench.cycle()
    if motion is None:
        assert jtc.active is None
        return
    t = bench.t
    wanted = sample(motion, t)
    errors = np.array([wanted.q - bench.q, wanted.v - bench.v])
    jtc.update(not wanted.finished, t - motion.end, errors.T)


def test_random_histories_end_with_the_codes_of_the_controller(model: gd.GearedModel) -> None:
    seen: dict[Any, int] = {}
    happened: set[str] = set()
    for seed in SEEDS:
        bench, expected, what = random_history(model, seed)
        found = {key: ending[:2] for key, ending in bench.ended.items()}
        assert found == expected, seed
        happened |= what
        for end in found.values():
            seen[end] = seen.get(end, 0) + 1
    assert sum(seen.values()) == 4 * len(SEEDS)
    assert happened == {"cancel", "refusal"}
    kinds = {("succeeded", 0), ("canceled", 0), ("aborted", -1), ("aborted", -4), ("aborted", -5)}
    assert set(seen) == kinds
    assert min(seen.values()) >= 10, seen


# -- what stops an arm -----------------------------------------------------------------------


NAMES = {
    "stop": "EMERGENCY_STOP",
    "silence": "STALE_STATE",
    "speed": "VELOCITY_LIMIT",
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
    assert math.isfinite(bench.loop.prepared.policy.reference_timeout) == counts
    assert bool(without_effect(bench.values, model)) != counts


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
        assert any("max_deceleration" in line for line in without_effect(bench.values, model))
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
