"""The rigid bodies behind the redundant model, and the order of its coordinates.

Per link its centre's velocity (root axes), per wheel the same, per link its angular velocity
(its own frame), per wheel its carrier's angular velocity, per wheel its spin (its own frame):

    nu = (p'_links, p'_wheels, omega_links, nu_2, nu_3),   N = 6 nb + 9 w elements

Links as in ``model.body_names``; wheels by the last body that they turn, as in the
regressor. A rotor to each of n joints of a serial arm gives the 15 n of paper 002.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, IntArray, readonly
from geared_dynamics.dynamics.columns import wheel_homes
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.inertia import point_tensor, tensor_of
from geared_dynamics.model.topology import Placement
from geared_dynamics.model.wheels import locked_parameters

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


class Places(NamedTuple):
    """Where the parts of nu begin, and how many elements it has."""

    link_velocity: int
    wheel_velocity: int
    link_rate: int
    carrier_rate: int
    spin: int
    size: int


def places(model: GearedModel) -> Places:
    """Positions of the five parts of nu."""
    links, wheels = 3 * len(model.body_names), 3 * len(model.wheel_names)
    sizes = (0, links, wheels, links, wheels, wheels)
    return Places(*(int(start) for start in np.cumsum(sizes)))


def bodies_of(model: GearedModel) -> Bodies:
    """Take the wheels out of the links that carry them.

    Raises:
        ModelError: if some of the wheels' terms are switched off.
    """
    refuse_reduced(model)
    parameters = model.tree.parameters.copy()
    for wheel in model.drivetrain.wheels:
        frame = model.frames[wheel.carrier]
        if frame.body >= 0:
            place = Placement(frame.body, frame.rotation, frame.position)
            parameters[frame.body] -= locked_parameters(wheel, place)
    scale = ROUNDING * np.abs(model.tree.parameters[:, 0])
    mass = np.where(np.abs(parameters[:, 0]) > scale, parameters[:, 0], 0.0)
    com = parameters[:, 1:4] / np.where(mass == 0.0, 1.0, mass)[:, None]
    tensor = [
        tensor_of(body) - m * point_tensor(c)
        for body, m, c in zip(parameters, mass, com, strict=True)
    ]
    order = np.argsort(wheel_homes(model), kind="stable").astype(np.int64)
    records = [model.drivetrain.wheels[r] for r in order]
    transverse = np.array([wheel.transverse for wheel in records])
    return Bodies(
        mass=mass,
        com=com,
        tensor=np.array(tensor),
        wheels=order,
        wheel_mass=np.array([wheel.mass for wheel in records]),
        wheel_tensor=np.column_stack([transverse, transverse, model.wheels.inertia[order]]),
    )


def refuse_reduced(model: GearedModel) -> None:
    """Raise for an arm with a part of its wheels' terms; nu holds all of them."""
    remedy = 'the redundant model is complete; use model.{}("complete")'
    if model.coupling != "complete":
        finding = f"has coupling {model.coupling!r}"
        raise ModelError("cartesian: model", finding, remedy.format("with_coupling"))
    if model.elastic_model != "complete":
        finding = f"has elastic model {model.elastic_model!r}"
        raise ModelError("cartesian: model", finding, remedy.format("with_elasticity"))


def inertia_matrix(bodies: Bodies) -> Array:
    """Constant, positive semidefinite inertia (N, N), paper 002, eq. (10), (11).

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
