"""Rigid dynamics of the geared arm: M(q) a + C(q, v) v + g(q) = tau.

tau is on the joint side [N m or N] and frictionless. The functions take one state
(n,) or a batch (..., n). Those most often called in a loop try the kernel first
and convert only when it does not take the arguments as they are.
"""

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import as_input, as_output, call
from geared_dynamics.dynamics.elimination import elimination_plan
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel

# Above this many coordinates elimination, O(n), beats the factorised mass matrix
# (benchmarks/forward.py prints where the two cross).
DENSE_LIMIT = 12
# numba tells byte orders apart only at times, so the fast paths look themselves.
FLOAT = np.dtype(np.float64)


def inverse_dynamics(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> Array:
    r"""Joint force for a motion: tau = M(q) a + C(q, v) v + g(q) - sum J' f_ext.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).
        f_ext: Force [N] and moment [N m] on each body (..., nb, 6), in the body's
            frame, at its origin; bodies as in ``model.body_names``.
        out: Result array (..., n), returned.

    Returns:
        Generalised joint force (..., n) [N m or N], joint side, without friction.

    References:
        Paper 000, eq. (35)-(45), corrected.
    """
    if f_ext is None:
        try:
            result = np.empty(q.shape) if out is None else out  # type: ignore[union-attr]
            native = q.dtype is v.dtype is a.dtype is result.dtype is FLOAT  # type: ignore[union-attr]
            if native and kernels.inverse_dynamics(model.packed, q, v, a, result) == 0:
                return result
        except (TypeError, AttributeError):
            pass  # not plain float64 arrays of one shape: convert them below
    inputs = {"q": (q, model.n), "v": (v, model.n), "a": (a, model.n)}
    if f_ext is None:
        return call("inverse_dynamics", model, inputs, (model.n,), out)
    free = call("inverse_dynamics", model, inputs, (model.n,))
    return subtract(free, external_forces(model, q, f_ext), out)


def forward_dynamics(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> Array:
    r"""Joint acceleration: a = M(q)^{-1} (tau + sum J' f_ext - C(q, v) v - g(q)).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        tau: Generalised joint force (..., n) [N m or N], joint side.
        f_ext: Force and moment on each body (..., nb, 6), see ``inverse_dynamics``.
        out: Result array (..., n), returned.

    Returns:
        Joint acceleration (..., n).

    Raises:
        ModelError: if the mass matrix is not positive definite.
    """
    n = model.n
    if f_ext is not None:
        tau = as_input("tau", tau, n) + external_forces(model, q, f_ext)
    if n > DENSE_LIMIT:
        inputs = {"q": (q, n), "v": (v, n), "tau": (tau, n)}
        return call("eliminate", model, inputs, (n,), out, (elimination_plan(model),))
    try:
        result = np.empty(q.shape) if out is None else out  # type: ignore[union-attr]
        native = q.dtype is v.dtype is tau.dtype is result.dtype is FLOAT  # type: ignore[union-attr]
        if native and kernels.forward_dynamics(model.packed, q, v, tau, result) == 0:
            return result
    except (TypeError, AttributeError):
        pass  # as in inverse_dynamics
    inputs = {"q": (q, n), "v": (v, n), "tau": (tau, n)}
    return call("forward_dynamics", model, inputs, (n,), out)


def mass_matrix(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    r"""Mass matrix M(q) = M_locked(q) + \Gamma'J\Gamma + \Gamma'JZ(q) + Z(q)'J\Gamma.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., n, n), returned.

    Returns:
        Symmetric matrix (..., n, n) [kg m^2, kg m or kg].

    References:
        Paper 000, eq. (14); design of the wheels' terms in docs/derivation.md.
    """
    n = model.n
    if out is None:
        try:
            flat = np.empty(n * n)
            native = q.dtype is FLOAT  # type: ignore[union-attr]
            if native and kernels.mass_matrix(model.packed, q, flat) == 0:
                return flat.reshape(n, n)
        except (TypeError, AttributeError):
            pass  # a batch, or not a plain float64 array
    return call("mass_matrix", model, {"q": (q, n)}, (n, n), out)


def coriolis_matrix(
    model: GearedModel, q: ArrayLike, v: ArrayLike, *, out: Array | None = None
) -> Array:
    r"""Coriolis matrix C(q, v) in Christoffel form: M_dot - 2 C is skew.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        out: Result array (..., n, n), returned.

    Returns:
        Matrix (..., n, n), C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2.

    References:
        Paper 000, eq. (17).
    """
    n = model.n
    if out is None:
        try:
            flat = np.empty(n * n)
            native = q.dtype is v.dtype is FLOAT  # type: ignore[union-attr]
            if native and kernels.coriolis_matrix(model.packed, q, v, flat) == 0:
                return flat.reshape(n, n)
        except (TypeError, AttributeError):
            pass  # as in mass_matrix
    return call("coriolis_matrix", model, {"q": (q, n), "v": (v, n)}, (n, n), out)


def gravity_forces(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Joint force that holds the arm still against gravity: g(q) (..., n) [N m or N].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., n), returned.
    """
    still = np.zeros(model.n)
    return inverse_dynamics(model, q, still, still, out=out)


def bias_forces(
    model: GearedModel, q: ArrayLike, v: ArrayLike, *, out: Array | None = None
) -> Array:
    """Joint force at zero acceleration: C(q, v) v + g(q) (..., n) [N m or N].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        out: Result array (..., n), returned.
    """
    return inverse_dynamics(model, q, v, np.zeros(model.n), out=out)


def external_forces(model: GearedModel, q: ArrayLike, f_ext: ArrayLike) -> Array:
    """Joint force of wrenches on the bodies: sum of J' f (..., n) [N m or N].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        f_ext: Force and moment on each body (..., nb, 6), in the body's frame, at
            its origin.
    """
    bodies = len(model.body_names)
    wrenches = np.asarray(f_ext)
    if wrenches.ndim < 2 or wrenches.shape[-2:] != (bodies, 6):
        finding, remedy = f"has shape {wrenches.shape}", f"give shape (..., {bodies}, 6)"
        raise ArrayError("f_ext", finding, remedy)
    flat = wrenches.reshape(*wrenches.shape[:-2], 6 * bodies)
    inputs = {"q": (q, model.n), "f_ext": (flat, 6 * bodies)}
    return call("external_forces", model, inputs, (model.n,))


def subtract(free: Array, external: Array, out: Array | None) -> Array:
    """Return free - external, broadcast, in ``out`` where given."""
    try:
        shape = np.broadcast_shapes(free.shape, external.shape)
    except ValueError:
        finding = f"has {external.shape[:-1]} states, the motion {free.shape[:-1]}"
        raise ArrayError("f_ext", finding, "give them the same number, or one") from None
    return np.subtract(free, external, out=None if out is None else as_output(out, shape))
