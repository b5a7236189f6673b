"""Friction with its jump at zero: what sticks, and what a step has stopped.

At rest a joint's friction is any force between its two breakaway levels, and a gear's
loss any torque between those of its two directions: with m > 0 what enters the gear lies
between m eta_b and m / eta_d. A gear with eta_b <= 0 therefore holds any load at rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.batch import check_results, joint_inputs, motor_inputs, one_state
from geared_dynamics.actuation.motion import BAND, limit_of, motion_at
from geared_dynamics.actuation.plant import joint_elements, rotor_elements, rough, warn_if_elastic
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.model import GearedModel


class Sticking(NamedTuple):
    """What moves and what rests under given torques.

    Attributes:
        a: Joint acceleration (n,).
        transmitted: Torque that each gear transmits (m,) [N m], motor side. Where a joint and
            its rotor rest together it is one of the possible ones.
        joints: Names of the coordinates that joint friction holds.
        motors: Names of the motors that rotor friction or the gear holds.
    """

    a: Array
    transmitted: Array
    joints: tuple[str, ...]
    motors: tuple[str, ...]


def sticking(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    torque: ArrayLike,
    *,
    external: ArrayLike | None = None,
    band: float = BAND,
) -> Sticking:
    """Say what sticks under given torques, and what the rest does: exact friction.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        torque: Electromagnetic torque of each motor (m,) [N m].
        external: Joint force from outside (n,) [N m or N].
        band: Rate within which a joint or a rotor is at rest, in its own units.

    Raises:
        ModelError: naming the motor whose gear jams.
    """
    inputs = joint_inputs(model, q=q, v=v, external=external)
    warn_if_elastic(model, "sticking")
    inputs |= motor_inputs(model, torque=torque)
    found = motion_at(model, *one_state(inputs), band=limit_of("exact", band))
    check_results(inputs, found.a, found.transmitted)
    return Sticking(*found)


def stopped(model: GearedModel, q: Array, before: Array, after: Array, band: float) -> Array:
    """Velocity with every rough joint and rotor stopped whose rate has changed its sign.

    What rests goes on resting, and the others keep their momentum: the change is the
    smallest in the kinetic energy.

    Args:
        model: Geared model.
        q: Joint position (n,).
        before: Velocity at the step's beginning (n,).
        after: Velocity at its end (n,).
        band: What was within it was at rest.
    """
    rows = rough_rows(model)
    old, new = rows @ before, rows @ after
    reversed_ = (old * new < 0.0) & (np.abs(old) > band)
    if not reversed_.any():
        return after
    resting = (np.abs(old) <= band) & (np.abs(new) <= band)
    R = rows[reversed_ | resting]
    spread = np.linalg.solve(mass_matrix(model, q), R.T)
    impulse = np.linalg.lstsq(R @ spread, R @ after, rcond=1e-12)[0]
    result = after - spread @ impulse
    return np.asarray(np.where(np.abs(R).any(axis=0) & (np.abs(result) < band), 0.0, result))


def rough_rows(model: GearedModel) -> Array:
    """Rates, per joint rate, of what has any friction to stick with (e, n)."""
    parts = (joint_elements(model.joint_friction, model.n), rotor_elements(model))
    return np.concatenate([part.rows[rough(part)] for part in parts])
