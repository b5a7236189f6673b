"""Friction laws taken apart: what depends on the load and what does not.

The formula is that of ``FrictionRecord`` and of kernels.friction; a simulation needs it
as base + slope |load|, because the load depends on the acceleration that is sought.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model.friction import FrictionLaws


class LawForces(NamedTuple):
    """Friction of k laws at a state: base + slope |load|, against the motion.

    Attributes:
        base: Force without load (k,) [N m or N].
        slope: Force per load's magnitude (k,).
    """

    base: Array
    slope: Array


def law_forces(laws: FrictionLaws, rate: Array, position: Array, sign: Array) -> LawForces:
    """Friction of each law.

    Args:
        laws: The laws, k of them.
        rate: Rate each sees (k,).
        position: Position each sees (k,).
        sign: What stands for the sign of the rate (k,): ``smooth_sign``, or the sign
            itself, 0 where the law is at rest.
    """
    side = np.where(sign >= 0.0, 0, 1)
    row = np.arange(laws.count)
    coulomb = laws.coulomb[row, side]
    excess = laws.static[row, side] - coulomb
    level = coulomb + excess * np.exp(-((rate / laws.stribeck_speed) ** 2))
    base = laws.viscous * rate + laws.offset + level * sign
    which = laws.ripple[:, 0].astype(np.int64)
    order, amplitude, phase = laws.ripple[:, 1:].T
    np.add.at(base, which, amplitude * np.sin(order * position[which] + phase))
    return LawForces(base, laws.load * sign)


def smooth_sign(rate: Array, smoothing: Array) -> Array:
    """Sign of the rate as control sees it: tanh(rate / smoothing), the sign where that is 0."""
    still = smoothing == 0.0
    return np.where(still, np.sign(rate), np.tanh(rate / np.where(still, 1.0, smoothing)))
