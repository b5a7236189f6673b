"""Where links, wheels and meshes of a gear graph are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from geared_dynamics.apps.gear_graph import Graph, JointEdge, Vertex
from geared_dynamics.apps.gear_graph_seats import (
    Route,
    Seats,
    WheelRows,
    route_of,
    rows_of,
    seats_of,
)
from geared_dynamics.apps.gear_graph_svg import (
    HEIGHT,
    Box,
    Drawing,
    Label,
    Look,
    Node,
    Point,
    Stroke,
    text_width,
    written,
)

# -- Lengths of a picture: where columns, gutters, rows, lanes and ports lie [px] -----------------


PAD = 8.0  # left and right of a name or a label
BUS = 12.0  # from a vertex's left end to the line down to what it holds
PORT = 18.0  # between a wheel's lines: each has a label above
LEAST = 2.0  # between a link and the first row
LANE = 9.0  # between lines without labels
BAND = 22.0  # between bands

End = tuple[int, int]  # route, member


@dataclass(frozen=True)
class Ports:
    """Ends of routes at each vertex, top to bottom, and lanes of each gutter."""

    left: dict[str, list[End]]
    right: dict[str, list[End]]
    lanes: dict[int, list[End]]

    def lines(self, name: str) -> int:
        """How many lines of a wheel stand one below the other, its bearing included."""
        return max(1 + len(self.left[name]), len(self.right[name]))


def ports_of(seats: Seats, rows: WheelRows, routes: Sequence[Route]) -> Ports:
    """Order the ends at each vertex, and the lanes of each gutter.

    By the row at the far end, top to bottom and left to right, so that lines into the
    same link cross each other least.
    """

    def far(end: End) -> tuple[int, int, int]:
        """Band and row at the other end."""
        name = routes[end[0]].gearing.members[1 - end[1]]
        return seats.band[name], rows.wheel.get(name, -1), end[0]

    left: dict[str, list[End]] = {name: [] for name in seats.column}
    right: dict[str, list[End]] = {name: [] for name in seats.column}
    lanes: dict[int, list[End]] = {}
    for k, route in enumerate(routes):
        for member, (name, side) in enumerate(
            zip(route.gearing.members, route.sides, strict=True)
        ):
            (right if side > 0 else left)[name].append((k, member))
            if route.track or member == lane_member(route):
                lanes.setdefault(route.gutters[member], []).append((k, member))
    for ends in (*left.values(), *lanes.values()):
        ends.sort(key=far)
    return Ports(left, right, lanes)


def lane_member(route: Route) -> int:
    """The member at whose gutter a route's one lane is counted: the link."""
    return 0 if route.sides[0] == 0 else 1


@dataclass(frozen=True)
class Across:
    """Left ends of gutters and columns, the wheels' indents, the whole width."""

    gutter: tuple[float, ...]
    column: tuple[float, ...]
    stub: tuple[float, ...]
    width: float

    def wheel(self, column: int, level: int) -> float:
        """Left end of a wheel."""
        return self.column[column] + (level + 1) * (BUS + self.stub[column])


def across(
    seats: Seats,
    ports: Ports,
    own: Mapping[str, float],
    before: Mapping[str, float],
    after: Mapping[str, float],
    least: float,
) -> Across:
    """Measure columns and gutters.

    Args:
        seats: Columns of the vertices.
        ports: Lanes of the gutters.
        own: Width of each vertex.
        before: Width of the widest label left of a wheel.
        after: Width of the widest label right of a vertex.
        least: Length of a wheel's line where labels need none.
    """
    count = 1 + max(seats.column.values())
    stub, width = [least] * count, [0.0] * count
    for name in seats.wheels:
        c = seats.column[name]
        stub[c] = max(stub[c], before[name] + 2 * PAD if before[name] else 0.0)
    for name, c in seats.column.items():
        indent = (seats.level[name] + 1) * (BUS + stub[c]) if name in seats.level else 0.0
        width[c] = max(width[c], indent + own[name] + after[name] + 2 * PAD)
    gutters = [LANE * (1 + len(ports.lanes.get(c, []))) for c in range(count + 1)]
    starts = [0.0, *accumulate(g + w for g, w in zip(gutters, width, strict=False))]
    ends = [start + gutter for start, gutter in zip(starts, gutters, strict=True)]
    return Across(tuple(starts), tuple(ends[:-1]), tuple(stub), ends[-1])


@dataclass(frozen=True)
class Down:
    """Heights of the joints' lines, of the wheels' first lines, of tracks; the whole height."""

    link: dict[str, float]
    wheel: dict[str, float]
    track: dict[int, float]
    height: float


