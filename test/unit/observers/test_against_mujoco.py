"""Goals of the observers on MuJoCo's plant, shorter than ``benchmarks/observer_figures.py``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("scipy")
BENCHMARKS = str(Path(__file__).resolve().parents[3] / "benchmarks")


@pytest.fixture(scope="module")
def figures() -> Any:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("observer_figures")
    finally:
        sys.path.remove(BENCHMARKS)


@pytest.fixture(scope="module")
def recorded(figures: Any) -> Any:
    arm = figures.elbow()
    row = figures.moving(arm, 2.0, noise=figures.NOISE)
    return arm, row, *figures.practice(arm, row)


@pytest.mark.parametrize(
    ("stiffness", "inertia", "asked"), [(1.0, 1.0, 4.0), (0.8, 1.1, 2.5), (1.2, 0.9, 2.5)]
)
def test_better_than_usual_practice(
    figures: Any, recorded: Any, stiffness: float, inertia: float, asked: float
) -> None:
    arm, row, position, velocity = recorded
    wrong = figures.changed(arm, stiffness, inertia)
    found, state = figures.kalman(wrong, row)
    assert state.health.valid
    assert np.min(position / figures.rms(found[:, :3] - row.q)) > asked
    assert np.min(velocity / figures.rms(found[:, 6:9] - row.v)) > asked


def test_link_encoders_help(figures: Any, recorded: Any) -> None:
    arm, row, position, _ = recorded
    wrong = figures.changed(arm, 0.8, 1.1)
    found, _ = figures.kalman(wrong, row, "and links")
    assert np.min(position / figures.rms(found[:, :3] - row.q)) > 100.0


def test_a_wrong_ratio_does_not_pass(figures: Any, recorded: Any) -> None:
    """Negative control."""
    arm, row, position, _ = recorded
    wrong = figures.changed(arm, 1.0, 1.0)
    wrong.drives["spins"][1]["ratio"] *= 1.01
    found, _ = figures.kalman(wrong, row)
    assert np.min(position / figures.rms(found[:, :3] - row.q)) < 4.0


def test_a_push_is_found_within_its_time(figures: Any) -> None:
    arm = figures.elbow()
    starts = (0.6, 0.9)

    def push(t: float) -> np.ndarray:
        return np.array([0.0, 5.0 * (t >= starts[0]), 5.0 * (t >= starts[1])])

    row = figures.moving(arm, 1.2, noise=figures.NOISE, push=push)
    found, _ = figures.kalman(arm, row, "and links")
    assert figures.settled(found[:, 13], 600) <= 30
    assert figures.settled(found[:, 14], 900) <= 30


@pytest.mark.parametrize("joint", [0, 1, 2])
def test_the_alarm_comes_in_time_and_not_before(figures: Any, joint: int) -> None:
    """Motors' encoders alone, 5 N m, threshold 2.5 N m and 30 % of the friction."""
    import geared_dynamics as gd

    ob, arm, begin = gd.observers, figures.elbow(), 800
    force = 5.0 * np.eye(3)[joint]
    row = figures.moving(
        arm, 0.9, noise=figures.NOISE, push=lambda t: force * (t >= begin * figures.DT)
    )
    found, _ = figures.kalman(arm, row)
    model, raised = gd.load_model(arm.urdf, arm.drives), []
    watch = ob.alarm_start(model)
    for mean in found:
        parts = mean[12:15], mean[6:9], mean[9:12]
        watch = ob.alarm_step(model, watch, *parts, figures.DT, floor=2.5)
        raised.append(watch.raised)
    assert not np.any(raised[300:begin])
    first = np.argmax(np.array(raised)[begin:], axis=0)
    assert 10 <= first[joint] <= 30
    # At first joint 2 seems to move with joint 3; after 50 ms the force is where it is.
    np.testing.assert_array_equal(raised[begin + 50 :], np.tile(force > 0.0, (51, 1)))


def test_the_complete_model_beats_the_reduced_one(figures: Any) -> None:
    import geared_dynamics as gd

    arm = figures.elbow(ratio=0.1)
    row = figures.moving(arm, 1.5, noise=figures.NOISE)
    off = {}
    for name in ("complete", "uncoupled"):
        model = gd.load_model(arm.urdf, arm.drives).with_elasticity(name)
        found, _ = figures.kalman(arm, row, model=model)
        off[name] = np.sqrt(np.mean(figures.rms(found[:, :3] - row.q) ** 2))
    assert off["uncoupled"] > 3.0 * off["complete"]
