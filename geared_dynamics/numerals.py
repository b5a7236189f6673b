"""Numbers as people read them, in tables and sentences."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import ArrayLike

LEAST, MOST = 0.01, 1e6  # [%] beyond which a percentage is only bounded


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


def plain(values: ArrayLike) -> str:
    """Write numbers (k,) to four digits, what rounding leaves of zero as 0."""
    return " ".join(f"{value:.4g}" for value in np.round(np.asarray(values, float), 9) + 0.0)