def down(seats: Seats, rows: WheelRows, ports: Ports, gap: float) -> Down:
    """Measure bands and rows [px].

    Args:
        seats: Bands of the vertices.
        rows: Rows of the wheels.
        ports: Lines at the vertices.
        gap: Between rows.
    """
    link, wheel, track = {}, {}, {}
    y = 0.0
    for number, chain in enumerate(seats.bands):
        y += PAD  # for the labels above the joints' lines
        for name in chain:
            link[name] = y + HEIGHT / 2
        y += max(link_height(len(ports.left[name])) for name in chain)
        for row in range(rows.count[number]):
            y += gap if row else max(gap, LEAST)
            here = [
                name
                for name in seats.wheels
                if (seats.band[name], rows.wheel[name]) == (number, row)
            ]
            for name in here:
                wheel[name] = y + HEIGHT / 2
            for k, place in rows.track.items():
                if place == (number, row):
                    track[k] = y + HEIGHT / 2
            y += max((wheel_height(ports.lines(name)) for name in here), default=HEIGHT)
        y += BAND
    return Down(link, wheel, track, y - BAND)


def link_height(entries: int) -> float:
    """Height of a link that so many gear pairs enter."""
    return max(HEIGHT, HEIGHT / 2 + LANE * entries + 6.0)


def wheel_height(lines: int) -> float:
    """Height of a wheel with so many lines on one side."""
    return HEIGHT + PORT * (lines - 1)


# -- From a graph to a drawing: vertices, strokes and labels at their places ----------------------


# [px] Least length of a wheel's own line, and space between rows; the same of a list.
STUB, ROW = 28.0, 14.0
INDENT, LINE = 6.0, 18.0 - HEIGHT


@dataclass(frozen=True)
class Manner:
    """What one kind of picture shows.

    Attributes:
        look: How a vertex is drawn.
        text: What is written in it.
        axis: What is written at a pair.
        bearings: Whether wheels' pairs are drawn; without them wheels are a dense list.
        ratios: Whether gear pairs have labels.
    """

    look: Callable[[Vertex], Look]
    text: Callable[[Vertex], str]
    axis: Callable[[JointEdge], str]
    bearings: bool = True
    ratios: bool = True


def draw(graph: Graph, manner: Manner) -> Drawing:
    """Draw a graph.

    Args:
        graph: Vertices, pairs, gearings.
        manner: What to show of it.
    """
    sheet = Sheet(graph, manner)
    labels, strokes = [], []
    for pair in graph.pairs:
        new_labels, new_strokes = sheet.pair(pair)
        labels += new_labels
        strokes += new_strokes
    for k in range(len(sheet.routes)):
        strokes.append(Stroke(sheet.path(k), "stated" if graph.gearings[k].stated else "gear"))
        labels += sheet.gear_labels(k)
    nodes = tuple(sheet.node(vertex) for vertex in graph.vertices)
    return Drawing(sheet.across.width, sheet.down.height, nodes, tuple(labels), tuple(strokes))


