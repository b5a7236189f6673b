"""Limits that cannot all be met: which are kept, and what is said of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.errors import ArrayError
from shafts import shaft

PLAIN: dict[str, Any] = {"resistance": 1.0, "torque_constant": 0.1}
BRUSHLESS: dict[str, Any] = {
    "kind": "brushless",
    "pole_pairs": 4,
    "resistance": 0.5,
    "inductance": 2e-3,
    "torque_constant": 0.1,
}
VOLTAGE, SPEED = gd.Limit.VOLTAGE, gd.Limit.SPEED
# Motor, its limits, rotor speed: the one torque that is left, and what it does not meet.
ONLY = {
    "current before voltage": (PLAIN, {"voltage": 10, "current": 5}, 300.0, -0.5, VOLTAGE),
    "the other way": (PLAIN, {"voltage": 10, "current": 5}, -300.0, 0.5, VOLTAGE),
    "torque before voltage": (PLAIN, {"voltage": 10, "torque": 0.2}, 300.0, -0.2, VOLTAGE),
    "envelope before voltage": (
        PLAIN,
        {"voltage": 10, "envelope": [[0, 1], [200, 1]]},
        300.0,
        0.0,
        VOLTAGE,
    ),
    # i = -R e / (R^2 + x^2) with e = 2/3 0.1 s and x = 4 s 2e-3 needs the least voltage.
    "the d axis alone": (
        BRUSHLESS,
        {"voltage": 20},
        500.0,
        -0.1 * 0.5 * (500 / 15) / (0.25 + 16.0),
        VOLTAGE,
    ),
}


@pytest.mark.parametrize("keep", ["direction", "each"])
@pytest.mark.parametrize("name", ONLY)
def test_only_one_torque_is_left(name: str, keep: Any) -> None:
    motor, limits, speed, torque, unmet = ONLY[name]
    model = shaft(limits=limits, **motor)
    low, high = gd.torque_range(model, [speed])
    np.testing.assert_allclose([low, high], torque, rtol=1e-12)
    assert low <= high
    wanted = gd.motor_commands(model, [0.0], [speed / 100], [2.0])
    done = gd.saturate(wanted, keep)
    np.testing.assert_allclose(done.torque, torque, rtol=1e-12)
    assert done.unmet == {"m": unmet}
    assert done.limited.all()


def test_least_voltage_is_the_least() -> None:
    """Beyond the reach of the voltage no other current needs less of it."""
    model = shaft(limits={"voltage": 20}, **BRUSHLESS)
    (torque,), _ = gd.torque_range(model, [500.0])
    currents = torque / 0.1 + np.linspace(-1, 1, 201)
    amplitude = np.hypot(0.5 * currents + 500 / 15, 4 * 500 * 2e-3 * currents)
    assert amplitude.argmin() == 100
    assert amplitude[100] > 20


@pytest.mark.parametrize("seed", range(20))
def test_ranges_are_never_inverted(seed: int) -> None:
    """Any motor, limits and speed; the protecting limits hold in all of the range."""
    random = np.random.default_rng(seed)
    motor = BRUSHLESS if seed % 2 else PLAIN
    some = {key: float(random.uniform(1, 20)) for key in ("voltage", "current")}
    model = shaft(limits={**some, "torque": 0.7, "speed": 400.0}, **motor)
    speed = random.uniform(-600, 600, (50, 1))
    low, high = gd.torque_range(model, speed, inductive=random.normal(0, 20, (50, 1)))
    assert np.all(low <= high)
    for end in (low, high):
        assert np.all(np.abs(end) <= min(0.7, 0.1 * some["current"]) * (1 + 1e-12))
        assert np.all(np.where(np.abs(speed) > 400, end * np.sign(speed), 0) <= 0)


def test_unmet_says_speed_and_nothing_else() -> None:
    """A torque that is too large is clipped, a motion that is too fast is not."""
    model = shaft(limits={"speed": 50.0, "torque": 0.1})
    done = gd.saturate(gd.motor_commands(model, [0.0], [1.0], [5.0]))
    assert done.unmet == {"m": SPEED}
    slow = gd.saturate(gd.motor_commands(model, [0.0], [0.1], [5.0]))
    assert slow.unmet == {}
    assert slow.limited.all()


@pytest.mark.parametrize("keep", ["direction", "each"])
def test_nothing_wanted_where_zero_is_excluded(keep: Any) -> None:
    """A torque of exactly 0 has no scale: the motor brakes."""
    model = shaft(limits={"voltage": 10}, **PLAIN)
    for acceleration in (0.0, 1e-300, -1e-3, 1e-3):
        done = gd.saturate(gd.motor_commands(model, [0.0], [3.0], [acceleration]), keep)
        np.testing.assert_allclose(done.torque, -2.0, rtol=1e-12)
        assert done.scale == 1.0
        assert done.unmet == {}


def test_infinity_is_no_current_limit() -> None:
    """``thermal_current`` of motors with and without ``thermal`` goes into ``saturate``."""
    warm = {"thermal": {"continuous_current": 5.0, "time_constant": 30.0}}
    model = shaft(limits=warm, second={**PLAIN, "limits": {"current": 9.0}}, **PLAIN)
    current = gd.thermal_current(model, [1.0, 0.0], 1.0)
    np.testing.assert_array_equal(current, [5.0, np.inf])
    _, high = gd.torque_range(model, [0.0, 0.0], current_limit=current)
    np.testing.assert_allclose(high, [0.5, 0.9])
    wanted = gd.motor_commands(model, [0.0], [0.0], [500.0])
    done = gd.saturate(wanted, "each", current_limit=current)
    np.testing.assert_allclose(done.torque, [0.5, 0.9])


@pytest.mark.parametrize("keep", ["direction", "each"])
def test_one_motor_has_an_inductance_and_the_other_nothing(keep: Any) -> None:
    """What is known of one motor does not depend on the other."""
    first = {**PLAIN, "inductance": 1e-3, "limits": {"current": 1.0}}
    model = shaft(second={"limits": {"torque": 0.1}}, **first)
    wanted = gd.motor_commands(model, [0.0], [1.0], [50.0], jerk=[3.0])
    done = gd.saturate(wanted, keep)
    np.testing.assert_allclose(done.torque, 0.1, rtol=1e-12)
    actuator = gd.dc_actuator(model, "m")
    assert actuator.order == 3
    with pytest.raises(gd.GearedDynamicsError, match=r"motors\.second\.resistance: is not given"):
        gd.dc_actuator(model, "second")


def test_a_current_limit_that_cannot_be_kept() -> None:
    """Without torque constant nobody knows the current; infinity is taken."""
    model = shaft(second={}, **PLAIN)
    for limit in (0.0, 5.0):
        with pytest.raises(ArrayError, match="'second', whose torque constant is unknown"):
            gd.torque_range(model, [0.0, 0.0], current_limit=[5.0, limit])
    low, high = gd.torque_range(model, [0.0, 0.0], current_limit=[5.0, np.inf])
    np.testing.assert_array_equal(high, [0.5, np.inf])
    np.testing.assert_array_equal(low, -high)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"inductive": np.nan}, "inductive: contains NaN"),
        ({"inductive": [1.0, 2.0, 3.0]}, "inductive: has shape"),
        ({"inductive": "much"}, "inductive: is not an array of real numbers"),
        ({"current_limit": [np.nan]}, "current_limit: contains NaN"),
        ({"current_limit": [-1.0]}, "current_limit: is negative"),
        ({"current_limit": 5.0}, "current_limit: has shape"),
        ({"speed": np.zeros((2, 1)), "current_limit": np.ones((3, 1))}, "do not broadcast"),
        ({"speed": np.zeros((2, 1)), "inductive": np.ones((3, 1))}, "do not broadcast"),
    ],
)
def test_bad_ranges(given: dict[str, Any], words: str) -> None:
    model = shaft(limits={"voltage": 10}, **PLAIN)
    with pytest.raises(ArrayError, match=words):
        gd.torque_range(model, **{"speed": [0.0], **given})


def test_one_inductive_voltage_for_all() -> None:
    model = shaft(limits={"voltage": 10}, **PLAIN)
    _, high = gd.torque_range(model, np.zeros((4, 1)), inductive=3.0)
    np.testing.assert_allclose(high, np.full((4, 1), 0.7))


def test_current_limits_by_state() -> None:
    """A limit with more states than the commands gives as many results."""
    model = shaft(**PLAIN)
    wanted = gd.motor_commands(model, [0.0], [0.0], [50.0])
    done = gd.saturate(wanted, current_limit=[[1.0], [2.0], [np.inf]])
    np.testing.assert_allclose(done.torque, [[0.1], [0.2], wanted.torque])
    np.testing.assert_allclose(done.current[:, 0], [1.0, 2.0, wanted.current[0]])
