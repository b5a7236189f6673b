"""What is learned where a recording has most of its motion: its bandwidth, and delays.

A rest before the motion says nothing of either. Pieces all over the recording are scored by the
motion in them, each joint's scaled by what it does in all of them; the span that holds the best
one decides. It is looked for here in the order of the pieces, whatever runs elsewhere.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.analysis.comparison_totals import SampleRanges, resisting, squares
from geared_dynamics.analysis.span_comparison import (
    ComparisonTask,
    cleaned_span,
    in_joint_space,
    motions,
)
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.errors import RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.bag import spread
from geared_dynamics.recordings.container import PIECE
from geared_dynamics.recordings.motions import (
    JointMotion,
    Meaning,
    interpolated,
    is_even,
    joint_torques,
    recorded_joints,
)
from geared_dynamics.recordings.recording import SPAN, Recording
from geared_dynamics.recordings.samples import LARGEST, Samples, Stretch, clean
from geared_dynamics.recordings.signals import bandwidth, delay
from geared_dynamics.recordings.turns import without_turns

SHORTEST = 32  # samples whose bandwidth can be found
LAG = 0.1  # [s] over which a motion is distinguished from noise
SCORED = 128  # pieces that are scored at first
REST = 0.01  # [rad or m] in LAG, at most: nothing moved in these pieces, so all are scored
RESTING = 512  # samples that are looked at together for a rest
SLIGHT = 0.1  # of a joint's liveliest block: less is rest
TELLING = 0.1  # of the most motion that a joint has in a span, for its delay to be taken elsewhere
CROWDED = 0.1  # of the samples before a gap each: there is more than one publisher


def found_bandwidth(model: GearedModel, recording: Recording, meaning: Meaning) -> float:
    """Bandwidth of the motion [Hz], where there is most of it.

    Raises:
        RecordingError: If there is no stretch of samples to find it in.
    """
    plan = bare_plan(model, recording, meaning)
    best = liveliest_piece(plan)
    if best is None:
        refuse_silent(plan)
        raise too_scattered(plan)
    _, cleaned = cleaned_span(plan, best // SPAN, 0)
    parts = [part for part in cleaned.stretches if len(part.core) > SHORTEST]
    if not parts:  # only where the piece's context made it a stretch
        raise too_scattered(plan)
    smooth = [without_turns(plan.model, plan.meaning, part)[0] for part in parts]
    rows = relative(
        np.array([travelled(part, recording.rate) / len(part.core) for part in smooth])
    )
    moving = [part for part, row in zip(smooth, rows, strict=True) if row >= SLIGHT * rows.max()]
    found = []
    for part in moving:
        q = even_positions(part.samples, recording.period)
        found.append(q[without_rests(ways(q, recording.rate))])
    return bandwidth(found, recording.rate)


def bare_plan(model: GearedModel, recording: Recording, meaning: Meaning) -> ComparisonTask:
    """A plan that says no more than how a recording is read."""
    none = np.zeros((2, model.n))
    return ComparisonTask(
        model, recording, meaning, 1.0, "position", SampleRanges(none, none, none, none[0])
    )


def liveliest_piece(plan: ComparisonTask) -> int | None:
    """Number of the piece with most motion; None if none has a stretch of samples."""
    pieces = plan.recording.reader.pieces
    chosen = spread(pieces, SCORED)
    scores = {k: piece_score(plan, k) for k in chosen}
    if len(chosen) < pieces and not any(moved(plan, row) for row in scores.values()):
        scores |= {k: piece_score(plan, k) for k in range(pieces) if k not in scores}
    known = sorted(k for k, row in scores.items() if row is not None)
    if not known:
        return None
    rows = relative(np.array([scores[k] for k in known]))
    return known[int(np.argmax(rows))]


def piece_score(plan: ComparisonTask, piece: int) -> Array | None:
    """Squares of the way that each joint goes in LAG, summed up (n,); None without a stretch."""
    recording = plan.recording
    samples = in_joint_space(plan, recording.reader.read(piece))
    core = np.ones(len(samples.stamp), bool)
    cleaned = clean(samples, core, recording.period, efforts=recording.efforts)
    parts = [part for part in cleaned.stretches if len(part.core) > SHORTEST]
    if not parts:
        return None
    smooth = [without_turns(plan.model, plan.meaning, part)[0] for part in parts]
    return np.asarray(np.sum([travelled(part, recording.rate) for part in smooth], axis=0))


def travelled(stretch: Stretch, rate: float) -> Array:
    """Squares of the way that each joint goes in LAG, summed up over a stretch (n,)."""
    return squares(ways(stretch.samples.position, rate))


def ways(q: Array, rate: float) -> Array:
    """The way that each joint goes in LAG (k - lag, n)."""
    lag = int(np.clip(round(LAG * rate), 1, len(q) // 2))
    return np.asarray(q[lag:] - q[:-lag])


def without_rests(way: Array) -> slice:
    """Samples from where motion begins to where it ends, in blocks; all if there is none.

    Args:
        way: What each joint goes in LAG (k, n).
    """
    starts = np.arange(0, len(way), RESTING)
    counts = np.diff(np.append(starts, len(way)))[:, None]
    size = np.sqrt(np.add.reduceat(way**2, starts, axis=0) / counts)
    moving = (size > np.maximum(0.1 * REST, SLIGHT * size.max(axis=0))).any(axis=1)
    some = np.flatnonzero(moving)
    if not some.size:
        return slice(0, len(way))
    return slice(int(starts[some[0]]), int(starts[some[-1]] + RESTING))


def moved(plan: ComparisonTask, score: Array | None) -> bool:
    """Whether a joint moved in a piece."""
    return score is not None and bool((score > PIECE * REST**2).any())


def relative(scores: Array) -> Array:
    """One score (k,) from those of the joints (k, n), each scaled to one in all."""
    return np.asarray((scores / np.maximum(scores.sum(axis=0), 1e-300)).sum(axis=1))


def even_positions(samples: Samples, period: int) -> Array:
    """Positions at even times (k, n)."""
    if is_even(samples.stamp, period):
        return samples.position
    grid = np.arange(samples.stamp[0], samples.stamp[-1], period)
    return interpolated(samples.stamp, samples.position, grid)


def refuse_silent(plan: ComparisonTask) -> None:
    """Raise if a joint has no position or no effort in the whole recording."""
    recording, names = plan.recording, plan.model.joint_names
    if recording.efforts:
        names = recorded_joints(plan.model, plan.meaning)
    there = np.zeros((2, len(names)), bool)
    for k in range(recording.reader.pieces):
        samples = recording.reader.read(k)
        values = np.stack([samples.position, samples.effort])
        there |= (np.abs(values) <= LARGEST).any(axis=1)
    there[1] |= not recording.efforts
    for what, row in zip(("positions", "efforts"), there, strict=True):
        missing = [name for name, seen in zip(names, row, strict=True) if not seen]
        if missing:
            finding = f"has no {what} of {', '.join(missing)} (NaN in all samples)"
            locks = " ".join(f"{name}=POSITION" for name in missing)
            remedy = f"lock them where they were (--lock {locks}), or {recording.reader.other}"
            raise RecordingError(recording.path, finding, remedy)


def too_scattered(plan: ComparisonTask) -> RecordingError:
    """The error of a recording without a stretch of samples, with what cuts it up."""
    finding = f"has no stretch of {SHORTEST} samples in a row"
    _, cleaned = cleaned_span(plan, 0, 0)
    samples = sum(len(part.core) for part in cleaned.stretches)
    cuts = {
        "gaps": cleaned.gaps,
        "repeated or late stamps": cleaned.repeated,
        "samples with NaN": cleaned.not_finite,
        "resets of the clock": cleaned.resets,
    }
    words = ", ".join(f"{count} {what}" for what, count in cuts.items() if count)
    finding += f" ({words} in the first {samples} samples)" if words else ""
    remedy = "record some seconds, or give --bandwidth"
    if cleaned.gaps > CROWDED * samples or cleaned.repeated > CROWDED * samples:
        remedy = (
            "its stamps come in bursts, as where two publishers send the same joints: record one"
        )
    return RecordingError(plan.recording.path, finding, remedy)


def delays_of(plan: ComparisonTask, travel: Array) -> Array:
    """Delay of the measured torques behind the model's (n,) [s], where there is most motion.

    Args:
        plan: Of the analysis.
        travel: Motion of each joint in each span (spans, n).
    """
    found = np.full(plan.model.n, np.nan)
    best = int(np.argmax(relative(travel)))
    most = travel.max(axis=0)
    spans = np.where(travel[best] >= TELLING * most, best, np.argmax(travel, axis=0))
    for span in sorted(set(spans.tolist())):
        long = 8 * plan.recording.rate / plan.cutoff
        parts = [part for part in motions(plan, span)[0] if len(part.q) > long]
        if not parts:
            continue
        best_part = np.argmax([squares(part.v) for part in parts], axis=0)
        for k in np.unique(best_part):
            joints = np.flatnonzero((spans == span) & (most > 0.0) & (best_part == k))
            found[joints] = delays_in(plan, parts[k], joints, int(long))
    return found


def delays_in(
    plan: ComparisonTask, part: JointMotion, joints: IntArray, shortest: int
) -> list[float]:
    """Delays of some joints' torques in a motion [s], over where the joint moves."""
    model = plan.model
    measured = joint_torques(model, plan.meaning, part.q, part.effort)
    expected = inverse_dynamics(model, part.q, part.v, part.a)
    expected = expected + resisting(model, part.q, part.v, expected)
    found = []
    for j in joints:
        rows = without_rests(LAG * part.v[:, [j]])
        inner = slice(rows.start + RESTING, rows.stop - RESTING)  # without starts and stops
        rows = inner if inner.stop - inner.start > shortest else slice(0, len(part.q))
        signals = expected[rows, j], measured[rows, j], signs_of(part.v[rows, j])
        found.append(delay(*signals, plan.recording.rate))
    return found


def signs_of(v: Array) -> Array:
    """What friction and an offset look like (k, 3): velocity, its sign, one."""
    return np.column_stack([v, np.sign(v), np.ones(len(v))])
