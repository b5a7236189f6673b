"""Coulomb friction of rigid and compliant contacts, at one state.

Each contact k has a normal and two tangential coordinates, w = b + G F. It slides with
F_t = -mu |F_n| d, d the direction of sliding; or it sticks, w_t = 0 and |F_t| <= mu |F_n|; or it
begins to slide, F_t against w_t. All contacts together by blocks (Gauss-Seidel), each block
exactly, until nothing changes.
"""

import math

from numba import njit

from geared_dynamics.kernels.contact_solve import EQUAL, KNOWN, OPEN, TOUCHING
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.memory import shift

SWEEPS = 20_000
SAME = 1e-14  # of the largest force: two sweeps that agree so far are the solution
ALIKE = 1e-11  # the same of the last two sweeps, where rounding keeps them apart
LEAST = 1e-12  # of the larger one: a tangential direction with less mobility cannot move
DIRECTIONS = 48  # where the angle of beginning sliding is looked for first

SOLVED, NO_FORCE, NO_END = 0, -1, -2


@njit(error_model="numpy")
def tangential_inverse(G: Pointer, size: int) -> tuple[float, float, float]:
    """Elements xx, xy, yy of the inverse of a block's tangential part.

    A direction in which the arm cannot move gets none: friction has no part there.
    """
    a, c, d = G[size + 1], G[size + 2], G[2 * size + 2]
    half, offset = 0.5 * (a + d), math.hypot(0.5 * (a - d), c)
    high = half + offset
    if not high > 0.0:
        return 0.0, 0.0, 0.0
    determinant = a * d - c * c
    if determinant > LEAST * high * high:
        return d / determinant, -c / determinant, a / determinant
    # One direction u only, along the larger column: u u' / high.
    x, y = (a, c) if a >= d else (c, d)
    square = (x * x + y * y) * high
    return x * x / square, x * y / square, y * y / square


@njit(error_model="numpy")
def along(G: Pointer, size: int, cos: float, sin: float, mu: float, sign: float) -> float:
    """Normal mobility under friction mu |F_n| along (cos, sin): w_n = b_n + this F_n."""
    return G[0] + mu * sign * (G[1] * cos + G[2] * sin)


@njit(error_model="numpy")
def normal_force(
    kind: float, F: Pointer, bn: float, mobility: float, sign: float
) -> tuple[bool, float]:
    """Normal force, and whether there is one of this sign."""
    if kind == KNOWN:
        return True, F[0]
    if not mobility > 0.0:
        return False, 0.0
    force = -bn / mobility
    return force * sign >= 0.0, force


@njit(error_model="numpy")
def slide(
    G: Pointer, size: int, kind: float, b: Pointer, mu: float, direction: Pointer, F: Pointer
) -> bool:
    """Force of a contact that slides along a unit direction (2,)."""
    sign = -1.0 if kind == EQUAL and b[0] > 0.0 else 1.0
    mobility = along(G, size, -direction[0], -direction[1], mu, sign)
    good, force = normal_force(kind, F, b[0], mobility, sign)
    F[0] = force
    F[1] = -mu * sign * force * direction[0]
    F[2] = -mu * sign * force * direction[1]
    return good


@njit(error_model="numpy")
def stick(G: Pointer, size: int, kind: float, b: Pointer, mu: float, F: Pointer) -> bool:
    """Force of a contact at rest: it sticks, or begins to slide."""
    xx, xy, yy = tangential_inverse(G, size)
    gx, gy = xx * G[1] + xy * G[2], xy * G[1] + yy * G[2]
    bx, by = xx * b[1] + xy * b[2], xy * b[1] + yy * b[2]
    sign = -1.0 if kind == EQUAL and b[0] > 0.0 else 1.0
    if kind != KNOWN:
        mobility = G[0] - G[1] * gx - G[2] * gy
        if not mobility > LEAST * G[0]:
            return False
        F[0] = (G[1] * bx + G[2] * by - b[0]) / mobility
        if kind == EQUAL:
            sign = -1.0 if F[0] < 0.0 else 1.0
    F[1] = -bx - gx * F[0]
    F[2] = -by - gy * F[0]
    if F[0] * sign >= 0.0 and math.hypot(F[1], F[2]) <= mu * abs(F[0]):
        return True
    if mu == 0.0:
        still = shift(F, 1)
        still[0], still[1] = 0.0, 0.0
        good, F[0] = normal_force(kind, F, b[0], G[0], sign)
        return good
    return begin(G, size, kind, b, mu, sign, math.atan2(F[2], F[1]), F)


