"""Forces of springs along a path, as power series in time: ``springs``, coefficient-wise.

A line element pulls its anchors with f = (F / l) d, d = p_1 - p_0, l = (d . d)^(1/2); on a
joint with axis z through o, before anchor p, that is

    z . (p x f - o x f)   revolute,       z . f   prismatic.

F / l follows from powers of series: (d . d)^(-1/2), and (volume left)^(-exponent) of a gas.
Turns and origins of the joints are read from what ``inverse_series`` leaves behind.
"""

import math

from numba import njit

from geared_dynamics.kernels import balancer_layout as has
from geared_dynamics.kernels import inverse_series as motion
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.balancers import fault, line_at, spring_at, tension
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.memory import Pointer, Vector
from geared_dynamics.kernels.series import cross_at, dot_at, product_at, scale_at, store_power
from geared_dynamics.kernels.vector import add, load, scale, store, subtract

# Per body and coefficient, in root axes: the axes of its frame, its origin, and the first two
# axes before the joint's turn.
X, Y, Z, ORIGIN, BEFORE_X, BEFORE_Y = 0, 3, 6, 9, 12, 15
# Behind the last body, of the element at hand: an anchor, the vector d, pull, moment about the
# root, about a joint, d . d, l, F / l, a power.
ANCHOR, APART, PULL, MOMENT, ABOUT, SQUARE, LENGTH, RATIO, POWER = 0, 3, 6, 9, 12, 15, 16, 17, 18
SIZE = 19


@njit
def work_size(bodies: int, order: int) -> int:
    """Number of floats of the workspace."""
    return (bodies + 1) * (order + 1) * SIZE


@njit(error_model="numpy")
def take_off(
    model: Pointer,
    springs: Pointer,
    size: int,
    order: int,
    path: Pointer,
    moved: Pointer,
    work: Pointer,
    out: Pointer,
) -> int:
    """Take the coefficients of all elements' force off out (order + 1, size).

    Args:
        model: Packed model.
        springs: Packed springs.
        size: Coordinates in a row of the series.
        order: Highest coefficient.
        path: Coefficients of the positions, (order + 1, size).
        moved: The bodies' series of ``inverse_series``, of the same order.
        work: Room for ``work_size``.
        out: Force that the drives must give, in and out.
    """
    bodies, count = int(model[at.BODIES]), order + 1
    if springs[has.LINES] > 0.0:
        for i in range(bodies):
            outward(model, i, order, moved, work)
    e = bodies * count * SIZE
    for k in range(int(springs[has.LINES])):
        s = line_at(k)
        store_anchor(springs, s + has.OTHER, count, work, e)
        for m in range(count):
            store(work, e + m * SIZE + APART, load(work, e + m * SIZE + ANCHOR))
        store_anchor(springs, s + has.BODY, count, work, e)
        for m in range(count):
            c = e + m * SIZE
            store(work, c + APART, subtract(load(work, c + APART), load(work, c + ANCHOR)))
        status = store_ratio(springs, s, count, work, e)
        if status != at.OK:
            return fault(k, status)
        for m in range(count):
            store(work, e + m * SIZE + PULL, scale_at(work, e + RATIO, e + APART, m, SIZE))
        project(model, int(springs[s + has.BODY]), 1.0, size, count, work, e, out)
        store_anchor(springs, s + has.OTHER, count, work, e)
        project(model, int(springs[s + has.OTHER]), -1.0, size, count, work, e, out)
    for k in range(int(springs[has.SPRINGS])):
        s = spring_at(springs, k)
        d = int(springs[s + has.DOF])
        out[d] -= springs[s + has.FORCE]
        for m in range(count):
            out[m * size + d] += springs[s + has.RATE] * path[m * size + d]
    return at.OK


@njit(error_model="numpy")
def outward(model: Pointer, i: int, order: int, moved: Pointer, work: Pointer) -> None:
    """Series of the frame of body i from its parent's."""
    b, turn, count = body_at(i), motion.series_at(i, order), order + 1
    w, parent = i * count * SIZE, int(model[b + at.PARENT])
    u, r, step = parent * count * SIZE, b + at.ROTATION, motion.SIZE
    for m in range(count):
        for k in range(3):
            column = (model[r + k], model[r + 3 + k], model[r + 6 + k])
            to = Z if k == 2 else BEFORE_X + 3 * k
            store(work, w + m * SIZE + to, in_root(parent, column, work, u, m))
        store(work, w + m * SIZE + ORIGIN, origin(model, b, parent, turn, moved, work, u, m))
    for m in range(count):
        c = w + m * SIZE
        x, y = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if model[b + at.PRISMATIC] != 0.0:
            x, y = load(work, c + BEFORE_X), load(work, c + BEFORE_Y)
        else:
            for j in range(m + 1):
                cosine = moved[turn + j * step + motion.COS]
                sine = moved[turn + j * step + motion.SIN]
                first = load(work, c - j * SIZE + BEFORE_X)
                second = load(work, c - j * SIZE + BEFORE_Y)
                x = add(x, add(scale(cosine, first), scale(sine, second)))
                y = add(y, subtract(scale(cosine, second), scale(sine, first)))
        store(work, c + X, x)
        store(work, c + Y, y)


