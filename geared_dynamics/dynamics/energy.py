"""Kinetic and potential energy."""

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import call, coordinates, deliver
from geared_dynamics.model import GearedModel


class KineticEnergyTerms(NamedTuple):
    """The four shares of the kinetic energy (paper 000, eq. 23), each (...) [J].

    Attributes:
        translation: Of the locked links' masses, 1/2 m v_C' v_C.
        rotation: Of the locked links about their centres, 1/2 w' I w.
        spin: Of the wheels relative to their carriers, 1/2 s' J s.
        interaction: Between a wheel's spin and its carrier's turn, s' J Z v.
    """

    translation: Array
    rotation: Array
    spin: Array
    interaction: Array


def kinetic_energy(
    model: GearedModel, q: ArrayLike, v: ArrayLike, *, out: Array | None = None
) -> Array:
    """Kinetic energy T = 1/2 v' M(q) v, shape (...) [J].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        out: Result array (...), returned; ``np.empty(())`` for one state.
    """
    return deliver(energies(model, q, v)[..., 5], out, {"q": q, "v": v})


def potential_energy(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Potential energy of the moving links and wheels, shape (...) [J].

    Zero with all mass at the root frame's origin; its gradient is g(q).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (...), returned; ``np.empty(())`` for one state.
    """
    still = np.zeros(coordinates(model))
    return deliver(energies(model, q, still)[..., 4], out, {"q": q})


def kinetic_energy_terms(
    model: GearedModel, q: ArrayLike, v: ArrayLike, *, out: Array | None = None
) -> KineticEnergyTerms:
    """Shares of the kinetic energy; they add up to ``kinetic_energy``.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        out: Array (..., 4) that holds the four shares afterwards; those returned look into it.
    """
    parts = deliver(energies(model, q, v)[..., :4], out, {"q": q, "v": v})
    return KineticEnergyTerms(*(parts[..., k] for k in range(4)))


def energies(model: GearedModel, q: ArrayLike, v: ArrayLike) -> Array:
    """Translation, rotation, spin, interaction; potential; all kinetic energy (..., 6) [J]."""
    n = coordinates(model)
    return call("energies", model, {"q": (q, n), "v": (v, n)}, (6,))
