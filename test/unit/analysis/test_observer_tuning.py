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
from geared_dynamics.analysis.innovation_whiteness import white
from geared_dynamics.analysis.observer_tuning import (
    Replay,
    gains_of,
    replay,
    stretches,
    suggest,
    verdict,
)
from geared_dynamics.apps.cli.main import main
from geared_dynamics.errors import RecordingError
from observer_arms import TURN
from observer_node_arm import DT, URDF, Plant, arm, drives
from recorded_motions import ROBOTS, motion

MEANING = Meaning("motor_torque", "motor")
NOISE = 2.0 * TURN


def recorded(seconds: float = 1.5, noise: float = NOISE) -> dict[str, np.ndarray]:
    """Times, motors' angles and torques of a motion."""
    plant, random, rows = Plant(), np.random.default_rng(3), []
    for _ in range(round(seconds / DT)):
        plant.step()
        exact = plant.A.T @ plant.z[: plant.width] + plant.model.motor_zeros
        shown = TURN * np.round((exact + noise * random.normal(size=3)) / TURN)
        rows.append((plant.time, shown, plant.tau_m))
    time, phi, tau = zip(*rows, strict=True)
    return {"time": np.array(time), "phi": np.array(phi), "tau": np.array(tau)}


@pytest.fixture(scope="module")
def data() -> dict[str, np.ndarray]:
    return recorded()


def recording(data: dict[str, np.ndarray]) -> Recording:
    return recording_from_arrays(data["time"], data["phi"], data["tau"])


def spoilt(inertia: float) -> dict[str, Any]:
    """The arm's drives with its wheels' inertias multiplied."""
    found: dict[str, Any] = yaml.safe_load(drives())
    for wheel in found["wheels"].values():
        wheel["inertia"] = {key: inertia * value for key, value in wheel["inertia"].items()}
    return found


def other(inertia: float) -> gd.GearedModel:
    """Its model."""
    return gd.load_model(URDF, spoilt(inertia))


def judged(data: dict[str, np.ndarray], noise: float = NOISE, model: Any = None) -> Any:
    model = arm() if model is None else model
    gains = gains_of(model, TURN, noise, 10.0, 1.0 / DT)
    return verdict(replay(model, gains, stretches(model, recording(data), MEANING, 10.0)), TURN)


def test_the_right_tuning_is_consistent_and_white(data: dict[str, np.ndarray]) -> None:
    found = judged(data)
    assert found.ratio == pytest.approx(1.0, abs=0.1)
    assert np.abs(found.white.first).max() < 0.1
    assert not found.coloured
    assert not found.careful
    np.testing.assert_allclose(found.rms, found.expected, rtol=0.1)
    assert found.starts == 1


def test_wrong_tunings_and_models_show(data: dict[str, np.ndarray]) -> None:
    timid, bold = judged(data, 10.0 * NOISE), judged(data, 0.2 * NOISE)
    assert timid.ratio < 0.2 < 3.0 < bold.ratio
    assert timid.consistent
    assert timid.careful
    assert not bold.consistent
    assert not bold.careful
    wrong = judged(data, model=other(1.5))
    assert wrong.ratio > 1.5
    assert not wrong.consistent
    assert wrong.coloured
    assert np.abs(wrong.white.largest).max() > 0.2


@pytest.mark.parametrize("bandwidth", [5.0, 30.0, 60.0])
@pytest.mark.parametrize("noise", [TURN / 3.0, NOISE])
def test_an_exact_model_with_its_exact_noise_is_consistent(bandwidth: float, noise: float) -> None:
    """Less than 1 is what no force acts with: walk and torque noise are in the expectation."""
    model = arm()
    gains = gains_of(model, TURN, noise, bandwidth, 1.0 / DT)
    samples = stretches(model, recording(recorded(noise=noise)), MEANING, 10.0)
    found = verdict(replay(model, gains, samples), TURN)
    assert found.consistent
    assert not found.careful
    alone = gains.noise[:3] ** 2 / found.expected**2
    assert found.ratio > alone.min(), "the readings' own noise must be in the innovations"


@pytest.mark.parametrize("begin", [0.1, 1.0, 20.0])
def test_the_noise_is_found_from_wherever_it_begins(
    data: dict[str, np.ndarray], begin: float
) -> None:
    samples = stretches(arm(), recording(data), MEANING, 0.7)
    best = suggest(arm(), samples, TURN, begin * NOISE, 5.0, 1.0 / DT, bandwidths=(5.0, 10.0))
    assert best.noise is not None
    np.testing.assert_allclose(best.noise, NOISE, rtol=0.1)
    assert best.bandwidth == 5.0
    assert best.verdict.ratio == pytest.approx(1.0, abs=0.03)
    assert best.verdict.consistent
    assert not best.verdict.careful


