"""Mass and centre of mass of a load, over a window of a motion.

A load on a link adds its columns of the regressor to the arm's, so that an observer that does
not know of it finds the external force

    d = -Y_link(q, v, a) (m, m c, J),    J = m (c'c 1 - c c')

The load's own turning inertia is left out, J is that of a point. Least squares in m and m c with
exponential forgetting, so that the window slides; J from the load found, again and again.

What the load does not explain is no white noise: the observer's delay, wrong friction and the
acceleration's error go with the motion and last. So the uncertainty comes from sums over blocks
b of a fifth of the window, longer than such errors: with residuals e and scores s_b = sum Y' W e,

    covariance = (Y' W Y)^-1 f,    f = tr((Y' W Y)^-1 sum s_b s_b') / 4  B / (B - 4)

B effective number of blocks. f is mean square residual times effective number of instants for
which one error lasts. Source: W. K. Newey, K. D. West, Econometrica 55, 1987, with blocks.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.dynamics.columns import columns_of
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.border import above_zero, each, one_state

PARTS = 5  # blocks in a window
BLOCKS = 4 * PARTS  # after four windows a block weighs 2 % and is dropped
COLUMNS = 11  # m, m c, J as xx xy xz yy yz zz, and d
ROUNDS = 10  # for J
LEAST = 1e-6  # of the largest eigenvalue: what is below is not seen


class PayloadState(NamedTuple):
    """Sums over the window in blocks of time, the present one first, a value.

    Attributes:
        sums: (Y, d)' W (Y, d) of each block (BLOCKS, COLUMNS, COLUMNS).
        weights: Number of forces in each block, faded (BLOCKS,).
        age: Of the present block [s].
        friction: Y' W times what friction at rest leaves open of each joint's force, summed over
            the window (4, n): one error of it acts as long as the arm stands.
    """

    sums: Array
    weights: Array
    age: float
    friction: Array


class Payload(NamedTuple):
    """A load found.

    Attributes:
        mass: m [kg]; NaN where the motion does not show it.
        com: Centre of mass in the link's frame (3,) [m]; NaN where the mass is not above twice
            its own uncertainty, or the motion does not show all four numbers.
        covariance: Of m and m c (4, 4), with what the load does not explain as long as it
            lasts; infinite where they are not seen or the window is too short to tell.
        rms: Of the forces that the load does not explain, in their standard deviations.
        seen: Whether the window's motion shows all four numbers.
    """

    mass: float
    com: Array
    covariance: Array
    rms: float
    seen: bool

    @property
    def mass_deviation(self) -> float:
        """Standard deviation of the mass [kg]."""
        return float(np.sqrt(self.covariance[0, 0]))

    @property
    def com_deviation(self) -> Array:
        """Standard deviation of the centre of mass (3,) [m]; NaN where that is."""
        if np.isnan(self.com).any():
            return np.full(3, np.nan)
        slope = np.column_stack([-self.com, np.eye(3)]) / self.mass
        return np.asarray(np.sqrt(np.diag(slope @ self.covariance @ slope.T)))


def payload_start() -> PayloadState:
    """State of an empty window."""
    blocks = np.zeros((BLOCKS, COLUMNS, COLUMNS))
    return PayloadState(blocks, np.zeros(BLOCKS), 0.0, np.zeros((4, 1)))


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
        friction: What friction at rest leaves open of that force, standard deviation (n,) or one
            [N m or N], as of ``KalmanState.friction_deviations``: no residual shows it.
    """
    dt, window = above_zero("dt", dt, "a time [s]"), above_zero("window", window, "a time [s]")
    n = model.n
    force = one_state("external", external, n)
    weight = 1.0 / each("deviation", deviation, n, "a standard deviation")
    q, v, a = one_state("q", q, n), one_state("v", v, n), one_state("a", a, n)
    rows = np.column_stack([-load_columns(model, link, q, v, a), force]) * weight[:, None]
    hidden = each("friction", friction, n, "a standard deviation", zero=True)
    fade, age, block = exp(-dt / window), state.age + dt, window / PARTS
    sums, weights = fade * state.sums, fade * state.weights
    if age > block * (1.0 + 1e-9):  # blocks that a longer gap leaves out stay out
        sums, weights, age = np.roll(sums, 1, axis=0), np.roll(weights, 1), min(dt, block)
        sums[0], weights[0] = 0.0, 0.0
    sums[0] += rows.T @ rows
    weights[0] += n
    open_ = fade * state.friction + rows[:, :4].T * (weight * hidden)
    return PayloadState(sums, weights, age, open_)


