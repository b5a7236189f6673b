"""A slow and obvious follower of waypoints: one joint, one time, the fields in a table.

Written from the text of the rules (docs/trajectories.md), and going along the segments in time
as the joint trajectory controller does: what a segment needs is filled in when it is entered.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def hermite(span: float, first: list[float], last: list[float]) -> np.ndarray:
    """Coefficients of the polynomial with given derivatives 0 ... k at both ends, solved for."""
    count = len(first)
    powers = [np.polynomial.Polynomial(row) for row in np.eye(2 * count)]
    rows = [
        [(p.deriv(order) if order else p)(s) for p in powers]
        for s in (0.0, span)
        for order in range(count)
    ]
    return np.linalg.solve(np.array(rows), np.array([*first, *last]))


def fill(first: dict[str, Any], last: dict[str, Any], span: float) -> None:
    """Heun's method for what the segment's end does not say."""
    for point in (first, last):
        point.setdefault("effort", 0.0)
    if "q" not in last:
        first.setdefault("v", 0.0)
        if "v" not in last:
            first.setdefault("a", 0.0)
            last["v"] = first["v"] + (first["a"] + last["a"]) / 2 * span
        last["q"] = first["q"] + (first["v"] + last["v"]) / 2 * span


def between(
    first: dict[str, Any], last: dict[str, Any], span: float, s: float
) -> tuple[float, float, float, float]:
    """q, v, a and effort a time s after the segment's start."""
    shared = [k for k in ("q", "v", "a") if k in first and k in last]
    effort = first["effort"] + (last["effort"] - first["effort"]) * s / span
    if shared == ["q"]:
        slope = (last["q"] - first["q"]) / span
        return first["q"] + slope * s, slope, 0.0, effort
    p = np.polynomial.Polynomial(
        hermite(span, [first[k] for k in shared], [last[k] for k in shared])
    )
    return p(s), p.deriv()(s), p.deriv(2)(s), effort


def followed(
    before: dict[str, float], points: list[dict[str, Any]], times: list[float]
) -> list[tuple[float, ...]]:
    """q, v, a, effort of one joint at rising times.

    Args:
        before: ``q``, ``v``, ``a``, ``effort`` at time 0.
        points: With ``t`` > 0 and some of ``q``, ``v``, ``a``, ``effort``; changed.
        times: At which to look.
    """
    chain = [{"t": 0.0, **before}, *points]
    result, k = [], 0
    fill(chain[0], chain[1], chain[1]["t"])
    for t in times:
        while k + 1 < len(chain) and t >= chain[k + 1]["t"]:
            k += 1
            if k + 1 < len(chain):
                fill(chain[k], chain[k + 1], chain[k + 1]["t"] - chain[k]["t"])
        if k + 1 == len(chain):
            end = chain[k]
            result.append((end["q"], end.get("v", 0.0), end.get("a", 0.0), end["effort"]))
        else:
            first, last = chain[k], chain[k + 1]
            result.append(between(first, last, last["t"] - first["t"], t - first["t"]))
    return result
