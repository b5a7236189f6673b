"""Forward dynamics in O(n): elimination from the tips to the root.

M a = r, with r = tau - bias, is where Gauss's function has its minimum: the sum over
bodies of 1/2 A' I A (A = [alpha; acceleration of the origin], velocities zero) plus
the wheels' terms, minus r' a. Every body has the quadratic form, K x = k at the
minimum, of what lies beyond it, in x = [A; coordinates still open there]. Towards the
parent, A becomes X A_parent + S a_d, which opens the coordinate d. A coordinate is
eliminated at the innermost body from which all its terms have been seen. For an
ordinary joint with a rotor on the link before it that is the parent, and the recursion
is the articulated-body algorithm with the rotor's h_d in it; mimic joints and wheels
carried far from their joints only stay open longer. Which coordinates are open where
is the elimination plan, made once (dynamics.elimination_plan).
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import inverse
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, positive, states
from geared_dynamics.kernels.joint import body_at, joint_position, place
from geared_dynamics.kernels.memory import Array, Pointer, Vector, keep, pointer, row, shift
from geared_dynamics.kernels.vector import (
    add,
    cross,
    load,
    scale,
    times,
    transposed_times,
    turn_back_z,
    turn_z,
)

# Workspace per node, with D = 6 + PLAN_OPEN: A (6), cosine and sine of the joint, its origin
# in the parent (3), K (D D), k (D).
COS, SIN, ORIGIN, MATRIX = 6, 7, 8, 11


@njit(error_model="numpy")
def eliminate(model: Array, plan: Array, q: Array, v: Array, tau: Array, out: Array) -> int:
    """Acceleration (n,) from q, v, tau (n,), or (K, n) for K states."""
    n, bodies = int(model[at.COORDINATES]), int(model[at.BODIES])
    if not (holds(out, n, model) and fits(q, n, out) and fits(v, n, out) and fits(tau, n, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(v, out) and apart(tau, out)):
        return at.OVERLAP
    size = work_size(plan)
    buffer = np.zeros(4 * n + max((bodies + 1) * size, bodies * inverse.SIZE))
    m, p, x = pointer(model), pointer(plan), pointer(buffer)
    v_, force, zero, work = shift(x, n), shift(x, 2 * n), shift(x, 3 * n), shift(x, 4 * n)
    for k in range(states(q)):
        if not (gather(q, k, n, x) & gather(v, k, n, v_) & gather(tau, k, n, force)):
            return at.NOT_FINITE
        result = row(out, k)
        inverse.one_state(m, x, v_, zero, work, result)
        for d in range(n):
            force[d] -= result[d]
        if not solve(m, p, x, force, work, result):
            return at.NOT_POSITIVE
        if not finite(result, n):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def work_size(plan: Pointer) -> int:
    """Floats per node."""
    d = 6 + int(plan[at.PLAN_OPEN])
    return MATRIX + d * d + d


@njit(error_model="numpy")
def node_at(plan: Pointer, i: int) -> int:
    """Where node i's block begins."""
    return at.PLAN_HEADER + i * int(plan[at.PLAN_NODE_SIZE])


@njit(error_model="numpy")
def solve(
    model: Pointer, plan: Pointer, q: Pointer, force: Pointer, work: Pointer, out: Pointer
) -> bool:
    """Set out = M(q)^-1 force; False if a pivot is not positive."""
    bodies = int(model[at.BODIES])
    prepare(model, plan, q, work)
    for i in range(bodies, -1, -1):
        # The root is the last node in number and the last to be eliminated.
        node = (i - 1) if i > 0 else bodies
        if not reduce_node(plan, node, force, work):
            return False
        if node < bodies:
            pass_to_parent(model, plan, node, work)
    substitute(plan, bodies, work, out)
    for i in range(bodies):
        accelerate(model, plan, i, work, out)
        substitute(plan, i, work, out)
    return True


