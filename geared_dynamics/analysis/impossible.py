"""Values that no arm has, and bounds that physical parameters reach: what the verdict judges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.hypotheses import fitted
from geared_dynamics.analysis.identification import Identified
from geared_dynamics.analysis.parameter_columns import prior, unit_of
from geared_dynamics.checks import two_digits

NOTHING = 0.01  # of a joint's torque, that is not worth a line
COSTS = 1.5  # times the residual that being a possible arm may cost
BELOW = 2.0  # deviations below zero from which on a value cannot be
CONTRADICTED = 3.0  # deviations by which a bound moves a parameter that the data know better
ROTOR = (".J", ".inertia")
NEVER_NEGATIVE = (*ROTOR, ".viscous", ".coulomb", ".m", ".Ixx", ".Iyy", ".Izz")
LARGE = 1e-3  # of a combination: what is joined by less does not count


class NegativeSum(NamedTuple):
    """A sum of what cannot be negative that is.

    Attributes:
        text: Its name and value with its deviation and unit.
        rotor: Whether it is a rotor's inertia that the files state.
        sure: Whether it is below zero by more deviations than chance explains among many values.
    """

    text: str
    rotor: bool
    sure: bool


class Bound(NamedTuple):
    """A physical parameter, or a link, that lies on its bound.

    A bound is no fault by itself: the own inertia of a joint and the friction of a simulated arm
    are 0, and of a link whose tensor the motion hardly determines noise alone makes a body with an
    edge. The data contradict it where it moves a base parameter by more deviations than chance.

    Attributes:
        text: Its name, and where it is.
        contradicted: Whether the data contradict it.
        stated: Whether the files state a value above 0 that gives some joint a torque worth
            mentioning; not of links.
    """

    text: str
    contradicted: bool
    stated: bool


def negative_sums(result: Identified) -> list[NegativeSum]:
    """Sums of what cannot be negative that are, by more than ``BELOW`` deviations."""
    names, stated = np.array(result.equations.names), prior(result.model) > 0.0
    found = []
    for row, k, x, sigma in zip(
        result.base.combinations, result.base.selection, result.x, result.sigma, strict=True
    ):
        joined = names[np.abs(row) > LARGE * np.abs(row).max()]
        positive = (row >= -LARGE * np.abs(row).max()).all()
        if (
            positive
            and x < -BELOW * sigma
            and all(name.endswith(NEVER_NEGATIVE) for name in joined)
            and _counts(result, k, x)
        ):
            name, sure = str(names[k]), x < -CONTRADICTED * sigma
            text = f"{name} = {' ± '.join(two_digits(x, sigma))} {unit_of(result.model, name)}"
            found.append(NegativeSum(text, name.endswith(ROTOR) and bool(stated[k]), sure))
    return found


def costs(result: Identified) -> str:
    """Joints where the physical parameters leave much more than the base ones; empty: none."""
    if result.physical is None:
        return ""
    base, full = result.residual[1], result.residual[2]
    far = (full > COSTS * base) & (full - base > 2.0 * NOTHING * result.rms)
    percent, names = 100.0 / np.maximum(result.rms, 1e-300), result.model.joint_names
    return ", ".join(
        f"{names[j]} {full[j] * percent[j]:.1f} % for {base[j] * percent[j]:.1f} %"
        for j in np.flatnonzero(far)
    )


def at_bounds(result: Identified) -> list[Bound]:
    """Physical parameters that lie on their bounds, and links that are on the border of a body."""
    if result.physical is None:
        return []
    rows, names = np.abs(result.base.combinations), list(result.equations.names)
    joined = rows > LARGE * rows.max(axis=1, keepdims=True)
    moved = np.abs(np.array(list(result.shifts.values()))) > CONTRADICTED
    files, found = prior(result.model), []
    for name in result.physical.bound:
        if name not in names:  # a link
            own = [k for k, column in enumerate(names) if column.startswith(f"{name}.")]
            contradicted = bool((joined[:, own].any(axis=1) & moved).any())
            found.append(Bound(f"{name} on the border of what is a body", contradicted, False))
            continue
        k = names.index(name)
        stated = bool(files[k] > 0.0) and _counts(result, k, float(files[k]))
        text = f"{name} = 0"
        if stated:
            text += f" (files: {files[k]:.2g} {unit_of(result.model, name)})"
        found.append(Bound(text, bool((joined[:, k] & moved).any()), stated))
    return found


def _counts(result: Identified, k: int, x: float) -> bool:
    """Whether a parameter gives some joint a torque worth mentioning."""
    used = fitted(result)
    given = result.equations.Y[..., k] * x
    rms = np.sqrt((given**2 * used).sum(axis=0) / np.maximum(used.sum(axis=0), 1))
    return bool((rms > NOTHING * result.rms).any())
