"""The graph of a geared arm: links and wheels, turning pairs, gear pairs.

Vertices are links (those fixed to each other are one) and wheels. A pair holds one of
them in another and bears the letter of its axis in space; a gearing joins two members of
a gear pair (paper 001, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Vertex:
    """A link or a wheel; ``motor`` marks a wheel that a motor turns."""

    name: str
    kind: Literal["link", "wheel"]
    motor: bool = False


@dataclass(frozen=True)
class Pair:
    """Thin edge: ``held`` turns or slides in ``holder`` about or along an axis.

    ``name`` is the joint's, or the wheel's own where the pair is its bearing.
    """

    holder: str
    held: str
    axis: str
    name: str
    slides: bool = False


@dataclass(frozen=True)
class Gearing:
    """Heavy edge: a gear pair, or (``stated``) a ratio without the wheels that make it.

    ``sizes`` are the members' teeth or radii; ``ratio`` is what is stated instead.
    """

    members: tuple[str, str]
    sizes: tuple[float, float] = (1.0, 1.0)
    ratio: float = 0.0
    stated: bool = False

    def label(self, end: int) -> str:
        """What is written at one of the members: its own size first, or the ratio."""
        if self.stated:
            return f"{self.ratio:.6g}"
        return f"{self.sizes[end]:.6g}:{self.sizes[1 - end]:.6g}"


@dataclass(frozen=True)
class Graph:
    """Vertices, the root link first; pairs make them a tree."""

    vertices: tuple[Vertex, ...]
    pairs: tuple[Pair, ...]
    gearings: tuple[Gearing, ...] = ()

    @property
    def root(self) -> str:
        """Name of the root link."""
        return self.vertices[0].name

    def holders(self) -> dict[str, Pair]:
        """The pair that holds each vertex but the root."""
        return {pair.held: pair for pair in self.pairs}


def canonical(graph: Graph) -> Graph:
    """Rearrange coaxial turning pairs: no axis occurs twice on a path from the root.

    Of coaxial links the one nearest to the root then holds all others. Gear pairs stay, and
    so do wheels whose ratio is stated: it is relative to the link that carries them.

    References:
        Paper 001, section 2, fig. 2 (b).
    """
    holders = graph.holders()
    wheels = {vertex.name for vertex in graph.vertices if vertex.kind == "wheel"}
    stay = wheels & {gearing.members[0] for gearing in graph.gearings if gearing.stated}

    def moved(pair: Pair) -> Pair:
        """Hang a vertex on the first of the links that are coaxial with it."""
        holder = pair.holder
        if pair.held in stay:
            return pair
        while holder in holders and holders[holder].axis == pair.axis:
            holder = holders[holder].holder
        return replace(pair, holder=holder)

    return replace(graph, pairs=tuple(moved(pair) for pair in graph.pairs))


def open_loop_chain(graph: Graph) -> Graph:
    """Primary links with their joints, each secondary link at its canonical holder.

    Coaxial joints in series, which ``canonical`` would hang on one link, stay in
    series: the joints are the coordinates. Gearings are left out.

    References:
        Paper 001, section 2, fig. 3.
    """
    wheels = {vertex.name for vertex in graph.vertices if vertex.kind == "wheel"}
    own = [pair for pair in graph.pairs if pair.held not in wheels]
    carried = [pair for pair in canonical(graph).pairs if pair.held in wheels]
    return Graph(graph.vertices, (*own, *carried))
