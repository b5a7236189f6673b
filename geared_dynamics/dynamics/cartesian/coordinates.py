"""Jacobian of the redundant velocities and its time derivative, nu = J(x) x'.

Melhem 2001, eq. (3)-(7), (12), (13), for trees. x' is the rate of the coordinates, k of them:
q, or q and theta. Angular rows are in body frames, which turn: what the derivative then
contains is not what it would be in root axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, IntArray, readonly
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.dynamics.packing import wheel_homes
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel, Tree
from geared_dynamics.model.inertia import disc, point_tensor, tensor_of

# -- The rigid bodies behind the redundant model, and the order of its coordinates ----------------
#
# Per link its centre's velocity (root axes), per wheel the same, per link its angular velocity
# (its own frame), per wheel its carrier's angular velocity, per wheel its spin (its own frame):
#
#     nu = (p'_links, p'_wheels, omega_links, nu_2, nu_3),   N = 6 nb + 9 w elements
#
# Links as in ``model.body_names``; wheels by the last body that they turn, as in the
# regressor. A rotor to each of n joints of a serial arm gives the 15 n of Melhem 2001.


# Share of a body's mass that is rounding once the wheels' is taken off.
ROUNDING = 1e-12


class Bodies(NamedTuple):
    """Links without their wheels, nb of them, and the wheels in the order of nu, w of them.

    Attributes:
        mass: Mass of each link (nb,) [kg].
        com: Its centre of mass in the body's frame (nb, 3) [m].
        tensor: Its tensor about that, body's axes (nb, 3, 3) [kg m^2].
        wheels: Index in ``model.wheels`` of each wheel (w,).
        wheel_mass: Mass of each (w,) [kg].
        wheel_tensor: Transverse, transverse, axial moment of inertia (w, 3) [kg m^2].
    """

    mass: Array
    com: Array
    tensor: Array
    wheels: IntArray
    wheel_mass: Array
    wheel_tensor: Array


class CoordinateIndex(NamedTuple):
    """Where the parts of nu begin, and how many elements it has."""

    link_velocity: int
    wheel_velocity: int
    link_rate: int
    carrier_rate: int
    spin: int
    size: int


def places(model: GearedModel) -> CoordinateIndex:
    """Positions of the five parts of nu."""
    links, wheels = 3 * len(model.body_names), 3 * len(model.wheel_names)
    sizes = (0, links, wheels, links, wheels, wheels)
    return CoordinateIndex(*(int(start) for start in np.cumsum(sizes)))


def bodies_of(model: GearedModel) -> Bodies:
    """Take the wheels out of the links that carry them.

    Raises:
        ModelError: if some of the wheels' terms are switched off.
    """
    refuse_reduced(model)
    parameters = model.tree.parameters.copy()
    wheels = model.wheels
    for r in np.flatnonzero(wheels.carrier >= 0):
        own = wheels.mass[r], wheels.inertia[r], wheels.transverse[r]
        parameters[wheels.carrier[r]] -= disc(*own, wheels.axis[r], wheels.position[r])
    scale = ROUNDING * np.abs(model.tree.parameters[:, 0])
    mass = np.where(np.abs(parameters[:, 0]) > scale, parameters[:, 0], 0.0)
    com = parameters[:, 1:4] / np.where(mass == 0.0, 1.0, mass)[:, None]
    tensor = [
        tensor_of(body) - m * point_tensor(c)
        for body, m, c in zip(parameters, mass, com, strict=True)
    ]
    order = np.argsort(wheel_homes(model), kind="stable").astype(np.int64)
    transverse = wheels.transverse[order]
    return Bodies(
        mass=mass,
        com=com,
        tensor=np.array(tensor),
        wheels=order,
        wheel_mass=wheels.mass[order],
        wheel_tensor=np.column_stack([transverse, transverse, wheels.inertia[order]]),
    )


def refuse_reduced(model: GearedModel) -> None:
    """Raise for an arm with a part of its wheels' terms; nu holds all of them."""
    needs = "but the redundant model needs all terms of the wheels"
    remedy = 'use model.{}("complete")'
    if model.coupling != "complete":
        finding = f"has coupling {model.coupling!r}, {needs}"
        raise ModelError("cartesian: model", finding, remedy.format("with_coupling"))
    if model.elastic_model != "complete":
        finding = f"has elastic model {model.elastic_model!r}, {needs}"
        raise ModelError("cartesian: model", finding, remedy.format("with_elasticity"))


