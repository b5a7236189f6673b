"""Acceleration of an elastic arm with friction, its derivatives, and what friction leaves open.

H a = A (tau_m - rotor friction) + springs + outside - joint friction - C x' - g
da/dx = -H^-1 G_x,    da/dx' = -H^-1 G_v        (``elastic``)
"""

import math

from numba import njit

from geared_dynamics.kernels import drive_layout as on
from geared_dynamics.kernels import elastic, friction, inverse, kinematics, mass
from geared_dynamics.kernels import elastic_layout as has
from geared_dynamics.kernels.drive import motor_at
from geared_dynamics.kernels.linear_algebra import add_scaled, factor, product, substitute
from geared_dynamics.kernels.memory import Pointer, shift
from geared_dynamics.kernels.observer_layout import GROUPS, HEAD

SCRATCH = max(inverse.SIZE, mass.SIZE, kinematics.SIZE)  # numbers per body


@njit(inline="always")
def work_size(size: int, motors: int, bodies: int) -> int:
    """Numbers of work that ``linearise`` needs."""
    return 2 * size * size + 6 * size + 3 * motors + bodies * SCRATCH


@njit(error_model="numpy")
def linearise(
    model: Pointer,
    springs: Pointer,
    drives: Pointer,
    bodies: int,
    x: Pointer,
    rate: Pointer,
    outside: Pointer,
    shaft: Pointer,
    dt: float,
    work: Pointer,
    found: Pointer,
) -> bool:
    """Fill found with a (N), H^-1, da/dx and da/dx' (N, N each); False if H is not positive.

    The derivatives are those of a step of length dt (``elastic.slope_of_step``).
    """
    n, motors = int(springs[has.JOINTS]), int(springs[has.MOTORS])
    size = n + int(springs[has.SHAFTS])
    square = size * size
    inverted, by_x, by_rate = (
        shift(found, size),
        shift(found, size + square),
        shift(found, size + 2 * square),
    )
    stiff, damp = work, shift(work, square)
    force, zero = shift(work, 2 * square), shift(work, 2 * square + size)
    speed = shift(work, 2 * square + 2 * size)
    scratch = shift(work, 2 * square + 2 * size + 3 * motors)
    for i in range(size):
        zero[i] = 0.0
    forces(springs, drives, x, rate, outside, shaft, speed, zero, scratch, force)
    inverse.one_state(model, x, rate, zero, scratch, found)
    for i in range(size):
        found[i] = force[i] - found[i]
    mass.one_matrix(model, x, scratch, stiff)
    if not factor(size, stiff):
        return False
    substitute(size, stiff, found)
    for j in range(size):
        column = shift(inverted, j * size)
        for i in range(size):
            column[i] = 1.0 if i == j else 0.0
        substitute(size, stiff, column)
    elastic.posture_slopes(model, n, size, x, rate, found, scratch, stiff)
    elastic.rate_slopes(model, size, x, rate, zero, scratch, damp)
    elastic.add_spring_slopes(springs, size, x, stiff, damp)
    elastic.add_friction_slopes(springs, drives, size, dt, rate, found, inverted, speed, damp)
    product(size, inverted, stiff, -1.0, by_x)
    product(size, inverted, damp, -1.0, by_rate)
    return True


@njit(error_model="numpy")
def forces(
    springs: Pointer,
    drives: Pointer,
    x: Pointer,
    rate: Pointer,
    outside: Pointer,
    shaft: Pointer,
    speed: Pointer,
    zero: Pointer,
    scratch: Pointer,
    force: Pointer,
) -> None:
    """Set force (N,): motors, springs, friction, outside (N,); speed (m,), 2 m more behind it."""
    n, motors = int(springs[has.JOINTS]), int(springs[has.MOTORS])
    size = n + int(springs[has.SHAFTS])
    angle, torque = shift(speed, motors), shift(speed, 2 * motors)
    for r in range(motors):
        speed[r] = 0.0
        angle[r] = drives[motor_at(drives, r) + on.ZERO]
    for e in range(
        int(springs[has.STRUCTURE]), int(springs[has.STRUCTURE_END]), has.STRUCTURE_SIZE
    ):
        r, d = int(springs[e + 1]), int(springs[e])
        speed[r] += springs[e + 2] * rate[d]
        angle[r] += springs[e + 2] * x[d]
    for r in range(motors):
        law = int(drives[motor_at(drives, r) + on.LAW])
        loss = friction.force(drives, law, speed[r], angle[r], 0.0) if law > 0 else 0.0
        torque[r] = shaft[r] - loss
    for i in range(size):
        scratch[i] = 0.0
        force[i] = outside[i]
    friction.add_joint_friction(drives, x, rate, zero, scratch)
    for i in range(n):
        force[i] -= scratch[i]
    elastic.add_motors(springs, torque, force)
    elastic.add_springs(springs, x, rate, force)


