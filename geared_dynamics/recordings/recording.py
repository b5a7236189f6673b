"""A recording of one robot, read in spans of bounded size."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, IntArray
from geared_dynamics.errors import GearedDynamicsWarning, RecordingError
from geared_dynamics.recordings.bag import (
    TABLES,
    is_folder,
    lost_splits,
    open_bag,
    tables_in,
)
from geared_dynamics.recordings.container import spread
from geared_dynamics.recordings.joint_topics import (
    ArrayReader,
    BagReader,
    Reader,
    SeriesReader,
    open_topic,
)
from geared_dynamics.recordings.samples import Samples, Tally, joined, sum_of, time_steps
from geared_dynamics.recordings.table_file import TableReader, TimeUnit

SPAN = 16  # pieces that are worked on together
ROOM = 1 << 27  # bytes of decoded pieces that are kept
PROBED = 16  # pieces, all over a recording, that are looked into at first
SLOWEST, FASTEST = 2.0, 20_000.0  # [1/s] beyond which a table's times may be of another unit


class Span(NamedTuple):
    """Samples of a span with some of what comes before and after; ``core`` is the span."""

    samples: Samples
    core: BoolArray


class DecodedPieces:
    """Pieces of a reader, decoded once as long as there is ROOM for them.

    A pass over a recording goes upwards, and looks into some pieces all over it before. Where room
    is needed, what lies lowest goes first: it is behind what is being read. Threads may share it.
    """

    def __init__(self, reader: Reader) -> None:
        """Begin with none."""
        self.reader, self.kept = reader, dict[int, Samples]()
        self._lock = threading.Lock()

    def __getitem__(self, piece: int) -> Samples:
        """Samples of one piece."""
        samples = self.kept.get(piece)
        if samples is None:
            samples = self.reader.read(piece)
            with self._lock:
                self.kept[piece] = samples
                room = ROOM - sum(part.size for part in self.kept.values())
                while room < 0 and len(self.kept) > 1:
                    room += self.kept.pop(min(self.kept.keys() - {piece})).size
        return samples

    def __reduce__(self) -> tuple[type[DecodedPieces], tuple[Reader]]:
        """Another process decodes its own pieces."""
        return DecodedPieces, (self.reader,)


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording.

    Attributes:
        piece: Samples of each piece of it, from a reader.
        period: Usual time between samples [ns].
        efforts: Whether its efforts are used; if not they are NaN.
        velocities: Whether it has any.
    """

    piece: DecodedPieces
    period: int
    efforts: bool = True
    velocities: bool = True

    @property
    def reader(self) -> Reader:
        """Where its samples come from."""
        return self.piece.reader

    @property
    def rate(self) -> float:
        """Samples per second [1/s]."""
        return 1e9 / self.period

    @property
    def path(self) -> str:
        """Where it comes from."""
        return self.reader.path

    @property
    def topic(self) -> str:
        """The topic of its joint states; empty where it is no bag."""
        return self.reader.topic if isinstance(self.reader, BagReader) else ""

    @property
    def spans(self) -> int:
        """Number of spans."""
        return -(-self.reader.pieces // SPAN)

    def notes(self, tally: Tally) -> tuple[str, ...]:
        """What is wrong with it, and what was left out of it, a line each."""
        left_out = tally.in_words()
        partial = (f"partial: {note}" for note in self.reader.notes)
        return (*partial, *([f"left out: {left_out}"] if left_out else []))

    def bounds(self, span: int, context: int) -> tuple[range, range]:
        """Pieces of a span, and these with ``context`` samples or more on each side."""
        core = range(span * SPAN, min((span + 1) * SPAN, self.reader.pieces))
        before = self._enough(range(core.start - 1, -1, -1), context)
        after = self._enough(range(core.stop, self.reader.pieces), context)
        return core, range(core.start - before, core.stop + after)

    def _enough(self, pieces: range, context: int) -> int:
        """How many of these pieces hold so many samples; all if they do not."""
        count = 0
        for piece in pieces:
            if context <= 0:
                break
            context -= len(self.piece[piece].stamp)
            count += 1
        return count

    def read(self, span: int, context: int) -> Span:
        """Samples of a span, with ``context`` samples or more on each side where there are any."""
        core, around = self.bounds(span, context)
        parts = {piece: self.piece[piece] for piece in around}
        whole = joined(list(parts.values()))
        counts = [np.full(len(part.stamp), piece in core) for piece, part in parts.items()]
        if not self.efforts:
            whole = whole._replace(effort=np.full(whole.effort.shape, np.nan))
        tally = sum_of(parts[piece].tally for piece in core)
        return Span(whole._replace(tally=tally), np.concatenate(counts))


def open_recording(
    path: str | Path,
    joints: Sequence[str],
    *,
    topic: str | None = None,
    rename: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    rate: float | None = None,
    degrees: bool | Collection[str] = False,
    time_unit: TimeUnit | None = None,
    efforts: bool = True,
    by_number: bool = True,
) -> Recording:
    """Open a bag (folder, ``.db3``, ``.mcap``) or a table (``.csv``) of a robot's joints.

    Args:
        path: The recording; a folder of numbered files, such as run_0.csv, run_1.csv, is one.
        joints: The robot's joints, as in ``model.joint_names``.
        topic: Of a bag; by default the one of type JointState that has these joints.
        rename: What the recording calls a joint, by the joint, where it differs.
        columns: Of a table: headings of ``time``, ``position``, ``velocity``, ``effort``,
            with {joint} or {i} for the joint's name or number.
        rate: Samples per second [1/s] of a table without times.
        degrees: Whether positions are in degrees and velocities in degrees per second: of all
            joints, or of those that are named.
        time_unit: Of a table's times: ``s`` if not given, ``ms``, ``us`` or ``ns``.
        efforts: Whether efforts are needed; if not, they are not looked at.
        by_number: Whether a table's headings may name joints by their number, {i}, in ``joints``.

    Raises:
        RecordingError: naming what was found, and what to give instead.
    """
    if isinstance(joints, str):
        finding = f"expected a list of names, found the text {joints!r}"
        raise RecordingError("joints", finding, f"write [{joints!r}], or give topic={joints!r}")
    location, names, renaming = Path(path), tuple(joints), dict(rename or {})
    units = units_of(names, degrees)
    if not is_table(location):
        only = {"--columns": columns, "--rate": rate, "--time-unit": time_unit}
        refuse_others(path, "a bag", only)
        return recording_of(open_topic(open_bag(location), names, topic, renaming, units), efforts)
    refuse_others(path, "a table", {"--topic": topic})
    files = tables_in(location)
    tables = [
        TableReader(
            file, names, rename=renaming, columns=columns, rate=rate, units=units,
            time_unit=time_unit or "s", efforts=efforts, by_number=by_number,
        )
        for file in files or [location]
    ]  # fmt: skip
    table = tables[0]
    lost = tuple(lost_splits(location, [file.name for file in files]))
    reader = SeriesReader(str(path), tuple(tables), lost) if files else table
    recording = recording_of(reader, efforts)
    if table.columns["time"] and not SLOWEST <= recording.rate <= FASTEST:
        text = f"{path}: {recording.rate:.3g} samples per second; give the unit of its times"
        warnings.warn(f"{text} (--time-unit ms, us, ns)", GearedDynamicsWarning, stacklevel=2)
    return recording


def is_table(path: Path) -> bool:
    """Whether a path is that of a table of text, or of a folder with the parts of one."""
    if is_folder(path):
        return bool(tables_in(path))
    return path.suffix.lower() in TABLES


def refuse_others(path: str | Path, kind: str, options: Mapping[str, object]) -> None:
    """Raise if an option is given that this kind of recording has no use for."""
    for name, value in options.items():
        if value:
            raise RecordingError(name, f"does not apply to {kind} ({path})", "leave it out")


def units_of(joints: Sequence[str], degrees: bool | Collection[str]) -> tuple[float, ...]:
    """What positions are multiplied with to be in radian or metres; empty: nothing."""
    if isinstance(degrees, bool):
        return (np.pi / 180.0,) * len(joints) if degrees else ()
    return tuple(np.pi / 180.0 if joint in degrees else 1.0 for joint in joints)


def recording_of(reader: Reader, efforts: bool = True) -> Recording:
    """Look into samples all over a recording, and make one.

    Pieces are looked at until there is what is needed; the usual time between samples is the
    median of all that were seen.

    Raises:
        RecordingError: If there is none.
    """
    decoded, first = DecodedPieces(reader), spread(reader.pieces, PROBED)
    rest = (piece for piece in range(reader.pieces) if piece not in first)
    steps: list[IntArray] = []
    seen = np.zeros(3, bool)  # positions, velocities, efforts
    needed, samples, tally = np.array([True, False, efforts]), 0, Tally()
    for number, piece in enumerate(chain(first, rest)):
        if number >= len(first) and seen[needed].all() and any(len(x) for x in steps):
            break
        part = decoded[piece]
        steps.append(time_steps(part.stamp))
        values = (part.position, part.velocity, part.effort)
        seen |= [bool(np.isfinite(x).any()) for x in values]
        samples, tally = samples + len(part.stamp), tally.plus(part.tally)
    every = np.concatenate([np.empty(0, np.int64), *steps])
    period = int(np.median(every)) if every.size else 0
    refuse_unusable(reader, period, samples, tally)
    for what, there in (("positions", seen[0]), ("efforts", seen[2] or not efforts)):
        if not there:
            remedy = f"record a source that measures {what}, or {reader.other}"
            raise RecordingError(reader.path, f"has no {what} (empty or NaN)", remedy)
    return Recording(decoded, period, efforts, bool(seen[1]))


def refuse_unusable(reader: Reader, period: int, samples: int, tally: Tally) -> None:
    """Raise if no sample is later than another."""
    if period > 0:
        return
    finding = f"holds {samples} samples"
    finding += ", none later than the first" if samples > 1 else ""
    finding += "".join(f" ({note})" for note in (*reader.notes, tally.in_words()) if note)
    remedy = "record a motion of some seconds"
    if tally.partial:
        remedy = "record all joints in the same messages, or choose some with --joints"
    elif samples > 1:
        remedy = "record samples with their times"
    raise RecordingError(reader.path, finding, remedy)


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
