"""The properties P1 to P3 of the redundant Jacobian (Melhem 2001), as numbers of an arm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.dynamics.arguments import finite_input
from geared_dynamics.dynamics.cartesian.coordinates import (
    Bodies,
    CoordinateIndex,
    bodies_of,
    jacobians,
    places,
)
from geared_dynamics.dynamics.cartesian.equations import refuse_overflow
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel, Tree

# -- The constant left inverse of the redundant Jacobian (Melhem 2001, fact 3) --------------------


# Sine of the angle between two axes that is rounding of the file's rotations.
PARALLEL = 1e-12


def left_inverse(model: GearedModel, *, rigid: bool = False) -> Array:
    """Constant L (k, N) with L J(x) = 1 for all x: the rates of the coordinates from nu.

    A revolute joint's rate is e . omega_b - e . omega_p, each in its own body's frame, where
    e is constant. A prismatic joint's is u . p'_b - u . p'_p with u constant in the root
    frame. A shaft's follows from the wheels' spins, theta' = Gamma_theta^+ (nu_3 - Gamma_q q').

    Args:
        model: Geared model, complete; without elastic joints k = n.
        rigid: Whether the joints count as rigid where there are springs.

    Raises:
        ModelError: if a revolute joint turns the axis of a prismatic one.

    References:
        Melhem 2001, fact 3 (J_1^+ of the links, J_3^+ of the rotors) and remark 4.
    """
    bodies, at = bodies_of(model), places(model)
    L = np.array([joint_row(model, d, at) for d in range(model.n)])
    if rigid or not model.elasticity.stiffness.size:
        return readonly(L)
    return readonly(np.vstack([L, shaft_rows(model.with_springs(), bodies, at, L)]))


def joint_row(model: GearedModel, d: int, at: CoordinateIndex) -> Array:
    """Row of L (N,) of coordinate d, from the first body whose joint shows it."""
    tree = model.tree
    turned = ""
    for b in np.flatnonzero((tree.dof == d) & (tree.multiplier != 0.0)):
        parent, row = int(tree.parent[b]), np.zeros(at.size)
        if not tree.prismatic[b]:
            start, before, own = at.link_rate, tree.rotation[b] @ tree.axis[b], tree.axis[b]
        else:
            own, turning = fixed_direction(model, int(b))
            if turning >= 0:
                turned = turned or f"{tree.joints[turning]!r} turns it"
                continue
            start, before = at.link_velocity, own
        row[start + 3 * b : start + 3 * b + 3] = own
        if parent >= 0:
            row[start + 3 * parent : start + 3 * parent + 3] = -before
        return np.asarray(row / tree.multiplier[b])
    name = model.joint_names[d]
    finding = f"the axis of prismatic joint {name!r} has no fixed direction: joint {turned}"
    remedy = (
        "use the Moore-Penrose inverse of dynamics(...).jacobian, which exists at each position"
    )
    raise ModelError("left_inverse: model", finding, remedy)


def fixed_direction(model: GearedModel, body: int) -> tuple[Array, int]:
    """Direction of a sliding body's axis in the root frame, and the body that turns it, or -1."""
    tree = model.tree
    chain = [body]
    while tree.parent[chain[-1]] >= 0:
        chain.append(int(tree.parent[chain[-1]]))
    rotation, axes = np.eye(3), []
    for b in reversed(chain):
        rotation = rotation @ tree.rotation[b]
        if not tree.prismatic[b]:
            axes.append((b, rotation @ tree.axis[b]))
    own = rotation @ tree.axis[body]
    turning = [b for b, axis in axes if np.linalg.norm(np.cross(axis, own)) > PARALLEL]
    return own, turning[-1] if turning else -1


def shaft_rows(arm: GearedModel, bodies: Bodies, at: CoordinateIndex, L: Array) -> Array:
    """Rows of L (n_e, N) of the shafts: Gamma_theta^+ (nu_3 - Gamma_q L)."""
    n = len(L)
    spin = arm.wheels.spin[bodies.wheels]
    picked = np.zeros((len(spin), at.size))
    picked[np.arange(len(spin)), at.spin + 3 * np.arange(len(spin)) + 2] = 1.0
    inverse = np.linalg.pinv(spin[:, n:])
    return np.asarray(inverse @ (picked - spin[:, :n] @ L))


# -- Bounds of the redundant Jacobian that hold at every posture, from lengths alone --------------


