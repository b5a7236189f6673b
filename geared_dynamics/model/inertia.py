"""Inertia: ten parameters of a body, links without the wheels that they contain, payloads.

Parameters of a rigid body are m, m c (3), Ixx Ixy Ixz Iyy Iyz Izz, the tensor about the
frame's origin, so that parameters of bodies fixed to each other add. Arrays have shape (10,),
SI units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, real, reals, refuse_too_large
from geared_dynamics.checks import plain
from geared_dynamics.description.drive_records import DrivetrainRecord, WheelRecord
from geared_dynamics.description.geometry import rpy_from_rotation
from geared_dynamics.description.robot_records import InertiaRecord, JointRecord, RobotRecord
from geared_dynamics.errors import ArrayError, ModelError, Note
from geared_dynamics.model.facts import Placement

IDENTITY = np.eye(3)
UPPER = (np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2]))

# Principal moments may violate the triangle inequality by rounding of printed digits.
TRIANGLE_SLACK = 1e-9  # relative to the largest principal moment
# What taking m |c|^2 out of the tensor about the origin leaves behind, relative to that tensor.
SHIFT_SLACK = 16.0 * float(np.finfo(float).eps)


def tensor_of(parameters: Array) -> Array:
    """Inertia tensor about the frame's origin (3, 3) [kg m^2]."""
    tensor = np.zeros((3, 3))
    tensor[UPPER] = parameters[4:]
    return tensor + np.triu(tensor, 1).T


def point_tensor(x: ArrayLike) -> Array:
    """Tensor (3, 3) of a unit point mass at x: |x|^2 1 - x x'."""
    position = np.asarray(x, float)
    return np.asarray(position @ position * np.eye(3) - np.outer(position, position))


def parameters_of(mass: float, com: ArrayLike, tensor: ArrayLike) -> Array:
    """Parameters (10,) from mass, centre of mass (3,) and tensor about it (3, 3)."""
    about_origin = np.asarray(tensor, float) + mass * point_tensor(com)
    return np.concatenate([[mass], mass * np.asarray(com, float), about_origin[UPPER]])


def disc(
    mass: float, axial: float, transverse: float, axis: ArrayLike, position: ArrayLike
) -> Array:
    """Parameters (10,) of a locked wheel, whatever its angle, in the frame of its axis (3,).

    Tensor about its centre at ``position`` (3,): transverse 1 + (axial - transverse) e e'.
    """
    along = np.asarray(axis, float)
    tensor = transverse * np.eye(3) + (axial - transverse) * np.outer(along, along)
    return parameters_of(mass, position, tensor)


def parameters_of_record(record: InertiaRecord | None) -> Array:
    """Parameters (10,) of a link's record; zeros where it has no inertial."""
    if record is None:
        return np.zeros(10)
    return parameters_of(record.mass, record.com, record.tensor)


def moved(parameters: Array, rotation: Array, position: Array) -> Array:
    """Parameters (10,) in a frame in which theirs lies at ``rotation``, ``position``.

    With x = R m c: m c' = x + m p and
    I' = R I R' + (2 p.x + m p.p) 1 - p x' - x p' - m p p'.
    """
    if not position.any() and (rotation == IDENTITY).all():  # most links, when a robot is read
        return parameters + 0.0
    mass = float(parameters[0])
    x = rotation @ parameters[1:4]
    y = x + 0.5 * mass * position
    shift = 2.0 * (position @ y) * np.eye(3) - np.outer(position, y) - np.outer(y, position)
    tensor = rotation @ tensor_of(parameters) @ rotation.T + shift
    return np.concatenate([[mass], x + mass * position, tensor[UPPER]])


def central_tensor(parameters: Array) -> Array:
    """Tensor (3, 3) about the centre of mass; about the origin for a massless body."""
    tensor = tensor_of(parameters)
    mass = parameters[0]
    if mass > 0.0:
        tensor = tensor - mass * point_tensor(parameters[1:4] / mass)
    return tensor


def doubt(parameters: Array) -> str:
    """What no rigid body of non-negative density could have, in words; empty if fine."""
    if parameters[0] == 0.0 and np.any(parameters[1:] != 0.0):
        return "has inertia without mass"
    moments = np.linalg.eigvalsh(central_tensor(parameters))
    slack = TRIANGLE_SLACK * max(abs(moments[2]), abs(moments[0]))
    slack += SHIFT_SLACK * float(np.abs(parameters[4:]).max())
    if moments[0] < -slack:
        return f"has a negative principal moment of inertia, {moments[0]:.6g} kg m^2"
    if moments[0] + moments[1] < moments[2] - slack:
        listed = ", ".join(f"{moment:.6g}" for moment in moments)
        return f"violates the triangle inequality with principal moments {listed} kg m^2"
    return ""


def locked_parameters(wheel: WheelRecord, link: Placement) -> Array:
    """Ten parameters (10,) of the locked wheel in its carrier body's frame."""
    own = disc(wheel.mass, wheel.axial, wheel.transverse, wheel.axis, wheel.position)
    return moved(own, link.rotation, link.position)


