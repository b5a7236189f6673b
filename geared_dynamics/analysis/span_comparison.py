"""One span of a recording, compared with the model: a pure function of plan and number."""

from __future__ import annotations

import math
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
    squares,
    totals_of,
)
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.errors import RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import (
    JointMotion,
    Meaning,
    Velocity,
    joint_positions,
    joint_torques,
    joint_velocities,
    motion,
)
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.samples import Cleaned, Samples, Tally, clean
from geared_dynamics.recordings.signals import context, usable_cutoff
from geared_dynamics.recordings.turns import without_turns

SETTLING = 2.0  # periods of the cutoff at each end of a stretch that are not counted
BUCKETS = 1500  # of a whole recording, for display only; half as many again for gaps


@dataclass(frozen=True, eq=False)
class ComparisonTask:
    """What is done to each span of a recording; it can be sent to another process.

    Attributes:
        model: The model, complete.
        recording: The recording.
        meaning: What its numbers are.
        cutoff: Of the filters [Hz].
        velocity: Where velocities come from.
        ranges: Of bins and limits.
        keep: Whether to return all samples.
        motors: Whether to compute the motors' currents and voltages.
        rest: Speed [rad/s or m/s] that a joint must reach for a sample to count; 0: all count.
    """

    model: GearedModel
    recording: Recording
    meaning: Meaning
    cutoff: float
    velocity: Velocity
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


def motions(plan: ComparisonTask, span: int) -> tuple[list[JointMotion], Totals]:
    """Read a span; filtered motions in joint space, and what was left out."""
    found, totals, _ = unwrapped_motions(plan, span)
    return found, totals


def unwrapped_motions(plan: ComparisonTask, span: int) -> tuple[list[JointMotion], Totals, Array]:
    """The same, and how often each joint's position jumps by whole turns (n,)."""
    recording, model = plan.recording, plan.model
    cutoff = usable_cutoff(plan.cutoff, recording.rate)
    tally, cleaned = cleaned_span(plan, span, context(cutoff, recording.rate))
    found, short, turns = [], 0, np.zeros(model.n)
    for stretch in cleaned.stretches:
        smooth, added = without_turns(model, plan.meaning, stretch)
        part = motion(smooth, recording.period, cutoff, velocity=plan.velocity)
        if added is not None:
            turns += ((np.diff(added, axis=0) != 0.0) & stretch.core[1:, None]).sum(axis=0)
        if part is None:
            short += int(stretch.core.sum())
        else:
            if added is not None:  # as recorded: each span counts turns from its own start
                part = part._replace(q=part.q - added)
            found.append(settled(part, math.ceil(SETTLING * recording.rate / cutoff)))
    tally = tally._replace(
        not_finite=cleaned.not_finite,
        repeated=cleaned.repeated,
        resets=cleaned.resets,
        gaps=cleaned.gaps,
        short=short,
        held=cleaned.held,
    )
    return found, no_totals(model.n, len(model.motor_names))._replace(tally=tally), turns


def cleaned_span(plan: ComparisonTask, span: int, around: int) -> tuple[Tally, Cleaned]:
    """Stretches of a span in joint space, with ``around`` samples of context, and its tally.

    Raises:
        RecordingError: If velocities are to be used, and there are none.
    """
    recording, recorded = plan.recording, plan.velocity == "recorded"
    if recorded and not recording.velocities:
        remedy = "leave out --velocity recorded: positions are differentiated then"
        raise RecordingError(recording.path, "has no velocities (empty or NaN)", remedy)
    read = recording.read(span, around)
    samples = in_joint_space(plan, read.samples)
    cleaned = clean(
        samples, read.core, recording.period, efforts=recording.efforts, velocities=recorded
    )
    return samples.tally, cleaned


def settled(part: JointMotion, edge: int) -> JointMotion:
    """Leave out both ends of a stretch, where filters know one side only."""
    core = part.core.copy()
    core[:edge] = core[len(core) - edge :] = False
    return part._replace(core=core).counted()


def in_joint_space(plan: ComparisonTask, samples: Samples) -> Samples:
    """Positions and velocities of the joints, from what was recorded."""
    return samples._replace(
        position=joint_positions(plan.model, plan.meaning, samples.position),
        velocity=joint_velocities(plan.model, plan.meaning, samples.velocity),
    )


def span_result(plan: ComparisonTask, span: int) -> SpanResult:
    """Compare one span with the model."""
    parts, totals, turns = unwrapped_motions(plan, span)
    model, travel = plan.model, np.zeros(plan.model.n)
    stamps, signals, kept = [], [], []
    resting = 0
    for whole in parts:
        part, runs = in_motion(whole, plan.rest)
        resting += len(whole.q) - len(part.q)
        if not len(part.q):
            continue
        measured = joint_torques(model, plan.meaning, part.q, part.effort)
        raw = joint_torques(model, plan.meaning, part.q, part.raw)
        found = predicted(model, part.q, part.v, part.a)
        own = totals_of(part.q, part.v, part.a, measured, raw, found, plan.ranges)
        motors, motors_peak, exceeded = motor_totals(plan, part)
        own = own._replace(motors=motors, motors_peak=motors_peak, exceeded=exceeded)
        totals = totals.plus(own)
        travel = travel + squares(part.v)
        stamps += runs
        signals.append(np.stack([measured, *found.models, measured - found.models[-1]]))
        if plan.keep:
            kept.append(Kept(*part[:4], measured, found.models, found.terms[5]))
    totals = totals._replace(tally=totals.tally._replace(resting=resting))
    if not stamps:
        nothing = np.empty((2, 5, 0, model.n))
        return SpanResult(totals, np.empty((0, 2), np.int64), nothing, (), travel, turns)
    buckets = max(1, BUCKETS // plan.recording.spans)
    stamp, drawn = extremes_of(stamps, np.concatenate(signals, axis=1), buckets)
    return SpanResult(totals, stamp, drawn, tuple(kept), travel, turns)


def in_motion(part: JointMotion, rest: float) -> tuple[JointMotion, list[IntArray]]:
    """Leave out the samples at which every joint is slower than ``rest``.

    Args:
        part: A motion without gaps.
        rest: Speed [rad/s or m/s].

    Returns:
        The other samples, and the stamps of each run of them.
    """
    moving = (np.abs(part.v) >= rest).any(axis=1)
    at = np.flatnonzero(moving)
    cuts = np.flatnonzero(np.diff(at) > 1) + 1
    return part.rows(at), np.split(part.stamp[at], cuts)


def motor_totals(plan: ComparisonTask, part: JointMotion) -> tuple[Array, Array, Array]:
    """Sums of squares and peaks of the motors' torque, current, voltage; samples beyond limits.

    NaN is a current or voltage for which a motor's data are missing.
    """
    m = len(plan.model.motor_names)
    if not plan.motors:
        return np.zeros((3, m)), np.zeros((3, m)), np.zeros(m)
    commands = motor_commands(plan.model, part.q, part.v, part.a)
    electrics = plan.model.motors
    unknown = np.full(commands.torque.shape, np.nan)
    known = not np.isnan(electrics.torque_constant).any()
    current = commands.current if known else unknown
    voltage = commands.voltage if known and not np.isnan(electrics.resistance).any() else unknown
    values = np.stack([commands.torque, current, voltage])
    beyond = (commands.binding != 0).sum(axis=0).astype(float)
    return squares(values, 1), peak(values, 1), beyond


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
