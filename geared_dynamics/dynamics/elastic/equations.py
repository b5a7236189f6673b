r"""Dynamics of the arm with elastic joints, x = (q, theta).

    [ M_link(q)  S(q) ] [q'']                   [g]   [A_q    ]         [ te]
    [ S(q)'       B   ] [theta''] + Coriolis +  [0] = [A_theta] tau_m + [-te]

Complete: rotors on any link, skew, coupled; motors' torque at their shafts, frictionless.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.dynamics import rigid
from geared_dynamics.dynamics.arguments import (
    as_input,
    by_own_code,
    call,
    common_lead,
    convert_and_call,
    deliver,
    finite_input,
    refuse_overflow,
)
from geared_dynamics.dynamics.drives import checked, refuse_infinite
from geared_dynamics.dynamics.elimination_plan import elimination_plan
from geared_dynamics.dynamics.frames import external_forces, with_wrenches
from geared_dynamics.dynamics.packing import packed, sealed
from geared_dynamics.dynamics.state import State, takes_state
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import elastic_layout as at
from geared_dynamics.model import GearedModel

# -- The springs of elastic and passive joints: their torque, their energy, their packed form -----


def packed_springs(model: GearedModel) -> Array:
    """Return the packed springs, made at first use and kept on the model."""
    forms = model._forms
    if forms.springs is None:
        forms.springs = sealed(pack_springs(model))
    return forms.springs


def pack_springs(model: GearedModel) -> Array:
    """Lay springs and motors out for the kernels."""
    elastic = model.elasticity
    count = len(elastic.stiffness)
    rows, columns = np.nonzero(elastic.stretch)
    entries = np.column_stack([columns, elastic.stretch[rows, columns]])
    blocks = np.zeros((count, at.SPRING_SIZE))
    blocks[:, : at.STRETCH] = np.column_stack(
        [elastic.stiffness, elastic.damping, elastic.rest, elastic.gap]
    )
    start = at.HEADER_SIZE + blocks.size
    ends = start + at.STRETCH_SIZE * np.cumsum([0, *np.bincount(rows, minlength=count)])
    blocks[:, at.STRETCH], blocks[:, at.STRETCH_END] = ends[:-1], ends[1:]
    A = structure_matrix(model)
    d, motor = np.nonzero(A)
    structure = np.column_stack([d, motor, A[d, motor]])
    header = np.zeros(at.HEADER_SIZE)
    header[at.JOINTS], header[at.SHAFTS] = model.n, elastic.count
    header[at.MOTORS] = len(model.motor_names)
    header[at.SPRINGS], header[at.SPRINGS_END] = at.HEADER_SIZE, start
    header[at.STRUCTURE], header[at.STRUCTURE_END] = ends[-1], ends[-1] + structure.size
    return readonly(np.concatenate([header, blocks.ravel(), entries.ravel(), structure.ravel()]))


def structure_matrix(model: GearedModel) -> Array:
    """[A_q; A_theta] (n + n_e, m): force of the motors on x = A tau_m.

    The motors' rows of Gamma_q and Gamma_theta, transposed; it needs no particular posture.

    Args:
        model: Geared model.
    """
    return model.elastic_motor_map.A


@takes_state
def joint_torque(model: GearedModel, state: State) -> Array:
    """Torque of the springs on the links: te = K (theta - q) + D (vtheta - v).

    Its opposite acts on the motor side. With backlash, only what exceeds the play counts.
    For a spring inside a drive it is the torque that the spring takes from its first wheel.

    Args:
        model: Geared model.
        state: State with its motor side, arrays (..., n) and (..., n_e).

    Returns:
        Torque by the spring of each theta (..., n_e) [N m or N].
    """
    tension = tensions(model, state)
    return checked("inputs", tension, tension.shape[-1], own_stretch(model))


def spring_matrix(model: GearedModel, constants: Array) -> Array:
    """P' diag(c) P (n + n_e, n + n_e): of stiffness or damping c (s,) of the springs, on x."""
    stretch = model.elasticity.stretch
    return np.asarray(stretch.T @ (constants[:, None] * stretch))


def own_stretch(model: GearedModel) -> Array:
    """P of each theta and the springs before it alone (s, n_e)."""
    elastic = model.elasticity
    joints, drives = len(elastic.joint), elastic.count - len(elastic.joint)
    own = elastic.stretch[:, model.n :].copy()
    own[len(own) - drives :, :joints] = 0.0
    own[len(own) - drives :, joints:] = np.eye(drives)
    return own


@takes_state
def spring_forces(model: GearedModel, state: State) -> Array:
    """Force of all springs on x = (q, theta), passive joints' included (..., n + n_e).

    Args:
        model: Geared model.
        state: State with its motor side.
    """
    tension = tensions(model, state)
    return checked("inputs", tension, tension.shape[-1], -model.elasticity.stretch)


