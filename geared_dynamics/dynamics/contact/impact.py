"""Impact of an arm: velocities after it, impulses at contacts, in gears and in bearings."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import choice
from geared_dynamics.dynamics.contact.motion import TIME, Contacts
from geared_dynamics.dynamics.contact.packing import PreparedContacts, prepare
from geared_dynamics.dynamics.contact.shapes import not_negative
from geared_dynamics.dynamics.contact.states import (
    call_contacts,
    coefficient,
    limit,
    number,
)
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.model import GearedModel

Order = Literal["simultaneous", "successive"]


class Impact(NamedTuple):
    """What an impact does.

    Attributes:
        v: Joint velocity after it (..., n).
        impulse: Along each constrained coordinate (..., m) [N s or N m s].
        loss: Energy lost (...) [J]: T before - T after + work of moving walls, supports' masses
            included.
        gear_impulse: J times the jump of each motor rotor's absolute axial spin (..., motors)
            [N m s], motor side: what its gear gives the rotor.
        bearing_impulse: Impulse [N s] and its moment [N m s] from parent to child at each joint's
            origin, child's axes (..., n, 6); along the joint's axis it is what the drives give.
        wrench: Impulse and its moment on each contact's frame at its origin, root axes, friction
            included (..., contacts, 6).
    """

    v: Array
    impulse: Array
    loss: Array
    gear_impulse: Array
    bearing_impulse: Array
    wrench: Array


def impact(
    model: GearedModel,
    contacts: Contacts,
    q: ArrayLike,
    v: ArrayLike,
    restitution: float = 0.0,
    friction: float = 0.0,
    *,
    t: float = 0.0,
    tolerance: float = 1e-6,
    order: Order = "simultaneous",
    depth: ArrayLike | None = None,
) -> Impact:
    """Impact with all contacts that the frames touch: M dv = J'P.

    Without friction s'+ = -e s'- of what is hit; several at once by 0 <= P, 0 <= s'+ + e s'-.
    With friction, or ``order="successive"``, one after the other, what approaches fastest first,
    until nothing approaches, each with Stronge's energetic restitution; lines, pegs and locked
    gears are then plastic.

    Args:
        model: Geared model; gears without losses.
        contacts: Contacts, prepared or not.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity before (..., n).
        restitution: e, 0 plastic to 1 elastic, of all contacts.
        friction: Coulomb's coefficient, of all surfaces.
        t: Time [s], of all states.
        tolerance: Distance within which a frame touches [m or rad].
        order: ``simultaneous`` or ``successive``.
        depth: Place and velocity before of each support's mass (..., e, 2), as of
            ``constrained_dynamics``; without it they rest at s = 0. The impact changes the
            velocity by -impulse / mass.

    Raises:
        GearedDynamicsError: where the posture violates a rigid contact, contacts depend on
            each other, or friction leaves no impulse.

    References:
        Vukobratovic 2002, eq. (20.90)-(20.91), (20.95)-(20.97) corrected; W. J. Stronge, Impact
        Mechanics, 2000; J. B. Keller, Impact with friction, 1986.
    """
    ready = contacts if type(contacts) is PreparedContacts else prepare(model, contacts)
    sizes = impact_sizes(ready)
    width = sum(sizes)
    try:
        plain = ready.plain and depth is None and order == "simultaneous"
        if ready.model is model and plain and (friction == 0.0 or ready.smooth < 0):
            flat = np.empty(width)
            numbers = t, restitution, friction, tolerance, 0.0
            masses = np.zeros(ready.given)
            if kernels.contact_impact(ready.form, ready.block, q, v, masses, *numbers, flat) == 0:
                return unpacked(flat, sizes)
    except kernels.NOT_TAKEN:
        pass  # a batch, or not plain float64 arrays: convert them below
    ready = prepare(model, ready)
    choice("order", "order", order, get_args(Order))
    e = not_negative("restitution", restitution)
    if e > 1.0:
        raise ArrayError(
            "restitution", f"is {e:g}", "give a number from 0 (plastic) to 1 (elastic)"
        )
    values = number("t", t, TIME), e, coefficient(ready, friction), limit(tolerance)
    inputs = {"q": q, "v": v}
    flat = call_contacts(
        "contact_impact",
        ready,
        inputs,
        (*values, float(order == "successive")),
        width,
        depth,
        laws=False,
    )
    return unpacked(flat, sizes)


def impact_sizes(ready: PreparedContacts) -> tuple[int, ...]:
    """Lengths of the parts of a result."""
    block = ready.block
    motors, joints = int(block[at.MOTORS]), int(block[at.JOINTS])
    return ready.model.n, ready.rows, 1, motors, 6 * joints, 6 * len(ready.contacts)


def unpacked(flat: Array, sizes: tuple[int, ...]) -> Impact:
    """Give the parts their names."""
    n, m, _, motors, joints, contacts = sizes
    lead = flat.shape[:-1]
    first = n + m
    last = first + 1 + motors
    return Impact(
        flat[..., :n],
        flat[..., n:first],
        flat[..., first],
        flat[..., first + 1 : last],
        flat[..., last : last + joints].reshape(*lead, joints // 6, 6),
        flat[..., last + joints :].reshape(*lead, contacts // 6, 6),
    )