@njit(error_model="numpy")
def prepare(model: Pointer, plan: Pointer, q: Pointer, work: Pointer) -> None:
    """Start every node with its own body and wheels, the root with none."""
    bodies, size, d = int(model[at.BODIES]), work_size(plan), 6 + int(plan[at.PLAN_OPEN])
    for e in range((bodies + 1) * size):
        work[e] = 0.0
    slots = int(plan[at.PLAN_CARRIED])
    for i in range(bodies):
        b, w = body_at(i), i * size
        c, s, p = place(model, b, joint_position(model, b, q))
        work[w + COS], work[w + SIN] = c, s
        work[w + ORIGIN], work[w + ORIGIN + 1], work[w + ORIGIN + 2] = p
        own_inertia(model, b, shift(work, w + MATRIX), d)
        entries = (int(model[b + at.CARRIED_END]) - int(model[b + at.CARRIED])) // at.CARRIED_SIZE
        for e in range(entries):
            h = load(model, int(model[b + at.CARRIED]) + e * at.CARRIED_SIZE + 1)
            slot = 6 + int(plan[slots + e])
            for r in range(3):
                work[w + MATRIX + r * d + slot] += h[r]
                work[w + MATRIX + slot * d + r] += h[r]
        slots += entries
    entry = int(plan[at.PLAN_REFLECTED])
    for e in range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE):
        w = int(plan[entry]) * size + MATRIX
        work[w + (6 + int(plan[entry + 1])) * d + 6 + int(plan[entry + 2])] += model[e + 2]
        entry += 3


@njit(error_model="numpy")
def own_inertia(model: Pointer, b: int, matrix: Pointer, d: int) -> None:
    """Write [I, mc x; (mc x)', m 1] of the body at b to the corner of a (d, d) matrix."""
    e = b + at.INERTIA
    for i in range(3):
        for j in range(i, 3):
            matrix[i * d + j] = model[e]
            matrix[j * d + i] = model[e]
            e += 1
        matrix[(3 + i) * d + 3 + i] = model[b + at.MASS]
        # Column i of (mc x) is mc x e_i: cyclic neighbours with opposite signs.
        j, k = (i + 1) % 3, (i + 2) % 3
        for r, s, value in ((j, i, model[b + at.MOMENT + k]), (k, i, -model[b + at.MOMENT + j])):
            matrix[r * d + 3 + s] = value
            matrix[(3 + s) * d + r] = value


@njit(error_model="numpy")
def reduce_node(plan: Pointer, node: int, force: Pointer, work: Pointer) -> bool:
    """Eliminate the coordinates that end at a node, last slot first."""
    size, d, b = work_size(plan), 6 + int(plan[at.PLAN_OPEN]), node_at(plan, node)
    matrix = shift(work, node * size + MATRIX)
    vector = shift(matrix, d * d)
    count = int(plan[b + at.NODE_COUNT])
    for slot in range(count - 1, count - 1 - int(plan[b + at.NODE_ELIMINATED]), -1):
        s = 6 + slot
        vector[s] += force[int(plan[b + at.NODE_LISTS + slot])]
        pivot = matrix[s * d + s]
        if not positive(pivot):
            return False
        for r in range(s):
            factor = matrix[r * d + s] / pivot
            vector[r] -= factor * vector[s]
            for c in range(s):
                matrix[r * d + c] -= factor * matrix[s * d + c]
    return True


@njit(error_model="numpy")
def outward_force(
    model: Pointer, b: int, c: float, s: float, p: Vector, moment: Vector, force: Vector
) -> tuple[Vector, Vector]:
    """Moment and force about the body's origin, as its parent's frame has them."""
    force = times(model, b + at.ROTATION, turn_z(c, s, force))
    moment = times(model, b + at.ROTATION, turn_z(c, s, moment))
    return add(moment, cross(p, force)), force


@njit(error_model="numpy")
def pass_to_parent(model: Pointer, plan: Pointer, i: int, work: Pointer) -> None:
    """Add body i's quadratic form to its parent's: A = X A_parent + S a_d."""
    size, d, b, node = work_size(plan), 6 + int(plan[at.PLAN_OPEN]), body_at(i), node_at(plan, i)
    parent = int(model[b + at.PARENT])
    if parent < 0:
        parent = int(model[at.BODIES])
    c, s, p = work[i * size + COS], work[i * size + SIN], load(work, i * size + ORIGIN)
    matrix, to = shift(work, i * size + MATRIX), shift(work, parent * size + MATRIX)
    vector, to_vector = shift(matrix, d * d), shift(to, d * d)
    along = 2 if model[b + at.PRISMATIC] == 0.0 else 5
    mu = model[b + at.MULTIPLIER]
    own = 6 + int(plan[node + at.NODE_OWN_SLOT])
    going = int(plan[node + at.NODE_COUNT]) - int(plan[node + at.NODE_ELIMINATED])
    maps = node + at.NODE_LISTS + int(plan[at.PLAN_OPEN])
    # The joint's column S a_d, against itself and the other open coordinates.
    to[own * d + own] += mu * mu * matrix[along * d + along]
    to_vector[own] += mu * vector[along]
    send_column(model, b, c, s, p, mu, along, own, matrix, to, d)
    for slot in range(going):
        t = 6 + int(plan[maps + slot])
        value = mu * matrix[along * d + 6 + slot]
        to[own * d + t] += value
        to[t * d + own] += value
        to_vector[t] += vector[6 + slot]
        send_column(model, b, c, s, p, 1.0, 6 + slot, t, matrix, to, d)
        for other in range(going):
            u = 6 + int(plan[maps + other])
            to[t * d + u] += matrix[(6 + slot) * d + 6 + other]
    moment, force = outward_force(model, b, c, s, p, load(vector, 0), load(vector, 3))
    for r in range(3):
        to_vector[r] += moment[r]
        to_vector[3 + r] += force[r]
    send_inertia(model, b, c, s, p, matrix, to, d)


