"""A report in one HTML file that needs no network: the template of all reports of this package.

``report.html`` is the page; here its parts become text. The plots' library and data are packed
(gzip) and unpacked by the browser. Curves are rounded for display to a LEVELS-th of their range;
the numbers in tables are not. Texts from files, such as names, are escaped where they enter.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape as escaped
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.errors import extra, printable
from geared_dynamics.files import MARK, write_text

LEVELS = 8191  # between the least and the largest number of a curve
Mood = Literal["good", "bad", "neutral"]
Kind = Literal["line", "dots", "bars", "grid"]


class Curve(NamedTuple):
    """Points of a plot.

    Attributes:
        name: In the legend, where the first of a name stands.
        colour: Name of a colour of the page: measured, model, armature, plain, residual, other.
        x: Numbers or names (k,).
        y: Numbers (k,); NaN breaks the line. Of a grid, names of its rows.
        kind: How they are drawn.
        hidden: Whether a click on the legend shows it first.
        z: Numbers of a grid, rows of y by columns of x, from -1 to 1.
    """

    name: str
    colour: str
    x: Array | Sequence[str]
    y: Array | Sequence[str]
    kind: Kind = "line"
    hidden: bool = False
    z: Array | None = None


class Panel(NamedTuple):
    """One pair of axes."""

    title: str
    unit: str
    curves: Sequence[Curve]
    x_title: str = ""
    from_zero: bool = False


class ReportPlot(NamedTuple):
    """Panels below each other, over one axis or with axes of their own in columns.

    Attributes:
        caption: What is to be seen in it, below the plot.
        panels: From the top.
        x_title: Of the common axis; empty: each panel has its own.
        columns: Panels beside each other, on a wide screen.
        height: Of each panel [px].
    """

    caption: str
    panels: Sequence[Panel]
    x_title: str = ""
    columns: int = 1
    height: int = 130


class Provenance(NamedTuple):
    """Where a report comes from.

    Attributes:
        date: When it was made.
        version: Of this package.
        command: What was typed.
        files: Path, size [bytes] and SHA-256 of each file that was read.
    """

    date: str
    version: str
    command: str
    files: tuple[tuple[str, int, str], ...] = ()


class Report:
    """The parts of a page, in their order."""

    def __init__(self, title: str, answer: str, facts: str, mood: Mood = "neutral") -> None:
        """Begin with the answer.

        Args:
            title: Of the browser's window.
            answer: The first line.
            facts: What it was found from, one line.
            mood: Whether the answer is good.
        """
        self.title, self.answer, self.facts, self.mood = title, answer, facts, mood
        self._parts: list[str] = []
        self._figures: list[dict[str, Any]] = []

    def heading(self, text: str, level: int = 2) -> None:
        """Add a heading."""
        self._parts.append(f"<h{level}>{escape(text)}</h{level}>")

    def text(self, text: str, css: str = "") -> None:
        """Add a paragraph."""
        self._parts.append(
            f'<p class="{css}">{escape(text)}</p>' if css else f"<p>{escape(text)}</p>"
        )

    def code(self, text: str) -> None:
        """Add lines to copy."""
        self._parts.append(f'<pre tabindex="0">{escape(text)}</pre>')

    def finding(self, what: str, more: Sequence[str], *, red: bool) -> None:
        """Add something that is wrong or doubtful."""
        lines = "".join(f"<p>{escape(line)}</p>" for line in more)
        css = "finding red" if red else "finding"
        self._parts.append(
            f'<div class="{css}"><p><strong>{escape(what)}</strong></p>{lines}</div>'
        )

    def table(
        self,
        caption: str,
        heads: Sequence[str],
        rows: Sequence[Sequence[object]],
        *,
        strong: Sequence[int] = (),
        red: Sequence[tuple[int, int]] = (),
        marks: Sequence[str] = (),
        words: bool = False,
    ) -> None:
        """Add a table; the first column names the rows.

        Args:
            caption: Above it.
            heads: Of the columns.
            rows: Texts, or numbers, shown with three digits; a dash where there is none.
            strong: Rows that stand out.
            red: Cells (row, column) that are wrong.
            marks: Small drawings (SVG), a column at the end.
            words: Whether its cells are words, to the left.
        """
        self._parts.append(
            table(caption, heads, rows, strong=strong, red=red, marks=marks, words=words)
        )

    def plot(self, plot: ReportPlot) -> None:
        """Add a plot."""
        name = f"plot{len(self._figures)}"
        self._figures.append(figure(name, plot))
        self._parts.append(
            f'<figure><div class="plot" id="{name}"></div>'
            f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
        )

    def page(self, provenance: Provenance | None = None) -> str:
        """Return the page.

        Args:
            provenance: Where it comes from.
        """
        template = Template(files(__package__).joinpath("report.html").read_text("utf-8"))
        return template.substitute(
            mark=MARK,
            title=escape(self.title),
            mood=self.mood,
            answer=escape(self.answer),
            facts=escape(self.facts),
            body="\n".join(self._parts),
            provenance="" if provenance is None else sources(provenance),
            library=library(),
            figures=packed(json.dumps(self._figures, separators=(",", ":"))),
        )

    def write(self, path: Path, provenance: Provenance | None = None) -> None:
        """Write the page to a file."""
        write_text(path, self.page(provenance))


def escape(text: str) -> str:
    """Write a text so that a page shows it: names come from files."""
    return escaped(printable(text))


def packed(text: str) -> str:
    """Compress a text, as letters that stand in a page."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


