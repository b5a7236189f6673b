"""Coulomb friction of rigid and compliant contacts, at one state.

Each contact k has a normal and two tangential coordinates, w = b + G F. It slides with
F_t = -mu |F_n| d, d the direction of sliding; or it sticks, w_t = 0 and |F_t| <= mu |F_n|; or it
begins to slide, F_t against w_t. Each contact at rest is solved exactly for given forces of the
others, all that slide together by pivoting; these sweeps are repeated with Anderson's
acceleration. What is returned satisfies every contact's law up to the change of a last sweep.
"""

import math

from numba import njit

from geared_dynamics.kernels.contact_solve import (
    FOUND,
    HELD,
    KNOWN,
    OPEN,
    SOLVED,
    TOUCHING,
    all_sliding,
    orthonormalise,
    slides,
)
from geared_dynamics.kernels.linear_algebra import add_scaled, inner
from geared_dynamics.kernels.memory import Pointer, shift

SAME = 1e-14  # of the largest force: change of a sweep with which the laws hold
ALIKE = 1e-11  # the same after half of the sweeps, where rounding keeps it larger
LEAST = 1e-12  # of the whole mobility: a tangential direction with less cannot move
DEPTH, SWEEPS = 8, 200  # earlier sweeps that the acceleration uses; sweeps of one attempt
LONGEST = 20_000  # sweeps of the last attempt, without acceleration
# Share of a contact's mobility that holds its force near the last one, attempt by attempt.
DAMPINGS = (0.0, 0.01, 0.1, 0.03, 0.3, 0.01)

NO_END = -1


@njit(error_model="numpy")
def friction_size(count: int) -> int:
    """Scratch of ``rough``."""
    size = 3 * count
    return size * (4 + 3 * DEPTH) + DEPTH * (DEPTH + 1) + count * (count + 5)


@njit(error_model="numpy")
def rough(
    count: int,
    G: Pointer,
    kinds: Pointer,
    b: Pointer,
    sliding: Pointer,
    mu: float,
    work: Pointer,
    F: Pointer,
) -> int:
    """Forces F (3 count) of all contacts: SOLVED, NO_END, or 1 + the contact without a force.

    Args:
        count: Number of contacts.
        G: Mobilities (3 count, 3 count): normal and two tangential coordinates of each.
        kinds: OPEN, EQUAL or HELD (the normal force may pull), TOUCHING or KNOWN (it stands in F).
        b: w without the forces sought; those of KNOWN normal forces are none of them here.
        sliding: Direction of sliding (2 count); (0, 0) at rest.
        mu: Coefficient of friction.
        work: Scratch (``friction_size``).
        F: Forces; on entry the known normal ones.
    """
    held = shift(work, friction_size(count) - count)
    for k in range(count):
        held[k] = kinds[k]
        kinds[k] = TOUCHING if kinds[k] == HELD else kinds[k]
    status = attempts(count, G, kinds, b, sliding, mu, work, F)
    pulls = False
    for k in range(count):
        if held[k] == HELD and not F[3 * k] > 0.0:
            kinds[k], pulls = HELD, True
    if pulls:
        status = attempts(count, G, kinds, b, sliding, mu, work, F)
    return status


