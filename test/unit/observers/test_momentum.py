"""Momentum observer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm, joined
from observer_arms import DT, drive, moved
from simulated_arms import arm

ob = gd.observers
Torque = Callable[[int], Any]
# Forces between instants are means of both ends: off by (w dt)^2 / 12 of a vibration [N m].
CLOSE = 2e-3
SHAKEN = 0.02


def pushed(
    model: gd.GearedModel,
    observer: gd.GearedModel,
    push: np.ndarray,
    steps: int = 250,
    *,
    torque: bool = False,
    more: Torque = lambda k: 0.0,
    speed: float = 0.2,
) -> list[Any]:
    """States of the momentum observer at 1 kHz, with a push on the joints from the start on.

    Args:
        model: The plant.
        observer: The observer's model.
        push: Force on the joints (n,).
        steps: How many.
        torque: Whether the observer has torque sensors.
        more: Torque of the motors beside what holds the arm, over step k.
        speed: Of all coordinates at first.
    """
    n, N = model.n, model.n + model.elasticity.count
    A = gd.elastic.structure_matrix(model)
    q = np.linspace(-0.4, 0.5, n)
    z = np.concatenate([q, model.elasticity.rigid @ q, speed * np.ones(N)])
    goal, tau_m = A.T @ z[:N], np.zeros(len(model.motor_names))
    states: list[Any] = []
    for k in range(steps):
        now = joined(*np.split(z, [n, N, N + n]))
        te = gd.elastic.joint_torque(model, now) if torque else None
        moving = ob.Moving(now, tau_m, te)
        if states:
            states.append(ob.momentum_step(observer, 30.0, states[-1], moving, DT))
        else:
            states.append(ob.momentum_start(observer, moving))
        tau_m = drive(model, z, goal) + more(k)
        z = moved(model, z, tau_m, push, parts=4)
    return states


@pytest.mark.parametrize("seed", [1, 2])
def test_a_push_on_any_arm(seed: int) -> None:
    model = elastic_arm(seed, joints=3, share=0.7, extra=False)
    push = np.array([5.0, -3.0, 4.0])
    state = pushed(model, model, push)[-1]
    np.testing.assert_allclose(state.links(model), push, atol=CLOSE)
    np.testing.assert_allclose(state.whole(model), push, atol=CLOSE)


def test_both_sides_of_the_springs() -> None:
    """A wrong stiffness shows on both sides and not in the whole, nor with a torque sensor."""
    model, soft, push = arm(), arm(factor=0.8), np.array([0.0, 5.0, 0.0])
    wrong = pushed(model, soft, push)[-1]
    assert np.abs(wrong.links(soft) - push).max() > 1.0
    np.testing.assert_allclose(wrong.whole(soft), push, atol=CLOSE)
    right = pushed(model, soft, push, torque=True)[-1]
    np.testing.assert_allclose(right.links(soft), push, atol=CLOSE)
    np.testing.assert_allclose(right.shafts(soft), 0.0, atol=CLOSE)


def test_the_reduced_momentum_is_not_enough() -> None:
    """Negative control: without the coupling of rotors and links, there are false forces."""
    model = elastic_arm(1, joints=3, share=1.0, extra=False)
    push = np.zeros(3)
    complete = pushed(model, model, push, 60)[-1]
    reduced = pushed(model, model.with_elasticity("uncoupled"), push, 60)[-1]
    found, false = complete.links(model), reduced.links(model)
    assert np.abs(false).max() > 10 * np.abs(found).max()


def false_force(more: Torque) -> float:
    """Largest force found on the elbow where there is none [N m]."""
    model = arm()
    states = pushed(model, model, np.zeros(3), 150, more=more, speed=0.0)
    return max(float(np.abs(state.residual).max()) for state in states)


def test_a_step_of_the_motors_torque_is_no_force() -> None:
    """20 N m on a joint, from one millisecond to the next."""
    assert false_force(lambda k: 0.2 * np.array([0.0, 1.0, 0.0]) * (k > 50)) < SHAKEN


def test_a_noisy_motor_torque_is_no_force() -> None:
    """25 N m rms on each joint, new every millisecond."""
    noise = 0.25 * np.random.default_rng(0).normal(size=(150, 3))
    assert false_force(lambda k: noise[k]) < SHAKEN


def test_torque_counts_in_the_step_in_which_it_acts() -> None:
    """Negative control: the torque of the step before gives false forces of tens of N m."""
    model = arm()
    n, still = 3, np.zeros(6)
    z = np.concatenate([np.zeros(6), still])
    tau_m = np.array([0.0, 0.5, 0.0])
    first = ob.momentum_start(model, ob.Moving(joined(*np.split(z, [n, 6, 9])), np.zeros(3)))
    after = joined(*np.split(moved(model, z, tau_m, np.zeros(3), parts=8), [n, 6, 9]))
    right = ob.momentum_step(model, 1e6, first, ob.Moving(after, tau_m), DT)
    late = ob.momentum_step(model, 1e6, first, ob.Moving(after, np.zeros(3)), DT)
    np.testing.assert_allclose(right.residual, 0.0, atol=0.2)
    np.testing.assert_allclose(late.residual - right.residual, [0, 0, 0, 0, 50.0, 0], atol=1e-9)


def resting(**change: Any) -> Any:
    given = {name: np.zeros(3) for name in ("q", "v", "theta", "vtheta", "tau_m")} | change
    state = gd.State(*(given.pop(name) for name in gd.State._fields[:4]))
    return ob.Moving(state, **given)


NAN = np.array([np.nan, 0.0, 0.0])


def test_a_known_force_is_not_external() -> None:
    model, tau = arm(), np.array([0.0, 0.0, 7.0])
    bare = ob.momentum_step(model, 30.0, ob.momentum_start(model, resting()), resting(), DT)
    known = ob.momentum_step(model, 30.0, bare, resting(tau=tau), DT)
    none = ob.momentum_step(model, 30.0, bare, resting(), DT)
    share = 1.0 - np.exp(-2 * np.pi * 30.0 * DT)
    np.testing.assert_allclose(known.residual - none.residual, np.r_[-share * tau, 0, 0, 0])


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_no_time_is_flagged_and_nothing_done(dt: float) -> None:
    model = arm()
    state = pushed(model, model, np.array([1.0, 0.0, 0.0]), 60)[-1]
    after = ob.momentum_step(model, 30.0, state, resting(), dt)
    assert after.valid
    assert after.faults == ob.Fault.INTERVAL
    np.testing.assert_array_equal(after.residual, state.residual)
    if dt != 0.0:  # how long ago the momentum was taken is not known: its difference says nothing
        again = ob.momentum_step(model, 30.0, after, resting(), DT)
        np.testing.assert_array_equal(again.residual, state.residual)
        assert again.valid
        assert again.faults == ob.Fault.INTERVAL
        after = ob.momentum_step(model, 30.0, again, resting(), DT)
        assert after.faults == ob.Fault.NONE
        assert after.silent == 0.0


def test_a_repeated_instant_costs_nothing() -> None:
    model, state = arm(), ob.momentum_start(arm(), resting())
    twice = ob.momentum_step(model, 30.0, state, resting(), 0.0)
    one = ob.momentum_step(model, 30.0, state, resting(tau_m=np.ones(3)), DT)
    two = ob.momentum_step(model, 30.0, twice, resting(tau_m=np.ones(3)), DT)
    np.testing.assert_array_equal(one.residual, two.residual)


def test_a_gap_is_held_invalid_until_started_anew() -> None:
    """A second of free fall is no force; and nothing is believed after it."""
    model = arm()
    state = pushed(model, model, np.array([1.0, 0.0, 0.0]), 60)[-1]
    after = ob.momentum_step(model, 30.0, state, resting(), 1.0)
    assert not after.valid
    assert after.faults == ob.Fault.GAP | ob.Fault.HELD
    later = ob.momentum_step(model, 30.0, after, resting(), DT)
    assert not later.valid
    np.testing.assert_array_equal(later.residual, state.residual)
    assert ob.momentum_step(model, 30.0, state, resting(), 1.0, hold=2.0).valid


@pytest.mark.parametrize("name", ["q", "theta", "v", "vtheta", "tau_m", "tau"])
def test_what_is_missing_is_bridged_for_a_time(name: str) -> None:
    model = arm()
    begun = pushed(model, model, np.array([1.0, 0.0, 0.0]), 60)[-1]
    state = begun
    for _ in range(10):
        state = ob.momentum_step(model, 30.0, state, resting(**{name: NAN}), DT)
    assert state.valid
    assert state.faults == ob.Fault.MISSING
    assert state.silent == pytest.approx(10 * DT)
    np.testing.assert_array_equal(state.residual, begun.residual)
    back = ob.momentum_step(model, 30.0, state, resting(), DT)
    np.testing.assert_array_equal(back.residual, begun.residual)
    assert ob.momentum_step(model, 30.0, back, resting(), DT).faults == ob.Fault.NONE
    for _ in range(45):
        state = ob.momentum_step(model, 30.0, state, resting(**{name: NAN}), DT)
    assert not state.valid
    assert state.faults == ob.Fault.MISSING | ob.Fault.HELD
    assert not ob.momentum_step(model, 30.0, state, resting(), DT).valid


def test_every_second_reading_missing_is_no_silent_hold() -> None:
    """No force is ever found then, and that is said."""
    model, state = arm(), ob.momentum_start(arm(), resting())
    for k in range(60):
        moving = resting(q=NAN) if k % 2 else resting()
        state = ob.momentum_step(model, 30.0, state, moving, DT)
        assert state.faults or k == 0
    assert not state.valid


def test_numbers_of_any_kind_are_numbers() -> None:
    model, state = arm(), ob.momentum_start(arm(), resting())
    wanted = ob.momentum_step(model, 30.0, state, resting(tau_m=[1, 0, 0]), DT).residual
    for bandwidth in (30, np.int64(30), np.float32(30), np.array(30.0)):
        given = ob.momentum_step(model, bandwidth, state, resting(tau_m=[1, 0, 0]), DT)
        np.testing.assert_array_equal(given.residual, wanted)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"bandwidth": 0.0}, "bandwidth: is 0"),
        ({"bandwidth": np.nan}, "bandwidth: is nan"),
        ({"bandwidth": "30"}, "bandwidth: is '30'"),
        ({"bandwidth": [30.0, 30.0]}, "bandwidth"),
        ({"dt": "a"}, "dt: is 'a'"),
        ({"dt": None}, "dt: is None"),
        ({"hold": 0.0}, "hold: is 0"),
        ({"hold": "a"}, "hold: is 'a'"),
        ({"q": "a"}, "q: is not an array"),
        ({"q": np.zeros(2)}, "q: has shape"),
        ({"q": np.zeros((2, 3))}, "q: has shape"),
        ({"tau_m": None}, "tau_m: is not an array"),
        ({"joint_torque": [1.0]}, "joint_torque: has shape"),
        ({"tau": [1.0]}, "tau: has shape"),
    ],
)
def test_what_is_none_is_refused(change: dict[str, Any], says: str) -> None:
    model, state = arm(), ob.momentum_start(arm(), resting())
    given: dict[str, Any] = {"bandwidth": 30.0, "dt": DT, "hold": 0.05}
    moving = resting(**{k: v for k, v in change.items() if k not in given})
    given |= {k: v for k, v in change.items() if k in given}
    with pytest.raises(gd.GearedDynamicsError, match=says):
        ob.momentum_step(model, state=state, moving=moving, **given)


@pytest.mark.parametrize("name", ["q", "theta", "v", "vtheta", "tau_m", "tau"])
def test_a_start_needs_everything(name: str) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=name):
        ob.momentum_start(arm(), resting(**{name: NAN}))