@dataclass(frozen=True)
class Sheet:
    """A graph with everything measured."""

    graph: Graph
    manner: Manner

    @cached_property
    def seats(self) -> Seats:
        """Columns and bands."""
        return seats_of(self.graph)

    @cached_property
    def routes(self) -> list[Route]:
        """Gutters of the gear pairs."""
        return [route_of(gearing, self.seats) for gearing in self.graph.gearings]

    @cached_property
    def rows(self) -> WheelRows:
        """Rows of the wheels."""
        return rows_of(self.seats, self.routes)

    @cached_property
    def ports(self) -> Ports:
        """Order of lines at vertices and in gutters."""
        return ports_of(self.seats, self.rows, self.routes)

    @cached_property
    def text(self) -> dict[str, str]:
        """Text in each vertex."""
        return {vertex.name: self.manner.text(vertex) for vertex in self.graph.vertices}

    @cached_property
    def down(self) -> Down:
        """Heights."""
        return down(self.seats, self.rows, self.ports, ROW if self.manner.bearings else LINE)

    @cached_property
    def across(self) -> Across:
        """Widths."""
        before = {name: self.widest(ends) for name, ends in self.ports.left.items()}
        after = {name: self.widest(ends) for name, ends in self.ports.right.items()}
        for pair in self.graph.pairs:
            width = text_width(self.manner.axis(pair))
            if pair.held not in self.seats.level:
                after[pair.holder] = max(after[pair.holder], width)
            elif self.manner.bearings:
                before[pair.held] = max(before[pair.held], width)
        for route in self.routes:
            if route.track and self.manner.ratios:
                end = route.gutters.index(min(route.gutters))
                name = route.gearing.members[end]
                after[name] = max(after[name], BUS + text_width(route.gearing.label(end)))
        own = {name: text_width(text) + 2 * PAD for name, text in self.text.items()}
        stub = STUB if self.manner.bearings else INDENT
        return across(self.seats, self.ports, own, before, after, stub)

    def widest(self, ends: list[End]) -> float:
        """Width of the widest label at some ends."""
        if not self.manner.ratios:
            return 0.0
        return max(
            (text_width(self.graph.gearings[k].label(member)) for k, member in ends), default=0.0
        )

    def box(self, name: str) -> Box:
        """Where a vertex lies."""
        width = text_width(self.text[name]) + 2 * PAD
        column = self.seats.column[name]
        if name in self.seats.level:
            x = self.across.wheel(column, self.seats.level[name])
            height = wheel_height(self.ports.lines(name))
            height += 0.0 if self.manner.bearings else LINE
            top = self.down.wheel[name] - min(height, HEIGHT) / 2
            return Box(x, top, width, height)
        height = link_height(len(self.ports.left[name]))
        top = self.down.link[name] - HEIGHT / 2
        return Box(self.across.column[column], top, width, height)

    def node(self, vertex: Vertex) -> Node:
        """A vertex."""
        return Node(self.text[vertex.name], self.box(vertex.name), self.manner.look(vertex))

    def pair(self, pair: JointEdge) -> tuple[list[Label], list[Stroke]]:
        """A thin edge: along the band, or down and to the right."""
        holder, held = self.box(pair.holder), self.box(pair.held)
        wheel = pair.held in self.seats.level
        if wheel and not self.manner.bearings:
            return [], []
        y = held.y + HEIGHT / 2
        straight = not wheel and self.seats.band[pair.holder] == self.seats.band[pair.held]
        if straight:
            start = holder.x + holder.width
            points: tuple[Point, ...] = ((start, y), (held.x, y))
        else:
            start = holder.x + BUS
            points = ((start, holder.y + holder.height), (start, y), (held.x, y))
        label = written(self.manner.axis(pair), start + PAD, y, "italic")
        return [label], [Stroke(points, "sliding" if pair.slides else "turning")]

    def port(self, end: End) -> tuple[float, float]:
        """Where a gear pair leaves a vertex: x, y."""
        k, member = end
        name = self.graph.gearings[k].members[member]
        box = self.box(name)
        if name not in self.seats.level:
            order = self.ports.left[name].index(end)
            return box.x, box.y + HEIGHT / 2 + LANE * (order + 1)
        y = box.y + HEIGHT / 2
        if self.routes[k].sides[member] > 0:
            order = self.ports.right[name].index(end)
            return box.x + box.width, y + PORT * order
        return box.x, y + PORT * (1 + self.ports.left[name].index(end))

    def lane(self, end: End) -> float:
        """Where in its gutter a gear pair runs up or down."""
        gutter = self.routes[end[0]].gutters[end[1]]
        order = [k for k, _ in self.ports.lanes[gutter]].index(end[0])
        if self.routes[end[0]].track:
            order = self.ports.lanes[gutter].index(end)
        return self.across.gutter[gutter] + LANE * (order + 1)

    def path(self, k: int) -> tuple[Point, ...]:
        """A heavy edge from member to member."""
        (x1, y1), (x2, y2) = self.port((k, 0)), self.port((k, 1))
        first, last = self.lane((k, 0)), self.lane((k, 1))
        if not self.routes[k].track:
            return (x1, y1), (first, y1), (first, y2), (x2, y2)
        y = self.down.track[k]
        return (x1, y1), (first, y1), (first, y), (last, y), (last, y2), (x2, y2)

    def gear_labels(self, k: int) -> list[Label]:
        """Teeth or ratio, beside the wheels; of two links on the row that joins them."""
        gearing = self.graph.gearings[k]
        if not self.manner.ratios:
            return []
        if self.routes[k].track:
            low = min(self.routes[k].gutters)
            member = self.routes[k].gutters.index(low)
            x = self.across.column[low] + BUS + PAD
            return [written(gearing.label(member), x, self.down.track[k])]
        labels: list[Label] = []
        for member, side in enumerate(self.routes[k].sides):
            if side and not (gearing.stated and labels):
                x, y = self.port((k, member))
                text = gearing.label(member)
                left = x + PAD if side > 0 else x - PAD - text_width(text)
                labels.append(written(text, left, y))
        return labels
