"""Contacts along a motion: which surfaces are touched, and what happens where that changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.dynamics.contact import (
    Environment,
    Line,
    Surface,
    constrained_dynamics,
    coordinates,
    impact,
    prepare,
)
from geared_dynamics.dynamics.contact.constraints import Contact
from geared_dynamics.dynamics.contact.packing import PreparedContacts
from geared_dynamics.dynamics.rigid import forward_dynamics, kinetic_energy, mass_matrix
from geared_dynamics.kernels.contact_layout import CONTACT_SIZE, COUNT, HEADER_SIZE
from geared_dynamics.model import GearedModel

NEAR = 1e-6  # distance within which a surface is touched at an event [m]
MOST, ROUNDING = 1000, 1e-10  # impacts at one instant; speed of approach that is none [m/s]
STILL, SLOW = 1e-6, 1e-5  # sliding that is none; sliding that ends where it turns back [m/s]


class ContactEvent(NamedTuple):
    """Something that happens at an instant.

    Attributes:
        time: When [s].
        kind: ``impact``; ``contact``: touched from here on; ``release``; ``stick``; ``slide``.
        contacts: Which contacts, by their place in the list.
        jump: Jump of the joint velocity (n,).
        impulse: Along each constrained coordinate (m,) [N s]; zero but of impacts.
        loss: Energy lost [J], as of ``impact``.
    """

    time: float
    kind: str
    contacts: tuple[int, ...]
    jump: Array
    impulse: Array
    loss: float


class Momentary(NamedTuple):
    """Motion at an instant: accelerations, forces of all rows, powers, supports' accelerations."""

    a: Array
    force: Array
    power: float
    contact_power: float
    support: Array


@dataclass(frozen=True, eq=False)
class Scene:
    """What does not change along a motion.

    Attributes:
        model: The arm.
        every: All contacts.
        surfaces: Which of them may be touched and left.
        torque: Joint force for t, q, v.
        restitution: e.
        friction: Coulomb's coefficient.
        rest: Speed after an impact below which it is plastic [m/s].
        known: What acts, by the surfaces that are touched.
    """

    model: GearedModel
    every: PreparedContacts
    surfaces: tuple[int, ...]
    torque: Callable[[float, Array, Array], Array]
    restitution: float
    friction: float
    rest: float
    known: dict[tuple[int, ...], tuple[PreparedContacts | None, IntArray]] = field(
        default_factory=dict
    )
    tangents: dict[int, PreparedContacts] = field(default_factory=dict)

    @property
    def counts(self) -> IntArray:
        """Number of coordinates of each contact."""
        count = len(self.every.contacts)
        return self.every.block[HEADER_SIZE + COUNT :: CONTACT_SIZE][:count].astype(np.int64)

    def row(self, k: int) -> int:
        """Index of contact k's first coordinate."""
        return int(self.counts[:k].sum())

    def split(self, x: Array) -> tuple[Array, Array, Array | None]:
        """Return q, v and the supports' states (e, 2)."""
        n, supports = self.model.n, len(self.every.depths)
        depth = x[2 * n : 2 * n + 2 * supports].reshape(-1, 2) if supports else None
        return x[:n], x[n : 2 * n], depth

    def acting(self, touched: tuple[int, ...]) -> tuple[PreparedContacts | None, IntArray]:
        """What acts while some surfaces are touched, and its rows among all."""
        if touched not in self.known:
            kept: list[Contact] = []
            rows: list[int] = []
            for k, contact in enumerate(self.every.contacts):
                if k in self.surfaces and k not in touched:
                    continue
                kept.append(contact.holding() if isinstance(contact, Surface) else contact)
                rows += range(self.row(k), self.row(k) + int(self.counts[k]))
            made = prepare(self.model, kept) if kept else None
            self.known[touched] = made, np.array(rows, np.int64)
        return self.known[touched]

    def momentary(self, touched: tuple[int, ...], t: float, x: Array) -> Momentary:
        """Motion while some surfaces are touched: they hold, whatever the sign of their force."""
        q, v, depth = self.split(x)
        tau = self.torque(t, q, v)
        ready, rows = self.acting(touched)
        force, free = np.zeros(self.every.rows), forward_dynamics(self.model, q, v, tau)
        if ready is None:
            return Momentary(free, force, float(tau @ v), 0.0, np.zeros(0))
        found = constrained_dynamics(
            self.model, ready, q, v, tau, t, self.friction, tolerance=np.inf, depth=depth
        )
        force[rows] = found.force
        push = mass_matrix(self.model, q) @ (found.a - free)
        support = found.support[list(ready.depths)]
        return Momentary(found.a, force, float(tau @ v), float(push @ v), support)

    def distance(self, k: int, t: float, x: Array) -> float:
        """Coordinate of a surface."""
        q, v, _ = self.split(x)
        return float(coordinates(self.model, self.every, q, v, t, free=False).s[self.row(k)])

    def sliding(self, k: int, t: float, x: Array) -> Any:
        """Coordinates along a surface: those that a line along its normal constrains."""
        surface = self.every.contacts[k]
        if k not in self.tangents and isinstance(surface, Surface):
            line = Line(
                surface.frame,
                surface.point,
                surface.axis,
                velocity=surface.velocity,
                acceleration=surface.acceleration,
                angular_velocity=surface.angular_velocity,
                along=surface.along,
            )
            self.tangents[k] = prepare(self.model, line)
        q, v, _ = self.split(x)
        return coordinates(self.model, self.tangents[k], q, v, t, free=False)


