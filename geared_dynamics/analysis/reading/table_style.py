"""How a table of text is written: what separates its columns and its decimals."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from geared_dynamics.analysis.reading.problems import RecordingError

DECIMAL_COMMA = re.compile(rb"\d,\d")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
CONTROL = frozenset(range(9))  # bytes that no text has


class Style(NamedTuple):
    """How a table is written: what is between its columns, and whether decimals have commas."""

    delimiter: str
    decimal_comma: bool

    def text(self, data: bytes) -> str:
        """Lines with decimal points."""
        if self.decimal_comma:
            data = data.replace(b",", b".")
        return data.decode("utf-8", "replace")

    def rows(self, data: bytes, columns: Sequence[int]) -> Iterator[list[str]]:
        """Cells of lines in some columns, empty where there is none; no line without any cell.

        Lines are read one by one, so that an unclosed quote costs its own line.
        """
        for line in self.text(data).splitlines():
            try:
                row = next(csv.reader([line], delimiter=self.delimiter), [])
            except csv.Error:  # a cell beyond all measure
                row = line.split(self.delimiter)
            if row:
                yield [row[k] if k < len(row) else "" for k in columns]

    def headings(self, line: bytes) -> list[str]:
        """Headings, without the mark of a comment before them."""
        text = line.decode("utf-8-sig", "replace").strip().lstrip("# ")
        try:
            row = next(csv.reader([text], delimiter=self.delimiter), [])
        except csv.Error:
            row = text.split(self.delimiter)
        return [cell.strip() for cell in row]


def style_of(path: str, start: bytes) -> Style:
    """How a table is written, from its first bytes.

    Raises:
        RecordingError: If it is no table of text.
    """
    if not start.strip():
        remedy = "give a table with a row of headings and a row for each sample"
        raise RecordingError(path, "is empty", remedy)
    if start.startswith(UTF_16):
        remedy = "convert it: iconv -f UTF-16 -t UTF-8"
        raise RecordingError(path, "is in UTF-16", remedy)
    if not CONTROL.isdisjoint(start):
        remedy = "give a table of numbers with a row of headings, or a bag"
        raise RecordingError(path, "is no text", remedy)
    heading, _, rows = start.partition(b"\n")
    delimiter = max(",;\t", key=heading.decode("utf-8", "replace").count)
    return Style(delimiter, delimiter != "," and bool(DECIMAL_COMMA.search(rows)))


def refuse_bare(path: str, style: Style, heading: list[str], joints: Sequence[str]) -> None:
    """Raise if a table has no row of headings, or its columns are not separated.

    Args:
        path: The table.
        style: How it is written.
        heading: Cells of its first line.
        joints: The robot's joints, as the table calls them.
    """
    if len(heading) == 1 and len(heading[0].split()) > 1:
        remedy = f"write commas: sed -E 's/^ +//; s/ +/,/g' {Path(path).name} > commas.csv"
        raise RecordingError(path, "separates its columns by spaces", remedy)
    if not heading or any(math.isnan(number(cell)) for cell in heading):
        return
    columns, n = len(heading), len(joints)
    finding = f"has no row of headings: its first line is {columns} numbers"
    kinds = {2: ("position", "effort"), 3: ("position", "velocity", "effort")}.get(columns // n)
    remedy = f"write a line of {columns} headings above it: time, position.JOINT, effort.JOINT"
    if kinds is not None and columns % n < 2:  # a column of times more than of joints, or none
        names = ["time"] * (columns % n) + [f"{kind}.{j}" for kind in kinds for j in joints]
        line = style.delimiter.join(names).replace("\t", "\\t")
        remedy = (
            f"write one above it, if this is the order of its columns: sed -i '1i {line}' {path}"
        )
        remedy += "" if columns % n else ", and give --rate"
    raise RecordingError(path, finding, remedy)


def number(cell: str) -> float:
    """Read a number, with a decimal point or comma; NaN if it is none."""
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return float("nan")
