"""A drawing as SVG text."""

from __future__ import annotations

import re
from html import escape

from geared_dynamics.graph.drawing import (
    HEIGHT,
    SIZE,
    Drawing,
    Face,
    Label,
    Line,
    Look,
    Node,
    Stroke,
)

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
