"""Laws of arms in contact: a desired force where they touch, feedback only along what is free.

With J = ds/dq of the constrained coordinates, s'' = J a + drift, F_d the desired force along
them, Q_d the joint force of what the environment shall exert (J'F_d, and the tool's friction),
and

    P = 1 - M^-1 J' (J M^-1 J')^-1 J         J P = 0, P P = P, M P = P' M

the laws of ``laws.py`` become, with f their feedback of P e, P e' and z,

    feedforward           tau = tau_s(q_d, v_d, a_d) + F - Q_d
    pd_plus_feedforward   tau = tau_s(q_d, v_d, a_d) + F - Q_d + P' f
    computed_torque       tau = tau_s(q, v, a_c) + F - Q_d
                          a_c = P (a_d + f) - M^-1 J' (J M^-1 J')^-1 drift

P' f moves the arm along what is free and leaves the force of a rigid contact as it is, because
J M^-1 P' = J P M^-1 = 0. ``computed_torque`` takes what s'' = 0 needs along the constrained
coordinates from the measured state, so that F = F_d whatever the error is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from geared_dynamics.actuation.command_type import CommandType
from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.control.laws import Demand, Setting, correction, feedback, position_error
from geared_dynamics.control.terms import (
    DesiredContact,
    Reference,
    compensated_force,
    compensated_friction,
    inertial_force,
    vector,
)
from geared_dynamics.dynamics.arguments import as_numbers, check_finite
from geared_dynamics.dynamics.contact.constraints import Environment
from geared_dynamics.dynamics.contact.motion import Contacts, Coordinates, coordinates
from geared_dynamics.dynamics.contact.packing import PreparedContacts, free_size, prepare
from geared_dynamics.dynamics.contact.states import coefficient
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel

STILL = 1e-6  # [m/s]: below it a tool counts as sticking, as in ``contact.constrained_dynamics``
DEPENDENT = 1e-8  # of a column of L^-1 J': what is left of it beside the others


def desired_contact(
    model: GearedModel,
    contacts: Contacts,
    force: ArrayLike,
    q: ArrayLike,
    v: ArrayLike,
    t: float = 0.0,
    *,
    friction: float = 0.0,
) -> DesiredContact:
    """What a reference says of a contact, at one state.

    The state is that where the arm is: the measured one of laws with feedback, the reference of
    ``feedforward``.

    Args:
        model: Geared model.
        contacts: Contacts that the tool touches, prepared or not.
        force: Desired force along each constrained coordinate (m,) [N or N m].
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        t: Time [s], for contacts that move.
        friction: Coulomb's coefficient mu of the tool: -mu F_d against its sliding is added to
            what the environment exerts; nothing where it slides slower than 1e-6 m/s.

    Raises:
        GearedDynamicsError: for a surface that shall pull, or shapes that do not fit.
    """
    ready = prepare(model, contacts)
    wanted, mu = vector("force", force, ready.rows), coefficient(ready, friction)
    refuse_pulling(ready, wanted)
    q, v = vector("q", q, model.n), vector("v", v, model.n)
    seen = coordinates(model, ready, q, v, t, free=mu > 0.0)
    joint = seen.jacobian.T @ wanted
    if mu > 0.0:
        joint -= mu * seen.free.jacobian.T @ slide(ready, seen, wanted)
    return DesiredContact(readonly(joint), readonly(seen.jacobian), readonly(seen.drift))


def refuse_contact(reference: Reference) -> None:
    """Raise for a contact that laws of elastic arms do not know: they need its derivatives."""
    if reference.contact is not None:
        remedy = "leave it out, or take gd.control.controller for a rigid model"
        raise ArrayError("reference.contact", "is not read by laws of elastic arms", remedy)


def refuse_pulling(ready: PreparedContacts, force: Array) -> None:
    """Raise for a desired force that a surface cannot give."""
    row = 0
    for k, contact in enumerate(ready.contacts):
        shape = contact.surface if isinstance(contact, Environment) else contact
        count = int(getattr(shape, "count", len(getattr(shape, "CONSTRAINED", (0,)))))
        pulls = force[row : row + count] < 0.0
        if not getattr(shape, "bilateral", True) and pulls.any():
            remedy = "give a force of zero or more: it pushes the arm away from the surface"
            least = force[row : row + count].min()
            raise ArrayError("force", f"is {least:g} on {ready.place(k)}, a pull", remedy)
        row += count


def slide(ready: PreparedContacts, seen: Coordinates, force: Array) -> Array:
    """Force of each surface times its direction of sliding, in the free coordinates (f,) [N]."""
    found = np.zeros(len(seen.free.rate))
    row = 0
    for k, contact in enumerate(ready.contacts):
        rate = seen.free.rate[row : row + 2]
        speed = float(np.linalg.norm(rate))
        if speed > STILL:
            found[row : row + 2] = abs(force[k]) * rate / speed  # surfaces only: m = 1
        row += free_size(contact)
    return found


def checked_contact(contact: DesiredContact, n: int) -> DesiredContact:
    """Return a reference's contact as finite float64 arrays of the shapes that fit."""
    place = "reference.contact"
    if not isinstance(contact, DesiredContact):
        remedy = "give what gd.control.desired_contact returns"
        raise ArrayError(place, f"is a {type(contact).__name__}", remedy)
    remedy = f"give a row of {n} for each constrained coordinate, from 1 to {n}"
    jacobian = as_numbers(f"{place}.jacobian", contact.jacobian, remedy)
    if jacobian.ndim != 2 or jacobian.shape[1] != n or not 1 <= len(jacobian) <= n:
        raise ArrayError(f"{place}.jacobian", f"has shape {jacobian.shape}", remedy)
    check_finite(f"{place}.jacobian", jacobian)
    force = vector(f"{place}.force", contact.force, n)
    return DesiredContact(force, jacobian, vector(f"{place}.drift", contact.drift, len(jacobian)))


