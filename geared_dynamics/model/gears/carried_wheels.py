"""Wheels carried by wheels, as wheels on links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.drive_records import MeshRecord, WheelRecord
from geared_dynamics.description.geometry import Vector3
from geared_dynamics.errors import ModelError, Note
from geared_dynamics.model.gears.mesh_equation import (
    COLLINEAR,
    ONE_LINE,
    PARALLEL,
    Bodies,
    angle,
    distance,
    line_of,
)
from geared_dynamics.model.gears.solve import Form, combined, quoted

# -- Wheels carried by wheels, as wheels carried by links -----------------------------------------
#
# A planet of mass m whose axis lies r away from that of the wheel that carries it adds to the
# latter, with its equally spaced sisters, n m r^2 axially and half of it transversely; its own
# moments of inertia stay with it, and its spin is the carrying wheel's plus its own.


ON_AXIS = 1e-6  # [m] positions are printed no better; a disc on an eccentric is further out
BALANCED = 1e-3  # of the planets' sum of m r^2: their positions are printed with few digits


def on_links(wheels: Sequence[WheelRecord], source: str) -> list[WheelRecord]:
    """Put every wheel on a link, the orbiting mass into the wheels that carry it.

    Args:
        wheels: Wheels; one carried by a wheel is placed in the frame of the link below.
        source: The drivetrain file, for errors.
    """
    record = {wheel.name: wheel for wheel in wheels}
    deepest = sorted(record, key=lambda name: depth(name, record), reverse=True)
    for name in deepest:
        riders = [record[w.name] for w in wheels if w.carrier == name]
        for rider in riders:
            refuse_tilted(rider, record[name], source)
        orbiting = [rider for rider in riders if radial_offset(rider, record[name]).any()]
        for rider in orbiting:
            refuse_unknown_mass(rider, source)
        orbiting = [rider for rider in orbiting if rider.mass]
        if orbiting:
            refuse_unbalanced(orbiting, record[name], source)
            record[name] = with_orbits(record[name], orbiting)
            record.update({rider.name: replace(rider, mass=0.0) for rider in orbiting})
    return [replace(record[w.name], carrier=link_below(w, record)) for w in wheels]


def total_spins(wheels: Sequence[WheelRecord], spins: Mapping[str, Form]) -> dict[str, Form]:
    """Spins relative to the links, about each wheel's own axis."""
    record = {wheel.name: wheel for wheel in wheels}
    total: dict[str, Form] = {}
    for name in sorted(record, key=lambda name: depth(name, record)):
        below = record.get(record[name].carrier)
        total[name] = spins[name]
        if below is not None:
            turn = int(np.sign(np.dot(record[name].axis, below.axis)))
            total[name] = combined([(1, spins[name]), (turn, total[below.name])])
    return total


def depth(name: str, record: Mapping[str, WheelRecord]) -> int:
    """How many wheels carry the wheel, one on the other."""
    below = record[name].carrier
    return 1 + depth(below, record) if below in record else 0


def link_below(wheel: WheelRecord, record: Mapping[str, WheelRecord]) -> str:
    """The link that carries the wheel at last."""
    name = wheel.carrier
    while name in record:
        name = record[name].carrier
    return name


def radial_offset(rider: WheelRecord, carrier: WheelRecord) -> Array:
    """Where a rider's centre of mass lies beside its carrier's axis (3,) [m]; zero on it."""
    axis, offset = np.array(carrier.axis), along(rider, carrier)
    radial = np.subtract(rider.position, carrier.position) - offset * axis
    return radial if np.linalg.norm(radial) > ON_AXIS else np.zeros(3)


def along(rider: WheelRecord, carrier: WheelRecord) -> float:
    """How far along its carrier's axis a rider's centre of mass lies [m]."""
    return float(np.subtract(rider.position, carrier.position) @ np.array(carrier.axis))


def refuse_tilted(rider: WheelRecord, carrier: WheelRecord, source: str) -> None:
    """Raise where a carrying wheel would turn the rider's axis."""
    if angle(np.array(rider.axis), np.array(carrier.axis)) > PARALLEL:
        finding = f"its axis is not parallel to that of wheel {carrier.name!r}, which carries it"
        remedy = "mount it on a link, or make the axes parallel"
        raise ModelError(f"{source}, wheels.{rider.name}.axis", finding, remedy)


