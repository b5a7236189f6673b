"""From a caller's arrays to the kernels of contacts and back: checks, functions, statuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import NoReturn

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike, real, reals
from geared_dynamics.dynamics.arguments import (
    as_input,
    as_numbers,
    check_finite,
    common_lead,
    refuse,
)
from geared_dynamics.dynamics.contact.constraints import Constraint, Environment, not_negative
from geared_dynamics.dynamics.contact.packing import PreparedContacts
from geared_dynamics.dynamics.frames import jacobian, pose
from geared_dynamics.errors import ArrayError, GearedDynamicsError, ModelError, shown
from geared_dynamics.kernels import contact_layout as at


def call_contacts(
    name: str,
    ready: PreparedContacts,
    inputs: Mapping[str, ArrayLike],
    numbers: tuple[float, ...],
    width: int,
    depth: ArrayLike | None = None,
    *,
    laws: bool = True,
) -> Array:
    """Run a kernel of contacts over one state or any leading batch dimensions.

    Args:
        name: The kernel.
        ready: Prepared contacts.
        inputs: By argument name, arrays (..., n); the first two are q and v.
        numbers: What the kernel takes beside them; the first is the time.
        width: Length of its result for one state.
        depth: Place and velocity (..., e, 2) of the supports' masses.
        laws: Whether stiffness and damping of supports count.
    """
    n = ready.model.n
    arrays = {key: as_input(key, value, n) for key, value in inputs.items()}
    depths = as_depths(ready, depth, needed=laws)
    lead = common_lead(arrays | {"depth": depths})
    for key, value in arrays.items():
        check_finite(key, value)
    flat = [np.broadcast_to(x, (*lead, n)).reshape(prod(lead), n) for x in arrays.values()]
    size = depths.shape[-1]
    depths = np.broadcast_to(depths, (*lead, size)).reshape(prod(lead), size)
    given = np.empty((len(flat[0]), ready.given))
    for row, q, v, states in zip(given, flat[0], flat[1], depths, strict=True):
        own = None if depth is None else states
        row[:] = given_numbers(ready, q, v, own, numbers[0], laws=laws)
    out = np.empty((len(given), width))
    if len(given):
        status = getattr(kernels, name)(ready.form, ready.block, *flat, given, *numbers, out)
        if status != 0:
            refuse_contact(status, name, ready, arrays, (*flat, given), numbers, width)
    return out.reshape(*lead, width)


def number(place: str, value: object, remedy: str) -> float:
    """Return a finite number."""
    try:
        found = real(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(place, f"is {shown(value)}", remedy) from None
    if not np.isfinite(found):
        raise ArrayError(place, f"is {found}", remedy)
    return found


def coefficient(ready: PreparedContacts, friction: object) -> float:
    """Return a coefficient of friction, which all contacts must have a law for."""
    mu = not_negative("friction", friction)
    if mu > 0.0 and ready.smooth >= 0:
        finding = f"applies to surfaces only, and {ready.place(ready.smooth)} is not a surface"
        remedy = "use friction=0, or replace it by surfaces (two for an edge)"
        raise ArrayError("friction", finding, remedy)
    return mu


def limit(tolerance: object) -> float:
    """Return a tolerance, which may be infinite."""
    try:
        found = real(tolerance)
    except (TypeError, ValueError, OverflowError):
        found = -1.0
    if not found >= 0.0:
        raise ArrayError(
            "tolerance", f"is {shown(tolerance)}", "give a length of zero or more [m]"
        )
    return found


def as_depths(ready: PreparedContacts, depth: ArrayLike | None, *, needed: bool) -> Array:
    """States of the supports' masses, (..., 2 e)."""
    count = len(ready.depths)
    if depth is None:
        for k in ready.depths if needed else ():
            contact = ready.contacts[k]
            if isinstance(contact, Environment) and contact.tool_stiffness is not None:
                remedy = f"give depth (..., {count}, 2): position and velocity along the normal"
                raise ArrayError("depth", f"is missing, and {ready.place(k)} needs it", remedy)
        return np.zeros(2 * count)
    remedy = f"give shape (..., {count}, 2): position and velocity of each contact's mass"
    states = as_numbers("depth", depth, remedy)
    if states.ndim < 2 or states.shape[-2:] != (count, 2):
        raise ArrayError("depth", f"has shape {states.shape}", remedy)
    check_finite("depth", states)
    return states.reshape(*states.shape[:-2], 2 * count)


# -- What the user's functions give --------------------------------------------------------------


