"""Hard pushes are no faults, faults are found in the midst of them, and lag is told."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.observers.pole_assignment import slower
from geared_dynamics.observers.readings import observed_arm
from geared_dynamics.observers.smoothness import extended, leap, weights
from geared_dynamics.observers.standing import gain_of, law_count, predicted
from long_cases import cases
from observer_arms import DT, TURN, drive, moved
from simulated_arms import arm

ob = gd.observers
Fault = ob.Fault
NOISE = 0.3 * TURN
AT, STEPS = 100, 240  # instants: the push begins, the run ends
PUSHES = [(0, 400.0, 0), (1, 50.0, 5), (1, 400.0, 0), (2, 20.0, 5), (2, 400.0, 0), (2, 400.0, 20)]


@functools.cache
def model() -> gd.GearedModel:
    """The elbow with springs of 9e3, 7e3, 3e3 N m/rad and damping 2."""
    return arm(friction=True)


@functools.cache
def pushed(
    joint: int,
    force: float,
    rise: int,
    moving: float = 0.4,
    posture: tuple[float, ...] = (0.2, -0.4, 0.6),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Motors' angles, their torques and links of a push, ramped over ``rise`` ms.

    In motion to ``moving`` rad and back, from rest where that is zero.
    """
    A = gd.elastic.structure_matrix(model())[3:]
    q = np.array(posture)
    x = q + gd.gravity_forces(model(), q) / [9e3, 7e3, 3e3]
    z = np.concatenate([q, x, np.zeros(6)])
    hold = np.linalg.solve(A, gd.gravity_forces(model(), q))
    centre, swing = A.T @ x, moving * np.abs(A).max(0)
    rows, tau_m = [], hold
    for k in range(STEPS):
        rows.append((A.T @ z[3:6], tau_m, z[:3]))
        tau_m = hold + drive(model(), z, centre + swing * np.sin(5.0 * k * DT) ** 2)
        since = k - AT
        push = force * (since >= 0) * min(1.0, since / rise if rise else 1.0)
        z = moved(model(), z, tau_m, push * (np.arange(3) == joint))
    phi, torque, link = (np.array(column) for column in zip(*rows, strict=True))
    return phi, torque, link


def shown(phi: np.ndarray) -> np.ndarray:
    """What the encoders show (T, m)."""
    random = np.random.default_rng(3)
    return TURN * np.round((phi + NOISE * random.normal(size=phi.shape)) / TURN)


def followed(kind: str, band: float, y: np.ndarray, torque: np.ndarray, **more: Any) -> list[Any]:
    """States along a run."""
    dts = more.get("dts", np.full(len(y), DT))
    make = ob.kalman_gains if kind == "kalman" else ob.nonlinear_gains
    gains: Any = make(model(), resolution=TURN, noise=NOISE, bandwidth=band)
    start = ob.kalman_start if kind == "kalman" else ob.nonlinear_start
    step: Any = ob.kalman_step if kind == "kalman" else ob.nonlinear_step
    states: list[Any] = [start(model(), gains, gd.Measurement(y[0], torque[0]))]
    for row, tau_m, dt in zip(y[1:], torque[1:], dts[1:], strict=True):
        states.append(step(model(), gains, states[-1], gd.Measurement(row, tau_m), dt))
    return states


def flags(states: list[Any]) -> Fault:
    """All faults of the readings."""
    return Fault(int(np.bitwise_or.reduce([s.health.channels[:3] for s in states]).max()))


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize(
    ("kind", "band"), [("kalman", 5.0), ("kalman", 20.0), ("kalman", 60.0), ("nonlinear", 60.0)]
)
def test_a_push_is_no_fault(kind: str, band: float, push: tuple[int, float, int]) -> None:
    phi, torque, link = pushed(*push)
    states = followed(kind, band, shown(phi), torque)
    assert flags(states) == Fault.NONE
    assert all(s.health.valid for s in states)
    off = np.array([np.abs(s.mean[:3] - q).max() for s, q in zip(states, link, strict=True)])
    quiet = np.array([not s.health.behind and s.consistent for s in states])
    # What moves the link within a millisecond or two the motor has not felt yet.
    assert off[60:][quiet[60:]].max() < 3e-3
    if band < 60.0 and push[1] > 100.0:
        assert off.max() > 5e-3, "no lag to be told"


