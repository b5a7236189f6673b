"""Contacts along a motion: what happens where they change; gears that jam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.actuation.motion_from_torque import BAND, Sticking, sticking
from geared_dynamics.arrays import Array, ArrayLike, IntArray
from geared_dynamics.dynamics.arguments import finite_input, one_driven_state
from geared_dynamics.dynamics.contact import (
    Environment,
    Line,
    LockedGear,
    Surface,
    constrained_dynamics,
    coordinates,
    impact,
    prepare,
)
from geared_dynamics.dynamics.contact.constraints import Contact
from geared_dynamics.dynamics.contact.packing import PreparedContacts
from geared_dynamics.dynamics.drives import motor_speeds
from geared_dynamics.dynamics.rigid import forward_dynamics, kinetic_energy, mass_matrix
from geared_dynamics.errors import ModelError
from geared_dynamics.kernels.contact_layout import CONTACT_SIZE, COUNT, HEADER_SIZE
from geared_dynamics.model import GearedModel

NEAR = 1e-6  # distance within which a surface is touched at an event [m]
MOST, ROUNDING = 1000, 1e-10  # impacts at one instant; speed of approach that is none [m/s]
STILL, SLOW = 1e-6, 1e-5  # sliding that is none; sliding that ends where it turns back [m/s]
LEAST_SLIP = 1.75 * STILL  # between where sliding ends and where it begins [m/s]


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


class Acting(NamedTuple):
    """Contacts that act while some surfaces are touched: with their rows and masses among all."""

    ready: PreparedContacts | None
    rows: IntArray
    masses: IntArray


@dataclass(frozen=True, eq=False)
class Scene:
    """What does not change along a motion.

    Attributes:
        model: The arm.
        every: All contacts.
        surfaces: Which of them may be touched and left, masses of supports among them.
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
    known: dict[tuple[int, ...], Acting] = field(default_factory=dict)
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
        """Return q, v and the states of the supports' masses (e, 2)."""
        n, supports = self.model.n, len(self.every.depths)
        depth = x[2 * n : 2 * n + 2 * supports].reshape(-1, 2) if supports else None
        return x[:n], x[n : 2 * n], depth

    def acting(self, touched: tuple[int, ...]) -> Acting:
        """Return what acts while some surfaces are touched."""
        if touched not in self.known:
            kept: list[Contact] = []
            rows: list[int] = []
            masses: list[int] = []
            for k, contact in enumerate(self.every.contacts):
                if k in self.surfaces and k not in touched:
                    continue
                left = k in self.surfaces and isinstance(contact, Surface | Environment)
                kept.append(contact.holding() if left else contact)  # type: ignore[union-attr]
                rows += range(self.row(k), self.row(k) + int(self.counts[k]))
                masses += [self.every.depths.index(k)] if k in self.every.depths else []
            made = prepare(self.model, kept) if kept else None
            self.known[touched] = Acting(made, np.array(rows, int), np.array(masses, int))
        return self.known[touched]

    def momentary(self, touched: tuple[int, ...], t: float, x: Array) -> Momentary:
        """Motion while some surfaces are touched: they hold, whatever the sign of their force."""
        q, v, depth = self.split(x)
        tau = self.torque(t, q, v)
        acting, support = self.acting(touched), self.alone(depth)
        force, free = np.zeros(self.every.rows), forward_dynamics(self.model, q, v, tau)
        if acting.ready is None:
            return Momentary(free, force, float(tau @ v), 0.0, support)
        found = constrained_dynamics(
            self.model,
            acting.ready,
            q,
            v,
            tau,
            t,
            self.friction,
            tolerance=np.inf,
            depth=None if depth is None else depth[acting.masses],
        )
        force[acting.rows] = found.force
        push = mass_matrix(self.model, q) @ (found.a - free)
        support[acting.masses] = found.support[list(acting.ready.depths)]
        return Momentary(found.a, force, float(tau @ v), float(push @ v), support)

    def alone(self, depth: Array | None) -> Array:
        """Accelerations of the supports' masses without the tool: y'' = -(k y + b y') / m."""
        found = np.zeros(len(self.every.depths))
        for e, k in enumerate(self.every.depths if depth is not None else ()):
            contact = self.every.contacts[k]
            if isinstance(contact, Environment):
                y, rate = map(float, depth[e])  # type: ignore[index]
                stiffness, damping = contact.laws_at(y, rate, self.every.place(k))
                found[e] = -(stiffness * y + damping * rate) / contact.mass
        return found

    def gaps(self, t: float, x: Array) -> tuple[Array, Array]:
        """Distance and its rate of every coordinate (m,), from a mass that the tool hits."""
        q, v, depth = self.split(x)
        seen = coordinates(self.model, self.every, q, v, t, free=False)
        s, rate = seen.s.copy(), seen.rate.copy()
        for e, k in enumerate(self.every.depths):
            if k in self.surfaces and depth is not None:
                s[self.row(k)] -= depth[e, 0]
                rate[self.row(k)] -= depth[e, 1]
        return s, rate

    def sliding(self, k: int, t: float, x: Array) -> Any:
        """Coordinates along a surface: those that a line along its normal constrains."""
        contact = self.every.contacts[k]
        surface = contact.surface if isinstance(contact, Environment) else contact
        if k not in self.tangents and isinstance(surface, Surface):
            line = Line(
                surface.frame,
                surface.point,
                surface.normal,
                velocity=surface.velocity,
                acceleration=surface.acceleration,
                angular_velocity=surface.angular_velocity,
                along=surface.along,
            )
            self.tangents[k] = prepare(self.model, line)
        q, v, _ = self.split(x)
        return coordinates(self.model, self.tangents[k], q, v, t, free=False)