# -- Motion along what is free --------------------------------------------------------------------


class Parting(NamedTuple):
    """M = L L', L^-1 J' = B R with orthonormal columns B, so that P = L'^-1 (1 - B B') L'.

    Attributes:
        lower: L (n, n).
        basis: B (n, m).
        upper: R (m, m).
    """

    lower: Array
    basis: Array
    upper: Array


def parting(model: GearedModel, q: Array, contact: DesiredContact) -> Parting:
    """Part joint motion into what is free and what is constrained, in the kinetic metric.

    Args:
        model: Geared model; its complete mass matrix counts.
        q: Joint position (n,) [rad or m].
        contact: The constrained coordinates.

    Raises:
        ArrayError: for coordinates that depend on each other or that no joint moves.
        ModelError: if the mass matrix is not positive definite.
    """
    try:
        lower = np.asarray(np.linalg.cholesky(mass_matrix(model, q)), np.float64)
    except np.linalg.LinAlgError:
        finding = "is not positive definite at this position"
        remedy = "add inertia to the massless links or wheels"
        raise ModelError("mass matrix", finding, remedy) from None
    columns = np.linalg.solve(lower, contact.jacobian.T)
    basis, upper = np.linalg.qr(columns)
    left = np.abs(np.diag(upper)) <= DEPENDENT * np.linalg.norm(columns, axis=0)
    if left.any():
        place = f"reference.contact.jacobian[{int(np.argmax(left))}]"
        remedy = "remove constraints that repeat others or that no joint can move"
        raise ArrayError(place, "moves no joint, or repeats the rows before it", remedy)
    return Parting(lower, np.asarray(basis, np.float64), np.asarray(upper, np.float64))


def free_motion(parted: Parting, x: Array) -> Array:
    """P x: the part of a joint velocity, acceleration or small displacement (n,) that is free."""
    y = parted.lower.T @ x
    y -= parted.basis @ (parted.basis.T @ y)
    return np.asarray(np.linalg.solve(parted.lower.T, y), np.float64)


def free_force(parted: Parting, f: Array) -> Array:
    """P' f: the part of a joint force (n,) that leaves the contact's force as it is."""
    y = np.linalg.solve(parted.lower, f)
    y -= parted.basis @ (parted.basis.T @ y)
    return np.asarray(parted.lower @ y)


