"""Functional coordinates s(q, t) of contacts: value, Jacobian, rate and drift.

A frame is seen from the object that it touches: place x, y, z in the object's axes, and yaw,
pitch, roll of its axes there, R = Rz(yaw) Ry(pitch) Rx(roll). Vukobratovic 2002, (20.83)-(20.86),
with an object that moves: s'' = J a + drift, drift = J' v + 2 d2s/dq dt v + d2s/dt2.
"""

import math

from numba import njit

from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels import kinematics, layout
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.memory import Pointer, Vector, shift
from geared_dynamics.kernels.vector import (
    add,
    cross,
    dot,
    load,
    scale,
    store,
    subtract,
    times,
    transposed_times,
)

UPRIGHT = 1e-9  # least cosine of the pitch with which yaw and roll have rates
# Scratch of one contact: the object's axes (9), the tool's axes in them (9), six coordinates of
# ROW_J numbers each, then the frame's Jacobian (6 n).
TOOL, TABLE, FRAME = 9, 18, 18 + 6 * at.ROW_J


@njit(error_model="numpy")
def contact_at(k: int) -> int:
    """Where contact k's block begins."""
    return at.HEADER_SIZE + k * at.CONTACT_SIZE


@njit(error_model="numpy")
def object_axes(contacts: Pointer, b: int, t: float, out: Pointer) -> None:
    """The object's axes (9) at time t: turned about OMEGA since t = 0 (Rodrigues)."""
    omega = load(contacts, b + at.OMEGA)
    speed = math.sqrt(dot(omega, omega))
    for e in range(9):
        out[e] = contacts[b + at.AXES + e]
    if speed == 0.0 or t == 0.0:
        return
    u = scale(1.0 / speed, omega)
    c, s = math.cos(speed * t), math.sin(speed * t)
    for k in range(3):
        x = (out[k], out[3 + k], out[6 + k])
        x = add(scale(c, x), add(scale(s, cross(u, x)), scale((1.0 - c) * dot(u, x), u)))
        out[k], out[3 + k], out[6 + k] = x


@njit(error_model="numpy")
def frame_origin(contacts: Pointer, b: int, bodies: Pointer) -> tuple[Vector, Vector]:
    """Origin of the contact's frame, and its arm from the body's origin, root axes."""
    w = int(contacts[b + at.BODY]) * kinematics.SIZE
    arm = times(bodies, w + kinematics.ROT, load(contacts, b + at.POSITION))
    return add(load(bodies, w + kinematics.POS), arm), arm


@njit(error_model="numpy")
def describe(
    contacts: Pointer, b: int, bodies: Pointer, t: float, angles: bool, work: Pointer
) -> bool:
    """Fill TABLE: gradient, s, rate and drift of place and angles; False in gimbal lock."""
    object_axes(contacts, b, t, work)
    w = int(contacts[b + at.BODY]) * kinematics.SIZE
    p, arm = frame_origin(contacts, b, bodies)
    omega, alpha = load(bodies, w + kinematics.OMEGA), load(bodies, w + kinematics.ALPHA)
    turning = load(contacts, b + at.OMEGA)
    push, pull = load(contacts, b + at.VELOCITY), load(contacts, b + at.ACCELERATION)
    point = add(load(contacts, b + at.POINT), add(scale(t, push), scale(0.5 * t * t, pull)))
    push = add(push, scale(t, pull))
    r = subtract(p, point)
    spin = cross(omega, arm)
    moving = subtract(add(load(bodies, w + kinematics.VEL), spin), push)
    change = add(load(bodies, w + kinematics.ACC), add(cross(alpha, arm), cross(omega, spin)))
    change = subtract(change, pull)
    sweep = cross(turning, r)
    rate = subtract(moving, sweep)
    # Coriolis and centripetal part of the object's own turning, taken off.
    change = add(change, cross(turning, subtract(sweep, scale(2.0, moving))))
    for i in range(3):
        axis = (work[i], work[3 + i], work[6 + i])
        e = TABLE + i * at.ROW_J
        store(work, e, axis)
        store(work, e + 3, (0.0, 0.0, 0.0))
        work[e + at.ROW_S] = dot(axis, r)
        work[e + at.ROW_RATE] = dot(axis, rate)
        work[e + at.ROW_DRIFT] = dot(axis, change)
    if not angles:
        return True
    relative = transposed_times(work, 0, subtract(omega, turning))
    bend = transposed_times(work, 0, subtract(alpha, cross(turning, omega)))
    tool_axes(contacts, b, bodies, work)
    return orient(relative, bend, work)


