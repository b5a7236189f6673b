"""One span of a recording, compared with the model: a pure function of plan and number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.motor_commands import motor_commands
from geared_dynamics.analysis.comparison_totals import (
    SampleRanges,
    Totals,
    no_totals,
    peak,
    predicted,
    resisting,
    squares,
    totals_of,
)
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.recordings.most_excited import LAG, RESTING, relative, without_rests
from geared_dynamics.recordings.motions import JointMotion, joint_torques
from geared_dynamics.recordings.signals import delay
from geared_dynamics.recordings.spans import MotionReader

BUCKETS = 1500  # of a whole recording, for display only; half as many again for gaps
TELLING = 0.1  # of the most motion that a joint has in a span, for its delay to be taken elsewhere


@dataclass(frozen=True, eq=False)
class ComparisonTask:
    """What is done to each span of a recording; it can be sent to another process.

    Attributes:
        reader: Of the recording, with the complete model.
        cutoff: Of the filters [Hz].
        ranges: Of bins and limits.
        keep: Whether to return all samples.
        motors: Whether to compute the motors' currents and voltages.
        rest: Speed [rad/s or m/s] that a joint must reach for a sample to count; 0: all count.
    """

    reader: MotionReader
    cutoff: float
    ranges: SampleRanges
    keep: bool = False
    motors: bool = False
    rest: float = 0.0


class Kept(NamedTuple):
    """All samples of a span: stamp (k,) [ns] and arrays (k, n), joint side."""

    stamp: IntArray
    q: Array
    v: Array
    a: Array
    measured: Array
    models: tuple[Array, Array, Array]
    friction: Array


class SpanResult(NamedTuple):
    """What a span gives.

    Attributes:
        totals: Its sums.
        stamp: First and last sample of each bucket (b, 2) [ns].
        drawn: Least and largest value of measured, three models' and residual torque in each
            bucket (2, 5, b, n).
        kept: All samples, if asked for.
        travel: Sum of squares of the velocity (n,): where most of the motion is.
        turns: Jumps by whole turns that were taken out of the positions (n,).
    """

    totals: Totals
    stamp: IntArray
    drawn: Array
    kept: tuple[Kept, ...]
    travel: Array
    turns: Array


def span_result(plan: ComparisonTask, span: int) -> SpanResult:
    """Compare one span with the model."""
    parts, tally, turns = plan.reader.motions(span, plan.cutoff)
    model, travel = plan.reader.model, np.zeros(plan.reader.model.n)
    totals = no_totals(model.n, len(model.motor_names))._replace(tally=tally)
    stamps, signals, kept = [], [], []
    resting = 0
    for whole in parts:
        part, runs = in_motion(whole, plan.rest)
        resting += len(whole.q) - len(part.q)
        if not len(part.q):
            continue
        measured = joint_torques(model, plan.reader.meaning, part.q, part.effort)
        raw = joint_torques(model, plan.reader.meaning, part.q, part.raw)
        prediction = predicted(model, part.q, part.v, part.a)
        own = totals_of(part.q, part.v, part.a, measured, raw, prediction, plan.ranges)
        motors, motors_peak, exceeded = motor_totals(plan, part)
        own = own._replace(motors=motors, motors_peak=motors_peak, exceeded=exceeded)
        totals = totals.plus(own)
        travel = travel + squares(part.v)
        stamps += runs
        shown = np.empty((5, *measured.shape))
        shown[0], shown[1:4] = measured, prediction.models
        np.subtract(measured, prediction.models[-1], out=shown[4])
        signals.append(shown)
        if plan.keep:
            kept.append(Kept(*part[:4], measured, prediction.models, prediction.terms[5]))
    totals = totals._replace(tally=totals.tally._replace(resting=resting))
    if not stamps:
        nothing = np.empty((2, 5, 0, model.n))
        return SpanResult(totals, np.empty((0, 2), np.int64), nothing, (), travel, turns)
    buckets = max(1, BUCKETS // plan.reader.recording.spans)
    shown = signals[0] if len(signals) == 1 else np.concatenate(signals, axis=1)
    stamp, drawn = extremes_of(stamps, shown, buckets)
    return SpanResult(totals, stamp, drawn, tuple(kept), travel, turns)


def in_motion(part: JointMotion, rest: float) -> tuple[JointMotion, list[IntArray]]:
    """Leave out the samples at which every joint is slower than ``rest``.

    Args:
        part: A motion without gaps.
        rest: Speed [rad/s or m/s].

    Returns:
        The other samples, and the stamps of each run of them.
    """
    if rest == 0.0 and not np.isnan(part.v.min(initial=0.0)):
        return part, [part.stamp]
    moving = (np.abs(part.v) >= rest).any(axis=1)
    at = np.flatnonzero(moving)
    cuts = np.flatnonzero(np.diff(at) > 1) + 1
    return part.rows(at), np.split(part.stamp[at], cuts)


def motor_totals(plan: ComparisonTask, part: JointMotion) -> tuple[Array, Array, Array]:
    """Sums of squares and peaks of the motors' torque, current, voltage; samples beyond limits.

    NaN is a current or voltage for which a motor's data are missing.
    """
    model = plan.reader.model
    m = len(model.motor_names)
    if not plan.motors:
        return np.zeros((3, m)), np.zeros((3, m)), np.zeros(m)
    commands = motor_commands(model, part.q, part.v, part.a)
    electrics = model.motors
    unknown = np.full(commands.torque.shape, np.nan)
    known = not np.isnan(electrics.torque_constant).any()
    current = commands.current if known else unknown
    voltage = commands.voltage if known and not np.isnan(electrics.resistance).any() else unknown
    values = np.stack([commands.torque, current, voltage])
    beyond = (commands.binding != 0).sum(axis=0).astype(float)
    return squares(values), peak(values), beyond


def extremes_of(stamps: list[IntArray], values: Array, buckets: int) -> tuple[IntArray, Array]:
    """Least and largest values within buckets of equal numbers of samples, cut at gaps.

    Args:
        stamps: Of each stretch (k,) [ns].
        values: Signals (s, k, n) of all stretches, one after another.
        buckets: Their number without gaps. Half as many of the longest gaps cut them once more;
            where there are more gaps than that, the short ones are within buckets.

    Returns:
        First and last sample of each bucket (b, 2) [ns], and extremes (2, s, b, n).
    """
    stamp, ends = np.concatenate(stamps), np.cumsum([len(part) for part in stamps])
    gaps = ends[:-1]
    jump = np.abs(stamp[gaps] - stamp[gaps - 1])  # a clock that is set back is a gap, too
    longest = gaps[np.argsort(-jump, kind="stable")[: max(1, buckets // 2)]]
    width = -(-len(stamp) // buckets)
    edges = np.union1d(np.arange(0, len(stamp), width), longest).astype(np.int64)
    low = np.minimum.reduceat(values, edges, axis=1)
    high = np.maximum.reduceat(values, edges, axis=1)
    last = np.append(edges[1:], len(stamp)) - 1
    return np.stack([stamp[edges], stamp[last]], axis=1), np.stack([low, high])


# -- Delay of the measured torques, where there is most motion ------------------------------------


def delays_of(plan: ComparisonTask, travel: Array) -> Array:
    """Delay of the measured torques behind the model's (n,) [s], where there is most motion.

    Args:
        plan: Of the analysis.
        travel: Motion of each joint in each span (spans, n).
    """
    reader = plan.reader
    delays = np.full(reader.model.n, np.nan)
    best = int(np.argmax(relative(travel)))
    most = travel.max(axis=0)
    spans = np.where(travel[best] >= TELLING * most, best, np.argmax(travel, axis=0))
    for span in sorted(set(spans.tolist())):
        long = 8 * reader.recording.rate / plan.cutoff
        parts = [part for part in reader.motions(span, plan.cutoff).motions if len(part.q) > long]
        if not parts:
            continue
        best_part = np.argmax([squares(part.v) for part in parts], axis=0)
        for k in np.unique(best_part):
            joints = np.flatnonzero((spans == span) & (most > 0.0) & (best_part == k))
            delays[joints] = delays_in(reader, parts[k], joints, int(long))
    return delays


def delays_in(
    reader: MotionReader, part: JointMotion, joints: IntArray, shortest: int
) -> list[float]:
    """Delays of some joints' torques in a motion [s], over where the joint moves."""
    model = reader.model
    measured = joint_torques(model, reader.meaning, part.q, part.effort)
    expected = inverse_dynamics(model, part.q, part.v, part.a)
    expected = expected + resisting(model, part.q, part.v, expected)
    delays = []
    for j in joints:
        rows = without_rests(LAG * part.v[:, [j]])
        inner = slice(rows.start + RESTING, rows.stop - RESTING)  # without starts and stops
        rows = inner if inner.stop - inner.start > shortest else slice(0, len(part.q))
        signals = expected[rows, j], measured[rows, j], signs_of(part.v[rows, j])
        delays.append(delay(*signals, reader.recording.rate))
    return delays


def signs_of(v: Array) -> Array:
    """What friction and an offset look like (k, 3): velocity, its sign, one."""
    return np.column_stack([v, np.sign(v), np.ones(len(v))])
