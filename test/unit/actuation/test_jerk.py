"""The current's derivative from the jerk, against differences along the path; springs."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm, state
from geared_dynamics.errors import ArrayError
from naive.drives import one_ratio_scaled

L = 1.5e-3
# Differences of order eight: f'(0) h = sum of WEIGHTS k f(k h), k = 1..4, odd in k.
WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])


def current_rate(model: gd.GearedModel, path: np.ndarray, h: float = 2e-4) -> np.ndarray:
    """di/dt (m,) at t = 0 on the path q + v t + a t^2/2 + jerk t^3/6, by differences."""
    q, v, a, jerk = path
    t = h * np.concatenate([np.arange(1, 5), -np.arange(1, 5)])[:, None]
    along = gd.motor_commands(
        model,
        q + v * t + a * t**2 / 2 + jerk * t**3 / 6,
        v + a * t + jerk * t**2 / 2,
        a + jerk * t,
    )
    return np.concatenate([WEIGHTS, -WEIGHTS]) @ along.current / h


@pytest.mark.parametrize("seed", range(6))
def test_inductive_voltage(seed: int) -> None:
    """L di/dt is what the jerk adds to the voltage, and to nothing else."""
    model = driven_arm(seed, friction={"viscous": 1e-5, "coulomb": 0.01, "smoothing": 30.0})
    path = 0.5 * state(model, seed, 4)
    steady = gd.motor_commands(model, *path[:3])
    full = gd.motor_commands(model, *path[:3], jerk=path[3])
    np.testing.assert_allclose(full.torque, steady.torque, rtol=1e-11)
    wanted = L * current_rate(model, path)
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(full.voltage - steady.voltage, wanted, atol=1e-6 * scale)
    wrong = gd.motor_commands(one_ratio_scaled(model, 1.01), *path[:3], jerk=path[3])
    assert np.abs(wrong.voltage - full.voltage).max() > 1e-4 * scale


def test_every_term_of_the_friction_moves_the_current() -> None:
    """Stribeck, load, ripple, direction: the whole law, at rotor speeds where all of it acts."""
    model = driven_arm(2)
    path = state(model, 2, 4) * np.array([[1.0], [0.02], [0.3], [1.0]])
    steady = gd.motor_commands(model, *path[:3])
    full = gd.motor_commands(model, *path[:3], jerk=path[3])
    wanted = L * current_rate(model, path, h=1e-4)
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(full.voltage - steady.voltage, wanted, atol=1e-6 * scale)


def test_springs_are_carried() -> None:
    """A torsion spring on a joint takes its force off the motors, and moves the current."""
    plain = driven_arm(1)
    joint = plain.joint_names[1]
    sprung = driven_arm(
        1, balancers={"spring": {"torsion": {"stiffness": 30.0, "preload": 4.0}, "joint": joint}}
    )
    path = state(plain, 1, 4)
    given = gd.balancer_forces(sprung, path[0])
    assert np.flatnonzero(given).tolist() == [1]
    need = gd.inverse_dynamics(plain, *path[:3]) - given
    need = need + gd.friction_forces(plain, path[1], path[0], need)
    with_spring = gd.motor_commands(sprung, *path[:3])
    lossless = gd.motor_torques(plain, need)
    loss_free = with_spring.transmitted_torque + rotor_inertia(plain, path[:3])
    np.testing.assert_allclose(loss_free, lossless, rtol=1e-11, atol=1e-12)
    smooth = {"viscous": 1e-5, "coulomb": 0.01, "smoothing": 30.0}
    spring = {"spring": {"torsion": {"stiffness": 300.0}, "joint": joint}}
    model = driven_arm(1, balancers=spring, friction=smooth)
    full = gd.motor_commands(model, *path[:3], jerk=path[3]).voltage
    steady = gd.motor_commands(model, *path[:3]).voltage
    wanted = L * current_rate(model, path, h=2e-3)
    np.testing.assert_allclose(full - steady, wanted, atol=1e-6 * np.abs(wanted).max())


def rotor_inertia(model: gd.GearedModel, motion: np.ndarray) -> np.ndarray:
    """What the rotors themselves take: the difference of shaft and transmitted torque."""
    commands = gd.motor_commands(driven_arm(1, efficiency={"driving": 1.0}), *motion)
    return np.asarray(commands.shaft_torque - commands.transmitted_torque)


def test_batch_and_errors() -> None:
    """Batches broadcast; a wrong jerk is named."""
    model = driven_arm(0)
    path = state(model, 0, 4)
    batch = gd.motor_commands(model, [path[0], path[1]], path[1], path[2], jerk=path[3])
    one = gd.motor_commands(model, path[0], path[1], path[2], jerk=path[3].tolist())
    np.testing.assert_allclose(batch.voltage[0], one.voltage, rtol=1e-14)
    with pytest.raises(ArrayError, match="jerk"):
        gd.motor_commands(model, *path[:3], jerk=[1.0])
    with pytest.raises(ArrayError, match="jerk"):
        gd.motor_commands(model, *path[:3], jerk=np.full(model.n, np.nan))
