"""From samples as they came to stretches of samples in order, without gaps."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.reading.samples import Samples
from geared_dynamics.arrays import BoolArray, IntArray

RESET = 1_000_000_000  # [ns] a stamp that is older by more is a new start of the clock
LARGEST = 1e9  # no joint's position or effort; damaged bytes give such numbers
GAP = 3.5  # periods between samples that count as missing ones
HELD = 2  # samples in a row that a publisher repeats; more is a robot at rest


class Stretch(NamedTuple):
    """Samples in order; ``core`` marks those that are counted, the others are context."""

    samples: Samples
    core: BoolArray


class Cleaned(NamedTuple):
    """Stretches without gaps, and what was left out of the core."""

    stretches: list[Stretch]
    not_finite: int
    repeated: int
    resets: int
    gaps: int
    held: int


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
        velocities: Likewise.
    """
    needed = [samples.position]
    needed += [samples.effort] if efforts else []
    needed += [samples.velocity] if velocities else []
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
    resets, gaps = int((reset & core).sum()), int((missing & core).sum())
    return Cleaned(stretches, not_finite, repeated, resets, gaps, again)


def held(samples: Samples) -> BoolArray:
    """Which samples of a moving robot are the one before under a new stamp (k,).

    A publisher that is faster than its source sends some samples again. Taken as new ones
    they stop the motion for a period. Runs of at most HELD are meant, between two steps of
    the positions: in longer ones the robot is at rest.
    """
    result = np.zeros(len(samples.stamp), bool)
    parts = (samples.position, samples.velocity, samples.effort)
    bits = (np.ascontiguousarray(part).view(np.int64) for part in parts)  # NaN is NaN
    moved, turned, pushed = ((part[1:] != part[:-1]).any(axis=1) for part in bits)
    changed = moved | turned | pushed
    steps = np.flatnonzero(moved)  # row i + 1 has other positions than row i
    for count in range(1, HELD + 1):
        before = steps[:-1][np.diff(steps) == count + 1]
        rows = before[:, None] + 2 + np.arange(count)
        result[rows[~changed[rows - 1].any(axis=1)]] = True
    return result


def in_order(stamp: IntArray) -> tuple[BoolArray, BoolArray]:
    """Which samples are later than all before them, and where the clock starts anew (k,)."""
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
