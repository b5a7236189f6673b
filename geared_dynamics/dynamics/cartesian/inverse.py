"""The constant left inverse of the redundant Jacobian (paper 002, fact 3)."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.cartesian.bodies import Bodies, Places, bodies_of, places
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

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
        Paper 002, fact 3 (J_1^+ of the links, J_3^+ of the rotors) and remark 4.
    """
    bodies, at = bodies_of(model), places(model)
    L = np.array([joint_row(model, d, at) for d in range(model.n)])
    if rigid or not model.elasticity.stiffness.size:
        return readonly(L)
    return readonly(np.vstack([L, shaft_rows(extended(model), bodies, at, L)]))


def joint_row(model: GearedModel, d: int, at: Places) -> Array:
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
                turned = turned or f"{joint_of(model, turning)!r} turns it"
                continue
            start, before = at.link_velocity, own
        row[start + 3 * b : start + 3 * b + 3] = own
        if parent >= 0:
            row[start + 3 * parent : start + 3 * parent + 3] = -before
        return np.asarray(row / tree.multiplier[b])
    name = model.joint_names[d]
    finding = f"the axis of prismatic joint {name!r} has no fixed direction: joint {turned}"
    remedy = "the Moore-Penrose inverse of dynamics(...).jacobian exists at each posture"
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


def joint_of(model: GearedModel, body: int) -> str:
    """Name of the joint that moves a body."""
    return next(j.name for j in model.robot.joints if j.child == model.tree.names[body])


def shaft_rows(arm: GearedModel, bodies: Bodies, at: Places, L: Array) -> Array:
    """Rows of L (n_e, N) of the shafts: Gamma_theta^+ (nu_3 - Gamma_q L)."""
    n = len(L)
    spin = arm.wheels.spin[bodies.wheels]
    picked = np.zeros((len(spin), at.size))
    picked[np.arange(len(spin)), at.spin + 3 * np.arange(len(spin)) + 2] = 1.0
    inverse = np.linalg.pinv(spin[:, n:])
    return np.asarray(inverse @ (picked - spin[:, :n] @ L))
