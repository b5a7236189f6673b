"""Arms and arguments that the observers do not take: place and words of each refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.observers.contacts import whitening
from geared_dynamics.observers.health import Fault, parts
from geared_dynamics.observers.payload_estimate import load_columns
from geared_dynamics.observers.pole_assignment import measured_coordinates
from geared_dynamics.observers.standing import motor_levels
from shafts import URDF, WHEEL
from simulated_arms import arm

ob = gd.observers
MODEL = arm()
Q = np.zeros(3)
SKEWED = np.eye(3) + 2e-9 * np.eye(3, k=1)
GAINS = ob.nonlinear_gains(MODEL, resolution=1e-4)
LIMITS = ob.kalman_gains(MODEL, resolution=1e-4).limits


def twin_motors() -> gd.GearedModel:
    """Two motors that turn one joint through one spring."""
    names = ("m", "second")
    return gd.load_model(
        URDF,
        {
            "version": 1,
            "wheels": dict.fromkeys(names, WHEEL),
            "spins": [{"wheel": name, "joint": "joint", "ratio": 100} for name in names],
            "motors": {name: {"wheel": name} for name in names},
            "joints": {"joint": {"stiffness": 1e4}},
        },
    )


CASES: dict[str, tuple[Callable[[], object], str, str]] = {
    "two motors, one joint": (
        lambda: measured_coordinates(twin_motors()),
        "joints",
        "do not match one to one",
    ),
    "covariance of two": (lambda: whitening(np.eye(2), 3), "covariance", "shape"),
    "covariances": (
        lambda: whitening(np.stack([np.eye(3)] * 3), 3),
        "covariance",
        r"has shape \(3, 3, 3\); give shape \(3, 3\)",
    ),
    "not symmetric": (lambda: whitening(SKEWED, 3), "covariance", "is not symmetric"),
    "singular": (lambda: whitening(np.zeros((3, 3)), 3), "covariance", "not positive definite"),
    "no link": (lambda: load_columns(MODEL, "nowhere", Q, Q, Q), "link", "'nowhere'"),
    "a number as link": (lambda: load_columns(MODEL, 3, Q, Q, Q), "link", "3"),  # type: ignore[arg-type]
    "a link that stands": (lambda: load_columns(MODEL, "base_link", Q, Q, Q), "link", "base_link"),
    "a wheel": (lambda: load_columns(MODEL, "rotor_1", Q, Q, Q), "link", "'rotor_1'"),
    "no gains": (
        lambda: ob.kalman_step(MODEL, None, None, None, 1e-3),  # type: ignore[arg-type]
        "gains",
        "are missing; make the observer with kalman_observer",
    ),
    "a motion without gd.State": (
        lambda: ob.momentum_start(MODEL, ob.Moving((Q, Q), Q)),  # type: ignore[arg-type]
        "moving",
        "has a state of type tuple; give gd.observers.Moving",
    ),
    "a motion beyond all bounds": (
        lambda: ob.contraction(MODEL, GAINS, np.zeros((3, 12)), np.full((3, 3), 1e200), 1e-3),
        r"states[0]",
        "diverges",
    ),
    "time of text": (lambda: parts("1 ms", LIMITS), "dt", "is '1 ms'; give a time"),  # type: ignore[arg-type]
    "friction error": (
        lambda: ob.kalman_gains(MODEL, resolution=1e-4, friction_error=1.001),
        "friction_error",
        "is 1.001; give a fraction from 0 to 1",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str) -> None:
    call, place, words = CASES[case]
    with pytest.raises(gd.GearedDynamicsError, match=words) as caught:
        call()
    assert place in caught.value.place


def test_taken_at_the_border() -> None:
    ob.kalman_gains(MODEL, resolution=1e-4, friction_error=1.0)
    nearly = np.eye(3) + 0.5e-9 * np.eye(3, k=1)
    np.testing.assert_allclose(whitening(4.0 * nearly, 3), 0.5 * np.eye(3), atol=1e-8)
    assert load_columns(MODEL, MODEL.body_names[-1], Q, Q, Q).shape == (3, 10)
    assert (motor_levels(MODEL) >= 0.0).all()


@pytest.mark.parametrize("dt", [0.0, -1e-3, 0.99e-6, np.inf, np.nan])
def test_steps_of_no_length_are_a_fault(dt: Any) -> None:
    assert parts(dt, LIMITS) == (Fault.INTERVAL, 0)


def test_long_steps_are_predicted_in_parts() -> None:
    fault, count = parts(1.01e-6, LIMITS)
    assert (fault, count) == (Fault(0), 1)
    assert parts(LIMITS.hold, LIMITS)[0] == Fault(0)
    assert parts(np.nextafter(LIMITS.hold, 1.0), LIMITS)[0] != Fault(0)
