"""Impact of an arm with its contacts: M dv = J'P, and what it does to gears and bearings.

Vukobratovic 2002, eq. (20.90)-(20.97), corrected, with walls that move, restitution
and friction. Impulses are found in y = L'dv, M = L L', the supports' masses below.
"""

import math

import numpy as np
from numba import njit

from geared_dynamics.kernels import contact_collision, kinematics, layout
from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.contact_collision import bearings, gears
from geared_dynamics.kernels.contact_rows import contact_at
from geared_dynamics.kernels.contact_solve import (
    EQUAL,
    FOUND,
    OPEN,
    STUCK,
    TOUCHING,
    complementary,
    equalities,
    orthonormalise,
    project_out,
)
from geared_dynamics.kernels.contact_system import (
    BAND,
    columns,
    row_contact,
    rubs,
    touching,
    workspace,
    workspace_size,
    wrenches,
)
from geared_dynamics.kernels.linear_algebra import add_scaled, backward, inner
from geared_dynamics.kernels.memory import Array, Pointer, keep, pointer, row, shift

REST = 1e-11  # rate of approach, relative to the largest before, that is none
LONGEST = 20_000  # impacts in a row


@njit(error_model="numpy")
def contact_impact(
    model: Array,
    contacts: Array,
    q: Array,
    v: Array,
    given: Array,
    t: float,
    e: float,
    mu: float,
    tolerance: float,
    successive: float,
    out: Array,
) -> int:
    """V after (n), impulse (m), loss, gears (motors), bearings (6 joints), wrench (6 c)."""
    n, bodies = int(model[layout.COORDINATES]), int(model[layout.BODIES])
    c = pointer(contacts)
    m, count, width = int(c[at.ROWS]), int(c[at.CONTACTS]), int(c[at.GIVEN])
    motors, joints = int(c[at.MOTORS]), int(c[at.JOINTS])
    length = n + m + 1 + motors + 6 * joints + 6 * count
    if not (holds(out, length, model) and fits(q, n, out) and fits(v, n, out)):
        return layout.WRONG_SHAPE
    if not fits(given, width, out):
        return layout.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(given, out)):
        return layout.OVERLAP
    if not (math.isfinite(t) and 0.0 <= e <= 1.0 and tolerance >= 0.0):
        return layout.NOT_FINITE
    if not (mu >= 0.0 and math.isfinite(mu)):
        return layout.NOT_FINITE
    deep = n + m
    buffer = np.empty(
        workspace_size(c, n, bodies) + 2 * deep + m * (deep + m + 6) + 3 * count + hits_size(deep)
    )
    form = pointer(model)
    x, rate, zero, extra, _, seen, work, matrix, rows, X, y = workspace(
        c, n, bodies, pointer(buffer)
    )
    spare, b = shift(y, deep), shift(y, 2 * deep)
    P, state, solving = shift(b, m), shift(b, 2 * m), shift(b, 3 * m)
    tangential = shift(solving, m * (deep + m + 3))
    hits = shift(tangential, 3 * count)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, rate) & gather(given, k, width, extra)):
            return layout.NOT_FINITE
        status = columns(
            form, c, n, x, rate, zero, extra, t, mu > 0.0, seen, work, matrix, rows, X
        )
        if status != layout.OK:
            return status
        status = approached(c, n, tolerance, rows, X, state)
        if status != layout.OK:
            return status
        result = row(out, k)
        loss = shift(result, n + m)
        if mu == 0.0 and successive == 0.0:
            status = together(c, n, e, rows, X, state, b, solving, P, y, loss)
        else:
            status = in_turn(
                c, n, e, mu, rows, X, state, b, solving, tangential, hits, P, y, spare, loss
            )
        if status != layout.OK:
            return status
        wrench = shift(result, n + m + 1 + motors + 6 * joints)
        wrenches(c, n, rows, P, tangential, mu > 0.0, wrench)
        for i in range(m):
            result[n + i] = P[i]
        backward(n, matrix, y)
        for d in range(n):
            result[d] = rate[d] + y[d]
        kinematics.sweep(form, x, zero, y, seen)
        gears(c, n, seen, y, loss)
        bearings(form, c, n, seen, zero, y, wrench, work, spare, shift(loss, 1 + motors))
        if not finite(result, length):
            return layout.OVERFLOW
    return keep(buffer, layout.OK)


