"""A recording of one robot, read in spans of bounded size."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from geared_dynamics.analysis.reading.bag import open_bag
from geared_dynamics.analysis.reading.cleaning import usual_period
from geared_dynamics.analysis.reading.container import JOINT_STATE, PIECE, Container
from geared_dynamics.analysis.reading.joints import joint_samples, matched, names_seen
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.reading.samples import Samples, Tally, joined, nothing
from geared_dynamics.analysis.reading.table_file import TableReader
from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.errors import GearedDynamicsWarning

SPAN = 16  # pieces that are worked on together
PROBED = 8  # first pieces in which names and period are looked for


class Reader(Protocol):
    """Samples of one robot in pieces; it can be pickled."""

    @property
    def path(self) -> str:
        """Where they come from."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with it, though it can be read."""

    @property
    def pieces(self) -> int:
        """Number of pieces."""

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""


@dataclass(frozen=True)
class BagReader:
    """One topic of a bag; ``names`` are the joints as its messages call them."""

    container: Container
    topic: str
    names: tuple[str, ...]

    @property
    def path(self) -> str:
        """The bag."""
        return self.container.path

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with the bag."""
        return self.container.notes

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return self.container.pieces(self.topic)

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        return joint_samples(self.container.read(self.topic, piece), self.names)


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """Samples that are in memory already."""

    samples: Samples
    path: str = "<arrays>"
    notes: tuple[str, ...] = ()

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return -(-len(self.samples.stamp) // PIECE)

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        return self.samples.rows(slice(piece * PIECE, (piece + 1) * PIECE))


class Span(NamedTuple):
    """Samples of a span with some of what comes before and after; ``core`` is the span."""

    samples: Samples
    core: BoolArray


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording.

    Attributes:
        reader: Where its samples come from.
        period: Usual time between samples [ns].
    """

    reader: Reader
    period: int

    @property
    def rate(self) -> float:
        """Samples per second [1/s]."""
        return 1e9 / self.period

    @property
    def path(self) -> str:
        """Where it comes from."""
        return self.reader.path

    @property
    def spans(self) -> int:
        """Number of spans."""
        return -(-self.reader.pieces // SPAN)

    def notes(self, tally: Tally) -> tuple[str, ...]:
        """What is wrong with it, and what was left out of it, a line each."""
        left_out = tally.in_words()
        partial = (f"partial: {note}" for note in self.reader.notes)
        return (*partial, *([f"left out: {left_out}"] if left_out else []))

    def read(self, span: int, context: int) -> Span:
        """Samples of a span, with ``context`` samples or more on each side where there are any."""
        first, stop = span * SPAN, min((span + 1) * SPAN, self.reader.pieces)
        core = [self.reader.read(piece) for piece in range(first, stop)]
        before = self._around(range(first - 1, -1, -1), context)[::-1]
        after = self._around(range(stop, self.reader.pieces), context)
        n = core[0].position.shape[1]
        middle = joined(core, n)
        whole = joined([*before, middle._replace(), *after], n)
        mask = np.zeros(len(whole.stamp), bool)
        start = sum(len(part.stamp) for part in before)
        mask[start : start + len(middle.stamp)] = True
        return Span(whole._replace(tally=middle.tally), mask)

    def _around(self, pieces: range, context: int) -> list[Samples]:
        """Pieces, until there is enough context."""
        found: list[Samples] = []
        count = 0
        for piece in pieces:
            if count >= context:
                break
            found.append(self.reader.read(piece))
            count += len(found[-1].stamp)
        return found


def open_recording(
    path: str | Path,
    joints: Sequence[str],
    *,
    topic: str | None = None,
    rename: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    rate: float | None = None,
    degrees: bool = False,
) -> Recording:
    """Open a bag (folder, ``.db3``, ``.mcap``) or a table (``.csv``) of a robot's joints.

    Args:
        path: The recording.
        joints: The robot's joints, as in ``model.joint_names``.
        topic: Of a bag; by default the one of type JointState that has these joints.
        rename: What the recording calls a joint, by the joint, where it differs.
        columns: Of a table: headings of ``time``, ``position``, ``velocity``, ``effort``,
            with {joint} or {i} for the joint's name or number.
        rate: Samples per second [1/s] of a table without times.
        degrees: Whether a table's angles are in degrees.

    Raises:
        RecordingError: naming what was found, and what to give instead.
    """
    place = Path(path)
    if place.suffix.lower() in (".csv", ".txt", ".tsv"):
        reader: Reader = TableReader(place, joints, columns=columns, rate=rate, degrees=degrees)
    else:
        reader = open_topic(open_bag(place), tuple(joints), topic, dict(rename or {}))
    return recording_of(reader)


def open_topic(
    bag: Container, joints: tuple[str, ...], topic: str | None, rename: dict[str, str]
) -> BagReader:
    """Find the topic that has the joints."""
    there = bag.topics()
    listed = ", ".join(f"{known.name} ({known.type})" for known in there) or "none"
    if topic is not None:
        kinds = [known.type for known in there if known.name == topic]
        if not kinds:
            remedy = f"its topics are: {listed}"
            raise RecordingError(bag.path, f"has no topic {topic!r}", remedy)
        if kinds[0] != JOINT_STATE:
            remedy = f"give one of type {JOINT_STATE}; its topics are: {listed}"
            raise RecordingError(f"{bag.path}, {topic}", f"is of type {kinds[0]}", remedy)
    names = [known.name for known in there if known.type == JOINT_STATE]
    names = names if topic is None else [topic]
    if not names:
        remedy = f"record the joint states; its topics are: {listed}"
        finding = f"has no topic of type {JOINT_STATE}"
        if bag.notes:
            finding += f" ({'; '.join(bag.notes)})"
        if not there:
            remedy = "nothing in it can be read; give another recording"
        raise RecordingError(bag.path, finding, remedy)
    problems: list[RecordingError] = []
    found: list[BagReader] = []
    for name in names:
        place = f"{bag.path}, {name}"
        seen = joints_on(bag, name)
        try:
            if not seen:
                raise RecordingError(place, "holds no messages", "record the arm in motion")
            found.append(BagReader(bag, name, matched(joints, seen, rename, place)))
        except RecordingError as error:
            problems.append(error)
    if not found:
        raise problems[0]
    if len(found) > 1:
        others = ", ".join(reader.topic for reader in found[1:])
        text = f"{bag.path}: {found[0].topic} is read; {others} has these joints too (--topic)"
        warnings.warn(text, GearedDynamicsWarning, stacklevel=3)
    return found[0]


def joints_on(bag: Container, topic: str) -> tuple[str, ...]:
    """Names in the first pieces that hold messages of a topic."""
    seen: dict[str, None] = {}
    for piece in range(bag.pieces(topic)):
        seen |= dict.fromkeys(names_seen(bag.read(topic, piece)))
        if piece >= PROBED and seen:
            break
    return tuple(seen)


def recording_of(reader: Reader) -> Recording:
    """Look into the first samples and make a recording.

    Raises:
        RecordingError: If there are none.
    """
    first = nothing(0)
    for piece in range(reader.pieces):
        first = reader.read(piece)
        if len(first.stamp) > 1:
            break
    period = usual_period(first)
    if period <= 0:
        finding = f"holds {len(first.stamp)} samples in order of time"
        notes = "".join(f" ({note})" for note in (*reader.notes, first.tally.in_words()) if note)
        remedy = "record a motion of some seconds"
        if first.tally.partial:
            remedy = "record all joints in the same messages, or choose some with --joints"
        raise RecordingError(reader.path, finding + notes, remedy)
    if not np.isfinite(first.position).any():
        remedy = "positions are needed; choose another topic with --topic"
        raise RecordingError(reader.path, "has no positions (empty or NaN)", remedy)
    if not np.isfinite(first.effort).any():
        remedy = "record a source that measures efforts, or choose another topic with --topic"
        raise RecordingError(reader.path, "has no efforts (empty or NaN)", remedy)
    return Recording(reader, period)


def recording_from_arrays(
    stamp: ArrayLike, position: ArrayLike, effort: ArrayLike, velocity: ArrayLike | None = None
) -> Recording:
    """Make a recording of arrays.

    Args:
        stamp: Times (k,) [s].
        position: (k, n) [rad or m].
        effort: (k, n).
        velocity: (k, n), if recorded.
    """
    q, tau = np.asarray(position, float), np.asarray(effort, float)
    time: Array = np.asarray(stamp, float)
    v = np.full(q.shape, np.nan) if velocity is None else np.asarray(velocity, float)
    if q.ndim != 2 or tau.shape != q.shape or v.shape != q.shape or time.shape != q.shape[:1]:
        finding = f"shapes are {time.shape}, {q.shape}, {tau.shape}"
        remedy = "give times (k,), positions and efforts (k, n)"
        raise RecordingError("recording_from_arrays", finding, remedy)
    return recording_of(ArrayReader(Samples(np.rint(time * 1e9).astype(np.int64), q, v, tau)))
