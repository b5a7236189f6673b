"""Columns, bands and rows of links and wheels in a gear graph; no lengths yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from geared_dynamics.apps.gear_graph import GearPair, Graph

# -- Where vertices sit, in columns, bands and rows; no lengths yet -------------------------------
#
# The root is in column 0 and every link one column right of the link that holds it. A
# chain of links shares a *band*; other branches have bands of their own below. Wheels sit
# in the column of their link, in rows below it. Horizontal lines run in a row that is
# theirs alone, vertical ones of gear pairs in the *gutter* left of a column: nothing ever
# crosses a vertex or a text.


@dataclass(frozen=True)
class Seats:
    """Columns, bands, and the wheels in the order in which they are drawn.

    Attributes:
        bands: Links of each band, base to tip.
        column: Column of each vertex.
        band: Band of each vertex.
        wheels: Wheels, each after the one that carries it.
        level: How many wheels carry a wheel, one on the other.
    """

    bands: tuple[tuple[str, ...], ...]
    column: dict[str, int]
    band: dict[str, int]
    wheels: tuple[str, ...]
    level: dict[str, int]


def seats_of(graph: Graph) -> Seats:
    """Seat the vertices of a graph."""
    below: dict[str, list[str]] = {vertex.name: [] for vertex in graph.vertices}
    for pair in graph.pairs:
        below[pair.holder].append(pair.held)
    kind = {vertex.name: vertex.kind for vertex in graph.vertices}
    links = {
        name: [held for held in all_held if kind[held] == "link"]
        for name, all_held in below.items()
    }
    bands = tuple(chains(graph.root, links))
    depth = depths(graph.root, links)
    column, band = {}, {}
    for number, chain in enumerate(bands):
        for link in chain:
            column[link], band[link] = depth[link], number
    wheels, level = [], {}
    stack = [(name, 0) for chain in reversed(bands) for name in reversed(chain)]
    while stack:
        name, height = stack.pop()
        for held in reversed(below[name]):
            if kind[held] == "wheel":
                column[held], band[held] = column[name], band[name]
                stack.append((held, height + 1))
        if kind[name] == "wheel":
            wheels.append(name)
            level[name] = height - 1
    return Seats(bands, column, band, tuple(wheels), level)


def depths(root: str, links: dict[str, list[str]]) -> dict[str, int]:
    """Number of joints between the root and each link."""
    depth = {root: 0}
    order = [root]
    for name in order:
        for held in links[name]:
            depth[held] = depth[name] + 1
            order.append(held)
    return depth


def chains(root: str, links: dict[str, list[str]]) -> Iterator[tuple[str, ...]]:
    """Cut the tree into chains, each along its longest branch.

    A chain comes after those that branch off further out, so that the line down to it
    passes no other vertex.
    """
    height = heights(root, links)
    waiting = [root]
    while waiting:
        chain = [waiting.pop()]
        while links[chain[-1]]:
            chain.append(max(links[chain[-1]], key=height.__getitem__))
        yield tuple(chain)
        for link in chain:
            waiting += [held for held in reversed(links[link]) if held not in chain]


def heights(root: str, links: dict[str, list[str]]) -> dict[str, int]:
    """Number of joints in the longest chain beyond each link."""
    depth = depths(root, links)
    height: dict[str, int] = {}
    for name in sorted(depth, key=depth.__getitem__, reverse=True):
        height[name] = max((height[held] + 1 for held in links[name]), default=0)
    return height


@dataclass(frozen=True)
class Route:
    """How a gear pair is drawn: out of both members, into one or two gutters.

    A wheel is left to the right (``sides`` +1) if its gutter lies there, else to the
    left; a link always to its left. Two links are joined by a row of their own.
    """

    gearing: GearPair
    gutters: tuple[int, int]
    sides: tuple[int, int]

    @property
    def track(self) -> bool:
        """Whether the two gutters need a row that joins them."""
        return self.sides == (0, 0)


def route_of(gearing: GearPair, seats: Seats) -> Route:
    """Choose gutters: left of a link; right of two wheels."""
    columns = [seats.column[name] for name in gearing.members]
    wheels = [name in seats.level for name in gearing.members]
    if all(wheels):
        gutter = max(columns) + 1
        return Route(gearing, (gutter, gutter), (1, 1))
    if not any(wheels):
        return Route(gearing, (columns[0], columns[1]), (0, 0))
    link = wheels.index(False)
    gutter = columns[link]
    side = 1 if gutter > columns[1 - link] else -1
    return Route(gearing, (gutter, gutter), (0, side) if link == 0 else (side, 0))


# -- In which row of its band each wheel sits: as few rows as lines apart allow -------------------


Span = tuple[int, int]  # half-columns: 2 k is gutter k, 2 k + 1 column k


@dataclass
class Band:
    """Rows of a band under construction."""

    rows: list[list[Span]] = field(default_factory=list)

    def place(self, span: Span, first: int) -> int:
        """Take the first row from ``first`` on in which a span is free."""
        number = first
        while number < len(self.rows) and any(touch(span, own) for own in self.rows[number]):
            number += 1
        while number >= len(self.rows):
            self.rows.append([])
        self.rows[number].append(span)
        return number


@dataclass(frozen=True)
class WheelRows:
    """Row of each wheel in its band, band and row of each route between two links."""

    wheel: dict[str, int]
    track: dict[int, tuple[int, int]]
    count: tuple[int, ...]


def rows_of(seats: Seats, routes: Sequence[Route]) -> WheelRows:
    """Assign rows.

    The wheels of a column keep their order, so that the line down to a wheel carried by
    another one passes no third.
    """
    bands = [Band() for _ in seats.bands]
    spans = wheel_spans(seats, routes)
    last: dict[tuple[int, int], int] = {}
    wheel, track = {}, {}
    for name in seats.wheels:
        home = seats.band[name], seats.column[name]
        wheel[name] = bands[home[0]].place(spans[name], last.get(home, -1) + 1)
        last[home] = wheel[name]
    for k, route in enumerate(routes):
        if route.track:
            number = max(seats.band[name] for name in route.gearing.members)
            low, high = min(route.gutters), max(route.gutters)
            track[k] = number, bands[number].place((2 * low, 2 * high + 1), 0)
    return WheelRows(wheel, track, tuple(len(band.rows) for band in bands))


def wheel_spans(seats: Seats, routes: Sequence[Route]) -> dict[str, Span]:
    """Half-columns that a wheel and its lines cross."""
    spans = {name: (2 * seats.column[name] + 1,) * 2 for name in seats.wheels}
    for route in routes:
        for name, gutter in zip(route.gearing.members, route.gutters, strict=True):
            if name in spans:
                low, high = spans[name]
                spans[name] = min(low, 2 * gutter), max(high, 2 * gutter)
    return spans


def touch(one: Span, other: Span) -> bool:
    """Whether two spans have a half-column in common."""
    return one[0] <= other[1] and other[0] <= one[1]