def tensions(model: GearedModel, state: State) -> Array:
    """K z + D z' of each spring (..., s)."""
    inputs, count = state_inputs(model, state), len(model.elasticity.stiffness)
    constants = (packed_springs(model),)
    return call("spring_tensions", model.with_springs(), inputs, (count,), constants=constants)


def state_inputs(model: GearedModel, state: State) -> dict[str, tuple[ArrayLike, int]]:
    """A state's arrays by name in the order of the kernels, with their widths."""
    q, v, theta, vtheta, _ = state
    n, shafts = model.n, model.elasticity.count
    return {
        "q": (q, n),
        "theta": (motor_side("theta", theta), shafts),
        "v": (v, n),
        "vtheta": (motor_side("vtheta", vtheta), shafts),
    }


@takes_state
def spring_energy(model: GearedModel, state: State) -> Array:
    """Energy stored in the springs: sum of K z^2 / 2, shape (...) [J].

    Args:
        model: Geared model.
        state: State with its motor side; the velocities are not read.
    """
    elastic = model.elasticity
    model.with_springs()  # refuses an arm without springs
    (x,) = joined(model, q=(state.q, state.theta))
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = np.maximum(np.abs(x @ elastic.stretch.T - elastic.rest) - elastic.gap, 0.0)
        energy = np.asarray(0.5 * beyond**2 @ elastic.stiffness)
    refuse_infinite("q and theta", x, energy)
    return energy


# -- Dynamics of the arm with elastic joints, x = (q, theta) --------------------------------------


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
        Melhem 2001, eq. (8)-(17): H = J' M J.
    """
    arm = model.with_springs()
    return call("mass_matrix", arm, {"q": (padded(model, q), arm.n)}, (arm.n, arm.n), out)


@takes_state
def coriolis_matrix(model: GearedModel, state: State, *, out: Array | None = None) -> Array:
    """Coriolis matrix C (..., n + n_e, n + n_e) in Christoffel form: H_dot - 2 C is skew.

    Args:
        model: Geared model.
        state: State; theta is not read.
        out: Result array, returned.
    """
    arm = model.with_springs()
    return call("coriolis_matrix", arm, moving_inputs(model, state), (arm.n, arm.n), out)


@takes_state
def bias_forces(model: GearedModel, state: State, *, out: Array | None = None) -> Array:
    """Force on x at zero acceleration, without the springs: C x' + (g, 0) (..., n + n_e).

    Args:
        model: Geared model.
        state: State; theta is not read.
        out: Result array, returned.
    """
    arm = model.with_springs()
    inputs = moving_inputs(model, state) | {"a": (np.zeros(arm.n), arm.n)}
    return call("inverse_dynamics", arm, inputs, (arm.n,), out)


def moving_inputs(model: GearedModel, state: State) -> dict[str, tuple[ArrayLike, int]]:
    """Inputs x and its velocity of what does not depend on theta: zero stands for theta."""
    arm = model.with_springs()
    (rate,) = joined(model, v=(state.v, state.vtheta))
    return {"q": (padded(model, state.q), arm.n), "v": (rate, arm.n)}


@takes_state
def inverse_dynamics(
    model: GearedModel,
    state: State,
    a: ArrayLike,
    atheta: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> tuple[Array, Array]:
    """Forces for a motion of both sides of the springs, beyond what the springs give.

    tau = M_link a + S atheta + Coriolis + g - te - sum J' f_ext: what else must act on the
    joints; of a joint that only its spring moves, zero if the motion is possible.
    tau_theta = S' a + B atheta + Coriolis + te: what the motors must give, A_theta tau_m.

    Args:
        model: Geared model.
        state: State with its motor side, arrays (..., n) and (..., n_e).
        a: Joint acceleration (..., n).
        atheta: Acceleration of theta (..., n_e).
        f_ext: Force and moment on each body (..., nb, 6), in the body's frame, at its origin.
        out: Result array (..., n + n_e) of both, returned as two views.

    Returns:
        tau (..., n) and tau_theta (..., n_e) [N m or N], joint side, without friction.
    """
    arm, (q, v, theta, vtheta, _) = model.with_springs(), state
    if model.joined_code and f_ext is None:
        inputs = state_inputs(model, state)
        inputs |= {"a": (a, model.n), "atheta": (atheta, model.elasticity.count)}
        found = by_own_code(model, "elastic.inverse_dynamics", inputs)
        if found is not None:
            result = deliver(found, out, {name: part for name, (part, _) in inputs.items()})
            return result[..., : model.n], result[..., model.n :]
    x, rate, change = joined(model, q=(q, theta), v=(v, vtheta), a=(a, atheta))
    inputs = {"q": (x, arm.n), "v": (rate, arm.n), "a": (change, arm.n)}
    force = call("inverse_dynamics", arm, inputs, (arm.n,))
    springs = spring_forces(model, state)
    given = {name: part for name, (part, _) in state_inputs(model, state).items()}
    given |= {"a": a, "atheta": atheta}
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


@takes_state
def forward_dynamics(
    model: GearedModel,
    state: State,
    tau_m: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    out: Array | None = None,
) -> tuple[Array, Array]:
    """Acceleration of both sides of the springs under the motors' torque.

    Args:
        model: Geared model.
        state: State with its motor side, arrays (..., n) and (..., n_e).
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
    q, v, theta, vtheta, _ = state
    if f_ext is not None:
        given_tau = np.zeros(n) if tau is None else as_input("tau", tau, n)
        tau = with_wrenches(model, q, v, given_tau, f_ext, None)
    arm = model.with_springs()
    if model.joined_code and q.ndim > 1:  # of one state the kernel is faster
        given = state_inputs(model, state)
        given |= {"tau_m": (tau_m, motors), "tau": (np.zeros(n) if tau is None else tau, n)}
        found = by_own_code(model, "elastic.forward_dynamics", given)
        if found is not None:
            found = deliver(found, out, {name: part for name, (part, _) in given.items()})
            return found[..., :n], found[..., n:]
    plan = elimination_plan(arm)
    springs = packed_springs(model)
    try:
        beside = np.zeros(q.shape) if tau is None else tau
        result = np.empty((*q.shape[:-1], n + shafts)) if out is None else out
        inputs = q, theta, v, vtheta, tau_m, beside
        if kernels.elastic_forward_dynamics(packed(arm), springs, plan, *inputs, result) == 0:
            return result[..., :n], result[..., n:]
    except kernels.NOT_TAKEN:
        pass  # not plain float64 arrays: convert them below
    named = state_inputs(model, state)
    named |= {"tau_m": (tau_m, motors), "tau": (np.zeros(n) if tau is None else tau, n)}
    constants = springs, plan
    result = convert_and_call("elastic_forward_dynamics", arm, named, (arm.n,), out, constants)
    return result[..., :n], result[..., n:]


