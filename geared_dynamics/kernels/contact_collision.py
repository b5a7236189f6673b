"""One impact with Coulomb friction and Stronge's energetic restitution, and the arm's inside.

The normal impulse p is the time: du/dp = G f, f = (1, f_t), u the velocity of the tool's point
relative to the wall. Sliding, f_t = -mu u_t / |u_t|; sticking, what keeps u_t = 0 if that is
within mu. Compression ends where u_n has come up to zero, the impact where the normal force has
given back e^2 of the work that it took. In three dimensions sliding turns while it lasts: with
the variable s, dp = |u_t| ds, speed and direction (Keller) follow smooth equations up to the end
of sliding, which are integrated by extrapolation; what is straight is integrated in closed form.
"""

import math

from numba import njit

from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.kernels import inverse, kinematics, layout
from geared_dynamics.kernels.contact_friction import at_rest
from geared_dynamics.kernels.contact_rows import contact_at, frame_origin
from geared_dynamics.kernels.contact_solve import KNOWN
from geared_dynamics.kernels.joint import body_at
from geared_dynamics.kernels.memory import Pointer, shift
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

# State of the impact: velocities, impulses, work of the normal force, of friction (taken off).
NORMAL, X, Y, P, PX, PY, WORK, LOST, STATE = 0, 1, 2, 3, 4, 5, 6, 7, 8
# State while sliding turns: log of the speed, angle, then as above from NORMAL on but X, Y.
SPEED, ANGLE, T_NORMAL, T_P, T_PX, T_PY, T_WORK, T_LOST, TURNING = 0, 1, 2, 3, 4, 5, 6, 7, 8
STILL = 1e-13  # speed of sliding, relative to the impact's speed, that is none
STRAIGHT = 1e-14  # turning rate, relative to the largest mobility, that is none
LEVELS = 5  # of extrapolation: midpoint rules with 2, 4, ..., 10 steps
ACCURATE = 1e-11  # difference of the last two orders in a step, far above the last one's error
LARGEST = 4.0  # step, in units of the reciprocal mobility
STEPS = 20_000
# Scratch: state while turning, the same after a step, stages and tableau of the extrapolation.
SCRATCH = STATE + (3 + 3 + LEVELS) * TURNING

ENDED, ENDLESS, NO_WAY = 0, -1, -2


@njit(error_model="numpy")
def impact(
    G: Pointer, size: int, u: Pointer, mu: float, e: float, work: Pointer, out: Pointer
) -> int:
    """Impulse of one impact: ENDED, or why there is none.

    Args:
        G: Mobilities (3, 3) in a matrix of leading dimension ``size``: normal, two tangential.
        size: Leading dimension.
        u: Velocity before (3), the normal one below zero.
        mu: Coefficient of friction.
        e: Coefficient of restitution, of Stronge.
        work: Scratch (SCRATCH).
        out: Result: impulse (3), and the energy lost.
    """
    z = work
    for i in range(STATE):
        z[i] = 0.0
    z[NORMAL], z[X], z[Y] = u[0], u[1], u[2]
    scale = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    taken = 0.0  # work of the normal force at the end of compression, below zero
    status = ENDLESS
    for _ in range(STEPS):
        speed = math.hypot(z[X], z[Y])
        if speed <= STILL * scale:
            # Friction per normal impulse: it sticks, or goes straight on where it starts.
            z[X], z[Y] = 0.0, 0.0
            f, still = shift(z, STATE), shift(z, STATE + 3)
            f[0], still[0], still[1], still[2] = 1.0, 0.0, 0.0, 0.0
            at_rest(G, size, 0.0, KNOWN, still, mu, f)
            status, taken = straight(G, size, f[1], f[2], math.inf, e, taken, z)
            break
        cos, sin = z[X] / speed, z[Y] / speed
        slope, bend = turning(G, size, mu, cos, sin)
        if abs(bend) <= STRAIGHT * (G[0] + G[size + 1] + G[2 * size + 2]):
            reach = -speed / slope if slope < 0.0 else math.inf
            status, taken = straight(G, size, -mu * cos, -mu * sin, reach, e, taken, z)
        else:
            status, taken = turn(G, size, mu, e, STILL * scale, taken, z)
        if status != ENDLESS:
            break
    out[0], out[1], out[2] = z[P], z[PX], z[PY]
    out[3] = (1.0 - e * e) * -taken + z[LOST]
    return status


