"""Gear trains by their contacts: at the point where two pitch surfaces touch, they do not slide.

Everything is seen from the link that holds both axes: a member's motion relative to it is a
sum of turns about fixed lines, some with rates that are given, some with a wheel's unknown
spin. Nothing is known here of teeth, signs or Willis: only of points and velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naive.bodies import Array


@dataclass(frozen=True)
class Turn:
    """A turn about a line: of wheel ``wheel``, or at the rate ``known`` @ v."""

    point: Any
    axis: Any
    wheel: int | None = None
    known: Any = 0.0

    def velocity(self, place: Array) -> Array:
        """Velocity of the material point at ``place`` per unit rate (3,)."""
        return np.cross(np.asarray(self.axis, float), place - np.asarray(self.point, float))


@dataclass(frozen=True)
class Contact:
    """Two members touch at ``place``; each turns relative to the arm by a sum of turns."""

    place: Any
    one: Sequence[Turn]
    other: Sequence[Turn]


def rolling_spins(contacts: Sequence[Contact], wheels: int, n: int) -> Array:
    """Spin of each wheel per joint rate (wheels, n) at which nothing slides.

    Raises if the contacts leave a wheel free or cannot all roll.
    """
    unknown, given = np.zeros((3 * len(contacts), wheels)), np.zeros((3 * len(contacts), n))
    for k, contact in enumerate(contacts):
        rows = slice(3 * k, 3 * k + 3)
        place = np.asarray(contact.place, float)
        for sign, member in ((1.0, contact.one), (-1.0, contact.other)):
            for turn in member:
                velocity = sign * turn.velocity(place)
                if turn.wheel is None:
                    given[rows] += np.outer(velocity, turn.known)
                else:
                    unknown[rows, turn.wheel] += velocity
    spins, _, rank, _ = np.linalg.lstsq(unknown, -given, rcond=None)
    assert rank == wheels, "the contacts leave a wheel free"
    slip = np.abs(unknown @ spins + given).max()
    assert slip < 1e-12 * np.abs(given).max(), "the contacts cannot all roll"
    return np.asarray(spins)


def bevel_contact(apex: Any, one: Any, other: Any, radii: Sequence[float], sign: int) -> Array:
    """Where two bevels on crossing axes touch, so that ``sign`` is that of their rates.

    Perpendicular axes ``one`` and ``other`` from the apex; the point at distance radii[0]
    from the first and radii[1] from the second. The two possible sides differ in sign.
    """
    along = radii[1] * np.asarray(one, float) - sign * radii[0] * np.asarray(other, float)
    return np.asarray(apex, float) + along
