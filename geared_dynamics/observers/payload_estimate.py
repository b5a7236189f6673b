"""Mass and centre of mass of a load, over a window of a motion.

A load on a link adds its columns of the regressor to the arm's, so that an observer that does
not know of it finds the external force

    d = -Y_link(q, v, a) (m, m c, J),    J = m (c'c 1 - c c')

The load's own turning inertia is left out, J is that of a point. Least squares in m and m c with
exponential forgetting, so that the window slides; J from the load found, again and again.

What the load does not explain is no white noise: the observer's delay, wrong friction and the
acceleration's error go with the motion and last. So the uncertainty comes from sums over blocks
b of a fifth of the window, longer than such errors: with residuals e and scores s_b = sum Y' W e,

    covariance = (Y' W Y)^-1 f,    f = tr((Y' W Y)^-1 sum s_b s_b') / r  B / (B - r)

B effective number of blocks, r of directions determined. f is mean square residual times effective
number of instants for which one error lasts. Source: W. K. Newey, K. D. West, Econometrica 55,
1987, with blocks.

Which of the four numbers a motion determines is a property of Y alone, not of the number of
samples: an arm whose axes are parallel has no column for the centre along them, prismatic axes
have none for the centre, and a standstill gives one equation for each joint. Eigenvectors of
Y' W Y, with m and m c in units of their largest columns, are determined where their eigenvalue is
above 1e-5 of the largest (0.3 % of the force), and above ten times what noise of the accelerations
makes of it.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.checks import warn_former
from geared_dynamics.dynamics.arguments import above_zero, each, one_state
from geared_dynamics.dynamics.packing import columns_of
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model import GearedModel

PARTS = 5  # blocks in a window
BLOCKS = 4 * PARTS  # after four windows a block weighs 2 % and is dropped
COLUMNS = 11  # m, m c, J as xx xy xz yy yz zz, and d
ROUNDS = 10  # for J
LEAST = 1e-5  # of the largest eigenvalue: what is below is not determined
NOISY = 10.0  # times the accelerations' noise must be in what the motion shows, squared
REACH = 0.01  # Least lever of a load's centre and, inverse, largest: 1 cm, 100 m [m, 1/m]
UPPER = np.triu_indices(3)  # xx xy xz yy yz zz
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
SHAKING = "a standard deviation, 0 for none"
ASIDE = 1e-3  # So far a determined direction may lean to one that is not.


class PayloadState(NamedTuple):
    """Sums over the window in blocks of time, the present one first, a value.

    Attributes:
        sums: (Y, d)' W (Y, d) of each block (BLOCKS, COLUMNS, COLUMNS).
        weights: Number of forces in each block, faded (BLOCKS,).
        noise: Part of Y' W Y of m and m c that noise of the accelerations makes (4, 4).
        age: Of the present block [s].
        friction: Y' W times what friction at rest leaves open of each joint's force, summed over
            the window (4, n): one error of it acts as long as the arm stands.
    """

    sums: Array
    weights: Array
    noise: Array
    age: float
    friction: Array


class Payload(NamedTuple):
    """A load found.

    Attributes:
        mass: m [kg]; NaN where the motion does not determine it.
        com: Centre of mass in the link's frame (3,) [m]; NaN for components that are not
            ``determined``, and all NaN where the mass is not above twice its own uncertainty.
        covariance: Of m and m c (4, 4), with what the load does not explain as long as it
            lasts; infinite where they are not determined or the window is too short to tell.
        rms: Of the forces that the load does not explain, in their standard deviations.
        identifiable: Whether the window's motion determines all four numbers.
        determined: Along which axes of the link's frame it determines the centre of mass (3,):
            two on an arm in a plane.
        directions: Orthonormal directions in the link's frame along which it does (r, 3): those
            axes first, then what lies between the others, as the horizontal at a standstill.
        along: Centre of mass along the directions (r,) [m]; NaN where the mass is not above twice
            its own uncertainty.
        along_deviation: Their standard deviations (r,) [m]; NaN where those are.
    """

    mass: float
    com: Array
    covariance: Array
    rms: float
    identifiable: bool
    determined: BoolArray
    directions: Array
    along: Array
    along_deviation: Array

    @property
    def seen(self) -> bool:
        """Former name of ``identifiable``."""
        warn_former("Payload.seen", "identifiable")
        return self.identifiable

    @property
    def mass_deviation(self) -> float:
        """Standard deviation of the mass [kg]."""
        return float(np.sqrt(self.covariance[0, 0]))

    @property
    def com_deviation(self) -> Array:
        """Standard deviation of the centre of mass (3,) [m]; NaN where that is."""
        numbers = np.flatnonzero(np.isfinite(self.com))
        found, which = np.full(3, np.nan), np.append(0, 1 + numbers)
        covariance = self.covariance[np.ix_(which, which)]
        found[numbers] = quotient_deviation(self.mass, self.com[numbers], covariance)
        return found


def quotient_deviation(mass: float, centre: Array, covariance: Array) -> Array:
    """Standard deviation of the centre (r,) [m] by the covariance of m and m c (1 + r, 1 + r)."""
    slope = np.column_stack([-centre, np.eye(len(centre))]) / mass
    return np.asarray(np.sqrt(np.diag(slope @ covariance @ slope.T)))


def payload_start() -> PayloadState:
    """State of an empty window."""
    sums = np.zeros((BLOCKS, COLUMNS, COLUMNS))
    return PayloadState(sums, np.zeros(BLOCKS), np.zeros((4, 4)), 0.0, np.zeros((4, 1)))


def payload_step(
    model: GearedModel,
    state: PayloadState,
    link: str,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external: ArrayLike,
    dt: float,
    *,
    window: float = 2.0,
    deviation: ArrayLike = 1.0,
    acceleration_deviation: ArrayLike = 0.1,
    friction: ArrayLike = 0.0,
) -> PayloadState:
    """Sums with one more instant.

    Args:
        model: Geared model, without the load.
        state: Before.
        link: The link that holds the load.
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        a: Joint acceleration (n,); zero will do where it is small beside gravity.
        external: External force on the joints that an observer found (n,) [N m or N].
        dt: Since the instant before [s].
        window: Time in which an instant's weight falls to 1/e [s]. The uncertainty is right
            where errors last less than a fifth of it: two periods of the motion and more.
        deviation: Standard deviation of the external force (n,) or one [N m or N]; only how
            the joints compare counts. With an observer's own an instant at rest counts little.
        acceleration_deviation: Standard deviation of the noise in ``a`` (n,) or one
            [rad/s^2 or m/s^2]; 0 where it is exact. An arm at rest whose accelerations are noise
            seems to move: what it shows so is not taken for determined.
        friction: What friction at rest leaves open of that force, standard deviation (n,) or one
            [N m or N], as of ``KalmanState.friction_deviations``: no residual shows it.
    """
    dt, window = above_zero("dt", dt, "a time [s]"), above_zero("window", window, "a time [s]")
    n = model.n
    force = one_state("external", external, n)
    weight = 1.0 / each("deviation", deviation, n, "a standard deviation")
    q, v, a = one_state("q", q, n), one_state("v", v, n), one_state("a", a, n)
    shaking = each("acceleration_deviation", acceleration_deviation, n, SHAKING, zero=True)
    # the motion, standstill, and standstill with each acceleration's noise
    speeds, changes = np.zeros((2, n + 2, n))
    speeds[0], changes[0], changes[2:] = v, a, np.diag(shaking)
    columns = load_columns(model, link, np.tile(q, (n + 2, 1)), speeds, changes)
    rows = np.column_stack([-columns[0], force]) * weight[:, None]
    moved = (columns[2:, :, :4] - columns[1, :, :4]) * weight[:, None]
    hidden = each("friction", friction, n, "a standard deviation", zero=True)
    fade, age, block = exp(-dt / window), state.age + dt, window / PARTS
    sums, weights = fade * state.sums, fade * state.weights
    if age > block * (1.0 + 1e-9):  # blocks that a longer gap leaves out stay out
        sums, weights, age = np.roll(sums, 1, axis=0), np.roll(weights, 1), min(dt, block)
        sums[0], weights[0] = 0.0, 0.0
    sums[0] += rows.T @ rows
    weights[0] += n
    moved = moved.reshape(-1, 4)
    noise = fade * state.noise + moved.T @ moved
    open_ = fade * state.friction + rows[:, :4].T * (weight * hidden)
    return PayloadState(sums, weights, noise, age, open_)


def load_columns(model: GearedModel, link: str, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Columns (..., n, 10) of m, m c and J about the link's origin, of a load in its frame."""
    frame = model.frames.get(link) if isinstance(link, str) else None
    if frame is None or frame.wheel >= 0 or frame.body < 0:
        names = [k for k, f in model.frames.items() if f.wheel < 0 <= f.body]
        raise UnknownNameError("link", "movable link", link, names)
    first = columns_of(model).bodies[frame.body]
    Y = regressor(model, q, v, a)[..., first : first + 10]
    return np.asarray(Y @ load_map(frame.rotation, frame.position))


