"""Friction on the surfaces among an arm's contacts, beside others that hold without friction."""

import math

from numba import njit

from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels import layout
from geared_dynamics.kernels.contact_friction import NO_END, friction_size, rough
from geared_dynamics.kernels.contact_rows import contact_at
from geared_dynamics.kernels.contact_sliding import SOLVED
from geared_dynamics.kernels.contact_solve import (
    DEPENDS,
    EQUAL,
    FOUND,
    HELD,
    KNOWN,
    OPEN,
    TOUCHING,
    equalities,
    orthonormalise,
)
from geared_dynamics.kernels.contact_system import BAND, row_contact, rubs
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.linear_algebra import add_scaled, inner
from geared_dynamics.kernels.memory import shift


@njit(error_model="numpy")
def rubbing_size(count: int, deep: int) -> int:
    """Numbers of ``rubbing`` that ``frictional`` needs."""
    return count * (3 * deep + 9 * count + 12) + friction_size(count) + 2 * deep


@njit(error_model="numpy")
def frictional(
    contacts: Pointer,
    n: int,
    mu: float,
    rows: Pointer,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    work: Pointer,
    rubbing: Pointer,
    F: Pointer,
    u: Pointer,
    y: Pointer,
) -> int:
    """Forces with friction on the surfaces, added to u = L'a; ``rubbing`` begins with them (3 c).

    What is no surface keeps w = 0 whatever the surfaces do: their columns without its span.
    """
    m, count = int(contacts[at.ROWS]), int(contacts[at.CONTACTS])
    deep = n + m
    tangential, beside = rubbing, shift(rubbing, 3 * count)
    G = shift(beside, 3 * count * deep)
    free = shift(G, 9 * count * count)
    kinds, sliding = shift(free, 3 * count), shift(free, 4 * count)
    solving = shift(free, 6 * count)
    Q, T, chosen = work, shift(work, m * deep), shift(work, m * (deep + m))
    held = 0
    for i in range(m):
        if state[i] == EQUAL or (state[i] == TOUCHING and b[i] < 0.0):
            chosen[held] = i
            held += 1
    failed = orthonormalise(deep, X, chosen, held, m, Q, T)
    if failed != FOUND:
        k = row_contact(contacts, int(chosen[failed]))
        return at.FAULT + at.REASONS * k + at.DEPENDENT
    decay = shift(solving, friction_size(count))
    drift_decay(contacts, n, rows, X, u, b, chosen, held, Q, T, shift(decay, deep), F, decay)
    held = held_rows(contacts, state, chosen)
    orthonormalise(deep, X, chosen, held, m, Q, T)
    equalities(deep, chosen, held, m, Q, T, b, F, y)
    surfaces(
        contacts, n, rows, X, state, b, Q, held, F, u, y, beside, free, kinds, sliding, tangential
    )
    for k in range(count):
        for j in range(1, 3):
            if kinds[k] != OPEN:
                free[3 * k + j] -= inner(deep, shift(X, (m + 2 * k + j - 1) * deep), decay)
    size = 3 * count
    for i in range(size):
        for j in range(i + 1):
            G[i * size + j] = inner(deep, shift(beside, i * deep), shift(beside, j * deep))
            G[j * size + i] = G[i * size + j]
    status = rough(count, G, kinds, free, sliding, mu, solving, tangential)
    if status != SOLVED:
        k = 0 if status == NO_END else status - 1
        return at.FAULT + at.REASONS * k + (at.UNSOLVED if status == NO_END else at.JAMMED)
    for e in range(deep):
        y[e] = 0.0
    push(contacts, m, deep, X, tangential, F, y)
    for j in range(held):
        i = int(chosen[j])
        b[i] += inner(deep, shift(X, i * deep), y)
    add_scaled(deep, 1.0, y, u)
    equalities(deep, chosen, held, m, Q, T, b, F, y)
    add_scaled(deep, 1.0, y, u)
    return layout.OK


