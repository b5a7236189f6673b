"""The band of the equations, found in recordings of a simulated arm that are cut up and noisy."""

from __future__ import annotations

import argparse
import importlib
import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from geared_dynamics.analysis.band import (
    Judged,
    chosen,
    differing,
    errors,
    judged_bands,
    lowest_between,
    rows_of,
    sampled_of,
)
from geared_dynamics.analysis.compare import analyze
from geared_dynamics.analysis.identification import Identified, identify
from geared_dynamics.analysis.identification_rows import Settings, together
from geared_dynamics.analysis.parameter_columns import mean_sign
from geared_dynamics.analysis.verdict import judged
from geared_dynamics.apps.cli.identify import show
from geared_dynamics.arrays import Array
from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.recording import Recording, recording_from_arrays
from long_cases import cases
from recorded_motions import elbow, motion, torques, truth

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

from geared_dynamics.recordings.signals import bandwidth

MODEL = elbow()
X = truth(MODEL)


def cut_up(
    rate: float, noise: float, *, counts: int = 0, seed: int = 0, late: float = 0.0
) -> Recording:
    """40 s with 5 % repeated samples, gaps after 2 to 5 s, and noise of positions and torques.

    Torques of the last 15 % are off by ``late`` [N m].
    """
    random = np.random.default_rng(seed)
    t, q, v, a = motion(40.0, rate, seed=seed + 5)
    tau = torques(MODEL, X, q, v, a)
    tau = tau + 0.03 * tau.std(axis=0) * random.normal(size=tau.shape)
    q = q + noise * random.normal(size=q.shape)
    if counts:
        q = np.rint(q * counts / (2.0 * np.pi)) * (2.0 * np.pi) / counts
    for k in np.flatnonzero(random.random(len(t)) < 0.05)[1:]:
        q[k], tau[k] = q[k - 1], tau[k - 1]
    there, at = np.ones(len(t), bool), 0.0
    while at < t[-1]:
        at += random.uniform(2.0, 5.0)
        there &= (t < at) | (t >= at + 0.2)
        at += 0.2
    tau[t > 0.85 * t[-1]] += late
    return recording_from_arrays(t[there], q[there], tau[there])


def held_out(found: Identified) -> Array:
    """Residual of what was held out, over the torque (n,)."""
    return found.residual[3] / found.held_rms


NOISY = {
    "1 kHz, repeated, gaps": cut_up(1000.0, 3e-4),
    "1 kHz, less noise": cut_up(1000.0, 3e-5, seed=1),
    "200 Hz, coarse encoders": cut_up(200.0, 0.0, counts=2000, seed=2),
}


@pytest.mark.parametrize("kind", cases([*NOISY][::2], [*NOISY][1::2]))
def test_the_band_found_predicts_as_well_as_the_best_of_a_grid(kind: str) -> None:
    recording = NOISY[kind]
    found = identify(MODEL, [recording], physical=False)
    assert (held_out(found) < 0.1).all()
    scores = []
    for band in 1.0 * 1.2 ** np.arange(12):
        try:
            one = identify(MODEL, [recording], Settings(bandwidth=5.0 * band), physical=False)
        except RecordingError:  # too few equations in the lowest
            continue
        scores.append(np.exp(np.mean(np.log(held_out(one)))))
    assert np.isfinite(scores).sum() >= 5
    least = np.nanmin(scores)
    assert np.exp(np.mean(np.log(held_out(found)))) <= 1.2 * least
    assert np.nanmax(scores) > 1.5 * least  # control: not any band will do


def test_bands_whose_residual_is_below_a_thousandth_of_the_torque_compare_as_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the benchmark, which divides residuals by the least of its grid."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[3] / "benchmarks"))
    monkeypatch.delitem(sys.modules, "bandwidth", raising=False)
    compared = importlib.import_module("bandwidth").compared
    share = np.array([7e-4, 7e-4, 2e-3, 2e-2, np.nan])
    least = np.array([5e-4, 1e-6, 5e-4, 1e-2, 1e-2])
    assert compared(share, least) == pytest.approx([1.0, 1.0, 2.0, 2.0, np.nan], nan_ok=True)


def test_noise_in_windows_of_any_number_is_no_motion() -> None:
    """One window alone has peaks of six times its median, at all frequencies."""
    for seed in range(5):
        t, q, *_ = motion(3.0, 1000.0, seed=seed)
        random = np.random.default_rng(seed)
        noisy = [q + 2e-4 * random.normal(size=q.shape) for _ in range(1 + seed)]
        assert bandwidth(noisy[0], 1000.0) < 15.0
        assert bandwidth(noisy, 1000.0) < 15.0
    fast = q + 0.02 * np.sin(2.0 * np.pi * 40.0 * t)[:, None]
    assert 100.0 < bandwidth(fast, 1000.0) < 150.0  # control