def load_map(R: Array, o: Array) -> Array:
    """Matrix (10, 10) from m, m c, J in a link's frame to those of its body, p = R c + o."""
    found = np.zeros((10, 10))
    found[0, 0], found[0, 1:4], found[0, 4:] = 1.0, o, point_tensor(o, o)
    found[1:4, 1:4] = R.T
    for i in range(3):
        found[1 + i, 4:] = 2.0 * point_tensor(o, R[:, i])
    for row, (i, j) in enumerate(PAIRS):
        part = np.outer(R[:, i], R[:, j])
        found[4 + row, 4:] = (part if i == j else part + part.T)[UPPER]
    return found.T


def point_tensor(a: Array, b: Array) -> Array:
    """Symmetric part of (a.b) 1 - a b' as xx xy xz yy yz zz."""
    both = float(a @ b) * np.eye(3) - 0.5 * (np.outer(a, b) + np.outer(b, a))
    return np.asarray(both[UPPER])


def payload_estimate(state: PayloadState) -> Payload:
    """The load of a window.

    Args:
        state: Sums over the window.
    """
    whole, weight = state.sums.sum(axis=0), float(state.weights.sum())
    basis, hidden = shown(whole[:4, :4], state.noise)
    inverse = basis @ np.linalg.inv(basis.T @ whole[:4, :4] @ basis) @ basis.T
    told = np.linalg.norm(hidden, axis=1) < ASIDE
    found = np.append(inverse @ whole[:4, 10], np.zeros(6))
    rank = basis.shape[1]
    covariance = spread(state, inverse, found, rank)
    if heavy(found, told, covariance):
        found = with_inertia(whole, inverse, found)
        covariance = spread(state, inverse, found, rank)
    known = heavy(found, told, covariance)
    left = whole[10, 10] - 2.0 * found @ whole[:10, 10] + found @ whole[:10, :10] @ found
    directions = between(hidden[1:], told[1:]) if told[0] else np.zeros((0, 3))
    centre = found[1:4] / found[0] if known else np.full(3, np.nan)
    turned = np.zeros((1 + len(directions), 4))
    turned[0, 0], turned[1:, 1:] = 1.0, directions
    along = directions @ centre
    return Payload(
        mass=float(found[0]) if told[0] else float("nan"),
        com=np.where(told[1:], centre, np.nan),
        covariance=hidden_infinite(covariance, told),
        rms=float(np.sqrt(max(left, 0.0) / weight)) if weight else float("nan"),
        identifiable=bool(told.all()),
        determined=told[1:] & told[0],
        directions=directions,
        along=along,
        along_deviation=quotient_deviation(found[0], along, turned @ covariance @ turned.T)
        if known
        else np.full(len(directions), np.nan),
    )