@njit(error_model="numpy")
def hits_size(deep: int) -> int:
    """Scratch of ``hit``: three columns, mobilities, velocities, impulses, Stronge's own."""
    return 3 * deep + 9 + 3 + 4 + contact_collision.SCRATCH


@njit(error_model="numpy")
def approached(
    contacts: Pointer, n: int, tolerance: float, rows: Pointer, X: Pointer, state: Pointer
) -> int:
    """What each coordinate is in an impact; a support's mass gets its place in X."""
    size, deep, i = at.ROW_J + n, n + int(contacts[at.ROWS]), 0
    for k in range(int(contacts[at.CONTACTS])):
        place = contact_at(k)
        kind = int(contacts[place + at.SUPPORT])
        for _ in range(int(contacts[place + at.COUNT])):
            line = shift(rows, i * size)
            if kind == at.RIGID:
                state[i] = touching(contacts[place + at.UNILATERAL], line, tolerance)
                if state[i] < 0.0:
                    return at.FAULT + at.REASONS * k + at.INSIDE
            else:
                near = kind == at.MASSIVE and abs(line[at.ROW_S]) <= tolerance
                state[i] = TOUCHING if near and line[at.ROW_RATE] <= BAND else OPEN
                if kind == at.MASSIVE:
                    X[i * deep + n + i] = 1.0 / math.sqrt(contacts[place + at.MASS])
            i += 1
    return layout.OK


@njit(error_model="numpy")
def together(
    contacts: Pointer,
    n: int,
    e: float,
    rows: Pointer,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    work: Pointer,
    P: Pointer,
    y: Pointer,
    loss: Pointer,
) -> int:
    """All impacts at once: 0 <= P, 0 <= s'+ + e s'-, each P with its own complementary.

    With w = s'+ + e s'- one has y . (v+ + e v-) = 0, so that the loss is |y|^2 / 2 times
    (1 - e) / (1 + e).
    """
    m = int(contacts[at.ROWS])
    deep, size = n + m, at.ROW_J + n
    for i in range(m):
        b[i] = (1.0 + e) * rows[i * size + at.ROW_RATE]
    found = complementary(deep, m, X, state, b, work, P, y)
    if found != FOUND:
        k = 0 if found == STUCK else row_contact(contacts, found)
        return at.FAULT + at.REASONS * k + (at.UNSOLVED if found == STUCK else at.DEPENDENT)
    loss[0] = 0.5 * inner(deep, y, y) * (1.0 - e) / (1.0 + e)
    return layout.OK


@njit(error_model="numpy")
def in_turn(
    contacts: Pointer,
    n: int,
    e: float,
    mu: float,
    rows: Pointer,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    work: Pointer,
    tangential: Pointer,
    hits: Pointer,
    P: Pointer,
    y: Pointer,
    spare: Pointer,
    loss: Pointer,
) -> int:
    """One impact after the other, what approaches fastest first, until nothing approaches.

    What holds without friction (lines, pegs, locked gears) is stopped first and stays so: the
    others' columns are taken without its span.
    """
    m, count = int(contacts[at.ROWS]), int(contacts[at.CONTACTS])
    deep, size = n + m, at.ROW_J + n
    Q, T, chosen = work, shift(work, m * deep), shift(work, m * (deep + m))
    held, largest = 0, 0.0
    for i in range(3 * count):
        tangential[i] = 0.0
    for i in range(m):
        P[i], b[i] = 0.0, rows[i * size + at.ROW_RATE]
        if state[i] == EQUAL and not (mu > 0.0 and rubs(contacts, row_contact(contacts, i))):
            chosen[held] = i
            held += 1
        if state[i] != OPEN:
            largest = max(largest, abs(b[i]))
    for i in range(m, m + (2 * count if mu > 0.0 else 0)):
        largest = max(largest, abs(rows[i * size + at.ROW_RATE]))
    failed = orthonormalise(deep, X, chosen, held, m, Q, T)
    if failed != FOUND:
        return at.FAULT + at.REASONS * row_contact(contacts, int(chosen[failed])) + at.DEPENDENT
    equalities(deep, chosen, held, m, Q, T, b, P, y)
    loss[0] = 0.5 * inner(deep, y, y)
    for _ in range(LONGEST):
        fastest, which = -REST * largest, FOUND
        for i in range(m):
            if state[i] == TOUCHING or (state[i] == EQUAL and not among(i, chosen, held)):
                w = b[i] + inner(deep, shift(X, i * deep), y)
                w = -abs(w) if state[i] == EQUAL else w
                if w < fastest:
                    fastest, which = w, i
        if which == FOUND:
            # Impulses of what is held, from those of the others.
            for e_ in range(deep):
                spare[e_] = 0.0
            replay(contacts, n, X, P, tangential, chosen, held, mu, spare)
            for j in range(held):
                i = int(chosen[j])
                b[i] += inner(deep, shift(X, i * deep), spare)
            equalities(deep, chosen, held, m, Q, T, b, P, y)
            add_scaled(deep, 1.0, spare, y)
            return layout.OK
        k = row_contact(contacts, which)
        status = hit(
            contacts, n, k, which, e, mu, rows, X, state, b, Q, held, tangential, hits, P, y, loss
        )
        if status != layout.OK:
            return status
    return at.FAULT + at.UNSOLVED


