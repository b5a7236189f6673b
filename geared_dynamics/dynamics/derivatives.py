"""The inverse dynamics and its exact time derivatives along a path."""

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import as_input, as_output, coordinates, refuse
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel

# Rows of q that a path may have: 170! is the last factorial below the largest float64.
FEWEST, MOST = 3, 171


def inverse_dynamics_derivatives(
    model: GearedModel, derivatives: ArrayLike, *, out: Array | None = None
) -> Array:
    """Joint force along a path and its time derivatives, up to the (k-2)-th.

    Exact: no differences are taken, the recursion runs in truncated power series. The
    model is complete (wheels, gravity, coupling as chosen), without friction and balancers.

    Args:
        model: Geared model.
        derivatives: Joint position and its time derivatives (..., k+1, n), k >= 2: rows
            q, v, a, jerk and on [rad/s^i or m/s^i].
        out: Result array (..., k-1, n), returned.

    Returns:
        Rows tau, d tau/dt and on (..., k-1, n) [N m/s^i or N/s^i], joint side.

    References:
        Derivation in docs/derivation.md.
    """
    path = as_path(derivatives, coordinates(model))
    rows, n = path.shape[-2:]
    shape = (*path.shape[:-2], rows - 2, n)
    result = np.empty(shape) if out is None else as_output(out, shape)
    if not result.size:
        return result
    # A strided path is copied below, where the kernel could not see what it shared with out.
    apart = out is None or not np.may_share_memory(path, result)
    lead = () if path.ndim == 2 else (result.size // ((rows - 2) * n),)
    flat, target = path.reshape(*lead, rows * n), result.reshape(*lead, (rows - 2) * n)
    status = at.OVERLAP
    if apart:
        status = kernels.inverse_dynamics_derivatives(packed(model), flat, target)
    if status != at.OK:
        refuse(status, {"derivatives": path}, result)
    return result


def as_path(derivatives: ArrayLike, n: int) -> Array:
    """Convert q and its derivatives to float64 (..., k+1, n), k >= 2."""
    path = as_input("derivatives", derivatives, n)
    if path.ndim < 2 or path.shape[-2] < FEWEST:
        remedy = f"give shape (k+1, {n}), or (..., k+1, {n}) for a batch: q, v, a and on"
        raise ArrayError("derivatives", f"has shape {path.shape}", remedy)
    if path.shape[-2] > MOST:
        remedy = f"give at most {MOST} rows, or (..., k+1, {n}) with the states first"
        raise ArrayError("derivatives", f"has shape {path.shape}", remedy)
    return path
