"""Wheels: their carriers, axes and spins; locked, they join their carriers."""

from collections.abc import Mapping

import numpy as np

from geared_dynamics.arrays import Array, readonly, readonly_int
from geared_dynamics.description.magnitude import refuse_too_large
from geared_dynamics.description.records import DrivetrainRecord, WheelRecord
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.inertia import moved, parameters_of
from geared_dynamics.model.model import Wheels
from geared_dynamics.model.topology import Follow, Placement


def build_wheels(
    drivetrain: DrivetrainRecord,
    links: Mapping[str, Placement],
    follow: Mapping[str, Follow],
    frozen: frozenset[str],
    n: int,
) -> Wheels:
    """Place the wheels in their bodies and read their spins.

    Args:
        drivetrain: Records; every wheel is fixed by exactly one spin.
        links: Where each link sits.
        follow: How movable joints follow coordinates.
        frozen: Joints that do not move; a wheel's share from them is zero.
        n: Number of coordinates.
    """
    count = len(drivetrain.wheels)
    carrier = np.zeros(count, np.int64)
    axis, position = np.zeros((count, 3)), np.zeros((count, 3))
    for r, wheel in enumerate(drivetrain.wheels):
        refuse_too_large(wheel.axial, f"{drivetrain.source}, wheels.{wheel.name}.inertia.axial")
        link = carrier_of(drivetrain, wheel, links)
        carrier[r] = link.body
        axis[r] = link.rotation @ np.array(wheel.axis)
        position[r] = link.position + link.rotation @ np.array(wheel.position)
    return Wheels(
        names=tuple(wheel.name for wheel in drivetrain.wheels),
        carrier=readonly_int(carrier),
        axis=readonly(axis.reshape(count, 3)),
        position=readonly(position.reshape(count, 3)),
        inertia=readonly([wheel.axial for wheel in drivetrain.wheels]),
        spin=readonly(spin_matrix(drivetrain, follow, frozen, n)),
    )


def carrier_of(
    drivetrain: DrivetrainRecord, wheel: WheelRecord, links: Mapping[str, Placement]
) -> Placement:
    """Find where the wheel's carrier sits."""
    place = f"{drivetrain.source}, wheels.{wheel.name}"
    if wheel.name in links:
        raise ModelError(place, "has the name of a link", "name the wheel otherwise")
    if wheel.carrier not in links:
        raise UnknownNameError(f"{place}.carrier", "link", wheel.carrier, links)
    return links[wheel.carrier]


def spin_matrix(
    drivetrain: DrivetrainRecord, follow: Mapping[str, Follow], frozen: frozenset[str], n: int
) -> Array:
    """Gamma (w, n): spin relative to the carrier per coordinate rate [1 or rad/m]."""
    row = {wheel.name: r for r, wheel in enumerate(drivetrain.wheels)}
    gamma = np.zeros((len(row), n))
    for spin in drivetrain.spins:
        for joint, coefficient in spin.coefficients:
            if joint in follow:
                motion = follow[joint]
                ratio = coefficient * motion.multiplier
                refuse_too_large(ratio, f"{drivetrain.source}, {spin.place}")
                gamma[row[spin.wheel], motion.dof] += ratio
            elif joint not in frozen:
                place = f"{drivetrain.source}, {spin.place}"
                raise UnknownNameError(place, "movable joint", joint, follow)
    return gamma


def encoder_zeros(drivetrain: DrivetrainRecord, follow: Mapping[str, Follow]) -> Array:
    """What each motor's encoder shows at q = 0 (m,) [rad].

    With joint positions x = k q + b (k = 1, b = 0 but for mimic joints) and a motor's spin
    coefficients g and offsets o over the joints, ros2_control's phi = g (x - o) is
    phi = a' q + g (b - o). An offset of the drivetrain file holds for all motors of its
    joint, one of a transmission for its own. What a frozen joint adds is constant and left
    out: the encoder shows whatever it showed.
    """
    given = {joint.name: joint.offset for joint in drivetrain.joints if joint.offset is not None}
    spins = {spin.wheel: spin.coefficients for spin in drivetrain.spins}
    zeros = []
    for motor in drivetrain.motors:
        offset = {**dict(motor.offsets), **given}
        terms = [(c, follow[j].offset, j) for j, c in spins[motor.wheel] if j in follow]
        zeros.append(sum(c * (b - offset.get(j, 0.0)) for c, b, j in terms))
    return np.array(zeros, float) + 0.0  # no negative zeros


def locked_parameters(wheel: WheelRecord, link: Placement) -> Array:
    """Ten parameters (10,) of the locked wheel in its carrier body's frame.

    Tensor about its centre: transverse 1 + (axial - transverse) e e', whatever the
    wheel's angle.
    """
    axis = np.array(wheel.axis)
    tensor = wheel.transverse * np.eye(3) + (wheel.axial - wheel.transverse) * np.outer(axis, axis)
    own = parameters_of(wheel.mass, wheel.position, tensor)
    return moved(own, link.rotation, link.position)
