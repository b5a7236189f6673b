"""The springs of elastic and passive joints: their torque, their energy, their packed form."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.dynamics.border import call
from geared_dynamics.dynamics.elastic.extended import extended, joined
from geared_dynamics.dynamics.packing import keep_on
from geared_dynamics.dynamics.transmission import checked, refuse_infinite
from geared_dynamics.kernels import elastic_layout as at
from geared_dynamics.model import GearedModel


def packed_springs(model: GearedModel) -> Array:
    """Return the packed springs, made at first use and kept on the model."""
    if model.springs is None:
        keep_on(model, "springs", pack_springs(model))
    return model.springs  # type: ignore[return-value]


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
    elastic = model.elasticity
    return np.hstack([elastic.link_spin, elastic.shaft_spin])[model.motor_wheel].T.copy()


def joint_torque(
    model: GearedModel, q: ArrayLike, theta: ArrayLike, v: ArrayLike, vtheta: ArrayLike
) -> Array:
    """Torque of the springs on the links: te = K (theta - q) + D (vtheta - v).

    Its opposite acts on the shaft behind. With backlash, only what exceeds the play counts.
    For a spring inside a drive it is the torque that the spring takes from its first shaft.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        theta: Position of the shafts behind the springs (..., n_e), joint side.
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts (..., n_e), joint side.

    Returns:
        Torque by the spring before each theta (..., n_e) [N m or N].
    """
    tension = tensions(model, q, theta, v, vtheta)
    return checked("inputs", tension, tension.shape[-1], own_stretch(model))


def own_stretch(model: GearedModel) -> Array:
    """P of each theta and the springs before it alone (s, n_e)."""
    elastic = model.elasticity
    joints, drives = len(elastic.joint), elastic.count - len(elastic.joint)
    own = elastic.stretch[:, model.n :].copy()
    own[len(own) - drives :, :joints] = 0.0
    own[len(own) - drives :, joints:] = np.eye(drives)
    return own


def spring_forces(
    model: GearedModel, q: ArrayLike, theta: ArrayLike, v: ArrayLike, vtheta: ArrayLike
) -> Array:
    """Force of all springs on x = (q, theta), passive joints' included (..., n + n_e).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        theta: Position of the shafts behind the springs (..., n_e), joint side.
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts (..., n_e), joint side.
    """
    tension = tensions(model, q, theta, v, vtheta)
    return checked("inputs", tension, tension.shape[-1], -model.elasticity.stretch)


def tensions(
    model: GearedModel, q: ArrayLike, theta: ArrayLike, v: ArrayLike, vtheta: ArrayLike
) -> Array:
    """K z + D z' of each spring (..., s)."""
    n, shafts, count = model.n, model.elasticity.count, len(model.elasticity.stiffness)
    inputs = {"q": (q, n), "theta": (theta, shafts), "v": (v, n), "vtheta": (vtheta, shafts)}
    constants = (packed_springs(model),)
    return call("spring_tensions", extended(model), inputs, (count,), constants=constants)


def spring_energy(model: GearedModel, q: ArrayLike, theta: ArrayLike) -> Array:
    """Energy stored in the springs: sum of K z^2 / 2, shape (...) [J].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        theta: Position of the shafts behind the springs (..., n_e), joint side.
    """
    elastic = model.elasticity
    extended(model)  # refuses an arm without springs
    (x,) = joined(model, q=(q, theta))
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = np.maximum(np.abs(x @ elastic.stretch.T - elastic.rest) - elastic.gap, 0.0)
        energy = np.asarray(0.5 * beyond**2 @ elastic.stiffness)
    refuse_infinite("q and theta", x, energy)
    return energy
