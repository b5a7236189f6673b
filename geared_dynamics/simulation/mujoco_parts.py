"""The arm taken apart, the constraints of its gears, and what it looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.errors import MissingPackageError, ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.inertia import (
    TRIANGLE_SLACK,
    central_tensor,
    disc,
    doubt,
)
from geared_dynamics.scene.solids import arm_size, depth, disc_of, link_points

# -- The arm taken apart: links without their wheels, and the wheels, as ten parameters each ------
#
# A locked wheel is part of its carrier in ``model.tree``; which part of the two together is
# wheel and which is link matters for its axial inertia only. A wheel of which the files give
# no mass therefore takes a small one out of its carrier, exactly; a wheel on the root any.


SHARE = 1e-3  # of its carrier's mass, for a wheel without one
ON_ROOT = 1.0  # [kg], where the mass does not enter


@dataclass(frozen=True)
class WheelBody:
    """A wheel as a body.

    Attributes:
        name: The wheel's name.
        holder: Name of the wheel that carries it, empty on a link.
        carrier: Body of the link (-1: root).
        position: Centre of mass in the link body's frame (3,) [m].
        axis: Its axis there, a unit vector (3,).
        mass: [kg], above zero.
        axial, transverse: Moments of inertia [kg m^2].
        turn: 1, or -1 where its axis is opposite to its holder's.
        invented: Whether no file gives its mass.
    """

    name: str
    holder: str
    carrier: int
    position: Array
    axis: Array
    mass: float
    axial: float
    transverse: float
    turn: float
    invented: bool

    @property
    def parameters(self) -> Array:
        """Ten parameters (10,) in the link body's frame, locked."""
        return disc(self.mass, self.axial, self.transverse, self.axis, self.position)


def wheel_bodies(model: GearedModel) -> tuple[WheelBody, ...]:
    """The wheels in the model's order, each by itself: orbiting ones are not lumped.

    Args:
        model: Geared model.
    """
    wheels, own, result = model.wheels, model.wheels.alone, []
    for r, name in enumerate(wheels.names):
        carrier, holder, axis = int(wheels.carrier[r]), int(own.holder[r]), wheels.axis[r]
        mass = float(own.mass[r]) or (
            ON_ROOT if carrier < 0 else SHARE * float(model.tree.parameters[carrier, 0])
        )
        axial = float(own.inertia[r])
        require_inertia(model, r, axial, mass)
        result.append(
            WheelBody(
                name,
                wheels.names[holder] if holder >= 0 else "",
                carrier,
                own.position[r],
                axis,
                mass,
                axial,
                max(float(own.transverse[r]), 0.5 * axial),
                float(np.sign(axis @ wheels.axis[holder])) if holder >= 0 else 1.0,
                own.mass[r] == 0.0,
            )
        )
    return tuple(result)


def require_inertia(model: GearedModel, r: int, axial: float, mass: float) -> None:
    """Refuse a wheel that MuJoCo cannot have as a body."""
    place = f"{model.drivetrain_source}, wheels.{model.wheels.names[r]}"
    if axial <= 0.0:
        finding = "has no axial inertia, and MuJoCo needs one above zero for a body that spins"
        raise ModelError(place, finding, "give inertia.axial, or use the engine 'equations'")
    if mass <= 0.0:
        finding = (
            f"has no mass, and its carrier {model.wheels.links[r]!r} has no mass to take it from"
        )
        raise ModelError(place, finding, "give it a mass, or use the engine 'equations'")


def link_bodies(model: GearedModel, wheels: tuple[WheelBody, ...]) -> Array:
    """Ten parameters (nb, 10) of the moving links without their wheels.

    Args:
        model: Geared model.
        wheels: Its wheels.

    Raises:
        ModelError: naming a link that is left without mass, or is no physical body.
    """
    rest = model.tree.parameters.copy()
    size = np.abs(rest)
    for wheel in wheels:
        if wheel.carrier >= 0:
            rest[wheel.carrier] -= wheel.parameters
            np.maximum(size[wheel.carrier], np.abs(wheel.parameters), out=size[wheel.carrier])
    for b, name in enumerate(model.tree.names):
        rest[b][np.abs(rest[b]) <= TRIANGLE_SLACK * size[b]] = 0.0
        refuse_unphysical(model, name, rest[b], [w for w in wheels if w.carrier == b])
    return rest


