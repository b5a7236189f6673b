"""An encoder that was called stuck while its motor stood is believed again once the arm rests.

A link that something holds while its motor pulls looks just so: the torque changes by many times
the friction and nothing moves. When torque and weight agree again with what the encoders show, the
observer starts by itself, and says until the encoder has moved what it does not know.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.observers import Fault
from geared_dynamics.runtime.observer_estimates import Level, ObserverOutput, Sensed
from geared_dynamics.runtime.observer_loop import ObserverLoop
from starved_arm import DT, POSTURE, arm, loop_of

HELD = 3  # the joint that somebody holds
OBSERVERS = pytest.mark.parametrize("observer", ["nonlinear", "kalman"])


class Rest(NamedTuple):
    """What an arm at rest shows, the torques that hold it, the levels of friction (m,)."""

    shown: np.ndarray
    held: np.ndarray
    level: np.ndarray


def rest() -> Rest:
    model = arm()
    A = gd.elastic.structure_matrix(model)[model.n :]
    weight = gd.gravity_forces(model, POSTURE)
    shown = A.T @ (POSTURE + weight / model.elasticity.stiffness) + model.motor_zeros
    return Rest(
        4.8e-5 * np.round(shown / 4.8e-5),
        np.linalg.solve(A, weight),
        model.motors.friction.coulomb.max(axis=1),
    )


def run(
    loop: ObserverLoop, begin: int, times: list[float], moved: float = 0.0
) -> list[ObserverOutput]:
    """What the loop says while motor HELD gives so many levels more than holds the arm."""
    still, found = rest(), []
    for k, more in enumerate(times, start=begin):
        one = np.arange(6) == HELD
        positions = still.shown + moved * one
        torques = still.held + more * still.level * one
        found.append(loop.cycle(k * DT, Sensed(k * DT, positions, torques)))
    return found


def push() -> list[float]:
    """Twenty levels up within 40 ms, and down again later."""
    return [*np.linspace(0.0, 20.0, 40), *([20.0] * 160), *np.linspace(20.0, 0.0, 40)]


def called_stuck(observer: str) -> ObserverLoop:
    """A loop that has lost its estimate so."""
    loop = loop_of(observer, 30.0)
    assert run(loop, 0, [0.0] * 300)[-1].level is Level.GOOD
    outputs = run(loop, 300, push())
    assert any(Fault.STUCK in output.faults for output in outputs)
    assert outputs[-1].level is Level.INVALID
    return loop


@OBSERVERS
def test_it_is_believed_again_when_the_arm_rests(observer: str) -> None:
    loop = called_stuck(observer)
    outputs = run(loop, 540, [0.5] * 500)
    assert outputs[-1].level is Level.DEGRADED
    assert "stuck" in outputs[-1].why
    assert outputs[-1].moved is not None
    assert np.abs(outputs[-1].moved.mean[:6] - POSTURE).max() < 1e-3
    outputs = run(loop, 1040, [0.0] * 20, moved=4.8e-5)
    assert outputs[-1].level is Level.GOOD, "one step shows that it lives"


def test_not_while_the_torque_is_not_that_of_rest() -> None:
    """The negative control: three levels more than holds the arm."""
    loop = called_stuck("nonlinear")
    outputs = run(loop, 540, [3.0] * 400)
    assert {output.level for output in outputs} == {Level.INVALID}
    assert outputs[-1].why == "an encoder is stuck"


def test_a_reset_forgets_it() -> None:
    loop = called_stuck("nonlinear")
    loop.reset()
    assert run(loop, 540, [0.0] * 400)[-1].level is Level.GOOD