@njit(error_model="numpy")
def in_root(body: int, a: Vector, work: Pointer, w: int, m: int) -> Vector:
    """Coefficient m of a vector that is fixed in a body, in root axes."""
    if body < 0:
        return a if m == 0 else (0.0, 0.0, 0.0)
    c = w + m * SIZE
    turned = add(scale(a[0], load(work, c + X)), scale(a[1], load(work, c + Y)))
    return add(turned, scale(a[2], load(work, c + Z)))


@njit(error_model="numpy")
def origin(
    model: Pointer,
    b: int,
    parent: int,
    turn: int,
    moved: Pointer,
    work: Pointer,
    u: int,
    m: int,
) -> Vector:
    """Coefficient m of the origin of the body at b: its parent's, and what a slide adds."""
    total = load(work, u + m * SIZE + ORIGIN) if parent >= 0 else (0.0, 0.0, 0.0)
    slides = model[b + at.PRISMATIC] != 0.0
    for j in range(m + 1 if slides else 1):
        there = load(moved, turn + j * motion.SIZE + motion.ORIGIN)
        total = add(total, in_root(parent, there, work, u, m - j))
    return total


@njit(error_model="numpy")
def store_anchor(springs: Pointer, s: int, count: int, work: Pointer, e: int) -> None:
    """Write the place of an anchor; its block holds the body, then the point."""
    body, point = int(springs[s]), load(springs, s + 1)
    w = body * count * SIZE
    for m in range(count):
        p = in_root(body, point, work, w, m)
        if body >= 0:
            p = add(p, load(work, w + m * SIZE + ORIGIN))
        store(work, e + m * SIZE + ANCHOR, p)


@njit(error_model="numpy")
def store_ratio(springs: Pointer, s: int, count: int, work: Pointer, e: int) -> int:
    """Write F / l of the line element at s; return ``tension``'s status."""
    for m in range(count):
        work[e + m * SIZE + SQUARE] = dot_at(work, e + APART, e + APART, m, SIZE)
        work[e + m * SIZE + RATIO] = 0.0
    l = math.sqrt(work[e + SQUARE])  # noqa: E741
    status, ratio, slope, _ = tension(springs, s, l)
    work[e + RATIO] = ratio
    coil, gas = springs[s + has.KIND] == has.COIL, springs[s + has.KIND] == has.GAS
    if status != at.OK or (coil and ratio == slope):
        return status  # a spring of no free length: F / l is its stiffness
    if gas:
        store_power(work, e + LENGTH, e + SQUARE, 0.5, l, count, SIZE)
        area = springs[s + has.SIGN] * springs[s + has.AREA]
        left = springs[s + has.VOLUME] - area * (l - springs[s + has.LENGTH])
        work[e + LENGTH] = -left / area
        # The volume left over -area: its power is the tension over the tension at begin.
        store_power(
            work, e + POWER, e + LENGTH, -springs[s + has.EXPONENT], ratio * l, count, SIZE
        )
        store_power(work, e + LENGTH, e + SQUARE, -0.5, 1.0 / l, count, SIZE)
        for m in range(1, count):
            work[e + m * SIZE + RATIO] = product_at(work, e + POWER, e + LENGTH, m, SIZE)
        return status
    # F = F_0 + slope l, so that F / l is F_0 / l and a constant.
    store_power(work, e + RATIO, e + SQUARE, -0.5, ratio - slope, count, SIZE)
    work[e + RATIO] = ratio
    return status


@njit(error_model="numpy")
def project(
    model: Pointer,
    body: int,
    sign: float,
    size: int,
    count: int,
    work: Pointer,
    e: int,
    out: Pointer,
) -> None:
    """Take J' (sign f) of the pull at the stored anchor off out, walking to the root."""
    for m in range(count):
        store(work, e + m * SIZE + MOMENT, cross_at(work, e + ANCHOR, e + PULL, m, SIZE))
    i = body
    while i >= 0:
        b, w = body_at(i), i * count * SIZE
        load_at = e + PULL
        if model[b + at.PRISMATIC] == 0.0:
            load_at = e + ABOUT
            for m in range(count):
                c = e + m * SIZE
                about = cross_at(work, w + ORIGIN, e + PULL, m, SIZE)
                store(work, c + ABOUT, subtract(load(work, c + MOMENT), about))
        factor, d = sign * model[b + at.MULTIPLIER], int(model[b + at.DOF])
        for m in range(count):
            out[m * size + d] -= factor * dot_at(work, w + Z, load_at, m, SIZE)
        i = int(model[b + at.PARENT])
