"""Elastic joints that no mechanism could have, refused by the joint's name."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import DrivetrainRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model.elastic import Elasticity
from geared_dynamics.model.gears.forms import quoted

# Smallest eigenvalue of B scaled to a unit diagonal that is more than rounding.
REGULAR = 1e-12


def refuse_loose_shafts(
    elastic: Elasticity,
    inertia: Array,
    turned: list[int],
    names: tuple[str, ...],
    drivetrain: DrivetrainRecord,
) -> None:
    """Raise where a shaft has no inertia or no motor, or a motor a passive joint.

    Args:
        elastic: The elastic joints.
        inertia: J of the wheels (w,).
        turned: Wheels that the motors turn (m,).
        names: Coordinates q (n,).
        drivetrain: Records, for places.
    """
    refuse_massless_shafts(elastic, inertia, names, drivetrain.source)
    if turned:  # without any motor it is a mechanism to look at, not one to drive
        refuse_undriven(elastic, turned, names, drivetrain.source)
    refuse_driven_passive(elastic, turned, names, drivetrain)


def refuse_massless_shafts(
    elastic: Elasticity, inertia: Array, names: tuple[str, ...], source: str
) -> None:
    """Raise unless B = Gamma_theta' J Gamma_theta is positive definite."""
    B = elastic.shaft_spin.T @ (inertia[:, None] * elastic.shaft_spin)
    diagonal = np.diag(B)
    remedy = "give each elastic joint a rotor with inertia on its motor side, or no stiffness"
    for j, value in zip(elastic.joint, diagonal, strict=True):
        if not value > 0.0:
            finding = f"nothing with inertia turns behind the spring of joint {names[j]!r}"
            raise ModelError(f"{source}, joints.{names[j]}.stiffness", finding, remedy)
    if not elastic.joint.size:
        return
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(B * scale[:, None] * scale)
    if values[0] < REGULAR:
        along = np.abs(vectors[:, 0])
        some = [names[j] for j, x in zip(elastic.joint, along, strict=True) if x > 0.1]
        finding = f"behind the springs of {quoted(some, 'joint')} turn fewer wheels than joints"
        raise ModelError(f"{source}, joints", finding, remedy)


def refuse_undriven(
    elastic: Elasticity, turned: list[int], names: tuple[str, ...], source: str
) -> None:
    """Raise where no motor turns the shaft of an elastic joint."""
    driven = np.any(elastic.shaft_spin[turned] != 0.0, axis=0)
    for j, moved in zip(elastic.joint, driven, strict=True):
        if not moved:
            place = f"{source}, joints.{names[j]}"
            finding = f"no motor turns the shaft behind the spring of joint {names[j]!r}"
            remedy = "declare its motor, or the joint as passive: true"
            raise ModelError(place, finding, remedy)


def refuse_driven_passive(
    elastic: Elasticity, turned: list[int], names: tuple[str, ...], drivetrain: DrivetrainRecord
) -> None:
    """Raise where a motor turns with a joint that is declared passive."""
    for j in elastic.passive:
        for motor, wheel in zip(drivetrain.motors, turned, strict=True):
            both = [elastic.link_spin[wheel, j], *elastic.shaft_spin[wheel, elastic.joint == j]]
            if any(both):
                place = f"{drivetrain.source}, joints.{names[j]}.passive"
                finding = f"joint {names[j]!r} is passive, and motor {motor.name!r} turns with it"
                raise ModelError(place, finding, "take out one of the two")
