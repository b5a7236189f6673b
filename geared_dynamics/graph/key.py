"""The key below the pictures: what lines and boxes mean, whose axis each letter is."""

from __future__ import annotations

from geared_dynamics.graph.drawing import (
    SIZE,
    Box,
    Drawing,
    Label,
    Line,
    Look,
    Node,
    Stroke,
    text_width,
    written,
)
from geared_dynamics.graph.network import Graph

SAMPLE, SPACE, LINE = 34.0, 22.0, 20.0  # [px] of a sample, between entries, between lines
NARROWEST = 560.0  # [px] that the key may take at least


def lines_key(graph: Graph, width: float) -> Drawing:
    """Samples of the lines and boxes that the pictures use."""
    kinds: list[tuple[Line, str]] = [("turning", "turning pair")]
    if any(pair.slides for pair in graph.pairs):
        kinds.append(("sliding", "sliding pair"))
    if not all(gearing.stated for gearing in graph.gearings):
        kinds.append(("gear", "gear pair, teeth or radii"))
    if any(gearing.stated for gearing in graph.gearings):
        kinds.append(("stated", "stated ratio"))
    looks: list[tuple[Look, str]] = []
    if any(vertex.kind == "wheel" for vertex in graph.vertices):
        looks += [("wheel", "wheel"), ("primary", "primary link"), ("secondary", "secondary link")]
    if any(vertex.motor for vertex in graph.vertices):
        looks += [("motor", "with a motor")]
    flow = Flow(max(width, NARROWEST))
    strokes, nodes, labels = [], [], []
    for kind, text in kinds:
        x, y = flow.take(SAMPLE + 6 + text_width(text))
        strokes.append(Stroke(((x, y + 9), (x + SAMPLE, y + 9)), kind))
        labels.append(written(text, x + SAMPLE + 6, y + SIZE + 2))
    for look, text in looks:
        x, y = flow.take(SAMPLE + 6 + text_width(text))
        nodes.append(Node("", Box(x, y + 1, SAMPLE, 16.0), look))
        labels.append(written(text, x + SAMPLE + 6, y + SIZE + 2))
    return Drawing(flow.used, flow.height, tuple(nodes), tuple(labels), tuple(strokes))


def axes_key(graph: Graph, width: float) -> Drawing:
    """Each letter with the joints and wheels that turn about it."""
    names: dict[str, list[str]] = {}
    for pair in graph.pairs:
        names.setdefault(pair.axis, []).append(pair.name)
    entries = [f"{axis}: {', '.join(shared)}" for axis, shared in names.items()]
    flow = Flow(max(width, NARROWEST))
    labels: list[Label] = []
    for text in entries:
        x, y = flow.take(text_width(text))
        labels.append(written(text, x, y + SIZE + 2))
    return Drawing(flow.used, flow.height, (), tuple(labels))


class Flow:
    """Places for entries, line by line."""

    def __init__(self, width: float) -> None:
        """Start at the upper left."""
        self.width, self.used = width, 0.0
        self.x = self.y = 0.0

    def take(self, width: float) -> tuple[float, float]:
        """Upper left corner of the next entry."""
        if self.x and self.x + width > self.width:
            self.x, self.y = 0.0, self.y + LINE
        place = self.x, self.y
        self.used = max(self.used, self.x + width)
        self.x += width + SPACE
        return place

    @property
    def height(self) -> float:
        """Height used so far."""
        return self.y + LINE
