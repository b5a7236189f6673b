"""Some cycles before the first real one: kernels compiled, memory reserved."""

from __future__ import annotations

import numpy as np

from geared_dynamics.dynamics.elastic.springs import structure_matrix
from geared_dynamics.nodes.observer.loop import Loop
from geared_dynamics.nodes.observer.settings import Prepared
from geared_dynamics.nodes.observer.values import Sensed
from geared_dynamics.observers.rest import at_rest

CYCLES = 50


def rehearse(given: Prepared) -> None:
    """Observe an arm at rest in its zero posture."""
    model, loop = given.model, Loop(given)
    x = at_rest(model, model.motor_zeros)
    phi = structure_matrix(model).T @ x + model.motor_zeros
    shown = np.linalg.pinv(given.angles.turn) @ (phi - given.angles.shift)
    torque = np.zeros(given.torques.turn.shape[1])
    for cycle in range(CYCLES):
        time = cycle * given.period
        loop.cycle(time, Sensed(time, shown, torque))
