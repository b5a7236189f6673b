"""Checks of a control cycle's arguments, cheap where nothing is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.control.values import Reference
from geared_dynamics.dynamics.border import FLOAT, as_input, as_numbers, check_finite
from geared_dynamics.errors import ArrayError, UnknownNameError


def numbers(name: str, value: ArrayLike, n: int) -> Array:
    """Return one state's numbers as float64 (n,); any may be NaN or infinite."""
    if type(value) is np.ndarray and value.shape == (n,) and value.dtype is FLOAT:
        return value
    array = as_input(name, value, n)
    if array.ndim != 1:
        raise ArrayError(name, f"has shape {array.shape}", f"give one state ({n},)")
    return array


def vector(name: str, value: ArrayLike, n: int) -> Array:
    """Return one state's numbers as finite float64 (n,)."""
    array = numbers(name, value, n)
    if not finite(array):
        check_finite(name, array)
    return array


def derivatives_of(reference: Reference, order: int) -> Array:
    """Return a wanted motion's q and derivatives (k + 1, n); more than ``order`` may be given."""
    place, remedy = "reference.derivatives", f"give q and its derivatives up to order {order}"
    if reference.derivatives is None:
        raise ArrayError(place, "are not given", remedy)
    path = as_numbers(place, reference.derivatives, f"{remedy}, a row each")
    if path.ndim != 2:
        raise ArrayError(place, f"have shape {path.shape}", f"{remedy}, a row each")
    return path


def finite(values: Array) -> bool:
    """Whether a few numbers are finite: NaN and infinity stay in a sum."""
    return math.isfinite(sum(values.tolist()))


def duration(dt: object) -> float:
    """Return the length of a cycle [s], which is not negative."""
    try:
        length = float(dt)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        length = math.nan
    if not 0.0 <= length < math.inf:
        raise ArrayError("dt", f"is {dt!r}", "give a time of at least zero [s]")
    return length


def choice(place: str, kind: str, value: object, valid: Iterable[str]) -> None:
    """Refuse a name that is none of the valid ones."""
    names = tuple(valid)
    if not isinstance(value, str) or value not in names:
        raise UnknownNameError(place, kind, value, names)


def refuse_overflow(command: Array) -> None:
    """Refuse a command of finite inputs that is none; nothing physical is that large."""
    if not finite(command):
        raise ArrayError("command", "overflows", "use SI units")
