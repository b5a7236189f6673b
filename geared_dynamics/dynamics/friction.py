"""Joint friction, which the rigid functions leave out."""

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import call, coordinates
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.model import GearedModel


def friction_forces(
    model: GearedModel,
    v: ArrayLike,
    q: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Joint friction as control needs it: smooth in the velocity.

    See ``FrictionRecord`` for the law; the sign of the rate is tanh(v / smoothing).

    Args:
        model: Geared model.
        v: Joint velocity (..., n).
        q: Joint position (..., n) [rad or m], read by friction that ripples with it; zero
            where not given.
        tau: Joint force (..., n) [N m or N] before friction, read by friction that grows
            with the load; zero where not given.
        out: Result array (..., n), returned.

    Returns:
        Force that opposes the motion (..., n) [N m or N], joint side: the sign
        convention is M a + C v + g + friction = tau.
    """
    n = coordinates(model)
    still = np.zeros(n)
    inputs = {
        "q": (still if q is None else q, n),
        "v": (v, n),
        "tau": (still if tau is None else tau, n),
    }
    return call("friction_forces", model, inputs, (n,), out, (packed_drives(model),))