@pytest.mark.parametrize("band", [5.0, 10.0, 20.0])
@pytest.mark.parametrize("push", [(2, 400.0, 0), (2, 400.0, 5), (2, 200.0, 1), (0, 400.0, 0)])
def test_a_slow_nonlinear_observer_follows_a_hard_push(
    push: tuple[int, float, int], band: float
) -> None:
    """It is quick while its correction is large, and as slow as it was tuned before and after."""
    phi, torque, link = pushed(*push)
    states = followed("nonlinear", band, shown(phi), torque)
    assert all(s.health.valid for s in states)
    assert flags(states) == Fault.NONE
    off = np.array([np.abs(s.mean[:3] - q).max() for s, q in zip(states, link, strict=True)])
    assert off.max() < 0.5
    tuned = 2.0 * np.pi * band
    rates = np.array([s.rate for s in states])
    assert np.all(rates[:AT] == tuned)
    assert np.all(off[rates > tuned] > 1e-4), "quick without a cause"


@pytest.mark.parametrize("rise", [0, 1, 5, 20])
@pytest.mark.parametrize("posture", [(0.58, 0.19, 0.6), (0.54, -0.27, 0.21), (-0.18, -0.56, 1.06)])
def test_the_error_in_a_hard_push_does_not_swing_wider(
    posture: tuple[float, ...], rise: int
) -> None:
    """The lightest link bends its spring by 213 mrad at most: no estimate is much farther off."""
    phi, torque, link = pushed(2, 400.0, rise, 0.0, posture)
    states = followed("nonlinear", 5.0, shown(phi), torque)
    off = np.array([np.abs(s.mean[:3] - q).max() for s, q in zip(states, link, strict=True)])
    assert all(s.health.valid for s in states)
    assert off.max() < 0.35
    assert max(s.beyond for s in states) == 0
    assert max(s.rate for s in states) > 2.0 * np.pi * 20.0, "no correction that is large"


def closed(rate: float, part: float) -> float:
    """Largest eigenvalue of the error of an arm in motion with a part of the gain of a rate."""
    gains = ob.nonlinear_gains(model(), resolution=TURN, bandwidth=5.0)
    mean = np.concatenate([[0.2, -0.4, 0.6] * 2, [2.0, -1.5, 3.0] * 2])
    step = predicted(observed_arm(model()), mean, np.zeros(3), np.zeros(3), DT)
    assert step is not None
    still = np.zeros(law_count(model()), bool)
    gain, _ = gain_of(model(), gains.seen, gains.structure, rate, [step], still)
    error = step.whole.copy()
    error[:, :6] -= part * (step.whole @ gain @ gains.seen.inverse @ gains.structure)
    return float(np.abs(np.linalg.eigvals(error)).max())


@pytest.mark.parametrize("rate", [200.0, 400.0])
def test_a_chain_of_four_integrators_needs_its_whole_gain(rate: float) -> None:
    """Why a correction beyond its bounds is not scaled: the gain of a lower rate is stable."""
    assert closed(rate, 1.0) < 1.0
    assert closed(rate, 0.2) > 1.0
    lower = slower(0.0, rate, 5.0)
    assert lower < 0.6 * rate
    assert closed(lower, 1.0) < 1.0


def test_a_correction_of_ordinary_size_leaves_the_rate_as_tuned() -> None:
    """A wrong start of 20 mrad is followed with the poles that were asked for."""
    phi, torque, _ = pushed(1, 50.0, 5)
    gains = ob.nonlinear_gains(model(), resolution=TURN, noise=NOISE, bandwidth=10.0)
    state = ob.nonlinear_start(model(), gains, gd.Measurement(phi[0], torque[0]))
    state = state._replace(mean=state.mean + np.r_[np.full(3, 0.02), np.zeros(9)])
    for row, tau_m in zip(phi[1:AT], torque[1:AT], strict=True):
        state = ob.nonlinear_step(model(), gains, state, gd.Measurement(row, tau_m), DT)
        assert state.rate == gains.rate


def thrown(off: float, speed: float, band: float, joint: int, kind: str) -> list[Any]:
    """States of an observer whose link is off by so much [rad], [rad/s], beside an arm at rest."""
    phi, torque, _ = pushed(1, 0.0, 0, 0.0)
    gains = ob.nonlinear_gains(model(), resolution=TURN, noise=NOISE, bandwidth=band)
    state: Any = ob.nonlinear_start(model(), gains, gd.Measurement(phi[0], torque[0]))
    wrong = state.mean.copy()
    wrong[[joint, 6 + joint]] += off, speed
    state, step = state._replace(mean=wrong), ob.nonlinear_step
    if kind == "redundant":
        state, step = ob.redundant_start(model(), state), ob.redundant_step
    states = []
    for row, tau_m in zip(shown(phi)[1:80], torque[1:80], strict=True):
        state = step(model(), gains, state, gd.Measurement(row, tau_m), DT)
        states.append(state)
    return states


