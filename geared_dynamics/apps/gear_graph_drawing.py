"""The three pictures of a geared arm in one SVG (Chen 1998, fig. 2 and 3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.apps.gear_graph import (
    Graph,
    JointEdge,
    Vertex,
    canonical,
    graph_of,
    open_loop_chain,
)
from geared_dynamics.apps.gear_graph_layout import Manner, draw
from geared_dynamics.apps.gear_graph_svg import (
    SIZE,
    Box,
    Drawing,
    Label,
    Line,
    Look,
    Node,
    Stroke,
    moved,
    stacked,
    svg_text,
    text_width,
    written,
)
from geared_dynamics.model import GearedModel
from geared_dynamics.scene.page import ratio_terms, wheel_teeth

# -- The key below the pictures: what lines and boxes mean, whose axis each letter is -------------


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


# -- The three pictures of a geared arm in one SVG (Chen 1998, fig. 2 and 3) ----------------------


MARGIN, GAP, TITLE = 24.0, 34.0, 22.0  # [px]
RPM = 30.0 / np.pi  # per rad/s


def graph_svg(model: GearedModel) -> str:
    """Draw a model's gear train as SVG text.

    (a) its graph with the carriers that the files name, (b) the canonical graph, in which
    no axis occurs twice on a path from the base, (c) the equivalent open-loop chain with
    its primary links and the secondary links each of them carries; below them a table of
    the wheels: overall ratio, teeth, speed.

    Args:
        model: Geared model.

    References:
        Chen 1998, section 2.
    """
    graph = graph_of(*model.records)
    rows = wheel_rows(model) if model.wheel_names else None
    return svg_text(picture(model.name, graph, rows), f"Gear train of {model.name}")


def picture(name: str, graph: Graph, rows: list[tuple[str, ...]] | None = None) -> Drawing:
    """Three drawings of a graph, one below the other, the key to them, and a table.

    Args:
        name: The robot's.
        graph: Its gear graph.
        rows: Of the table, headings first.
    """
    chain = open_loop_chain(graph)
    panels = [
        titled(f"{name}: (a) graph", draw(graph, as_built(graph))),
        titled("(b) canonical graph", draw(canonical(graph), rearranged(graph))),
        titled(
            "(c) equivalent open-loop chain, with the secondary links that its links carry",
            draw(chain, as_chain(chain)),
        ),
    ]
    width = max(panel.width for panel in panels)
    keys = [lines_key(graph, width), titled("axes", axes_key(graph, width))]
    tables = [] if rows is None else [titled("wheels", columns(rows))]
    return stacked([*panels, *keys, *tables], GAP, MARGIN)


def wheel_rows(model: GearedModel) -> list[tuple[str, ...]]:
    """What stands beside the pictures: headings, then a row for each wheel.

    The speed is that at 1 rad/s (1 m/s) of the joint that turns the wheel most.
    """
    teeth = wheel_teeth(model)
    rows: list[tuple[str, ...]] = [
        ("wheel", "carried by", "teeth", "overall ratio", "rpm at 1 rad/s of the joint")
    ]
    for r, name in enumerate(model.wheel_names):
        most = model.Gamma[r][np.argmax(np.abs(model.Gamma[r]))]
        ratio = "; ".join(ratio_terms(model, r)) or "frozen"
        size = f"{teeth[name]:g}" if name in teeth else "–"
        rows.append((name, model.wheels.links[r], size, ratio, f"{most * RPM:.4g}"))
    return rows


def columns(rows: list[tuple[str, ...]]) -> Drawing:
    """Rows of texts below each other, the first one bold."""
    widths = [
        max(text_width(text, "bold") for text in column) for column in zip(*rows, strict=True)
    ]
    labels = []
    for k, row in enumerate(rows):
        x = 0.0
        for text, width in zip(row, widths, strict=True):
            labels.append(written(text, x, k * LINE + SIZE + 2, "bold" if k == 0 else "plain"))
            x += width + SPACE
    return Drawing(sum(widths) + SPACE * len(widths), LINE * len(rows), (), tuple(labels))


def titled(title: str, drawing: Drawing) -> Drawing:
    """Put a title above a drawing."""
    label = written(title, 0.0, SIZE + 2, "bold")
    below = moved(drawing, 0.0, TITLE)
    width = max(drawing.width, label.box.width)
    labels = (label, *below.labels)
    return replace(below, width=width, height=drawing.height + TITLE, labels=labels)


def as_built(graph: Graph) -> Manner:
    """Manner of picture (a)."""

    def look(vertex: Vertex) -> Look:
        """Links with corners, motors' wheels in colour."""
        if vertex.kind == "link":
            return "base" if vertex.name == graph.root else "link"
        return "motor" if vertex.motor else "wheel"

    return Manner(look, lambda vertex: vertex.name, lambda pair: pair.axis)


def rearranged(graph: Graph) -> Manner:
    """Manner of picture (b): primary and secondary links distinguished, ratios left out."""

    def look(vertex: Vertex) -> Look:
        """Primary links filled."""
        if vertex.kind == "link":
            return "root" if vertex.name == graph.root else "primary"
        return "input" if vertex.motor else "secondary"

    return Manner(look, lambda vertex: vertex.name, lambda pair: pair.axis, ratios=False)


def as_chain(chain: Graph) -> Manner:
    """Manner of picture (c): secondary links are a list at the primary ones."""
    wheels = {vertex.name for vertex in chain.vertices if vertex.kind == "wheel"}
    axis = {pair.held: pair.axis for pair in chain.pairs}

    def look(vertex: Vertex) -> Look:
        """Primary links filled, secondary ones text only."""
        if vertex.name in wheels:
            return "none"
        return "root" if vertex.name == chain.root else "primary"

    def text(vertex: Vertex) -> str:
        """Secondary links with their axes."""
        return f"{vertex.name} ({axis[vertex.name]})" if vertex.name in wheels else vertex.name

    def joint(pair: JointEdge) -> str:
        """Axis and joint."""
        return pair.axis if pair.held in wheels else f"{pair.axis}: {pair.name}"

    return Manner(look, text, joint, bearings=False)
