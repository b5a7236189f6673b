"""M, C, g, inverse and forward dynamics, terms, energies, time derivatives."""

from typing import NamedTuple

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import (
    as_input,
    as_output,
    call,
    convert_and_call,
    coordinates,
    deliver,
    for_one_state,
    refuse,
)
from geared_dynamics.dynamics.elimination_plan import DENSE, elimination_plan
from geared_dynamics.dynamics.frames import loaded_inverse_dynamics, with_wrenches
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.door import KernelAnswer, door
from geared_dynamics.model import GearedModel

# -- Rigid dynamics of the geared arm: M(q) a + C(q, v) v + g(q) = tau ----------------------------
#
# tau is on the joint side [N m or N] and frictionless. The functions take one state
# (n,) or a batch (..., n). One state of plain arrays goes from the door straight to the kernel;
# the functions behind try the kernel too and convert only when it does not take the arguments.


def by_kernel(
    model: GearedModel, kernel: str, shape: tuple[int, ...] = (), zeros: int = 0
) -> KernelAnswer:
    """Let a kernel answer for a model; by default with a quantity of the joints."""
    function, n = getattr(kernels, kernel), model.n
    return KernelAnswer(function, (packed(model),), zeros, shape or (n,), n)


def by_plan(model: GearedModel) -> KernelAnswer:
    """Let the model's kernel of the forward dynamics answer."""
    n, plan = model.n, elimination_plan(model)
    if plan is DENSE:
        return by_kernel(model, "forward_dynamics")
    return KernelAnswer(kernels.eliminate, (packed(model), plan), 0, (n,), n)


@door("inverse_dynamics", 3, lambda model: by_kernel(model, "inverse_dynamics"))
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
        Sciavicco 1994, eq. (35)-(45), corrected.
    """
    if f_ext is None:
        try:
            if model.batch_code:
                refuse_batch(q)
            if (form := model._forms.packed) is None:
                form = packed(model)
            result = np.empty(q.shape) if out is None else out  # type: ignore[union-attr]
            if kernels.inverse_dynamics(form, q, v, a, result) == at.OK:
                return result
        except kernels.NOT_TAKEN:
            pass  # not plain float64 arrays of one shape: convert them below
        n = coordinates(model)
        inputs = {"q": (q, n), "v": (v, n), "a": (a, n)}
        return convert_and_call("inverse_dynamics", model, inputs, (n,), out)
    return loaded_inverse_dynamics(model, q, v, a, f_ext, out)


def refuse_batch(q: ArrayLike) -> None:
    """Leave a batch of a compiled model to ``arguments.run``, which may have code for batches.

    Raises:
        TypeError: if q is a batch. It is an error of ``kernels.NOT_TAKEN``, as a kernel's own for
            arrays that it does not take, and leads by ``convert_and_call`` to ``run``.
    """
    if q.ndim > 1:  # type: ignore[union-attr]
        raise TypeError


@door("forward_dynamics", 3, by_plan)
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
        if model.batch_code:
            refuse_batch(q)
        forms = model._forms
        plan = forms.plan if forms.plan is not None else elimination_plan(model)
        form = forms.packed if forms.packed is not None else packed(model)
        result = np.empty(q.shape) if out is None else out  # type: ignore[union-attr]
        if plan is DENSE:
            status = kernels.forward_dynamics(form, q, v, tau, result)
        else:
            status = kernels.eliminate(form, plan, q, v, tau, result)
        if status == at.OK:
            return result
    except kernels.NOT_TAKEN:
        pass  # as in inverse_dynamics
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n), "tau": (tau, n)}
    plan = elimination_plan(model)
    if plan is DENSE:
        return convert_and_call("forward_dynamics", model, inputs, (n,), out)
    return convert_and_call("eliminate", model, inputs, (n,), out, (plan,))


@door("mass_matrix", 1, lambda model: by_kernel(model, "mass_matrix", (model.n, model.n)))
def mass_matrix(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    r"""Mass matrix M(q) = M_locked(q) + \Gamma'J\Gamma + \Gamma'JZ(q) + Z(q)'J\Gamma.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., n, n), returned.

    Returns:
        Symmetric matrix (..., n, n) [kg m^2, kg m or kg].

    References:
        Sciavicco 1994, eq. (14); design of the wheels' terms in docs/derivation.md.
    """
    try:
        n = model.n
        result, flat = for_one_state(q, (n, n), out)
        if kernels.mass_matrix(packed(model), q, flat) == at.OK:
            return result
    except kernels.NOT_TAKEN:
        pass  # a batch, or not plain float64 arrays
    n = coordinates(model)
    return convert_and_call("mass_matrix", model, {"q": (q, n)}, (n, n), out)


@door("coriolis_matrix", 2, lambda model: by_kernel(model, "coriolis_matrix", (model.n, model.n)))
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
        Sciavicco 1994, eq. (17).
    """
    try:
        n = model.n
        result, flat = for_one_state(q, (n, n), out)
        if kernels.coriolis_matrix(packed(model), q, v, flat) == at.OK:
            return result
    except kernels.NOT_TAKEN:
        pass  # as in mass_matrix
    n = coordinates(model)
    return convert_and_call("coriolis_matrix", model, {"q": (q, n), "v": (v, n)}, (n, n), out)


