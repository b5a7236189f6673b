"""Checks of what a caller gives to observers of forces, for one state at a time."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, real
from geared_dynamics.dynamics.border import as_input, as_numbers, check_finite
from geared_dynamics.errors import ArrayError


def seconds(name: str, value: object) -> float:
    """A time as a float, NaN and infinity too: what they mean is the observer's matter."""
    try:
        return real(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(name, f"is {value!r}", "give a time [s]") from None


def above_zero(name: str, value: object, what: str, *, zero: bool = False) -> float:
    """A finite number above zero, or zero where that is allowed."""
    remedy = f"give {what}, {'zero or more' if zero else 'above zero'}"
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(name, f"is {value!r}", remedy) from None
    if not (np.isfinite(number) and (number > 0.0 or (zero and number == 0.0))):
        raise ArrayError(name, f"is {number:g}", remedy)
    return number


def one_state(name: str, value: ArrayLike, width: int, *, missing: bool = False) -> Array:
    """Numbers (width,) of one instant; finite, unless some may be missing."""
    array = as_input(name, value, width)
    if array.ndim != 1:
        raise ArrayError(name, f"has shape {array.shape}", f"give one instant, shape ({width},)")
    if not missing:
        check_finite(name, array)
    return array


def each(name: str, value: ArrayLike, width: int, what: str, *, zero: bool = False) -> Array:
    """Finite numbers above zero (width,), of one for all or one for each."""
    remedy = f"give {what}, {'zero or more' if zero else 'above zero'}: one, or {width}"
    array = as_numbers(name, value, remedy)
    if array.shape not in ((), (1,), (width,)):
        raise ArrayError(name, f"has shape {array.shape}", remedy)
    wrong = ~(np.isfinite(array) & ((array >= 0.0) if zero else (array > 0.0)))
    if wrong.any():
        raise ArrayError(name, f"is {array[wrong].flat[0]:g}", remedy)
    return np.broadcast_to(array, (width,))