def bounds(arm: GearedModel, bodies: Bodies) -> tuple[float, float]:
    """Upper bounds of |J| and of |dJ/dt| per |x'|, Frobenius norm, at every posture.

    Each three rows of J have columns of bounded length, whose derivatives by each coordinate
    are bounded as well:

        |J|^2 <= sum of |column|^2,   |J_dot|^2 <= |x'|^2 sum of |d column / d x_i|^2.

    Infinite where a revolute joint turns a sliding one, whose travel has no end.

    Args:
        arm: The arm whose coordinates are x.
        bodies: Its bodies.
    """
    first, second = 0.0, 0.0
    for lengths, slopes in blocks(arm, bodies):
        first += float(lengths @ lengths)
        second += float(np.sum(slopes**2))
    return float(np.sqrt(first)), float(np.sqrt(second))


def blocks(arm: GearedModel, bodies: Bodies) -> Iterator[tuple[Array, Array]]:
    """Bounds of each three rows of J: of the columns (k,), of their slopes (k, k)."""
    tree, wheels, k = arm.tree, arm.wheels, arm.n
    for b, com in enumerate(bodies.com):
        yield point_bounds(tree, k, b, com)
        yield angular_bounds(tree, k, b)
    for r in bodies.wheels:
        carrier, spin = int(wheels.carrier[r]), np.abs(wheels.spin[r])
        yield point_bounds(tree, k, carrier, wheels.position[r])
        lengths, slopes = angular_bounds(tree, k, carrier)
        yield lengths, slopes + np.outer(lengths, spin)  # the frame turns with the wheel
        yield spin, np.zeros((k, k))


def chain(tree: Tree, body: int) -> list[int]:
    """The body and those that carry it, outermost first; those with a multiplier of 0 too."""
    found = []
    while body >= 0:
        found.append(body)
        body = int(tree.parent[body])
    return found


def point_bounds(tree: Tree, k: int, body: int, place: Array) -> tuple[Array, Array]:
    """Of a point's velocity: |z x r| <= |r|, |z_i x (z_j x r)| <= |r|, of the outer joint's r."""
    lengths, slopes = np.zeros(k), np.zeros((k, k))
    reach, moving = float(np.linalg.norm(place)), []
    for b in chain(tree, body):
        ratio, d = abs(float(tree.multiplier[b])), int(tree.dof[b])
        if ratio > 0.0:
            moved = ratio * (1.0 if tree.prismatic[b] else reach)
            lengths[d] += moved
            moving.append((d, moved))
            if not tree.prismatic[b]:  # it turns what is further out, itself included
                for outer, length in moving[:-1]:
                    slopes[outer, d] += ratio * length
                    slopes[d, outer] += ratio * length
                slopes[d, d] += ratio * moved
        travel = np.inf if tree.prismatic[b] and ratio > 0.0 else 0.0
        reach += float(np.linalg.norm(tree.position[b])) + travel
        reach += abs(float(tree.offset[b])) if tree.prismatic[b] else 0.0
    return lengths, slopes


def angular_bounds(tree: Tree, k: int, body: int) -> tuple[Array, Array]:
    """Of an angular velocity in the body's frame: an axis changes with joints further out."""
    lengths, slopes = np.zeros(k), np.zeros((k, k))
    for b in chain(tree, body):
        if not tree.prismatic[b]:
            ratio, d = abs(float(tree.multiplier[b])), int(tree.dof[b])
            slopes[d] += ratio * lengths
            lengths[d] += ratio
    return lengths, slopes


# -- The properties P1 to P3 of the redundant Jacobian (Melhem 2001), as numbers of an arm --------


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
        inverse_lipschitz_bound: Eq. (17): bound of dJ^+/dt, sqrt 2 |J^+|^2 |J_dot|.
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
        Melhem 2001, P1 to P3, eq. (15)-(17).
    """
    postures = finite_input("q", q, model.n).reshape(-1, model.n)
    if not len(postures):
        raise ArrayError("q", "contains no position", "give at least one, of shape (n,)")
    bodies, elastic = bodies_of(model), bool(model.elasticity.stiffness.size)
    arm = model.with_springs() if elastic and not rigid else model
    whole, links, slopes = zip(
        *(spectra(arm, bodies, part) for part in chunks(postures, model.n)), strict=True
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


def spectra(arm: GearedModel, bodies: Bodies, q: Array) -> tuple[Array, Array, Array]:
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