def shown(information: Array, noise: Array) -> tuple[Array, Array]:
    """Directions of m and m c (4, r) that Y' W Y determines, and orthonormal ones it does not.

    The latter (4, 4 - r) are directions in m and m c along which a load may change unseen.
    """
    size = np.sqrt(np.diag(information))
    mass, moment = float(size[0]), float(np.max(size[1:]))
    units = np.array([max(mass, REACH * moment), *3 * [max(moment, REACH * mass)]])
    units = np.maximum(units, np.sqrt(np.finfo(float).tiny))
    values, axes = np.linalg.eigh(information / np.outer(units, units))
    shaken = np.einsum("ik,ij,jk->k", axes, noise / np.outer(units, units), axes)
    enough = values > np.maximum(LEAST * max(values[-1], np.finfo(float).tiny), NOISY * shaken)
    hidden = np.linalg.qr(axes[:, ~enough] / units[:, None])[0]
    return axes[:, enough] / units[:, None], hidden


def between(hidden: Array, told: BoolArray) -> Array:
    """Orthonormal directions (r, 3) beside the hidden ones (3, k): the determined axes first."""
    left = np.eye(3)[told]
    everything = np.vstack([hidden.T, left])
    _, size, rows = np.linalg.svd(everything, full_matrices=True)
    rank = int(np.count_nonzero(size > ASIDE))
    return np.vstack([left, rows[rank:]])


def heavy(found: Array, told: BoolArray, covariance: Array) -> bool:
    """Whether the mass is determined and above twice its own uncertainty."""
    return bool(told[0] and found[0] > 2.0 * np.sqrt(covariance[0, 0]))


def with_inertia(whole: Array, inverse: Array, light: Array) -> Array:
    """Load (10,) whose J is that of a point, from the one without (10,); that if none is near."""
    found, before = light[:4], light[:4]
    for _ in range(ROUNDS):
        c = found[1:] / found[0]
        J = found[0] * point_tensor(c, c)
        before, found = found, inverse @ (whole[:4, 10] - whole[:4, 4:10] @ J)
        if not found[0] > 0.5 * light[0]:
            return light
    if np.abs(found - before).max() > 1e-3 * np.abs(found).max():
        return light
    c = found[1:] / found[0]
    return np.concatenate([found, found[0] * point_tensor(c, c)])


def spread(state: PayloadState, inverse: Array, found: Array, rank: int) -> Array:
    """Covariance (4, 4) of the module's text; infinite where the window is too short to tell."""
    scores = state.sums[:, :4, 10] - state.sums[:, :4, :10] @ found
    number = state.weights.sum() ** 2 / max(np.sum(state.weights**2), np.finfo(float).tiny)
    if not rank or number <= 4.0:
        return np.diag(np.full(4, np.inf))
    factor = np.einsum("bi,ij,bj->", scores, inverse, scores) / rank
    open_ = inverse @ state.friction
    return np.asarray(inverse * (factor * number / (number - rank)) + open_ @ open_.T)


def hidden_infinite(covariance: Array, told: BoolArray) -> Array:
    """The covariance (4, 4), infinite for what is not determined (4,)."""
    found = np.where(np.outer(told, told), covariance, 0.0)
    found[~told, ~told] = np.inf
    return found
