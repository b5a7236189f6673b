"""Tables of text that are no tables, or whose numbers are written as nobody expects."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from hostile.cases import COUNT, NAMES, A, Case, Cases, Make, Q, T, V, of_bytes

HEADS = [
    "time",
    *(f"{kind}.{name}" for kind in ("position", "velocity", "effort") for name in NAMES),
]
ROWS = np.column_stack([T, Q, V, A]).tolist()
LINES = [[repr(x) for x in row] for row in ROWS]


def written(
    heads: list[str] | None = None,
    *,
    between: str = ",",
    ends: str = "\n",
    row: dict[int, str] | None = None,
    cell: object = None,
    head: str | None = None,
) -> str:
    """A table.

    Args:
        heads: Its headings.
        between: What is between the columns.
        ends: What ends the lines.
        row: Other rows, by number.
        cell: Changes the text of each cell, by row and column.
        head: The whole first line.
    """
    lines = [between.join(heads or HEADS) if head is None else head]
    for k, cells in enumerate(LINES):
        if cell is not None:
            cells = [cell(k, i, x) for i, x in enumerate(cells)]  # type: ignore[operator]
        lines.append((row or {}).get(k, between.join(cells)))
    return ends.join(lines) + ends


def table(*args: object, name: str = "t.csv", before: bytes = b"", **options: object) -> Make:
    """A file with a table."""
    return of_bytes(name, before + written(*args, **options).encode())  # type: ignore[arg-type]


def changed(column: int, rows: range, word: str) -> object:
    """A change of cells in some rows of a column."""
    return lambda k, i, x: word if i == column and k in rows else x


def sparse(folder: Path) -> Path:
    """A good beginning, and a hole of 300 GB."""
    path = folder / "t.csv"
    with path.open("wb") as stream:
        stream.write(written().encode())
        stream.truncate(300 * 10**9)
    return path


def pipe(folder: Path) -> Path:
    """A pipe that nobody writes to."""
    path = folder / "t.csv"
    os.mkfifo(path)
    return path


GONE = "1 damaged messages"
SOME = range(100, 200)
LONG = "x" * 5_000_000
CASES: Cases = {
    "whole": Case("the good table", table(), COUNT),
    "semicolons": Case("semicolons", table(between=";"), COUNT),
    "tabs": Case("tabs", table(between="\t", name="t.tsv"), COUNT),
    "CR LF": Case("lines as on Windows", table(ends="\r\n"), COUNT),
    "CR": Case("lines as on old Macs", table(ends="\r"), None, "has no"),
    "blank lines": Case("every second line is empty", table(ends="\n\n"), COUNT),
    "BOM": Case("a mark of UTF-8", table(before=b"\xef\xbb\xbf"), COUNT),
    "UTF-16": Case("UTF-16 with a mark", of_bytes("t.csv", written().encode("utf-16")), None,
        "UTF-16"),
    "UTF-16 big endian": Case("UTF-16, big endian",
        of_bytes("t.csv", b"\xfe\xff" + written().encode("utf-16-be")),
                              None, "UTF-16"),
    "UTF-16 without a mark": Case("zeros between the letters",
        of_bytes("t.csv", written().encode("utf-16-le")), None,
                                  "is not text"),
    "UTF-32": Case("UTF-32", of_bytes("t.csv", written().encode("utf-32")), None,
        "UTF-16|no text"),
    "Latin-1": Case("a heading that is not UTF-8",
                    of_bytes("t.csv", written([*HEADS, "\xb0C"], cell=None).encode("latin-1")),
                    COUNT),
    "zero bytes": Case("a zero within a number", table(row={20: "1.02\0,1"}), None, "is not text"),
    "late zero bytes": Case("a zero within a number, far from the start",
                            of_bytes("t.csv",
                            written(row={5: "#" + "x" * 70_000, 200: "\0" * 9}).encode()), 298,
                            "2 damaged messages"),
    "tail of zeros": Case("power was lost: 20 MB of zeros at the end",
                          of_bytes("t.csv",
                          (written() + "#" * 70_000 + "\n").encode() + bytes(20 * 2**20)), COUNT,
                          "cut off"),
    "hole": Case("a sparse file of 300 GB", sparse, COUNT, "cut off"),
    "empty": Case("no byte", of_bytes("t.csv", b""), None, "is empty"),
    "white": Case("blanks and line ends only", of_bytes("t.csv", b" \n\t\n" * 50), None,
        "is empty"),
    "one byte": Case("one letter", of_bytes("t.csv", b"x"), None, "has no"),
    "headings only": Case("no rows", of_bytes("t.csv", ",".join(HEADS).encode()), None,
        "0 samples"),
    "one row": Case("one row",
        of_bytes("t.csv", "\n".join([",".join(HEADS), ",".join(LINES[0])]).encode()), None,
                    "1 samples"),
    "no headings": Case("numbers at once",
        of_bytes("t.csv", written().partition("\n")[2].encode()), None,
                        "no row of headings"),
    "bag as table": Case("a bag with another name",
        of_bytes("t.csv", b"SQLite format 3\0" + bytes(99)), None,
                         "is not text"),
    "heading of 5 MB": Case("a heading without end", of_bytes("t.csv", LONG.encode()), None,
        "4 MiB"),
    "heading of 3 MB": Case("an error must not quote it",
        of_bytes("t.csv", (LONG[:3_000_000] + "\n1\n").encode()), None,
                            "has no"),
    "time of 3 MB": Case("an error must not quote it",
        table(cell=changed(0, range(COUNT), LONG[:9000])), None,
                         "for a time"),
    "empty headings": Case("columns without headings", table([*HEADS, "", "", ""]), COUNT),
    "heading twice": Case("two columns of one name: which one?",
        table([*HEADS[:4], "position.joint_1", *HEADS[5:7],
                          "effort.joint_1", "effort.joint_2", "effort.joint_3"]), None,
                          "2 columns"),
    "time twice": Case("two columns of times", table([*HEADS[:4], "time", *HEADS[5:]]), None,
        "2 columns"),
    "other twice": Case("two other columns of one name",
        table([*HEADS[:4], "x", "x", *HEADS[6:]]), COUNT),
    "quoted": Case("all cells in quotes", table(cell=lambda k, i, x: f'"{x}"'), COUNT),
    "open quote": Case("a quote that is never closed", table(row={50: '1.05,"1,2,3,4,5,6,7,8,9'}),
        COUNT),
    "open quote elsewhere": Case("a quote that is never closed, in a column that is not read",
                                 table([*HEADS, "note"], cell=None,
                                 row={50: ",".join(LINES[50]) + ',"oops'}), COUNT),
    "two open quotes": Case("two such quotes, with good rows between them",
                            table([*HEADS, "note"],
                            row={k: ",".join(LINES[k]) + ',"oops' for k in (50, 150)}), COUNT),
    "escaped quotes": Case("quotes within quotes",
                           table([*HEADS, "note"],
                           row={50: ",".join(LINES[50]) + ',"a ""b"" c"'}), COUNT),
    "decimal commas": Case("decimal commas",
        table(between=";", cell=lambda k, i, x: x.replace(".", ",")), COUNT),
    "decimal commas quoted": Case("decimal commas in quotes",
                                  table(cell=lambda k, i, x: '"' + x.replace(".", ",") + '"'),
                                  COUNT),
    "mixed separators": Case("headings with semicolons, rows with commas",
        table(head=";".join(HEADS)), None,
                             "for a time|holds 0 samples"),
    "thousands": Case("1,234.5 makes a column more: the others shift",
                      table(cell=lambda k, i, x: "1,234.5" if i == 1 and k in SOME else x), 200,
                      "100 damaged messages"),
    "thousands in all": Case("the same in every row",
                             table(cell=lambda k, i, x: "1,234.5" if i == 1 else x), None,
                             "more cells"),
    "thousands quoted": Case("1,234.5 in quotes is no number",
                             table(cell=lambda k, i,
                             x: '"1,234.5"' if i == 1 and k in SOME else x), COUNT),
    "trailing commas": Case("a comma behind each row",
        table(cell=lambda k, i, x: x + "," * (i == 9)), COUNT),
    "a cell more": Case("a row with a cell more than headings",
        table(row={50: "7," + ",".join(LINES[50])}), 299, GONE),
    "a cell less": Case("a row with a cell less", table(row={50: ",".join(LINES[50][:-1])}),
        COUNT),
    "cut row": Case("the disk was full: half of the last row",
        of_bytes("t.csv", written().encode()[:-60]), (299, 300),
                    ""),
    "1e400": Case("a number beyond all", table(cell=changed(1, SOME, "1e400")), COUNT),
    "nan": Case("nan, NaN and -nan", table(cell=changed(1, SOME, "-NaN")), COUNT),
    "infinity": Case("infinity, written out", table(cell=changed(1, SOME, "-Infinity")), COUNT),
    "hex": Case("hexadecimal", table(cell=changed(1, SOME, "0x10")), COUNT),
    "underscore": Case("1_000, which Python takes for a number",
        table(cell=changed(1, SOME, "1_000")), COUNT),
    "other digits": Case("digits of another script", table(cell=changed(1, SOME, "\u0661\u0662")),
        COUNT),
    "5000 digits": Case("a number of 5000 digits", table(cell=changed(1, SOME, "9" * 5000)),
        COUNT),
    "Fortran": Case("1d5", table(cell=changed(1, SOME, "1d5")), COUNT),
    "words": Case("words for numbers", table(cell=changed(1, SOME, "n/a")), COUNT),
    "times backwards": Case("times that fall", of_bytes("t.csv", "\n".join(
        [",".join(HEADS), *(",".join(cells) for cells in LINES[::-1])]).encode()), None,
        "none later than the first"),
    "one time": Case("a time that stands", table(cell=changed(0, range(COUNT), "5.0")), None,
        "none later"),
    "negative times": Case("times before zero",
        table(cell=lambda k, i, x: str(float(x) - 9.0) if i == 0 else x), 0, "", COUNT),
    "huge time": Case("times beyond int64",
        table(cell=lambda k, i, x: x + "e12" if i == 0 else x), None, "not a time"),
    "huge late time": Case("one time beyond int64",
        table(cell=changed(0, range(150, 151), "9e18")), 299, GONE),
    "from end to end": Case("times whose difference is beyond int64",
                            table(cell=lambda k, i,
                            x: ("-" if k < 150 else "") + "9.1e9" if i == 0 else x), None,
                            "not a time|none later"),
    "infinite time": Case("an infinite time", table(cell=changed(0, range(150, 151), "inf")), 299,
        GONE),
    "no time": Case("a time that is missing", table(cell=changed(0, range(150, 151), "")), 299,
        GONE),
    "dates": Case("dates for times", table(cell=changed(0, range(COUNT), "2024-01-01T00:00:00Z")),
        None, "for a time"),
    "line separators": Case("letters that Python takes for ends of lines",
                            table([*HEADS, "note"],
                            row={50: ",".join(LINES[50]) + ",a\u2028b\x0bc\x85d"}), COUNT),
    "comment": Case("a comment between the rows", table(row={50: "# paused"}), 299, ""),
    "100 000 columns": Case("columns without end", table(head=",".join(HEADS) + ",x" * 100_000),
        COUNT),
    "a row of 20 MB": Case("a row without end",
        lambda folder: table(row={50: ",".join(LINES[50]) + ",1" * 10_000_000})(folder), 299, GONE,
                           heavy=True),
    "negative rate": Case("a rate that is none", table(["x", *HEADS[1:]]), None, "--rate",
        options={"rate": -1.0}),
    "rate of zero": Case("a rate of zero", table(["x", *HEADS[1:]]), None, "--rate",
        options={"rate": 0.0}),
    "rate not a number": Case("a rate of NaN", table(["x", *HEADS[1:]]), None, "--rate",
                              options={"rate": float("nan")}),
    "pipe": Case("a pipe is waited for, without end", pipe, None, "not a regular file"),
}  # fmt: skip
