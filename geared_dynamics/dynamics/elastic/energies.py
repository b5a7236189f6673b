"""Energies of the arm with elastic joints."""

from __future__ import annotations

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics import energy
from geared_dynamics.dynamics.elastic.extended import extended, joined, padded
from geared_dynamics.dynamics.elastic.springs import spring_energy
from geared_dynamics.model import GearedModel


def kinetic_energy(model: GearedModel, q: ArrayLike, v: ArrayLike, vtheta: ArrayLike) -> Array:
    """Kinetic energy T = x'^T H(q) x' / 2 with x = (q, theta), shape (...) [J].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts behind the springs (..., n_e), joint side.
    """
    arm = extended(model)
    (rate,) = joined(model, v=(v, vtheta))
    return energy.kinetic_energy(arm, padded(model, q), rate)


def potential_energy(model: GearedModel, q: ArrayLike, theta: ArrayLike) -> Array:
    """Potential energy of gravity and of the springs, shape (...) [J].

    Zero with all mass at the root frame's origin and the springs relaxed.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        theta: Position of the shafts behind the springs (..., n_e), joint side.
    """
    return energy.potential_energy(model, q) + spring_energy(model, q, theta)
