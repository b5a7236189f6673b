"""Cycles before the first real one: kernels compiled, memory reserved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.dynamics.elastic.equations import structure_matrix
from geared_dynamics.observers.readings import at_rest
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.observer_estimates import ObserverOutput, Sensed, load_of_motors
from geared_dynamics.runtime.observer_loop import ObserverLoop
from geared_dynamics.runtime.observer_settings import ObserverSetup
from geared_dynamics.trajectory import JointTrajectory, Point

OBSERVED = 50  # cycles


def rehearse_feedforward(loop: FeedforwardLoop, cycles: int) -> None:
    """Run cycles of a copy, so that the first real one finds everything in memory.

    Args:
        loop: The loop; it is left as it is.
        cycles: How many.
    """
    n = loop.setup.bare.n
    copy, still = FeedforwardLoop(loop.setup), np.zeros(n)
    rules = loop.setup.rules
    policy = loop.setup.policy
    q = np.clip(still, policy.lower, policy.upper)  # zero may be beyond limits
    rest = [Point(time, q, still, still) for time in (0.1, 9.0)]
    points = JointTrajectory(rules.joints, rest)
    for k in range(cycles):
        now = 1e-3 * (k + 1)
        copy.cycle(now, now, q.copy(), still.copy())
        if k == 0:
            copy.accept(points, now, now)
            copy.contact.rehearse(loop.setup.contact, now)
    copy.unusable(1.0, 1.0, missing=True)
    copy.silence(2.0, 2.0)
    copy.leave("gravity")
    for k in range(3):
        copy.silence(2.0 + 1e-3 * k, 2.0 + 1e-3 * k)
        copy.cycle(2.01 + 1e-3 * k, 2.01 + 1e-3 * k, still.copy(), still.copy())


def rehearse_observer(setup: ObserverSetup) -> ObserverOutput:
    """Observe an arm at rest in its zero posture, then without torques, then without readings.

    A kernel that is compiled when joint states fail first would keep the node from telling so.

    Returns:
        The last output, valid where the readings' prediction is.
    """
    model, loop = setup.model, ObserverLoop(replace(setup, settling=0.0))
    x = at_rest(model, model.motor_zeros)
    phi = structure_matrix(model).T @ x + model.motor_zeros
    shown = np.linalg.pinv(setup.angles.turn) @ (phi - setup.angles.shift)
    holding = setup.holding(load_of_motors(model, x[: model.n]))
    torque = np.linalg.pinv(setup.torques.linear.turn) @ holding
    enough = max(OBSERVED, round(0.2 / setup.period))  # for the motors to count as at rest
    for cycle in range(enough + 1):
        time = cycle * setup.period
        loop.cycle(time, Sensed(time, shown, None if cycle == enough else torque))
    found = loop.silence(time + 0.9 * setup.hold)
    output = loop.output if found is None else found[0]
    _ = output.estimate  # counts torques of the springs
    return output
