"""Acceleration of an elastic arm with friction, and its derivatives by x and x'.

H a = A (tau_m - rotor friction) + springs + outside - joint friction - C x' - g
da/dx = -H^-1 G_x,    da/dx' = -H^-1 G_v        (``observer_slopes``)
"""

from numba import njit

from geared_dynamics.kernels import drive_layout as on
from geared_dynamics.kernels import elastic, friction, inverse, kinematics, mass
from geared_dynamics.kernels import elastic_layout as has
from geared_dynamics.kernels import observer_slopes as slopes
from geared_dynamics.kernels.drive import motor_at
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.linear_algebra import factor, product, substitute
from geared_dynamics.kernels.memory import shift

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

    The derivatives are those of a step of length dt (``observer_slopes.slope_of_step``).
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
    slopes.posture_slopes(model, n, size, x, rate, found, scratch, stiff)
    slopes.rate_slopes(model, size, x, rate, zero, scratch, damp)
    slopes.add_spring_slopes(springs, size, x, stiff, damp)
    slopes.add_friction_slopes(springs, drives, size, dt, rate, found, inverted, speed, damp)
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
