"""What motors' encoders cannot tell of an arm at rest: two worlds with the same readings.

A sticking rotor on a spring with a link, integrated here from nothing but Newton and Coulomb, once
left alone and once pushed at its link within what friction takes up. Encoder and motor torque are
the same to the last bit, the links are not: whoever estimates from these readings is wrong by
half of the difference in one of them. That bound is what the filter reaches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import geared_dynamics as gd
from observer_arms import DT, TURN, rubbing

ob = gd.observers
RATIO, STIFFNESS, DAMPING = 80.0, 3e3, 2.0  # of the last joint of the elbow
ROTOR, LINK, WEIGHT = 0.77, 0.19, 6.0  # [kg m^2] at the joint, [N m]
STEP, SECONDS, RAMP = 2e-5, 0.5, 0.3  # [s]
ASKED = 1e-4  # [rad]


class World(NamedTuple):
    """What a motor's encoder shows (t,), what its torque is, and where the link is in the end."""

    encoder: np.ndarray
    torque: np.ndarray
    link: float


def world(coulomb: float, push: float, share: float = 0.9) -> World:
    """A rotor that rests, held by ``share`` of its friction, while its link is pushed.

    Args:
        coulomb: Level of the friction, motor side [N m].
        push: Grows to so many levels.
        share: Of the level that friction holds at the beginning.
    """
    level = RATIO * coulomb
    q, theta, v, rate = 0.3, 0.3 + WEIGHT * np.cos(0.3) / STIFFNESS, 0.0, 0.0
    torque = (STIFFNESS * (theta - q) - share * level) / RATIO
    shown = []
    for k in range(round(SECONDS / STEP)):
        grown = min(k * STEP / RAMP, 1.0)
        outside = push * level * grown**2 * (3.0 - 2.0 * grown)
        spring = STIFFNESS * (theta - q) + DAMPING * (rate - v)
        free = RATIO * torque - spring
        if rate == 0.0 and abs(free) <= level:
            force = free  # sticks
        else:
            force = np.copysign(level, rate if rate else free)
        faster = rate + STEP * (free - force) / ROTOR
        rate = 0.0 if rate * faster < 0.0 else faster  # stops before it turns round
        v += STEP * (spring - WEIGHT * np.cos(q) + outside) / LINK
        theta, q = theta + STEP * rate, q + STEP * v
        shown.append(RATIO * theta)
    encoder = np.array(shown)
    return World(encoder, np.full(len(encoder), torque), q)


@pytest.mark.parametrize("coulomb", [0.01, 0.05, 0.1])
def test_a_resting_rotor_shows_the_same_whatever_holds_its_link(coulomb: float) -> None:
    """No observer from these readings can be within 0.1 mrad in both worlds."""
    alone, pushed = world(coulomb, 0.0), world(coulomb, 1.7)
    assert np.array_equal(alone.encoder, pushed.encoder)
    assert np.array_equal(alone.torque, pushed.torque)
    apart = abs(pushed.link - alone.link)
    assert apart == pytest.approx(1.7 * RATIO * coulomb / STIFFNESS, rel=0.03)
    assert apart / 2.0 > 2.0 * ASKED


def test_a_push_beyond_the_friction_shows() -> None:
    """The negative control: friction takes up two levels, not more."""
    alone, pushed = world(0.01, 0.0), world(0.01, 2.2)
    assert np.abs(pushed.encoder - alone.encoder).max() > 100.0 * TURN


@pytest.mark.parametrize("coulomb", [0.01, 0.05, 0.1])
def test_the_filter_is_as_near_to_both_worlds_as_one_estimate_can_be(coulomb: float) -> None:
    """It is in the middle between them, and its deviations say that either may be true."""
    model = rubbing(coulomb)
    A = gd.elastic.structure_matrix(model)[3:]
    stiffness, level = np.array([9e3, 7e3, 3e3]), np.abs(A) @ np.full(3, coulomb)
    q = np.array([0.2, -0.4, 0.6])
    weight = gd.gravity_forces(model, q)
    theta = q + weight / stiffness
    held = 0.9 * level * np.array([1.0, -1.0, 1.0])
    other = q - 2.0 * held / stiffness  # the spring holds as much more as friction held less
    torque = np.linalg.solve(A, weight + held)
    assert np.all(np.abs(torque - np.linalg.solve(A, stiffness * (theta - other))) <= coulomb)

    observer = ob.kalman_observer(model, resolution=TURN)
    measurement = gd.Measurement(A.T @ theta, torque)
    state = observer.start(measurement)
    for _ in range(500):
        state = observer.step(state, measurement, DT)
    assert state.health.valid
    found, stated = state.mean[:3], state.deviations[:3]
    middle, half = (q + other) / 2.0, np.abs(q - other) / 2.0
    assert np.all(half > ASKED)
    assert np.all(np.abs(found - middle) < 0.05 * half)
    for true in (q, other):
        assert np.all(np.abs(found - true) < 3.0 * stated)
    assert np.all(stated < 1.5 * level / stiffness)
