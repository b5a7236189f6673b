"""Rests, wrapped angles and missing efforts do not decide what is found."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.compare import analyze
from geared_dynamics.analysis.comparison_numbers import joint_figures
from geared_dynamics.arrays import Array
from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings import spans
from geared_dynamics.recordings.motions import Meaning
from geared_dynamics.recordings.recording import Recording, recording_from_arrays
from geared_dynamics.recordings.spans import MotionReader, found_bandwidth
from recorded_motions import ROBOTS, elbow, motion, torques, truth

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
RATE = 200.0
W = 2.0 * np.pi * np.array([1.5, 2.2, 3.1])


def lively(seconds: float, late: float = 0.0) -> tuple[Array, Array]:
    """Positions of a fast motion that begins from rest, and its torques so much later."""
    t = np.arange(int(seconds * RATE))[:, None] / RATE
    q, *_ = swelling(t, seconds)
    return q, torques(MODEL, truth(MODEL), *swelling(t - late, seconds))


def swelling(t: Array, seconds: float) -> tuple[Array, Array, Array]:
    """0.3 sin^2(w t) sin(W t), and its derivatives."""
    w = np.pi / seconds
    s, c = 0.3 * np.sin(W * t), 0.3 * np.cos(W * t)
    x, dx, ddx = np.sin(w * t) ** 2, w * np.sin(2 * w * t), 2 * w**2 * np.cos(2 * w * t)
    v = dx * s + W * x * c
    return x * s, v, ddx * s + 2 * W * dx * c - W**2 * x * s


def recorded(*parts: tuple[Array, Array]) -> Recording:
    """Parts one after the other, with noise."""
    q, tau = (np.concatenate([part[i] for part in parts]) for i in range(2))
    random = np.random.default_rng(0)
    noisy = q + 1e-5 * random.normal(size=q.shape), tau + 0.1 * random.normal(size=q.shape)
    return recording_from_arrays(np.arange(len(q)) / RATE, *noisy)


def rest(seconds: float) -> tuple[Array, Array]:
    """Positions and torques of an arm that does not move."""
    still = np.zeros((int(seconds * RATE), 3))
    return still, torques(MODEL, truth(MODEL), still, still, still)


@pytest.mark.parametrize("before", [0.0, 350.0])
@pytest.mark.parametrize("late", [0.0, 0.02])
def test_a_rest_before_the_motion_decides_nothing(before: float, late: float) -> None:
    found = analyze(MODEL, recorded(rest(before), lively(60.0, late)))
    assert 40.0 < found.cutoff < 60.0
    np.testing.assert_allclose(found.delays, late, atol=2e-3)


def test_a_short_motion_in_a_long_rest_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "SCORED", 3)  # pieces 0, 10, 20: none has it
    recording = recorded(rest(300.0), lively(15.0), rest(115.0))
    assert recording.reader.pieces == 21
    assert 8.0 < found_bandwidth(MotionReader(MODEL, recording, Meaning())) < 12.0


def continuous() -> gd.GearedModel:
    """The arm with a first joint that turns without end."""
    text = (ROBOTS / "elbow.urdf").read_text("utf-8")
    given = text.replace('name="joint_1" type="revolute"', 'name="joint_1" type="continuous"')
    assert given != text
    return gd.load_model(given.encode(), ROBOTS / "elbow.drivetrain.yaml")


@pytest.mark.parametrize("kind", ["continuous", "revolute"])
def test_wrapped_angles_give_the_same_torques(kind: str) -> None:
    t, *states = motion(400.0, RATE)  # two spans
    q, v, a = (x * [4.0, 1.0, 1.0] for x in states)
    model = continuous() if kind == "continuous" else MODEL
    tau = np.asarray(gd.inverse_dynamics(model, q, v, a))
    wrapped = q.copy()
    wrapped[:, 0] = (q[:, 0] + np.pi) % (2.0 * np.pi) - np.pi
    jumps = int((np.abs(np.diff(wrapped[:, 0])) > np.pi).sum())
    assert jumps > 20
    one, two = (
        analyze(model, recording_from_arrays(t, x, tau), bandwidth_hz=20.0) for x in (q, wrapped)
    )
    for mine, theirs in zip(joint_figures(one), joint_figures(two), strict=True):
        np.testing.assert_allclose(theirs.residual, mine.residual, atol=1e-6)
    (note,) = [note for note in two.notes if "whole turns" in note]
    assert note.startswith(f"joint_1: {jumps} jumps")
    assert ("has limits" in note) == (kind == "revolute")
    assert not [note for note in one.notes if "whole turns" in note]


def test_motors_turns_and_sliding_joints_are_left_as_they_are() -> None:
    t, q, _, a = motion(30.0, RATE)
    phi = 40.0 * q  # more than half a turn between samples is motion of a motor
    found = analyze(
        MODEL, recording_from_arrays(t, phi, a), meaning=Meaning(position="motor"),
        bandwidth_hz=20.0,
    )  # fmt: skip
    assert not [note for note in found.notes if "turns" in note]


def test_a_bandwidth_beyond_the_rate_is_told_and_cut() -> None:
    found = analyze(MODEL, recorded(lively(20.0)), bandwidth_hz=5000.0)
    assert found.cutoff == 80.0
    assert "5000 Hz is more than 200 Hz allow: 80 Hz is used" in " ".join(found.notes)
    assert found.totals.samples == 4000 - 2 * 5  # two periods of 80 Hz at both ends


def test_efforts_that_begin_late_are_kept_and_marked() -> None:
    q, tau = lively(60.0)
    tau[:4200] = np.nan
    found = analyze(MODEL, recorded((q, tau)), bandwidth_hz=20.0)
    assert found.totals.samples == 12000 - 4200 - 40
    assert "4200 samples with NaN" in found.notes[0]


def test_recorded_velocities_must_be_there() -> None:
    t, q, v, a = motion(30.0, RATE)
    with pytest.raises(RecordingError, match=r"has no velocities.*--velocity recorded"):
        analyze(MODEL, recording_from_arrays(t, q, a), velocity="recorded")
    v[:1000] = np.nan
    found = analyze(
        MODEL, recording_from_arrays(t, q, a, v), velocity="recorded", bandwidth_hz=20.0
    )
    assert "1000 samples with NaN" in found.notes[0]


def test_two_publishers_of_the_same_joints_are_named_as_the_cause() -> None:
    t, q, _, a = motion(30.0, RATE)
    both = np.sort(np.concatenate([t, t + 1e-4]))
    twice = recording_from_arrays(both, np.repeat(q, 2, axis=0), np.repeat(a, 2, axis=0))
    with pytest.raises(
        RecordingError, match=r"no 32 consecutive samples.*gaps.*one publisher only"
    ):
        analyze(MODEL, twice)
