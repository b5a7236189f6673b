"""The three pictures of a geared arm in one SVG (paper 001, fig. 2 and 3)."""

from __future__ import annotations

from dataclasses import replace

from geared_dynamics.graph.build import graph_of
from geared_dynamics.graph.drawing import SIZE, Drawing, Look, moved, stacked, written
from geared_dynamics.graph.key import axes_key, lines_key
from geared_dynamics.graph.layout import Manner, draw
from geared_dynamics.graph.network import Graph, Pair, Vertex, canonical, open_loop_chain
from geared_dynamics.graph.svg import svg_text
from geared_dynamics.model import GearedModel

MARGIN, GAP, TITLE = 24.0, 34.0, 22.0  # [px]


def graph_svg(model: GearedModel) -> str:
    """Draw a model's gear train as SVG text.

    (a) its graph with the carriers that the files name, (b) the canonical graph, in which
    no axis occurs twice on a path from the base, (c) the equivalent open-loop chain with
    its primary links and the secondary links each of them carries.

    Args:
        model: Geared model.

    References:
        Paper 001, section 2.
    """
    graph = graph_of(model.robot, model.drivetrain)
    return svg_text(picture(model.name, graph), f"Gear train of {model.name}")


def picture(name: str, graph: Graph) -> Drawing:
    """Three drawings of a graph, one below the other, and the key to them."""
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
    return stacked([*panels, *keys], GAP, MARGIN)


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
    """Manner of picture (b): primary and secondary links told apart, ratios left out."""

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

    def joint(pair: Pair) -> str:
        """Axis and joint."""
        return pair.axis if pair.held in wheels else f"{pair.axis}: {pair.name}"

    return Manner(look, text, joint, bearings=False)