def refuse_unphysical(model: GearedModel, name: str, rest: Array, wheels: list[WheelBody]) -> None:
    """Refuse a link that MuJoCo cannot have as a moving body."""
    place = f"{model.source}, link {name!r}"
    where = f", without its wheels {', '.join(repr(w.name) for w in wheels)}," if wheels else ""
    remedy = "give it mass and inertia, or use the engine 'equations'"
    if rest[0] <= 0.0:
        finding = f"as a body of its own{where} has no mass ({rest[0]:.3g} kg): MuJoCo needs one"
        raise ModelError(place, finding, remedy)
    moments = np.linalg.eigvalsh(central_tensor(rest))
    if moments[0] <= TRIANGLE_SLACK * moments[2] or moments[2] <= 0.0:
        listed = ", ".join(f"{moment:.3g}" for moment in moments)
        finding = (
            f"as a body of its own{where} has the principal moments {listed} kg m^2: "
            "MuJoCo needs all of them above zero"
        )
        raise ModelError(place, finding, remedy)
    words = doubt(rest)
    if words:
        raise ModelError(place, f"as a body of its own{where} {words}", remedy)


# -- How the wheels' joints follow the links' joints in MuJoCo ------------------------------------
#
# x = (q, theta) are the model's coordinates, phi the angles of the wheels' hinges, each relative
# to what holds the wheel: phi = Q q + T theta. Some wheels, as many as there are theta, stand for
# theta: theta = N (phi_p - Q_p q). All others are tied,
#
#     0 = phi - Q q - T theta(phi_p, q),
#
# each by a fixed tendon of constant length (an equality constraint). Springs are fixed tendons
# between joints and wheels with stiffness and damping.


NOTHING = 1e-12  # relative; a coefficient below is rounding


@dataclass(frozen=True, eq=False)
class GearConstraints:
    """Rows over (q, phi), sizes n and w.

    Attributes:
        follow: phi = follow (q, theta) (w, n + n_e).
        shafts: theta = shafts (q, phi) (n_e, n + w).
        ties: Rows that stay zero (w - n_e, n + w).
        tied: The wheel that each tie is for.
        stretch: Of the springs, P x = stretch (q, phi) (s, n + w).
    """

    follow: Array
    shafts: Array
    ties: Array
    tied: tuple[int, ...]
    stretch: Array


def gearing(model: GearedModel, wheels: tuple[WheelBody, ...]) -> GearConstraints:
    """Lay out the gears of a model."""
    elastic, n, w = model.elasticity, model.n, len(wheels)
    index = {wheel.name: r for r, wheel in enumerate(wheels)}
    spins = np.hstack([elastic.link_spin, elastic.shaft_spin])
    relative = np.eye(w)  # phi from the spins relative to the links
    for r, wheel in enumerate(wheels):
        if wheel.holder:
            relative[r, index[wheel.holder]] = -wheel.turn
    follow = relative @ spins
    pivots = independent(follow[:, n:])
    inverse = np.linalg.inv(follow[pivots, n:])
    shafts = np.zeros((elastic.count, n + w))
    shafts[:, :n] = -inverse @ follow[pivots, :n]
    shafts[:, n + pivots] = inverse
    clean(shafts)
    tied = tuple(r for r in range(w) if r not in set(pivots.tolist()))
    ties = np.zeros((len(tied), n + w))
    for row, r in zip(ties, tied, strict=True):
        row[:n], row[n + r] = -follow[r, :n], 1.0
        row -= follow[r, n:] @ shafts
    clean(ties)
    stretch = elastic.stretch[:, n:] @ shafts
    stretch[:, :n] += elastic.stretch[:, :n]
    clean(stretch)
    return GearConstraints(follow, shafts, ties, tied, stretch)


def independent(rows: Array) -> IntArray:
    """Choose as many rows (w, k) as there are columns, well conditioned: by elimination."""
    left, chosen = rows.copy(), []
    for _ in range(rows.shape[1]):
        size = np.linalg.norm(left, axis=1)
        r = int(np.argmax(size))
        chosen.append(r)
        unit = left[r] / size[r]
        left -= np.outer(left @ unit, unit)
    return np.array(sorted(chosen), np.int64)


def clean(rows: Array) -> None:
    """Set what is rounding alone to zero, in place."""
    for row in rows:
        row[np.abs(row) <= NOTHING * np.abs(row).max(initial=0.0)] = 0.0


