"""What is known of a robot beside its links: the words that all commands and reports share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.model.drive_arrays import FrictionLaws, Motors
from geared_dynamics.model.elasticity import Elasticity

Extent = Literal["none", "partial", "all"]

NO_ROTORS = (
    "No rotor inertia is known, so nothing can be said of rotors: give ratios and rotor inertias "
    "in a drivetrain file (`geared-dynamics init ROBOT.urdf` writes one to fill in)."
)


class Knowledge(NamedTuple):
    """For how many of a robot's joints the files state something.

    Attributes:
        rotors: A wheel that turns with the joint has inertia about its axis.
        friction: The joint or a motor that moves it has friction.
        limits: The joint has limits of velocity and effort, and of position unless continuous.
        motors: A motor moves it whose torque constant and resistance are known.
        springs: A spring is between the joint and its motor.
        without_rotors: Names of the joints for which no rotor inertia is known.
    """

    rotors: Extent
    friction: Extent
    limits: Extent
    motors: Extent
    springs: Extent
    without_rotors: tuple[str, ...]

    @property
    def rotor_note(self) -> str:
        """What to know before comparing models of the rotors; empty if all inertias are known."""
        if self.rotors == "none":
            return NO_ROTORS
        if self.rotors == "all":
            return ""
        names = ", ".join(self.without_rotors)
        return f"No rotor inertia is known for {names}; what is said of rotors leaves theirs out."


def knowledge_of(
    joint_names: Sequence[str],
    spin: Array,
    inertia: Array,
    motors: Motors,
    friction: FrictionLaws,
    elasticity: Elasticity,
    limited: BoolArray,
) -> Knowledge:
    """Look at every joint of a model.

    Args:
        joint_names: Coordinates (n,).
        spin: Gamma (w, n), of each wheel per joint rate [1 or rad/m].
        inertia: J (w,) [kg m^2].
        motors: Its motors.
        friction: Friction of the joints.
        elasticity: Its springs.
        limited: Which joints have all their limits (n,).
    """
    moves = spin[motors.wheel].T != 0.0  # (n, m)
    rotors = (spin[inertia > 0.0] != 0.0).any(axis=0)
    electrics = np.isfinite(motors.resistance) & np.isfinite(motors.torque_constant)
    numbers = np.arange(len(joint_names))
    rubs = np.isin(numbers, friction.index) | moves[:, motors.friction.index].any(axis=1)
    return Knowledge(
        rotors=extent(rotors),
        friction=extent(rubs),
        limits=extent(limited),
        motors=extent(moves[:, electrics].any(axis=1)),
        springs=extent(np.isin(numbers, elasticity.joint)),
        without_rotors=tuple(
            name for name, known in zip(joint_names, rotors, strict=True) if not known
        ),
    )


def extent(known: BoolArray) -> Extent:
    """None, some or all of the joints."""
    if not known.any():
        return "none"
    return "all" if known.all() else "partial"