@njit(error_model="numpy")
def turning(G: Pointer, size: int, mu: float, cos: float, sin: float) -> tuple[float, float]:
    """Change per normal impulse of the speed of sliding, and of its angle times the speed."""
    x = G[size] - mu * (G[size + 1] * cos + G[size + 2] * sin)
    y = G[2 * size] - mu * (G[2 * size + 1] * cos + G[2 * size + 2] * sin)
    return cos * x + sin * y, cos * y - sin * x


@njit(error_model="numpy")
def straight(
    G: Pointer,
    size: int,
    fx: float,
    fy: float,
    reach: float,
    e: float,
    taken: float,
    z: Pointer,
) -> tuple[int, float]:
    """Go on with a constant force direction, to the end or over an impulse ``reach``.

    Returns the status, and the work of the normal force at the end of compression.
    """
    slope = G[0] + G[1] * fx + G[2] * fy
    if z[NORMAL] < 0.0:
        if not slope > 0.0:
            if reach == math.inf:
                return NO_WAY, taken
            advance(G, size, fx, fy, reach, z)
            return ENDLESS, taken
        p = -z[NORMAL] / slope
        if p > reach:
            advance(G, size, fx, fy, reach, z)
            return ENDLESS, taken
        advance(G, size, fx, fy, p, z)
        z[NORMAL] = 0.0
        taken = min(taken, z[WORK])
        reach -= p
    # Restitution: slope p^2 / 2 + u_n p is what is still to be given back.
    rest = (1.0 - e * e) * taken - z[WORK]
    if not rest > 0.0:
        return ENDED, taken
    root = z[NORMAL] * z[NORMAL] + 2.0 * slope * rest
    p = math.inf
    if root >= 0.0:
        p = 2.0 * rest / (z[NORMAL] + math.sqrt(root)) if z[NORMAL] > 0.0 or slope > 0.0 else p
    if p <= reach:
        advance(G, size, fx, fy, p, z)
        return ENDED, taken
    if reach == math.inf:
        return NO_WAY, taken
    advance(G, size, fx, fy, reach, z)
    return ENDLESS, taken


@njit(error_model="numpy")
def advance(G: Pointer, size: int, fx: float, fy: float, p: float, z: Pointer) -> None:
    """Advance by the normal impulse p along a constant force direction."""
    slope = G[0] + G[1] * fx + G[2] * fy
    dx = (G[size] + G[size + 1] * fx + G[size + 2] * fy) * p
    dy = (G[2 * size] + G[2 * size + 1] * fx + G[2 * size + 2] * fy) * p
    z[WORK] += p * (z[NORMAL] + 0.5 * slope * p)
    z[LOST] -= p * (fx * (z[X] + 0.5 * dx) + fy * (z[Y] + 0.5 * dy))
    z[NORMAL] += slope * p
    z[X] += dx
    z[Y] += dy
    z[P] += p
    z[PX] += fx * p
    z[PY] += fy * p


@njit(error_model="numpy")
def turn(
    G: Pointer,
    size: int,
    mu: float,
    e: float,
    still: float,
    taken: float,
    z: Pointer,
) -> tuple[int, float]:
    """Follow sliding that turns, until it ends, becomes straight, or the impact is over."""
    y, after, work = shift(z, STATE), shift(z, STATE + TURNING), shift(z, STATE + 2 * TURNING)
    y[SPEED], y[ANGLE] = math.log(math.hypot(z[X], z[Y])), math.atan2(z[Y], z[X])
    y[T_NORMAL], y[T_P], y[T_PX], y[T_PY] = z[NORMAL], z[P], z[PX], z[PY]
    y[T_WORK], y[T_LOST] = z[WORK], z[LOST]
    largest = G[0] + G[size + 1] + G[2 * size + 2]
    step = 0.5 / largest
    status = ENDLESS
    for _ in range(STEPS):
        if not extrapolate(G, size, mu, step, y, after, work):
            step *= 0.5
            continue
        compressing = y[T_NORMAL] < 0.0
        goal = (1.0 - e * e) * taken
        if compressing and after[T_NORMAL] >= 0.0:
            locate(G, size, mu, step, T_NORMAL, 0.0, y, after, work)
            after[T_NORMAL], taken = 0.0, min(taken, after[T_WORK])
            if e == 0.0:
                status = ENDED
        elif not compressing and after[T_WORK] >= goal:
            locate(G, size, mu, step, T_WORK, goal, y, after, work)
            status = ENDED
        for i in range(TURNING):
            y[i] = after[i]
        cos, sin = math.cos(y[ANGLE]), math.sin(y[ANGLE])
        _, bend = turning(G, size, mu, cos, sin)
        if status == ENDED or y[SPEED] <= math.log(still) or abs(bend) <= STRAIGHT * largest:
            break
        step = min(1.5 * step, LARGEST / largest)
    speed = math.exp(y[SPEED])
    z[X], z[Y] = speed * math.cos(y[ANGLE]), speed * math.sin(y[ANGLE])
    z[NORMAL], z[P], z[PX], z[PY] = y[T_NORMAL], y[T_P], y[T_PX], y[T_PY]
    z[WORK], z[LOST] = y[T_WORK], y[T_LOST]
    return status, taken


