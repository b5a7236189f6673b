"""Whole turns by which recorded angles jump, where a driver keeps them within one turn.

Only positions modulo 2 pi matter to a joint that turns, so each stretch is taken up from its
own first sample, whatever was recorded before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import Meaning
from geared_dynamics.recordings.samples import Stretch

TURN = 2.0 * np.pi
FASTEST = 10.0  # [rad/s] of joints without a velocity limit
BEYOND = 3.0  # times the top speed: no motion
NEAR = 1.5  # times the top speed: what is left of a jump when its turns are taken out


class Turning(NamedTuple):
    """Which joints turn without end (n,), which turn at all (n,), their top speeds (n,)."""

    endless: BoolArray
    angular: BoolArray
    fastest: Array


def turning_of(model: GearedModel) -> Turning:
    """How the joints of a model turn."""
    speed = model.limits.velocity
    angular = np.isin(model.joint_types, ("revolute", "continuous"))
    return Turning(model.continuous, angular, np.where(np.isinf(speed), FASTEST, speed))


def without_turns(
    model: GearedModel, meaning: Meaning, stretch: Stretch
) -> tuple[Stretch, Array | None]:
    """A stretch whose angles do not jump by whole turns, and what was added to them (k, n).

    Args:
        model: The model.
        meaning: What the recorded positions are: motors count their turns.
        stretch: In joint space.
    """
    added = None if meaning.position == "motor" else whole_turns(stretch, turning_of(model))
    if added is None:
        return stretch, None
    position = stretch.samples.position + added
    return stretch._replace(samples=stretch.samples._replace(position=position)), added


def whole_turns(stretch: Stretch, turning: Turning) -> Array | None:
    """What takes the jumps out of a stretch's angles, if added to them (k, n); None without any.

    A joint that turns without end goes the shorter way between samples. Another joint has
    jumped by whole turns where the step is near them and could not be motion.
    """
    position = stretch.samples.position
    step = np.diff(position, axis=0)
    if np.abs(step).max(initial=0.0) < TURN / 2.0:
        return None
    turns = np.where(turning.angular, np.rint(step / TURN), 0.0)
    reach = turning.fastest * (np.diff(stretch.samples.stamp)[:, None] * 1e-9)
    jump = (np.abs(step - TURN * turns) < NEAR * reach) & (np.abs(step) > BEYOND * reach)
    turns = np.where(turning.endless | jump, turns, 0.0)
    if not turns.any():
        return None
    added = np.zeros(position.shape)
    np.cumsum(-TURN * turns, axis=0, out=added[1:])
    return added
