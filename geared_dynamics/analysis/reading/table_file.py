"""Recordings in tables of text (CSV): a row per sample, a heading per column."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from geared_dynamics.analysis.reading.container import PIECE, reopened
from geared_dynamics.analysis.reading.joints import renamed
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.reading.samples import Samples, Tally
from geared_dynamics.analysis.reading.table_style import number, refuse_bare, style_of
from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsWarning

TimeUnit = Literal["s", "ms", "us", "ns"]
NANOSECONDS = dict(zip(get_args(TimeUnit), (1e9, 1e6, 1e3, 1.0), strict=True))
LATEST = 9.2e18  # [ns] of a stamp; seconds beyond it are another unit
LOOKED_AT = 1 << 16  # first bytes that tell how a table is written
LONGEST = 1 << 22  # bytes of the row of headings
FIRST_ROWS = 5  # that tell whether a column holds times: the first may name units
READ = 1 << 24  # bytes at a time while looking for line ends
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
        self.path, self.place, self.rate = str(path), path.resolve(), rate
        self.by_number = by_number
        self.joints = renamed(joints, rename or {})
        self.notes: tuple[str, ...] = ()
        self.other = "name other columns with --columns"
        self.needed = ("position", "effort") if efforts else ("position",)
        self.units = np.array(units) if units else np.ones(len(self.joints))
        if time_unit not in NANOSECONDS:
            remedy = f"give one of {', '.join(NANOSECONDS)}"
            raise RecordingError("--time-unit", f"there is no unit {time_unit!r}", remedy)
        self.nanoseconds = NANOSECONDS[time_unit]
        try:
            with path.open("rb") as stream:
                self.style = style_of(self.path, stream.read(LOOKED_AT))
                stream.seek(0)
                heading = stream.readline(LONGEST)
                self.starts = row_starts(stream, len(heading))
                stream.seek(len(heading))
                begin = [stream.readline(LONGEST) for _ in range(FIRST_ROWS)]
        except OSError as error:
            raise RecordingError(
                self.path, f"cannot be read ({error.strerror})", "check the path"
            ) from None
        if len(heading) == LONGEST:
            finding = f"has a first line of more than {LONGEST >> 20} MiB"
            raise RecordingError(self.path, finding, "give a table with a row of headings")
        headings = self.style.headings(heading)
        refuse_bare(self.path, self.style, headings, self.joints)
        self.columns = self._columns(headings, dict(columns or {}))
        if self.columns["time"]:
            self._refuse_times(headings[self.columns["time"][0]], b"".join(begin))

    def _refuse_times(self, heading: str, begin: bytes) -> None:
        """Raise if the first times are no numbers, or no times."""
        place = f"{self.path}, column {heading}"
        if self.rate is not None:
            finding = f"the table has times, in its column {heading}"
            raise RecordingError("--rate", finding, "leave it out")
        cells = [cell for (cell,) in self.style.rows(begin, self.columns["time"]) if cell]
        times = np.array([number(cell) for cell in cells])
        if cells and np.isnan(times).all():
            remedy = "write times as numbers, in seconds or a unit that --time-unit names"
            raise RecordingError(place, f"holds {cells[-1]!r} for a time", remedy)
        largest = float(np.nanmax(np.abs(times))) if cells else 0.0
        if largest * self.nanoseconds > LATEST:
            units = [unit for unit in ("ms", "us", "ns") if largest * NANOSECONDS[unit] < LATEST]
            finding = f"holds {largest:.4g}, which is no time in seconds"
            remedy = f"give its unit: --time-unit {units[0]}" if units else "name another column"
            raise RecordingError(place, finding, remedy)

    def _columns(self, headings: list[str], given: dict[str, str]) -> dict[str, list[int]]:
        """Column numbers of each quantity; none where it is not in the table."""
        for quantity in given:
            if quantity not in USUAL:
                remedy = f"name one of {', '.join(USUAL)}"
                raise RecordingError("--columns", f"there is no quantity {quantity!r}", remedy)
        found = {}
        for quantity, usual in USUAL.items():
            patterns = (given[quantity],) if quantity in given else usual
            found[quantity] = self._first(headings, patterns, quantity)
            if not found[quantity] and (quantity in given or quantity in self.needed):
                raise self._missing(quantity, patterns, headings)
        if not found["time"] and self.rate is None:
            remedy = "name it (--columns time=HEADING), or give --rate, samples per second"
            raise RecordingError(
                self.path, f"has no column of times; it has {shown(headings)}", remedy
            )
        return found

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
            text = (
                f"{self.path}: has {more} as well; numbers are taken for {', '.join(self.joints)}"
            )
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
            data = stream.read(self.starts[piece + 1] - self.starts[piece])
        rows = self._rows(data)
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
        text = io.StringIO(self.style.text(data))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # no lines at all
                found = np.loadtxt(
                    text, delimiter=self.style.delimiter, usecols=used, ndmin=2, quotechar='"'
                )
        except (ValueError, UserWarning):
            rows = [[number(cell) for cell in row] for row in self.style.rows(data, used)]
            found = np.array(rows, float).reshape(-1, len(used))
        return found

    def _used(self) -> list[int]:
        """Numbers of the columns that are read, in rising order."""
        return sorted({k for columns in self.columns.values() for k in columns})

    def _part(self, rows: Array, quantity: str, n: int) -> Array:
        """Columns of one quantity (k, n); NaN where the table has none."""
        columns = self.columns[quantity]
        if not columns:
            return np.full((len(rows), n), np.nan)
        return rows[:, np.searchsorted(self._used(), columns)]


def row_starts(stream: io.BufferedReader, first: int) -> list[int]:
    """Where every PIECE-th row starts, and where the last one ends."""
    starts, seen, at = [first], 0, first
    while data := stream.read(READ):
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + at + 1
        starts += ends[PIECE - 1 - seen % PIECE :: PIECE].tolist()
        seen, at = seen + len(ends), at + len(data)
    if starts[-1] != at:
        starts.append(at)
    return starts


def written(pattern: str, joints: Sequence[str]) -> list[str]:
    """Headings of all joints by a pattern with {joint} or {i}."""
    return [
        re.sub(r"\{i\}", str(i), pattern.replace("{joint}", joint))
        for i, joint in enumerate(joints, 1)
    ]


def shown(headings: Sequence[str]) -> str:
    """Write some headings."""
    more = ", ..." if len(headings) > 12 else ""
    return ", ".join(headings[:12]) + more
