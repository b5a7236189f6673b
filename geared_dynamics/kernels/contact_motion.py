"""Motion under contacts: M a + h = tau + J'F, J a + drift = 0 or more; and their coordinates.

Vukobratovic 2002, eq. (20.83)-(20.89) and (20.92)-(20.94), with h for -h in (20.92).
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels import contact_rows, inverse, kinematics, layout
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.contact_rows import contact_at
from geared_dynamics.kernels.contact_solve import (
    EQUAL,
    FOUND,
    KNOWN,
    OPEN,
    STUCK,
    TOUCHING,
    complementary,
)
from geared_dynamics.kernels.contact_system import (
    BAND,
    VIOLATED,
    columns,
    frictional,
    mass_at,
    mass_known,
    row_contact,
    rubbing_size,
    touching,
    workspace,
    workspace_size,
    wrenches,
)
from geared_dynamics.kernels.linear_algebra import add_scaled, backward, forward, inner
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift


@njit(error_model="numpy")
def contact_coordinates(
    model: Array, contacts: Array, q: Array, v: Array, given: Array, t: float, out: Array
) -> int:
    """Rows (m + f) of s, rate, drift and Jacobian (n): constrained ones, then free ones.

    An output of m rows has no place for the free ones.
    """
    n, bodies = int(model[layout.COORDINATES]), int(model[layout.BODIES])
    c = pointer(contacts)
    m, free, width = int(c[at.ROWS]), int(c[at.FREE]), int(c[at.GIVEN])
    if out.shape[-1] == m * (n + 3):
        free = 0
    if not (holds(out, (m + free) * (n + 3), model) and fits(q, n, out) and fits(v, n, out)):
        return layout.WRONG_SHAPE
    if not fits(given, width, out):
        return layout.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(given, out)):
        return layout.OVERLAP
    if not math.isfinite(t):
        return layout.NOT_FINITE
    size = at.ROW_J + n
    buffer = np.zeros(
        3 * n + width + bodies * kinematics.SIZE + contact_rows.FRAME + 6 * n + (m + 4) * size
    )
    form, x = pointer(model), pointer(buffer)
    rate, zero, extra = shift(x, n), shift(x, 2 * n), shift(x, 3 * n)
    seen = shift(extra, width)
    work = shift(seen, bodies * kinematics.SIZE)
    rows = shift(work, contact_rows.FRAME + 6 * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate) & gather(given, k, width, extra)):
            return layout.NOT_FINITE
        kinematics.sweep(form, x, rate, zero, seen)
        status = contact_rows.constrained_rows(form, c, n, rate, seen, extra, t, work, rows)
        if status != layout.OK:
            return status
        result = row(out, k)
        for i in range(m):
            hand_over(shift(rows, i * size), n, shift(result, i * (n + 3)))
        if free > 0:
            spare = shift(rows, m * size)
            status = free_rows(form, c, n, seen, t, work, spare, shift(result, m * (n + 3)))
            if status != layout.OK:
                return status
        if not finite(result, (m + free) * (n + 3)):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def hand_over(source: Pointer, n: int, to: Pointer) -> None:
    """Write s, rate, drift and the Jacobian of a row."""
    for e in range(n + 3):
        to[e] = source[at.ROW_S + e]


@njit(error_model="numpy")
def free_rows(
    model: Pointer,
    contacts: Pointer,
    n: int,
    bodies: Pointer,
    t: float,
    work: Pointer,
    spare: Pointer,
    to: Pointer,
) -> int:
    """Rows of what each surface, line or peg leaves free, in the order of the six."""
    done = 0
    for k in range(int(contacts[at.CONTACTS])):
        b = contact_at(k)
        if int(contacts[b + at.KIND]) != at.GEOMETRIC:
            continue
        if not contact_rows.geometric_rows(model, contacts, b, n, bodies, t, True, work, spare):
            return at.FAULT + at.REASONS * k + at.GIMBAL
        for i in range(6):
            bound = False
            for j in range(int(contacts[b + at.COUNT])):
                bound |= int(contacts[b + at.PICK + j]) == i
            if not bound:
                contact_rows.copy_coordinate(work, i, n, spare)
                hand_over(spare, n, shift(to, done * (n + 3)))
                done += 1
    return layout.OK


@njit(error_model="numpy")
def constrained_dynamics(
    model: Array,
    contacts: Array,
    q: Array,
    v: Array,
    tau: Array,
    given: Array,
    t: float,
    mu: float,
    tolerance: float,
    out: Array,
) -> int:
    """A (n), force (m), wrench (6 c), s'' (m), acceleration of supports (c), by states."""
    n, bodies = int(model[layout.COORDINATES]), int(model[layout.BODIES])
    c = pointer(contacts)
    m, count, width = int(c[at.ROWS]), int(c[at.CONTACTS]), int(c[at.GIVEN])
    length = n + 2 * m + 7 * count
    if not (holds(out, length, model) and fits(q, n, out) and fits(v, n, out)):
        return layout.WRONG_SHAPE
    if not (fits(tau, n, out) and fits(given, width, out)):
        return layout.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(tau, out) and apart(given, out)):
        return layout.OVERLAP
    if not (math.isfinite(t) and mu >= 0.0 and math.isfinite(mu) and tolerance >= 0.0):
        return layout.NOT_FINITE
    deep = n + m
    buffer = np.empty(
        workspace_size(c, n, bodies) + 2 * deep + m * (deep + m + 6) + rubbing_size(count, deep)
    )
    form = pointer(model)
    x, rate, zero, extra, force_in, seen, work, matrix, rows, X, u = workspace(
        c, n, bodies, pointer(buffer)
    )
    y, b = shift(u, deep), shift(u, 2 * deep)
    F, state, solving = shift(b, m), shift(b, 2 * m), shift(b, 3 * m)
    rubbing = shift(solving, m * (deep + m + 3))
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate) & gather(tau, k, n, force_in)):
            return layout.NOT_FINITE
        if not gather(given, k, width, extra):
            return layout.NOT_FINITE
        result = row(out, k)
        status = columns(
            form, c, n, x, rate, zero, extra, t, mu > 0.0, seen, work, matrix, rows, X
        )
        if status != layout.OK:
            return status
        inverse.one_state(form, x, rate, zero, work, u)
        for d in range(n):
            u[d] = force_in[d] - u[d]
        forward(n, matrix, u)
        for e in range(n, deep):
            u[e] = 0.0
        status = conditions(
            c, n, extra, tolerance, rows, X, u, state, F, b, shift(result, n + 2 * m + 6 * count)
        )
        if status != layout.OK:
            return status
        status = (
            smooth(c, n, X, state, b, solving, F, u, y)
            if mu == 0.0
            else frictional(c, n, mu, rows, X, state, b, solving, rubbing, F, u, y)
        )
        if status != layout.OK:
            return status
        answer(c, n, matrix, rows, X, F, u, state, mu, rubbing, result)
        if not finite(result, length):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def conditions(
    contacts: Pointer,
    n: int,
    given: Pointer,
    tolerance: float,
    rows: Pointer,
    X: Pointer,
    u: Pointer,
    state: Pointer,
    F: Pointer,
    b: Pointer,
    support: Pointer,
) -> int:
    """What each coordinate is, known forces, and b = s'' without the contacts' forces.

    Supports: F = f - m_e s'' with f = -k s - b s' (20.94), so that w = s'' + (F - f) / m_e.
    ``support`` becomes the acceleration of each support's mass without the tool's force.
    """
    size, deep = at.ROW_J + n, n + int(contacts[at.ROWS])
    decay = contacts[at.STABILISATION]
    i = 0
    for k in range(int(contacts[at.CONTACTS])):
        place = contact_at(k)
        kind = int(contacts[place + at.SUPPORT])
        support[k] = 0.0
        for _ in range(int(contacts[place + at.COUNT])):
            line = shift(rows, i * size)
            column = shift(X, i * deep)
            F[i] = 0.0
            if kind == at.RIGID:
                state[i] = touching(contacts[place + at.UNILATERAL], line, tolerance)
            else:
                state[i], F[i], support[k] = supported(contacts, place, given, line, tolerance)
                if kind == at.MASSIVE:
                    column[n + i] = 1.0 / math.sqrt(contacts[place + at.MASS])
            if state[i] < 0.0:
                return at.FAULT + at.REASONS * k + at.INSIDE
            b[i] = line[at.ROW_DRIFT] + inner(n, column, u)
            if kind == at.RIGID or mass_known(contacts, place, given):
                b[i] += decay * decay * line[at.ROW_S]
                if abs(line[at.ROW_RATE]) <= BAND:
                    b[i] += 2.0 * decay * line[at.ROW_RATE]
            if kind == at.MASSIVE:
                b[i] -= support[k]
            i += 1
    return layout.OK


@njit(error_model="numpy")
def supported(
    contacts: Pointer, place: int, given: Pointer, line: Pointer, tolerance: float
) -> tuple[int, float, float]:
    """State, known force and acceleration of the mass of a contact with a support."""
    kind, s, rate = int(contacts[place + at.SUPPORT]), line[at.ROW_S], line[at.ROW_RATE]
    start = int(contacts[place + at.START])
    k, d = contacts[place + at.STIFFNESS], contacts[place + at.DAMPING]
    if contacts[place + at.NONLINEAR] > 0.0:
        k, d = given[start], given[start + 1]
    if kind == at.MASSLESS:
        return (KNOWN, max(0.0, -(k * s + d * rate)), 0.0) if s <= 0.0 else (OPEN, 0.0, 0.0)
    start, known = mass_at(contacts, place), mass_known(contacts, place, given)
    y, speed = given[start + 1], given[start + 2]
    if kind == at.COORDINATE:
        force = max(0.0, contacts[place + at.OUTER] * (y - s))
        return KNOWN, force, -(force + k * y + d * speed) / contacts[place + at.MASS]
    state = EQUAL
    if contacts[place + at.UNILATERAL] > 0.0:
        state = OPEN if s > tolerance or (known and rate > BAND) else TOUCHING
    if not known:
        free = -(k * s + d * rate) / contacts[place + at.MASS]
        return state, 0.0, free if state != OPEN else 0.0
    state = VIOLATED if s < -tolerance else state
    return state, 0.0, -(k * y + d * speed) / contacts[place + at.MASS]


@njit(error_model="numpy")
def smooth(
    contacts: Pointer,
    n: int,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    work: Pointer,
    F: Pointer,
    u: Pointer,
    y: Pointer,
) -> int:
    """Forces without friction, added to u = L'a."""
    m = int(contacts[at.ROWS])
    deep = n + m
    for e in range(deep):
        y[e] = 0.0
    for i in range(m):
        if state[i] == KNOWN:
            add_scaled(n, F[i], shift(X, i * deep), y)
    for i in range(m):
        b[i] += inner(n, shift(X, i * deep), y)
    add_scaled(n, 1.0, y, u)
    known = shift(work, m * (deep + m + 2))
    for i in range(m):
        known[i] = F[i]
    found = complementary(deep, m, X, state, b, work, F, y)
    if found != FOUND:
        k = 0 if found == STUCK else row_contact(contacts, found)
        return at.FAULT + at.REASONS * k + (at.UNSOLVED if found == STUCK else at.DEPENDENT)
    for i in range(m):
        if state[i] == KNOWN:
            F[i] = known[i]
    add_scaled(n, 1.0, y, u)
    return layout.OK


@njit(error_model="numpy")
def answer(
    contacts: Pointer,
    n: int,
    matrix: Pointer,
    rows: Pointer,
    X: Pointer,
    F: Pointer,
    u: Pointer,
    state: Pointer,
    mu: float,
    rubbing: Pointer,
    out: Pointer,
) -> None:
    """Write a, forces, wrenches, s'' and the supports' accelerations."""
    m, count = int(contacts[at.ROWS]), int(contacts[at.CONTACTS])
    size, deep, i = at.ROW_J + n, n + m, 0
    change, support = shift(out, n + m + 6 * count), shift(out, n + 2 * m + 6 * count)
    for k in range(count):
        place = contact_at(k)
        for _ in range(int(contacts[place + at.COUNT])):
            out[n + i] = F[i]
            change[i] = inner(n, shift(X, i * deep), u) + rows[i * size + at.ROW_DRIFT]
            if int(contacts[place + at.SUPPORT]) == at.MASSIVE:
                support[k] -= F[i] / contacts[place + at.MASS]
            i += 1
    wrenches(contacts, n, rows, F, rubbing, mu > 0.0, shift(out, n + m))
    backward(n, matrix, u)
    for d in range(n):
        out[d] = u[d]