@njit(error_model="numpy")
def attempts(
    count: int,
    G: Pointer,
    kinds: Pointer,
    b: Pointer,
    sliding: Pointer,
    mu: float,
    work: Pointer,
    F: Pointer,
) -> int:
    """Forces of all contacts, with more and more damping; as ``rough``, HELD without friction."""
    status = NO_END
    for attempt in range(len(DAMPINGS)):
        last = attempt == len(DAMPINGS) - 1
        for i in range(3 * count):
            if i % 3 > 0 or kinds[i // 3] != KNOWN:
                F[i] = 0.0
        damping, sweeps, depth = DAMPINGS[attempt], SWEEPS, DEPTH
        if last:
            sweeps, depth = LONGEST, 0
        status = accelerated(count, G, kinds, b, sliding, mu, damping, sweeps, depth, work, F)
        if status == SOLVED:
            break
    return status


@njit(error_model="numpy")
def accelerated(
    count: int,
    G: Pointer,
    kinds: Pointer,
    b: Pointer,
    sliding: Pointer,
    mu: float,
    damping: float,
    sweeps: int,
    depth: int,
    work: Pointer,
    F: Pointer,
) -> int:
    """Sweeps F -> g, continued from the combination of the last ones with the least change."""
    size = 3 * count
    g, r = work, shift(work, size)
    g_last, r_last = shift(work, 2 * size), shift(work, 3 * size)
    steps, changes, Q = (
        shift(work, 4 * size),
        shift(work, (4 + DEPTH) * size),
        shift(work, (4 + 2 * DEPTH) * size),
    )
    T = shift(work, (4 + 3 * DEPTH) * size)
    chosen = shift(T, DEPTH * DEPTH)
    spare = shift(chosen, DEPTH)
    known, least, status = 0, math.inf, NO_END
    for sweep in range(sweeps):
        for i in range(size):
            g_last[i], r_last[i], g[i] = g[i], r[i], F[i]
        status = one_sweep(count, G, kinds, b, sliding, mu, damping, spare, g)
        change, largest = 0.0, 0.0
        for i in range(size):
            r[i] = g[i] - F[i]
            change, largest = max(change, abs(r[i])), max(largest, abs(g[i]))
            F[i] = g[i]
        if status == SOLVED and change <= (SAME if 2 * sweep < sweeps else ALIKE) * largest:
            return SOLVED
        if not change < 2.0 * least:
            known, least = 0, change
            continue
        least = min(least, change)
        if sweep > 0:
            column = (known % DEPTH) * size
            for i in range(size):
                steps[column + i] = g[i] - g_last[i]
                changes[column + i] = r[i] - r_last[i]
            known += 1
        used = min(known, depth)
        for j in range(used):
            chosen[j] = (known - 1 - j) % DEPTH
        kept = orthonormalise(size, changes, chosen, used, DEPTH, Q, T)
        used = used if kept == FOUND else kept
        for j in range(used - 1, -1, -1):
            weight = inner(size, shift(Q, j * size), r)
            for i in range(j + 1, used):
                weight -= T[j * DEPTH + i] * r_last[i]
            r_last[j] = weight / T[j * DEPTH + j]
            add_scaled(size, -r_last[j], shift(steps, int(chosen[j]) * size), F)
    return status if status != SOLVED else NO_END


@njit(error_model="numpy")
def one_sweep(
    count: int,
    G: Pointer,
    kinds: Pointer,
    b: Pointer,
    sliding: Pointer,
    mu: float,
    damping: float,
    work: Pointer,
    F: Pointer,
) -> int:
    """Forces of one contact at rest after the other, then of all that slide."""
    size = 3 * count
    for k in range(count):
        if kinds[k] != OPEN and not slides(k, sliding):
            one, block = shift(F, 3 * k), shift(G, 3 * k * (size + 1))
            held = damping * (block[0] + block[size + 1] + block[2 * size + 2])
            for i in range(3):
                total = b[3 * k + i] - held * one[i]
                for j in range(size):
                    if j < 3 * k or j >= 3 * k + 3:
                        total += G[(3 * k + i) * size + j] * F[j]
                work[i] = total
            at_rest(block, size, held, kinds[k], work, mu, one)
    return all_sliding(count, G, kinds, b, sliding, mu, work, F)


# -- One contact at rest -------------------------------------------------------------------------


@njit(error_model="numpy")
def tangential_axes(a: float, c: float, d: float) -> tuple[float, float, float, float]:
    """Eigenvalues of [[a, c], [c, d]], the larger one first, and the direction of its vector."""
    half, offset = 0.5 * (a + d), math.hypot(0.5 * (a - d), c)
    angle = 0.5 * math.atan2(2.0 * c, a - d)
    high = half + offset
    low = (a * d - c * c) / high if high > 0.0 else 0.0
    return high, low, math.cos(angle), math.sin(angle)


@njit(error_model="numpy")
def at_rest(
    G: Pointer, size: int, held: float, kind: float, b: Pointer, mu: float, F: Pointer
) -> None:
    """Force of a contact at rest: w_t = -x F_t with the least x >= 0 within the cone.

    With w_n = 0, (S + x) F_t = -c. x = 0 sticks; F_t -> 0 for large x, so that there is always
    a solution. A tangential direction in which the arm cannot move gets no force.

    Args:
        G: Mobilities (3, 3) in a matrix of leading dimension ``size``.
        size: Leading dimension.
        held: Added to the mobilities' diagonal.
        kind: EQUAL, HELD, TOUCHING, or KNOWN, then the normal force stands in F.
        b: w of the other forces (3).
        mu: Coefficient of friction.
        F: Force (3).
    """
    gn = G[0] + held
    opens = kind == TOUCHING and b[0] >= 0.0
    if kind == HELD or (kind != KNOWN and (opens or not gn > 0.0)):
        F[0] = -b[0] / gn if kind == HELD and gn > 0.0 else 0.0
        F[1], F[2] = 0.0, 0.0
        return
    whole = gn + G[size + 1] + G[2 * size + 2] + 2.0 * held
    base = F[0] if kind == KNOWN else -b[0] / gn
    gx, gy = (0.0, 0.0) if kind == KNOWN else (G[1] / gn, G[2] / gn)
    high, low, cos, sin = tangential_axes(
        G[size + 1] + held - gx * G[1], G[size + 2] - gx * G[2], G[2 * size + 2] + held - gy * G[2]
    )
    cx, cy = b[1] + G[1] * base, b[2] + G[2] * base
    px, py = -(cos * cx + sin * cy), sin * cx - cos * cy
    gx, gy = cos * gx + sin * gy, cos * gy - sin * gx
    px = px if high > LEAST * whole else 0.0
    py = py if low > LEAST * whole else 0.0
    below, above, part = 0.0, 1.0, 0.0  # x = whole part / (1 - part)
    while True:
        x = whole * part / (1.0 - part)
        fx = px / (high + x) if px != 0.0 else 0.0
        fy = py / (low + x) if py != 0.0 else 0.0
        normal = base - gx * fx - gy * fy
        inside = math.hypot(fx, fy) <= mu * abs(normal) and (kind != TOUCHING or normal >= 0.0)
        if inside:
            above = part
        else:
            below = part
        middle = 0.5 * (below + above)
        if part == 0.0 and inside:
            break
        if middle <= below or middle >= above:
            break
        part = middle
    F[0], F[1], F[2] = normal, cos * fx - sin * fy, sin * fx + cos * fy