@pytest.mark.parametrize("kind", ["nonlinear", "redundant"])
@pytest.mark.parametrize(
    ("off", "speed", "joint"), [(3.0, 0.0, 1), (1.0, 200.0, 0), (6.0, 100.0, 2)]
)
def test_a_slow_observer_that_does_not_come_back_is_invalid(
    off: float, speed: float, joint: int, kind: str
) -> None:
    """Its corrections stay beyond their bounds even at its tuning's own rate."""
    states = thrown(off, speed, 5.0, joint, kind)
    valid = np.array([s.health.valid for s in states])
    lost = int(np.argmin(valid))
    assert 20 <= lost <= 40
    assert Fault.DIVERGED in states[lost].health.faults
    assert not valid[lost:].any()
    np.testing.assert_array_equal(states[-1].mean, states[lost].mean)


@pytest.mark.parametrize("kind", ["nonlinear", "redundant"])
@pytest.mark.parametrize(
    ("off", "speed", "joint"),
    [(0.05, 0.0, 2), (0.1, 3.0, 2), (0.2, 0.0, 2), (1.0, 0.0, 1), (0.5, 10.0, 2), (2.0, 30.0, 2)],
)
def test_a_slow_observer_that_comes_back_stays_valid(
    off: float, speed: float, joint: int, kind: str
) -> None:
    """The last three were lost while corrections beyond their bounds were scaled."""
    states = thrown(off, speed, 5.0, joint, kind)
    assert all(s.health.valid for s in states)
    assert max(getattr(s, "inner", s).beyond for s in states) == 0
    assert np.abs(states[-1].mean[:3] - [0.2, -0.4, 0.6]).max() < 0.02


def test_corrections_beyond_their_bounds_are_counted_against_the_others() -> None:
    """An arm that is far off makes some, and they are forgotten once it is back."""
    states = thrown(-2.0, -60.0, 5.0, 2, "nonlinear")
    counts = [s.beyond for s in states]
    assert 5 < max(counts) <= 15
    assert counts[-1] == 0
    assert abs(states[-1].mean[2] - 0.6) < 0.02


@pytest.mark.parametrize("at", [70, AT + 4, AT + 15, AT + 60])
@pytest.mark.parametrize("size", cases([3.5e-3, 2 * np.pi], [-3.5e-3, 0.05]))
@pytest.mark.parametrize("push", [(1, 50.0, 5), (2, 400.0, 0)])
@pytest.mark.parametrize(
    ("kind", "band"), [("kalman", 5.0), ("kalman", 30.0), ("nonlinear", 60.0)]
)
def test_a_jump_is_found_in_motion_and_in_a_push(
    kind: str, band: float, push: tuple[int, float, int], size: float, at: int
) -> None:
    """In the second instant at the latest, and never used again."""
    phi, torque, _ = pushed(*push)
    y = shown(phi)
    y[at:, 2] += size
    states = followed(kind, band, y[: at + 40], torque[: at + 40])
    assert flags(states[:at]) == Fault.NONE
    assert all(s.health.channels[2] & Fault.JUMP for s in states[at + 1 :])
    assert not any(s.health.channels[:2].any() for s in states)


@pytest.mark.parametrize("at", [70, AT + 15])
def test_a_jump_that_leaps_back_is_forgotten(at: int) -> None:
    phi, torque, _ = pushed(1, 50.0, 5)
    y = shown(phi)
    y[at : at + 9, 2] += 0.3
    states = followed("kalman", 5.0, y, torque)
    found = [bool(s.health.channels[2] & Fault.JUMP) for s in states]
    assert found == [at <= k < at + 9 for k in range(len(states))]


@pytest.mark.parametrize("kind", ["kalman", "nonlinear"])
def test_a_stuck_encoder_is_found_in_a_push(kind: str) -> None:
    phi, torque, _ = pushed(1, 50.0, 5)
    y = shown(phi)
    at = AT + 20
    assert abs(phi[at + 1, 1] - phi[at, 1]) > 3e-3
    y[at:, 1] = y[at, 1]
    states = followed(kind, 30.0 if kind == "kalman" else 60.0, y[: at + 40], torque[: at + 40])
    assert all(s.health.channels[1] == Fault.STUCK for s in states[at + 1 :])


@pytest.mark.parametrize(("kind", "band"), [("kalman", 60.0), ("kalman", 30.0)])
def test_an_encoder_stuck_at_rest_is_found_once_its_motor_works_against_a_push(
    kind: str, band: float
) -> None:
    """The push alone explains what the others show; that the rotor stays in spite of its motor
    is explained by no friction."""
    phi, torque, _ = pushed(1, 200.0, 5, 0.0)
    y = shown(phi)
    good = followed(kind, band, y, torque)
    assert flags(good) == Fault.NONE
    y[AT - 2 :, 1] = y[AT - 2, 1]
    states = followed(kind, band, y, torque)
    found = np.array([bool(s.health.channels[1] & Fault.STUCK) for s in states])
    assert not found[:AT].any()
    assert np.argmax(found) <= AT + 40
    assert found[np.argmax(found) :].all()
    assert not any(s.health.channels[[0, 2]].any() for s in states)