def given_numbers(
    ready: PreparedContacts, q: Array, v: Array, depths: Array | None, t: float, *, laws: bool
) -> Array:
    """What Python computes of one state, contact by contact (given,).

    Without ``depths`` the masses are on the tool.
    """
    parts, used = [np.zeros(0)], 0
    for k, contact in enumerate(ready.contacts):
        if isinstance(contact, Constraint):
            place = f"{ready.place(k)}.function"
            if contact.frame is None:
                parts.append(joint_numbers(contact.function, contact.count, q, v, t, place))
            else:
                parts.append(pose_numbers(ready, contact, q, v, t, place))
        elif isinstance(contact, Environment):
            own = None
            if contact.mass > 0.0 and depths is not None:
                own = depths[used : used + 2]
                used += 2
            if contact.nonlinear:
                known = nonlinear(ready, k, contact, q, v, t, own) if laws else np.zeros(2)
                parts.append(known)
            if contact.mass > 0.0:
                parts.append(np.zeros(3) if own is None else np.array([1.0, *own]))
    return np.concatenate(parts)


def pose_numbers(
    ready: PreparedContacts, contact: Constraint, q: Array, v: Array, t: float, place: str
) -> Array:
    """Numbers of a function of a frame's pose."""
    frame = str(contact.frame)
    X = pose(ready.model, q, frame)
    twist = jacobian(ready.model, q, frame) @ v
    return of_pose(contact.function, contact.count, X, twist, t, place)


def nonlinear(
    ready: PreparedContacts,
    k: int,
    contact: Environment,
    q: Array,
    v: Array,
    t: float,
    own: Array | None,
) -> Array:
    """Stiffness and damping of a support at a state (2,)."""
    s, rate = surface_state(ready, k, q, v, t) if own is None else map(float, own)
    return np.array(contact.laws_at(s, rate, ready.place(k)))


def surface_state(
    ready: PreparedContacts, k: int, q: Array, v: Array, t: float
) -> tuple[float, float]:
    """Coordinate and rate of a surface."""
    n = ready.model.n
    out = np.empty(ready.rows * (n + 3))
    given = np.zeros(ready.given)  # of the other contacts, whose rows are not looked at
    kernels.contact_coordinates(ready.form, ready.block, q, v, given, t, out)
    s, rate = out.reshape(-1, n + 3)[first_row(ready, k), :2]
    return float(s), float(rate)


def first_row(ready: PreparedContacts, k: int) -> int:
    """Index of contact k's first coordinate."""
    counts = ready.block[at.HEADER_SIZE + at.COUNT :: at.CONTACT_SIZE][:k]
    return int(counts.sum())


# -- Errors --------------------------------------------------------------------------------------


def refuse_contact(
    status: int,
    name: str,
    ready: PreparedContacts,
    arrays: Mapping[str, Array],
    flat: tuple[Array, ...],
    numbers: tuple[float, ...],
    width: int,
) -> NoReturn:
    """Turn a kernel's status into the error it stands for."""
    if status < at.FAULT:
        refuse(status, arrays, np.empty(0))
    out = np.empty(width)
    index = 0
    for index in range(len(flat[0])):
        rows = [np.ascontiguousarray(x[index]) for x in flat]
        if getattr(kernels, name)(ready.form, ready.block, *rows, *numbers, out) == status:
            break
    where = f" at state {index}" if len(flat[0]) > 1 else ""
    raise contact_error(status, ready, flat, index, numbers, where)


def contact_error(
    status: int,
    ready: PreparedContacts,
    flat: tuple[Array, ...],
    index: int,
    numbers: tuple[float, ...],
    where: str,
) -> GearedDynamicsError:
    """Name the contact that fails, and why."""
    k, reason = divmod(status - at.FAULT, at.REASONS)
    place = ready.place(k)
    if reason == at.INSIDE:
        s = worst_violation(ready, k, flat, index, numbers[0])
        finding = f"s = {s:.3g} m or rad{where} violates a rigid contact by more than tolerance"
        remedy = "move the arm onto it, use a larger tolerance, or an Environment (with stiffness)"
        return ArrayError(place, finding, remedy)
    if reason == at.DEPENDENT:
        finding = f"depends on the other contacts{where}, so that the forces are not unique"
        return ModelError(place, finding, "leave one of them out, or move the arm")
    if reason == at.GIMBAL:
        finding = f"pitch is a right angle{where}, where the rates of yaw and roll are undefined"
        return ArrayError(place, finding, "give another tool_axis, or coordinates free=False")
    if reason == at.JAMMED:
        finding = f"the contact jams{where}: with this friction no force satisfies its equations"
        return ModelError(place, finding, "use less friction, or an Environment (with stiffness)")
    finding = f"the contact forces could not be computed{where}"
    return ModelError(place, finding, "use less friction or fewer contacts at once")