# -- Friction of what is at rest: any number within its level -------------------------------------
#
# The prediction holds smooth friction, which is zero at rest. What it leaves open is a force f of
# each law along its row r over x, unknown, of magnitude
#
#     band = level max(1 - |tanh(s / scale)|, share),      s = r x', the least in the step
#     scale^2 = smoothing^2 + variance of s + (KICK level dt r H^-1 r')^2
#
# The last term is how far a friction that is off by its level changes the speed within a step. No
# reading tells f apart from other forces, so it changes no gain (Schmidt's consider filter); the
# error that it makes is carried on beside the covariance, in rows of one standard deviation:
#
#     row+ = (1 - K C) (F row + share dt V r' band)
#
# For each law one row stands for an f that stays, and WINDOWS rows for changes of it within
# successive intervals, each until it has died out. Changes are half as large where all is calm. Of
# a law that is known to move they go from one end of the band to the other where its speed is not
# far from zero, but not zero: there f jumps.
#
# Source: S. F. Schmidt, Application of state-space methods to navigation problems, 1966.


STAYS = 1.0 / math.sqrt(3.0)  # deviation of what lies anywhere within +-1
CALM = 0.5  # part of that for its change within one interval, at rest,
JUMP = 2.0  # and where the law moves off or comes to rest
STIRRED = 5.0  # times the speed by scale: above 1 the jump is the whole
KICK = 1.5
NOTHING = 1e-24  # sum of squares of a row that has died out


@njit(inline="always")
def laws(extra: int) -> int:
    """Number of laws that so many rows beside the covariance's belong to; -1 if to none."""
    return extra // GROUPS if extra >= 0 and extra % GROUPS == 0 else -1


@njit(inline="always")
def given_size(count: int, size: int) -> int:
    """Numbers in the step's input: interval, whether it begins, and the laws."""
    return 2 + count * (HEAD + size) if count > 0 else 0


@njit(error_model="numpy")
def respond(
    size: int,
    count: int,
    dt: float,
    given: Pointer,
    rate: Pointer,
    following: Pointer,
    inverted: Pointer,
    factor: Pointer,
    columns: Pointer,
    V: Pointer,
    work: Pointer,
    out: Pointer,
) -> None:
    """Set the rows (GROUPS count, k) of after a step; those of before lie behind the factor.

    Args:
        size: N.
        count: Number of laws.
        dt: Length of the step.
        given: See ``given_size``.
        rate: x' at the beginning (N,).
        following: x' at the end.
        inverted: H^-1 (N, N).
        factor: U (k, k) before the step, then the rows.
        columns: exp(A dt), transposed (2N, 2N).
        V: phi [0; H^-1], transposed (N, 2N).
        work: 2 N + 1 numbers for each law.
        out: The rows.
    """
    k, width = 3 * size, 2 * size
    slot, begins = int(given[0]), given[1] != 0.0
    before = shift(factor, k * k)
    for law in range(count):
        head = shift(given, 2 + law * (HEAD + size))
        along, push = shift(head, HEAD), shift(work, law * width)
        amount, stirred = band(size, dt, head, rate, following, inverted, factor)
        work[count * width + law] = STAYS * (CALM + (JUMP - CALM) * stirred)
        for i in range(width):
            push[i] = 0.0
        for e in range(size):
            add_scaled(width, dt * amount * along[e], shift(V, e * width), push)
    for group in range(GROUPS):
        now = group - 1 == slot
        new = begins and now
        for law in range(count):
            changes = work[count * width + law] if now else 0.0
            r = group * count + law
            source, target = shift(before, r * k), shift(out, r * k)
            for j in range(k):
                target[j] = source[j] if j >= width and not new else 0.0
            if not new:
                for i in range(width):
                    add_scaled(width, source[i], shift(columns, i * width), target)
                for i in range(size):
                    add_scaled(width, dt * source[width + i], shift(V, i * width), target)
            add_scaled(width, STAYS if group == 0 else changes, shift(work, law * width), target)
            total = 0.0
            for j in range(k):
                total += target[j] * target[j]
            if total < NOTHING:
                for j in range(k):
                    target[j] = 0.0


@njit(error_model="numpy")
def band(
    size: int,
    dt: float,
    head: Pointer,
    rate: Pointer,
    following: Pointer,
    inverted: Pointer,
    factor: Pointer,
) -> tuple[float, float]:
    """What smooth friction leaves open of a law's level, and how stirred it is, 0 to 1."""
    k, along = 3 * size, shift(head, HEAD)
    first, last, ease = 0.0, 0.0, 0.0
    for i in range(size):
        if along[i] != 0.0:
            first += along[i] * rate[i]
            last += along[i] * following[i]
            for j in range(size):
                ease += along[i] * inverted[i * size + j] * along[j]
    slowest = min(abs(first), abs(last)) if first * last > 0.0 else 0.0
    kick = KICK * dt * head[0] * ease
    square = head[1] * head[1] + kick * kick
    for r in range(k):
        spread = 0.0
        for i in range(size):
            spread += factor[r * k + size + i] * along[i]
        square += spread * spread
    scale = math.sqrt(square)  # above zero: a law has a level
    ratio = slowest / scale
    left = 2.0 / (math.exp(2.0 * ratio) + 1.0) if ratio < 20.0 else 0.0
    fastest = max(abs(first), abs(last)) / scale
    stirred = head[3] * min(1.0, STIRRED * fastest)
    return head[0] * max(left, head[2]), stirred