def may_be_left(contact: Contact) -> bool:
    """Whether a contact is touched and left, with impacts."""
    if isinstance(contact, Environment):
        return contact.struck
    return isinstance(contact, Surface) and not contact.bilateral


def settle(
    scene: Scene, touched: tuple[int, ...], t: float, x: Array, parting: int | None = None
) -> tuple[Array, tuple[int, ...], list[ContactEvent], float]:
    """Impacts at an instant, and which surfaces push after them; ``parting`` does not.

    Returns the state after it, what is touched, the events, and the work of walls in impacts.
    """
    events: list[ContactEvent] = []
    x = x.copy()
    q, v, depth = scene.split(x)
    nothing, still = np.zeros(scene.every.rows), np.zeros(scene.model.n)
    work = 0.0
    for _ in range(MOST):  # what one impact drives into another surface is hit next
        s, rate = scene.gaps(t, np.concatenate([q, v, x[2 * scene.model.n :]]))
        near = [k for k in scene.surfaces if abs(s[scene.row(k)]) <= NEAR]
        fastest = max((-float(rate[scene.row(k)]) for k in near), default=0.0)
        if fastest <= ROUNDING:
            break
        e = scene.restitution if scene.restitution * fastest > scene.rest else 0.0
        found = impact(
            scene.model, scene.every, q, v, e, scene.friction, t=t, tolerance=NEAR, depth=depth
        )
        before, after = (float(kinetic_energy(scene.model, q, rate)) for rate in (v, found.v))
        loss = 0.0  # what is no impact worth the name changes energy by rounding: work
        if fastest > scene.rest:
            hit = tuple(k for k in near if found.impulse[scene.row(k)] > 0.0)
            loss, jump = float(found.loss), found.v - v
            events.append(ContactEvent(t, "impact", hit, jump, found.impulse, loss))
        work += loss - (before - after)
        v = found.v
        for i, k in enumerate(scene.every.depths):
            contact = scene.every.contacts[k]
            if isinstance(contact, Environment) and depth is not None:
                depth[i, 1] -= found.impulse[scene.row(k)] / contact.mass
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
    """State with the rest of sliding along surface k taken out, by the least kinetic energy.

    What is touched stays so, and where the arm sticks it comes to rest as well.
    """
    q, v, _ = scene.split(x)
    seen = coordinates(scene.model, scene.every, q, v, t, free=False)
    slips = {i: scene.sliding(i, t, x) for i in touched}
    slow = [s for i, s in slips.items() if i == k or np.linalg.norm(s.rate) < LEAST_SLIP]
    J = np.vstack([*(s.jacobian for s in slow), *(seen.jacobian[scene.row(i)] for i in touched)])
    rate = np.concatenate([*(s.rate for s in slow), np.zeros(len(touched))])
    half = np.linalg.solve(mass_matrix(scene.model, q), J.T)
    change = half @ np.linalg.lstsq(J @ half, rate, rcond=1e-10)[0]
    return np.concatenate([q, v - change, x[2 * scene.model.n :]])


