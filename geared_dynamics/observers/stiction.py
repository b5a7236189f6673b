"""Friction at rest as an observer without a reading of it has to count it.

A rotor that stands still tells no more of the torque that its spring puts on it than that
friction holds the difference to the motor's: any number within its level. The laws' levels and
rows are laid out here for ``kernels.observer_friction``, which carries on what that makes wrong.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.dynamics import elastic
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels.observer_layout import GROUPS, HEAD, WINDOWS
from geared_dynamics.model import GearedModel
from geared_dynamics.model.friction import ROTOR_SMOOTHING, FrictionLaws
from geared_dynamics.observers.border import above_zero, each
from geared_dynamics.observers.smoothness import Past

LOOK = 8  # Instants within which an encoder that moves shows it,
STILL = 5.0  # by more than so many deviations of its noise.


def stiction_rows(model: GearedModel, motors: ArrayLike | None, error: float) -> Array:
    """Level, smoothing, share in motion, motor and row over x of each law (p, HEAD + N).

    The motor's number is -1 of a joint's law.

    Args:
        model: Geared model with elastic joints.
        motors: Level of the motors' friction at rest (m,) or one [N m]; None for the model's.
        error: How far friction may be off in motion, as a part of that level.
    """
    n, N = model.n, model.n + model.elasticity.count
    share = above_zero("friction_error", error, "a part of the friction, 0 to 1", zero=True)
    if share > 1.0:
        raise ArrayError("friction_error", f"is {share:g}", "give a part, 0 to 1")
    A = elastic.structure_matrix(model)
    joints, rotors = model.joint_friction, model.motors.friction
    along = np.vstack([joints.multiplier[:, None] * np.eye(n, N)[joints.index], A.T])
    level, smoothing = motor_levels(model), np.full(A.shape[1], ROTOR_SMOOTHING)
    smoothing[rotors.index] = rotors.smoothing
    if motors is not None:
        level = each("stiction", motors, A.shape[1], "a torque [N m]", zero=True)
    levels = np.concatenate([largest(joints), level])
    smooth = np.concatenate([joints.smoothing, smoothing])
    motor = np.concatenate([np.full(joints.count, -1.0), np.arange(A.shape[1])])
    rows = np.column_stack([levels, smooth, np.full(len(levels), share), motor, along])
    return np.asarray(rows[levels > 0.0])


def motor_levels(model: GearedModel) -> Array:
    """Largest level of each motor's friction (m,) [N m], motor side."""
    level, laws = np.zeros(len(model.motor_names)), model.motors.friction
    np.maximum.at(level, laws.index, np.abs(laws.multiplier) * largest(laws))
    return level


def largest(laws: FrictionLaws) -> Array:
    """Largest level of each law, at rest or in motion, either way (k,)."""
    return np.asarray(np.maximum(laws.coulomb, laws.static).max(axis=1, initial=0.0))


def ringing(model: GearedModel, q: Array) -> Array:
    """Frequency of each joint on its springs with the motors at rest (n,) [rad/s].

    sqrt(K_j / M_j) of the diagonals at a posture; 0 of a rigid joint.
    """
    own, n = model.elasticity, model.n
    K = np.diag((own.stretch.T * own.stiffness) @ own.stretch)[:n]
    return np.asarray(np.sqrt(K / np.diag(elastic.mass_matrix(model, q))[:n]))


def passing(stiction: Array, interval: float, age: float, dt: float, moving: BoolArray) -> Array:
    """What the kernel needs beside the step: interval now, whether it begins, and the laws.

    Args:
        stiction: Laws as of ``stiction_rows`` (p, HEAD + N).
        interval: In which the friction at rest is one number [s].
        age: At the end of the step [s].
        dt: Its length [s].
        moving: Which motors' readings are known to move, and any of them (m + 1,): a joint may
            move off where any motor does.
    """
    if not stiction.size:
        return np.zeros(0)
    now, before = int(age / interval), int((age - dt) / interval)
    laws = stiction.copy()
    laws[:, HEAD - 1] = moving[laws[:, HEAD - 1].astype(np.int64)]
    return np.concatenate([[float(now % WINDOWS), float(now != before)], laws.ravel()])


def in_motion(past: Past, noise: Array) -> BoolArray:
    """Which motors' readings are not where they were some instants ago, and any (m + 1,).

    Args:
        past: The last readings, the motors' first.
        noise: Standard deviation of the motors' (m,) [rad].
    """
    m, before = len(noise), past.rows[max(-len(past.rows), -1 - LOOK)]
    found = np.empty(m + 1, bool)
    still = np.abs(past.rows[-1][:m] - before[:m]) <= STILL * noise  # a missing one moves
    np.logical_not(still, out=found[:m])
    found[m] = found[:m].any()
    return found


def no_rows(stiction: Array, size: int) -> Array:
    """Rows of no error yet (GROUPS p k,)."""
    return np.zeros(GROUPS * len(stiction) * size)
