"""Rigid dynamics of the geared arm: M(q) a + C(q, v) v + g(q) = tau.

tau is on the joint side [N m or N] and frictionless. The functions take one state
(n,) or a batch (..., n). Those most often called in a loop try the kernel first
and convert only when it does not take the arguments as they are.
"""

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import convert_and_call, coordinates, for_one_state
from geared_dynamics.dynamics.elimination import DENSE, elimination_plan
from geared_dynamics.dynamics.external import loaded_inverse_dynamics, with_wrenches
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.model import GearedModel


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
            form = model.packed if model.packed is not None else packed(model)
            result = np.empty(q.shape) if out is None else out  # type: ignore[union-attr]
            if kernels.inverse_dynamics(form, q, v, a, result) == 0:
                return result
        except kernels.NOT_TAKEN:
            pass  # not plain float64 arrays of one shape: convert them below
        n = coordinates(model)
        inputs = {"q": (q, n), "v": (v, n), "a": (a, n)}
        return convert_and_call("inverse_dynamics", model, inputs, (n,), out)
    return loaded_inverse_dynamics(model, q, v, a, f_ext, out)


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
    if f_ext is not None:
        tau = with_wrenches(model, q, v, tau, f_ext, out)
    try:
        plan = model.plan if model.plan is not None else elimination_plan(model)
        form = model.packed if model.packed is not None else packed(model)
        result = np.empty(q.shape) if out is None else out  # type: ignore[union-attr]
        if plan is DENSE:
            status = kernels.forward_dynamics(form, q, v, tau, result)
        else:
            status = kernels.eliminate(form, plan, q, v, tau, result)
        if status == 0:
            return result
    except kernels.NOT_TAKEN:
        pass  # as in inverse_dynamics
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n), "tau": (tau, n)}
    plan = elimination_plan(model)
    if plan is DENSE:
        return convert_and_call("forward_dynamics", model, inputs, (n,), out)
    return convert_and_call("eliminate", model, inputs, (n,), out, (plan,))


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
    try:
        n = model.n
        result, flat = for_one_state(q, (n, n), out)
        if kernels.mass_matrix(packed(model), q, flat) == 0:
            return result
    except kernels.NOT_TAKEN:
        pass  # a batch, or not plain float64 arrays
    n = coordinates(model)
    return convert_and_call("mass_matrix", model, {"q": (q, n)}, (n, n), out)


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
    try:
        n = model.n
        result, flat = for_one_state(q, (n, n), out)
        if kernels.coriolis_matrix(packed(model), q, v, flat) == 0:
            return result
    except kernels.NOT_TAKEN:
        pass  # as in mass_matrix
    n = coordinates(model)
    return convert_and_call("coriolis_matrix", model, {"q": (q, n), "v": (v, n)}, (n, n), out)


def gravity_forces(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Joint force that holds the arm still against gravity: g(q) (..., n) [N m or N].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., n), returned.
    """
    still = np.zeros(coordinates(model))
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
    return inverse_dynamics(model, q, v, np.zeros(coordinates(model)), out=out)