# -- Gears that jam while the arm moves: plastic impacts of locked gears --------------------------
#
# A gear that locks itself (backdriving efficiency of zero or less) may leave no acceleration while
# the arm coasts: the larger the braking torque at the teeth, the larger their friction. Rigid
# bodies then stop the gear at once, by an impulse between rotor and carrier, and hold it.


class Jam(NamedTuple):
    """What gears that jam do to the arm at one instant.

    Attributes:
        motors: Names of the motors whose gears jam; empty where none does.
        v: Joint velocity afterwards (n,).
        impulse: What each of them gives its rotor's carrier (k,) [N m s].
        loss: Energy lost [J].
        gear_impulse: As of ``contact.impact`` (m,) [N m s], motor side.
        after: What moves and what rests afterwards: ``gd.sticking`` at ``v``.
    """

    motors: tuple[str, ...]
    v: Array
    impulse: Array
    loss: float
    gear_impulse: Array
    after: Sticking


def jam(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    torque: ArrayLike,
    *,
    external: ArrayLike | None = None,
    band: float = BAND,
) -> Jam:
    """Resolve gears that jam: the fewest that leave a motion after they have stopped and hold.

    Where ``gd.sticking`` finds a motion nothing jams. Otherwise sets of self-locking gears that
    turn are tried, one gear before two, those worst to drive back first: each set stops in a
    plastic impact, M dv = Z'P with (Gamma v+) = 0 of its rotors, and counts where ``gd.sticking``
    then finds a motion in which it rests.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        v: Joint velocity before (n,).
        torque: Electromagnetic torque of each motor (m,) [N m].
        external: Joint force from outside (n,) [N m or N].
        band: Rate within which a joint or a rotor is at rest, in its own units.

    Raises:
        ModelError: naming the motor whose gear jams, where no set leaves a motion.
    """
    options = {"external": external, "band": band}
    checked = {name: finite_input(name, value, model.n) for name, value in (("q", q), ("v", v))}
    position, rate = one_driven_state(checked)
    try:
        found = sticking(model, position, rate, torque, **options)  # type: ignore[arg-type]
        none = np.zeros(len(model.motor_names))
        return Jam((), rate.copy(), np.zeros(0), 0.0, none, found)
    except ModelError as error:
        unsolved = error
    turning = np.abs(motor_speeds(model, rate)) > band
    back = model.motors.efficiency[:, 1]
    worst = [k for k in np.argsort(back, kind="stable") if turning[k] and back[k] <= 0.0]
    for size in range(1, len(worst) + 1):
        for chosen in combinations(worst, size):
            names = tuple(model.motor_names[k] for k in chosen)
            hit = impact(model, [LockedGear(name) for name in names], position, rate)
            after = np.where(np.abs(hit.v) > band, hit.v, 0.0)
            try:
                found = sticking(model, position, after, torque, **options)  # type: ignore[arg-type]
            except ModelError:
                continue
            if set(names) <= set(found.motors):
                return Jam(names, hit.v, hit.impulse, float(hit.loss), hit.gear_impulse, found)
    raise unsolved