def test_a_stuck_encoder_is_found_though_a_fast_filter_explains_it() -> None:
    """A filter of 60 Hz takes the motor's torque for a force on the link, and is never far off."""
    phi, torque, _ = pushed(0, 20.0, 5, 0.0)
    y = shown(phi)
    y[AT - 2 :, 0] = y[AT - 2, 0]
    states = followed("kalman", 60.0, y, torque)
    found = np.array([bool(s.health.channels[0] & Fault.STUCK) for s in states])
    assert not found[:AT].any()
    assert found[AT + 60 :].all()
    assert not any(s.health.channels[1:3].any() for s in states)


@pytest.mark.parametrize("kind", ["kalman", "nonlinear"])
def test_a_rotor_that_friction_holds_is_not_stuck(kind: str) -> None:
    """Its torque swings through the friction's level, and the encoder has no noise."""
    phi, torque, _ = pushed(1, 0.0, 0, 0.0)
    still = TURN * np.round(np.repeat(phi[:1], STEPS, axis=0) / TURN)
    level = model().motors.friction.coulomb.max(axis=1)
    swing = 0.9 * level * np.sin(0.1 * np.arange(STEPS))[:, None]
    states = followed(kind, 30.0, still, np.repeat(torque[:1], STEPS, axis=0) + swing)
    assert flags(states) == Fault.NONE


@pytest.mark.parametrize("band", [5.0, 30.0])
@pytest.mark.parametrize("count", [1, 2, 5, 20])
@pytest.mark.parametrize("at", [80, AT - 3, AT + 10])
def test_readings_lost_in_a_push_are_no_jump(at: int, count: int, band: float) -> None:
    phi, torque, _ = pushed(2, 100.0, 5)
    y = shown(phi)
    y[at : at + count, 2] = np.nan
    states = followed("kalman", band, y, torque)
    assert flags(states) == Fault.MISSING
    assert all(s.health.valid for s in states)
    assert flags(states[at + count + 4 :]) == Fault.NONE


@pytest.mark.parametrize("count", [2, 20])
def test_a_turn_lost_with_readings_is_found(count: int) -> None:
    phi, torque, _ = pushed(2, 100.0, 5)
    y, at = shown(phi), AT + 10
    y[at : at + count, 2] = np.nan
    y[at + count :, 2] += 2 * np.pi
    states = followed("kalman", 5.0, y, torque)
    assert all(s.health.channels[2] & Fault.JUMP for s in states[at + count + 4 :][:20])


@pytest.mark.parametrize("push", PUSHES)
def test_uneven_stamps_are_no_jump(push: tuple[int, float, int]) -> None:
    phi, torque, _ = pushed(*push)
    late = np.random.default_rng(1).uniform(-1e-5, 1e-5, len(phi))
    states = followed("kalman", 30.0, shown(phi), torque, dts=DT + np.diff(late, prepend=late[0]))
    assert flags(states) == Fault.NONE


@pytest.mark.parametrize("push", PUSHES)
def test_an_old_reading_is_no_jump(push: tuple[int, float, int]) -> None:
    """Sent twice: left out where it is far behind, and the next one is right."""
    phi, torque, _ = pushed(*push)
    y = shown(phi)
    y[75::16] = y[74:-1:16]
    states = followed("kalman", 30.0, y, torque)
    assert flags(states) in (Fault.NONE, Fault.STUCK)
    assert all(s.health.valid for s in states)


def test_a_cubic_goes_through_its_readings_and_leads_on() -> None:
    times, cubic = (0.1, 0.25, 0.3, 0.5), np.polynomial.Polynomial([1.0, -2.0, 3.0, -4.0])
    assert weights(0.3, times) == pytest.approx((0.0, 0.0, 1.0, 0.0))
    points = [(t, float(cubic(t))) for t in times]
    assert extended(points, 0.9)[0] == pytest.approx(float(cubic(0.9)))
    even = [(t, 0.0) for t in (1.0, 2.0, 3.0, 4.0)]
    assert extended(even, 5.0)[1] == pytest.approx(1.0)
    assert extended(even, 6.0)[1] == pytest.approx(5.0)


@pytest.mark.parametrize("offset", [0.0, 0.3, -2.0])
def test_over_a_pause_a_cubic_shows_its_leap(offset: float) -> None:
    cubic = np.polynomial.Polynomial([1.0, -2.0, 30.0, -40.0])
    before = [(1e-3 * k, float(cubic(1e-3 * k))) for k in range(4)]
    after = [(1e-3 * k, float(cubic(1e-3 * k)) + offset) for k in range(20, 24)]
    found, most = leap(before, after, 1e-6, 1e-3)
    assert found == pytest.approx(offset, abs=1e-9)
    assert (abs(found) > most) == (offset != 0.0)
