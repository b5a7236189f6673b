"""Commands made to fit: torque ranges, saturation, the thermal budget."""

from __future__ import annotations

import math

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm, state
from geared_dynamics.errors import ArrayError, GearedDynamicsError, UnknownNameError

LIMITS = {"voltage": 24.0, "current": 12.0, "torque": 0.6, "speed": 300.0}


def limited(seed: int = 6, **limits: object) -> gd.GearedModel:
    """A driven arm with limits on every motor."""
    return driven_arm(seed, limits=limits or LIMITS)


@pytest.mark.parametrize("keep", ["direction", "each"])
@pytest.mark.parametrize("seed", range(6))
def test_saturated_commands_fit(keep: str, seed: int) -> None:
    """Torque, current and voltage are within the limits, and tight where one binds."""
    model = limited(seed)
    q, v, a = state(model, seed)
    wanted = gd.motor_commands(model, q, 0.5 * v, 30 * a)
    assert wanted.exceeded
    done = gd.saturate(wanted, keep)  # type: ignore[arg-type]
    room = 1 + 1e-12
    slow = np.abs(wanted.speed) <= LIMITS["speed"]
    assert np.all(np.abs(done.torque) <= LIMITS["torque"] * room)
    assert np.all(np.abs(done.current) <= LIMITS["current"] * room)
    reachable = 0.06 * np.abs(wanted.speed) <= LIMITS["voltage"]
    assert np.all(np.abs(done.voltage)[reachable & slow] <= LIMITS["voltage"] * room)
    tight = [
        np.abs(done.torque) / LIMITS["torque"],
        np.abs(done.current) / LIMITS["current"],
        np.abs(done.voltage) / LIMITS["voltage"],
    ]
    assert np.max(tight) > 1 - 1e-9 or not np.all(slow)


def test_direction_is_kept() -> None:
    """One factor for all motors; clipping changes the direction."""
    model = limited(torque=2.0)
    q, v, a = state(model, 1)
    wanted = gd.motor_commands(model, q, 0.1 * v, 20 * a)
    done = gd.saturate(wanted)
    np.testing.assert_allclose(done.torque, done.scale * wanted.torque, rtol=1e-14)
    assert 0 < done.scale < 1
    assert done.limited.all()
    clipped = gd.saturate(wanted, "each")
    assert clipped.scale == 1.0
    assert not clipped.limited.all()
    cosine = clipped.torque @ wanted.torque
    assert cosine < (1 - 1e-6) * np.linalg.norm(clipped.torque) * np.linalg.norm(wanted.torque)


def test_what_fits_is_not_touched() -> None:
    """Commands within their limits come back to the last digit."""
    model = limited(voltage=1e4, current=1e5, torque=1e4, speed=1e5)
    wanted = gd.motor_commands(model, *state(model, 2))
    done = gd.saturate(wanted)
    np.testing.assert_array_equal(done.torque, wanted.torque)
    np.testing.assert_array_equal(done.voltage, wanted.voltage)
    assert done.scale == 1.0
    assert not done.limited.any()


def test_back_emf_above_the_voltage_brakes() -> None:
    """k_e s beyond the voltage limit: the range holds braking torques only."""
    model = limited(voltage=24.0)
    low, high = gd.torque_range(model, np.full(4, 500.0))
    top = 0.06 * (24.0 - 0.06 * 500.0) / 0.8
    np.testing.assert_allclose(high, top, rtol=1e-12)
    assert np.all(high < 0)
    assert np.all(low < high)


