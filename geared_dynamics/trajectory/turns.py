"""Joints that turn without end: angles that differ by whole turns are one posture."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, BoolArray

TURN = 2.0 * np.pi
OPPOSITE = 1e-9  # [rad] so near half a turn JTC goes the way the numbers go


def shortest_way(start: Array, goal: Array, turning: BoolArray) -> Array:
    """Difference goal - start (..., n), of continuous joints within (-π, π] [rad].

    Also the tracking error as JTC takes it, with the measured position as start. Of a continuous
    joint it is NaN where an angle is not finite.

    Args:
        start: Angles (..., n).
        goal: Angles (..., n).
        turning: Which joints are continuous (n,).
    """
    with np.errstate(invalid="ignore"):  # an encoder may report infinity
        way = np.asarray(goal - start)
        short = np.pi - np.mod(np.pi - way, TURN)
    return np.where(turning, short, way)


def beside(start: Array, goal: Array, turning: BoolArray) -> Array:
    """The start (n,) in that turn of continuous joints from which the way to the goal is short.

    Half a turn is both ways alike; the numbers then say which.
    """
    short = shortest_way(start, goal, turning)
    tie = turning & (np.abs(np.abs(short) - np.pi) < OPPOSITE)
    short = np.where(tie, np.where(goal > start, np.abs(short), -np.abs(short)), short)
    return np.where(turning, goal - short, start)