def test_low_bands_without_motion_are_not_chosen_for_their_small_error() -> None:
    """Of three bands the lowest has the least error of its own, and says nothing of motion."""
    columns = np.random.default_rng(0).normal(size=(3, 5, 200))  # gravity, motion, noise

    def band(keep: float, moving: float, noise: float) -> Judged:
        gravity, motions, rest = columns * np.array([3.0, moving, noise])[:, None, None]
        tables = np.stack([gravity, motions, gravity + motions + rest], axis=-1)
        R = np.stack([np.linalg.qr(table, mode="r") for table in tables])[:, None]
        return Judged(keep, R, np.full((5, 1), 200))

    own = [band(0.3, 1e-5, 0.003), band(2.0, 1.0, 0.02), band(2.8, 1.0, 0.03)]
    logs = errors(own)
    assert logs.shape == (3, 3)
    assert logs[0, 0] < logs[1, 1]  # the lowest has the least error of its own
    assert chosen(own, 2.5).keep == 2.0
    assert chosen(own[:1], 2.5).keep == 0.3


@pytest.mark.parametrize(
    ("noise", "more", "expected"), [(3e-4, 1.4, 8.0), (3e-4, 2.5, 2.0), (3e-3, 1.4, 2.0)]
)
def test_of_bands_that_leave_next_to_nothing_that_of_the_best_parameters_is_chosen(
    noise: float, more: float, expected: float
) -> None:
    """Four times the equations outweigh an error 1.4 times as large below 0.1 % of the torque."""
    columns = np.random.default_rng(2).normal(size=(2, 5, 200))

    def band(keep: float, left: float, count: int) -> Judged:
        motions, rest = columns * np.array([1.0, left])[:, None, None]
        tables = np.stack([motions, motions + rest], axis=-1)
        R = np.stack([np.linalg.qr(table, mode="r") for table in tables])[:, None]
        return Judged(keep, R, np.full((5, 1), count))

    own = [band(2.0, noise, 200), band(4.0, 9.0 * noise, 400), band(8.0, more * noise, 800)]
    own = [own[0], own[0], *own[1:], own[-1]]
    assert chosen(own, 2.5).keep == expected


def test_parts_that_differ_about_the_band_are_reported() -> None:
    """One block of five has a residual in the chosen band that another band does not leave."""
    columns = np.random.default_rng(1).normal(size=(2, 5, 200))

    def band(keep: float, noise: Array) -> Judged:
        motions, rest = columns[0], columns[1] * noise[:, None]
        tables = np.stack([motions, motions + rest], axis=-1)
        R = np.stack([np.linalg.qr(table, mode="r") for table in tables])[:, None]
        return Judged(keep, R, np.full((5, 1), 200))

    usual = 0.02 * np.ones(5)
    once = np.array([1.0, 1.0, 1.0, 1.5, 1.0])
    low, high = band(2.0, usual * once), band(2.9, 1.05 * usual)
    (note,) = differing([low, high], low)
    assert note.startswith("unsure which low-pass cut-off is best: filtered below 2 Hz, part 4 of")
    assert "5 is predicted 1.4" in note
    assert "times worse than below 2.9 Hz." in note
    assert "--bandwidth 14.5 (equations below 2.9 Hz) and compare" in note
    exact = [band(2.0, 0.01 * usual * once), band(2.9, 0.01 * usual)]
    assert differing(exact, exact[0]) == []  # of errors below 0.1 % of the torque
    alike = [band(2.0, usual), high]
    assert differing(alike, alike[0]) == []
    few = [
        Judged(each.keep, each.R, np.where(once > 1.0, 0, 200)[:, None]) for each in (low, high)
    ]
    assert differing(few, few[0]) == []  # no equations there


def test_signs_of_few_samples_are_means_over_their_distance() -> None:
    random = np.random.default_rng(2)
    v, a = random.normal(size=(2, 500)) * [[0.05], [1.0]]
    t = (np.arange(20_000) + 0.5) / 20_000 - 0.5
    expected = np.sign(v[:, None] + a[:, None] * 0.2 * t).mean(axis=-1)
    np.testing.assert_allclose(mean_sign(v, a, 0.2), expected, atol=2e-4)
    np.testing.assert_array_equal(mean_sign(v, a, 0.0), np.sign(v))
    np.testing.assert_array_equal(mean_sign(np.zeros(3), np.array([-1.0, 0.0, 1.0]), 0.2), 0.0)