def worst_violation(
    ready: PreparedContacts, k: int, flat: tuple[Array, ...], index: int, t: float
) -> float:
    """Largest coordinate of a contact, with its sign."""
    n = ready.model.n
    out = np.empty(ready.rows * (n + 3))
    q, v, given = (np.ascontiguousarray(x[index]) for x in (flat[0], flat[1], flat[-1]))
    kernels.contact_coordinates(ready.form, ready.block, q, v, given, t, out)
    values = out.reshape(-1, n + 3)[first_row(ready, k) : first_row(ready, k + 1), 0]
    return float(values[np.abs(values).argmax()])


# -- Derivatives of constraints that are given as functions: central differences of order 8 -------


Function = Callable[[Array, float], ArrayLike]
STEP = 1e-2  # [rad, m or s]
FIRST = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # weights of f(kh) - f(-kh), k = 1 to 4
SECOND = (8 / 5, -1 / 5, 8 / 315, -1 / 560)  # weights of f(kh) - 2 f(0) + f(-kh)


def joint_numbers(
    function: Function, count: int, q: Array, v: Array, t: float, place: str
) -> Array:
    """Numbers of s(q, t): per coordinate s, rate, drift and its row of the Jacobian (n).

    With the path q + x v, t + x the rate is ds/dx, and the drift d2s/dx2.
    """
    value = checked(function, count, place)
    s = value(q, t)
    step = STEP / max(1.0, float(np.abs(v).max(initial=0.0)))
    rate, drift = both(lambda x: value(q + x * v, t + x), s, step)
    columns = [
        first(lambda x, unit=unit: value(q + x * unit, t), STEP)  # type: ignore[misc]
        for unit in np.eye(len(q))
    ]
    return np.column_stack([s, rate, drift, *columns]).ravel()


def of_pose(function: Function, count: int, X: Array, twist: Array, t: float, place: str) -> Array:
    """Numbers of s(X, t): gradient (6), s, ds/dt at rest, second derivative along the motion.

    The frame goes straight on, p + x v, and turns on, exp(x omega) R.
    """
    value = checked(function, count, place)
    s = value(X, t)
    step = STEP / max(1.0, float(np.abs(twist).max(initial=0.0)))
    _, second = both(lambda x: value(moved(X, x * twist), t + x), s, step)
    at_rest = first(lambda x: value(X, t + x), STEP)
    gradient = [
        first(lambda x, unit=unit: value(moved(X, x * unit), t), STEP)  # type: ignore[misc]
        for unit in np.eye(6)
    ]
    return np.column_stack([*gradient, s, at_rest, second]).ravel()


def moved(X: Array, twist: Array) -> Array:
    """Pose after a displacement (3) and a turn (3), root axes."""
    angle = float(np.linalg.norm(twist[3:]))
    result = X.copy()
    if angle > 0.0:
        x, y, z = twist[3:] / angle
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
        result[:3, :3] = turn @ X[:3, :3]
    result[:3, 3] += twist[:3]
    return result


def checked(function: Function, count: int, place: str) -> Callable[[Array, float], Array]:
    """The function with a check of what it returns."""

    def value(x: Array, t: float) -> Array:
        """Return s (count,)."""
        remedy = f"return {count} finite numbers"
        try:
            found = np.atleast_1d(reals(function(x, t)))
        except (TypeError, ValueError, OverflowError) as error:
            raise ArrayError(place, f"fails: {error}", remedy) from error
        if found.shape != (count,):
            raise ArrayError(place, f"returns shape {found.shape}", remedy)
        if not np.isfinite(found).all():
            raise ArrayError(place, "returns NaN or infinity", remedy)
        return found

    return value


def first(function: Callable[[float], Array], step: float) -> Array:
    """First derivative at 0."""
    terms = [
        weight * (function(k * step) - function(-k * step)) for k, weight in enumerate(FIRST, 1)
    ]
    return np.asarray(sum(terms)) / step


def both(function: Callable[[float], Array], here: Array, step: float) -> tuple[Array, Array]:
    """First and second derivative at 0."""
    slope, bend = np.zeros_like(here), np.zeros_like(here)
    for k, (odd, even) in enumerate(zip(FIRST, SECOND, strict=True), 1):
        ahead, behind = function(k * step), function(-k * step)
        slope += odd * (ahead - behind)
        bend += even * ((ahead - here) + (behind - here))
    return slope / step, bend / step**2