@njit(error_model="numpy")
def against(
    G: Pointer,
    size: int,
    kind: float,
    b: Pointer,
    mu: float,
    sign: float,
    angle: float,
    F: Pointer,
) -> tuple[bool, float, float]:
    """Friction along an angle: whether there is a force, and w_t across and along the angle."""
    cos, sin = math.cos(angle), math.sin(angle)
    good, force = normal_force(kind, F, b[0], along(G, size, cos, sin, mu, sign), sign)
    push = mu * sign * force
    wx = b[1] + G[size] * force + push * (G[size + 1] * cos + G[size + 2] * sin)
    wy = b[2] + G[2 * size] * force + push * (G[2 * size + 1] * cos + G[2 * size + 2] * sin)
    F[0], F[1], F[2] = force, push * cos, push * sin
    return good, cos * wy - sin * wx, cos * wx + sin * wy


@njit(error_model="numpy")
def begin(
    G: Pointer,
    size: int,
    kind: float,
    b: Pointer,
    mu: float,
    sign: float,
    start: float,
    F: Pointer,
) -> bool:
    """Force of a contact that begins to slide: F_t against w_t, sought from an angle on."""
    step = 2.0 * math.pi / DIRECTIONS
    for k in range(DIRECTIONS):
        # Intervals on alternating sides of the start.
        offset = 0.5 * (k + 1) if k % 2 == 1 else -0.5 * k
        low = start + (offset - 0.5) * step
        high = low + step
        good, first, _ = against(G, size, kind, b, mu, sign, low, F)
        fine, last, _ = against(G, size, kind, b, mu, sign, high, F)
        if not (good and fine) or first * last > 0.0:
            continue
        for _ in range(60):
            middle = 0.5 * (low + high)
            good, value, ahead = against(G, size, kind, b, mu, sign, middle, F)
            if value * first > 0.0:
                low = middle
            else:
                high = middle
        if good and ahead <= 0.0:
            return True
    return False


@njit(error_model="numpy")
def rough(
    count: int,
    G: Pointer,
    kinds: Pointer,
    b: Pointer,
    sliding: Pointer,
    mu: float,
    w: Pointer,
    F: Pointer,
) -> int:
    """Forces F (3 count) of all contacts: SOLVED, NO_END, or 2 + the contact without a force.

    Args:
        count: Number of contacts.
        G: Mobilities (3 count, 3 count): normal and two tangential coordinates of each.
        kinds: OPEN, EQUAL (the normal force may pull), TOUCHING or KNOWN (it stands in F).
        b: w without the forces sought; those of KNOWN normal forces are none of them here.
        sliding: Direction of sliding (2 count); (0, 0) at rest.
        mu: Coefficient of friction.
        w: Scratch (6).
        F: Forces; on entry the known normal ones.
    """
    size, change, largest = 3 * count, 0.0, 0.0
    for _ in range(SWEEPS):
        change, largest = 0.0, 0.0
        for k in range(count):
            if kinds[k] == OPEN:
                continue
            one, local, before = shift(F, 3 * k), w, shift(w, 3)
            for i in range(3):
                total = b[3 * k + i]
                for j in range(size):
                    if j < 3 * k or j >= 3 * k + 3:
                        total += G[(3 * k + i) * size + j] * F[j]
                local[i] = total
                before[i] = one[i]
            if not one_contact(
                shift(G, 3 * k * (size + 1)), size, k, kinds, local, sliding, mu, one
            ):
                return 2 + k
            for i in range(3):
                change = max(change, abs(one[i] - before[i]))
                largest = max(largest, abs(one[i]))
        if change <= SAME * largest or count == 1:
            return SOLVED
    return SOLVED if change <= ALIKE * largest else NO_END


@njit(error_model="numpy")
def one_contact(
    G: Pointer,
    size: int,
    k: int,
    kinds: Pointer,
    b: Pointer,
    sliding: Pointer,
    mu: float,
    F: Pointer,
) -> bool:
    """Force of one contact, of the others as they are."""
    kind = kinds[k]
    if (kind == KNOWN and F[0] == 0.0) or (kind == TOUCHING and b[0] >= 0.0):
        F[0], F[1], F[2] = 0.0, 0.0, 0.0
        return True
    if sliding[2 * k] != 0.0 or sliding[2 * k + 1] != 0.0:
        return slide(G, size, kind, b, mu, shift(sliding, 2 * k), F)
    return stick(G, size, kind, b, mu, F)