def refuse_unknown_mass(rider: WheelRecord, source: str) -> None:
    """Raise where a link contains an orbiting wheel of unknown mass."""
    if rider.included_in_link and not rider.mass:
        finding = "the wheel orbits, and its share of the link's mass is unknown"
        remedy = "add its mass, or remove included_in_link"
        raise ModelError(f"{source}, wheels.{rider.name}.mass", finding, remedy)


def refuse_unbalanced(orbiting: Sequence[WheelRecord], carrier: WheelRecord, source: str) -> None:
    """Raise where the locked inertia would depend on the carrying wheel's angle."""
    place = f"{source}, wheels.{carrier.name}"
    arms = np.array([radial_offset(rider, carrier) for rider in orbiting])
    masses = np.array([rider.mass for rider in orbiting])
    heights = np.array([along(rider, carrier) for rider in orbiting])
    axis = np.array(carrier.axis)
    second = (masses[:, None] * arms).T @ arms
    size = np.trace(second)
    lengths = np.linalg.norm(arms, axis=1)
    errors = (
        np.abs(second - 0.5 * size * (np.eye(3) - np.outer(axis, axis))).max(),
        np.linalg.norm(masses @ arms) * lengths.max(),
        np.linalg.norm((masses * (heights - heights.mean())) @ arms),
    )
    if max(errors) > BALANCED * size:
        verbs = "orbit with it and are" if len(orbiting) > 1 else "orbits with it and is"
        finding = f"{quoted(w.name for w in orbiting)} {verbs} not balanced"
        remedy = "mount three or more equal wheels, equally spaced, or leave out their mass"
        raise ModelError(place, finding, remedy)
    for rider in orbiting:
        if rider.included_in_link != carrier.included_in_link:
            finding = f"wheel {rider.name!r} orbits with it, but not both are included in the link"
            raise ModelError(place, finding, "write the same included_in_link for both")


def with_orbits(carrier: WheelRecord, orbiting: Sequence[WheelRecord]) -> WheelRecord:
    """The carrying wheel with the planets' mass as points on their circle.

    Axial: + sum of m r^2. Transverse: + half of that, and everybody's m z^2 about the
    common centre of mass.
    """
    masses = np.array([carrier.mass, *(rider.mass for rider in orbiting)])
    heights = np.array([0.0, *(along(rider, carrier) for rider in orbiting)])
    orbit = sum(
        rider.mass * float(np.sum(radial_offset(rider, carrier) ** 2)) for rider in orbiting
    )
    centre = float(masses @ heights / masses.sum())
    x, y, z = np.add(carrier.position, centre * np.array(carrier.axis))
    position: Vector3 = (float(x), float(y), float(z))
    return replace(
        carrier,
        mass=float(masses.sum()),
        position=position,
        axial=carrier.axial + orbit,
        transverse=carrier.transverse + 0.5 * orbit + float(masses @ (heights - centre) ** 2),
    )


# -- Whether pitch radii, teeth and kind of a gear pair fit the distance of its two axes ----------
#
# External gears touch at r_a + r_b = d, internal ones at |r_a - r_b| = d, and the pulleys of a
# belt or a chain need r_a + r_b < d. Profile shift moves the axes of spur gears by some percent of
# their distance, so that the first WARNED of it is no doubt and anything up to REFUSED a warning.
# Gear pairs whose sign is stated (bevels, worms, whole trains) have no such distance.


WARNED, REFUSED = 0.05, 0.5  # of the distance of the axes
NESTED = 0.05  # of the ring, by which a flexspline or a disc on the ring's own axis is smaller