@lru_cache(maxsize=1)
def library() -> str:
    """Plotly's script, packed."""
    return packed(extra("plotly.offline", "HTML report").get_plotlyjs())


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    strong: Sequence[int] = (),
    red: Sequence[tuple[int, int]] = (),
    marks: Sequence[str] = (),
    words: bool = False,
) -> str:
    """Write a table, of a page or a notebook; arguments as those of ``Report.table``."""
    cells_of = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    head = f"<thead><tr>{cells_of}</tr></thead>" if any(heads) else ""
    body = []
    for i, row in enumerate(rows):
        cells = [
            f'<th scope="row"{css(i, k, red)}>{breakable(cell)}</th>' if k == 0
            else f"<td{css(i, k, red)}>{escape(cell)}</td>"
            for k, cell in enumerate(map(shown_cell, row))
        ]  # fmt: skip
        cells += [f"<td>{marks[i]}</td>"] if marks else []
        body.append(f"<tr{' class=strong' if i in strong else ''}>{''.join(cells)}</tr>")
    kind = ' class="words"' if words else ""
    title = escape(caption)
    return (
        f'<p class="caption"><strong>{title}</strong></p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table{kind}>'
        f"{head}<tbody>{''.join(body)}</tbody></table></div>"
    )


def shown_cell(value: object) -> str:
    """Text as it is, a number with three digits, NaN and None as a dash."""
    if value is None or value != value:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def breakable(name: str) -> str:
    """Escape a name, with places where a narrow screen may break it."""
    return re.sub(r"([_./])", r"\1<wbr>", escape(name))


def css(row: int, column: int, red: Sequence[tuple[int, int]]) -> str:
    """Class of a cell."""
    return " class=red" if (row, column) in red else ""


def sources(provenance: Provenance) -> str:
    """Where a report comes from, as tables."""
    rows = [
        ("made on", provenance.date),
        ("by", f"geared_dynamics {provenance.version}"),
        ("command", provenance.command),
    ]
    own = table("Where this report comes from", ("", ""), rows, words=True)
    listed = [(name, f"{size:,}", digest) for name, size, digest in provenance.files]
    heads = ("file", "bytes", "SHA-256")
    return own + (table("Files that were read", heads, listed, words=True) if listed else "")


def mark(value: float, sigma: float, before: float) -> str:
    """A small drawing of a value with twice its deviation to both sides, and the file's value."""
    ends = np.array([value - 2 * sigma, value + 2 * sigma, before, 0.0])
    low, high = float(ends.min()), float(ends.max())
    width = high - low or 1.0

    def at(x: float) -> float:
        return 5.0 + 110.0 * (x - low) / width

    return (
        '<svg class="mark" width="120" height="14" aria-hidden="true">'
        f'<line class="axis" x1="{at(0.0):.1f}" x2="{at(0.0):.1f}" y1="0" y2="14"/>'
        f'<line class="bar" x1="{at(ends[0]):.1f}" x2="{at(ends[1]):.1f}" y1="7" y2="7"/>'
        f'<line class="file" x1="{at(before):.1f}" x2="{at(before):.1f}" y1="2" y2="12"/>'
        f'<circle class="dot" cx="{at(value):.1f}" cy="7" r="3"/></svg>'
    )


def figure(name: str, plot: ReportPlot) -> dict[str, Any]:
    """Return what the page draws a plot from."""
    shown: set[str] = set()
    panels = []
    for panel in plot.panels:
        curves = []
        for curve in panel.curves:
            curves.append(drawn(curve, legend=curve.name not in shown))
            shown.add(curve.name)
        panels.append({
            "title": escape(panel.title), "unit": panel.unit, "x_title": panel.x_title,
            "from_zero": panel.from_zero, "curves": curves,
        })  # fmt: skip
    kinds = {curve.kind for panel in plot.panels for curve in panel.curves}
    return {
        "id": name, "panels": panels, "x_title": plot.x_title, "own_x": not plot.x_title,
        "columns": plot.columns, "height": plot.height, "legend": len(shown) > 1,
        "kind": "grid" if "grid" in kinds else "",
    }  # fmt: skip


def drawn(curve: Curve, *, legend: bool) -> dict[str, Any]:
    """Return what the page draws a curve from."""
    found: dict[str, Any] = {
        "name": escape(curve.name), "colour": curve.colour, "kind": curve.kind, "legend": legend,
        "hidden": curve.hidden, "x": series(curve.x), "y": series(curve.y),
    }  # fmt: skip
    if curve.z is not None:
        found["z"] = np.round(curve.z, 3).tolist()
    return found


def series(values: Array | Sequence[str]) -> Any:
    """Numbers as steps between whole numbers, names as they are."""
    if not isinstance(values, np.ndarray):
        return [escape(str(value)) for value in values]
    return steps(values)


def steps(values: ArrayLike) -> dict[str, Any]:
    """Round numbers (k,) to LEVELS between their least and largest; None where there is none."""
    array = np.asarray(values, dtype=float)
    there = np.isfinite(array)
    known = array[there]
    least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    whole = np.rint((known - least) / ((most - least) or 1.0) * LEVELS).astype(int)
    differences = iter(np.diff(whole, prepend=0).tolist())
    return {
        "least": least, "most": most, "levels": LEVELS,
        "steps": [next(differences) if one else None for one in there.tolist()],
    }  # fmt: skip