def may_be_left(scene_contacts: tuple[Any, ...]) -> tuple[int, ...]:
    """Surfaces that are touched and left."""
    return tuple(
        k for k, c in enumerate(scene_contacts) if isinstance(c, Surface) and not c.bilateral
    )


def refused(contact: Any) -> str:
    """Why a contact cannot be simulated; empty where it can."""
    if isinstance(contact, Environment):
        hit = contact.mass > 0.0 and contact.tool_stiffness is None
        return "has a mass that the tool itself hits" if hit else ""
    return (
        ""
        if getattr(contact, "bilateral", True) or isinstance(contact, Surface)
        else "is unilateral"
    )


def settle(
    scene: Scene, touched: tuple[int, ...], t: float, x: Array, parting: int | None = None
) -> tuple[Array, tuple[int, ...], list[ContactEvent], float]:
    """Impacts at an instant, and which surfaces push after them; ``parting`` does not.

    Returns the state after it, what is touched, the events, and the work of walls in impacts.
    """
    events: list[ContactEvent] = []
    q, v, depth = scene.split(x)
    nothing, still = np.zeros(scene.every.rows), np.zeros(scene.model.n)
    work = 0.0
    for _ in range(MOST):  # what one impact drives into another surface is hit next
        seen = coordinates(scene.model, scene.every, q, v, t, free=False)
        near = [k for k in scene.surfaces if abs(seen.s[scene.row(k)]) <= NEAR]
        fastest = max((-float(seen.rate[scene.row(k)]) for k in near), default=0.0)
        if fastest <= ROUNDING:
            break
        e = scene.restitution if scene.restitution * fastest > scene.rest else 0.0
        found = impact(scene.model, scene.every, q, v, e, scene.friction, t=t, tolerance=NEAR)
        before, after = (float(kinetic_energy(scene.model, q, rate)) for rate in (v, found.v))
        loss = 0.0  # what is no impact worth the name changes energy by rounding: work
        if fastest > scene.rest:
            hit = tuple(k for k in near if found.impulse[scene.row(k)] > 0.0)
            loss, jump = float(found.loss), found.v - v
            events.append(ContactEvent(t, "impact", hit, jump, found.impulse, loss))
        work += loss - (before - after)
        v = found.v
    tau = scene.torque(t, q, v)
    pushed = constrained_dynamics(
        scene.model, scene.every, q, v, tau, t, scene.friction, tolerance=NEAR, depth=depth
    ).force
    now = tuple(k for k in scene.surfaces if pushed[scene.row(k)] > 0.0 and k != parting)
    for kind, which in (
        ("release", tuple(k for k in touched if k not in now)),
        ("contact", tuple(k for k in now if k not in touched)),
    ):
        if which:
            events.append(ContactEvent(t, kind, which, still, nothing, 0.0))
    return np.concatenate([q, v, x[2 * scene.model.n :]]), now, events, work


def stopped(scene: Scene, k: int, touched: tuple[int, ...], t: float, x: Array) -> Array:
    """State with the rest of sliding along surface k taken out, by the least kinetic energy."""
    q, v, _ = scene.split(x)
    along = scene.sliding(k, t, x)
    seen = coordinates(scene.model, scene.every, q, v, t, free=False)
    J = np.vstack([along.jacobian, *(seen.jacobian[scene.row(i)] for i in touched)])
    rate = np.concatenate([along.rate, np.zeros(len(touched))])
    half = np.linalg.solve(mass_matrix(scene.model, q), J.T)
    change = half @ np.linalg.lstsq(J @ half, rate, rcond=1e-10)[0]
    return np.concatenate([q, v - change, x[2 * scene.model.n :]])
