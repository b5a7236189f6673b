"""For which elements of the mass matrix the diagonal (armature) model is exact."""

from typing import NamedTuple

import numpy as np

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel

POSTURES = 64  # an element that differs anywhere differs at random postures
EXACT = 1e-12  # relative to sqrt(M_ii M_jj), far above rounding


class Exactness(NamedTuple):
    """Where M with armature only equals the complete M, in every posture.

    Attributes:
        exact: True where the two agree (n, n).
        error: Largest difference of the element over random postures (n, n) [as M].
        share: The same relative to sqrt(M_ii M_jj) of the complete model (n, n).
    """

    exact: Array
    error: Array
    share: Array


def diagonal_exactness(model: GearedModel, *, seed: int = 0) -> Exactness:
    """Compare the mass matrices of the complete and the diagonal model.

    The difference is Gamma' J Z + Z' J Gamma and the off-diagonal of Gamma' J Gamma:
    it vanishes for a motor on a link whose angular velocity is null or orthogonal to
    the rotor's axis in every posture, and that drives one joint only (paper 000, end
    of section 4).

    Args:
        model: Geared model.
        seed: Of the random postures.
    """
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, (POSTURES, model.n))
    complete = gd.mass_matrix(model.with_coupling("complete"), q)
    diagonal = gd.mass_matrix(model.with_coupling("diagonal"), q)
    size = np.sqrt(np.diagonal(complete, axis1=-2, axis2=-1))
    error = np.abs(complete - diagonal)
    share = (error / (size[:, :, None] * size[:, None, :])).max(axis=0)
    return Exactness(share < EXACT, np.where(share < EXACT, 0.0, error.max(axis=0)), share)
