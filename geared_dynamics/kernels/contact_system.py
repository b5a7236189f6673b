"""What motion and impact of an arm with contacts share: rows, columns, who touches, friction."""

import math

from numba import njit

from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels import contact_rows, inverse, kinematics, layout, mass
from geared_dynamics.kernels.contact_friction import NO_END, friction_size, rough
from geared_dynamics.kernels.contact_rows import contact_at
from geared_dynamics.kernels.contact_solve import (
    EQUAL,
    FOUND,
    HELD,
    KNOWN,
    OPEN,
    SOLVED,
    TOUCHING,
    equalities,
    orthonormalise,
    project_out,
)
from geared_dynamics.kernels.linear_algebra import add_scaled, factor, forward, inner
from geared_dynamics.kernels.memory import Pointer, shift

BAND = 1e-6  # rate below which a coordinate is at rest [m/s or rad/s]
VIOLATED = -1
SCRATCH = kinematics.SIZE + max(inverse.SIZE, mass.SIZE)  # numbers per body
P = Pointer
Workspace = tuple[P, P, P, P, P, P, P, P, P, P, P]


@njit(error_model="numpy")
def workspace_size(contacts: Pointer, n: int, bodies: int) -> int:
    """Numbers of ``workspace``."""
    m, count = int(contacts[at.ROWS]), int(contacts[at.CONTACTS])
    own = bodies * SCRATCH + contact_rows.FRAME + 6 * n
    rows = (m + 2 * count) * (at.ROW_J + 2 * n + m)
    return 4 * n + int(contacts[at.GIVEN]) + own + n * n + rows


@njit(error_model="numpy")
def workspace(contacts: Pointer, n: int, bodies: int, start: Pointer) -> Workspace:
    """Places of q, v, zero (n each), what is given, n more, and of what ``columns`` fills.

    That is the bodies, scratch, L, rows and X; what comes last is free.
    """
    m, count = int(contacts[at.ROWS]), int(contacts[at.CONTACTS])
    given = shift(start, 3 * n)
    more = shift(given, int(contacts[at.GIVEN]))
    seen = shift(more, n)
    work = shift(seen, bodies * kinematics.SIZE)
    matrix = shift(seen, bodies * SCRATCH + contact_rows.FRAME + 6 * n)
    rows = shift(matrix, n * n)
    X = shift(rows, (m + 2 * count) * (at.ROW_J + n))
    free = shift(X, (m + 2 * count) * (n + m))
    for d in range(n):
        start[2 * n + d] = 0.0
    return (
        start,
        shift(start, n),
        shift(start, 2 * n),
        given,
        more,
        seen,
        work,
        matrix,
        rows,
        X,
        free,
    )


@njit(error_model="numpy")
def row_contact(contacts: Pointer, i: int) -> int:
    """Contact to which the coordinate i belongs."""
    k = 0
    while i >= int(contacts[contact_at(k) + at.COUNT]):
        i -= int(contacts[contact_at(k) + at.COUNT])
        k += 1
    return k


@njit(error_model="numpy")
def rubs(contacts: Pointer, k: int) -> bool:
    """Whether contact k is a surface, on which Coulomb friction acts."""
    place = contact_at(k)
    return int(contacts[place + at.KIND]) == at.GEOMETRIC and int(contacts[place + at.COUNT]) == 1


@njit(error_model="numpy")
def columns(
    model: Pointer,
    contacts: Pointer,
    n: int,
    q: Pointer,
    v: Pointer,
    zero: Pointer,
    given: Pointer,
    t: float,
    tangents: bool,
    seen: Pointer,
    work: Pointer,
    matrix: Pointer,
    rows: Pointer,
    X: Pointer,
) -> int:
    """Rows of all coordinates, the factor L of the mass matrix, and X = L^-1 J'.

    s and s' at a mass whose motion is known are those of the tool relative to it. Columns have
    n + m places; the last m, of the supports' masses, are left zero.
    """
    m = int(contacts[at.ROWS])
    size, deep, total = at.ROW_J + n, n + m, m
    kinematics.sweep(model, q, v, zero, seen)
    status = contact_rows.constrained_rows(model, contacts, n, v, seen, given, t, work, rows)
    if status != layout.OK:
        return status
    from_masses(contacts, n, given, rows)
    if tangents:
        contact_rows.tangent_rows(model, contacts, n, seen, t, work, shift(rows, m * size))
        total += 2 * int(contacts[at.CONTACTS])
    mass.one_matrix(model, q, work, matrix)
    if not factor(n, matrix):
        return layout.NOT_POSITIVE
    for i in range(total):
        column, line = shift(X, i * deep), shift(rows, i * size + at.ROW_J)
        for d in range(n):
            column[d] = line[d]
        for e in range(n, deep):
            column[e] = 0.0
        forward(n, matrix, column)
    return layout.OK


@njit(error_model="numpy")
def mass_at(contacts: Pointer, place: int) -> int:
    """Where ``given`` has the state of a support's mass: 1 if known, y, y'."""
    return int(contacts[place + at.START]) + 2 * int(contacts[place + at.NONLINEAR])


@njit(error_model="numpy")
def mass_known(contacts: Pointer, place: int, given: Pointer) -> bool:
    """Whether a support's mass that the tool itself touches has a state of its own."""
    massive = int(contacts[place + at.SUPPORT]) == at.MASSIVE
    return massive and given[mass_at(contacts, place)] > 0.0


@njit(error_model="numpy")
def from_masses(contacts: Pointer, n: int, given: Pointer, rows: Pointer) -> None:
    """Take place and velocity of known masses off s and s' of their surfaces."""
    i = 0
    for k in range(int(contacts[at.CONTACTS])):
        place, line = contact_at(k), shift(rows, i * (at.ROW_J + n))
        if mass_known(contacts, place, given):
            start = mass_at(contacts, place)
            line[at.ROW_S] -= given[start + 1]
            line[at.ROW_RATE] -= given[start + 2]
        i += int(contacts[place + at.COUNT])


@njit(error_model="numpy")
def touching(unilateral: float, line: Pointer, tolerance: float) -> int:
    """What a coordinate of a rigid contact is; VIOLATED where the posture is inside it."""
    s = line[at.ROW_S]
    if s < -tolerance:
        return VIOLATED
    if unilateral > 0.0:
        return OPEN if s > tolerance or line[at.ROW_RATE] > BAND else TOUCHING
    return VIOLATED if s > tolerance else EQUAL


@njit(error_model="numpy")
def wrenches(
    contacts: Pointer,
    n: int,
    rows: Pointer,
    F: Pointer,
    tangential: Pointer,
    rough: bool,
    out: Pointer,
) -> None:
    """Force and moment (6 c) on each contact's frame at its origin, root axes.

    ``tangential`` holds 3 numbers per contact, of which the last two are friction.
    """
    m = int(contacts[at.ROWS])
    size, i = at.ROW_J + n, 0
    for k in range(int(contacts[at.CONTACTS])):
        for e in range(6):
            out[6 * k + e] = 0.0
        for _ in range(int(contacts[contact_at(k) + at.COUNT])):
            for e in range(6):
                out[6 * k + e] += F[i] * rows[i * size + e]
            i += 1
        if rough:
            for j in range(2):
                for e in range(6):
                    out[6 * k + e] += tangential[3 * k + 1 + j] * rows[(m + 2 * k + j) * size + e]


# -- Friction on the surfaces, beside contacts that hold without friction -------------------------


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
