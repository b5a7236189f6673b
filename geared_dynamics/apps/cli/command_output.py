"""What commands print: tables for the terminal, or one JSON document."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from geared_dynamics import __version__
from geared_dynamics.errors import printable
from geared_dynamics.model.model import GearedModel

# -- Tables of names and numbers, as wide as the terminal where names can be broken at a _ --------


# Letters of a name from which on it may be broken: names are whole while the table fits, and
# in ever shorter parts where it does not.
WHOLE, SHORTEST = 24, 8
FRAME = 2  # between columns, and at the edges
PARTS = re.compile(r"[^_./-]*[_./-]?")
NAME = re.compile(r"[^\W\d_]{2}")  # two letters: no number has them but inf and nan


def numeric_table(first: str, *columns: str) -> Table:
    """Return an empty table: names in the first column, numbers in the others."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def print_table(console: Console, title: str, table: Table) -> None:
    """Print a table below its title (a table's own title would be broken at its width)."""
    if title:
        console.print(title, style="bold", soft_wrap=True)
    table, needed = fitted(table, console.width)
    width, console.width = console.width, max(console.width, needed)  # rather than cut names short
    console.print(table)
    console.width = width


def print_matrix(
    console: Console,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
) -> None:
    """Print a matrix with its names; columns have numbers where names make it too wide."""
    table = numeric_table("", *columns)
    names = [*rows]
    if width_of(table, rows) > console.width:
        heads = [str(k + 1) for k in range(len(columns))]
        table = numeric_table("", *heads)
        if list(columns) == names:
            names = [f"{head} {name}" for head, name in zip(heads, names, strict=True)]
        else:
            listed = ", ".join(f"{k}={name}" for k, name in zip(heads, columns, strict=True))
            console.print(title, style="bold", soft_wrap=True)
            print_indented(console, f"columns: {listed}")
            title = ""
    for name, row in zip(names, cells, strict=True):
        table.add_row(name, *row)
    print_table(console, title, table)


def print_indented(console: Console, line: str) -> None:
    """Print a line below a heading; what does not fit goes on below it, further right."""
    wrapped = textwrap.wrap(
        printable(line),
        console.width,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    console.print("\n".join(wrapped), soft_wrap=True)


def width_of(table: Table, rows: Sequence[str]) -> int:
    """Width of a matrix whose headings are its widest words."""
    heads = [cell_len(printable(str(column.header))) for column in table.columns[1:]]
    return widest(lines_of(rows)) + sum(heads) + FRAME * (len(heads) + 1)


def fitted(table: Table, most: int) -> tuple[Table, int]:
    """Return a table at most so wide, where breaking names allows it, and how wide it is.

    rich by itself breaks names in the middle, when some columns still have room.
    """
    columns = [[*map(str, column.cells)] for column in table.columns]
    lines = [
        (lines_of([str(column.header)]), lines_of(cells))
        for column, cells in zip(table.columns, columns, strict=True)
    ]
    full = [widest([*head, *cells]) for head, cells in lines]
    for limit in range(WHOLE, SHORTEST - 1, -1):
        wide = shrunk(full, [narrowest(*column, limit) for column in lines], most)
        if sum(wide) + FRAME * len(wide) <= most:
            break
    result = Table(box=table.box, pad_edge=False, collapse_padding=True)
    for column, width in zip(table.columns, wide, strict=True):
        result.add_column(
            broken(str(column.header), width),
            justify=column.justify,
            overflow="fold",
            width=width,
        )
    for row in zip(*columns, strict=True):
        result.add_row(*(broken(cell, width) for cell, width in zip(row, wide, strict=True)))
    return result, sum(wide) + FRAME * len(wide)


def shrunk(full: list[int], least: list[int], most: int) -> list[int]:
    """Take letters from the widest columns until the table fits, or none can be taken."""
    wide = list(full)
    while sum(wide) + FRAME * len(wide) > most and wide != least:
        k = max((k for k in range(len(wide)) if wide[k] > least[k]), key=lambda k: wide[k])
        wide[k] -= 1
    return wide


def lines_of(cells: Sequence[str]) -> list[str]:
    """All lines of some cells, as they are shown."""
    return [printable(line) for cell in cells for line in cell.splitlines()]


def widest(texts: Sequence[str]) -> int:
    """Width of the widest of some texts."""
    return max(map(cell_len, texts), default=0)


def narrowest(head: Sequence[str], cells: Sequence[str], limit: int) -> int:
    """Width that a column needs at least: of numbers all, of names their parts."""
    if not any(NAME.search(line) for line in cells):
        return widest([*head, *cells])
    words = [word for line in [*head, *cells] for word in line.split()]
    return max((shortest(word, limit) for word in words), default=0)


def shortest(word: str, limit: int) -> int:
    """Width of a word that may be broken at its separators, if it is longer than the limit."""
    if cell_len(word) <= limit or not NAME.search(word):
        return cell_len(word)
    return min(max(limit, widest(PARTS.findall(word))), WHOLE)


def broken(text: str, width: int) -> str:
    """Break words that are wider than a column where a part of the name ends."""
    return "\n".join(
        " ".join(
            word if cell_len(word) <= width else "\n".join(pieces(word, width))
            for word in printable(line).split(" ")
        )
        for line in text.split("\n")
    )


def pieces(word: str, width: int) -> Iterator[str]:
    """As few pieces of a word as fit, each ending where a part of it ends."""
    line = ""
    for part in PARTS.findall(word):
        if line and cell_len(line + part) > width:
            yield line
            line = ""
        line += part
    yield line


# -- --json: what a command found as one JSON document --------------------------------------------
#
# documents.schema.json beside this file describes the document of each command. Numbers are in
# SI units, as in Python; one that is not finite is null, since JSON has no word for it.


SCHEMA = "documents.schema.json"


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Let a command print its document in place of its tables."""
    parser.add_argument(
        "--json",
        action="store_true",
        help=f"print one JSON document and nothing else (schema: {SCHEMA} in the package)",
    )


def print_document(command: str, body: Mapping[str, object]) -> None:
    """Write the document of a command."""
    head = {"command": command, "version": __version__}
    json.dump(plain({**head, **body}), sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def robot_part(model: GearedModel) -> dict[str, object]:
    """What every document says of the robot: its names, its files, and what is known of it."""
    return {
        "name": model.name,
        "urdf": model.source,
        "drivetrain": model.drivetrain_source,
        "joints": model.joint_names,
        "wheels": model.wheel_names,
        "motors": model.motor_names,
        "knowledge": model.knowledge._asdict(),
    }


def plain(value: object) -> Any:
    """A value as JSON has it: arrays as lists, paths as text, what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value
