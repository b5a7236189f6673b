"""Motion of an arm through approach, impact, contact and release, with events located."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import finite_input, one_driven_state
from geared_dynamics.dynamics.contact import coordinates, prepare
from geared_dynamics.dynamics.contact.constraints import Contact, Environment, not_negative
from geared_dynamics.dynamics.contact.packing import PreparedContacts
from geared_dynamics.dynamics.contact.states import coefficient
from geared_dynamics.dynamics.rigid import kinetic_energy, potential_energy
from geared_dynamics.errors import ArrayError, MissingPackageError
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.adaptive import checked_times, one_or_more, refuse_tolerances
from geared_dynamics.simulation.contact_events import (
    LEAST_SLIP,
    NEAR,
    SLOW,
    STILL,
    ContactEvent,
    Scene,
    may_be_left,
    settle,
    stopped,
)

Torque = ArrayLike | Callable[[float, Array, Array], ArrayLike]
SHORTEST, LONGEST = 1e-7, 1e-5  # time for which a surface just left is not looked at [s]
WITHIN = 7  # times within a step at which surfaces are looked for
BELOW = 1e-12  # depth at which a surface is met: more than the rounding of its coordinate [m]
Watch = tuple[str, int, Callable[[float, Array], float]]


class EnergyAccount(NamedTuple):
    """Where the energy went [J]: end - start = work + contact_work - loss.

    Attributes:
        start: Kinetic and potential energy of the arm at the first time.
        end: At the last.
        work: Of the joint forces tau.
        contact_work: Of all contacts on the arm: friction, moving walls, supports.
        loss: Of all impacts.
    """

    start: float
    end: float
    work: float
    contact_work: float
    loss: float


class ContactRun(NamedTuple):
    """A simulated motion at k times.

    Attributes:
        t: Times (k,) [s].
        q: Joint position (k, n) [rad or m].
        v: Joint velocity (k, n), after what happens at that time.
        force: Along each constrained coordinate (k, m) [N or N m].
        depth: Place and velocity of each support's mass (k, e, 2), in the order of the contacts.
        events: What happened, in order.
        energy: The account.
    """

    t: Array
    q: Array
    v: Array
    force: Array
    depth: Array
    events: tuple[ContactEvent, ...]
    energy: EnergyAccount


def simulate(
    model: GearedModel,
    contacts: Contact | Sequence[Contact],
    q: ArrayLike,
    v: ArrayLike,
    times: ArrayLike,
    tau: Torque | None = None,
    *,
    restitution: float = 0.0,
    friction: float = 0.0,
    depth: ArrayLike | None = None,
    rest: float = 1e-4,
    rtol: float = 1e-9,
    atol: float = 1e-11,
    max_events: int = 1000,
    max_evaluations: int = 1_000_000,
) -> ContactRun:
    """Motion with contacts over a time; needs SciPy (extra ``analysis``).

    Surfaces are approached, hit, touched and left. Lines, pegs, constraints and locked gears
    hold all the time. A support's mass that the tool itself touches is hit, left and met again as
    a surface is, and swings by itself in between.

    Args:
        model: Geared model.
        contacts: The contacts.
        q: Joint position at the first time (n,) [rad or m].
        v: Joint velocity (n,).
        times: Where the motion is wanted (k,), rising, at least two [s].
        tau: Joint force (n,) [N m or N], or a function of t, q and v; zero if not given.
        restitution: e of impacts from which a frame parts faster than ``rest``.
        friction: Coulomb's coefficient, of all surfaces.
        depth: Place and velocity of each support's mass (e, 2); zero if not given.
        rest: Speed of parting below which an impact is plastic [m/s].
        rtol: Relative error of a step, 2.3e-14 at least.
        atol: Absolute error of a step, in each number's own unit.
        max_events: After so many events the motion is given up.
        max_evaluations: After so many evaluations of the rates it ends with an error.

    Raises:
        GearedDynamicsError: as ``impact``; or where events or evaluations do not come to an end.
        MissingPackageError: without SciPy.
    """
    refuse_tolerances(rtol, atol)
    one_or_more("max_events", max_events)
    one_or_more("max_evaluations", max_evaluations)
    every, when = prepare(model, contacts), checked_times(times)
    for k, contact in enumerate(every.contacts):
        if not (may_be_left(contact) or getattr(contact, "bilateral", True)):
            remedy = "use a Surface or an Environment instead, or set bilateral=True"
            raise ArrayError(
                every.place(k),
                "is a unilateral constraint by a function, which simulate does not support",
                remedy,
            )
    e = not_negative("restitution", restitution)
    if e > 1.0:
        raise ArrayError("restitution", f"is {e:g}", "give a number from 0 to 1")
    if coefficient(every, friction) > 0.0:
        refuse_rubbing_supports(every)
    scene = Scene(
        model,
        every,
        tuple(k for k, contact in enumerate(every.contacts) if may_be_left(contact)),
        torque_of(model, tau),
        e,
        coefficient(every, friction),
        not_negative("rest", rest),
    )
    start = {name: finite_input(name, x, model.n) for name, x in (("q", q), ("v", v))}
    x = np.concatenate(
        [*one_driven_state(start), supports_of(len(every.depths), depth), np.zeros(2)]
    )
    return follow(scene, when, x, (rtol, atol), max_events, max_evaluations)


def refuse_rubbing_supports(every: PreparedContacts) -> None:
    """Raise for friction where a tool touches a spring: it has no events of sticking."""
    for k, contact in enumerate(every.contacts):
        if isinstance(contact, Environment) and not contact.struck:
            finding = "is touched through a spring, where simulate does not support friction"
            remedy = (
                "set friction to 0, give it a mass and no tool_stiffness, or simulate a plant "
            )
            raise ArrayError(every.place(k), finding, remedy + "with a gd.simulation.Wall")


def torque_of(model: GearedModel, tau: Torque | None) -> Callable[[float, Array, Array], Array]:
    """Joint force as a checked function."""
    if tau is None:
        still = np.zeros(model.n)
        return lambda t, q, v: still
    if callable(tau):
        given = tau
        return lambda t, q, v: one_driven_state(
            {"tau": finite_input("tau", given(t, q, v), model.n)}
        )[0]
    (steady,) = one_driven_state({"tau": finite_input("tau", tau, model.n)})
    return lambda t, q, v: steady


def supports_of(count: int, depth: ArrayLike | None) -> Array:
    """States of the supports' masses in a row (2 e,)."""
    if depth is None:
        return np.zeros(2 * count)
    states = finite_input("depth", depth, 2)
    if states.shape != (count, 2):
        raise ArrayError("depth", f"has shape {states.shape}", f"give shape ({count}, 2)")
    return states.ravel()