@njit(error_model="numpy")
def rates(G: Pointer, size: int, mu: float, y: Pointer, out: Pointer) -> None:
    """Derivatives of the turning state by s, dp = |u_t| ds."""
    cos, sin, speed = math.cos(y[ANGLE]), math.sin(y[ANGLE]), math.exp(y[SPEED])
    out[SPEED], out[ANGLE] = turning(G, size, mu, cos, sin)
    out[T_NORMAL] = speed * (G[0] - mu * (G[1] * cos + G[2] * sin))
    out[T_P] = speed
    out[T_PX], out[T_PY] = -mu * cos * speed, -mu * sin * speed
    out[T_WORK] = y[T_NORMAL] * speed
    out[T_LOST] = mu * speed * speed


@njit(error_model="numpy")
def extrapolate(
    G: Pointer, size: int, mu: float, step: float, y: Pointer, out: Pointer, work: Pointer
) -> bool:
    """Step of the midpoint rule, extrapolated to order 2 LEVELS; whether it is accurate."""
    last, now, slope = work, shift(work, TURNING), shift(work, 2 * TURNING)
    table = shift(work, 3 * TURNING)
    for level in range(LEVELS):
        count = 2 * (level + 1)
        h = step / count
        rates(G, size, mu, y, slope)
        for i in range(TURNING):
            last[i] = y[i]
            now[i] = y[i] + h * slope[i]
        for _ in range(count - 1):
            rates(G, size, mu, now, slope)
            for i in range(TURNING):
                last[i], now[i] = now[i], last[i] + 2.0 * h * slope[i]
        # Neville's scheme: table[j] is what order 2 j + 2 gave up to the level before.
        for i in range(TURNING):
            before, table[i] = table[i], now[i]
            for j in range(1, level + 1):
                ratio = (level + 1.0) / (level + 1.0 - j)
                value = table[(j - 1) * TURNING + i]
                value += (value - before) / (ratio * ratio - 1.0)
                before, table[j * TURNING + i] = table[j * TURNING + i], value
    for i in range(TURNING):
        out[i] = table[(LEVELS - 1) * TURNING + i]
    speed = abs(y[T_NORMAL]) + abs(out[T_NORMAL]) + math.exp(y[SPEED])
    good = True
    for i in range(TURNING):
        scale = 1.0
        if i == T_NORMAL:
            scale = speed
        elif i > T_NORMAL:
            scale = out[T_P] if i < T_WORK else out[T_P] * speed
        good &= abs(out[i] - table[(LEVELS - 2) * TURNING + i]) <= ACCURATE * scale
    return good


@njit(error_model="numpy")
def locate(
    G: Pointer,
    size: int,
    mu: float,
    step: float,
    what: int,
    value: float,
    y: Pointer,
    out: Pointer,
    work: Pointer,
) -> None:
    """Shorten the step so that one number of its end has a value that lies within it."""
    low, high = 0.0, step
    below, above = y[what] - value, out[what] - value
    for _ in range(80):
        part = low - below * (high - low) / (above - below)
        extrapolate(G, size, mu, part, y, out, work)
        found = out[what] - value
        if found == 0.0 or high - low <= 1e-16 * step:
            return
        if found > 0.0:
            if high == part:
                return
            high, above, below = part, found, 0.5 * below
        else:
            if low == part:
                return
            low, below, above = part, found, 0.5 * above


# -- Impulses of an impact into the motors' rotors and through the joints -------------------------


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
