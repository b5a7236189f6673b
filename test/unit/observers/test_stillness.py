"""An encoder that shows the same for long: a rotor at rest, or stuck."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.observers.kalman_gains import agility, kalman_gains
from geared_dynamics.observers.smoothness import EMPTY, ReadingHistory
from geared_dynamics.observers.stillness import (
    DOUBT,
    DRIVEN,
    LEAST,
    beyond_load,
    countered,
    cut_short,
    doubted,
    driven,
    held_acceleration,
    joint_motion,
    pulled,
    taken_up,
)
from observer_arms import DT, TURN, rubbing
from simulated_arms import arm

G, RUB, TORQUE = np.array([[8e3]]), np.array([80.0]), 0.01  # 0.01 N m is the friction
COUNT = 40


def standing(torque: np.ndarray, pull: np.ndarray, flicker: int = COUNT) -> ReadingHistory:
    """A reading that stands, but for one instant, under torques and pulls (t,) in frictions."""
    past = EMPTY
    for k, (each, other) in enumerate(zip(torque, pull, strict=True)):
        row = np.array([0.3 + TURN * (k == flicker)])
        past = past.after(
            k * DT, row, np.zeros(1), np.array([each * TORQUE]), np.array([other]) * RUB
        )
    return past


RISE = np.linspace(0.0, 6.0, COUNT)
NONE = np.zeros(COUNT)
CASES = {
    "torque and force": (RISE, -RISE, COUNT, True),
    "a torque that the model's load explains": (RISE, NONE, COUNT, False),
    "a force alone": (NONE, RISE, COUNT, False),
    "within the friction, either way": (RISE / 3.0, -RISE / 3.0, COUNT, False),
    "one step of the encoder shows life": (RISE, -RISE, COUNT - 5, False),
    "up and down again": (3.0 * np.sin(np.pi * RISE / 6.0), -RISE, COUNT, True),
}


@pytest.mark.parametrize("case", CASES)
def test_standing_is_doubted_where_torque_and_force_go_together(case: str) -> None:
    torque, pull, flicker, expected = CASES[case]
    past = standing(torque, pull, flicker)
    found = doubted(past, np.array([0.3]), np.array([True]), G, RUB, DT)
    assert found.any() == expected


def test_where_friction_is_unknown_nothing_is_doubted() -> None:
    past = standing(RISE, -RISE)
    row, same = np.array([0.3]), np.array([True])
    assert not doubted(past, row, same, G, np.array([np.inf]), DT).any()


@pytest.mark.parametrize(
    ("pull", "expected"),
    [(-RISE, True), (-3.0 * RISE, True), (-0.3 * RISE, True), (RISE, False)]
    + [(level - RISE, True) for level in (-60.0, 60.0)]
    + [(level + RISE, False) for level in (-60.0, 60.0)]
    + [(np.roll(-RISE, 9) * (np.arange(COUNT) >= 9), True)]
    + [(9.0 * np.sin(0.8 * np.arange(COUNT) + phase), False) for phase in range(6)],
)
def test_what_the_observer_adds_goes_against_the_torque(pull: np.ndarray, expected: bool) -> None:
    """By more or less, late or from another level; its own errors go up and down as they like."""
    for level in (0.0, -60.0, 60.0):
        past = standing(level + RISE, pull)
        assert countered(past, 0, 0.3, G[0]) == expected


@pytest.mark.parametrize(("count", "least"), [(LEAST - 1, 0.0), (LEAST, 5.0), (30, 29.0)])
def test_a_rotor_has_time_to_answer_a_torque(count: int, least: float) -> None:
    """Of few instants the last four milliseconds do not count; of many all do."""
    past = standing(np.arange(float(count)), np.zeros(count))
    assert driven(past, 0, 0.3, G[0], DT) == pytest.approx(80.0 * least)


def test_what_holds_a_rotor() -> None:
    model, few = rubbing(0.05), np.full(3, 1e-9)
    given = agility(model, np.zeros(3))
    own = held_acceleration(model, given, np.zeros(3), few)
    assert own == pytest.approx(np.abs(given) @ np.full(3, 0.05), rel=1e-3)
    assert held_acceleration(model, given, np.full(3, 0.2), few) == pytest.approx(
        4.0 * own, rel=1e-3
    )
    free = arm()
    given = agility(free, np.zeros(3))
    assert np.all(np.isinf(held_acceleration(free, given, np.zeros(3), few)))
    # A coarse encoder hides what its spring takes within two steps: K / N^2 of 7 deviations.
    step = np.array([1e-2, 0.0, 0.0])
    more = held_acceleration(model, given, np.zeros(3), step) - own
    assert more[0] == pytest.approx(given[0, 0] * 9e3 / 120.0**2 * 7e-2, rel=1e-2)
    assert more[1:] == pytest.approx(np.zeros(2), abs=1e-2)


def loaded(channel: int, load: float) -> tuple[ReadingHistory, float]:
    """A joint held while others move a load that the observer does not know; its friction."""
    model, heavy = rubbing(0.01), rubbing(0.01).with_payload(load, (0.05, 0.0, 0.1))
    given, past = agility(model, np.zeros(3)), EMPTY
    back, A = model.motor_map.inverse, model.motor_map.A
    away, posture = np.where(np.arange(3) == channel, 0.0, 0.5), np.array([0.2, -0.4, 0.6])
    for k in range(64):
        t = 12.0 * k * DT
        q, v, a = posture + away * np.sin(t), 12 * away * np.cos(t), -144 * away * np.sin(t)
        own = gd.inverse_dynamics(model, q, v, a)
        missing = gd.inverse_dynamics(heavy, q, v, a) - own
        torque, pull = back @ (own + missing), -given @ back @ missing
        shown = TURN * np.round(A.T @ q / TURN)
        past = past.after(k * DT, shown, np.zeros(3), torque, pull)
    rub = held_acceleration(model, given, np.full(3, 0.01), np.full(3, 1e-9))
    return past, float(rub[channel])


@pytest.mark.parametrize("channel", [1, 2])
@pytest.mark.parametrize("load", [2.0, 8.0])
def test_what_a_load_does_by_its_motion_counts_for_nothing(channel: int, load: float) -> None:
    past, rub = loaded(channel, load)
    model = rubbing(0.01)
    along, value = agility(model, np.zeros(3))[channel], float(past.rows[-1][channel])
    assert driven(past, channel, value, along, DT) > DRIVEN * rub
    assert pulled(past, channel, value) > DRIVEN * rub
    assert countered(past, channel, value, along)
    assert beyond_load(past, channel, value, along, rub, model) < DOUBT / 4.0 * rub


def test_what_no_load_does_is_left() -> None:
    """The negative controls: a ramp of six levels beside it, and an arm that stands."""
    model = rubbing(0.01)
    past, rub = loaded(1, 2.0)
    given, value = agility(model, np.zeros(3)), float(past.rows[-1][1])
    more = 0.06 * np.clip(np.arange(64) / 8.0 - 4.0, 0.0, 1.0)
    ramp = np.outer(more, [0.0, 1.0, 0.0])
    past = past._replace(
        torques=tuple(np.array(past.torques) + ramp),
        pulls=tuple(np.array(past.pulls) - ramp @ given.T),
    )
    assert beyond_load(past, 1, value, given[1], rub, model) > DOUBT * rub
    still = loaded(1, 2.0)[0]._replace(rows=(past.rows[-1],) * 64)
    least = min(driven(still, 1, value, given[1], DT), pulled(still, 1, value))
    assert beyond_load(still, 1, value, given[1], rub, model) == pytest.approx(least, rel=1e-6)


def lifted(channel: int, torque: np.ndarray, shift: np.ndarray) -> bool:
    """Whether a load explains torques (64, 3) that come beside its own 3 kg, taken up at rest.

    Args:
        channel: The reading that is asked about.
        torque: Levels of friction.
        shift: What the encoders show beside the posture (64, 3) [rad].
    """
    model, posture = rubbing(0.01), np.array([0.2, -0.4, 0.6])
    limits = kalman_gains(model, resolution=TURN, bandwidth=30.0).limits
    back, heavy = model.motor_map.inverse, model.with_payload(3.0, (0.05, 0.0, 0.1))
    more = back @ (gd.gravity_forces(heavy, posture) - gd.gravity_forces(model, posture))
    own, past = back @ gd.gravity_forces(model, posture), EMPTY
    for k in range(64):
        part = np.clip(k / 20.0 - 1.0, 0.0, 1.0)
        shown = TURN * np.round((model.motor_map.A.T @ posture + shift[k]) / TURN)
        given = own + part * more + TORQUE * torque[k]
        past = past.after(k * DT, shown, np.zeros(3), given, np.zeros(3))
    assert np.ptp(np.array(past.torques) @ limits.agility[channel]) > DRIVEN * limits.rub[channel]
    return taken_up(past, limits)


AXIS = np.eye(3)
RAMP = np.clip(np.arange(64) / 8.0 - 4.0, 0.0, 1.0)
NOTHING = np.zeros((64, 3))


@pytest.mark.parametrize("channel", [1, 2])
def test_a_load_taken_up_at_rest_explains_what_it_does_and_no_more(channel: int) -> None:
    """The vertical axis bears no weight; half a level may be friction's."""
    turned = np.outer(RAMP, AXIS[0])
    assert lifted(channel, NOTHING, NOTHING)
    assert lifted(channel, 0.5 * turned, NOTHING)
    assert not lifted(channel, 2.0 * turned, NOTHING)


