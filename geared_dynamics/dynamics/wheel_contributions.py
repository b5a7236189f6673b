"""What each wheel alone adds to M and to the forces (Chen 1998, eq. 13-21).

Locked to its carrier the wheel is part of the virtual link. With its spin s = g.v
(g its row of Gamma) and its carrier's rate about the axis, z.v, the kinetic energy
J (s^2 / 2 + s z.v) of the relative motion adds

    M_{j/i} = J (g g' + g z' + z g')
    C_{j/i,r}[h,k] = J/2 (g_r (D_hk + D_kh) + g_h (D_rk - D_kr) + g_k (D_rh - D_hr))

with D_dk = dz_d/dq_k, Christoffel's symbols of M_{j/i}. Where the wheel only follows
joints beyond its carrier these are eq. 18-20, most of whose terms vanish; a wheel
carried after its joint, or a mimic joint, has all of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import as_input, common_lead, coordinates
from geared_dynamics.dynamics.frames import jacobian, jacobian_drift, pose
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel

Kinds = NDArray[np.str_]

POSTURES = 8  # at which entries are compared; trigonometric polynomials differ at random ones
# Largest share of an entry's terms that counts as rounding: far above that of a chain of
# rotations (1e-14), and above that of angles written with ten digits.
ROUNDING = 1e-9


class WheelContribution(NamedTuple):
    """What one wheel adds; ``r``, ``h``, ``k`` are coordinates as in ``joint_names``.

    Attributes:
        locked_mass: Share of M of the wheel locked to its carrier (..., n, n).
        locked_force: Share of the joint force of the same, with gravity (..., n).
        relative_mass: M_{j/i}, share of the motion relative to the carrier (..., n, n).
        relative_force: gamma_{j/i}, its share of the joint force (..., n).
        coriolis: C_{j/i,r} (..., n, n, n): on r acts v' coriolis[r] v; symmetric.
        mass_kind: Of each entry of ``relative_mass`` (n, n): ``zero``, ``constant`` or
            ``posture`` (depends on the posture).
        coriolis_kind: Of each entry of ``coriolis`` (n, n, n).
        inner_joints: Coordinates that move the carrier.
        outer_joints: The others.
    """

    locked_mass: Array
    locked_force: Array
    relative_mass: Array
    relative_force: Array
    coriolis: Array
    mass_kind: Kinds
    coriolis_kind: Kinds
    inner_joints: tuple[str, ...]
    outer_joints: tuple[str, ...]


def wheel_contributions(
    model: GearedModel, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> dict[str, WheelContribution]:
    """What each wheel adds to the mass matrix and to the joint force, and why.

    The relative parts of all wheels are what the model adds to its locked links,
    M - M_locked, under the model's coupling. The locked part of a wheel that is
    included in its link is already in that link.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).

    Returns:
        The contribution of each wheel, by its name, in the model's order.

    References:
        Chen 1998, eq. (13)-(21); centrifugal terms, which it excludes, occur where
        a wheel follows a joint before its carrier.
    """
    n = coordinates(model)
    arrays = {name: as_input(name, value, n) for name, value in (("q", q), ("v", v), ("a", a))}
    lead = common_lead(arrays)
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            raise ArrayError(name, "contains NaN or infinity", "give finite numbers")
    position, rate, change = (np.broadcast_to(x, (*lead, n)) for x in arrays.values())
    return {
        name: contribution(model, r, position, rate, change)
        for r, name in enumerate(model.wheel_names)
    }


def contribution(model: GearedModel, r: int, q: Array, v: Array, a: Array) -> WheelContribution:
    """Contribution of wheel r; q, v, a (..., n)."""
    locked_mass, locked_force = locked(model, r, q, v, a)
    mass, coriolis = relative(model, r, q)
    force = apply(mass, a) + np.einsum("...rhk,...h,...k->...r", coriolis, v, v)
    mass_kind, coriolis_kind = kinds(model, r)
    moving = {int(model.tree.dof[b]) for b in path(model, r)}
    inner = tuple(name for d, name in enumerate(model.joint_names) if d in moving)
    outer = tuple(name for d, name in enumerate(model.joint_names) if d not in moving)
    return WheelContribution(
        locked_mass,
        locked_force,
        mass,
        force,
        coriolis,
        mass_kind,
        coriolis_kind,
        inner,
        outer,
    )


def path(model: GearedModel, r: int) -> list[int]:
    """Bodies from the root to the carrier of wheel r."""
    bodies = []
    body = int(model.wheels.carrier[r])
    while body >= 0:
        bodies.append(body)
        body = int(model.tree.parent[body])
    return bodies[::-1]


def locked(model: GearedModel, r: int, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """Mass (..., n, n) and force (..., n) of wheel r as a part of its carrier."""
    carrier, wheels = int(model.wheels.carrier[r]), model.wheels
    if carrier < 0:
        return np.zeros((*q.shape, model.n)), np.zeros(q.shape)
    link, spot = model.body_names[carrier], model.wheel_names[r]
    axis = apply(pose(model, q, link)[..., :3, :3], wheels.axis[r])
    along = axis[..., :, None] * axis[..., None, :]
    transverse = wheels.transverse[r]
    tensor = transverse * np.eye(3) + (wheels.inertia[r] - transverse) * along
    linear = jacobian(model, q, spot)[..., :3, :]
    angular = jacobian(model, q, link)[..., 3:, :]
    momentum = tensor @ angular
    mass = wheels.mass[r] * swapped(linear) @ linear + swapped(angular) @ momentum
    omega = apply(angular, v)
    fall = jacobian_drift(model, q, v, spot)[..., :3] - model.gravity
    turn = apply(tensor, jacobian_drift(model, q, v, link)[..., 3:])
    turn = turn + np.cross(omega, apply(momentum, v))
    force = apply(swapped(linear), wheels.mass[r] * fall) + apply(swapped(angular), turn)
    return mass, apply(mass, a) + force


def relative(model: GearedModel, r: int, q: Array) -> tuple[Array, Array]:
    """M_{j/i} (..., n, n) and C_{j/i,r} (..., n, n, n) of wheel r (module docstring)."""
    shape = (*q.shape, model.n)
    inertia, g = float(model.J[r]), model.Gamma[r]
    if model.coupling == "none":
        return np.zeros(shape), np.zeros((*shape, model.n))
    if model.coupling == "diagonal":
        return np.zeros(shape) + np.diag(inertia * g**2), np.zeros((*shape, model.n))
    z, slope = carrier_turn(model, r, q)
    mixed = g[:, None] * z[..., None, :]
    mass = inertia * (np.outer(g, g) + (mixed + swapped(mixed)))  # symmetric to the last digit
    twist = g[:, None] * (slope - swapped(slope))[..., :, None, :]  # [r, h, k]: g_h (D_rk - D_kr)
    bend = g[:, None, None] * (slope + swapped(slope))[..., None, :, :]
    return mass, 0.5 * inertia * (bend + (twist + swapped(twist)))


def carrier_turn(model: GearedModel, r: int, q: Array) -> tuple[Array, Array]:
    """The carrier's rate about the axis of wheel r: z (..., n) and D (..., n, n).

    A joint k turns the axis of wheel and of every joint before k alike, so that only
    joints k beyond joint j change e.z_j, by e.(z_j x z_k).
    """
    tree = model.tree
    z, slope = np.zeros(q.shape), np.zeros((*q.shape, model.n))
    turning = [b for b in path(model, r) if not tree.prismatic[b]]
    if not turning:
        return z, slope
    rotations = [pose(model, q, tree.names[b])[..., :3, :3] for b in path(model, r)]
    e = apply(rotations[-1], model.wheels.axis[r])
    axes = {
        b: tree.multiplier[b] * apply(rotation, tree.axis[b])
        for b, rotation in zip(path(model, r), rotations, strict=True)
    }
    for i, j in enumerate(turning):
        z[..., tree.dof[j]] += np.sum(e * axes[j], axis=-1)
        for k in turning[i + 1 :]:
            change = np.sum(e * np.cross(axes[j], axes[k]), axis=-1)
            slope[..., tree.dof[j], tree.dof[k]] += change
    return z, slope


def kinds(model: GearedModel, r: int) -> tuple[Kinds, Kinds]:
    """Kind of each entry of M_{j/i} (n, n) and C_{j/i,r} (n, n, n), from random postures."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSTURES, model.n))
    mass, coriolis = relative(model, r, q)
    g, reach = np.abs(model.Gamma[r]), np.zeros(model.n)  # |g_d|, and the largest |z_d|
    for b in path(model, r):
        reach[model.tree.dof[b]] += abs(model.tree.multiplier[b]) * (not model.tree.prismatic[b])
    pairs = np.outer(g, reach)
    triples = np.einsum("r,h,k->rhk", g, reach, reach)
    bound = triples + triples.transpose(1, 0, 2) + triples.transpose(1, 2, 0)
    inertia = float(model.J[r])
    return (
        kind(mass, inertia * (np.outer(g, g) + pairs + pairs.T)),
        kind(coriolis, inertia * bound),
    )


def kind(values: Array, size: Array) -> Kinds:
    """Kind of each entry over the postures (first dimension); ``size`` bounds its terms."""
    small = np.abs(values).max(axis=0) <= ROUNDING * size
    still = np.ptp(values, axis=0) <= ROUNDING * size
    return np.where(small, "zero", np.where(still, "constant", "posture"))


def apply(matrix: Array, vector: Array) -> Array:
    """Matrix (..., i, k) times vector (..., k)."""
    return np.asarray(np.einsum("...ik,...k->...i", matrix, vector))


def swapped(matrix: Array) -> Array:
    """Transpose of the last two dimensions."""
    return np.swapaxes(matrix, -1, -2)