def test_noise_changes_no_estimate() -> None:
    """With motors alone it scales covariances; the bandwidth sets the gain."""
    model, given = arm(), stretches(arm(), recording(recorded(0.8)), MEANING, 10.0)
    one, wide, quick = (
        replay(model, gains_of(model, 0.0, noise, bandwidth, 1.0 / DT), given)
        for noise, bandwidth in ((NOISE, 10.0), (3.0 * NOISE, 10.0), (NOISE, 20.0))
    )
    late = slice(len(one.nis) // 2, None)  # what the start assumed is forgotten
    np.testing.assert_allclose(
        wide.innovation[late], one.innovation[late], rtol=0.0, atol=1e-6 * NOISE
    )
    np.testing.assert_allclose(wide.nis[late], one.nis[late] / 9.0, rtol=1e-4)
    assert np.abs(quick.innovation - one.innovation).max() > 0.1 * NOISE


def test_the_end_of_the_bandwidths_is_told(data: dict[str, np.ndarray]) -> None:
    """Without any force the lowest is the likeliest; with a wrong model a middle one is."""
    samples = stretches(arm(), recording(data), MEANING, 0.7)
    free = suggest(arm(), samples, TURN, NOISE, 30.0, 1.0 / DT, bandwidths=(5.0, 10.0, 20.0))
    assert (free.bandwidth, free.likeliest, free.at_edge) == (30.0, 5.0, True)
    wrong = suggest(
        other(1.5), samples, TURN, NOISE, 30.0, 1.0 / DT, bandwidths=(1.0, 30.0, 400.0)
    )
    assert (wrong.bandwidth, wrong.likeliest, wrong.at_edge) == (30.0, 30.0, False)


def test_correlation_does_not_reach_over_gaps() -> None:
    """Two stretches that are constant within themselves, of opposite sign."""
    x = np.concatenate([np.ones((50, 1)), -np.ones((50, 1))])
    after = np.ones(100, bool)
    after[[0, 50]] = False
    one = np.ones(1)
    found = verdict(Replay(x, np.ones((100, 1)), np.ones(100), after, 1, white(1), one), 0.0)
    assert found.white.first[0] == pytest.approx(1.0)
    assert found.coloured


def test_samples_are_the_first_seconds(data: dict[str, np.ndarray]) -> None:
    given = stretches(arm(), recording(data), MEANING, 0.5)
    assert sum(len(part.time) for part in given) == pytest.approx(500, abs=2)
    np.testing.assert_allclose(given[0].tau_m, data["tau"][: len(given[0].time)], atol=1e-9)
    np.testing.assert_allclose(given[0].phi, data["phi"][: len(given[0].time)], atol=1e-9)


def test_too_short_a_recording_is_told() -> None:
    short = recorded(0.1)
    with pytest.raises(RecordingError, match="record longer"):
        judged(short)


@pytest.mark.parametrize(
    ("noise", "inertia", "code"),
    [
        (NOISE, 1.0, 0),
        (20.0 * NOISE, 1.0, 0),
        (0.2 * NOISE, 1.0, 1),
        (NOISE, 1.5, 1),
        (-1.0, 1.0, 2),
    ],
)
def test_the_command(
    data: dict[str, np.ndarray],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    noise: float,
    inertia: float,
    code: int,
) -> None:
    table, drive = tmp_path / "arm.csv", tmp_path / "arm.yaml"
    drive.write_text(yaml.safe_dump(spoilt(inertia)), encoding="utf-8")
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
    printed = " ".join(capsys.readouterr().out.split())
    first, second = printed.split(
        "with any noise" if inertia > 1.0 else "with the noise that fits"
    )
    assert ("not consistent" in first) is (code == 1)
    assert ("not consistent" in second) is (inertia > 1.0), "a noise proposed passes the test"
    for text in ("NIS by reading", "motor_3", "bandwidth", "is kept"):
        assert text in printed
    assert ("encoder_noise" in second) is (inertia == 1.0)
    assert ("no noise is proposed" in second) is (inertia > 1.0)
    assert ("at lag" in first.split("NIS")[1]) is (inertia > 1.0)
    assert ("too large deviations" in first) is (noise == 20.0 * NOISE)


def test_angles_within_one_turn_and_samples_sent_twice_are_replayed_as_they_were() -> None:
    urdf = (ROBOTS / "elbow.urdf").read_text("utf-8")
    urdf = urdf.replace('name="joint_1" type="revolute"', 'name="joint_1" type="continuous"')
    model = gd.load_model(urdf.encode(), ROBOTS / "elbow.drivetrain.yaml")
    t, q, _, _ = motion(10.0, 200.0)
    q[:, 0] *= 6.0
    wrapped = q.copy()
    wrapped[:, 0] = (q[:, 0] + np.pi) % (2.0 * np.pi) - np.pi
    assert np.abs(np.diff(wrapped, axis=0)).max() > 6.0
    rows = np.arange(len(t))
    rows[100::100] -= 1
    (plain,) = stretches(model, recording_from_arrays(t, q, np.sin(q)), Meaning(), 60.0)
    found = recording_from_arrays(t, wrapped[rows], np.sin(q)[rows])
    (given,) = stretches(model, found, Meaning(), 60.0)
    fresh = np.setdiff1d(np.arange(len(t)), np.arange(100, len(t), 100))
    np.testing.assert_allclose(given.time, t[fresh], atol=1e-9)
    off = given.phi - plain.phi[fresh]
    np.testing.assert_allclose(off - off[0], 0.0, atol=1e-9)
