"""An impact against MuJoCo's: rotors as bodies, and a wall whose stiffness grows.

The wall pushes MuJoCo's arm by k times its depth, without damping, which is an elastic impact in
the limit. Velocities and impulses into the rotors are read off MuJoCo's bodies.
"""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import Q, V, planar, wall
from naive.measure import holds

mujoco = pytest.importorskip("mujoco")

from geared_dynamics.simulation.mujoco_engine import MujocoMechanism  # noqa: E402

STIFFNESS = (1e5, 1e6, 1e7)  # [N/m]
STEPS = 6000  # about, of one impact


def struck(model: gd.GearedModel, stiffness: float) -> tuple[np.ndarray, np.ndarray]:
    """Velocity after the impact, and impulses into the rotors (absolute spins)."""
    mass = gd.contact.effective_mass(model, Q, "tip", (1, 0, 0))
    step = np.pi * np.sqrt(mass / stiffness) / STEPS
    bodies = MujocoMechanism(model, step, friction=False)
    bodies.place(Q, V)
    mj, data = bodies.mj, bodies.data
    body = mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_BODY, "two")
    still, jacobian = np.zeros(len(model.motor_names)), np.zeros((3, mj.nv))
    place = wall().point[0]
    mujoco.mj_forward(mj, data)
    before = spins(model, bodies)
    for _ in range(4 * STEPS):
        tip = data.xpos[body] + data.xmat[body].reshape(3, 3) @ [0.4, 0.0, 0.0]
        depth = place - tip[0]
        if depth < 0.0:
            return bodies.rate, model.J * (spins(model, bodies) - before)
        mujoco.mj_jac(mj, data, jacobian, None, tip, body)
        data.qfrc_applied[:] = stiffness * depth * jacobian[0]
        bodies.advance(still, still)
        mujoco.mj_kinematics(mj, data)
        mujoco.mj_comPos(mj, data)
    raise AssertionError("the arm did not come off the wall")


def spins(model: gd.GearedModel, bodies: MujocoMechanism) -> np.ndarray:
    """Absolute spins of the rotors: rotor 2 rides on link 1."""
    return np.asarray(bodies.speed + np.array([0.0, bodies.rate[0]]))


@pytest.mark.parametrize("kind", ["A", "B"])
def test_stiffer_walls_approach_the_impact(kind: str) -> None:
    model = planar(kind, gravity=(0.0, 0.0, 0.0))
    ours = gd.contact.impact(model, wall(), Q, V, 1.0)
    distances, teeth = [], []
    for stiffness in STIFFNESS:
        v, impulses = struck(model, stiffness)
        distances.append(float(np.abs(v - ours.v).max()))
        teeth.append(float(np.abs(impulses / ours.gear_impulse - 1.0).max()))
        print(f"arm {kind}, k {stiffness:.0e}: v off {distances[-1]:.1e}, teeth {teeth[-1]:.1e}")
    # The arm moves on by the impact's duration, which falls with the root of the stiffness.
    assert distances[1] < distances[0] / 2.5
    assert distances[2] < distances[1] / 2.5
    assert holds(f"impact of arm {kind}: velocity off MuJoCo's", distances[-1], 5e-3)
    assert holds(f"impact of arm {kind}: tooth impulses off MuJoCo's", teeth[-1], 1e-2)


def test_the_armature_model_is_further_off() -> None:
    model = planar("B", gravity=(0.0, 0.0, 0.0))
    v, impulses = struck(model, STIFFNESS[-1])
    usual = gd.contact.impact(model.with_coupling("diagonal"), wall(), Q, V, 1.0)
    assert np.abs(v - usual.v).max() > 0.02
    assert np.abs(impulses / usual.gear_impulse - 1.0).max() > 0.015
