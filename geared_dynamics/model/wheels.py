"""Wheels as arrays, and links without the wheels that they contain."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, readonly, readonly_bool, readonly_int
from geared_dynamics.checks import refuse_too_large
from geared_dynamics.description.robot_records import (
    DrivetrainRecord,
    JointRecord,
    RobotRecord,
    WheelRecord,
)
from geared_dynamics.errors import ModelError, Note, UnknownNameError
from geared_dynamics.model.facts import SingleWheels, Wheels
from geared_dynamics.model.gears import ResolvedDrivetrain
from geared_dynamics.model.inertia import (
    TRIANGLE_SLACK,
    central_tensor,
    disc,
    doubt,
    moved,
    parameters_of_record,
    tensor_of,
)
from geared_dynamics.model.topology import Follow, Placement

# -- Wheels: their carriers, axes and spins; locked, they join their carriers ---------------------


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
    wheels = drivetrain.wheels
    for wheel in wheels:
        refuse_too_large(wheel.axial, f"{drivetrain.source}, wheels.{wheel.name}.inertia.axial")
    carriers = [carrier_of(drivetrain, wheel, links) for wheel in wheels]
    axes = [link.rotation @ wheel.axis for link, wheel in zip(carriers, wheels, strict=True)]
    return Wheels(
        names=tuple(wheel.name for wheel in wheels),
        carrier=readonly_int([link.body for link in carriers]),
        axis=readonly(np.reshape(axes, (-1, 3))),
        position=centres(wheels, carriers),
        inertia=readonly([wheel.axial for wheel in wheels]),
        spin=readonly(spin_matrix(drivetrain, follow, frozen, n)),
        links=tuple(wheel.carrier for wheel in wheels),
        mass=readonly([wheel.mass for wheel in wheels]),
        transverse=readonly([wheel.transverse for wheel in wheels]),
        included=readonly_bool([wheel.included_in_link for wheel in wheels]),
        alone=single_wheels(drivetrain, carriers),
    )


def centres(wheels: Sequence[WheelRecord], carriers: Sequence[Placement]) -> Array:
    """Centres of mass (w, 3) in the bodies' frames."""
    pairs = zip(carriers, wheels, strict=True)
    rows = [link.position + link.rotation @ wheel.position for link, wheel in pairs]
    return readonly(np.reshape(rows, (-1, 3)))


def single_wheels(drivetrain: DrivetrainRecord, carriers: Sequence[Placement]) -> SingleWheels:
    """The wheels each by itself, as the files state them."""
    names = [wheel.name for wheel in drivetrain.wheels]
    stated, riders = dict[str, WheelRecord](), dict[str, str]()
    if isinstance(drivetrain, ResolvedDrivetrain):
        stated, riders = {w.name: w for w in drivetrain.apart}, dict(drivetrain.riders)
    own = [stated.get(wheel.name, wheel) for wheel in drivetrain.wheels]
    return SingleWheels(
        holder=readonly_int([names.index(riders[n]) if n in riders else -1 for n in names]),
        position=centres(own, carriers),
        mass=readonly([wheel.mass for wheel in own]),
        inertia=readonly([wheel.axial for wheel in own]),
        transverse=readonly([wheel.transverse for wheel in own]),
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
