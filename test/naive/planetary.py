"""Planetary sets with a fixed carrier as explicit gears, and Fernini's recursion.

``explicit_gears`` puts every gear in its place and finds its spin from the contacts of the
pitch circles, without Willis; with ``naive.lagrangian`` that is a first-principles model.
``recursion`` is (78) to (90) as corrected in print, for links in a plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geared_dynamics.description.drive_records import DrivetrainRecord, SpinRecord, WheelRecord
from geared_dynamics.description.robot_records import RobotRecord
from naive.bodies import Array
from naive.lagrangian import turn
from naive.rolling import Contact, Turn, rolling_spins


@dataclass(frozen=True)
class Gears:
    """What the sets of an arm have in common: pitch radii [m], inertias and masses."""

    planets: int
    sun_radius: float = 0.04
    planet_radius: float = 0.02
    sun_inertia: float = 1.574e-2
    planet_inertia: float = 3.14e-3
    sun_mass: float = 0.0
    planet_mass: float = 0.0
    included: bool = True
    phase: float = 0.0


def explicit_gears(robot: RobotRecord, gears: Gears) -> DrivetrainRecord:
    """The gears of one set per joint of a serial arm, on the link before the joint."""
    joints = [joint for joint in robot.joints if joint.kind == "revolute"]
    wheels: list[WheelRecord] = []
    spins: list[SpinRecord] = []
    for index, joint in enumerate(joints):
        axis = np.array(joint.rotation) @ np.array(joint.axis)
        centre = np.array(joint.position)
        rates = rolling(axis, centre, gears)
        for k, place in enumerate([centre, *planet_places(axis, centre, gears)]):
            name = f"gearbox_{index + 1}." + (f"planet_{k}" if k else "sun")
            wheels.append(gear(name, joint.parent, axis, place, gears))
            spins.append(SpinRecord(name, ((joint.name, float(rates[k])),)))
    return DrivetrainRecord(wheels=tuple(wheels), spins=tuple(spins))


def gear(name: str, carrier: str, axis: Array, place: Array, gears: Gears) -> WheelRecord:
    """A sun or a planet, flat."""
    planet = "planet" in name
    inertia = gears.planet_inertia if planet else gears.sun_inertia
    return WheelRecord(
        name=name,
        carrier=carrier,
        axis=(axis[0], axis[1], axis[2]),
        position=(place[0], place[1], place[2]),
        mass=gears.planet_mass if planet else gears.sun_mass,
        axial=inertia,
        transverse=inertia / 2,
        included_in_link=gears.included,
    )


def across(axis: Array) -> Array:
    """A unit vector perpendicular to the axis."""
    start = np.eye(3)[np.abs(axis).argmin()]
    rest = start - axis * (start @ axis)
    return np.asarray(rest / np.linalg.norm(rest))


def directions(axis: Array, gears: Gears) -> list[Array]:
    """From the axis to each planet."""
    step = 2 * np.pi / gears.planets
    first = across(axis)
    return [turn(axis, gears.phase + k * step) @ first for k in range(gears.planets)]


def planet_places(axis: Array, centre: Array, gears: Gears) -> list[Array]:
    """Centres of the planets."""
    distance = gears.sun_radius + gears.planet_radius
    return [centre + distance * u for u in directions(axis, gears)]


def rolling(axis: Array, centre: Array, gears: Gears) -> Array:
    """Spins of sun and planets per rate of the ring, which is the joint's (1 + planets,)."""
    contacts = []
    sun = [Turn(centre, axis, wheel=0)]
    ring = [Turn(centre, axis, known=[1.0])]
    places = planet_places(axis, centre, gears)
    for k, (place, u) in enumerate(zip(places, directions(axis, gears), strict=True), start=1):
        planet = [Turn(place, axis, wheel=k)]
        contacts.append(Contact(centre + gears.sun_radius * u, sun, planet))
        outside = gears.sun_radius + 2 * gears.planet_radius
        contacts.append(Contact(centre + outside * u, planet, ring))
    return rolling_spins(contacts, 1 + gears.planets, 1)[:, 0]


@dataclass(frozen=True)
class Augmented:
    """An augmented link: length, centre of mass from the joint [m], mass, I_zz about it."""

    length: float
    centre: float
    mass: float
    inertia: float


def recursion(
    links: Sequence[Augmented], ratios: tuple[float, float], gears: Gears, state: Array
) -> Array:
    """Joint torques (n,), eq. (78)-(90); ``ratios`` are G_sgr, G_pgr, ``state`` q, v, a (3, n)."""
    q, v, a = state
    z, n = np.array([0.0, 0.0, 1.0]), len(links)
    spin = ratios[0] * gears.sun_inertia + gears.planets * ratios[1] * gears.planet_inertia
    omega, alpha, fall = np.zeros(3), np.zeros(3), np.array([0.0, 9.81, 0.0])  # (78), (79)
    turns, omegas, alphas, centres, axial = [], [], [], [], []
    for i, link in enumerate(links):
        axial.append(z @ alpha)  # of the carrier; (82), (83) add the gears' own
        back = turn(z, q[i]).T
        alpha = back @ (alpha + a[i] * z + v[i] * np.cross(omega, z))  # (81)
        omega = back @ (omega + v[i] * z)  # (80)
        along, to_centre = (
            np.array([link.length, 0, 0]),
            np.array([link.centre - link.length, 0, 0]),
        )
        fall = (
            back @ fall + np.cross(alpha, along) + np.cross(omega, np.cross(omega, along))
        )  # (84)
        centres.append(
            fall + np.cross(alpha, to_centre) + np.cross(omega, np.cross(omega, to_centre))
        )  # (85)
        turns.append(back.T)
        omegas.append(omega)
        alphas.append(alpha)
    torque, force, moment = np.zeros(n), np.zeros(3), np.zeros(3)
    for i in reversed(range(n)):
        link = links[i]
        onward = turns[i + 1] if i + 1 < n else np.eye(3)
        pushed = onward @ force
        force = pushed + link.mass * centres[i]  # (86)
        to_centre = np.array([link.centre - link.length, 0, 0])
        moment = onward @ moment + np.cross(pushed, to_centre)  # (90)
        moment += np.cross([link.centre, 0, 0], force)
        moment += link.inertia * alphas[i]
        if i + 1 < n:
            moment += spin * (a[i + 1] * z + v[i + 1] * np.cross(omegas[i], z))
        squared = ratios[0] ** 2 * gears.sun_inertia
        squared += gears.planets * ratios[1] ** 2 * gears.planet_inertia
        torque[i] = moment @ z + spin * axial[i] + squared * a[i]  # (89)
    return torque
