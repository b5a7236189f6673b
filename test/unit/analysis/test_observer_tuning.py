"""A recording through the observer: white and consistent where the model is right."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from geared_dynamics.analysis import Meaning, Recording, recording_from_arrays
from geared_dynamics.analysis.observing.replay import Replay, replay, stretches
from geared_dynamics.analysis.observing.tuning import gains_of, suggest, verdict
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.cli.main import main
from observer_arms import TURN
from observer_node_arm import DT, URDF, Plant, arm, drives

MEANING = Meaning("motor_torque", "motor")
NOISE = 2.0 * TURN


def recorded(seconds: float = 1.5, noise: float = NOISE) -> dict[str, np.ndarray]:
    """Times, motors' angles and torques of a motion."""
    plant, random, rows = Plant(), np.random.default_rng(3), []
    for _ in range(round(seconds / DT)):
        plant.step()
        shown = TURN * np.round((plant.phi + noise * random.normal(size=3)) / TURN)
        rows.append((plant.time, shown, plant.tau_m))
    time, phi, tau = zip(*rows, strict=True)
    return {"time": np.array(time), "phi": np.array(phi), "tau": np.array(tau)}


@pytest.fixture(scope="module")
def data() -> dict[str, np.ndarray]:
    return recorded()


def recording(data: dict[str, np.ndarray]) -> Recording:
    return recording_from_arrays(data["time"], data["phi"], data["tau"])


def judged(data: dict[str, np.ndarray], noise: float = NOISE, model: Any = None) -> Any:
    model = arm() if model is None else model
    gains = gains_of(model, TURN, noise, 10.0, 1.0 / DT)
    return verdict(replay(model, gains, stretches(model, recording(data), MEANING, 10.0)))


def test_the_right_tuning_is_consistent_and_white(data: dict[str, np.ndarray]) -> None:
    found = judged(data)
    assert found.ratio == pytest.approx(1.0, abs=0.1)
    assert np.abs(found.correlation).max() < 0.1
    assert found.white.min() > 0.7
    np.testing.assert_allclose(found.rms, found.expected, rtol=0.1)
    assert found.starts == 1


def test_wrong_tunings_and_models_show(data: dict[str, np.ndarray]) -> None:
    timid, bold = judged(data, 10.0 * NOISE), judged(data, 0.2 * NOISE)
    assert timid.ratio < 0.2 < 3.0 < bold.ratio
    assert not timid.consistent
    assert not bold.consistent
    other = yaml.safe_load(drives())
    for wheel in other["wheels"].values():
        wheel["inertia"] = {key: 1.5 * value for key, value in wheel["inertia"].items()}
    wrong = judged(data, model=gd.load_model(URDF, other))
    assert wrong.ratio > 1.5
    assert np.abs(wrong.correlation).max() > 0.2


def test_the_noise_is_found(data: dict[str, np.ndarray]) -> None:
    samples = stretches(arm(), recording(data), MEANING, 0.7)
    best = suggest(arm(), samples, TURN, 1.0 / DT, bandwidths=(10.0,), noises=(0.2, 2.0, 20.0))
    assert best.noise == pytest.approx(NOISE)


def test_correlation_does_not_reach_over_gaps() -> None:
    """Two stretches that are constant within themselves, of opposite sign."""
    x = np.concatenate([np.ones((50, 1)), -np.ones((50, 1))])
    after = np.ones(100, bool)
    after[[0, 50]] = False
    found = verdict(Replay(x, np.ones((100, 1)), np.ones(100), after, 1))
    assert found.correlation[0] == pytest.approx(1.0)


def test_samples_are_the_first_seconds(data: dict[str, np.ndarray]) -> None:
    given = stretches(arm(), recording(data), MEANING, 0.5)
    assert sum(len(part.time) for part in given) == pytest.approx(500, abs=2)
    np.testing.assert_allclose(given[0].tau_m, data["tau"][: len(given[0].time)], atol=1e-9)
    np.testing.assert_allclose(given[0].phi, data["phi"][: len(given[0].time)], atol=1e-9)


def test_too_short_a_recording_is_told() -> None:
    short = recorded(0.1)
    with pytest.raises(RecordingError, match="record longer"):
        judged(short)


@pytest.mark.parametrize(("noise", "code"), [(20.0 * NOISE, 1), (-1.0, 2)])
def test_the_command(
    data: dict[str, np.ndarray],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    noise: float,
    code: int,
) -> None:
    table, drive = tmp_path / "arm.csv", tmp_path / "arm.yaml"
    drive.write_text(drives(), encoding="utf-8")
    joints = arm().joint_names
    with table.open("w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream)
        out.writerow(["time", *(f"q_{j}" for j in joints), *(f"tau_{j}" for j in joints)])
        out.writerows(np.hstack([data["time"][:, None], data["phi"], data["tau"]]).tolist())
    words = ["tune-observer", str(table), "--robot", str(URDF), "--drivetrain", str(drive)]
    words += ["--positions", "motor", "--effort", "motor_torque", "--noise", str(noise)]
    words += ["--columns", "time=time", "position=q_{joint}", "effort=tau_{joint}"]
    words += ["--search-seconds", "0.25"]
    if code == 2:
        with pytest.raises(SystemExit, match="2"):
            main(words)
        return
    assert main(words) == code
    printed = capsys.readouterr().out
    for text in ("NIS by reading", "not consistent", "suggested", "encoder_noise", "motor_3"):
        assert text in printed