# -- Energies of the arm with elastic joints ------------------------------------------------------


@takes_state
def kinetic_energy(model: GearedModel, state: State) -> Array:
    """Kinetic energy T = x'^T H(q) x' / 2 with x = (q, theta), shape (...) [J].

    Args:
        model: Geared model.
        state: State; theta is not read.
    """
    inputs = moving_inputs(model, state)
    return rigid.kinetic_energy(model.with_springs(), inputs["q"][0], inputs["v"][0])


@takes_state
def potential_energy(model: GearedModel, state: State) -> Array:
    """Potential energy of gravity and of the springs, shape (...) [J].

    Zero with all mass at the root frame's origin and the springs relaxed.

    Args:
        model: Geared model.
        state: State with its motor side; the velocities are not read.
    """
    return rigid.potential_energy(model, state.q) + spring_energy(model, state)


# -- Arrays of q and theta joined to those of x ---------------------------------------------------


def with_springs(model: GearedModel) -> GearedModel:
    """``model.with_springs()``, the arm as a rigid one of coordinates x = (q, theta)."""
    return model.with_springs()


def joined(model: GearedModel, **pairs: tuple[ArrayLike, ArrayLike | None]) -> list[Array]:
    """Join what is given for q and for theta to arrays (..., n + n_e), broadcast.

    Args:
        model: Geared model.
        pairs: By the name of q's part, the parts of q (..., n) and of theta (..., n_e).
    """
    shafts, names = model.elasticity.count, {"q": "theta"}
    arrays = {}
    for name, (link, shaft) in pairs.items():
        other = names.get(name, f"{name}theta")
        arrays[name] = finite_input(name, link, model.n)
        arrays[other] = finite_input(other, motor_side(other, shaft), shafts)
    lead = common_lead(arrays)
    parts = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in arrays.values()]
    return [np.concatenate(two, axis=-1) for two in zip(parts[::2], parts[1::2], strict=True)]


def motor_side(name: str, value: ArrayLike | None) -> ArrayLike:
    """A state's part on the motor side of the springs; an error where it is missing."""
    if value is None:
        remedy = "give gd.State(q, v, theta, vtheta); theta = model.elasticity.rigid @ q at rest"
        raise ArrayError(f"state.{name}", "is None, and this arm has elastic joints", remedy)
    return value


def padded(model: GearedModel, q: ArrayLike) -> Array:
    """Join q (..., n) with zeros, for what does not depend on theta."""
    array = finite_input("q", q, model.n)
    return np.concatenate([array, np.zeros((*array.shape[:-1], model.elasticity.count))], axis=-1)
