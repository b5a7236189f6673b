"""From motions to rows of equations: filtered on both sides alike, and thinned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.identification.columns import columns
from geared_dynamics.analysis.identification.known_friction import known_friction
from geared_dynamics.analysis.reading.meaning import Meaning, joint_torques, motor_efforts
from geared_dynamics.analysis.signals.filters import context, usable_cutoff, zero_phase
from geared_dynamics.analysis.signals.motion import Motion
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.model import GearedModel

BLOCK = 4096  # samples whose columns are held at full rate
LONG = 65_536  # samples that are filtered together, if there are as many without a gap
FEWEST = 4  # samples that can be filtered at all
NEXT = 1.5  # periods to the next sample beyond which there is a gap


class Rows(NamedTuple):
    """Filtered and thinned samples of a stretch: what ``Equations`` are put together from.

    ``q`` passes no further filter: an angle within one turn may jump.
    """

    stamp: IntArray
    Y: Array
    tau: Array
    known: Array
    effort: Array
    q: Array
    v: Array

    def every(self, step: int) -> Rows:
        """Keep one row of ``step``."""
        return Rows(self.stamp[::step], *(np.ascontiguousarray(part[::step]) for part in self[1:]))

    def of_samples(self, which: BoolArray) -> Rows:
        """Keep some rows (k,)."""
        return Rows(self.stamp[which], *(part[which] for part in self[1:]))


def count_of(parts: Sequence[Rows]) -> int:
    """Rows in all."""
    return sum(len(rows.v) for rows in parts)


def together(parts: Sequence[Rows]) -> Rows:
    """All rows in one."""
    return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def joined_motions(parts: Iterable[Motion], period: int) -> Iterator[Motion]:
    """Put motions that follow each other without a gap together, up to LONG samples.

    The filter of the equations loses a period at each end of what it is given; of small
    pieces nothing would be left.
    """
    held: list[Motion] = []
    for part in parts:
        if len(part.stamp) < FEWEST:
            continue
        # A clock that is set back is a gap, too.
        near = held and 0 < part.stamp[0] - held[-1].stamp[-1] <= NEXT * period
        if held and (not near or sum(len(other.stamp) for other in held) >= LONG):
            yield joined_motion(held)
            held = []
        held.append(part)
    if held:
        yield joined_motion(held)


def joined_motion(parts: Sequence[Motion]) -> Motion:
    """Put motions together."""
    return parts[0] if len(parts) == 1 else Motion(*map(np.concatenate, zip(*parts, strict=True)))


def thinned(
    model: GearedModel, meaning: Meaning, part: Motion, rate: float, keep: float, factor: int
) -> Rows:
    """Filter a motion's equations and keep one of ``factor``."""
    return filtered(model, meaning, part, rate, keep, np.arange(0, len(part.q), factor))


def filtered(
    model: GearedModel, meaning: Meaning, part: Motion, rate: float, keep: float, wanted: IntArray
) -> Rows:
    """Filter a motion's equations, block by block, and keep the samples ``wanted``, in order."""
    k, n = part.q.shape
    around = context(keep, rate)
    known = -known_friction(model, part.q, part.v, part.a)
    if model.balancers.names:  # springs are known: Y x = tau + what they give
        known = known + balancer_forces(model, part.q)
    tau = joint_torques(model, meaning, part.q, part.effort) + known
    effort = motor_efforts(model, part.effort) if meaning.of_motors else np.zeros((k, 0))
    edge = min(int(np.ceil(rate / keep)), k // 4)  # a period, where filters know one side only
    wanted = wanted[(wanted >= edge) & (wanted < k - edge)]
    blocks = []
    for start in range(0, k, BLOCK):
        low, high = max(0, start - around), min(k, start + BLOCK + around)
        piece = slice(low, high)
        Y = columns(model, part.q[piece], part.v[piece], part.a[piece])
        p = Y.shape[-1]
        signals = (tau, known, effort, part.v)
        table = [Y.reshape(high - low, n * p), *(signal[piece] for signal in signals)]
        if keep < usable_cutoff(keep * 1.0001, rate):
            table = [without_noise(x, keep, rate) for x in table]
        at = wanted[(wanted >= start) & (wanted < start + BLOCK)]
        chosen = at - low
        Y_kept = np.ascontiguousarray(table[0][chosen]).reshape(len(chosen), n, p)
        own = [signal[chosen] for signal in table[1:]]
        blocks.append(Rows(part.stamp[at], Y_kept, own[0], own[1], own[2], part.q[at], own[3]))
    return together(blocks)


def without_noise(values: Array, keep: float, rate: float) -> Array:
    """Filter signals (k, c); half of the columns are zero, as no link moves a joint below it."""
    there = np.flatnonzero(values.any(axis=0))
    found = np.zeros(values.shape)
    if there.size:
        found[:, there] = zero_phase(values[:, there], keep, rate)
    return found