def follow(
    scene: Scene,
    when: Array,
    x: Array,
    tolerances: tuple[float, float],
    max_events: int,
    max_evaluations: int,
) -> ContactRun:
    """Integrate from event to event."""
    try:
        from scipy.integrate import solve_ivp
    except ImportError:
        raise MissingPackageError("simulate", "scipy", "analysis") from None
    begin, t, last = energy_of(scene, x), float(when[0]), float(when[-1])
    x, touched, events, walls = settle(scene, (), t, x)
    rows, forces, used, evaluations = [], [], 0, 0

    def counted(t: float, x: Array) -> Array:
        """Rates, as long as evaluations are left."""
        nonlocal evaluations
        evaluations += 1
        if evaluations > max_evaluations:
            finding = f"{max_evaluations} evaluations are used up at {t:.9g} s"
            raise ArrayError("max_evaluations", finding, "allow more, or loosen rtol and atol")
        return rates(scene, touched, t, x)

    while True:
        watches = watched(scene, touched, t, x)
        until: float | None = last
        while until is not None:
            end = until
            done: Any = solve_ivp(
                counted,
                (t, end),
                x,
                "DOP853",
                dense_output=True,
                events=[watch[2] for watch in watches],
                rtol=tolerances[0],
                atol=tolerances[1],
            )
            until = overlooked(watches, done) if done.status >= 0 else None
        if done.status < 0:
            finding = f"the motion cannot be followed beyond {done.t[-1]:.9g} s ({done.message})"
            raise ArrayError("simulate", finding, "check inputs and state there")
        t, x, ended = float(done.t[-1]), done.y[:, -1], done.status == 0 and end == last
        for time in when[used:][when[used:] <= t if ended else when[used:] < t]:
            rows.append(done.sol(time))
            forces.append(scene.momentary(touched, float(time), rows[-1]).force)
            used += 1
        if ended:
            break
        if len(events) >= max_events:
            finding = f"{max_events} events happened up to {t:.9g} s"
            raise ArrayError("max_events", finding, "allow more, or give a larger rest")
        x, touched, work = passed(scene, watches, done.t_events, touched, t, x, events)
        walls += work
    n, found = scene.model.n, np.array(rows)
    loss = sum(event.loss for event in events)
    account = EnergyAccount(begin, energy_of(scene, x), x[-2], x[-1] + walls, loss)
    depth = found[:, 2 * n : -2].reshape(len(found), -1, 2)
    q, v = found[:, :n], found[:, n : 2 * n]
    return ContactRun(when, q, v, np.array(forces), depth, tuple(events), account)


