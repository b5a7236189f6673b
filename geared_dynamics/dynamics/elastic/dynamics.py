r"""Dynamics of the arm with elastic joints, x = (q, theta).

    [ M_link(q)  S(q) ] [q'']                   [g]   [A_q    ]         [ te]
    [ S(q)'       B   ] [theta''] + Coriolis +  [0] = [A_theta] tau_m + [-te]

Complete: rotors on any link, skew, coupled; motors' torque at their shafts, frictionless.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import (
    as_input,
    call,
    common_lead,
    convert_and_call,
    deliver,
    refuse_overflow,
)
from geared_dynamics.dynamics.elastic.extended import extended, joined, padded
from geared_dynamics.dynamics.elastic.springs import packed_springs, spring_forces
from geared_dynamics.dynamics.elimination import elimination_plan
from geared_dynamics.dynamics.external import external_forces, with_wrenches
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.model import GearedModel


def mass_matrix(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    r"""Mass matrix H(q) = [[M_link, S], [S', B]] of x = (q, theta).

    With Z the carriers' rates about the wheels' axes and all wheels locked in M_locked,
    M_link = M_locked + \Gamma_q'J\Gamma_q + \Gamma_q'JZ + Z'J\Gamma_q,
    S = (Z + \Gamma_q)'J\Gamma_\theta, B = \Gamma_\theta'J\Gamma_\theta.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., n + n_e, n + n_e), returned.

    References:
        Paper 002, eq. (8)-(17): H = J' M J.
    """
    arm = extended(model)
    return call("mass_matrix", arm, {"q": (padded(model, q), arm.n)}, (arm.n, arm.n), out)


def coriolis_matrix(
    model: GearedModel, q: ArrayLike, v: ArrayLike, vtheta: ArrayLike, *, out: Array | None = None
) -> Array:
    """Coriolis matrix C (..., n + n_e, n + n_e) in Christoffel form: H_dot - 2 C is skew.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts behind the springs (..., n_e), joint side.
        out: Result array, returned.
    """
    arm = extended(model)
    (rate,) = joined(model, v=(v, vtheta))
    inputs = {"q": (padded(model, q), arm.n), "v": (rate, arm.n)}
    return call("coriolis_matrix", arm, inputs, (arm.n, arm.n), out)


def bias_forces(
    model: GearedModel, q: ArrayLike, v: ArrayLike, vtheta: ArrayLike, *, out: Array | None = None
) -> Array:
    """Force on x at zero acceleration, without the springs: C x' + (g, 0) (..., n + n_e).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts behind the springs (..., n_e), joint side.
        out: Result array, returned.
    """
    arm = extended(model)
    (rate,) = joined(model, v=(v, vtheta))
    inputs = {
        "q": (padded(model, q), arm.n),
        "v": (rate, arm.n),
        "a": (np.zeros(arm.n), arm.n),
    }
    return call("inverse_dynamics", arm, inputs, (arm.n,), out)


def inverse_dynamics(
    model: GearedModel,
    q: ArrayLike,
    theta: ArrayLike,
    v: ArrayLike,
    vtheta: ArrayLike,
    a: ArrayLike,
    atheta: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> tuple[Array, Array]:
    """Forces for a motion of links and shafts, beyond what the springs give.

    tau = M_link a + S atheta + Coriolis + g - te - sum J' f_ext: what else must act on the
    joints; of a joint that only its spring moves, zero if the motion is possible.
    tau_theta = S' a + B atheta + Coriolis + te: what the motors must give, A_theta tau_m.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        theta: Position of the shafts behind the springs (..., n_e), joint side.
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts (..., n_e), joint side.
        a: Joint acceleration (..., n).
        atheta: Acceleration of the shafts (..., n_e), joint side.
        f_ext: Force and moment on each body (..., nb, 6), in the body's frame, at its origin.
        out: Result array (..., n + n_e) of both, returned as two views.

    Returns:
        tau (..., n) and tau_theta (..., n_e) [N m or N], joint side, without friction.
    """
    arm = extended(model)
    x, rate, change = joined(model, q=(q, theta), v=(v, vtheta), a=(a, atheta))
    inputs = {"q": (x, arm.n), "v": (rate, arm.n), "a": (change, arm.n)}
    force = call("inverse_dynamics", arm, inputs, (arm.n,))
    springs = spring_forces(model, q, theta, v, vtheta)
    given = {"q": q, "theta": theta, "v": v, "vtheta": vtheta, "a": a, "atheta": atheta}
    if f_ext is not None:
        given["f_ext"] = f_ext
        outside = external_forces(model, q, f_ext)
        still = np.zeros((*outside.shape[:-1], model.elasticity.count))
        common_lead({"motion": force, "f_ext": outside})
        with np.errstate(over="ignore", invalid="ignore"):
            springs = springs + np.concatenate([outside, still], axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        total = force - springs
    if not np.isfinite(total).all():
        refuse_overflow({name: np.asarray(value, float) for name, value in given.items()})
    result = deliver(total, out, given)
    return result[..., : model.n], result[..., model.n :]


def forward_dynamics(
    model: GearedModel,
    q: ArrayLike,
    theta: ArrayLike,
    v: ArrayLike,
    vtheta: ArrayLike,
    tau_m: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    out: Array | None = None,
) -> tuple[Array, Array]:
    """Acceleration of links and shafts under the motors' torque.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        theta: Position of the shafts behind the springs (..., n_e), joint side.
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts (..., n_e), joint side.
        tau_m: Torque at the motors' shafts (..., m) [N m], motor side.
        f_ext: Force and moment on each body (..., nb, 6), in the body's frame, at its origin.
        tau: What else acts on the joints (..., n) [N m or N], such as friction; zero if not
            given.
        out: Result array (..., n + n_e) of both, returned as two views.

    Returns:
        a (..., n) and atheta (..., n_e), joint side.

    Raises:
        ModelError: if the mass matrix is not positive definite.
    """
    n, shafts, motors = model.n, model.elasticity.count, len(model.motor_names)
    if f_ext is not None:
        given = np.zeros(n) if tau is None else as_input("tau", tau, n)
        tau = with_wrenches(model, q, v, given, f_ext, None)
    arm = extended(model)
    plan = elimination_plan(arm)
    springs = packed_springs(model)
    try:
        beside = np.zeros(q.shape) if tau is None else tau  # type: ignore[union-attr]
        result = np.empty((*q.shape[:-1], n + shafts)) if out is None else out  # type: ignore[union-attr]
        inputs = q, theta, v, vtheta, tau_m, beside
        if kernels.elastic_forward_dynamics(packed(arm), springs, plan, *inputs, result) == 0:
            return result[..., :n], result[..., n:]
    except kernels.NOT_TAKEN:
        pass  # not plain float64 arrays: convert them below
    named = {
        "q": (q, n),
        "theta": (theta, shafts),
        "v": (v, n),
        "vtheta": (vtheta, shafts),
        "tau_m": (tau_m, motors),
        "tau": (np.zeros(n) if tau is None else tau, n),
    }
    constants = springs, plan
    result = convert_and_call("elastic_forward_dynamics", arm, named, (arm.n,), out, constants)
    return result[..., :n], result[..., n:]
