"""What an impact does inside the arm: impulses into the motors' rotors and through the joints."""

from numba import njit

from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels import inverse, kinematics, layout
from geared_dynamics.kernels.contact_rows import contact_at, frame_origin
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.kinds import Pointer
from geared_dynamics.kernels.memory import shift
from geared_dynamics.kernels.vector import (
    acceleration_matrix,
    accumulate,
    add,
    cross,
    dot,
    load,
    store,
    subtract,
    times,
    transposed_times,
)


@njit(error_model="numpy")
def gears(contacts: Pointer, n: int, jump: Pointer, dv: Pointer, loss: Pointer) -> None:
    """J times the jump of each motor rotor's absolute spin, behind ``loss``.

    Args:
        contacts: Prepared contacts.
        n: Number of coordinates.
        jump: The bodies' motion with the velocities' jumps as accelerations.
        dv: Jump of the joint velocity (n).
        loss: Where the results begin, one place further on.
    """
    for r in range(int(contacts[at.MOTORS])):
        rotor = int(contacts[at.MOTORS_AT]) + r * (at.MOTOR_ROW + n)
        spin = 0.0
        for d in range(n):
            spin += contacts[rotor + at.MOTOR_ROW + d] * dv[d]
        carrier = int(contacts[rotor + at.MOTOR_CARRIER])
        if carrier >= 0:
            w = carrier * kinematics.SIZE
            axis = times(jump, w + kinematics.ROT, load(contacts, rotor + at.MOTOR_AXIS))
            spin += dot(axis, load(jump, w + kinematics.ALPHA))
        loss[1 + r] = contacts[rotor + at.MOTOR_INERTIA] * spin


@njit(error_model="numpy")
def bearings(
    model: Pointer,
    contacts: Pointer,
    n: int,
    jump: Pointer,
    zero: Pointer,
    dv: Pointer,
    wrench: Pointer,
    work: Pointer,
    spare: Pointer,
    out: Pointer,
) -> None:
    """Impulse (6) from parent to child at each joint's origin, child's axes.

    Jump of the momentum of all beyond the joint, less what the contacts give it there.
    ``work`` holds 6 numbers per body and 9 more, ``spare`` n.
    """
    bodies = int(model[layout.BODIES])
    still = (0.0, 0.0, 0.0)
    matrix = shift(work, 6 * bodies)
    for i in range(bodies):
        b, w = body_at(i), i * kinematics.SIZE
        alpha = transposed_times(jump, w + kinematics.ROT, load(jump, w + kinematics.ALPHA))
        acc = transposed_times(jump, w + kinematics.ROT, load(jump, w + kinematics.ACC))
        acceleration_matrix(still, alpha, matrix)
        force, moment = inverse.body_force(model, b, still, alpha, acc, zero, dv, matrix, spare)
        store(work, 6 * i, times(jump, w + kinematics.ROT, force))
        store(work, 6 * i + 3, times(jump, w + kinematics.ROT, moment))
    for k in range(int(contacts[at.CONTACTS])):
        b = contact_at(k)
        body = int(contacts[b + at.BODY])
        if body >= 0:
            _, arm = frame_origin(contacts, b, jump)
            force = load(wrench, 6 * k)
            moment = add(load(wrench, 6 * k + 3), cross(arm, force))
            store(work, 6 * body, subtract(load(work, 6 * body), force))
            store(work, 6 * body + 3, subtract(load(work, 6 * body + 3), moment))
    for i in range(bodies - 1, -1, -1):
        parent = int(model[body_at(i) + layout.PARENT])
        if parent >= 0:
            arm = subtract(
                load(jump, i * kinematics.SIZE + kinematics.POS),
                load(jump, parent * kinematics.SIZE + kinematics.POS),
            )
            force = load(work, 6 * i)
            accumulate(work, 6 * parent, force)
            accumulate(work, 6 * parent + 3, add(load(work, 6 * i + 3), cross(arm, force)))
    for j in range(int(contacts[at.JOINTS])):
        i = int(contacts[int(contacts[at.JOINTS_AT]) + j])
        for half in range(0, 6, 3):
            value = transposed_times(
                jump, i * kinematics.SIZE + kinematics.ROT, load(work, 6 * i + half)
            )
            store(out, 6 * j + half, times(model, body_at(i) + layout.TURN, value))
