"""Samples of joints, as a recording has them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray


class Tally(NamedTuple):
    """Messages that were left out, and why.

    Attributes:
        foreign: Without any joint of the robot (other devices on the same topic).
        partial: With some of its joints only.
        damaged: That are no message of the topic's type.
        lost: Parts of the file that could not be read to the end.
        not_finite: With a position or effort that is NaN, infinite or beyond all sense (1e9).
        repeated: With the stamp of an earlier one, or older by less than a reset.
        resets: Where the stamps jump back; the samples before and after are kept apart.
        gaps: Where samples are missing.
        short: Samples in stretches too short to be filtered.
        held: That are the one before under a new stamp, of a robot in motion.
        resting: Of a robot at rest, where rest is left out.
    """

    foreign: int = 0
    partial: int = 0
    damaged: int = 0
    lost: int = 0
    not_finite: int = 0
    repeated: int = 0
    resets: int = 0
    gaps: int = 0
    short: int = 0
    held: int = 0
    resting: int = 0

    def plus(self, other: Tally) -> Tally:
        """Return the sum."""
        return Tally(*(x + y for x, y in zip(self, other, strict=True)))

    def in_words(self) -> str:
        """Write what is not zero."""
        words = {
            "foreign": "messages of other devices",
            "partial": "messages without all joints",
            "damaged": "damaged messages",
            "lost": "parts of the file that cannot be read to the end",
            "not_finite": "samples with NaN, infinity or numbers beyond 1e9",
            "repeated": "repeated or late stamps",
            "resets": "resets of the clock",
            "gaps": "gaps",
            "short": "samples in stretches too short to filter",
            "held": "samples that are the one before sent again",
            "resting": "samples at rest",
        }
        return ", ".join(f"{v} {words[k]}" for k, v in self._asdict().items() if v)


class Samples(NamedTuple):
    """Samples of the robot's joints, in the model's order; NaN where a quantity is missing.

    Attributes:
        stamp: Sampling time (k,) [ns], of the header where it has one.
        position: (k, n) [rad or m].
        velocity: (k, n).
        effort: (k, n), its meaning is the recording's.
        tally: What was left out.
    """

    stamp: IntArray
    position: Array
    velocity: Array
    effort: Array
    tally: Tally = Tally()

    def rows(self, which: slice | BoolArray | IntArray) -> Samples:
        """Return some of the samples."""
        return Samples(
            self.stamp[which],
            self.position[which],
            self.velocity[which],
            self.effort[which],
            self.tally,
        )


def nothing(n: int) -> Samples:
    """Return no samples of n joints."""
    none = np.empty((0, n))
    return Samples(np.empty(0, np.int64), none, none, none)


def joined(parts: list[Samples], n: int) -> Samples:
    """Join samples one after the other."""
    if not parts:
        return nothing(n)
    tally = Tally()
    for part in parts:
        tally = tally.plus(part.tally)
    return Samples(
        np.concatenate([part.stamp for part in parts]),
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.velocity for part in parts]),
        np.concatenate([part.effort for part in parts]),
        tally,
    )
