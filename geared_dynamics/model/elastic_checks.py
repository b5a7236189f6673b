"""Elastic joints that no mechanism could have, refused by the joint's name."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import DrivetrainRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model.elastic import Elasticity

# Smallest eigenvalue of B scaled to a unit diagonal that is more than rounding.
REGULAR = 1e-12


def refuse_loose_shafts(
    elastic: Elasticity,
    inertia: Array,
    turned: list[int],
    names: tuple[str, ...],
    drivetrain: DrivetrainRecord,
) -> None:
    """Raise where a shaft has no inertia or no motor, a joint no motor, or a passive one one.

    Args:
        elastic: The elastic joints.
        inertia: J of the wheels (w,).
        turned: Wheels that the motors turn (m,).
        names: Coordinates q (n,).
        drivetrain: Records, for places.
    """
    refuse_massless_shafts(elastic, inertia, drivetrain.source)
    if turned:  # without any motor it is a mechanism to look at, not one to drive
        refuse_undriven(elastic, turned, drivetrain.source)
        refuse_undriven_rigid(elastic, turned, names, drivetrain.source)
    refuse_driven_passive(elastic, turned, names, drivetrain)


def labels(elastic: Elasticity, source: str) -> list[tuple[str, str]]:
    """Place and name of the spring before each theta (n_e,)."""
    springs = [name.removesuffix(".theta") for name in elastic.names]
    return [
        (f"{source}, joints.{name}.stiffness", f"the spring of joint {name!r}")
        if k < len(elastic.joint)
        else (f"{source}, springs.{name}", f"spring {name!r}")
        for k, name in enumerate(springs)
    ]


def refuse_massless_shafts(elastic: Elasticity, inertia: Array, source: str) -> None:
    """Raise unless B = Gamma_theta' J Gamma_theta is positive definite."""
    B = elastic.shaft_spin.T @ (inertia[:, None] * elastic.shaft_spin)
    diagonal = np.diag(B)
    springs = labels(elastic, source)
    remedy = "give each spring a wheel with inertia on its motor side, or no stiffness"
    for (place, spring), value in zip(springs, diagonal, strict=True):
        if not value > 0.0:
            raise ModelError(place, f"nothing with inertia turns behind {spring}", remedy)
    if not springs:
        return
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(B * scale[:, None] * scale)
    if values[0] < REGULAR:
        along = np.abs(vectors[:, 0])
        some = [spring for (_, spring), x in zip(springs, along, strict=True) if x > 0.1]
        finding = f"behind {', '.join(some)} turn fewer wheels with inertia than springs"
        raise ModelError(f"{source}, joints", finding, remedy)


def refuse_undriven(elastic: Elasticity, turned: list[int], source: str) -> None:
    """Raise where no motor turns a joint's shaft, neither directly nor through other springs."""
    n = elastic.link_spin.shape[1]
    driven = np.any(elastic.shaft_spin[turned] != 0.0, axis=0)
    drives = elastic.stretch[len(elastic.stiffness) - elastic.count + len(elastic.joint) :, n:]
    for _ in drives:
        for touched in drives != 0.0:
            if np.any(driven & touched):
                driven = driven | touched
    joints = labels(elastic, source)[: len(elastic.joint)]
    for (place, spring), moved in zip(joints, driven[: len(joints)], strict=True):
        if not moved:
            finding = f"no motor turns the shaft behind {spring}"
            remedy = "declare its motor, or the joint as passive: true"
            raise ModelError(place, finding, remedy)


def refuse_undriven_rigid(
    elastic: Elasticity, turned: list[int], names: tuple[str, ...], source: str
) -> None:
    """Raise where an arm with springs has a rigid joint that no motor turns, unless passive."""
    if not elastic.stiffness.size:
        return  # a rigid arm: its functions need no motors
    spin = whole_spin(elastic)[turned]
    for j, name in enumerate(names):
        if not np.any(spin[:, j]) and j not in elastic.passive:
            place = f"{source}, joints.{name}"
            finding = f"no motor turns joint {name!r}, and it is not declared passive"
            remedy = f"declare its motor, or joints.{name}.passive: true (a free joint)"
            raise ModelError(place, finding, remedy)


def whole_spin(elastic: Elasticity) -> Array:
    """Gamma (w, n) with all springs stiff."""
    return np.asarray(elastic.link_spin + elastic.shaft_spin @ elastic.rigid)


def refuse_driven_passive(
    elastic: Elasticity, turned: list[int], names: tuple[str, ...], drivetrain: DrivetrainRecord
) -> None:
    """Raise where a motor turns with a joint that is declared passive."""
    spin = whole_spin(elastic)
    for j in elastic.passive:
        place = f"{drivetrain.source}, joints.{names[j]}.passive"
        if j in elastic.joint:  # by a joint that mimics another
            finding = f"joint {names[j]!r} is passive, and a spring lies in a drive of its motion"
            raise ModelError(place, finding, "declare the joint and its mimics alike")
        for motor, wheel in zip(drivetrain.motors, turned, strict=True):
            if spin[wheel, j] != 0.0:
                finding = f"joint {names[j]!r} is passive, and motor {motor.name!r} turns with it"
                raise ModelError(place, finding, "take out one of the two")