def test_beyond_the_speed_limit_nothing_drives_on() -> None:
    """Too fast: torque only against the speed."""
    model = limited(speed=100.0, torque=0.5)
    low, high = gd.torque_range(model, np.array([101.0, -101.0, 99.0, 0.0]))
    np.testing.assert_array_equal(high, [0.0, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(low, [-0.5, 0.0, -0.5, -0.5])


def test_brushless_voltage_counts_both_axes() -> None:
    """(R i + k_e s)^2 + (p s L i)^2 = u_max^2 at the end of the range."""
    model = driven_arm(
        6, kind="brushless", pole_pairs=5, limits={"voltage": 24.0}, torque_constant=0.06
    )
    speed = np.array([0.0, 100.0, -200.0, 300.0])
    low, high = gd.torque_range(model, speed)
    for end in (low, high):
        i = end / 0.06
        amplitude = np.hypot(0.8 * i + 0.04 * speed, 5 * speed * 1.5e-3 * i)
        np.testing.assert_allclose(amplitude, 24.0, rtol=1e-12)


def test_envelope_range() -> None:
    """Straight lines between the points, nothing beyond."""
    model = limited(envelope=[[0.0, 0.9], [300.0, 0.9], [500.0, 0.4]])
    _, high = gd.torque_range(model, np.array([0.0, -300.0, 400.0, 501.0]))
    np.testing.assert_allclose(high, [0.9, 0.9, 0.65, 0.0], rtol=1e-14)


POINTS = [[80.0, 0.9], [300.0, 0.6], [500.0, 0.4]]


def test_the_envelope_is_flat_below_its_first_point() -> None:
    """Commands and ranges against NumPy's interpolation, below, on, between and beyond points."""
    model = limited(envelope=POINTS)
    speeds, torques = np.transpose(POINTS)

    def most(speed: np.ndarray) -> np.ndarray:
        return np.interp(np.abs(speed), speeds, torques, right=0.0)

    speed = np.array([0.0, -40.0, 80.0, 500.0])
    np.testing.assert_allclose(gd.torque_range(model, speed)[1], most(speed), rtol=1e-14)
    q, v, _ = state(model, 3)
    A = model.structure_matrix
    seen = set()
    for shown in (0.0, 10.0, 79.0, 80.5, 200.0, 400.0, 501.0):
        # All motors at one speed, and torques of all sizes.
        v = np.linalg.lstsq(A.T, np.full(4, shown), rcond=None)[0]
        for part in np.geomspace(0.01, 100.0, 200):
            found = gd.motor_commands(model, q, v, part * np.ones(4))
            allowed, size = most(found.speed), np.abs(found.torque)
            told = (found.binding & int(gd.Limit.ENVELOPE)) != 0
            np.testing.assert_array_equal(told, size > allowed)
            near = np.abs(size - allowed) < 0.05
            seen |= {(shown < 80.0, bool(b)) for b in told[near]}
    assert len(seen) == 4


def test_thermal_budget() -> None:
    """A constant current heats like 1 - exp(-t/T); steps add up; the budget is met just so."""
    model = limited(thermal={"continuous_current": 5.0, "time_constant": 30.0})
    current = np.array([0.0, 5.0, 10.0, -10.0])
    once = gd.thermal_step(model, np.zeros(4), current, 12.0)
    rise = 1 - math.exp(-12.0 / 30.0)
    np.testing.assert_allclose(once, (current / 5.0) ** 2 * rise, rtol=1e-14)
    heat = np.zeros(4)
    for _ in range(12):
        heat = gd.thermal_step(model, heat, current, 1.0)
    np.testing.assert_allclose(heat, once, rtol=1e-12)
    peak = gd.thermal_current(model, heat, 4.0)
    np.testing.assert_allclose(gd.thermal_step(model, np.minimum(heat, 1), peak, 4.0), 1.0)
    assert np.all(gd.thermal_current(model, np.full(4, 7.0), 4.0) == 5.0)
    motion = state(model, 0)
    done = gd.saturate(gd.motor_commands(model, *motion), current_limit=0.01 * peak)
    assert np.all(np.abs(done.current) <= 0.01 * peak * (1 + 1e-12))


def test_motors_without_budget_stay_cold() -> None:
    """No thermal data: heat 0, any current."""
    model = limited()
    np.testing.assert_array_equal(gd.thermal_step(model, np.zeros(4), np.full(4, 9.0), 1.0), 0.0)
    np.testing.assert_array_equal(gd.thermal_current(model, np.zeros(4), 1.0), np.inf)


def test_bad_input() -> None:
    """Named errors."""
    model = limited()
    commands = gd.motor_commands(model, *state(model, 0))
    with pytest.raises(UnknownNameError, match="direction"):
        gd.saturate(commands, "directon")  # type: ignore[arg-type]
    with pytest.raises(ArrayError, match="current_limit"):
        gd.saturate(commands, current_limit=[-1.0, 1.0, 1.0, 1.0])
    for dt in (0.0, -1.0, math.nan):
        with pytest.raises(ArrayError, match="time"):
            gd.thermal_step(model, np.zeros(4), np.zeros(4), dt)
    with pytest.raises(ArrayError, match="heat"):
        gd.thermal_step(model, -np.ones(4), np.zeros(4), 1.0)
    with pytest.raises(GearedDynamicsError, match="speed"):
        gd.torque_range(model, np.zeros(3))
