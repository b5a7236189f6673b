"""Arguments of the functions of the redundant model, checked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import finite_input
from geared_dynamics.dynamics.elastic.extended import extended, joined
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel


def refuse_halves(theta: ArrayLike | None, vtheta: ArrayLike | None) -> None:
    """Raise where only one of theta and vtheta is given."""
    if (theta is None) != (vtheta is None):
        name, other = ("theta", "vtheta") if theta is None else ("vtheta", "theta")
        finding = f"is None, and {other} is not"
        raise ArrayError(name, finding, "give both, or None for both to have the joints rigid")


def state(
    model: GearedModel,
    q: ArrayLike,
    theta: ArrayLike | None,
    v: ArrayLike,
    vtheta: ArrayLike | None,
) -> tuple[Array, Array]:
    """X and its rate (..., k), checked."""
    if theta is None or vtheta is None:
        return finite_input("q", q, model.n), finite_input("v", v, model.n)
    extended(model)  # refuses an arm without springs
    x, rate = joined(model, q=(q, theta), v=(v, vtheta))
    return x, rate


def refuse_overflow(inputs: Mapping[str, ArrayLike | None], *results: Array) -> None:
    """Raise where finite inputs gave NaN or infinity."""
    if not all(np.all(np.isfinite(result)) for result in results):
        size = {
            name: float(np.abs(np.asarray(value, float)).max(initial=0.0))
            for name, value in inputs.items()
            if value is not None
        }
        largest = max(size, key=lambda name: size[name])
        raise ArrayError(largest, "is so large that the result overflows", "use SI units")
