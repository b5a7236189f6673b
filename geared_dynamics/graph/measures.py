"""Lengths of a picture: where columns, gutters, rows, lanes and ports lie [px]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from geared_dynamics.graph.drawing import HEIGHT
from geared_dynamics.graph.rows import Rows
from geared_dynamics.graph.seats import Route, Seats

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


def ports_of(seats: Seats, rows: Rows, routes: Sequence[Route]) -> Ports:
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


def down(seats: Seats, rows: Rows, ports: Ports, gap: float) -> Down:
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
