"""A spring with backlash in both engines of the plants: the law of ``gd.elastic``."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.simulation import mujoco_engine
from geared_dynamics.simulation.equations_engine import EquationsMechanism
from simulated_arms import arm

BACKLASH = 2e-3
LEVER = 1e-4  # beyond the border or before it [rad]
STEP = 1e-7
Q = np.array([0.3, -0.5, 0.8])


def accelerated(engine: str, model: gd.GearedModel, state: gd.State) -> np.ndarray:
    """Mean acceleration of (q, theta) over one short step without motor torque."""
    x, rate = np.concatenate([state.q, state.theta]), np.concatenate([state.v, state.vtheta])
    if engine == "mujoco":
        pytest.importorskip("mujoco")
        mechanism = mujoco_engine.MujocoMechanism(model, STEP, friction=False)
    else:
        mechanism = EquationsMechanism(model, STEP, friction=False)
    mechanism.place(x, rate)
    mechanism.advance(np.zeros(3), np.zeros(3))
    return (mechanism.rate - rate) / STEP


@pytest.mark.parametrize("engine", ["equations", "mujoco"])
@pytest.mark.parametrize("border", [1.0, -1.0])
@pytest.mark.parametrize("beyond", [LEVER, -LEVER])
@pytest.mark.parametrize("leaving", [0.0, 0.01, 1.0, -1.0])
def test_springs_with_backlash(engine: str, border: float, beyond: float, leaving: float) -> None:
    """At both borders, inside and beyond, at rest and as the sides leave each other or meet.

    At 0.01 rad/s the damper takes a part of the spring's force, at 1 rad/s it would be larger:
    then the sides are free.
    """
    model = arm(backlash=BACKLASH, damping=20.0)
    stretch = border * (0.5 * BACKLASH + beyond)
    state = gd.State(Q, np.zeros(3), Q + stretch, np.full(3, -border * leaving))
    law = model.elasticity
    free = gd.elastic.spring_forces(model, state) == 0.0
    assert np.all(free) == (beyond < 0.0 or leaving == 1.0)
    assert np.all(law.damping * 0.01 < law.stiffness * LEVER)
    expected = np.concatenate(gd.elastic.forward_dynamics(model, state, np.zeros(3)))
    found = accelerated(engine, model, state)
    assert np.abs(found - expected).max() < 1e-3 * np.abs(expected).max()