# -- MuJoCo, imported when it is needed -----------------------------------------------------------


def mujoco() -> Any:
    """Import MuJoCo (an untyped C++ module) or say how to install it."""
    try:
        import mujoco as package
    except ImportError:
        raise MissingPackageError("simulation with MuJoCo", "mujoco", "sim") from None
    return package


def set_coefficient(element: Any, name: str, value: float) -> None:
    """Set a stiffness or damping: a number, or the first of a polynomial (MuJoCo 4)."""
    if np.ndim(getattr(element, name)):
        polynomial = np.zeros(np.shape(getattr(element, name)))
        polynomial[0] = value
        setattr(element, name, polynomial)
    else:
        setattr(element, name, value)


def coefficient(element: Any, name: str) -> float:
    """The number that ``set_coefficient`` sets."""
    return float(np.ravel(getattr(element, name))[0])


# -- What the arm looks like: capsules along the links, cylinders for joints and wheels -----------


LINK = (0.86, 0.87, 0.89, 1.0)
ACCENT = (0.95, 0.56, 0.16, 1.0)
JOINT = (0.24, 0.26, 0.30, 1.0)
WHEEL = (0.16, 0.45, 0.72, 1.0)
SPOKE = (0.96, 0.92, 0.72, 1.0)


def add_shapes(model: GearedModel, wheels: tuple[WheelBody, ...], bodies: dict[int, Any]) -> None:
    """Add geoms without mass and contact."""
    size = arm_size(model)
    points = link_points(model)
    for b, places in points.items():
        thick = 0.05 * size * (0.9 ** depth(model, b))
        for k, place in enumerate(places):
            if np.linalg.norm(place) > 0.02 * size:
                capsule(bodies[b], np.zeros(3), place, thick, ACCENT if b % 2 else LINK, k)
        if b >= 0 and not model.tree.prismatic[b]:
            axis = model.tree.axis[b]
            cylinder(bodies[b], np.zeros(3), axis, 1.25 * thick, 1.35 * thick, JOINT)
    foot = 0.09 * size
    under = max([foot, *(0.06 * size - w.position[2] for w in wheels if w.carrier < 0)])
    drop = np.array([0.0, 0.0, -0.5 * under])
    cylinder(bodies[-1], drop, np.array([0.0, 0.0, 1.0]), 1.3 * foot, 0.5 * under, JOINT)
    for wheel in wheels:
        add_wheel_shape(bodies, wheel, size)


def capsule(
    body: Any, start: Array, end: Array, radius: float, colour: tuple[float, ...], k: int
) -> None:
    """Add a capsule between two points."""
    geom = decoration(body, mujoco().mjtGeom.mjGEOM_CAPSULE, colour)
    geom.fromto = np.concatenate([start, end])
    geom.size = [radius * (1.0 if k == 0 else 0.8), 0.0, 0.0]


def cylinder(
    body: Any, centre: Array, axis: Array, radius: float, half: float, colour: tuple[float, ...]
) -> None:
    """Add a cylinder about an axis."""
    geom = decoration(body, mujoco().mjtGeom.mjGEOM_CYLINDER, colour)
    geom.fromto = np.concatenate([centre - half * axis, centre + half * axis])
    geom.size = [radius, 0.0, 0.0]


def decoration(body: Any, kind: Any, colour: tuple[float, ...]) -> Any:
    """Add a geom that is to be seen and nothing else."""
    geom = body.add_geom(type=kind, rgba=colour, contype=0, conaffinity=0)
    geom.mass, geom.density = 0.0, 0.0
    return geom


def add_wheel_shape(bodies: dict[int, Any], wheel: WheelBody, size: float) -> None:
    """Add a cylinder of the wheel's own inertia, with a spoke that shows its turn."""
    mass = 0.0 if wheel.invented else wheel.mass
    radius, half = disc_of(mass, wheel.axial, wheel.transverse, size)
    body = find(bodies[-1], wheel.name)
    up = np.array([0.0, 0.0, 1.0])
    cylinder(body, np.zeros(3), up, radius, half, WHEEL)
    geom = decoration(body, mujoco().mjtGeom.mjGEOM_BOX, SPOKE)
    geom.size = [0.92 * radius, 0.14 * radius, 1.06 * half]


def find(root: Any, name: str) -> Any:
    """Return a body below another by name."""
    return next(body for body in root.find_all(mujoco().mjtObj.mjOBJ_BODY) if body.name == name)