@njit(error_model="numpy")
def tool_axes(contacts: Pointer, b: int, bodies: Pointer, work: Pointer) -> None:
    """The tool's axes as the object has them (9), by rows, to TOOL."""
    w = int(contacts[b + at.BODY]) * kinematics.SIZE
    for k in range(3):
        r = b + at.ROTATION + k
        column = times(bodies, w + kinematics.ROT, (contacts[r], contacts[r + 3], contacts[r + 6]))
        column = transposed_times(work, 0, column)
        work[TOOL + k], work[TOOL + 3 + k], work[TOOL + 6 + k] = column


@njit(error_model="numpy")
def orient(relative: Vector, bend: Vector, work: Pointer) -> bool:
    """Yaw, pitch and roll of TOOL with their derivatives, to TABLE.

    With the angular velocity w in the object's axes, roll' = (cy wx + sy wy) / cp,
    pitch' = cy wy - sy wx, yaw' = wz + sp roll'.
    """
    yaw = math.atan2(work[TOOL + 3], work[TOOL])
    cp = math.hypot(work[TOOL], work[TOOL + 3])
    sp = -work[TOOL + 6]
    if cp < UPRIGHT:
        return False
    cy, sy = work[TOOL] / cp, work[TOOL + 3] / cp
    wx, wy, wz = relative
    roll_rate = (cy * wx + sy * wy) / cp
    pitch_rate = cy * wy - sy * wx
    yaw_rate = wz + sp * roll_rate
    # w' = E y'' + yaw' e3 x (pitch' ey + roll' ex) + pitch' ey x roll' ex.
    ey, ex = (-sy, cy, 0.0), (cy * cp, sy * cp, -sp)
    both = add(scale(pitch_rate, ey), scale(roll_rate, ex))
    bend = subtract(bend, cross((0.0, 0.0, yaw_rate), both))
    bend = subtract(bend, scale(pitch_rate * roll_rate, cross(ey, ex)))
    roll_bend = (cy * bend[0] + sy * bend[1]) / cp
    angle = (yaw, math.atan2(sp, cp), math.atan2(work[TOOL + 7], work[TOOL + 8]))
    rates = (yaw_rate, pitch_rate, roll_rate)
    drifts = (bend[2] + sp * roll_bend, cy * bend[1] - sy * bend[0], roll_bend)
    weights = ((sp * cy / cp, sp * sy / cp, 1.0), (-sy, cy, 0.0), (cy / cp, sy / cp, 0.0))
    for i in range(3):
        e = TABLE + (3 + i) * at.ROW_J
        store(work, e, (0.0, 0.0, 0.0))
        store(work, e + 3, times(work, 0, weights[i]))
        work[e + at.ROW_S] = angle[i]
        work[e + at.ROW_RATE] = rates[i]
        work[e + at.ROW_DRIFT] = drifts[i]
    return True


@njit(error_model="numpy")
def frame_jacobian(
    model: Pointer, body: int, p: Vector, n: int, bodies: Pointer, out: Pointer
) -> None:
    """Jacobian (6, n) of the body's point p: linear rows, then angular, root axes."""
    for e in range(6 * n):
        out[e] = 0.0
    i = body
    while i >= 0:
        b = body_at(i)
        d, factor = int(model[b + layout.DOF]), model[b + layout.MULTIPLIER]
        angular, linear = kinematics.column(model, i, p, bodies)
        for r in range(3):
            out[r * n + d] += factor * linear[r]
            out[(3 + r) * n + d] += factor * angular[r]
        i = int(model[b + layout.PARENT])


@njit(error_model="numpy")
def project(frame: Pointer, n: int, to: Pointer) -> None:
    """Row of the Jacobian from the gradient: J = W' J_frame."""
    for d in range(n):
        total = 0.0
        for r in range(6):
            total += to[r] * frame[r * n + d]
        to[at.ROW_J + d] = total


@njit(error_model="numpy")
def copy_coordinate(work: Pointer, i: int, n: int, to: Pointer) -> None:
    """Write coordinate i of TABLE as a row with its Jacobian."""
    for e in range(at.ROW_J):
        to[e] = work[TABLE + i * at.ROW_J + e]
    project(shift(work, FRAME), n, to)


@njit(error_model="numpy")
def geometric_rows(
    model: Pointer,
    contacts: Pointer,
    b: int,
    n: int,
    bodies: Pointer,
    t: float,
    angles: bool,
    work: Pointer,
    to: Pointer,
) -> bool:
    """Constrained rows of a surface, line or peg; False in gimbal lock."""
    count = int(contacts[b + at.COUNT])
    if not describe(contacts, b, bodies, t, angles or count > 2, work):
        return False
    p, _ = frame_origin(contacts, b, bodies)
    frame_jacobian(model, int(contacts[b + at.BODY]), p, n, bodies, shift(work, FRAME))
    for i in range(count):
        picked = int(contacts[b + at.PICK + i])
        copy_coordinate(work, picked, n, shift(to, i * (at.ROW_J + n)))
    return True


