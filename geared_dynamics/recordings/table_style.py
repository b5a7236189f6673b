"""How a table of text is written: what separates its columns and its decimals."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.errors import RecordingError

DECIMAL_COMMA = re.compile(rb"\d,\d")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
CONTROL = frozenset(range(9))  # bytes that no text has
ZEROS = bytes(64)  # no text: what a disk has behind the end of what was written
LONGEST = 1 << 22  # bytes of a row
PIECE = 1 << 16  # bytes that are compared at a time


class Style(NamedTuple):
    """How a table is written: what is between its columns, and whether decimals have commas."""

    delimiter: str
    decimal_comma: bool

    def text(self, data: bytes) -> str:
        """Lines with decimal points."""
        if self.decimal_comma:
            data = data.replace(b",", b".")
        return data.decode("utf-8", "replace")

    def rows(self, data: bytes, columns: Sequence[int], width: int) -> Iterator[list[str]]:
        """Cells of lines in some columns, empty where there is none; no line without any cell.

        A line with more cells than there are headings has none that can be named. Lines are read
        one by one, so that an unclosed quote costs its own line.
        """
        for line in self.text(data).split("\n"):
            row = self.cells(line.removesuffix("\r"))
            if any(cell and not cell.isspace() for cell in row[width:]):
                yield [""] * len(columns)
            elif row:
                yield [row[k] if k < len(row) else "" for k in columns]

    def cells(self, line: str) -> list[str]:
        """Cells of a line."""
        try:
            return next(csv.reader([line], delimiter=self.delimiter), [])
        except csv.Error:  # a cell beyond all measure
            return line.split(self.delimiter)

    def fits(self, data: bytes, width: int) -> bool:
        """Whether no line can have more cells than there are headings, and none is quoted.

        A delimiter at the end of a line is no cell more.
        """
        if b'"' in data:
            return False
        between = self.delimiter.encode()
        cuts = occurrences(data, between)
        lines = occurrences(data, b"\n") + (not data.endswith(b"\n"))
        if cuts <= lines * (width - 1):
            return True
        ends = data.count(between + b"\n") + data.count(between + b"\r\n")
        return bool(cuts <= lines * (width - 1) + ends + data.endswith(between))

    def headings(self, line: bytes) -> list[str]:
        """Headings, without the mark of a comment before them."""
        text = line.decode("utf-8-sig", "replace").strip().lstrip("# ")
        return [cell.strip() for cell in self.cells(text)]


def occurrences(data: bytes, letter: bytes) -> int:
    """How often a byte occurs; quicker than ``bytes.count``, in pieces that take no memory."""
    letters, code = np.frombuffer(data, np.uint8), letter[0]
    pieces = (letters[k : k + PIECE] for k in range(0, letters.size, PIECE))
    return sum(int(np.count_nonzero(piece == code)) for piece in pieces)


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
    text = start.partition(ZEROS)[0]
    start = text if b"\n" in text else start
    if not CONTROL.isdisjoint(start):
        remedy = "give a table of numbers with a row of headings, or a bag"
        raise RecordingError(path, "is not text", remedy)
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
        # Python takes 1_000 and digits of other scripts for numbers as well.
        return float(cell.replace(",", ".")) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        return math.nan
