"""Innovations that noise of the encoders explains, and those that it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from geared_dynamics.analysis import innovation_whiteness
from geared_dynamics.analysis.innovation_whiteness import LAGS, autocovariance, bartlett, rounded
from geared_dynamics.analysis.observer_tuning import (
    ReplayedStretch,
    followed,
    gains_of,
    replay,
    suggest,
    verdict,
)
from long_cases import cases
from observer_arms import TURN
from observer_node_arm import DT, URDF, Plant, arm, drives


def lowpass(phi: np.ndarray, cutoff: float) -> np.ndarray:
    """Encoders' angles through a filter of first order."""
    pole, shown = np.exp(-2.0 * np.pi * cutoff * DT), phi.copy()
    for k in range(1, len(phi)):
        shown[k] = pole * shown[k - 1] + (1.0 - pole) * phi[k]
    return shown


def noisy(phi: np.ndarray, noise: Any, seed: int = 3) -> np.ndarray:
    """What encoders show with noise (m,) of their own, and rounding."""
    random = np.random.default_rng(seed)
    return np.asarray(TURN * np.round((phi + noise * random.normal(size=phi.shape)) / TURN))


@pytest.fixture(scope="module")
def smooth() -> dict[str, np.ndarray]:
    """A motion without noise or rounding."""
    plant, rows = Plant(), []
    for _ in range(1500):
        plant.step()
        exact = plant.A.T @ plant.z[: plant.width] + plant.model.motor_zeros
        rows.append((plant.time, exact, plant.tau_m))
    time, phi, tau = zip(*rows, strict=True)
    return {"time": np.array(time), "phi": np.array(phi), "tau": np.array(tau)}


@pytest.fixture(scope="module")
def pushed() -> dict[str, np.ndarray]:
    """A motion with 20 N m on the second joint for a third of a second."""
    plant, rows = Plant(), []
    for k in range(1500):
        plant.push = np.array([0.0, 20.0, 0.0]) * (600 <= k < 900)
        plant.step()
        exact = plant.A.T @ plant.z[: plant.width] + plant.model.motor_zeros
        rows.append((plant.time, exact, plant.tau_m))
    time, phi, tau = zip(*rows, strict=True)
    return {"time": np.array(time), "phi": np.array(phi), "tau": np.array(tau)}


def drives_with(change: str) -> gd.GearedModel:
    """The arm with one thing wrong."""
    found: dict[str, Any] = yaml.safe_load(drives())
    if change == "stiffness":
        found["joints"]["joint_2"]["stiffness"] *= 0.8
    elif change == "friction":
        for motor in found["motors"].values():
            motor["friction"]["coulomb"] = 0.02
    elif change == "ratio":
        found["spins"][1]["ratio"] *= 1.02
    model = gd.load_model(URDF, found)
    return model.with_payload(0.5, (0.0, 0.05, 0.0), link="tip") if change == "mass" else model


@pytest.mark.parametrize("stated", cases([10.0], [0.1, 1.0]))
@pytest.mark.parametrize(
    "wrong",
    ["stiffness", "friction", "ratio", "mass", "torques late", "encoders late", "filter", "push"],
)
def test_what_noise_does_not_explain_gets_no_noise(
    smooth: dict[str, np.ndarray], pushed: dict[str, np.ndarray], wrong: str, stated: float
) -> None:
    """However large the noise is stated: it changes no innovation."""
    shown = pushed if wrong == "push" else smooth
    phi, tau, time = shown["phi"], shown["tau"], shown["time"]
    if wrong == "torques late":
        phi, tau, time = phi[2:], tau[:-2], time[2:]
    elif wrong == "encoders late":
        phi, tau, time = phi[:-2], tau[2:], time[2:]
    elif wrong == "filter":
        phi = lowpass(phi, 60.0)
    given = [ReplayedStretch(time - time[0], noisy(phi, TURN), tau)]
    best = suggest(
        drives_with(wrong), given, TURN, stated * TURN, 10.0, 1.0 / DT, bandwidths=(10.0,)
    )
    assert best.noise is None
    assert not best.verdict.consistent
    assert not best.verdict.careful
    j = int(np.argmax(np.abs(best.verdict.white.largest)))
    assert best.verdict.white.largest[j] > 0.2
    assert best.verdict.white.coloured[j]


