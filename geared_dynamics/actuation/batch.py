"""One state after the other, for what cannot be written for a batch at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf, prod

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import (
    common_lead,
    coordinates,
    finite_input,
    refuse_overflow,
)
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel


def each_state(inputs: Mapping[str, Array]) -> tuple[tuple[int, ...], Iterator[tuple[Array, ...]]]:
    """Leading dimensions of the inputs together, and the states one by one."""
    lead = common_lead(inputs)
    flat = [
        np.broadcast_to(x, lead + x.shape[-1:]).reshape(prod(lead), x.shape[-1])
        for x in inputs.values()
    ]
    return lead, zip(*flat, strict=True)


def joint_inputs(model: GearedModel, **values: ArrayLike | None) -> dict[str, Array]:
    """Check arrays (..., n) by name; None stands for zero."""
    still = np.zeros(coordinates(model))
    return {
        name: finite_input(name, still if value is None else value, len(still))
        for name, value in values.items()
    }


def motor_inputs(model: GearedModel, **values: ArrayLike | None) -> dict[str, Array]:
    """Check arrays (..., m) by name; None stands for zero."""
    still = np.zeros(len(model.motor_names))
    return {
        name: finite_input(name, still if value is None else value, len(still))
        for name, value in values.items()
    }


def one_state(inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """Return the arrays of a single state."""
    for name, value in inputs.items():
        if value.ndim != 1:
            raise ArrayError(name, f"has shape {value.shape}", f"give {value.shape[-1]} numbers")
    return tuple(inputs.values())


def real_number(name: str, value: float, remedy: str, accept: Callable[[float], bool]) -> float:
    """Check a single number; ``accept`` says whether its value will do."""
    array = np.asarray(value)
    if array.ndim > 0 or array.dtype.kind not in "fiu":
        raise ArrayError(name, f"is {value!r:.40}", remedy)
    number = float(array)
    if not accept(number):
        raise ArrayError(name, f"is {number:g}", remedy)
    return number


def positive(number: float) -> bool:
    """Whether a number is finite and above zero."""
    return 0.0 < number < inf


def check_results(inputs: Mapping[str, Array], *results: Array) -> None:
    """Refuse results that are not finite though the inputs were."""
    if not all(np.isfinite(result).all() for result in results):
        refuse_overflow(inputs)
