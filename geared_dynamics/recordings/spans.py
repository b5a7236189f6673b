"""A recording in the joint space of a model: spans read and cleaned once, filtered to motions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.errors import RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import (
    JointMotion,
    Meaning,
    Velocity,
    filtered_motion,
    joint_positions,
    joint_velocities,
)
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.samples import Cleaned, Samples, Stretch, Tally, clean
from geared_dynamics.recordings.signals import context, usable_cutoff

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
