"""Some cycles before the first real one: kernels compiled, memory reserved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.dynamics.elastic.springs import structure_matrix
from geared_dynamics.nodes.observer.loop import Loop
from geared_dynamics.nodes.observer.sensors import weight
from geared_dynamics.nodes.observer.settings import Prepared
from geared_dynamics.nodes.observer.values import Output, Sensed
from geared_dynamics.observers.rest import at_rest

CYCLES = 50


def rehearse(given: Prepared) -> Output:
    """Observe an arm at rest in its zero posture, then without torques, then without readings.

    A kernel that is compiled when joint states fail first would keep the node from telling so.

    Returns:
        The last output, valid where the readings' prediction is.
    """
    model, loop = given.model, Loop(replace(given, settling=0.0))
    x = at_rest(model, model.motor_zeros)
    phi = structure_matrix(model).T @ x + model.motor_zeros
    shown = np.linalg.pinv(given.angles.turn) @ (phi - given.angles.shift)
    holding = given.holding(weight(model, x[: model.n]))
    torque = np.linalg.pinv(given.torques.turn) @ holding
    enough = max(CYCLES, round(0.2 / given.period))  # for the motors to count as at rest
    for cycle in range(enough + 1):
        time = cycle * given.period
        loop.cycle(time, Sensed(time, shown, None if cycle == enough else torque))
    found = loop.silence(time + 0.9 * given.hold)
    output = loop.output if found is None else found[0]
    _ = output.estimate  # counts torques of the springs
    return output
