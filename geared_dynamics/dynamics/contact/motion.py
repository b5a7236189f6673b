"""Arms that touch something: functional coordinates, motion under constraints, impacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import choice, flag
from geared_dynamics.dynamics.contact.constraints import Contact, not_negative
from geared_dynamics.dynamics.contact.packing import PreparedContacts, prepare
from geared_dynamics.dynamics.contact.states import (
    call_contacts,
    coefficient,
    limit,
    number,
)
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels.parts_door import PartsAnswer, PartsCall, parts_door
from geared_dynamics.model import GearedModel

Contacts = Contact | Sequence[Contact] | PreparedContacts
TIME = "give a finite time [s]"


class FreeCoordinates(NamedTuple):
    """Coordinates that surfaces, lines and pegs leave free, f of them, as ``Coordinates``.

    Of each contact in turn, those of x, y, z, yaw, pitch, roll in its object's axes that it
    does not constrain.
    """

    s: Array
    jacobian: Array
    rate: Array
    drift: Array


class Coordinates(NamedTuple):
    """Constrained coordinates s(q, t), m of them: s'' = jacobian a + drift.

    Attributes:
        s: Values (..., m) [m or rad]; above zero free, zero touching.
        jacobian: ds/dq (..., m, n).
        rate: s' = jacobian v + ds/dt (..., m).
        drift: s'' at a = 0 (..., m): J' v + 2 d2s/dq dt v + d2s/dt2.
        free: The same of the free coordinates.
    """

    s: Array
    jacobian: Array
    rate: Array
    drift: Array
    free: FreeCoordinates


class ConstrainedMotion(NamedTuple):
    """Motion of an arm in contact.

    Attributes:
        a: Joint acceleration (..., n).
        force: Force or torque along each constrained coordinate (..., m) [N or N m].
        wrench: Force [N] and moment [N m] on each contact's frame at its origin, root axes,
            friction included (..., contacts, 6); zero of functions of q and of locked gears.
        acceleration: s'' of each constrained coordinate (..., m).
        support: Acceleration of each support's mass along the normal (..., contacts) [m/s^2];
            zero of what has none, or has left the tool and has no ``depth``.
    """

    a: Array
    force: Array
    wrench: Array
    acceleration: Array
    support: Array


def coordinates(
    model: GearedModel,
    contacts: Contacts,
    q: ArrayLike,
    v: ArrayLike,
    t: float = 0.0,
    *,
    free: bool = True,
) -> Coordinates:
    """Functional coordinates of contacts: what is constrained, and what stays free.

    Args:
        model: Geared model.
        contacts: Contacts, prepared or not.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        t: Time [s], of all states.
        free: Whether to give the free coordinates as well; False: none of them, f = 0.

    Raises:
        GearedDynamicsError: where the pitch of a free coordinate is a right angle.

    References:
        Vukobratovic 2002, eq. (20.83)-(20.86), fig. 20.12.
    """
    ready = prepare(model, contacts)
    numbers = (number("t", t, TIME),)
    n, rows = model.n, ready.rows + (ready.free if flag("free", free) else 0)
    inputs = {"q": q, "v": v}
    flat = call_contacts("contact_coordinates", ready, inputs, numbers, rows * (n + 3), laws=False)
    table = flat.reshape(*flat.shape[:-1], rows, n + 3)
    parts = []
    for part in (table[..., : ready.rows, :], table[..., ready.rows :, :]):
        parts.append((part[..., 0], part[..., 3:], part[..., 1], part[..., 2]))
    return Coordinates(*parts[0], FreeCoordinates(*parts[1]))


def by_motion_kernel(ready: PreparedContacts) -> PartsAnswer | None:
    """Let the kernel answer where Python computes nothing of a state."""
    if not ready.plain:
        return None
    n, m, count = ready.model.n, ready.rows, len(ready.contacts)
    shapes = (n,), (m,), (count, 6), (m,), (count,)
    return kernel_answer("constrained_dynamics", ready, shapes)


def kernel_answer(
    name: str, ready: PreparedContacts, shapes: tuple[tuple[int, ...], ...]
) -> PartsAnswer:
    """Let a kernel answer for prepared contacts."""
    model, constants = ready.model, (ready.form, ready.block)
    kernel, rough = getattr(kernels, name), ready.smooth < 0
    return PartsAnswer(kernel, model, constants, ready.given, rough, model.n, shapes)


MOTION = PartsCall(
    place=0,
    inputs=3,
    numbers=(("t", 0.0), ("friction", 0.0), ("tolerance", 1e-6)),
    by_place=2,
    order=(0, 1, 2),
    rough=1,
    result=ConstrainedMotion,
)


@parts_door(MOTION, PreparedContacts, by_motion_kernel)
def constrained_dynamics(
    model: GearedModel,
    contacts: Contacts,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    t: float = 0.0,
    friction: float = 0.0,
    *,
    tolerance: float = 1e-6,
    depth: ArrayLike | None = None,
) -> ConstrainedMotion:
    """Acceleration and forces in contact: M a + h = tau + J'F with s'' = J a + drift.

    Bilateral: s'' = 0. Unilateral: 0 <= F, 0 <= s'', F s'' = 0 where the frame touches; where
    s > tolerance or s' > 1e-6 m/s it is free. Impacts are no part of it: ``impact`` first.

    Args:
        model: Geared model.
        contacts: Contacts, prepared or not.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        tau: Joint force (..., n) [N m or N], joint side.
        t: Time [s], of all states.
        friction: Coulomb's coefficient, of all surfaces.
        tolerance: Least length of a violation that is refused [m or rad]; less decays.
        depth: Place [m] and velocity of each support's mass along the normal (..., e, 2), of
            environments with mass in their order. Without it a mass that the tool itself touches
            is on it; one behind a ``tool_stiffness`` needs it.

    Raises:
        GearedDynamicsError: where the posture violates a rigid contact, contacts depend on
            each other, or friction leaves no force.

    References:
        Vukobratovic 2002, eq. (20.87)-(20.89), (20.92)-(20.94) with +h in (20.92).
    """
    ready = contacts if type(contacts) is PreparedContacts else prepare(model, contacts)
    n, m, count = model.n, ready.rows, len(ready.contacts)
    width = n + 2 * m + 7 * count
    try:
        plain = ready.plain and depth is None
        if ready.model is model and plain and (friction == 0.0 or ready.smooth < 0):
            flat = np.empty(width)
            numbers = t, friction, tolerance
            if (
                kernels.constrained_dynamics(
                    ready.form, ready.block, q, v, tau, np.zeros(ready.given), *numbers, flat
                )
                == 0
            ):
                split = n + m
                return ConstrainedMotion(
                    flat[:n],
                    flat[n:split],
                    flat[split : split + 6 * count].reshape(count, 6),
                    flat[split + 6 * count : -count],
                    flat[-count:],
                )
    except kernels.NOT_TAKEN:
        pass  # a batch, or not plain float64 arrays: convert them below
    ready = prepare(model, ready)
    values = number("t", t, TIME), coefficient(ready, friction), limit(tolerance)
    inputs = {"q": q, "v": v, "tau": tau}
    flat = call_contacts("constrained_dynamics", ready, inputs, values, width, depth)
    a, force, wrench, change, support = np.split(flat, np.cumsum([n, m, 6 * count, m]), axis=-1)
    return ConstrainedMotion(
        a, force, wrench.reshape(*wrench.shape[:-1], count, 6), change, support
    )


# -- Impacts: velocities after them, impulses at contacts, in gears and in bearings ---------------


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


def by_impact_kernel(ready: PreparedContacts) -> PartsAnswer | None:
    """Let the kernel answer where Python computes nothing of a state."""
    if not ready.plain:
        return None
    n, m, _, motors, joints, _ = impact_sizes(ready)
    shapes = (n,), (m,), (), (motors,), (joints // 6, 6), (len(ready.contacts), 6)
    return kernel_answer("contact_impact", ready, shapes)


IMPACT = PartsCall(
    place=1,
    inputs=2,
    numbers=(("restitution", 0.0), ("friction", 0.0), ("t", 0.0), ("tolerance", 1e-6)),
    by_place=2,
    order=(2, 0, 1, 3, -1),
    rough=1,
    result=Impact,
)


@parts_door(IMPACT, PreparedContacts, by_impact_kernel)
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