@njit(error_model="numpy")
def send_column(
    model: Pointer,
    b: int,
    c: float,
    s: float,
    p: Vector,
    factor: float,
    column: int,
    t: int,
    matrix: Pointer,
    to: Pointer,
    d: int,
) -> None:
    """Add K_A,column, as the parent has it, to the parent's row and column t."""
    moment = (matrix[column], matrix[d + column], matrix[2 * d + column])
    force = (matrix[3 * d + column], matrix[4 * d + column], matrix[5 * d + column])
    moment, force = outward_force(model, b, c, s, p, moment, force)
    for r in range(3):
        to[r * d + t] += factor * moment[r]
        to[t * d + r] += factor * moment[r]
        to[(3 + r) * d + t] += factor * force[r]
        to[t * d + 3 + r] += factor * force[r]


@njit(error_model="numpy")
def send_inertia(
    model: Pointer, b: int, c: float, s: float, p: Vector, matrix: Pointer, to: Pointer, d: int
) -> None:
    """Add X' K_AA X to the parent's K_AA; K_AA is overwritten."""
    for column in range(6):
        moment = (matrix[column], matrix[d + column], matrix[2 * d + column])
        force = (matrix[3 * d + column], matrix[4 * d + column], matrix[5 * d + column])
        moment, force = outward_force(model, b, c, s, p, moment, force)
        for r in range(3):
            matrix[r * d + column] = moment[r]
            matrix[(3 + r) * d + column] = force[r]
    for r in range(6):
        moment, force = load(matrix, r * d), load(matrix, r * d + 3)
        moment, force = outward_force(model, b, c, s, p, moment, force)
        for column in range(3):
            to[r * d + column] += moment[column]
            to[r * d + 3 + column] += force[column]


@njit(error_model="numpy")
def accelerate(model: Pointer, plan: Pointer, i: int, work: Pointer, out: Pointer) -> None:
    """Acceleration of body i from its parent's and its joint's."""
    size, b = work_size(plan), body_at(i)
    c, s, p = work[i * size + COS], work[i * size + SIN], load(work, i * size + ORIGIN)
    parent = int(model[b + at.PARENT])
    u = (parent if parent >= 0 else int(model[at.BODIES])) * size
    alpha, acc = load(work, u), load(work, u + 3)
    acc = add(acc, cross(alpha, p))
    alpha = turn_back_z(c, s, transposed_times(model, b + at.ROTATION, alpha))
    acc = turn_back_z(c, s, transposed_times(model, b + at.ROTATION, acc))
    along = scale(model[b + at.MULTIPLIER] * out[int(model[b + at.DOF])], (0.0, 0.0, 1.0))
    if model[b + at.PRISMATIC] == 0.0:
        alpha = add(alpha, along)
    else:
        acc = add(acc, along)
    for r in range(3):
        work[i * size + r] = alpha[r]
        work[i * size + 3 + r] = acc[r]


@njit(error_model="numpy")
def substitute(plan: Pointer, node: int, work: Pointer, out: Pointer) -> None:
    """Coordinates eliminated at a node, from its A and the coordinates still open."""
    size, d, b = work_size(plan), 6 + int(plan[at.PLAN_OPEN]), node_at(plan, node)
    matrix = shift(work, node * size + MATRIX)
    count = int(plan[b + at.NODE_COUNT])
    for slot in range(count - int(plan[b + at.NODE_ELIMINATED]), count):
        s = 6 + slot
        total = matrix[d * d + s]
        for r in range(6):
            total -= matrix[s * d + r] * work[node * size + r]
        for other in range(slot):
            total -= matrix[s * d + 6 + other] * out[int(plan[b + at.NODE_LISTS + other])]
        out[int(plan[b + at.NODE_LISTS + slot])] = total / matrix[s * d + s]
