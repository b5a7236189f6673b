"""The plant's bodies in MuJoCo against our forward dynamics: the same motion over 2 s.

MuJoCo gets links, rotors and gear wheels as bodies and moves them by its own equations; what
they have in common with ours is the numbers of the files.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm
from naive.measure import holds
from plant_arms import example, hold, tx40
from random_robots import random_robot

pytest.importorskip("mujoco")
integrate = pytest.importorskip("scipy.integrate")

from geared_dynamics.simulation.equations_engine import EquationsMechanism  # noqa: E402
from geared_dynamics.simulation.mujoco_engine import MujocoMechanism  # noqa: E402

SECONDS, SAMPLES = 2.0, 40
STEP = 1e-3  # of MuJoCo's Runge-Kutta scheme [s]
# Largest difference of any joint at any sample [rad]: of MuJoCo's ties, which fall with the
# square of the step, and of its integrator.
CLOSE = {
    "elbow": 1e-7,
    "virtual_link_arm": 1e-7,
    "planetary_2r": 1e-7,
    "tx40": 3e-6,
    "brisk6": 2e-4,  # it falls about, and small differences grow
}


def arms() -> dict[str, gd.GearedModel]:
    """The arms, without friction."""
    return {"tx40": gd.load_model(*tx40())} | {
        name: example(name) for name in ("elbow", "virtual_link_arm", "planetary_2r", "brisk6")
    }


ARMS = arms()


def start(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity at first."""
    q, v = np.random.default_rng(0).uniform(-0.5, 0.5, (2, n))
    return q, v


def ours(model: gd.GearedModel, torque: np.ndarray) -> np.ndarray:
    """Positions at the samples by our forward dynamics, tightly integrated."""
    n, tau = model.n, model.structure_matrix @ torque

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], gd.forward_dynamics(model, y[:n], y[n:], tau)])

    times = np.linspace(0.0, SECONDS, SAMPLES + 1)[1:]
    done = integrate.solve_ivp(
        rates,
        [0.0, SECONDS],
        np.concatenate(start(n)),
        "DOP853",
        t_eval=times,
        rtol=1e-11,
        atol=1e-12,
    )
    return done.y[:n].T


def theirs(model: gd.GearedModel, torque: np.ndarray, step: float = STEP) -> np.ndarray:
    """Positions at the samples by MuJoCo."""
    bodies = MujocoMechanism(model, step, friction=False)
    bodies.place(*start(model.n))
    found, still = [], np.zeros(len(torque))
    for _ in range(SAMPLES):
        for _ in range(round(SECONDS / SAMPLES / step)):
            bodies.advance(torque, still)
        found.append(bodies.x.copy())
    return np.array(found)


@pytest.mark.parametrize("name", ARMS)
def test_same_motion_over_two_seconds(name: str) -> None:
    model = ARMS[name]
    torque = hold(model, start(model.n)[0])
    expected = ours(model, torque)
    moved = np.ptp(expected, axis=0).max()
    apart = np.abs(theirs(model, torque) - expected).max()
    armature = np.abs(ours(model.with_coupling("diagonal"), torque) - expected).max()
    print(f"\nfigure: {name}, 2 s, step 1 ms: MuJoCo {apart:.1e} rad, armature {armature:.1e} rad")
    assert moved > 0.3
    assert holds(f"MuJoCo's bodies, {name}, motion over 2 s", apart, CLOSE[name])
    assert armature > 10.0 * CLOSE[name]
    assert armature > 10.0 * apart


def test_the_difference_falls_with_the_square_of_the_step() -> None:
    model, torque = ARMS["elbow"], hold(ARMS["elbow"], start(3)[0])
    expected = ours(model, torque)
    errors = [np.abs(theirs(model, torque, h) - expected).max() for h in (2e-3, 1e-3, 5e-4)]
    assert np.all(np.divide(errors[:-1], errors[1:]) > 3.0), errors


@pytest.mark.parametrize("spin", [0, 5])
def test_a_ratio_one_percent_off_fails(spin: int) -> None:
    urdf, drives = tx40()
    wrong = copy.deepcopy(drives)
    changed = wrong["spins"][spin]
    if "ratio" in changed:
        changed["ratio"] *= 1.01
    else:
        changed["coefficients"]["joint_5"] *= 1.01
    torque = hold(ARMS["tx40"], start(6)[0])
    expected = ours(ARMS["tx40"], torque)
    assert (
        np.abs(theirs(gd.load_model(urdf, wrong), torque) - expected).max() > 100.0 * CLOSE["tx40"]
    )


def both(model: gd.GearedModel, step: float, seconds: float) -> tuple[float, float]:
    """How far the two mechanisms are apart in the end, and how far they moved."""
    R = model.elasticity.rigid
    q, v = start(model.n)
    x, rate = np.concatenate([q, R @ q]), np.concatenate([v, R @ v])
    torque = np.zeros(len(model.motor_names))
    torque[:1] = 0.05
    ends = []
    for kind in (MujocoMechanism, EquationsMechanism):
        arm: Any = kind(model, step, friction=False)
        arm.place(x, rate)
        for _ in range(round(seconds / step)):
            arm.advance(torque, 0.0 * torque)
        ends.append(arm.x)
    return np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - x).max()


@pytest.mark.parametrize("seed", range(6))
def test_random_robots(seed: int) -> None:
    """Mimic joints, sliding joints, branches, wheels on several joints or inside their links."""
    case = random_robot(
        seed,
        joints=5,
        mimics=seed % 3,
        fixed=2,
        branched=bool(seed % 2),
        massless=False,
        included=seed % 3 == 1,
    )
    apart, moved = both(case.load(), 1e-3, 0.1)
    assert moved > 0.02
    assert apart < 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_random_elastic_arms(seed: int) -> None:
    """Springs on some joints and inside drives, coupled motors."""
    model = elastic_arm(seed, share=0.6 if seed % 2 else 1.0, belts=seed % 3)
    apart, moved = both(model, 1e-4, 0.05)
    assert moved > 0.02
    assert apart < 1e-7


def test_play_of_a_spring() -> None:
    """Backlash, with damping that acts only where the play is used up."""
    model = elastic_arm(3, extra=False)
    law = model.elasticity
    played = copy.copy(model)
    object.__setattr__(played, "elasticity", copy.copy(law))
    object.__setattr__(played.elasticity, "gap", np.full(len(law.gap), 2e-3))
    apart, _ = both(played, 5e-5, 0.05)
    stiff, _ = both(model, 5e-5, 0.05)
    assert apart < 1e-5  # the moments of contact are met to a step
    assert stiff < 1e-7
