"""What is learned where a recording has most of its motion: its bandwidth.

A rest before the motion says nothing of it. Pieces all over the recording are scored by the
motion in them, each joint's scaled by what it does in all of them; the span that holds the best
one decides. It is looked for here in the order of the pieces, whatever runs elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.bag import spread
from geared_dynamics.recordings.container import PIECE
from geared_dynamics.recordings.motions import interpolated, is_even, recorded_joints
from geared_dynamics.recordings.recording import SPAN
from geared_dynamics.recordings.samples import LARGEST, Samples, Stretch, clean
from geared_dynamics.recordings.signals import bandwidth
from geared_dynamics.recordings.spans import MotionReader

SHORTEST = 32  # samples whose bandwidth can be found
LAG = 0.1  # [s] over which a motion is distinguished from noise
SCORED = 128  # pieces that are scored at first
REST = 0.01  # [rad or m] in LAG, at most: nothing moved in these pieces, so all are scored
RESTING = 512  # samples that are looked at together for a rest
SLIGHT = 0.1  # of a joint's liveliest block: less is rest
CROWDED = 0.1  # of the samples before a gap each: there is more than one publisher


def found_bandwidth(reader: MotionReader) -> float:
    """Bandwidth of the motion [Hz], where there is most of it.

    Raises:
        RecordingError: If there is no stretch of samples to find it in.
    """
    recording = reader.recording
    best = most_excited_piece(reader)
    if best is None:
        refuse_silent(reader)
        raise too_scattered(reader)
    stretches, _ = reader.cleaned(best // SPAN, 0, velocities=False)
    smooth = long_enough(reader, stretches)
    if not smooth:  # only where the piece's context made it a stretch
        raise too_scattered(reader)
    rows = relative(
        np.array([travelled(part, recording.rate) / len(part.core) for part in smooth])
    )
    moving = [part for part, row in zip(smooth, rows, strict=True) if row >= SLIGHT * rows.max()]
    positions = [even_positions(part.samples, recording.period) for part in moving]
    return bandwidth(
        [q[without_rests(ways(q, recording.rate))] for q in positions], recording.rate
    )


def most_excited_piece(reader: MotionReader) -> int | None:
    """Number of the piece with most motion; None if none has a stretch of samples."""
    pieces = reader.recording.reader.pieces
    chosen = spread(pieces, SCORED)
    scores = {k: piece_score(reader, k) for k in chosen}
    if len(chosen) < pieces and not any(moved(row) for row in scores.values()):
        scores |= {k: piece_score(reader, k) for k in range(pieces) if k not in scores}
    known = sorted(k for k, row in scores.items() if row is not None)
    if not known:
        return None
    rows = relative(np.array([scores[k] for k in known]))
    return known[int(np.argmax(rows))]


def piece_score(reader: MotionReader, piece: int) -> Array | None:
    """Squares of the way that each joint goes in LAG, summed up (n,); None without a stretch."""
    recording, samples = reader.recording, reader.piece(piece)
    core = np.ones(len(samples.stamp), bool)
    cleaned = clean(samples, core, recording.period, efforts=recording.efforts)
    smooth = long_enough(reader, cleaned.stretches)
    if not smooth:
        return None
    return np.asarray(np.sum([travelled(part, recording.rate) for part in smooth], axis=0))


def long_enough(reader: MotionReader, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Stretches whose bandwidth can be found, without jumps by whole turns."""
    return [reader.unwrapped(part) for part in stretches if len(part.core) > SHORTEST]


def travelled(stretch: Stretch, rate: float) -> Array:
    """Squares of the way that each joint goes in LAG, summed up over a stretch (n,)."""
    return np.asarray((ways(stretch.samples.position, rate) ** 2).sum(axis=0))


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


def moved(score: Array | None) -> bool:
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


def refuse_silent(reader: MotionReader) -> None:
    """Raise if a joint has no position or no effort in the whole recording."""
    recording, names = reader.recording, reader.model.joint_names
    if recording.efforts:
        names = recorded_joints(reader.model, reader.meaning)
    there = np.zeros((2, len(names)), bool)
    for k in range(recording.reader.pieces):
        samples = recording.piece[k]
        values = np.stack([samples.position, samples.effort])
        there |= (np.abs(values) <= LARGEST).any(axis=1)
    there[1] |= not recording.efforts
    for what, row in zip(("positions", "efforts"), there, strict=True):
        missing = [name for name, seen in zip(names, row, strict=True) if not seen]
        if missing:
            finding = f"has no {what} of {', '.join(missing)} (NaN in all samples)"
            locks = " ".join(f"{name}=POSITION" for name in missing)
            remedy = f"lock these joints (--lock {locks}), or {recording.reader.other}"
            raise RecordingError(recording.path, finding, remedy)


def too_scattered(reader: MotionReader) -> RecordingError:
    """The error of a recording without a stretch of samples, with what cuts it up."""
    finding = f"has no {SHORTEST} consecutive samples without a gap"
    stretches, tally = reader.cleaned(0, 0, velocities=False)
    samples = sum(len(part.core) for part in stretches)
    cuts = {
        "gaps": tally.gaps,
        "repeated or late stamps": tally.repeated,
        "samples with NaN": tally.not_finite,
        "resets of the clock": tally.resets,
    }
    words = ", ".join(f"{count} {what}" for what, count in cuts.items() if count)
    finding += f" ({words} in the first {samples} samples)" if words else ""
    remedy = "record several seconds without gaps, or give --bandwidth"
    if max(tally.gaps, tally.repeated) > CROWDED * samples:
        remedy = (
            "record one publisher only: the stamps come in bursts, as if two sent the same joints"
        )
    return RecordingError(reader.recording.path, finding, remedy)