def overlooked(watches: list[Watch], done: Any) -> float | None:
    """First time within a step at which a surface is entered that is left before the step's end.

    Integrating up to it ends inside the surface, which the search for events sees.
    """
    for kind, _, function in watches:
        outside = False
        for begin, end in pairwise(done.t if kind == "touch" else ()):
            for time in np.linspace(begin, end, WITHIN + 1, endpoint=False):
                now = function(float(time), done.sol(time))
                if outside and now < 0.0:
                    return float(time)
                outside |= now > 0.0
    return None


def energy_of(scene: Scene, x: Array) -> float:
    """Kinetic and potential energy [J]."""
    q, v, _ = scene.split(x)
    return float(kinetic_energy(scene.model, q, v) + potential_energy(scene.model, q))


def rates(scene: Scene, touched: tuple[int, ...], t: float, x: Array) -> Array:
    """Derivative of q, v, the supports, and the works of tau and contacts."""
    _, v, depth = scene.split(x)
    found = scene.momentary(touched, t, x)
    moving = np.zeros(0)
    if depth is not None:
        moving = np.column_stack([depth[:, 1], found.support]).ravel()
    return np.concatenate([v, found.a, moving, [found.power, found.contact_power]])


def watched(scene: Scene, touched: tuple[int, ...], t: float, x: Array) -> list[Watch]:
    """Functions of time and state that cross zero from above where something happens."""
    found: list[Watch] = []
    for k in scene.surfaces:
        if k not in touched:
            found.append(("touch", k, landing(scene, touched, k, t, x)))
            continue
        found.append(("part", k, pushing(scene, touched, k)))
        if scene.friction == 0.0:
            continue
        slip = scene.sliding(k, t, x).rate
        speed = float(np.linalg.norm(slip))
        if speed > LEAST_SLIP:
            found.append(("turn", k, slowing(scene, k, slip / speed)))
        else:
            found.append(("slide", k, starting(scene, k)))
    for _, _, function in found:
        function.terminal, function.direction = True, -1.0  # type: ignore[attr-defined]
    return found


def pushing(scene: Scene, touched: tuple[int, ...], k: int) -> Callable[[float, Array], float]:
    """Force of a surface that is touched."""
    row = scene.row(k)
    return lambda t, x: float(scene.momentary(touched, t, x).force[row])


def slowing(scene: Scene, k: int, way: Array) -> Callable[[float, Array], float]:
    """Speed of sliding along its first direction, above what sticks."""
    return lambda t, x: float(way @ scene.sliding(k, t, x).rate) - 1.5 * STILL


def starting(scene: Scene, k: int) -> Callable[[float, Array], float]:
    """What is missing of a speed of sliding."""
    return lambda t, x: 2.0 * STILL - float(np.linalg.norm(scene.sliding(k, t, x).rate))


def landing(
    scene: Scene, touched: tuple[int, ...], k: int, begin: float, x: Array
) -> Callable[[float, Array], float]:
    """Distance of a surface; of one that has just been left, not before half of the way back."""
    q, v, _ = scene.split(x)
    s, rate = scene.gaps(begin, x)
    row, flight = scene.row(k), 0.0
    if abs(s[row]) <= NEAR:
        seen, now = (
            coordinates(scene.model, scene.every, q, v, begin, free=False),
            scene.momentary(touched, begin, x),
        )
        fall = float(seen.jacobian[row] @ now.a + seen.drift[row])
        if k in scene.every.depths:
            fall -= float(now.support[scene.every.depths.index(k)])
        flight = 0.5 * max(float(rate[row]), 0.0) / max(abs(fall), 1e-9)
        flight = min(max(flight, SHORTEST), LONGEST)
    return lambda t, x: 1.0 if t < begin + flight else float(scene.gaps(t, x)[0][row]) + BELOW


def passed(
    scene: Scene,
    watches: list[Watch],
    times: list[Array],
    touched: tuple[int, ...],
    t: float,
    x: Array,
    events: list[ContactEvent],
) -> tuple[Array, tuple[int, ...], float]:
    """State after an event, what is touched from there on, and the work of walls."""
    nothing, still = np.zeros(scene.every.rows), np.zeros(scene.model.n)
    work = 0.0
    for (kind, k, _), fired in zip(watches, times, strict=True):
        if len(fired) and kind in ("turn", "slide"):
            if kind == "turn" and np.linalg.norm(scene.sliding(k, t, x).rate) > SLOW:
                continue  # it has only turned aside: its direction is taken again
            if kind == "turn":
                before = energy_of(scene, x)
                x = stopped(scene, k, touched, t, x)
                work += energy_of(scene, x) - before
            name = "stick" if kind == "turn" else "slide"
            events.append(ContactEvent(t, name, (k,), still, nothing, 0.0))
        elif len(fired):
            x, touched, new, walls = settle(scene, touched, t, x, k if kind == "part" else None)
            events += new
            work += walls
    return x, touched, work
