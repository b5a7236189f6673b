"""Delay between two records of the same motion."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array

SEARCH = 0.05  # [s] delays that are looked at, to both sides


def delay(expected: Array, measured: Array, explained: Array, rate: float) -> float:
    """Time [s] by which a measured signal comes after the expected one.

    The shift d for which measured(t + d) is best met by a factor times expected(t) plus a
    combination of other signals (friction, an offset); between samples by the slope. NaN
    where it is not met better within the SEARCH than at its ends.

    Args:
        expected: Signal (k,).
        measured: Signal (k,).
        explained: Other signals (k, c) of the same time as ``expected``.
        rate: Samples per second.
    """
    reach = min(round(SEARCH * rate) + 1, len(expected) // 4)
    if reach < 2:
        return float("nan")
    inner = slice(reach, len(expected) - reach)
    columns = np.column_stack([expected[inner], explained[inner]])
    basis, _ = np.linalg.qr(columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300))
    left = []
    for shift in range(-reach, reach + 1):
        part = measured[inner.start + shift : inner.stop + shift]
        left.append(float(part @ part - np.sum((basis.T @ part) ** 2)))
    best = int(np.argmin(left))
    if best in (0, len(left) - 1):
        return float("nan")
    # Between samples: m(t + shift + f) = c e(t) is m(t + shift) = c e - c f de/dt.
    slope = np.gradient(expected, 1.0 / rate)[inner]
    part = measured[inner.start + best - reach : inner.stop + best - reach]
    table = np.column_stack([slope, columns])
    scale = np.maximum(np.linalg.norm(table, axis=0), 1e-300)
    found = np.linalg.lstsq(table / scale, part, rcond=None)[0] / scale
    between = -found[0] / found[1] if found[1] else 0.0
    return float((best - reach) / rate + np.clip(between, -1.0 / rate, 1.0 / rate))
