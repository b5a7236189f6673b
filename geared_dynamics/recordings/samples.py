"""Samples, cleaned to gap-free intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray

# -- Samples of joints, as a recording has them ---------------------------------------------------


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

    @property
    def size(self) -> int:
        """Bytes of its arrays."""
        return sum(part.nbytes for part in self[:4])

    def rows(self, which: slice | BoolArray | IntArray) -> Samples:
        """Return some of the samples; all of them are not copied."""
        if isinstance(which, np.ndarray) and which.dtype == np.bool_ and which.all():
            return self
        return Samples(
            self.stamp[which],
            self.position[which],
            self.velocity[which],
            self.effort[which],
            self.tally,
        )


def sum_of(tallies: Iterable[Tally]) -> Tally:
    """Return the sum."""
    return reduce(Tally.plus, tallies, Tally())


def joined(parts: Sequence[Samples]) -> Samples:
    """Join samples one after the other."""
    return Samples(
        np.concatenate([part.stamp for part in parts]),
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.velocity for part in parts]),
        np.concatenate([part.effort for part in parts]),
        sum_of(part.tally for part in parts),
    )


# -- From samples as they came to stretches of samples in order, without gaps ---------------------


RESET = 1_000_000_000  # [ns] a stamp that is older by more is a new start of the clock
LARGEST = 1e9  # no joint's position or effort; damaged bytes give such numbers
GAP = 3.5  # periods between samples that count as missing ones
HELD = 2  # samples in a row that a publisher repeats; more is a robot at rest


class Stretch(NamedTuple):
    """Samples in order; ``core`` marks those that are counted, the others are context."""

    samples: Samples
    core: BoolArray


class Cleaned(NamedTuple):
    """Stretches without gaps, and what was left out of the core, with the tally of the samples."""

    stretches: list[Stretch]
    tally: Tally


def clean(
    samples: Samples,
    core: BoolArray,
    period: int,
    *,
    efforts: bool = True,
    velocities: bool = False,
) -> Cleaned:
    """Leave out what is no sample, and cut at gaps and resets.

    Args:
        samples: Samples, in the order of the file.
        core: Those that are counted (k,).
        period: Usual time between samples [ns].
        efforts: Whether a sample must have them.
        velocities: Whether a sample must have velocities.
    """
    needed = [samples.position]
    needed += [samples.effort] if efforts else []
    needed += [samples.velocity] if velocities else []
    not_finite = 0
    if not all(map(is_sensible, needed)):
        usable: BoolArray = np.asarray((np.abs(np.hstack(needed)) <= LARGEST).all(axis=1))
        not_finite = int((core & ~usable).sum())
        samples, core = samples.rows(usable), core[usable]
    fresh, reset = in_order(samples.stamp)
    repeated = int((core & ~fresh).sum())
    reset = reset[fresh]
    samples, core = samples.rows(fresh), core[fresh]
    new = ~held(samples)
    again = int((core & ~new).sum())
    reset = reset[new]
    samples, core = samples.rows(new), core[new]
    step = np.diff(samples.stamp, prepend=samples.stamp[:1])
    missing = (step > GAP * period) & ~reset
    cuts = [0, *np.flatnonzero(missing | reset).tolist(), len(core)]
    stretches = [
        Stretch(samples.rows(slice(a, b)), core[a:b]) for a, b in pairwise(cuts) if core[a:b].any()
    ]
    tally = samples.tally._replace(
        not_finite=not_finite, repeated=repeated, held=again,
        resets=int((reset & core).sum()), gaps=int((missing & core).sum()),
    )  # fmt: skip
    return Cleaned(stretches, tally)


def is_sensible(values: Array) -> bool:
    """Whether no number is NaN, infinite or beyond LARGEST; without an array of their sizes."""
    return not values.size or bool(values.max() <= LARGEST and values.min() >= -LARGEST)


def held(samples: Samples) -> BoolArray:
    """Which samples of a moving robot are the one before under a new stamp (k,).

    A publisher that is faster than its source sends some samples again. Taken as new ones
    they stop the motion for a period. Runs of at most HELD are meant, between two steps of
    the positions: in longer ones the robot is at rest.
    """
    result = np.zeros(len(samples.stamp), bool)
    parts = (samples.position, samples.velocity, samples.effort)
    bits = [np.ascontiguousarray(part).view(np.int64) for part in parts]  # NaN is NaN
    first = bits[0][:, :1]
    if (first[1:] != first[:-1]).all():  # a joint that moves in every sample: none is held
        return result
    moved, turned, pushed = ((part[1:] != part[:-1]).any(axis=1) for part in bits)
    changed = moved | turned | pushed
    steps = np.flatnonzero(moved)  # row i + 1 has other positions than row i
    for count in range(1, HELD + 1):
        before = steps[:-1][np.diff(steps) == count + 1]
        rows = before[:, None] + 2 + np.arange(count)
        result[rows[~changed[rows - 1].any(axis=1)]] = True
    return result


def in_order(stamp: IntArray) -> tuple[BoolArray, BoolArray]:
    """Which samples are later than all before them, and where the clock starts again (k,)."""
    fresh, reset = np.zeros(len(stamp), bool), np.zeros(len(stamp), bool)
    back = np.flatnonzero(np.diff(stamp) < -RESET) + 1
    for a, b in zip([0, *back], [*back, len(stamp)], strict=True):
        part = stamp[a:b]
        if len(part):
            latest = np.maximum.accumulate(part)
            fresh[a] = True
            fresh[a + 1 : b] = part[1:] > latest[:-1]
    reset[back] = True
    return fresh, reset


def time_steps(stamp: IntArray) -> IntArray:
    """Times between samples in order [ns], those over resets left out."""
    fresh, reset = in_order(stamp)
    return np.asarray(np.diff(stamp[fresh])[~reset[fresh][1:]])