def held_motion(parted: Parting, drift: Array) -> Array:
    """The smallest joint acceleration (n,), in the kinetic metric, with J a + drift = 0."""
    y = parted.basis @ np.linalg.solve(parted.upper.T, -drift)
    return np.asarray(np.linalg.solve(parted.lower.T, y), np.float64)


# -- The laws: as those of ``laws.py``, of references with a contact ------------------------------


def of(reference: Reference) -> DesiredContact:
    """Return the contact of a reference; without one, other laws are taken."""
    return cast("DesiredContact", reference.contact)


def hybrid_feedforward(
    setting: Setting, state: State | None, reference: Reference, integral: Array | None = None
) -> Demand:
    """tau_s(q_d, v_d, a_d) + F - Q_d.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Not read.
        reference: Desired motion and contact.
        integral: Not read.
    """
    given, contact, (q, v, a) = setting.compensation, of(reference), reference[:3]
    force = compensated_force(given, q, v, a) - contact.force
    return Demand(force, compensated_friction(given, q, v, a, v, contact.force), q, v, None)


def hybrid_computed_torque(
    setting: Setting, state: State, reference: Reference, integral: Array | None = None
) -> Demand:
    """tau_s(q, v, a_c) + F - Q_d with a_c = P (a_d + f), along the constrained as s'' = 0 needs.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Measured state.
        reference: Desired motion, and contact at the measured state.
        integral: Integral of the free error (n,), or None.
    """
    given, contact, (q, v) = setting.compensation, of(reference), state[:2]
    parted = parting(given.model, q, contact)
    error = free_motion(parted, position_error(reference.q, q, setting.per_turn))
    wanted = correction(setting, error, free_motion(parted, reference.v - v), integral)
    wanted = free_motion(parted, wanted)
    a = free_motion(parted, reference.a) + held_motion(parted, contact.drift)
    if given.accelerating:
        a += wanted
        force = compensated_force(given, q, v, a)
    else:
        force = compensated_force(given, q, v, a)
        force += inertial_force(given, q, wanted)
    rate = v if setting.rate == "measured" else reference.v
    rubbing = compensated_friction(given, q, v, a, rate, contact.force)
    return Demand(force - contact.force, rubbing, q, rate, error)


def hybrid_pd_plus_feedforward(
    setting: Setting, state: State, reference: Reference, integral: Array | None = None
) -> Demand:
    """tau_s(q_d, v_d, a_d) + F - Q_d + P' f.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Measured state.
        reference: Desired motion, and contact at the measured state.
        integral: Integral of the free error (n,), or None.
    """
    given, contact, (q, v, a) = setting.compensation, of(reference), reference[:3]
    parted = parting(given.model, state.q, contact)
    error = free_motion(parted, position_error(q, state.q, setting.per_turn))
    slower = free_motion(parted, v - state.v)
    force = compensated_force(given, q, v, a) - contact.force
    force += free_force(parted, feedback(setting, state.q, error, slower, integral))
    rate = state.v if setting.rate == "measured" else v
    rubbing = compensated_friction(given, q, v, a, rate, contact.force)
    return Demand(force, rubbing, state.q, rate, error)


HYBRID: dict[str, Callable[..., Demand]] = {
    "feedforward": hybrid_feedforward,
    "computed_torque": hybrid_computed_torque,
    "pd_plus_feedforward": hybrid_pd_plus_feedforward,
}


def hybrid_law(law: str, model: GearedModel, command_type: CommandType) -> Callable[..., Demand]:
    """Return the law for references with a contact.

    Args:
        law: Its name, as of ``controller``.
        model: The arm.
        command_type: What commands are.

    Raises:
        ArrayError: for a law that reads no reference.
        ModelError: for motor commands through gears with losses. They depend on what the teeth
            carry, and ``motor_commands`` knows the rotors' acceleration of free motion only.
    """
    if law not in HYBRID:
        remedy = f"use {', '.join(HYBRID)}, or leave the contact out"
        raise ArrayError("reference.contact", f"is not read by {law}", remedy)
    if command_type != "joint_torque" and (model.motors.efficiency < 1.0).any():
        finding = f"does not work with {command_type} commands on an arm whose gears have losses"
        remedy = "use command_type='joint_torque', or remove the efficiency from the drivetrain"
        raise ModelError("reference.contact", finding, remedy)
    return HYBRID[law]