@njit(error_model="numpy")
def pose_rows(
    model: Pointer,
    contacts: Pointer,
    b: int,
    n: int,
    bodies: Pointer,
    given: Pointer,
    work: Pointer,
    to: Pointer,
) -> None:
    """Rows of a function of the frame's pose, from its derivatives in ``given``."""
    w = int(contacts[b + at.BODY]) * kinematics.SIZE
    p, arm = frame_origin(contacts, b, bodies)
    frame = shift(work, FRAME)
    frame_jacobian(model, int(contacts[b + at.BODY]), p, n, bodies, frame)
    omega, alpha = load(bodies, w + kinematics.OMEGA), load(bodies, w + kinematics.ALPHA)
    spin = cross(omega, arm)
    velocity = add(load(bodies, w + kinematics.VEL), spin)
    change = add(load(bodies, w + kinematics.ACC), add(cross(alpha, arm), cross(omega, spin)))
    for i in range(int(contacts[b + at.COUNT])):
        one = shift(given, int(contacts[b + at.START]) + i * at.OF_POSE_SIZE)
        row = shift(to, i * (at.ROW_J + n))
        for e in range(at.ROW_J):
            row[e] = one[e]
        row[at.ROW_RATE] += dot(load(one, 0), velocity) + dot(load(one, 3), omega)
        row[at.ROW_DRIFT] += dot(load(one, 0), change) + dot(load(one, 3), alpha)
        project(frame, n, row)


@njit(error_model="numpy")
def joint_rows(contacts: Pointer, b: int, n: int, given: Pointer, to: Pointer) -> None:
    """Rows of a function of q: s, rate, drift and Jacobian (n) from ``given``."""
    for i in range(int(contacts[b + at.COUNT])):
        one = shift(given, int(contacts[b + at.START]) + i * (n + 3))
        row = shift(to, i * (at.ROW_J + n))
        for e in range(6):
            row[e] = 0.0
        for e in range(n + 3):
            row[6 + e] = one[e]


@njit(error_model="numpy")
def lock_row(contacts: Pointer, b: int, n: int, v: Pointer, to: Pointer) -> None:
    """Row of a gear that is locked: the rotor's spin relative to its carrier is zero."""
    start = int(contacts[b + at.SPIN])
    for e in range(at.ROW_J):
        to[e] = 0.0
    for d in range(n):
        to[at.ROW_J + d] = contacts[start + d]
        to[at.ROW_RATE] += contacts[start + d] * v[d]


@njit(error_model="numpy")
def constrained_rows(
    model: Pointer,
    contacts: Pointer,
    n: int,
    v: Pointer,
    bodies: Pointer,
    given: Pointer,
    t: float,
    work: Pointer,
    to: Pointer,
) -> int:
    """Rows of all constrained coordinates, contact by contact."""
    size, row = at.ROW_J + n, 0
    for k in range(int(contacts[at.CONTACTS])):
        b, target = contact_at(k), shift(to, row * size)
        kind = int(contacts[b + at.KIND])
        if kind == at.GEOMETRIC:
            if not geometric_rows(model, contacts, b, n, bodies, t, False, work, target):
                return at.FAULT + at.REASONS * k + at.GIMBAL
        elif kind == at.OF_POSE:
            pose_rows(model, contacts, b, n, bodies, given, work, target)
        elif kind == at.OF_JOINTS:
            joint_rows(contacts, b, n, given, target)
        else:
            lock_row(contacts, b, n, v, target)
        row += int(contacts[b + at.COUNT])
    return layout.OK


@njit(error_model="numpy")
def tangent_rows(
    model: Pointer,
    contacts: Pointer,
    n: int,
    bodies: Pointer,
    t: float,
    work: Pointer,
    to: Pointer,
) -> None:
    """Two rows per contact, of the sliding along a surface; zero for what is none."""
    size = at.ROW_J + n
    for k in range(int(contacts[at.CONTACTS])):
        b, target = contact_at(k), shift(to, 2 * k * size)
        for e in range(2 * size):
            target[e] = 0.0
        if int(contacts[b + at.KIND]) == at.GEOMETRIC:
            describe(contacts, b, bodies, t, False, work)
            p, _ = frame_origin(contacts, b, bodies)
            frame_jacobian(model, int(contacts[b + at.BODY]), p, n, bodies, shift(work, FRAME))
            copy_coordinate(work, 0, n, target)
            copy_coordinate(work, 1, n, shift(target, size))