def test_only_an_arm_that_stands_takes_a_load_up_at_rest() -> None:
    """One that winds its springs up a little stands; one that starts to move does not."""
    start = 0.5 * 2000.0 * (np.maximum(np.arange(64) - 20.0, 0.0) * DT) ** 2
    assert lifted(1, NOTHING, np.outer(2e-3 * RAMP, AXIS[2]))
    assert not lifted(1, NOTHING, np.outer(start, AXIS[2]))


def test_where_a_motors_friction_is_unknown_no_load_is_taken_up() -> None:
    past, _ = loaded(1, 2.0)
    limits = kalman_gains(rubbing(0.01), resolution=TURN, bandwidth=30.0).limits
    past = past._replace(rows=(past.rows[-1],) * 64, torques=(past.torques[-1],) * 64)
    assert taken_up(past, limits)
    assert not taken_up(past, limits._replace(rub=np.array([np.inf, 80.0, 80.0])))


@pytest.mark.parametrize("shown", [1e7, 1e160, -1e300, np.nan])
def test_another_reading_that_is_wrong_is_no_error(shown: float) -> None:
    """The encoder that stands is not named for it."""
    past, rub = loaded(1, 2.0)
    model, rows = rubbing(0.01), [row.copy() for row in past.rows]
    rows[30][2] = shown
    past, value = past._replace(rows=tuple(rows)), float(past.rows[-1][1])
    given = agility(model, np.zeros(3))[1]
    assert beyond_load(past, 1, value, given, rub, model) < DOUBT * rub


