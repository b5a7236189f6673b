"""Payload: mass and centre of mass, and how sure they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from observer_arms import DT, TURN, drive, moved
from simulated_arms import arm

ob = gd.observers


@pytest.mark.parametrize("link", ["tip", "link_3"])
def test_a_load_is_found_in_its_links_frame(link: str) -> None:
    bare = arm()
    mass, com = 2.5, np.array([0.02, 0.05, -0.03])
    loaded = bare.with_payload(mass, com, np.zeros((3, 3)), link=link)
    random, state = np.random.default_rng(0), ob.payload_start()
    assert not ob.payload_estimate(state).identifiable
    for _ in range(40):
        q, v, a = random.uniform(-1, 1, (3, 3))
        missing = gd.inverse_dynamics(bare, q, v, a) - gd.inverse_dynamics(loaded, q, v, a)
        state = ob.payload_step(bare, state, link, q, v, a, missing, 0.1)
    found = ob.payload_estimate(state)
    assert found.identifiable
    assert found.mass == pytest.approx(mass, rel=1e-6)
    np.testing.assert_allclose(found.com, com, atol=1e-6)
    assert found.rms < 1e-4, "the forces are those of this load"
    still = ob.payload_start()
    for _ in range(10):
        still = ob.payload_step(bare, still, link, q, 0 * v, 0 * a, missing, 0.5)
    nothing = ob.payload_estimate(still)
    assert not nothing.identifiable
    assert np.isnan(nothing.com).all()
    assert np.isinf(nothing.com_deviation).sum() == 0, "NaN, as the centre is"
    assert np.isnan(nothing.mass) == np.isinf(nothing.mass_deviation)


def test_a_load_on_no_link_is_refused() -> None:
    zero = np.zeros(3)
    for link in ("base_link", "rotor_2", "nowhere", None):
        with pytest.raises(gd.GearedDynamicsError, match=str(link)):
            ob.payload_step(arm(), ob.payload_start(), link, zero, zero, zero, zero, DT)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dt", 0.0),
        ("dt", np.nan),
        ("dt", "a"),
        ("window", -1.0),
        ("window", None),
        ("deviation", "a"),
        ("deviation", [1.0, 2.0]),
        ("deviation", 0.0),
        ("deviation", np.inf),
        ("q", np.zeros((2, 3))),
        ("v", [np.nan, 0.0, 0.0]),
        ("a", "a"),
        ("external", np.zeros((2, 3))),
    ],
)
def test_what_is_none_is_refused(name: str, value: Any) -> None:
    given: dict[str, Any] = {"q": [0.0] * 3, "v": [0.0] * 3, "a": [0.0] * 3}
    given |= {"external": [0.0] * 3, "dt": DT, name: value}
    with pytest.raises(gd.GearedDynamicsError, match=name):
        ob.payload_step(arm(), ob.payload_start(), "tip", **given)


MASS, COM = 2.0, np.array([0.02, 0.05, -0.03])


def loaded() -> gd.GearedModel:
    return arm().with_payload(MASS, COM, np.zeros((3, 3)), link="tip")


def motion(random: np.random.Generator, t: np.ndarray) -> list[np.ndarray]:
    """Position, velocity and acceleration (t, 3) of a random motion."""
    w, phase = 2 * np.pi * random.uniform(0.4, 1.6, 3), random.uniform(0, 6, 3)
    centre, size = random.uniform(-0.8, 0.8, 3), random.uniform(0.2, 0.6, 3)
    turn = np.outer(t, w) + phase
    return [centre + size * np.sin(turn), size * w * np.cos(turn), -size * w**2 * np.sin(turn)]


def observed(seed: int, *, load: bool = True) -> tuple[Any, Any]:
    """Load found from a force as an observer has it, and the same with white noise only.

    The observer's force comes behind the motion by 15 ms, and has noise of its bandwidth and
    wrong friction in it.
    """
    random, dt, bare, heavy = np.random.default_rng(seed), 0.02, arm(), loaded()
    q, v, a = motion(random, dt * np.arange(150))
    missing = gd.inverse_dynamics(bare, q, v, a) - gd.inverse_dynamics(heavy, q, v, a)
    missing = missing if load else 0.0 * missing
    stay, quick = np.exp(-dt / 0.015), np.exp(-2 * np.pi * 10.0 * dt)
    behind, noise, wrong = missing[0], np.zeros(3), random.normal(size=3)
    real, white = ob.payload_start(), ob.payload_start()
    for k in range(len(q)):
        behind = stay * behind + (1.0 - stay) * missing[k]
        noise = quick * noise + np.sqrt(1.0 - quick**2) * random.normal(size=3)
        force = behind + 0.5 * noise + wrong * np.tanh(v[k] / 0.05)
        real = ob.payload_step(bare, real, "tip", q[k], v[k], a[k], force, dt)
        force = missing[k] + 0.5 * random.normal(size=3)
        white = ob.payload_step(bare, white, "tip", q[k], v[k], a[k], force, dt)
    return ob.payload_estimate(real), ob.payload_estimate(white)


def off(found: Any) -> np.ndarray:
    """Errors of mass and centre of mass, each in its standard deviation (4,)."""
    by_mass = (found.mass - MASS) / found.mass_deviation
    return np.abs(np.r_[by_mass, (found.com - COM) / found.com_deviation])


def test_the_uncertainty_is_honest() -> None:
    """True within three standard deviations nearly always, and those not far too wide."""
    runs = [observed(seed) for seed in range(24)]
    for kind in (0, 1):
        errors = np.array([off(run[kind]) for run in runs])
        assert np.mean(errors < 3.0, axis=0).min() >= 0.9
        assert np.mean(np.all(errors < 3.0, axis=1)) >= 0.9
        size = np.sqrt(np.mean(errors**2, axis=0))
        assert size.min() > 0.25, "not more than four times too wide"
    lasting = np.array([run[0].mass_deviation / run[1].mass_deviation for run in runs])
    assert np.median(lasting) > 3.0, "errors that last count for more than white ones"


def test_no_load_is_known_as_none() -> None:
    """The mass is then within its uncertainty, and there is no centre of it."""
    found = [observed(seed, load=False)[0] for seed in range(8)]
    assert np.mean([np.isnan(one.com).all() for one in found]) > 0.8
    assert all(abs(one.mass) < 3.0 * one.mass_deviation for one in found)
    assert all(one.identifiable for one in found)


def test_a_short_window_does_not_tell_how_sure_it_is() -> None:
    random, bare, heavy, state = np.random.default_rng(0), arm(), loaded(), ob.payload_start()
    for _ in range(40):
        q, v, a = random.uniform(-1, 1, (3, 3))
        missing = gd.inverse_dynamics(bare, q, v, a) - gd.inverse_dynamics(heavy, q, v, a)
        state = ob.payload_step(bare, state, "tip", q, v, a, missing, DT)
    found = ob.payload_estimate(state)
    assert found.identifiable
    assert np.isinf(found.mass_deviation)
    assert np.isnan(found.com).all()


@pytest.mark.validate
def test_the_uncertainty_is_honest_with_the_kalman_filter() -> None:
    """Twenty random motions, force and motion of the filter, acceleration by differences."""
    errors = np.array([off(filtered(seed)) for seed in range(20)])
    assert np.mean(errors < 3.0, axis=0).min() >= 0.9
    assert np.sqrt(np.mean(errors**2, axis=0)).min() > 0.25


def filtered(seed: int) -> Any:
    """Load found by the Kalman filter with encoders on the motors alone."""
    random, bare, heavy = np.random.default_rng(seed), arm(), loaded()
    A, gains = gd.elastic.structure_matrix(bare), None
    q = random.uniform(-0.8, 0.8, 3)
    z = np.concatenate([q, q, np.zeros(6)])
    goal, tau_m, state = A.T @ z[:6], np.zeros(3), None
    rate, size = random.uniform(0.4, 1.6, 3), random.uniform(0.3, 0.7, 3)
    gains = ob.kalman_gains(bare, resolution=TURN, noise=0.3 * TURN)
    load, before, a = ob.payload_start(), np.zeros(3), np.zeros(3)
    for k in range(3500):
        shown = A.T @ z[:6] + 0.3 * TURN * random.normal(size=3)
        y = gd.Measurement(TURN * np.round(shown / TURN), tau_m)
        if state is None:
            state = ob.kalman_start(bare, gains, y)
        else:
            state = ob.kalman_step(bare, gains, state, y, DT)
        now = state.mean[6:9]
        a, before = a + 0.1 * ((now - before) / DT - a), now
        if k >= 500 and k % 5 == 0:
            deviation = np.sqrt(np.diag(state.covariance))[12:15]
            force = state.mean[12:15]
            load = ob.payload_step(
                bare, load, "tip", state.mean[:3], now, a, force, 5 * DT, deviation=deviation
            )
        swing = size * np.abs(A).max(0) * np.sin(2 * np.pi * rate * k * DT)
        tau_m = drive(heavy, z, goal + swing)
        z = moved(heavy, z, tau_m, np.zeros(3), parts=2)
    return ob.payload_estimate(load)


@pytest.mark.parametrize("value", [-0.1, np.nan, "a", [1.0, 2.0]])
def test_a_deviation_that_is_none_is_refused(value: Any) -> None:
    zero = np.zeros(3)
    with pytest.raises(gd.GearedDynamicsError, match="acceleration_deviation"):
        ob.payload_step(
            arm(), ob.payload_start(), "tip", zero, zero, zero, zero, DT,
            acceleration_deviation=value,
        )  # fmt: skip


def test_friction_at_rest_is_in_the_uncertainty() -> None:
    """An arm that stands here and there, 1.5 N m of friction each time: no residual shows it."""
    bare, zero, off = arm(), np.zeros(3), []
    loaded = bare.with_payload(2.0, [0.0, 0.05, 0.02], np.zeros((3, 3)), link="tip")
    held = np.array([0.0, 1.5, 0.0])
    for friction in (zero, held):
        random, state = np.random.default_rng(4), ob.payload_start()
        for _ in range(60):
            q = np.array([0.3, 0.4, 0.5]) + random.uniform(-1.0, 1.0, 3)
            found = gd.gravity_forces(bare, q) - gd.gravity_forces(loaded, q) + held
            state = ob.payload_step(
                bare, state, "tip", q, zero, zero, found, 0.1, friction=friction
            )
        load = ob.payload_estimate(state)
        off.append(abs(load.mass - 2.0) / load.mass_deviation)
    assert off[0] > 10.0
    assert off[1] < 3.0
    with pytest.raises(gd.GearedDynamicsError, match="friction"):
        ob.payload_step(bare, state, "tip", q, zero, zero, found, 0.1, friction=-1.0)
