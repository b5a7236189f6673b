"""Forces on the redundant velocities: gyroscopic, gravity, motors."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.cartesian.bodies import Bodies, places
from geared_dynamics.model import GearedModel


def gyroscopic_forces(arm: GearedModel, bodies: Bodies, nu: Array, turn: Array) -> Array:
    """N(nu) (..., N): frame's angular velocity x angular momentum.

    omega x I omega of each link. Of each wheel (nu_2 + nu_3) x M_2 (nu_2 + nu_3), in nu_2 and
    in nu_3, where its frame turns with it; a frame that turns at another rate has that in the
    place of the first factor's spin.

    Args:
        arm: The arm.
        bodies: Its bodies.
        nu: Redundant velocities (..., N).
        turn: Rate of each wheel's frame relative to its carrier (..., w) [rad/s], order of nu.
    """
    at, lead, wheels = places(arm), nu.shape[:-1], (len(bodies.wheels), 3)
    result = np.zeros(nu.shape)
    omega = nu[..., at.link_rate : at.carrier_rate].reshape(*lead, len(bodies.mass), 3)
    momentum = (bodies.tensor @ omega[..., None])[..., 0]
    links = np.cross(omega, momentum)
    carrier = nu[..., at.carrier_rate : at.spin].reshape(*lead, *wheels)
    spin = nu[..., at.spin :].reshape(*lead, *wheels)
    frame = carrier.copy()
    frame[..., 2] += turn
    torque = np.cross(frame, bodies.wheel_tensor * (carrier + spin))
    result[..., at.link_rate : at.carrier_rate] = links.reshape(*lead, links.shape[-2] * 3)
    result[..., at.carrier_rate : at.spin] = torque.reshape(*lead, torque.shape[-2] * 3)
    result[..., at.spin :] = result[..., at.carrier_rate : at.spin]
    return result


def gravity_forces(arm: GearedModel, bodies: Bodies) -> Array:
    """Gravity on the left, v (N,): -m g0 at each centre of mass; paper 002, (29), (30)."""
    at = places(arm)
    result = np.zeros(at.size)
    masses = np.concatenate([bodies.mass, bodies.wheel_mass])
    result[: at.link_rate] = -np.outer(masses, arm.gravity).ravel()
    return result


def motor_matrix(arm: GearedModel, bodies: Bodies) -> Array:
    """Q = B tau_m (N, m): a motor's torque does work on its wheel's spin alone."""
    at = places(arm)
    result = np.zeros((at.size, len(arm.motor_names)))
    for motor, wheel in enumerate(arm.motor_wheel):
        (place,) = np.flatnonzero(bodies.wheels == wheel)
        result[at.spin + 3 * int(place) + 2, motor] = 1.0
    return readonly(result)
