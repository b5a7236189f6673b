"""Which turning pairs are coaxial, whatever the posture, and letters for their axes."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model.gears.circuit import COLLINEAR, PARALLEL


@dataclass(frozen=True, eq=False)
class Line:
    """A pair's axis in the frame of one of its two members: unit vector, point [m]."""

    member: str
    axis: Array
    point: Array


def letters(axes: Sequence[tuple[Line, ...]]) -> list[str]:
    """Letter of each pair's axis; coaxial pairs have the same one.

    Args:
        axes: Each pair's axis as either member sees it. It is fixed in both, so that
            pairs with a common member are coaxial in every posture or in none. An empty
            tuple (a sliding pair) is coaxial with nothing.
    """
    group: list[int] = []
    for k, lines in enumerate(axes):
        same = {group[i] for i in range(k) if coaxial(axes[i], lines)}
        first = min(same, default=k)
        group = [first if number in same else number for number in group]
        group.append(first)
    order = list(dict.fromkeys(group))
    return [letter(order.index(number)) for number in group]


def coaxial(one: tuple[Line, ...], other: tuple[Line, ...]) -> bool:
    """Whether a common member sees both axes as one line."""
    return any(a.member == b.member and coincide(a, b) for a in one for b in other)


def coincide(one: Line, other: Line) -> bool:
    """Whether two lines in the same frame are one."""
    between = other.point - one.point
    return bool(
        np.linalg.norm(np.cross(one.axis, other.axis)) < PARALLEL
        and np.linalg.norm(np.cross(one.axis, between)) < COLLINEAR
    )


def letter(k: int) -> str:
    """Return a, b, ... z, aa, ab, ..."""
    text = ""
    k += 1
    while k:
        k, digit = divmod(k - 1, 26)
        text = string.ascii_lowercase[digit] + text
    return text
