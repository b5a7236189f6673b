"""A recording in the joint space of a model: spans read and cleaned once, filtered to motions.

Its bandwidth is found where it has most of its motion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.errors import RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.container import PIECE, spread
from geared_dynamics.recordings.motions import (
    JointMotion,
    Meaning,
    Velocity,
    filtered_motion,
    interpolated,
    is_even,
    joint_positions,
    joint_velocities,
    recorded_joints,
)
from geared_dynamics.recordings.recording import SPAN, Recording
from geared_dynamics.recordings.samples import LARGEST, Cleaned, Samples, Stretch, Tally, clean
from geared_dynamics.recordings.signals import bandwidth, context, usable_cutoff

# -- Spans of a recording, read and cleaned once --------------------------------------------------


SETTLING = 2.0  # periods of the cutoff at each end of a stretch that are not counted


class SpanMotions(NamedTuple):
    """Motions of a span, what was left out of it, jumps by whole turns taken out of it (n,)."""

    motions: list[JointMotion]
    tally: Tally
    turns: Array


class MotionReader:
    """A recording in the joint space of a model, span by span; it can be pickled.

    The last span that was cleaned is kept: of a recording of one span, all that is asked for in
    turn (bandwidth, motion, delays) comes from one reading and one cleaning.

    Attributes:
        model: The model.
        recording: The recording.
        meaning: What its numbers are.
        velocity: Where velocities come from.
    """

    def __init__(
        self,
        model: GearedModel,
        recording: Recording,
        meaning: Meaning,
        velocity: Velocity = "position",
    ) -> None:
        """Begin with nothing read."""
        self.model, self.recording = model, recording
        self.meaning, self.velocity = meaning, velocity
        self._last: tuple[tuple[range, range, bool], Cleaned] | None = None

    def __reduce__(self) -> tuple[type[MotionReader], tuple[object, ...]]:
        """Another process reads its own spans."""
        return MotionReader, (self.model, self.recording, self.meaning, self.velocity)

    def piece(self, number: int) -> Samples:
        """Samples of one piece in joint space."""
        return self._in_joint_space(self.recording.piece[number])

    def cleaned(self, span: int, around: int, *, velocities: bool | None = None) -> Cleaned:
        """Stretches of a span with ``around`` samples of context, and its tally.

        Args:
            span: Its number.
            around: Samples on each side, where there are so many.
            velocities: Whether a sample must have them; None: where velocities come from them.

        Raises:
            RecordingError: If velocities are to be used, and there are none.
        """
        recording = self.recording
        needed = self.velocity == "recorded" if velocities is None else velocities
        if needed and not recording.velocities:
            remedy = "leave out --velocity recorded: positions are differentiated then"
            raise RecordingError(recording.path, "has no velocities (empty or NaN)", remedy)
        key = (*recording.bounds(span, around), needed)
        last = self._last  # threads may share the reader
        if last is None or last[0] != key:
            samples, core = recording.read(span, around)
            joints = self._in_joint_space(samples)
            options = {"efforts": recording.efforts, "velocities": needed}
            last = self._last = key, clean(joints, core, recording.period, **options)
        return last[1]

    def unwrapped(self, stretch: Stretch) -> Stretch:
        """A stretch whose angles do not jump by whole turns."""
        return without_turns(self.model, self.meaning, stretch)[0]

    def motions(self, span: int, cutoff: float) -> SpanMotions:
        """Filter a span.

        Args:
            span: Its number.
            cutoff: Of the filters [Hz].
        """
        recording, turns = self.recording, np.zeros(self.model.n)
        cutoff = usable_cutoff(cutoff, recording.rate)
        edge = math.ceil(SETTLING * recording.rate / cutoff)
        stretches, tally = self.cleaned(span, context(cutoff, recording.rate))
        motions = []
        for stretch in stretches:
            smooth, added = without_turns(self.model, self.meaning, stretch)
            part = filtered_motion(smooth, recording.period, cutoff, velocity=self.velocity)
            if added is not None:
                turns += ((np.diff(added, axis=0) != 0.0) & stretch.core[1:, None]).sum(axis=0)
            if part is None:
                tally = tally._replace(short=tally.short + int(stretch.core.sum()))
                continue
            if added is not None:  # as recorded: each span counts turns from its own start
                part = part._replace(q=part.q - added)
            motions.append(settled(part, edge))
        return SpanMotions(motions, tally, turns)

    def _in_joint_space(self, samples: Samples) -> Samples:
        """Positions and velocities of the joints, from what was recorded."""
        return samples._replace(
            position=joint_positions(self.model, self.meaning, samples.position),
            velocity=joint_velocities(self.model, self.meaning, samples.velocity),
        )


def settled(part: JointMotion, edge: int) -> JointMotion:
    """Leave out both ends of a stretch, where filters know one side only."""
    core = part.core.copy()
    core[:edge] = core[len(core) - edge :] = False
    return part._replace(core=core).counted()


# -- Whole turns by which recorded angles jump, where a driver keeps them within one turn ---------
#
# Only positions modulo 2 pi matter to a joint that turns, so each stretch is taken up from its
# own first sample, whatever was recorded before it.


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


# -- What is learned where a recording has most of its motion: its bandwidth ----------------------
#
# A rest before the motion says nothing of it. Pieces all over the recording are scored by the
# motion in them, each joint's scaled by what it does in all of them; the span that holds the best
# one decides. It is looked for here in the order of the pieces, whatever runs elsewhere.


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