def test_bands_are_compared_by_equations_as_exact_as_those_of_the_identification(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Samples are thinned before the filter; a jump of friction between them is no noise."""
    t, q, v, a = motion(40.0, 1000.0, seed=11)
    recording = recording_from_arrays(t, q, torques(MODEL, X, q, v, a))
    (reader,) = Settings().readers(MODEL, [recording])
    sampled = sampled_of(reader, Settings(), 1)

    def residual() -> Array:
        rows = together(rows_of(sampled, 1.5))
        return np.asarray((rows.tau - rows.Y @ X).std(axis=0) / rows.tau.std(axis=0))

    left = residual()
    assert (left < 5e-4).all()
    place = "geared_dynamics.analysis.parameter_columns.mean_sign"
    monkeypatch.setattr(place, lambda v, *_: np.sign(v))  # control
    assert (residual() > 4.0 * left).all()


def test_what_is_held_out_does_not_choose() -> None:
    runs = (cut_up(200.0, 1e-5, seed=3, late=late) for late in (0.0, 50.0))
    first, second = (judged_bands(Settings().readers(MODEL, [x]), Settings()) for x in runs)
    assert [band.keep for band in first] == [band.keep for band in second]
    np.testing.assert_allclose(errors(first), errors(second), atol=0.05)
    assert chosen(first, 2.0).keep == chosen(second, 2.0).keep


def test_a_recording_that_cannot_be_judged_says_so() -> None:
    t, q, v, a = motion(8.0, 25.0)
    short, settings = (
        recording_from_arrays(t, q, torques(MODEL, X, q, v, a)),
        Settings(holdout=0.08),
    )
    assert judged_bands(settings.readers(MODEL, [short]), settings) == []
    found = identify(MODEL, [short], settings, physical=False)
    assert "unsure: too few equations to compare bands" in found.notes[0]


def shown(found: Identified) -> str:
    """What the command prints."""
    console = Console(file=io.StringIO(), width=200)
    options = argparse.Namespace(payload=None, validate=None, all=False)
    show(console, found, judged(found), np.zeros(MODEL.n), options)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_residual_near_the_torque_is_never_good() -> None:
    recording = NOISY["1 kHz, repeated, gaps"]
    bad = identify(MODEL, [recording], Settings(bandwidth=400.0, keep=400.0), physical=False)
    bad = replace(bad, solution=bad.solution._replace(condition=10.0))
    assert (bad.residual[1] > 0.9 * bad.rms).any()
    assert bad.unexplained[0].startswith("joint_1")
    assert "poor: the residual is near the torque itself for joint_1" in shown(bad)
    assert shown(bad).startswith("Do not use these parameters: the residual is near the torque")
    good = identify(MODEL, [recording], physical=False)
    assert good.quality == "good"
    assert ": good" in shown(good)


def test_a_cap_is_reported_whatever_found_it() -> None:
    """A motion up to a fifth of the rate: no filter is five times wider."""
    t = np.arange(2000) / 100.0
    phase = np.arange(3)
    w = 2.0 * np.pi * np.array([1.0, 9.0, 19.0])
    parts = [(np.sin(x * t[:, None] + phase), x, 1.0 / x) for x in w]
    q = sum(size * wave for wave, _, size in parts)
    v = sum(size * x * np.cos(x * t[:, None] + phase) for _, x, size in parts)
    a = -sum(size * x**2 * wave for wave, x, size in parts)
    recording = recording_from_arrays(t, q, torques(MODEL, X, q, v, a))
    (note,) = [note for note in analyze(MODEL, recording).notes if note.startswith("unsure")]
    assert "more than 100 Hz allow: 40 Hz is used" in note
    given = analyze(MODEL, recording, bandwidth_hz=30.0)
    assert not [note for note in given.notes if note.startswith("unsure")]


def test_a_band_that_is_given_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "geared_dynamics.analysis.identification_equations.band_found"
    monkeypatch.setattr(place, lambda *_: pytest.fail("searched"))
    given = Settings(bandwidth=20.0)
    for settings in (given, replace(given, keep=3.0), Settings(keep=3.0)):
        found = identify(MODEL, [NOISY["200 Hz, coarse encoders"]], settings, physical=False)
        assert found.equations.bandwidth[1] == (settings.keep or 4.0)


def test_the_lowest_band_that_can_be_judged_is_found_within_five_percent() -> None:
    """Not the first of the grid: there errors may grow faster than bands do."""
    for edge in np.linspace(1.001, 1.2, 9):

        def judged_in(keep: float, edge: float = edge) -> Judged | None:
            return band_at(keep) if keep >= edge else None

        lowest = [*lowest_between(judged_in, 1.0, 1.2), band_at(1.2)][0]
        assert edge <= lowest.keep < 1.05 * edge


def band_at(keep: float) -> Judged:
    """A band without equations."""
    return Judged(keep, np.zeros((0, 0, 0, 0)), np.zeros((0, 0), np.int64))
