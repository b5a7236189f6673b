"""Settings of an identification; rows of equations from motions, filtered and thinned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.parameter_columns import columns, known_friction
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics.drives import balancer_forces
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import (
    JointMotion,
    Meaning,
    Velocity,
    joint_torques,
    motor_efforts,
)
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.samples import Tally
from geared_dynamics.recordings.signals import context, usable_cutoff, zero_phase
from geared_dynamics.recordings.spans import MotionReader

# -- From motions to rows of equations: filtered on both sides alike, and thinned -----------------


BLOCK = 4096  # samples whose columns are held at full rate
LONG = 65_536  # samples that are filtered together, if there are as many without a gap
FEWEST = 4  # samples that can be filtered at all
NEXT = 1.5  # periods to the next sample beyond which there is a gap


class EquationRows(NamedTuple):
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
    a: Array

    def every(self, step: int) -> EquationRows:
        """Keep one row of ``step``."""
        return EquationRows(
            self.stamp[::step], *(np.ascontiguousarray(part[::step]) for part in self[1:])
        )

    def of_samples(self, which: BoolArray) -> EquationRows:
        """Keep some rows (k,)."""
        return EquationRows(self.stamp[which], *(part[which] for part in self[1:]))


def count_of(parts: Sequence[EquationRows]) -> int:
    """Rows in all."""
    return sum(len(rows.v) for rows in parts)


def together(parts: Sequence[EquationRows]) -> EquationRows:
    """All rows in one."""
    return EquationRows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def joined_motions(parts: Iterable[JointMotion], period: int) -> Iterator[JointMotion]:
    """Put motions that follow each other without a gap together, up to LONG samples.

    The filter of the equations loses a period at each end of what it is given; of small
    pieces nothing would be left.
    """
    held: list[JointMotion] = []
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


def joined_motion(parts: Sequence[JointMotion]) -> JointMotion:
    """Put motions together."""
    return (
        parts[0]
        if len(parts) == 1
        else JointMotion(*map(np.concatenate, zip(*parts, strict=True)))
    )


def thinned(
    model: GearedModel,
    meaning: Meaning,
    part: JointMotion,
    rate: float,
    keep: float,
    factor: int,
    width: float = 0.0,
) -> EquationRows:
    """Filter a motion's equations and keep one of ``factor``."""
    chosen_samples = np.arange(0, len(part.q), factor)
    return filtered(model, meaning, part, rate, keep, chosen_samples, width)


def filtered(
    model: GearedModel,
    meaning: Meaning,
    part: JointMotion,
    rate: float,
    keep: float,
    chosen_samples: IntArray,
    width: float = 0.0,
) -> EquationRows:
    """Filter a motion's equations, block by block, and keep ``chosen_samples`` of it, in order.

    ``width`` [s] is that of ``columns``: the distance of samples of which others were left out.
    """
    k, n = part.q.shape
    around = context(keep, rate)
    known = -known_friction(model, part.q, part.v, part.a)
    if model.balancers.names:  # springs are known: Y x = tau + what they give
        known = known + balancer_forces(model, part.q)
    tau = joint_torques(model, meaning, part.q, part.effort) + known
    effort = motor_efforts(model, part.effort) if meaning.of_motors else np.zeros((k, 0))
    edge = min(int(np.ceil(rate / keep)), k // 4)  # a period, where filters know one side only
    chosen_samples = chosen_samples[(chosen_samples >= edge) & (chosen_samples < k - edge)]
    blocks = []
    for start in range(0, k, BLOCK):
        low, high = max(0, start - around), min(k, start + BLOCK + around)
        piece = slice(low, high)
        Y = columns(model, part.q[piece], part.v[piece], part.a[piece], width)
        p = Y.shape[-1]
        signals = (tau, known, effort, part.v, part.a)
        table = [Y.reshape(high - low, n * p), *(signal[piece] for signal in signals)]
        if keep < usable_cutoff(keep * 1.0001, rate):
            table = [without_noise(x, keep, rate) for x in table]
        at = chosen_samples[(chosen_samples >= start) & (chosen_samples < start + BLOCK)]
        chosen = at - low
        Y_kept = np.ascontiguousarray(table[0][chosen]).reshape(len(chosen), n, p)
        own = [signal[chosen] for signal in table[1:]]
        blocks.append(
            EquationRows(
                part.stamp[at], Y_kept, own[0], own[1], own[2], part.q[at], own[3], own[4]
            )
        )
    return together(blocks)


def without_noise(values: Array, keep: float, rate: float) -> Array:
    """Filter signals (k, c); half of the columns are zero, as no link moves a joint below it."""
    there = np.flatnonzero(values.any(axis=0))
    result = np.zeros(values.shape)
    if there.size:
        result[:, there] = zero_phase(values[:, there], keep, rate)
    return result


# -- How recordings become equations, and the steps that equations and their band have in common --


PER_BANDWIDTH = 2.5  # samples per second and Hz that are kept
SLOW = 0.02  # of the joint's top speed: around a reversal friction is no constant
STILL = 1e-6  # [rad/s or m/s] that no joint moves with: what filters leave of a rest

JOINT_TORQUES = Meaning()


@dataclass(frozen=True)
class Settings:
    """How recordings become equations.

    Attributes:
        meaning: What their numbers are.
        bandwidth: Of the filter before differentiation [Hz]; None: five times ``keep``, or what
            the motion needs where ``keep`` is given.
        keep: Bandwidth of the equations [Hz]; None: a fifth of ``bandwidth``, or the band that
            predicts torques best (``band``) where neither is given.
        slow: Share of top speed below which a joint's equation is left out.
        velocity: Where velocities come from.
        holdout: Share of each recording, at its end, that is kept for validation.
    """

    meaning: Meaning = JOINT_TORQUES
    bandwidth: float | None = None
    keep: float | None = None
    slow: float = SLOW
    velocity: Velocity = "position"
    holdout: float = 0.2

    def readers(self, model: GearedModel, recordings: Sequence[Recording]) -> list[MotionReader]:
        """Readers of recordings in the joint space of a model."""
        return [MotionReader(model, item, self.meaning, self.velocity) for item in recordings]


def span_motions(
    reader: MotionReader, cutoff: float, tell: Callable[[], None], left_out: list[Tally]
) -> Iterator[JointMotion]:
    """Motions of a recording, span by span; what is left out is added to the tally."""
    for span in range(reader.recording.spans):
        motions, tally, _ = reader.motions(span, cutoff)
        left_out[0] = left_out[0].plus(tally)
        yield from motions
        tell()


def counter(progress: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    """What to call when another one of all is done."""
    done = count(1)

    def tell() -> None:
        number = next(done)
        if progress is not None:
            progress(number, total)

    return tell


def spacing(recording: Recording, keep: float) -> int:
    """Samples of a recording to one equation."""
    return max(1, int(recording.rate / (PER_BANDWIDTH * keep)))


def top_speeds(model: GearedModel, v: Array) -> Array:
    """Top speed of each joint (n,): the URDF's limit, or what was reached if that is less."""
    reached = np.maximum(np.abs(v).max(axis=0), STILL)
    return np.asarray(np.minimum(model.limits.velocity, reached))