@njit(error_model="numpy")
def drift_decay(
    contacts: Pointer,
    n: int,
    rows: Pointer,
    X: Pointer,
    u: Pointer,
    b: Pointer,
    chosen: Pointer,
    count: int,
    Q: Pointer,
    T: Pointer,
    wanted: Pointer,
    F: Pointer,
    out: Pointer,
) -> None:
    """Motion -u (n + m) by which the drift of chosen coordinates decays.

    Friction has to be sought about this motion: along one surface may be across another, which
    could not both be held else.
    """
    deep, size = n + int(contacts[at.ROWS]), at.ROW_J + n
    for j in range(count):
        i = int(chosen[j])
        wanted[i] = 0.0
        if int(contacts[contact_at(row_contact(contacts, i)) + at.SUPPORT]) == at.RIGID:
            line = shift(rows, i * size)
            wanted[i] = b[i] - line[at.ROW_DRIFT] - inner(n, shift(X, i * deep), u)
    equalities(deep, chosen, count, int(contacts[at.ROWS]), Q, T, wanted, F, out)


@njit(error_model="numpy")
def held_rows(contacts: Pointer, state: Pointer, chosen: Pointer) -> int:
    """Write the equalities that are no surfaces; return their number."""
    held, i = 0, 0
    for k in range(int(contacts[at.CONTACTS])):
        for _ in range(int(contacts[contact_at(k) + at.COUNT])):
            if state[i] == EQUAL and not rubs(contacts, k):
                chosen[held] = i
                held += 1
            i += 1
    return held


@njit(error_model="numpy")
def surfaces(
    contacts: Pointer,
    n: int,
    rows: Pointer,
    X: Pointer,
    state: Pointer,
    b: Pointer,
    Q: Pointer,
    held: int,
    F: Pointer,
    u: Pointer,
    y: Pointer,
    beside: Pointer,
    free: Pointer,
    kinds: Pointer,
    sliding: Pointer,
    force: Pointer,
) -> None:
    """Columns of the surfaces beside what is held, w without their forces, who slides where."""
    m, count = int(contacts[at.ROWS]), int(contacts[at.CONTACTS])
    size, deep, i = at.ROW_J + n, n + m, 0
    for k in range(count):
        kinds[k] = state[i] if rubs(contacts, k) else OPEN
        if kinds[k] == EQUAL and contacts[contact_at(k) + at.UNILATERAL] < 0.0:
            kinds[k] = HELD
        first = shift(rows, (m + 2 * k) * size)
        sx, sy = first[at.ROW_RATE], first[size + at.ROW_RATE]
        speed = math.hypot(sx, sy)
        sliding[2 * k] = sx / speed if speed > BAND else 0.0
        sliding[2 * k + 1] = sy / speed if speed > BAND else 0.0
        for j in range(3):
            force[3 * k + j] = F[i] if j == 0 and kinds[k] == KNOWN else 0.0
            column = shift(beside, (3 * k + j) * deep)
            for e in range(deep):
                column[e] = 0.0
            free[3 * k + j] = 0.0
            if kinds[k] != OPEN:
                source = i if j == 0 else m + 2 * k + j - 1
                whole = shift(X, source * deep)
                add_scaled(deep, 1.0, whole, column)
                free[3 * k + j] = inner(deep, whole, y)
                if j == 0:
                    free[3 * k] += b[i]
                else:
                    free[3 * k + j] += rows[source * size + at.ROW_DRIFT] + inner(n, whole, u)
                project_out(deep, Q, held, column)
        i += int(contacts[contact_at(k) + at.COUNT])


@njit(error_model="numpy")
def project_out(deep: int, Q: Pointer, held: int, column: Pointer) -> None:
    """Take the span of what is held out of a column; what was all in it becomes zero."""
    whole = inner(deep, column, column)
    for _ in range(2):
        for h in range(held):
            part = inner(deep, shift(Q, h * deep), column)
            add_scaled(deep, -part, shift(Q, h * deep), column)
    if not inner(deep, column, column) > DEPENDS * DEPENDS * whole:
        for e in range(deep):
            column[e] = 0.0


@njit(error_model="numpy")
def push(
    contacts: Pointer,
    m: int,
    deep: int,
    X: Pointer,
    tangential: Pointer,
    F: Pointer,
    y: Pointer,
) -> None:
    """Add X F of the surfaces to y, and write their normal forces to F."""
    i = 0
    for k in range(int(contacts[at.CONTACTS])):
        if rubs(contacts, k):
            F[i] = tangential[3 * k]
            add_scaled(deep, F[i], shift(X, i * deep), y)
            for j in range(2):
                add_scaled(deep, tangential[3 * k + 1 + j], shift(X, (m + 2 * k + j) * deep), y)
        i += int(contacts[contact_at(k) + at.COUNT])