def test_what_a_high_bandwidth_follows_as_a_force_shows_at_a_low_one(
    smooth: dict[str, np.ndarray],
) -> None:
    """Torques late by a millisecond: at 80 Hz the noise is right, at 5 Hz none is."""
    phi = noisy(smooth["phi"], TURN)
    late = [ReplayedStretch(smooth["time"][1:], phi[1:], smooth["tau"][:-1])]
    best = suggest(arm(), late, TURN, TURN, 80.0, 1.0 / DT, bandwidths=(5.0, 80.0))
    assert best.coloured == (5.0,)
    assert best.noise is not None
    np.testing.assert_allclose(best.noise, TURN, rtol=0.1)
    exact = [ReplayedStretch(smooth["time"], phi, smooth["tau"])]
    control = suggest(arm(), exact, TURN, TURN, 80.0, 1.0 / DT, bandwidths=(5.0, 80.0))
    assert control.coloured == ()
    assert control.noise is not None


@pytest.mark.parametrize("stated", cases([0.05], [1.0, 20.0]))
@pytest.mark.parametrize("bandwidth", [5.0, 30.0])
@pytest.mark.parametrize("true", [(1.0, 1.0, 1.0), (0.5, 1.0, 4.0), (0.3, 0.3, 0.3)])
def test_each_motors_white_noise_is_found(
    smooth: dict[str, np.ndarray], true: tuple[float, ...], bandwidth: float, stated: float
) -> None:
    """The noise itself, and not what makes the ratio one at a high bandwidth."""
    noise = TURN * np.array(true)
    given = [ReplayedStretch(smooth["time"], noisy(smooth["phi"], noise), smooth["tau"])]
    best = suggest(arm(), given, TURN, stated * TURN, bandwidth, 1.0 / DT, bandwidths=(bandwidth,))
    assert best.noise is not None
    np.testing.assert_allclose(best.noise, noise, rtol=0.1)
    assert best.verdict.consistent
    assert not best.verdict.careful
    _, after = [
        *followed(arm(), gains_of(arm(), TURN, best.noise, bandwidth, 1.0 / DT), given[0])
    ][-1][1:]
    assert after.consistent


def test_noise_alone_makes_the_correlations_that_are_computed(
    smooth: dict[str, np.ndarray],
) -> None:
    """At 80 Hz they are far from white; at 20 Hz they are others."""
    found, time, tau = [], smooth["time"], smooth["tau"]
    for seed in range(4):
        given = [ReplayedStretch(time, noisy(smooth["phi"], TURN, seed), tau)]
        found.append(replay(arm(), gains_of(arm(), TURN, TURN, 80.0, 1.0 / DT), given))
    alone = found[0].alone.sum(axis=2)
    own = np.mean([autocovariance(r.innovation / r.deviation, r.after)[0] for r in found], axis=0)
    np.testing.assert_allclose(own[:6], alone[:6], atol=0.04)
    assert alone[1].max() < -0.1
    other = replay(arm(), gains_of(arm(), TURN, TURN, 20.0, 1.0 / DT), given).alone.sum(axis=2)
    assert np.abs(own[:6] - other[:6]).max() > 0.2, "negative control"


@pytest.mark.parametrize("torque", [0.0, 2e-6])
def test_rounding_without_noise_is_no_colour(torque: float) -> None:
    """A slow motor's encoder shows one step for many samples; so does one at rest."""
    plant, rows = Plant(), []
    hold = plant.tau_m
    for k in range(1200):
        plant.step(hold + torque * np.sin(2e-3 * np.pi * k))
        rows.append((plant.time, plant.phi, plant.tau_m))
    given = [ReplayedStretch(*(np.array(column) for column in zip(*rows, strict=True)))]
    model, gains = arm(), gains_of(arm(), TURN, TURN / 3.0, 10.0, 1.0 / DT)
    found = verdict(replay(model, gains, given), TURN)
    assert np.abs(found.white.first).max() > 0.5
    assert not found.coloured
    assert found.consistent


def test_rounding_explains_less_the_more_noise_there_is() -> None:
    """Against the mean rounding error of many readings at each position."""
    random, place = np.random.default_rng(0), np.linspace(0.0, 1.0, 201)[:-1]
    for noise in (0.0, 0.1, 0.2, 0.3):
        shown = place + noise * random.normal(size=(20_000, len(place)))
        error = np.mean(np.round(shown) - place, axis=0)
        found = rounded(np.array([2.0 * noise]), np.array([2.0]))[0] / 4.0
        assert found == pytest.approx(np.var(error), abs=2e-4, rel=0.02)
    assert rounded(np.array([1.0]), np.array([2.0]))[0] < 1e-3
    assert rounded(np.array([1.0]), np.array([0.0]))[0] == 0.0


