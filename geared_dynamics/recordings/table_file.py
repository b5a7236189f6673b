"""Recordings in tables of text (CSV): a row per sample, a heading per column."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal, get_args

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsWarning, RecordingError, shortened
from geared_dynamics.recordings.container import PIECE, regular_file, reopened
from geared_dynamics.recordings.joint_topics import renamed
from geared_dynamics.recordings.samples import Samples, Tally
from geared_dynamics.recordings.table_style import (
    LONGEST,
    ZEROS,
    Style,
    number,
    refuse_bare,
    style_of,
)

TimeUnit = Literal["s", "ms", "us", "ns"]
NANOSECONDS = dict(zip(get_args(TimeUnit), (1e9, 1e6, 1e3, 1.0), strict=True))
LATEST = (
    4.6e18  # [ns] of a stamp, so that differences fit as well; seconds beyond it are another unit
)
LOOKED_AT = 1 << 16  # first bytes that tell how a table is written
FIRST_ROWS = 5  # that tell whether a column holds times: the first may name units
READ = 1 << 24  # bytes at a time
CUT = "is cut off: zeros are where its next rows should be"
# Headings that are found without being named; {joint} is its name, {i} its number from 1.
USUAL = {
    "time": ("time", "t", "t_s", "stamp", "time_s", "__time"),
    "position": ("position.{joint}", "{joint}.position", "position_{i}", "q_{i}", "q{i}"),
    "velocity": ("velocity.{joint}", "{joint}.velocity", "velocity_{i}", "v_{i}", "qd_{i}"),
    "effort": ("effort.{joint}", "{joint}.effort", "effort_{i}", "tau_{i}", "tau{i}"),
}


class TableReader:
    """A CSV file, read in pieces of PIECE rows."""

    def __init__(
        self,
        path: Path,
        joints: Sequence[str],
        *,
        rename: Mapping[str, str] | None = None,
        columns: Mapping[str, str] | None = None,
        rate: float | None = None,
        units: Sequence[float] = (),
        time_unit: TimeUnit = "s",
        efforts: bool = True,
        by_number: bool = True,
    ) -> None:
        """Find its columns and where its rows are.

        Args:
            path: The file.
            joints: The robot's joints.
            rename: What the table calls a joint, by the joint, where it differs.
            columns: Headings of ``time``, ``position``, ``velocity`` and ``effort`` with
                {joint} or {i}, where they are not the usual ones.
            rate: Samples per second [1/s], of a table without times.
            units: What the joints' positions and velocities are multiplied with.
            time_unit: Of the times.
            efforts: Whether it must have efforts.
            by_number: Whether headings with {i} are looked for.
        """
        self.path, self.rate = str(path), rate
        self.by_number = by_number
        self.joints = renamed(joints, rename or {})
        self.notes: tuple[str, ...] = ()
        self.other = "name other columns with --columns"
        self.needed = ("position", "effort") if efforts else ("position",)
        self.units = np.array(units) if units else np.ones(len(self.joints))
        if time_unit not in NANOSECONDS:
            remedy = f"give one of {', '.join(NANOSECONDS)}"
            raise RecordingError("--time-unit", f"unknown unit {time_unit!r}", remedy)
        self.nanoseconds = NANOSECONDS[time_unit]
        if rate is not None and not 0.0 < rate < math.inf:
            remedy = "give samples per second, above 0"
            raise RecordingError("--rate", f"is {rate!r}, which is not a frequency", remedy)
        with regular_file(path, "copy it into a file: a table is read in parts") as stream:
            self.place = path.resolve()
            self.style = style_of(self.path, stream.read(LOOKED_AT))
            stream.seek(0)
            heading = stream.readline(LONGEST)
            self.starts, cut = row_starts(stream, len(heading))
            stream.seek(len(heading))
            begin = b"".join(stream.readline(LONGEST) for _ in range(FIRST_ROWS))
        if cut:
            self.notes = (f"{self.path} {CUT}",)
        if len(heading) == LONGEST:
            finding = f"has a first line of more than {LONGEST >> 20} MiB"
            raise RecordingError(self.path, finding, "give a table with a row of headings")
        headings = self.style.headings(heading)
        refuse_bare(self.path, self.style, headings, self.joints)
        self.width = len(headings)
        self.columns = self._columns(headings, dict(columns or {}))
        refuse_twice(self.path, headings, self._used())
        refuse_wide(self.path, self.style, begin, self.width)
        if self.columns["time"]:
            self._refuse_times(headings[self.columns["time"][0]], begin)

    def _refuse_times(self, heading: str, begin: bytes) -> None:
        """Raise if the first times are no numbers, or no times."""
        location = f"{self.path}, column {heading}"
        if self.rate is not None:
            finding = f"the table has times, in its column {heading}"
            raise RecordingError("--rate", finding, "leave it out")
        rows = self.style.rows(begin, self.columns["time"], self.width)
        cells = [cell for (cell,) in rows if cell]
        times = np.array([number(cell) for cell in cells])
        if cells and np.isnan(times).all():
            remedy = "write times as numbers, in seconds or a unit that --time-unit names"
            raise RecordingError(location, f"holds {shortened(cells[-1])!r} for a time", remedy)
        largest = float(np.nanmax(np.abs(times))) if cells else 0.0
        if largest * self.nanoseconds > LATEST:
            units = [unit for unit in ("ms", "us", "ns") if largest * NANOSECONDS[unit] < LATEST]
            finding = f"holds {largest:.4g}, which is not a time in seconds"
            remedy = f"give its unit: --time-unit {units[0]}" if units else "name another column"
            raise RecordingError(location, finding, remedy)

    def _columns(self, headings: list[str], named: dict[str, str]) -> dict[str, list[int]]:
        """Column numbers of each quantity; none where it is not in the table."""
        for quantity in named:
            if quantity not in USUAL:
                remedy = f"name one of {', '.join(USUAL)}"
                raise RecordingError("--columns", f"unknown quantity {quantity!r}", remedy)
        columns = {}
        for quantity, usual in USUAL.items():
            patterns = (named[quantity],) if quantity in named else usual
            columns[quantity] = self._first(headings, patterns, quantity)
            if not columns[quantity] and (quantity in named or quantity in self.needed):
                raise self._missing(quantity, patterns, headings)
        if not columns["time"] and self.rate is None:
            remedy = "name it (--columns time=HEADING), or give --rate, samples per second"
            raise RecordingError(
                self.path, f"has no column of times; it has {shown(headings)}", remedy
            )
        return columns

    def _first(self, headings: list[str], patterns: Sequence[str], quantity: str) -> list[int]:
        """Columns by the first of the patterns that fits all joints."""
        for pattern in patterns:
            if "{i}" in pattern and not self.by_number:
                continue
            names = [pattern] if quantity == "time" else written(pattern, self.joints)
            if all(name in headings for name in names):
                if quantity == "position":
                    self._doubt_numbers(pattern, headings)
                return [headings.index(name) for name in names]
        return []

    def _doubt_numbers(self, pattern: str, headings: list[str]) -> None:
        """Warn if a table has more numbered columns than there are joints."""
        more = pattern.replace("{i}", str(len(self.joints) + 1))
        if "{i}" in pattern and "{joint}" not in pattern and more in headings:
            text = f"{self.path}: has {more} as well; numbers go to {', '.join(self.joints)}"
            remedy = "where joints are frozen, use headings with the joints' names"
            warnings.warn(f"{text}, in this order: {remedy}", GearedDynamicsWarning, stacklevel=5)

    def _missing(
        self, quantity: str, patterns: Sequence[str], headings: list[str]
    ) -> RecordingError:
        """Return the error about columns that are not there."""
        looked = ", ".join(written(pattern, self.joints)[0] for pattern in patterns)
        finding = f"has no {quantity} columns ({looked}, ...); it has {shown(headings)}"
        remedy = f"name them: --columns {quantity}=HEADING, with {{joint}} or {{i}} in the heading"
        return RecordingError(self.path, finding, remedy)

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return len(self.starts) - 1

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        n = len(self.joints)
        with reopened(self.place, self.path) as stream:
            stream.seek(self.starts[piece])
            size = self.starts[piece + 1] - self.starts[piece]
            blocks = [self._rows(lines) for lines in whole_lines(stream, size, self.style)]
        rows = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
        parts = [self._part(rows, key, n) for key in ("position", "velocity", "effort")]
        if self.columns["time"]:
            time = self._part(rows, "time", 1)[:, 0] * self.nanoseconds
        else:
            time = (piece * PIECE + np.arange(len(rows))) * (1e9 / float(self.rate or 1.0))
        timed = np.abs(time) < LATEST
        stamp = np.rint(np.where(timed, time, 0.0)).astype(np.int64)
        samples = Samples(stamp, parts[0] * self.units, parts[1] * self.units, parts[2])
        return samples.rows(timed)._replace(tally=Tally(damaged=int((~timed).sum())))

    def _rows(self, data: bytes) -> Array:
        """Numbers of some lines in the columns that are used; NaN where a cell is none."""
        used = self._used()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # no lines at all
                return self._quick(data, used)
        except (ValueError, UserWarning):
            rows = self.style.rows(data, used, self.width)
            numbers = np.array([[number(cell) for cell in row] for row in rows], float)
        return numbers.reshape(-1, len(used))

    def _quick(self, data: bytes, used: list[int]) -> Array:
        """Numbers of lines that have nothing else in the columns that are used.

        Raises:
            ValueError: If a line does not fit the headings, or a cell is no number.
        """
        text, between = self.style.text(data), self.style.delimiter
        if len(used) == self.width:  # then NumPy itself sees that all lines have as many cells
            with suppress(ValueError):
                numbers = np.loadtxt(io.StringIO(text), delimiter=between, ndmin=2)
                if numbers.shape[1] == self.width:
                    return numbers
        if not self.style.fits(data, self.width):
            raise ValueError
        return np.loadtxt(io.StringIO(text), delimiter=between, usecols=used, ndmin=2)

    def _used(self) -> list[int]:
        """Numbers of the columns that are read, in rising order."""
        return sorted({k for columns in self.columns.values() for k in columns})

    def _part(self, rows: Array, quantity: str, n: int) -> Array:
        """Columns of one quantity (k, n); NaN where the table has none."""
        columns = self.columns[quantity]
        if not columns:
            return np.full((len(rows), n), np.nan)
        return rows[:, np.searchsorted(self._used(), columns)]


def row_starts(stream: BinaryIO, first: int) -> tuple[list[int], bool]:
    """Where every PIECE-th row starts and the last one ends, and whether zeros follow there."""
    starts, seen, at, cut = [first], 0, first, False
    while not cut and (data := stream.read(READ)):
        zeros = data.find(ZEROS) if 0 in data else -1  # one byte is found ten times as fast
        if zeros >= 0:
            data, cut = data[:zeros], True
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + at + 1
        starts += ends[PIECE - 1 - seen % PIECE :: PIECE].tolist()
        seen, at = seen + len(ends), at + len(data)
    if starts[-1] != at:
        starts.append(at)
    return starts, cut


def whole_lines(stream: BinaryIO, size: int, style: Style) -> Iterator[bytes]:
    """Yield the next bytes of a table in blocks of whole lines, of bounded size.

    A line beyond all measure becomes one of two empty cells.
    """
    rest = b""
    while size > 0:
        data = stream.read(min(size, READ))
        size = size - len(data) if data else 0
        data = rest + data
        end = data.rfind(b"\n") + 1 if size else len(data)
        lines, rest = data[:end], data[end : end + LONGEST]
        if has_long_line(lines):
            empty = style.delimiter.encode()
            parts = lines.split(b"\n")
            lines = b"\n".join(x if len(x) < LONGEST else empty for x in parts)
        del data  # before the lines are read: it may be most of the memory
        if lines or not size:
            yield lines


def has_long_line(data: bytes) -> bool:
    """Whether a line may be beyond all measure: then half its length has no end of a line."""
    half = LONGEST // 2
    return any(data.find(b"\n", k, k + half) < 0 for k in range(0, len(data) - half, half))


def refuse_twice(path: str, headings: Sequence[str], used: Sequence[int]) -> None:
    """Raise if a heading that is read stands above two columns: which one is meant?"""
    for k in used:
        count = headings.count(headings[k])
        if count > 1:
            finding = f"has {count} columns {shortened(headings[k])}"
            raise RecordingError(path, finding, "give each column a heading of its own")


def refuse_wide(path: str, style: Style, begin: bytes, width: int) -> None:
    """Raise if the first rows all have more cells than there are headings."""
    rows = [style.cells(line.rstrip("\r")) for line in style.text(begin).split("\n") if line]
    cells = [len(row) - (not row[-1]) for row in rows if row]
    if cells and min(cells) > width:
        finding = f"has more cells in its rows ({min(cells)}) than headings ({width})"
        remedy = "give each column a heading, and write numbers without separators of thousands"
        raise RecordingError(path, finding, remedy)


def written(pattern: str, joints: Sequence[str]) -> list[str]:
    """Headings of all joints by a pattern with {joint} or {i}."""
    return [
        re.sub(r"\{i\}", str(i), pattern.replace("{joint}", joint))
        for i, joint in enumerate(joints, 1)
    ]


def shown(headings: Sequence[str]) -> str:
    """Write some headings."""
    more = ", ..." if len(headings) > 12 else ""
    return ", ".join(shortened(heading) for heading in headings[:12]) + more
