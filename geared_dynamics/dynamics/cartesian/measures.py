"""The properties P1 to P3 of the redundant Jacobian (paper 002), as numbers of an arm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import finite_input
from geared_dynamics.dynamics.cartesian.bodies import Bodies, bodies_of, places
from geared_dynamics.dynamics.cartesian.bounds import bounds
from geared_dynamics.dynamics.cartesian.checks import refuse_overflow
from geared_dynamics.dynamics.cartesian.inverse import left_inverse
from geared_dynamics.dynamics.cartesian.jacobian import jacobians
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel

CHUNK = 32  # postures at a time; each takes k Jacobians of N x k


class Properties(NamedTuple):
    """P1 to P3, over the postures given and, where geometry tells, at every posture.

    Norms are spectral, |J_dot| per |x'| is Frobenius; both mix m and rad, as the paper's.
    None of them depends on the angles of the wheels' frames, hence none on theta.

    Attributes:
        redundant: Elements N of nu.
        coordinates: Coordinates k of x; J has N - k constraints.
        rank: P1a: least rank of J found; full is k.
        link_rank: P1a: least rank of J_1, which gives the links' and wheels' centres and the
            links' angular velocities from q'; full is n.
        shaft_rank: P1a: rank of J_3's part of theta', constant; full is n_e.
        least_norm: P1b: least norm of J found.
        largest_norm: P1b: largest norm of J found.
        link_inverse: P2: largest norm of J_1^+ found.
        shaft_inverse: P2: norm of J_3^+, constant; 0 without shafts.
        lipschitz: P3: largest |J_dot| per |x'| found, l_j.
        norm_bound: P1b: no posture has a larger norm of J; inf where travel is unbounded.
        inverse_bound: P2: no posture has a larger norm of J^+; that of the constant left
            inverse, inf where there is none. Then 1/this bounds |J| and its singular values
            from below.
        lipschitz_bound: P3: no posture has a larger |J_dot| per |x'|.
        inverse_lipschitz_bound: Eq. (17): likewise of dJ^+/dt, sqrt 2 |J^+|^2 |J_dot|.
    """

    redundant: int
    coordinates: int
    rank: int
    link_rank: int
    shaft_rank: int
    least_norm: float
    largest_norm: float
    link_inverse: float
    shaft_inverse: float
    lipschitz: float
    norm_bound: float
    inverse_bound: float
    lipschitz_bound: float
    inverse_lipschitz_bound: float


def properties(model: GearedModel, q: ArrayLike, *, rigid: bool = False) -> Properties:
    """Rank, norm and Lipschitz bounds of the redundant Jacobian.

    Args:
        model: Geared model, complete; without elastic joints it is the rigid form.
        q: Postures to look at (..., n) [rad or m]; what is found is a bound from inside.
        rigid: Whether the joints count as rigid where there are springs.

    References:
        Paper 002, P1 to P3, eq. (15)-(17).
    """
    postures = finite_input("q", q, model.n).reshape(-1, model.n)
    if not len(postures):
        raise ArrayError("q", "holds no posture", "give at least one (n,)")
    bodies, elastic = bodies_of(model), bool(model.elasticity.stiffness.size)
    arm = extended(model) if elastic and not rigid else model
    whole, links, slopes = zip(
        *(found(arm, bodies, part) for part in chunks(postures, model.n)), strict=True
    )
    J, J1, slope = (np.concatenate(parts) for parts in (whole, links, slopes))
    refuse_overflow({"q": postures}, J, J1, slope)
    shafts = singular_values(arm.wheels.spin[:, model.n :])
    norm_bound, lipschitz_bound = bounds(arm, bodies)
    inverse = inverse_bound(model, rigid)
    return Properties(
        redundant=places(arm).size,
        coordinates=arm.n,
        rank=least_rank(J, places(arm).size),
        link_rank=least_rank(J1, places(arm).carrier_rate),
        shaft_rank=least_rank(shafts, len(arm.wheels.names)),
        least_norm=float(J[:, 0].min()),
        largest_norm=float(J[:, 0].max()),
        link_inverse=reciprocal(J1[:, -1].min()),
        shaft_inverse=reciprocal(shafts[-1]) if shafts.size else 0.0,
        lipschitz=float(slope.max()),
        norm_bound=norm_bound,
        inverse_bound=inverse,
        lipschitz_bound=lipschitz_bound,
        inverse_lipschitz_bound=float(np.sqrt(2.0) * inverse**2 * lipschitz_bound),
    )


def chunks(postures: Array, n: int) -> list[Array]:
    """The postures (K, n) in parts that fit the memory."""
    return [postures[i : i + CHUNK] for i in range(0, len(postures), CHUNK)]


def found(arm: GearedModel, bodies: Bodies, q: Array) -> tuple[Array, Array, Array]:
    """Singular values of J (K, k), of J_1 (K, n), and the sharp Lipschitz constant (K,).

    J_dot is linear in x': stacked by the k unit rates, its largest singular value is the
    largest Frobenius norm of J_dot over |x'| = 1.
    """
    n, k = q.shape[-1], arm.n
    x = np.zeros((len(q), 1, k))
    x[:, 0, :n] = q
    rate = np.broadcast_to(np.eye(k), (len(q), k, k))
    spin = arm.wheels.spin[bodies.wheels]
    with np.errstate(over="ignore", invalid="ignore"):
        still = np.zeros((len(q), 1, len(spin)))
        J, slope = jacobians(
            arm, bodies, np.broadcast_to(x, rate.shape), rate, still, rate @ spin.T
        )
        J, flat = J[:, 0], slope.reshape(len(q), k, -1)
    if not (np.all(np.isfinite(J)) and np.all(np.isfinite(flat))):
        nothing = np.full((len(q), n), np.nan)
        return np.full((len(q), k), np.nan), nothing, nothing[:, 0]
    links = J[:, : places(arm).carrier_rate, :n]
    return singular_values(J), singular_values(links), singular_values(flat)[:, 0]


def singular_values(matrix: Array) -> Array:
    """Singular values (..., k), largest first."""
    return np.asarray(np.linalg.svd(matrix, compute_uv=False), np.float64)


def least_rank(values: Array, rows: int) -> int:
    """Least rank over matrices with these singular values (..., k), largest first."""
    if not values.size:
        return 0
    floor = values[..., :1] * max(rows, values.shape[-1]) * np.finfo(float).eps
    return int(np.min(np.sum(values > floor, axis=-1)))


def reciprocal(value: float) -> float:
    """1/value, infinite for 0."""
    return float(1.0 / value) if value > 0.0 else float("inf")


def inverse_bound(model: GearedModel, rigid: bool) -> float:
    """Norm of the constant left inverse: |J^+| <= |L|; infinite where there is none."""
    try:
        return float(np.linalg.norm(left_inverse(model, rigid=rigid), 2))
    except ModelError:
        return float("inf")