def size_doubts(mesh: MeshRecord, bodies: Bodies, source: str) -> list[Note]:
    """Return a doubt about sizes that hardly fit.

    Args:
        mesh: A gear pair, a belt or a chain, whose equation holds.
        bodies: Links and wheels.
        source: The drivetrain file, for errors.

    Raises:
        ModelError: If the two members cannot mesh like that at all.
    """
    if mesh.kind is None or mesh.sign is not None:
        return []
    place = f"{source}, {mesh.place}"
    one, other = (line_of(member, mesh.arm, bodies, place) for member in mesh.members)
    apart = distance(other.point, one)
    refuse_impossible(mesh, apart, place)
    if not mesh.radii or apart <= ONE_LINE:
        return []
    finding, off = misfit_of_radii(mesh, apart)
    if off < WARNED:
        return []
    remedy = "correct radii, kind or positions; give teeth if the radii are not pitch radii"
    if off >= REFUSED:
        raise ModelError(place, finding, remedy)
    shift = "" if mesh.wraps else "; profile shift explains a few percent"
    return [Note(place, f"{finding}{shift}", remedy)]


def refuse_impossible(mesh: MeshRecord, apart: float, place: str) -> None:
    """Raise for members that cannot lie beside or inside each other, whatever the distance."""
    if mesh.wraps:
        finding = pulleys_finding(mesh, apart)
        remedy = "add or correct the positions of the wheels, or correct the radii"
    elif mesh.kind == "external":
        finding = external_finding(mesh, apart)
        remedy = "add or correct the positions, write kind: internal, or give the sign of a train"
    else:
        finding = ring_finding(mesh, apart)
        remedy = (
            "correct sizes and positions, write kind: external, or give the sign of a whole train"
        )
    if finding:
        where = f" (axes {apart:.4g} m apart)" if apart > ONE_LINE else ""
        raise ModelError(place, finding + where, remedy)


def pulleys_finding(mesh: MeshRecord, apart: float) -> str:
    """Return why no belt or chain can run on the two members; empty if one can."""
    a, b = mesh.members
    if apart <= ONE_LINE:
        return f"the axes of {a!r} and {b!r} are one line, on which no belt or chain runs"
    nested = mesh.radii and abs(mesh.sizes[0] - mesh.sizes[1]) >= apart
    return f"of the pulleys {a!r} and {b!r} one lies inside the other" if nested else ""


def external_finding(mesh: MeshRecord, apart: float) -> str:
    """Return why the two members are not side by side; empty if they can be."""
    a, b = mesh.members
    if apart <= ONE_LINE:
        return f"the axes of {a!r} and {b!r} are one line, so that they cannot mesh externally"
    nested = mesh.radii and abs(mesh.sizes[0] - mesh.sizes[1]) >= apart
    return (
        f"of {a!r} and {b!r}, which mesh externally, one lies inside the other" if nested else ""
    )


def ring_finding(mesh: MeshRecord, apart: float) -> str:
    """Return why the smaller member is not inside the larger one; empty if it can be."""
    a, b = mesh.members
    small, large = sorted(mesh.sizes)
    ring, wheel = (a, b) if mesh.sizes[0] > mesh.sizes[1] else (b, a)
    if small == large and apart > COLLINEAR:
        return f"of {a!r} and {b!r}, of equal size, neither is a ring around the other"
    if mesh.radii and apart > large:
        return f"the axis of {wheel!r} is outside of the ring {ring!r} of radius {large:g} m"
    if mesh.radii and apart <= ONE_LINE and large - small > NESTED * large:
        return f"{wheel!r} ({small:g} m) on the axis of the ring {ring!r} ({large:g} m) misses it"
    return ""


def misfit_of_radii(mesh: MeshRecord, apart: float) -> tuple[str, float]:
    """What the pitch radii miss of the distance of the axes: in words, and relative to it."""
    a, b = mesh.sizes
    names = " and ".join(repr(member) for member in mesh.members)
    away = f"the axes of {names} are {apart:.4g} m apart"
    if mesh.wraps:
        off = (a + b - apart) / apart
        return f"{away}, and the pulleys' radii {a:g} + {b:g} m overlap by {100 * off:.3g} %", off
    needed, sum_of = a + b, f"{a:g} + {b:g}"
    if mesh.kind == "internal":
        needed, sum_of = abs(a - b), f"{max(a, b):g} - {min(a, b):g}"
    off = abs(needed - apart) / apart
    words = f"pitch radii {sum_of} = {needed:.4g} m differ by {100 * off:.3g} % of that"
    return f"{away}, and their {words}", float(off)
