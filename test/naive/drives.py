"""Models with a ratio that is a little wrong: the negative controls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.model.model import GearedModel


def ratios_scaled(model: GearedModel, coordinate: int, factor: float) -> GearedModel:
    """The model with what every wheel turns per ``coordinate`` multiplied by ``factor``."""
    spin = model.Gamma.copy()
    spin[:, coordinate] *= factor
    return with_spin(model, spin)


def one_ratio_scaled(model: GearedModel, factor: float) -> GearedModel:
    """The model with another ratio of one wheel, one that Coriolis forces depend on.

    A carrier that turns about less than two axes feels its wheels in the mass matrix
    only; of the others, the wheel with the largest J times ratio is taken.
    """
    felt = model.J * np.abs(model.Gamma).max(axis=1)
    for r, carrier in enumerate(model.wheels.carrier):
        if turning_joints(model, int(carrier)) < 2:
            felt[r] = 0.0
    spin = model.Gamma.copy()
    spin[int(felt.argmax())] *= factor
    return with_spin(model, spin)


def turning_joints(model: GearedModel, body: int) -> int:
    """How many revolute joints lie between the root and a body."""
    count = 0
    while body >= 0:
        count += not model.tree.prismatic[body]
        body = int(model.tree.parent[body])
    return count


def with_spin(model: GearedModel, spin: Array) -> GearedModel:
    """The model with another Gamma."""
    return replace(model, wheels=replace(model.wheels, spin=readonly(spin)))
