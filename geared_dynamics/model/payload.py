"""A tool or load fixed to a link of an existing model."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, real, reals
from geared_dynamics.checks import plain, refuse_too_large
from geared_dynamics.description.geometry import rpy_from_rotation
from geared_dynamics.description.robot_records import InertiaRecord, RobotRecord
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model.inertia import (
    central_tensor,
    doubt,
    moved,
    parameters_of,
    parameters_of_record,
)

# Relative to the largest element, as in the tables: rounding of a turned tensor.
ASYMMETRY = 1e-9


class PayloadFrame(NamedTuple):
    """The frame in which a payload's centre of mass and tensor are given.

    Attributes:
        link: The link whose frame it is.
        body: The moving body that the link belongs to.
        carrier: That body's name: the link that its joint moves.
        rotation: Of the frame in the body's frame (3, 3).
        position: Its origin there (3,) [m].
    """

    link: str
    body: int
    carrier: str
    rotation: Array
    position: Array

    def __str__(self) -> str:
        """Name the link and say where it is."""
        if self.link == self.carrier:
            return f"{self.link}, at its joint's frame"
        text = f"{self.link}, at {plain(self.position)} m in {self.carrier}"
        angles = rpy_from_rotation(self.rotation.tolist())
        return text if not np.any(np.round(angles, 6)) else f"{text}, rpy {plain(angles)}"

    def in_body(self, parameters: Array) -> Array:
        """Ten parameters (10,) of this frame in the body's frame."""
        return moved(parameters, self.rotation, self.position)


def payload_parameters(mass: float, com: ArrayLike, inertia: ArrayLike) -> Array:
    """Check a payload and return its ten parameters (10,) in the link's frame."""
    try:
        tensor, centre, scalar = reals(inertia), reals(com), real(mass)
    except (TypeError, ValueError, OverflowError):
        tensor, centre, scalar = np.empty(0), np.empty(0), np.nan
    if tensor.shape != (3, 3) or centre.shape != (3,):
        finding = "mass, com or inertia is not real numbers of the right shape"
        remedy = "give a number, three numbers and a symmetric 3x3 tensor"
        raise ArrayError("with_payload", finding, remedy)
    if not (np.isfinite(scalar) and np.all(np.isfinite(centre)) and np.all(np.isfinite(tensor))):
        raise ArrayError("with_payload", "contains NaN or infinity", "give finite numbers")
    for value in (scalar, np.abs(centre).max(), np.abs(tensor).max()):
        refuse_too_large(float(value), "with_payload")
    if scalar < 0.0:
        remedy = "to take a load off, use the model without it"
        raise ModelError("with_payload: mass", f"is {scalar:g} kg", remedy)
    if np.abs(tensor - tensor.T).max() > ASYMMETRY * np.abs(tensor).max():
        remedy = "give the tensor about the centre of mass, products included on both sides"
        raise ModelError("with_payload: inertia", "is not symmetric", remedy)
    own = parameters_of(scalar, centre, 0.5 * (tensor + tensor.T))
    finding = doubt(own)
    if finding:
        raise ModelError("with_payload", finding, "give the tensor about the centre of mass")
    return own


def loaded_robot(robot: RobotRecord, link: str, own: Array) -> RobotRecord:
    """Add ten parameters to one link's record."""
    links = tuple(
        replace(item, inertia=record_of(parameters_of_record(item.inertia) + own))
        if item.name == link
        else item
        for item in robot.links
    )
    return replace(robot, links=links)


def record_of(parameters: Array) -> InertiaRecord:
    """Return the record of ten parameters."""
    mass = float(parameters[0])
    com = parameters[1:4] / mass if mass > 0.0 else np.zeros(3)
    x, y, z = (float(component) for component in com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = central_tensor(parameters).tolist()
    return InertiaRecord(mass, (x, y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
