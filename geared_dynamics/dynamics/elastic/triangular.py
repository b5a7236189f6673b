"""Which links' equations hear of which shafts, and in what order they can be solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.elastic.equations import coriolis_matrix, mass_matrix
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

# S and the gyroscopic terms are analytic in the posture: they are zero everywhere where they
# are at a few random states. Relative to the shafts' momentum J Gamma_theta.
STATES, NOTHING = 4, 1e-10


def depths(model: GearedModel) -> list[int]:
    """How many shafts, one after the other, must be known before each shaft (n_e,).

    0 where the joint's equation holds no shaft's motion, else one more than the deepest
    shaft in it. Solvable by substitution means that no equation waits for its own shaft.

    Raises:
        ModelError: if S is not strictly triangular in any order of the joints.
    """
    heard = hears(model)
    found: dict[int, int] = {}
    while len(found) < len(heard):
        ready = [
            k
            for k in range(len(heard))
            if k not in found
            and all(other in found for other in np.flatnonzero(heard[k]).tolist())
        ]
        if not ready:
            refuse_circle(model, heard, found)
        level = {
            k: 1 + max([found[j] for j in np.flatnonzero(heard[k]).tolist()], default=-1)
            for k in ready
        }
        found |= level
    return [found[k] for k in range(len(heard))]


def hears(model: GearedModel) -> NDArray[np.bool_]:
    """Whether shaft k's own equation holds the motion of shaft l (n_e, n_e).

    That is, S_jl is not zero, or a force S' brings about with vtheta_l, in a row j that the
    spring of k carries.
    """
    arm, elastic, n = model.with_springs(), model.elasticity, model.n
    rows = elastic.joint
    momentum = np.abs(arm.wheels.inertia[:, None] * arm.wheels.spin[:, n:]).sum(axis=0)
    felt = np.zeros((rows.size, rows.size))
    random = np.random.default_rng(0)
    for q, v in random.uniform(-3.0, 3.0, (STATES, 2, n)):
        H = mass_matrix(model, q)[rows, n:]
        C = coriolis_matrix(model, State(q, v, vtheta=np.zeros(rows.size)))[rows, n:]
        felt = np.maximum(felt, np.maximum(np.abs(H), np.abs(C)))
    return np.asarray(linked(model) @ (felt > NOTHING * momentum) > 0)


def linked(model: GearedModel) -> Array:
    """1 where a link's row enters a shaft's equation through the springs (n_e, n_e)."""
    pull = model.elasticity.stretch[:, model.n :]
    stiffness = pull.T @ (model.elasticity.stiffness[:, None] * pull)
    return np.asarray(np.linalg.inv(stiffness) != 0.0, float)


def refuse_circle(model: GearedModel, heard: NDArray[np.bool_], found: dict[int, int]) -> None:
    """Name the joints whose equations wait for each other."""
    waiting = np.array([k not in found for k in range(len(heard))])
    # What only waits for the circle is peeled off from the other end.
    while True:
        needed = waiting & np.any(heard & waiting[:, None], axis=0)
        if np.array_equal(needed, waiting):
            break
        waiting = needed
    names = [model.joint_names[j] for j in model.elasticity.joint[waiting]]
    several = "one another's shafts" if len(names) > 1 else "its own shaft"
    finding = f"S is not strictly triangular: the links of {', '.join(names)} feel {several}"
    remedy = "take method='expanded', or mount each motor before its joint"
    raise ModelError(f"{model.drivetrain_source}, wheels", finding, remedy)