# -- Links that contain their wheels: what remains of a link without them must be a body ----------
#
# A wheel with ``included_in_link`` is part of its link's inertial, so it cannot be heavier
# than the link, nor have more inertia. Judged are moving bodies (a link with what is fixed
# to it) by the links' own inertials, less the wheels included in them, locked:
#
# - A negative mass is an error, and so is a negative principal moment of inertia.
# - Other remainders that no body could have (the triangle inequality, inertia without mass)
#   are a warning, an error when strict, unless the whole is already warned of.
# - A massless body states only those moments that act, as published models do; it is judged
#   about the axes about which it has inertia, and a massless wheel fits in any other.
#
# The root is not judged: its inertia does not enter the dynamics, and wheels that only the
# URDF gives sit there.


GROUPS = (slice(0, 1), slice(1, 4), slice(4, 10))  # mass, first moments, tensor
REMEDY = (
    "correct mass and inertia, or leave included_in_link out where the link's inertial "
    "does not contain the wheel"
)


class Finding(NamedTuple):
    """What is wrong with a remainder, in words (empty: nothing), and whether it cannot be."""

    words: str = ""
    impossible: bool = False


def remaining_doubts(
    robot: RobotRecord,
    drivetrain: DrivetrainRecord,
    links: Mapping[str, Placement],
    bodies: tuple[JointRecord, ...],
) -> list[Note]:
    """Judge every body that contains wheels; raise for what is impossible.

    Args:
        robot: The links' inertials.
        drivetrain: The wheels, on links.
        links: Where each link sits.
        bodies: The joint that moves each body.
    """
    notes = []
    for b, joint in enumerate(bodies):
        wheels = [
            wheel
            for wheel in drivetrain.wheels
            if wheel.included_in_link and links[wheel.carrier].body == b
        ]
        if not wheels:
            continue
        whole = own_inertia(robot, links, b)
        finding = judge(whole, [locked_parameters(w, links[w.carrier]) for w in wheels])
        if not finding.words:
            continue
        error = contradiction(drivetrain.source, joint.child, wheels, finding.words)
        if finding.impossible:
            raise error
        notes.append(Note(error.place, error.finding, error.remedy))
    return notes


def own_inertia(robot: RobotRecord, links: Mapping[str, Placement], body: int) -> Array:
    """Ten parameters (10,) of a body by its links' inertials alone."""
    total = np.zeros(10)
    for link in robot.links:
        place = links[link.name]
        if place.body == body:
            total += moved(parameters_of_record(link.inertia), place.rotation, place.position)
    return total


def contradiction(source: str, link: str, wheels: Sequence[WheelRecord], words: str) -> ModelError:
    """Return the error about a body's included wheels, at the largest of them."""
    worst = max(wheels, key=lambda wheel: (wheel.mass, wheel.axial))
    named = ", ".join(repr(wheel.name) for wheel in wheels)
    kind = "wheel" if len(wheels) == 1 else "wheels"
    body = repr(link)
    if any(wheel.carrier != link for wheel in wheels):
        body += " (with what is fixed to it)"
    finding = f"without the included {kind} {named}, link {body} {words}"
    return ModelError(f"{source}, wheels.{worst.name}.included_in_link", finding, REMEDY)


def judge(whole: Array, parts: Sequence[Array]) -> Finding:
    """Judge what remains of a body (10,) without its parts (10,)."""
    rest = remainder(whole, parts)
    if rest[0] < 0.0:
        return Finding(f"has a negative mass, {rest[0]:.6g} kg", impossible=True)
    lowest = least_moment(whole, rest)
    if lowest < 0.0:
        words = f"has a negative principal moment of inertia, {lowest:.6g} kg m^2"
        return Finding(words, impossible=True)
    doubtful = whole[0] == 0.0 or doubt(whole)  # massless, or warned of already
    return Finding() if doubtful else Finding(doubt(rest))


def remainder(whole: Array, parts: Sequence[Array]) -> Array:
    """Subtract parts (10,) from a body (10,); what is left by rounding alone is zero."""
    rest = whole.copy()
    for part in parts:
        rest -= part
    for group in GROUPS:
        size = max(float(np.abs(item[group]).max()) for item in (whole, *parts))
        left = rest[group]
        left[np.abs(left) <= TRIANGLE_SLACK * size] = 0.0
    return rest


def least_moment(whole: Array, rest: Array) -> float:
    """Least principal moment of the remainder where it is negative beyond rounding, else 0.

    Of a massless body, within the axes about which it has inertia. A body that has such a
    moment itself is warned of as such.
    """
    moments, axes = np.linalg.eigh(central_tensor(whole))
    slack = TRIANGLE_SLACK * float(np.abs(moments).max())
    if moments[0] < -slack:
        return 0.0
    if whole[0] == 0.0:
        stated = axes[:, moments > slack]
        if not stated.size:
            return 0.0
        tensor = stated.T @ tensor_of(rest) @ stated
    else:
        tensor = central_tensor(rest)
    lowest = float(np.linalg.eigvalsh(tensor)[0])
    return lowest if lowest < -slack else 0.0


# -- A tool or load fixed to a link ---------------------------------------------------------------


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
        remedy = "give a mass of zero or more; to remove a payload, use the model without it"
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