def load_columns(model: GearedModel, link: str, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Columns (n, 10) of m, m c and J about the link's origin, of a load in the link's frame."""
    frame = model.frames.get(link) if isinstance(link, str) else None
    if frame is None or frame.wheel >= 0 or frame.body < 0:
        names = [k for k, f in model.frames.items() if f.wheel < 0 <= f.body]
        raise UnknownNameError("link", "movable link", link, names)
    first = columns_of(model).bodies[frame.body]
    Y = regressor(model, q, v, a)[:, first : first + 10]
    # c of the link lies at p = R c + o of the body: m, m p and the tensor about its origin.
    R, o = frame.rotation, frame.position
    mass = np.concatenate([[1.0], o, point_tensor(o, o)])
    columns = [mass] + [
        np.concatenate([[0.0], R[:, i], 2.0 * point_tensor(o, R[:, i])]) for i in range(3)
    ]
    for i, j in zip(*np.triu_indices(3), strict=True):
        part = np.outer(R[:, i], R[:, j])
        whole = part if i == j else part + part.T
        columns.append(np.concatenate([np.zeros(4), whole[np.triu_indices(3)]]))
    return np.asarray(Y @ np.array(columns).T)


def point_tensor(a: Array, b: Array) -> Array:
    """Symmetric part of (a.b) 1 - a b' as xx xy xz yy yz zz."""
    both = float(a @ b) * np.eye(3) - 0.5 * (np.outer(a, b) + np.outer(b, a))
    return np.asarray(both[np.triu_indices(3)])


def payload_estimate(state: PayloadState) -> Payload:
    """The load of a window.

    Args:
        state: Sums over the window.
    """
    whole, weight = state.sums.sum(axis=0), float(state.weights.sum())
    information = whole[:4, :4]
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
    values, axes = np.linalg.eigh(information / np.outer(scale, scale))
    shown = values > LEAST * max(values[-1], np.finfo(float).tiny)
    some = axes[:, shown] / scale[:, None]
    inverse = (some / values[shown]) @ some.T
    told = np.sum(axes[:, shown] ** 2, axis=1) > 1.0 - LEAST
    seen = bool(told.all())
    found = np.append(inverse @ whole[:4, 10], np.zeros(6))
    covariance = spread(state, inverse, found, told)
    if seen and found[0] > 2.0 * np.sqrt(covariance[0, 0]):
        found = with_inertia(whole, inverse, found)
        covariance = spread(state, inverse, found, told)
    known = seen and bool(found[0] > 2.0 * np.sqrt(covariance[0, 0]))
    left = whole[10, 10] - 2.0 * found @ whole[:10, 10] + found @ whole[:10, :10] @ found
    return Payload(
        mass=float(found[0]) if told[0] else float("nan"),
        com=found[1:4] / found[0] if known else np.full(3, np.nan),
        covariance=covariance,
        rms=float(np.sqrt(max(left, 0.0) / weight)) if weight else float("nan"),
        seen=seen,
    )


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


def spread(state: PayloadState, inverse: Array, found: Array, told: BoolArray) -> Array:
    """Covariance (4, 4) of the module's text; infinite for what is not told (4,)."""
    scores = state.sums[:, :4, 10] - state.sums[:, :4, :10] @ found
    number = state.weights.sum() ** 2 / max(np.sum(state.weights**2), np.finfo(float).tiny)
    enough = number > 4.0
    factor = np.einsum("bi,ij,bj->", scores, inverse, scores) / 4.0
    covariance = inverse * (factor * number / (number - 4.0) if enough else 0.0)
    open_ = inverse @ state.friction
    covariance = covariance + open_ @ open_.T
    unknown = ~told if enough else np.full(4, True)
    covariance[unknown], covariance[:, unknown] = 0.0, 0.0
    covariance[unknown, unknown] = np.inf
    return np.asarray(covariance)
