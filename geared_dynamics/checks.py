"""Checks of numbers, choices and times at the border; numbers as people read them."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.errors import ArrayError, UnknownNameError, shown

# -- Checks of numbers, times, names and choices; former names of arguments -----------------------


HIGHEST = 160  # derivatives; factorials of more do not fit float64


def finite_array(name: str, value: ArrayLike, ndim: int | None = None) -> Array:
    """Convert to finite float64 numbers, with a number of dimensions."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ArrayError(name, "is not an array of real numbers", "give real numbers") from None
    if ndim is not None and array.ndim != ndim:
        finding = f"has shape {array.shape}"
        raise ArrayError(name, finding, f"give {ndim} dimension{'s' * (ndim > 1)}")
    if not np.isfinite(array).all():
        raise ArrayError(name, "contains NaN or infinity", "give finite numbers")
    return array


def flag(place: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArrayError(place, f"is {shown(value)}", "give True or False")
    return bool(value)


def as_order(name: str, value: object, highest: int = HIGHEST, lowest: int = 0) -> int:
    """Check a small whole number."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ArrayError(name, f"is {shown(value)}", "give a whole number")
    if not lowest <= value <= highest:
        raise ArrayError(name, f"is {shown(value)}", f"give {lowest} to {highest}")
    return int(value)


P = ParamSpec("P")
R = TypeVar("R")


def renamed(old: str, new: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function accept a keyword argument by its former name, with a warning."""

    def accepting(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if old in kwargs:
                text = f"{function.__name__}: the argument {old} is now called {new}"
                warnings.warn(text, DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return accepting


def warn_former(old: str, new: str) -> None:
    """Warn the caller's caller that an attribute or method has another name now."""
    warnings.warn(f"{old} is now called {new}", DeprecationWarning, stacklevel=3)


def is_finite(x: Array) -> bool:
    """Whether all x (k,) are finite; a third of the time of looking at each."""
    return math.isfinite(x.dot(x)) or bool(np.isfinite(x).all())


def positive_time(name: str, value: object) -> float:
    """Check a duration."""
    array = finite_array(name, value, 0)  # type: ignore[arg-type]
    if not array > 0.0:
        raise ArrayError(name, f"is {float(array)} s", "give a time above 0")
    return float(array)


def as_time(name: str, value: object) -> float:
    """Convert to seconds; NaN and infinity are for the caller to judge."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(name, f"is {shown(value)}", "give a finite time [s]") from None


def names_for(names: Iterable[str], n: int) -> tuple[str, ...]:
    """Check the joints' names; without any they are called joint 0, joint 1."""
    if isinstance(names, str):
        raise ArrayError("joint_names", "is a string", "give a name for each joint")
    given = tuple(names)
    if not given:
        return tuple(f"joint {k}" for k in range(n))
    if len(given) != n or not all(isinstance(name, str) for name in given):
        finding = f"is {shown(given)}, and there are {n} joints"
        raise ArrayError("joint_names", finding, "give a name for each joint")
    return given


def choice(place: str, kind: str, value: object, valid: Iterable[str]) -> None:
    """Refuse a name that is none of the valid ones."""
    names = tuple(valid)
    if not isinstance(value, str) or value not in names:
        raise UnknownNameError(place, kind, value, names)


def joint_list(names: Iterable[str]) -> str:
    """Names in quotes, as a list."""
    return ", ".join(repr(name) for name in names)


# -- Numbers as people read them, in tables and sentences -----------------------------------------


LEAST, MOST = 0.01, 1e6  # [%] beyond which a percentage is only bounded
ZERO = 1e-9  # SI units, below which a figure is what rounding leaves of zero


def percent(value: float) -> str:
    """Write a percentage: two digits, all before the point, no exponent; a dash for NaN.

    100 %, 46 %, 4.6 %, 0.46 %, < 0.01 %.
    """
    size, sign = abs(value), "-" if value < 0.0 else ""
    if math.isnan(value):
        return "-"
    if size >= MOST:
        return f"{'<' if sign else '>'} {sign}{MOST:.0f} %"
    if 0.0 < size < LEAST:
        return f"{'>' if sign else '<'} {sign}{LEAST} %"
    text = f"{size:.2g}" if size < 10.0 and f"{size:.2g}" != "10" else f"{size:.0f}"
    return f"{sign}{text} %"


def percent_cell(value: float) -> str:
    """Write a percentage for a column whose heading has the unit."""
    return percent(value).removesuffix(" %")


def or_dash(value: float, form: str = ".3g") -> str:
    """Write a number, a dash for NaN: where it is not known, or there is none."""
    return "-" if math.isnan(value) else format(value, form)


def rounded(value: float, digits: int) -> str:
    """Write a number to so many digits, what rounding leaves of zero as 0."""
    return f"{value if abs(value) >= ZERO else 0.0:.{digits}g}"


def plain(values: ArrayLike) -> str:
    """Write numbers (k,) to four digits, what rounding leaves of zero as 0."""
    return " ".join(f"{value:.4g}" for value in np.round(np.asarray(values, float), 9) + 0.0)


def two_digits(value: float, sigma: float) -> tuple[str, str]:
    """Write a value to the last of two digits of its deviation, and that."""
    if not (math.isfinite(value) and math.isfinite(sigma) and sigma > 0.0):
        return f"{value:.3g}", f"{sigma:.2g}"
    top = math.floor(math.log10(float(f"{sigma:.1e}")))
    largest = math.floor(math.log10(max(abs(value), sigma)))
    if -4 <= top and largest < 6:
        digits = max(1 - top, 0)
        return f"{value:.{digits}f}", f"{sigma:.{digits}f}"
    return f"{value:.{max(largest - top + 1, 1)}e}", f"{sigma:.1e}"
