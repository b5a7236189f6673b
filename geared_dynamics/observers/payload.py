"""Mass and centre of mass of a load, over a window of a motion.

A load on a link adds its columns of the regressor to the arm's, so that an observer that does
not know of it finds the external force

    d = -Y_link(q, v, a) (m, m c)

The load's own turning inertia is left out: beside m c^2 it shows little. Least squares with
exponential forgetting, so that the window slides.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import finite_input
from geared_dynamics.dynamics.columns import columns_of
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.errors import ArrayError, UnknownNameError
from geared_dynamics.model import GearedModel


class PayloadState(NamedTuple):
    """Sums over the window, a value.

    Attributes:
        information: Y' W Y (4, 4).
        moment: Y' W d (4,).
        square: d' W d.
        weight: Number of forces in the window.
    """

    information: Array
    moment: Array
    square: float
    weight: float


class Payload(NamedTuple):
    """A load found.

    Attributes:
        mass: m [kg].
        com: Centre of mass in the link's frame (3,) [m]; NaN where the mass is not above its
            own uncertainty.
        covariance: Of m and m c (4, 4).
        rms: Of the forces that the load does not explain, in their standard deviations.
        seen: Whether the window's motion shows all four numbers.
    """

    mass: float
    com: Array
    covariance: Array
    rms: float
    seen: bool


def payload_start() -> PayloadState:
    """State of an empty window."""
    return PayloadState(np.zeros((4, 4)), np.zeros(4), 0.0, 0.0)


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
        window: Time in which an instant's weight falls to 1/e [s].
        deviation: Standard deviation of the external force (n,) or one [N m or N].
    """
    if not (0.0 < dt < np.inf and 0.0 < window < np.inf):
        raise ArrayError("dt", f"is {dt}, the window {window}", "give times above zero [s]")
    force = finite_input("external", external, model.n)
    weight = 1.0 / np.broadcast_to(np.asarray(deviation, np.float64), model.n)
    if not np.all(np.isfinite(weight) & (weight > 0.0)):
        raise ArrayError("deviation", "is not above zero", "give a standard deviation")
    Y = -load_columns(model, link, q, v, a) * weight[:, None]
    d, fade = force * weight, exp(-dt / window)
    return PayloadState(
        fade * state.information + Y.T @ Y,
        fade * state.moment + Y.T @ d,
        fade * state.square + float(d @ d),
        fade * state.weight + model.n,
    )


def load_columns(model: GearedModel, link: str, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Columns (n, 4) of m and m c, of a mass on a link, in the link's frame."""
    frame = model.frames.get(link)
    if frame is None or frame.wheel >= 0 or frame.body < 0:
        names = [k for k, f in model.frames.items() if f.wheel < 0 <= f.body]
        raise UnknownNameError("link", "movable link", link, names)
    first = columns_of(model).bodies[frame.body]
    Y = regressor(model, q, v, a)[:, first : first + 10]
    # A mass m at c of the link lies at p = R c + o of the body: m, m p and the tensor of a
    # point; the tensor's part is linear in m and m c only about the frame's own origin.
    R, o = frame.rotation, frame.position
    mass = np.concatenate([[1.0], o, point_tensor(o, o) / 1.0])
    columns = [mass] + [
        np.concatenate([[0.0], R[:, i], 2.0 * point_tensor(o, R[:, i])]) for i in range(3)
    ]
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
    scale = np.sqrt(np.maximum(np.diag(state.information), np.finfo(float).tiny))
    normal = state.information / np.outer(scale, scale)
    values = np.linalg.eigvalsh(normal) if state.weight else np.zeros(4)
    seen = bool(values[0] > 1e-6)
    inverse = np.linalg.pinv(normal, rcond=1e-6, hermitian=True) / np.outer(scale, scale)
    found = inverse @ state.moment
    left = max(state.square - float(found @ state.moment), 0.0)
    known = bool(found[0] > 2.0 * np.sqrt(max(inverse[0, 0], 0.0)) and found[0] > 0.0)
    com = found[1:] / found[0] if known else np.full(3, np.nan)
    rms = float(np.sqrt(left / state.weight)) if state.weight else float("nan")
    return Payload(float(found[0]), com, inverse, rms, seen)
