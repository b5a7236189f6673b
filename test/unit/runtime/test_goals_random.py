"""Goals without ROS: random histories end with the codes of a joint trajectory controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.runtime.goals import DEACTIVATED, judged
from geared_dynamics.trajectory import TrajectoryError, default_tolerances, sample
from goal_bench import REST, STILL, Bench, tolerance
from naive.jtc_actions import Controller

URDF = Path(__file__).resolve().parents[3] / "urdf"
SEEDS = range(120)


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


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