def inertia_matrix(bodies: Bodies) -> Array:
    """Constant, positive semidefinite inertia (N, N), Melhem 2001, eq. (10), (11).

    Block diagonal but for the wheels' tensors, which stand in all four blocks of (nu_2, nu_3).
    """
    links, wheels = len(bodies.mass), len(bodies.wheels)
    start = 3 * (links + wheels)
    M = np.zeros((6 * links + 9 * wheels,) * 2)
    masses = np.repeat([*bodies.mass, *bodies.wheel_mass], 3)
    M[np.arange(start), np.arange(start)] = masses
    for b, tensor in enumerate(bodies.tensor):
        rows = slice(start + 3 * b, start + 3 * b + 3)
        M[rows, rows] = tensor
    carrier = start + 3 * links + np.arange(3 * wheels)
    spin = carrier + 3 * wheels
    for one in (carrier, spin):
        for other in (carrier, spin):
            M[one, other] = bodies.wheel_tensor.ravel()
    return readonly(M)


def coordinate_names(model: GearedModel) -> tuple[str, ...]:
    """Names of the elements of nu (N,), in order.

    ``link.p.x`` is a velocity of the link's centre of mass, ``link.omega.x`` of its angular
    velocity, ``wheel.p.x`` of the wheel's centre, ``wheel.carrier.x`` of its carrier's angular
    velocity and ``wheel.spin.x`` of its spin.

    Args:
        model: Geared model.
    """
    links = model.body_names
    wheels = [model.wheel_names[r] for r in bodies_of(model).wheels]
    parts = (("p", links), ("p", wheels), ("omega", links), ("carrier", wheels), ("spin", wheels))
    return tuple(
        f"{one}.{part}.{axis}" for part, names in parts for one in names for axis in "xyz"
    )


# -- Jacobian of the redundant velocities and its time derivative, nu = J(x) x' -------------------


class Link(NamedTuple):
    """A body's frame in motion; leading dimensions of the batch throughout.

    Attributes:
        rotation: R, in the root frame (..., 3, 3).
        turning: dR/dt (..., 3, 3).
        angular: Jacobian of the angular velocity, body axes (..., 3, k).
        angular_rate: Its derivative.
        linear: Jacobian of the origin's velocity, root axes (..., 3, k).
        linear_rate: Its derivative.
    """

    rotation: Array
    turning: Array
    angular: Array
    angular_rate: Array
    linear: Array
    linear_rate: Array


def jacobians(
    arm: GearedModel, bodies: Bodies, x: Array, rate: Array, angle: Array, turn: Array
) -> tuple[Array, Array]:
    """J and dJ/dt (..., N, k) at x, x'.

    Args:
        arm: The arm whose coordinates are x.
        bodies: Its bodies.
        x: Coordinates (..., k) [rad or m].
        rate: Their rates (..., k).
        angle: Angle of each wheel's frame about its axis (..., w) [rad], in the order of nu.
        turn: The rates of these (..., w) [rad/s].
    """
    at, k = places(arm), arm.n
    J = np.zeros((*x.shape[:-1], at.size, k))
    rates = np.zeros(J.shape)
    root, links = sweep(arm.tree, k, x, rate)
    still = np.zeros(3)
    for b, link in enumerate(links):
        rows = slice(at.link_velocity + 3 * b, at.link_velocity + 3 * b + 3)
        J[..., rows, :], rates[..., rows, :] = point(link, bodies.com[b], still)
        rows = slice(at.link_rate + 3 * b, at.link_rate + 3 * b + 3)
        J[..., rows, :], rates[..., rows, :] = link.angular, link.angular_rate
    for i, r in enumerate(bodies.wheels):
        b = int(arm.wheels.carrier[r])
        carrier = links[b] if b >= 0 else root
        rows = slice(at.wheel_velocity + 3 * i, at.wheel_velocity + 3 * i + 3)
        J[..., rows, :], rates[..., rows, :] = point(carrier, arm.wheels.position[r], still)
        rows = slice(at.carrier_rate + 3 * i, at.carrier_rate + 3 * i + 3)
        seat = rotation_with_z(arm.wheels.axis[r])
        J[..., rows, :], rates[..., rows, :] = carrier_rate_jacobian(
            carrier, seat, angle[..., i], turn[..., i]
        )
        J[..., at.spin + 3 * i + 2, :] = arm.wheels.spin[r]
    return J, rates


