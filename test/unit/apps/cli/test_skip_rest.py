"""``analyze --skip-rest``: what is left out, and what is said of it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from elbow_run import MODEL, ROBOT, TAU, Q, T
from geared_dynamics import analysis
from geared_dynamics.apps.cli.main import main
from geared_dynamics.arrays import Array
from recorded_motions import JOINT_STATE, messages, write_sqlite

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

RATE, REST = 200, 20 * 200  # samples at rest after the motion
OFF = np.array([5.0, 8.0, 3.0])  # [N m] that the rest is wrong by: stiction, a brake


def paused() -> tuple[Array, Array, Array, Array]:
    """The motion, slowed down to rest at its end, and a rest; times, q, v, torques."""
    t = np.arange(len(T) + REST) / RATE
    fade = np.clip((len(T) - np.arange(len(T))) / (3.0 * RATE), 0.0, 1.0)
    phase = np.concatenate([np.cumsum(fade) - fade[0], np.full(REST, fade.sum() - fade[0])])
    phase = np.minimum(phase / RATE, T[-1])
    q = np.column_stack([np.interp(phase, T, column) for column in Q.T])
    tau = np.column_stack([np.interp(phase, T, column) for column in TAU.T])
    tau[len(T) :] += OFF
    return t, q, np.gradient(q, 1.0 / RATE, axis=0), tau


@pytest.fixture
def rested(tmp_path: Path) -> str:
    """A bag of it."""
    data = messages(MODEL.joint_names, *paused())
    return str(write_sqlite(tmp_path / "run.db3", {"/joint_states": (JOINT_STATE, data)}))


def test_rest_is_left_out_and_said(
    rested: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["analyze", rested, *ROBOT, "--bandwidth", "10"]
    assert main(words) == 0
    before = capsys.readouterr().out
    assert "rest is left out" not in before
    out = tmp_path / "report"
    assert main([*words, "--skip-rest", "--output", str(out), "--samples"]) == 0
    text = capsys.readouterr().out
    said = "rest is left out: every joint slower than 0.01 rad/s or m/s, 40 % of the samples"
    assert said in text
    assert "samples at rest" in text
    with (out / "run_samples.csv").open() as stream:
        rows = list(csv.reader(stream))
    speed = np.array([[float(cell) for cell in row[4:7]] for row in rows[1:]])
    assert (np.abs(speed) >= 0.01).any(axis=1).all()
    assert main([*words, "--skip-rest", "--rest-speed", "50"]) == 2
    assert "samples at rest); record the robot in motion, or lower --rest-speed" in (
        capsys.readouterr().err
    )
    assert main([*words, "--rest-speed", "0.1"]) == 2
    assert "--rest-speed: is given without --skip-rest" in capsys.readouterr().err


def test_the_same_numbers_as_of_the_samples_that_move() -> None:
    """Each sample is judged by itself: the sums are those of the others, in any spans."""
    t, q, v, tau = paused()
    run = analysis.recording_from_arrays(t, q, tau, v)
    kept: dict[float, list[Array]] = {0.0: [], 0.02: []}
    found = {}
    for rest, parts in kept.items():
        found[rest] = analysis.analyze(
            MODEL, run, bandwidth_hz=10.0, rest=rest or None,
            keep=lambda part, own=parts: own.append(np.hstack([part.v, part.measured])),
        )  # fmt: skip
    whole, moving = (np.concatenate(kept[rest]) for rest in kept)
    expected = whole[(np.abs(whole[:, :3]) >= 0.02).any(axis=1)]
    np.testing.assert_array_equal(moving, expected)
    totals = found[0.02].totals
    assert totals.samples == len(expected)
    assert totals.tally.resting == len(whole) - len(expected) > 0.3 * len(whole)
    np.testing.assert_allclose(totals.measured, (expected[:, 3:] ** 2).sum(axis=0))
    assert (totals.residual[-1] < found[0.0].totals.residual[-1]).all()
