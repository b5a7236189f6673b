"""Exact solution of equations with absolute values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.friction_elements import ArmAtState
from geared_dynamics.arrays import Array, IntArray

# -- Equations that are linear apart from absolute values, solved exactly -------------------------
#
#     F(x) = L x + c + W |P x + o| = 0
#
# On each side of the planes P x + o = 0 the equations are linear. From a start the
# straight way to F = 0 is followed through the pieces (Katzenelson 1965): within one, it
# is Newton's direction; at a plane, that plane's sign changes and the way goes on. Where
# the determinant has one sign in all pieces, the solution is unique and always reached.
# Where a neighbouring piece has the other sign, the way would turn back: there the
# equations have no solution further on.


# Remaining error, relative to the terms of its row, that counts as rounding.
ROUNDING = 1e-13
NOTHING = 1e-16  # the same relative to the largest row, for rows whose terms are all nothing
CROSSINGS = 40  # planes crossed for each one there is, before giving up


class Pieces(NamedTuple):
    """The equations; x has k entries, there are p absolute values.

    Attributes:
        linear: L (k, k).
        constant: c (k,).
        weights: W (k, p).
        planes: P (p, k).
        offsets: o (p,).
    """

    linear: Array
    constant: Array
    weights: Array
    planes: Array
    offsets: Array


class PiecewiseSolution(NamedTuple):
    """A solution x (k,) and the sign of each P x + o (p,)."""

    x: Array
    signs: Array


class Turned(NamedTuple):
    """There is no way on: at which plane (-1: not known)."""

    plane: int


def follow(pieces: Pieces, start: Array) -> PiecewiseSolution | Turned:
    """Solve F(x) = 0 from a start."""
    x, absolute = start, magnitudes(pieces)
    signs = np.where(distances(pieces, x) < 0.0, -1.0, 1.0)
    crossed = -1
    for _ in range(CROSSINGS * (len(signs) + 1)):
        values = distances(pieces, x)
        rest = pieces.linear @ x + pieces.constant + pieces.weights @ (signs * values)
        terms = size(absolute, x)
        done = np.abs(rest) <= ROUNDING * terms + NOTHING * terms.max()
        if np.all(done & (terms < np.inf)):
            return PiecewiseSolution(x, signs)
        try:
            step = np.linalg.solve(slope(pieces, signs), -rest)
        except np.linalg.LinAlgError:
            return Turned(crossed)
        if crossed >= 0 and signs[crossed] * (pieces.planes[crossed] @ step) < 0.0:
            return Turned(crossed)
        part, crossed = first_crossing(signs, values, pieces.planes @ step)
        x = x + min(part, 1.0) * step
        if part >= 1.0:
            return PiecewiseSolution(x, signs)
        signs[crossed] = -signs[crossed]
    return Turned(crossed)


def size(pieces: Pieces, x: Array) -> Array:
    """Size of the terms in each row of F (k,), pieces given by their absolute values."""
    L, c, W, P, o = pieces
    length = np.abs(x)
    return np.asarray(L @ length + c + W @ (P @ length + o))


def magnitudes(pieces: Pieces) -> Pieces:
    """Absolute values of all numbers."""
    return Pieces(*(np.abs(part) for part in pieces))


def distances(pieces: Pieces, x: Array) -> Array:
    """P x + o (p,)."""
    return np.asarray(pieces.planes @ x + pieces.offsets)


def slope(pieces: Pieces, signs: Array) -> Array:
    """Derivative of F in a piece (k, k)."""
    return np.asarray(pieces.linear + (pieces.weights * signs) @ pieces.planes)


def first_crossing(signs: Array, values: Array, rates: Array) -> tuple[float, int]:
    """How far along the step the first sign changes, and which; infinite where none does."""
    approaching = signs * rates < 0.0
    if not approaching.any():
        return np.inf, -1
    left = np.maximum(signs * values, 0.0)
    parts = np.full(len(signs), np.inf)
    parts[approaching] = left[approaching] / np.abs(rates[approaching])
    plane = int(parts.argmin())
    return float(parts[plane]), plane


# -- The plant's equations of motion in the form that is solved above --------------------------
#
# Unknowns x = (a, m, w, z): acceleration (n), transmitted torque (m), magnitude of each
# load that friction or a gear's loss depends on, and one z for each element at rest. Its
# friction is f = clip(z, -low, high), its acceleration proportional to z - f: either it
# rests and f = z lies between the levels, or it breaks loose and f is one of them.


# Acceleration per friction force of an element that rests, relative to what the force
# would accelerate: where a joint and its rotor rest together, it shares the force out.
COMPLIANCE = 1e-9


class UnknownColumns(NamedTuple):
    """Where each unknown stands in x.

    Attributes:
        a: Accelerations (n,).
        m: Transmitted torques (m,).
        w: Magnitudes of loads (l,).
        z: Elements at rest (e,).
        joint: Load of each coordinate among w (n,), -1 where none is needed.
        motor: Load of each motor among w (m,), -1 where none is needed.
    """

    a: slice
    m: slice
    w: slice
    z: slice
    joint: IntArray
    motor: IntArray

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self.z.stop)


def columns(plant: ArmAtState) -> UnknownColumns:
    """Lay the unknowns out."""
    n, m = plant.structure.shape
    at_rest = plant.resting
    pressed = at_rest.slope.any(axis=(1, 2))
    joints = plant.joint_slope != 0.0
    joints[at_rest.joint[pressed & (at_rest.joint >= 0)]] = True
    motors = plant.toward[:, 0] != plant.toward[:, 1]
    motors[at_rest.motor[pressed & (at_rest.motor >= 0)]] = True
    needed = np.concatenate([joints, motors])
    place = np.where(needed, np.cumsum(needed) - 1, -1)
    first = n + m
    last = first + int(needed.sum())
    return UnknownColumns(
        slice(0, n),
        slice(n, first),
        slice(first, last),
        slice(last, last + len(at_rest.joint)),
        place[:n],
        place[n:],
    )


def equations(plant: ArmAtState, torque: Array, at: UnknownColumns, compliance: float) -> Pieces:
    """Set the equations up; rows in the order of the unknowns.

    Args:
        plant: The plant.
        torque: Electromagnetic torque of each motor (m,) [N m].
        at: Where the unknowns stand.
        compliance: See ``COMPLIANCE``; 0 for elements that rest exactly.
    """
    loads, rest = at.w.stop - at.w.start, at.z.stop - at.z.start
    L, c = np.zeros((at.size, at.size)), np.zeros(at.size)
    W = np.zeros((at.size, loads + 2 * rest))
    P, o = np.zeros((loads + 2 * rest, at.size)), np.zeros(loads + 2 * rest)
    A, rotors = plant.structure, plant.rotors
    L[at.a, at.a] = plant.mass - A @ rotors.rows
    L[at.a, at.m] = -A
    c[at.a] = plant.free + plant.joint_base - A @ rotors.drift
    L[at.m, at.a] = rotors.rows
    L[at.m, at.m] = np.diag(plant.toward.mean(axis=1))
    c[at.m] = rotors.drift + plant.rotor_base - torque
    pieces = Pieces(L, c, W, P, o)
    add_loads(pieces, plant, at)
    add_resting(pieces, plant, at, compliance)
    return pieces


def add_loads(pieces: Pieces, plant: ArmAtState, at: UnknownColumns) -> None:
    """Rows w = |load|, and what w adds to the others."""
    L, _, W, P, o = pieces
    n = len(plant.free)
    first = at.w.start
    (d,) = np.nonzero(at.joint >= 0)
    k = at.joint[d]
    P[k, at.a], o[k] = plant.mass[d], plant.free[d]
    L[d, first + k] += plant.joint_slope[d]
    (r,) = np.nonzero(at.motor >= 0)
    k = at.motor[r]
    P[k, n + r] = 1.0
    L[n + r, first + k] += 0.5 * (plant.toward[r, 0] - plant.toward[r, 1])
    every = np.arange(at.w.stop - first)
    L[first + every, first + every] = 1.0
    W[first + every, every] = -1.0


def add_resting(pieces: Pieces, plant: ArmAtState, at: UnknownColumns, compliance: float) -> None:
    """Rows gain (z - f) - rows a = 0, and f = clip(z, -low, high) on coordinate or rotor."""
    L, c, W, P, o = pieces
    n, rest = len(plant.free), plant.resting
    loads = at.w.stop - at.w.start
    for e in range(len(rest.joint)):
        row = at.z.start + e
        high, low, levels = limits(plant, at, e)
        above, below = loads + 2 * e, loads + 2 * e + 1
        P[above], o[above] = -high, -levels[0]
        P[below], o[below] = low, levels[1]
        P[above, row] += 1.0
        P[below, row] += 1.0
        gain = float(rest.rows[e] @ np.linalg.solve(plant.mass, rest.rows[e]))
        # f = (high - low + |z + low| - |z - high|) / 2 acts on `target` with its share.
        target = int(rest.joint[e]) if rest.joint[e] >= 0 else n + int(rest.motor[e])
        for where, share in ((target, rest.share[e]), (row, gain * (compliance - 1.0))):
            L[where] += 0.5 * share * (high - low)
            c[where] += 0.5 * share * (levels[0] - levels[1])
            W[where, below] += 0.5 * share
            W[where, above] -= 0.5 * share
        L[row, row] += gain
        L[row, at.a] -= rest.rows[e]


def limits(plant: ArmAtState, at: UnknownColumns, e: int) -> tuple[Array, Array, Array]:
    """Rows of the levels that element e gives at most, either way, and their constants (2,)."""
    rest = plant.resting
    high, low = np.zeros(at.size), np.zeros(at.size)
    if rest.joint[e] >= 0:
        k = int(at.joint[rest.joint[e]])
        if k >= 0:
            high[at.w.start + k], low[at.w.start + k] = rest.slope[e, :, 0]
    else:
        r = int(rest.motor[e])
        k = int(at.motor[r])
        if k >= 0:
            for row, (positive, negative) in zip((high, low), rest.slope[e], strict=True):
                row[at.w.start + k] = 0.5 * (positive + negative)
                row[at.m.start + r] = 0.5 * (positive - negative)
    return high, low, rest.level[e]


def start(plant: ArmAtState, torque: Array, at: UnknownColumns) -> Array:
    """Where to begin: at rest, every gear driving with about its motor's torque.

    Odd factors keep the way off the edges where two planes meet.
    """
    x = np.zeros(at.size)
    m = len(torque)
    odd = 1.0 + 0.1 * np.sqrt(np.arange(1, m + 1))
    forward, backward = plant.toward.T
    way = np.where(forward == backward, np.where(torque < 0.0, -1.0, 1.0), forward - backward)
    way = np.sign(way)
    scale = np.abs(torque) + 1e-3 * np.abs(torque).max(initial=0.0)
    x[at.m] = way * odd * np.where(scale > 0.0, scale, 1e-3)
    pressed, loaded = at.joint >= 0, at.motor >= 0
    x[at.w.start + at.joint[pressed]] = np.abs(plant.free[pressed])
    x[at.w.start + at.motor[loaded]] = np.abs(x[at.m][loaded])
    return x


def lossless(pieces: Pieces, at: UnknownColumns) -> Array:
    """Where to begin if every way leads to the solution: as if no load did anything.

    Elements at rest give what would hold them, and every load is that of this motion.
    """
    L, c, _, P, o = pieces
    x, free = np.zeros(at.size), np.ones(at.size, dtype=bool)
    free[at.w] = False
    try:
        x[free] = np.linalg.solve(L[free][:, free], -c[free])
    except np.linalg.LinAlgError:
        return x
    loads = at.w.stop - at.w.start
    x[at.w] = np.abs(P[:loads] @ x + o[:loads])
    return x
