"""How the wheels' joints follow the links' joints in MuJoCo.

x = (q, theta) are the model's coordinates, phi the angles of the wheels' hinges, each relative
to what holds the wheel: phi = Q q + T theta. Some wheels, as many as there are theta, stand for
theta: theta = N (phi_p - Q_p q). All others are tied,

    0 = phi - Q q - T theta(phi_p, q),

each by a fixed tendon of constant length (an equality constraint). Springs are fixed tendons
between joints and wheels with stiffness and damping.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.mujoco.parts import WheelBody

NOTHING = 1e-12  # relative; a coefficient below is rounding


@dataclass(frozen=True, eq=False)
class Gearing:
    """Rows over (q, phi), sizes n and w.

    Attributes:
        follow: phi = follow (q, theta) (w, n + n_e).
        shafts: theta = shafts (q, phi) (n_e, n + w).
        ties: Rows that stay zero (w - n_e, n + w).
        tied: The wheel that each tie is for.
        stretch: Of the springs, P x = stretch (q, phi) (s, n + w).
    """

    follow: Array
    shafts: Array
    ties: Array
    tied: tuple[int, ...]
    stretch: Array


def gearing(model: GearedModel, wheels: tuple[WheelBody, ...]) -> Gearing:
    """Lay out the gears of a model."""
    elastic, n, w = model.elasticity, model.n, len(wheels)
    index = {wheel.name: r for r, wheel in enumerate(wheels)}
    spins = np.hstack([elastic.link_spin, elastic.shaft_spin])
    relative = np.eye(w)  # phi from the spins relative to the links
    for r, wheel in enumerate(wheels):
        if wheel.holder:
            relative[r, index[wheel.holder]] = -wheel.turn
    follow = relative @ spins
    pivots = independent(follow[:, n:])
    inverse = np.linalg.inv(follow[pivots, n:])
    shafts = np.zeros((elastic.count, n + w))
    shafts[:, :n] = -inverse @ follow[pivots, :n]
    shafts[:, n + pivots] = inverse
    clean(shafts)
    tied = tuple(r for r in range(w) if r not in set(pivots.tolist()))
    ties = np.zeros((len(tied), n + w))
    for row, r in zip(ties, tied, strict=True):
        row[:n], row[n + r] = -follow[r, :n], 1.0
        row -= follow[r, n:] @ shafts
    clean(ties)
    stretch = elastic.stretch[:, n:] @ shafts
    stretch[:, :n] += elastic.stretch[:, :n]
    clean(stretch)
    return Gearing(follow, shafts, ties, tied, stretch)


def independent(rows: Array) -> IntArray:
    """Choose as many rows (w, k) as there are columns, well conditioned: by elimination."""
    left, chosen = rows.copy(), []
    for _ in range(rows.shape[1]):
        size = np.linalg.norm(left, axis=1)
        r = int(np.argmax(size))
        chosen.append(r)
        unit = left[r] / size[r]
        left -= np.outer(left @ unit, unit)
    return np.array(sorted(chosen), np.int64)


def clean(rows: Array) -> None:
    """Set what is rounding alone to zero, in place."""
    for row in rows:
        row[np.abs(row) <= NOTHING * np.abs(row).max(initial=0.0)] = 0.0
