"""Checks of a control cycle's arguments, cheap where nothing is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NoReturn

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.control.values import Reference, State
from geared_dynamics.dynamics.border import FLOAT, as_input, check_finite
from geared_dynamics.errors import ArrayError, UnknownNameError


def vector(name: str, value: ArrayLike, n: int) -> Array:
    """Return one state's numbers as float64 (n,)."""
    if type(value) is np.ndarray and value.shape == (n,) and value.dtype is FLOAT:
        return value
    array = as_input(name, value, n)
    if array.ndim != 1:
        raise ArrayError(name, f"has shape {array.shape}", f"give one state ({n},)")
    return array


def duration(dt: object) -> float:
    """Return the length of a cycle [s], which is not negative."""
    try:
        length = float(dt)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        length = math.nan
    if not 0.0 <= length < math.inf:
        raise ArrayError("dt", f"is {dt!r}", "give a time of at least zero [s]")
    return length


def choice(place: str, kind: str, value: object, valid: Iterable[str]) -> None:
    """Refuse a name that is none of the valid ones."""
    names = tuple(valid)
    if not isinstance(value, str) or value not in names:
        raise UnknownNameError(place, kind, value, names)


def refuse_infinite(reference: Reference, state: State | None, command: Array) -> NoReturn:
    """Blame NaN or infinity in a command on the input it came from."""
    named = {f"reference.{name}": getattr(reference, name) for name in ("q", "v", "a", "jerk")}
    if state is not None:
        named |= {f"state.{name}": getattr(state, name) for name in ("q", "v")}
    for name, value in named.items():
        if value is not None:
            check_finite(name, np.asarray(value, np.float64))
    check_finite("command", command)
    # Every number is finite, their squares are not: nothing physical is that large.
    raise ArrayError("command", "is so large that its square overflows", "use SI units")