@njit(error_model="numpy")
def among(i: int, chosen: Pointer, held: int) -> bool:
    """Whether a coordinate is held."""
    for j in range(held):
        if int(chosen[j]) == i:
            return True
    return False


@njit(error_model="numpy")
def replay(
    contacts: Pointer,
    n: int,
    X: Pointer,
    P: Pointer,
    tangential: Pointer,
    chosen: Pointer,
    held: int,
    mu: float,
    to: Pointer,
) -> None:
    """Sum of X P of all that is not held, friction included."""
    m = int(contacts[at.ROWS])
    deep = n + m
    for i in range(m):
        if not among(i, chosen, held):
            add_scaled(deep, P[i], shift(X, i * deep), to)
    if mu > 0.0:
        for k in range(int(contacts[at.CONTACTS])):
            for j in range(2):
                add_scaled(deep, tangential[3 * k + 1 + j], shift(X, (m + 2 * k + j) * deep), to)


@njit(error_model="numpy")
def hit(
    contacts: Pointer,
    n: int,
    k: int,
    i: int,
    e: float,
    mu: float,
    rows: Pointer,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    Q: Pointer,
    held: int,
    tangential: Pointer,
    hits: Pointer,
    P: Pointer,
    y: Pointer,
    loss: Pointer,
) -> int:
    """One impact of the coordinate i of contact k: impulses, y and loss."""
    m = int(contacts[at.ROWS])
    deep, size = n + m, at.ROW_J + n
    G, velocity = shift(hits, 3 * deep), shift(hits, 3 * deep + 9)
    impulse, work = shift(velocity, 3), shift(velocity, 7)
    parts = 3 if mu > 0.0 and rubs(contacts, k) else 1
    for j in range(parts):
        source = i if j == 0 else m + 2 * k + j - 1
        whole, column = shift(X, source * deep), shift(hits, j * deep)
        for d in range(deep):
            column[d] = whole[d]
        project_out(deep, Q, held, column)
        velocity[j] = rows[source * size + at.ROW_RATE] + inner(deep, whole, y)
    # A coordinate that may not part either is hit from the other side: its sign is turned.
    sign = -1.0 if velocity[0] > 0.0 else 1.0
    for d in range(deep):
        hits[d] *= sign
    velocity[0] *= sign
    for j in range(parts):
        for h in range(parts):
            G[3 * j + h] = inner(deep, shift(hits, j * deep), shift(hits, h * deep))
    if not G[0] > 0.0:
        return at.FAULT + at.REASONS * k + at.DEPENDENT
    if parts == 1:
        impulse[0] = -(1.0 + e) * velocity[0] / G[0]
        impulse[3] = 0.5 * (1.0 - e * e) * velocity[0] * velocity[0] / G[0]
    else:
        status = contact_collision.impact(G, 3, velocity, mu, e, work, impulse)
        if status != contact_collision.ENDED:
            reason = at.UNSOLVED if status == contact_collision.ENDLESS else at.JAMMED
            return at.FAULT + at.REASONS * k + reason
    P[i] += sign * impulse[0]
    for j in range(parts):
        add_scaled(deep, impulse[j], shift(hits, j * deep), y)
        if j > 0:
            tangential[3 * k + j] += impulse[j]
    loss[0] += impulse[3]
    return layout.OK