def test_a_series_scatters_as_bartlett_says() -> None:
    """Anti-correlated series of many seeds, and white ones."""
    random, k = np.random.default_rng(1), 400
    for part in (0.0, 0.7):
        x = random.normal(size=(k + 1, 3000))
        x = x[1:] - part * x[:-1]
        found = np.array([np.mean(x[lag:] * x[: k - lag], axis=0) for lag in (0, 1, 2, 5)])
        rho = np.zeros(LAGS + 1)
        rho[0], rho[1] = 1.0, -part / (1.0 + part**2)
        spread = np.var(found[1:] / found[0], axis=1) * k
        np.testing.assert_allclose(spread, bartlett(rho)[[0, 1, 4]], rtol=0.12)


def judged(coloured: tuple[float, ...], count: int = 20_000) -> Any:
    """Innovations of unit variance, each with a correlation of its own with the one before."""
    random, m = np.random.default_rng(4), len(coloured)
    e, part = random.normal(size=(count + 1, m)), np.array(coloured)
    x = (e[1:] + part * e[:-1]) / np.sqrt(1.0 + part**2)
    one, after = np.ones(m), np.arange(count) > 0
    return innovation_whiteness.whiteness(
        x, np.ones((count, m)), after, innovation_whiteness.white(m), one, 1e-3 * one
    )


def test_a_colour_that_all_motors_show_is_found_where_none_of_them_shows_enough() -> None:
    """Torques that are late colour all: 0.075 each is a noise that is off by more than one is."""
    found = judged((0.075, 0.075, -0.075))
    assert np.abs(found.largest).max() < innovation_whiteness.SHARE
    assert found.coloured.any()
    assert np.all(found.lag[found.coloured] == 1)
    assert not judged((0.075, 0.0, 0.0)).coloured.any(), "one motor alone: the noise is right"
    assert not judged((0.03, 0.03, 0.03)).coloured.any()
    assert judged((0.15, 0.0, 0.0)).coloured.tolist() == [True, False, False]


def test_chi_squared_far_out_is_the_exact_one_or_a_little_more() -> None:
    """By 10 % at one degree: fewer exact recordings are called coloured."""
    stats = pytest.importorskip("scipy.stats")
    for degrees in (1, 2, 3, 7):
        for likely in (0.999, 1.0 - 2.5e-5):
            exact = stats.chi2.ppf(likely, degrees)
            assert 0.99 * exact < innovation_whiteness.chi_squared(likely, degrees) < 1.1 * exact


@pytest.mark.parametrize("bandwidth", [5.0, 30.0])
def test_few_exact_recordings_are_called_coloured(
    smooth: dict[str, np.ndarray], bandwidth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the statistical bound alone, at 5 % in place of 0.1 %, of 30 at most 5."""
    monkeypatch.setattr(innovation_whiteness, "SHARE", 0.0)
    monkeypatch.setattr(innovation_whiteness, "CHANCE", 0.05)
    gains, called = gains_of(arm(), TURN, TURN, bandwidth, 1.0 / DT), 0
    for seed in range(30):
        phi = noisy(smooth["phi"], TURN, 100 + seed)[:800]
        given = [ReplayedStretch(smooth["time"][:800], phi, smooth["tau"][:800])]
        called += verdict(replay(arm(), gains, given), TURN).coloured
    assert called <= 5


@pytest.mark.parametrize(("size", "told"), [(0.9, False), (1.0, False), (1.1, True), (1.5, True)])
def test_motors_judged_together_are_beyond_where_their_mean_square_is_above_one(
    size: float, told: bool
) -> None:
    """Without scatter the bound is a number that halves exactly: 0.5 of a tenth."""
    least = innovation_whiteness.TOGETHER * innovation_whiteness.SHARE
    beyond = np.full((LAGS, 2), np.sqrt(size) * least if size != 1.0 else least)
    bounds, found = innovation_whiteness.together(beyond, np.zeros((LAGS, 2)), 0.99)
    np.testing.assert_array_equal(bounds, least)
    np.testing.assert_array_equal(found, np.full(LAGS, told))