@pytest.mark.parametrize(
    ("count", "degree"), [(10, 2), (11, 2), (12, 3), (15, 3), (16, 4), (19, 4), (20, 5), (40, 5)]
)
def test_the_others_motion_is_fitted_with_a_quarter_of_the_instants(
    count: int, degree: int
) -> None:
    """A polynomial of that degree exactly, with its derivatives; no higher one."""
    model, value = rubbing(0.01), 0.3
    times = 0.02 * np.arange(count) + 5.0
    for power in (degree, degree + 1):
        s = (times - 5.0) / 0.02 / count
        rows = np.outer(s**power, [1.0, 0.0, -2.0]) + np.array([0.0, value, 0.5])
        past = EMPTY
        for time, row in zip(times, rows, strict=True):
            past = past.after(time, row, np.zeros(3), np.zeros(3), np.zeros(3))
        found = joint_motion(past, model, count, (1, value))
        assert found is not None
        some, *motion = found
        rate = 1.0 / (0.02 * count)
        for k, given in enumerate(motion):
            factor = rate**k * float(np.prod(power - np.arange(k)))
            shown = np.outer(factor * s ** (power - k), [1.0, 0.0, -2.0])
            if k == 0:
                shown += np.array([0.0, value, 0.5])
            expected = (shown @ model.motor_map.inverse)[some]
            size = np.abs(expected).max()
            assert (np.abs(given - expected).max() < 1e-9 * size) == (power == degree)
    assert joint_motion(past, model, LEAST - 1, (1, value)) is None


@pytest.mark.parametrize(("times", "expected"), [(0.5, False), (1.5, False), (3.0, True)])
def test_friction_needs_time_to_stop_a_rotor(times: float, expected: bool) -> None:
    """A motion that ends from one instant to the next, by so many times what friction takes."""
    limits = kalman_gains(rubbing(0.01), resolution=TURN, bandwidth=30.0).limits
    step = times * limits.rub[1] * DT**2
    shown = step * np.minimum(np.arange(20.0), 10.0)
    past = EMPTY
    for k, value in enumerate(shown):
        row, zero = np.array([0.0, value, 0.0]), np.zeros(3)
        past = past.after(k * DT, row, zero, zero, zero)
    assert cut_short(past, 1, float(shown[-1]), limits, DT) == expected
    assert not cut_short(past, 0, 0.0, limits, DT), "it has stood since the start"
