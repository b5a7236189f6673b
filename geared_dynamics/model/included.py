"""Links that contain their wheels: what remains of a link without them must be a body.

A wheel with ``included_in_link`` is part of its link's inertial, so it cannot be heavier
than the link, nor have more inertia. Judged are moving bodies (a link with what is fixed
to it) by the links' own inertials, less the wheels included in them, locked:

- A negative mass is an error, and so is a negative principal moment of inertia.
- Other remainders that no body could have (the triangle inequality, inertia without mass)
  are a warning, an error when strict, unless the whole is already warned of.
- A massless body states only those moments that act, as published models do; it is judged
  about the axes about which it has inertia, and a massless wheel fits in any other.

The root is not judged: its inertia does not enter the dynamics, and wheels that only the
URDF gives sit there.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import (
    DrivetrainRecord,
    JointRecord,
    RobotRecord,
    WheelRecord,
)
from geared_dynamics.errors import GearedDynamicsWarning, ModelError
from geared_dynamics.model.inertia import (
    TRIANGLE_SLACK,
    central_tensor,
    doubt,
    moved,
    parameters_of_record,
    tensor_of,
)
from geared_dynamics.model.topology import Placement
from geared_dynamics.model.wheels import locked_parameters

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
    strict: bool,
) -> tuple[str, ...]:
    """Judge every body that contains wheels; raise, or warn and return the notes.

    Args:
        robot: The links' inertials.
        drivetrain: The wheels, on links.
        links: Where each link sits.
        bodies: The joint that moves each body.
        strict: Raise also for what would only be warned of.
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
        if finding.impossible or strict:
            raise error
        notes.append(f"{error.place}: {error.finding}")
    for note in notes:
        warnings.warn(note, GearedDynamicsWarning, stacklevel=4)
    return tuple(notes)


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
