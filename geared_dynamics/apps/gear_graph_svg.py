"""A drawing as SVG text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

# -- Boxes, strokes and labels on a plane, lengths in pixels, y downwards -------------------------


SIZE = 13.0  # of the letters
HEIGHT = 24.0  # of a vertex with one line
# Widths in a wide sans-serif face, in units of its size; the picture has room to spare
# in narrower ones.
NARROW, USUAL, CAPITAL, BROAD = 0.40, 0.64, 0.78, 1.0
BOLD = 1.12

Point = tuple[float, float]
Look = Literal["base", "link", "wheel", "motor", "primary", "root", "secondary", "input", "none"]
Face = Literal["plain", "bold", "italic"]
Line = Literal["turning", "sliding", "gear", "stated"]


@dataclass(frozen=True)
class Box:
    """A rectangle by its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: Box) -> bool:
        """Whether the interiors have a point in common."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


@dataclass(frozen=True)
class Node:
    """A vertex with its name."""

    name: str
    box: Box
    look: Look


@dataclass(frozen=True)
class Label:
    """Text in its box."""

    text: str
    box: Box
    face: Face = "plain"


@dataclass(frozen=True)
class Stroke:
    """A line through points."""

    points: tuple[Point, ...]
    kind: Line


@dataclass(frozen=True)
class Drawing:
    """What is drawn, and the plane's size."""

    width: float
    height: float
    nodes: tuple[Node, ...] = ()
    labels: tuple[Label, ...] = ()
    strokes: tuple[Stroke, ...] = ()


def written(text: str, x: float, line: float, face: Face = "plain") -> Label:
    """A label that starts at x and stands on a line."""
    return Label(text, Box(x, line - SIZE - 2, text_width(text, face), SIZE), face)


def text_width(text: str, face: Face = "plain") -> float:
    """Width that a text takes at most."""
    wider = BOLD if face == "bold" else 1.0
    return SIZE * wider * sum(char_width(char) for char in text)


def char_width(char: str) -> float:
    """Width of a character in units of the size."""
    if char in "ijl.,:;'|![]()/ ":
        return NARROW
    if char in "mwMW@%+<>=~" or unicodedata.east_asian_width(char) in "WF":
        return BROAD
    return CAPITAL if char.isupper() or ord(char) > 0x17F else USUAL


def moved(drawing: Drawing, x: float, y: float) -> Drawing:
    """Shift everything."""

    def shifted(box: Box) -> Box:
        return replace(box, x=box.x + x, y=box.y + y)

    return replace(
        drawing,
        nodes=tuple(replace(node, box=shifted(node.box)) for node in drawing.nodes),
        labels=tuple(replace(label, box=shifted(label.box)) for label in drawing.labels),
        strokes=tuple(
            replace(stroke, points=tuple((px + x, py + y) for px, py in stroke.points))
            for stroke in drawing.strokes
        ),
    )


def stacked(drawings: list[Drawing], gap: float, margin: float) -> Drawing:
    """One below the other."""
    nodes: tuple[Node, ...] = ()
    labels: tuple[Label, ...] = ()
    strokes: tuple[Stroke, ...] = ()
    y = margin
    for drawing in drawings:
        part = moved(drawing, margin, y)
        nodes, labels = nodes + part.nodes, labels + part.labels
        strokes += part.strokes
        y += drawing.height + gap
    width = max(drawing.width for drawing in drawings) + 2 * margin
    return Drawing(width, y - gap + margin, nodes, labels, strokes)


# -- A drawing as SVG text ------------------------------------------------------------------------


# Characters that XML 1.0 does not have.
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
INK, PALE = "#1a1a1a", "#ffffff"
BLUE, ORANGE = "#2f6690", "#d1722a"
# Fill, outline, width of the outline, ink of the text.
LOOKS: dict[Look, tuple[str, str, float, str]] = {
    "base": ("#d9dde1", INK, 2.4, INK),
    "link": ("#eef1f4", INK, 1.2, INK),
    "wheel": (PALE, INK, 1.2, INK),
    "motor": ("#fff2c2", INK, 1.2, INK),
    "root": ("#1d4460", "#1d4460", 1.2, PALE),
    "primary": (BLUE, BLUE, 1.2, PALE),
    "secondary": (PALE, ORANGE, 1.8, INK),
    "input": ("#fff2c2", ORANGE, 1.8, INK),
    "none": ("none", "none", 0.0, INK),
}
ROUND: frozenset[Look] = frozenset({"wheel", "motor", "secondary", "input"})
LINES: dict[Line, str] = {
    "turning": f'stroke="{INK}" stroke-width="1"',
    "sliding": f'stroke="{INK}" stroke-width="1" stroke-dasharray="2 3"',
    "gear": f'stroke="{ORANGE}" stroke-width="3"',
    "stated": f'stroke="{ORANGE}" stroke-width="3" stroke-dasharray="8 4"',
}
FACES: dict[Face, str] = {
    "plain": "",
    "bold": ' font-weight="bold"',
    "italic": ' font-style="italic"',
}
FAMILY = "DejaVu Sans, Verdana, Arial, sans-serif"


def svg_text(drawing: Drawing, title: str) -> str:
    """Write a drawing as an SVG document.

    Args:
        drawing: Vertices, strokes and labels.
        title: Shown by viewers as the document's name.
    """
    width, height = number(drawing.width), number(drawing.height)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{FAMILY}" font-size="{number(SIZE)}">',
        f"<title>{quoted(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="{PALE}"/>',
        *(line_element(stroke) for stroke in drawing.strokes),
        *(element for node in drawing.nodes for element in node_elements(node)),
        *(label_element(label) for label in drawing.labels),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def line_element(stroke: Stroke) -> str:
    """A thin or a heavy edge."""
    points = " ".join(f"{number(x)},{number(y)}" for x, y in stroke.points)
    return f'<polyline points="{points}" fill="none" {LINES[stroke.kind]}/>'


def node_elements(node: Node) -> tuple[str, ...]:
    """A vertex: links have corners, wheels are round; the name is on its first line."""
    fill, outline, line, ink = LOOKS[node.look]
    box = node.box
    radius = 12.0 if node.look in ROUND else 3.0
    place = f'x="{number(box.x)}" y="{number(box.y)}"'
    extent = f'width="{number(box.width)}" height="{number(box.height)}" rx="{number(radius)}"'
    paint = f'fill="{fill}" stroke="{outline}" stroke-width="{number(line)}"'
    first = min(box.height, HEIGHT)
    x, y = box.x + box.width / 2, box.y + first / 2 + 0.36 * SIZE
    text = f'<text x="{number(x)}" y="{number(y)}" text-anchor="middle" fill="{ink}">'
    if node.look == "none":
        text = f'<text x="{number(box.x)}" y="{number(y)}" fill="{ink}">'
        return (f"{text}{quoted(node.name)}</text>",)
    return (f"<rect {place} {extent} {paint}/>", f"{text}{quoted(node.name)}</text>")


def label_element(label: Label) -> str:
    """A text."""
    y = label.box.y + 0.82 * label.box.height
    place = f'x="{number(label.box.x)}" y="{number(y)}"'
    return f'<text {place} fill="{INK}"{FACES[label.face]}>{quoted(label.text)}</text>'


def quoted(text: str) -> str:
    """Text for XML, without what XML cannot hold."""
    return escape(ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text))


def number(value: float) -> str:
    """Write a length with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0")
