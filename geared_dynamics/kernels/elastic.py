"""Elastic joints: springs between coordinates, and forward dynamics of x = (q, theta).

The arm with a coordinate more for each elastic joint is a packed model like any other:
bodies follow q, wheels follow q and theta.
"""

import numpy as np
from numba import njit

from geared_dynamics.kernels import elastic_layout as has
from geared_dynamics.kernels import elimination, inverse, mass
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels import mass as forward
from geared_dynamics.kernels.border import apart, finite, fits, gather, holds, states
from geared_dynamics.kernels.kinds import Array, Pointer
from geared_dynamics.kernels.memory import keep, pointer, row, shift


@njit(error_model="numpy")
def elastic_forward_dynamics(
    model: Array,
    springs: Array,
    plan: Array,
    q: Array,
    theta: Array,
    v: Array,
    vtheta: Array,
    tau_m: Array,
    tau: Array,
    out: Array,
) -> int:
    """Acceleration (n + n_e,) of x from q, v, tau (n,), theta, vtheta (n_e,), tau_m (m,).

    K states have a dimension more. An empty plan asks for the factorised mass matrix.
    """
    n, shafts, motors = (
        int(springs[has.JOINTS]),
        int(springs[has.SHAFTS]),
        int(springs[has.MOTORS]),
    )
    size, bodies = n + shafts, int(model[at.BODIES])
    if not (holds(out, size, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not fits(tau, n, out):
        return at.WRONG_SHAPE
    if not (fits(theta, shafts, out) and fits(vtheta, shafts, out) and fits(tau_m, motors, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(theta, out) and apart(v, out) and apart(vtheta, out)):
        return at.OVERLAP
    if not (apart(tau_m, out) and apart(tau, out)):
        return at.OVERLAP
    if plan.size == 0:
        room = size * size + bodies * max(inverse.SIZE, mass.SIZE)
    else:
        room = max((bodies + 1) * elimination.work_size(pointer(plan)), bodies * inverse.SIZE)
    buffer = np.zeros(4 * size + motors + room)
    m, s, p, x = pointer(model), pointer(springs), pointer(plan), pointer(buffer)
    rate, force, zero = shift(x, size), shift(x, 2 * size), shift(x, 3 * size)
    shaft, work = shift(x, 4 * size), shift(x, 4 * size + motors)
    for k in range(states(out)):
        if not (gather(q, k, n, x) & gather(theta, k, shafts, shift(x, n))):
            return at.NOT_FINITE
        if not (gather(v, k, n, rate) & gather(vtheta, k, shafts, shift(rate, n))):
            return at.NOT_FINITE
        if not (gather(tau, k, n, force) & gather(tau_m, k, motors, shaft)):
            return at.NOT_FINITE
        for d in range(n, size):
            force[d] = 0.0
        add_motors(s, shaft, force)
        add_springs(s, x, rate, force)
        result = row(out, k)
        inverse.one_state(m, x, rate, zero, work, result)
        for d in range(size):
            force[d] -= result[d]
        if plan.size == 0:
            mass.one_matrix(m, x, shift(work, size * size), work)
            for d in range(size):
                result[d] = force[d]
            solved = forward.solve(size, work, result)
        else:
            solved = elimination.solve(m, p, x, force, work, result)
        if not solved:
            return at.NOT_POSITIVE
        if not finite(result, size):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def spring_tensions(
    model: Array, springs: Array, q: Array, theta: Array, v: Array, vtheta: Array, out: Array
) -> int:
    """Tension of each spring (s,), for q, v (n,) and theta, vtheta (n_e,)."""
    n, shafts = int(springs[has.JOINTS]), int(springs[has.SHAFTS])
    size = n + shafts
    first, end = int(springs[has.SPRINGS]), int(springs[has.SPRINGS_END])
    width = (end - first) // has.SPRING_SIZE
    if not (holds(out, width, model) and fits(q, n, out) and fits(v, n, out)):
        return at.WRONG_SHAPE
    if not (fits(theta, shafts, out) and fits(vtheta, shafts, out)):
        return at.WRONG_SHAPE
    if not (apart(q, out) and apart(theta, out) and apart(v, out) and apart(vtheta, out)):
        return at.OVERLAP
    buffer = np.empty(2 * size)
    s, x = pointer(springs), pointer(buffer)
    rate = shift(x, size)
    for k in range(states(out)):
        if not (gather(q, k, n, x) & gather(theta, k, shafts, shift(x, n))):
            return at.NOT_FINITE
        if not (gather(v, k, n, rate) & gather(vtheta, k, shafts, shift(rate, n))):
            return at.NOT_FINITE
        count = 0
        for b in range(first, end, has.SPRING_SIZE):
            row(out, k)[count] = pull(s, b, x, rate)
            count += 1
        if not finite(row(out, k), count):
            return at.OVERFLOW
    return keep(buffer, at.OK)


@njit(error_model="numpy")
def add_motors(springs: Pointer, shaft: Pointer, force: Pointer) -> None:
    """Add A tau_m to the force on x."""
    for e in range(
        int(springs[has.STRUCTURE]), int(springs[has.STRUCTURE_END]), has.STRUCTURE_SIZE
    ):
        force[int(springs[e])] += springs[e + 2] * shaft[int(springs[e + 1])]


@njit(error_model="numpy")
def add_springs(springs: Pointer, x: Pointer, rate: Pointer, force: Pointer) -> None:
    """Add -P' tension to the force on x."""
    for b in range(int(springs[has.SPRINGS]), int(springs[has.SPRINGS_END]), has.SPRING_SIZE):
        strength = pull(springs, b, x, rate)
        for e in range(
            int(springs[b + has.STRETCH]), int(springs[b + has.STRETCH_END]), has.STRETCH_SIZE
        ):
            force[int(springs[e])] -= springs[e + 1] * strength


@njit(error_model="numpy")
def pull(springs: Pointer, b: int, x: Pointer, rate: Pointer) -> float:
    """Tension of the spring at b."""
    length, change = -springs[b + has.REST], 0.0
    for e in range(
        int(springs[b + has.STRETCH]), int(springs[b + has.STRETCH_END]), has.STRETCH_SIZE
    ):
        length += springs[e + 1] * x[int(springs[e])]
        change += springs[e + 1] * rate[int(springs[e])]
    return tension(springs, b, length, change)


@njit(error_model="numpy")
def tension(springs: Pointer, b: int, length: float, change: float) -> float:
    """K z + D z'; with a gap, of what exceeds it, and a stop never holds its partner back."""
    gap = springs[b + has.GAP]
    if gap == 0.0:
        return springs[b + has.STIFFNESS] * length + springs[b + has.DAMPING] * change
    if abs(length) <= gap:
        return 0.0
    beyond = length - gap if length > 0.0 else length + gap
    total = springs[b + has.STIFFNESS] * beyond + springs[b + has.DAMPING] * change
    return total if total * length > 0.0 else 0.0
