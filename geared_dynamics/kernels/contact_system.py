"""What motion and impact of an arm with contacts have in common: rows, columns, who touches."""

from numba import njit

from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels import contact_rows, inverse, kinematics, layout, mass
from geared_dynamics.kernels.contact_rows import contact_at
from geared_dynamics.kernels.contact_solve import EQUAL, OPEN, TOUCHING
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.linear_algebra import factor, forward
from geared_dynamics.kernels.memory import shift

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