@door("gravity_forces", 1, lambda model: by_kernel(model, "inverse_dynamics", zeros=2))
def gravity_forces(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Joint force that holds the arm still against gravity: g(q) (..., n) [N m or N].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., n), returned.
    """
    still = np.zeros(coordinates(model))
    return inverse_dynamics(model, q, still, still, out=out)


@door("bias_forces", 2, lambda model: by_kernel(model, "inverse_dynamics", zeros=1))
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


# -- The terms of the inverse dynamics apart, for whoever asks which of them matters --------------


TORQUE_TERMS = ("inertia", "coriolis", "gravity", "armature", "coupling")
MODELS = ("without rotors", "armature", "complete")
SUMS = len(TORQUE_TERMS) + len(MODELS)


@door("torque_terms", 3, lambda model: by_kernel(model, "torque_terms", (SUMS, model.n)))
def torque_terms(
    model: GearedModel, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None
) -> Array:
    r"""Terms of the joint force and its sums, in one recursion; without friction.

    Rows: M_locked a; C_locked v; g; diag(\Gamma'J\Gamma) a; what else the wheels' spin does;
    then the forces without rotors (the first three), with their armature (the first four),
    and complete (all five, ``inverse_dynamics``). ``model.coupling`` says which terms of the
    wheels there are.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).
        out: Result array (..., 8, n), returned.

    Returns:
        (..., 8, n) [N m or N], joint side: ``TORQUE_TERMS``, then ``MODELS``.
    """
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n), "a": (a, n)}
    return np.asarray(call("torque_terms", model, inputs, (SUMS, n), out))


# -- Kinetic and potential energy -----------------------------------------------------------------


class KineticEnergyTerms(NamedTuple):
    """The four shares of the kinetic energy (Sciavicco 1994, eq. 23), each (...) [J].

    Attributes:
        translation: Of the locked links' masses, 1/2 m v_C' v_C.
        rotation: Of the locked links about their centres, 1/2 w' I w.
        spin: Of the wheels relative to their carriers, 1/2 s' J s.
        interaction: Between a wheel's spin and its carrier's turn, s' J Z v.
    """

    translation: Array
    rotation: Array
    spin: Array
    interaction: Array


def kinetic_energy(
    model: GearedModel, q: ArrayLike, v: ArrayLike, *, out: Array | None = None
) -> Array:
    """Kinetic energy T = 1/2 v' M(q) v, shape (...) [J].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        out: Result array (...), returned; ``np.empty(())`` for one state.
    """
    return deliver(energies(model, q, v)[..., 5], out, {"q": q, "v": v})


def potential_energy(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Potential energy of the moving links and wheels, shape (...) [J].

    Zero with all mass at the root frame's origin; its gradient is g(q).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (...), returned; ``np.empty(())`` for one state.
    """
    still = np.zeros(coordinates(model))
    return deliver(energies(model, q, still)[..., 4], out, {"q": q})


def kinetic_energy_terms(
    model: GearedModel, q: ArrayLike, v: ArrayLike, *, out: Array | None = None
) -> KineticEnergyTerms:
    """Shares of the kinetic energy; they add up to ``kinetic_energy``.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        out: Array (..., 4) that holds the four shares afterwards; those returned look into it.
    """
    parts = deliver(energies(model, q, v)[..., :4], out, {"q": q, "v": v})
    return KineticEnergyTerms(*(parts[..., k] for k in range(4)))


def energies(model: GearedModel, q: ArrayLike, v: ArrayLike) -> Array:
    """Translation, rotation, spin, interaction; potential; all kinetic energy (..., 6) [J]."""
    n = coordinates(model)
    return call("energies", model, {"q": (q, n), "v": (v, n)}, (6,))


# -- The inverse dynamics and its exact time derivatives along a path -----------------------------


# Rows of q that a path may have: 170! is the last factorial below the largest float64.
FEWEST, MOST = 3, 171


def inverse_dynamics_time_derivatives(
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
        status = kernels.inverse_dynamics_time_derivatives(packed(model), flat, target)
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