def sweep(tree: Tree, k: int, x: Array, rate: Array) -> tuple[Link, list[Link]]:
    """Motion of the root and of all bodies, from the root outward."""
    lead = x.shape[:-1]
    still, flat = np.zeros((*lead, 3, 3)), np.zeros((*lead, 3, k))
    root = Link(still + np.eye(3), still, flat, flat, flat, flat)
    links: list[Link] = []
    for b, parent in enumerate(tree.parent):
        carrier = links[parent] if parent >= 0 else root
        links.append(moved_link(tree, b, carrier, x, rate))
    return root, links


def moved_link(tree: Tree, b: int, parent: Link, x: Array, rate: Array) -> Link:
    """Motion of a body from its parent's.

    With Q the body's frame in its parent's and e the axis, revolute: A = Q' A_p + e x'_d,
    Q'' = -e x Q'. Prismatic: the place in the parent moves along Q e.
    """
    d, ratio, axis = int(tree.dof[b]), tree.multiplier[b], tree.axis[b]
    position, speed = ratio * x[..., d] + tree.offset[b], ratio * rate[..., d]
    if tree.prismatic[b]:
        along = tree.rotation[b] @ axis
        linear, linear_rate = point(
            parent,
            tree.position[b] + position[..., None] * along,
            speed[..., None] * along,
        )
        linear[..., :, d] += ratio * parent.rotation @ along
        linear_rate[..., :, d] += ratio * parent.turning @ along
        rotation = parent.rotation @ tree.rotation[b]
        turning = parent.turning @ tree.rotation[b]
        angular = tree.rotation[b].T @ parent.angular
        angular_rate = tree.rotation[b].T @ parent.angular_rate
        return Link(rotation, turning, angular, angular_rate, linear, linear_rate)
    linear, linear_rate = point(parent, tree.position[b], np.zeros(3))
    Q = tree.rotation[b] @ turned(axis, position)
    back = np.swapaxes(Q, -1, -2)
    angular = back @ parent.angular
    angular_rate = back @ parent.angular_rate - speed[..., None, None] * (skew(axis) @ angular)
    angular[..., :, d] += ratio * axis
    rotation = parent.rotation @ Q
    omega = (angular @ rate[..., None])[..., 0]
    return Link(rotation, rotation @ skew(omega), angular, angular_rate, linear, linear_rate)


def point(link: Link, place: Array, drift: Array) -> tuple[Array, Array]:
    """Jacobian of a point's velocity and its derivative: V - R [r] A, root axes (..., 3, k).

    The point lies at r = ``place`` in the link's frame; ``drift`` is how fast r changes, as a
    sliding joint's place does. Its own share of the velocity is the caller's to add.
    """
    arm = skew(place) @ link.angular
    rate = link.linear_rate - link.turning @ arm
    rate = rate - link.rotation @ (skew(drift) @ link.angular + skew(place) @ link.angular_rate)
    return link.linear - link.rotation @ arm, rate


def carrier_rate_jacobian(
    carrier: Link, seat: Array, angle: Array, turn: Array
) -> tuple[Array, Array]:
    """Jacobian of the carrier's angular velocity in a wheel's frame, and its derivative.

    Melhem 2001, eq. (12b). The frame sits at ``seat`` in the carrier, turned by ``angle`` about
    its z axis: nu_2 = U' S' omega, and U'' = -turn z x U'.
    """
    z = np.array([0.0, 0.0, 1.0])
    into = np.swapaxes(turned(z, angle), -1, -2) @ seat.T
    angular = into @ carrier.angular
    rate = into @ carrier.angular_rate - turn[..., None, None] * (skew(z) @ angular)
    return angular, rate


def skew(vector: Array) -> Array:
    """Matrix (..., 3, 3) of the cross product with a vector (..., 3)."""
    matrix = np.zeros((*vector.shape, 3))
    matrix[..., 0, 1], matrix[..., 0, 2] = -vector[..., 2], vector[..., 1]
    matrix[..., 1, 0], matrix[..., 1, 2] = vector[..., 2], -vector[..., 0]
    matrix[..., 2, 0], matrix[..., 2, 1] = -vector[..., 1], vector[..., 0]
    return matrix


def turned(axis: Array, angle: Array) -> Array:
    """Rotation (..., 3, 3) about a unit vector (3,) by angles (...)."""
    along = np.outer(axis, axis)
    cosine, sine = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    return np.asarray(along + cosine * (np.eye(3) - along) + sine * skew(axis))
