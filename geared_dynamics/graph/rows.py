"""In which row of its band each wheel sits: as few rows as lines apart allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from geared_dynamics.graph.seats import Route, Seats

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
class Rows:
    """Row of each wheel in its band, band and row of each route between two links."""

    wheel: dict[str, int]
    track: dict[int, tuple[int, int]]
    count: tuple[int, ...]


def rows_of(seats: Seats, routes: Sequence[Route]) -> Rows:
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
    return Rows(wheel, track, tuple(len(band.rows) for band in bands))


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
