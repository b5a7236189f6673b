"""Boxes, strokes and labels on a plane, lengths in pixels, y downwards."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import Literal

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
