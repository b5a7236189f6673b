"""Friction laws of joints and rotors as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.description.records import DrivetrainRecord, FrictionRecord, RobotRecord
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model.topology import Follow

# Rates within which control rounds off the jump of Coulomb friction, where a file gives
# none: well below what an encoder resolves in a control cycle, on either side of a gear.
JOINT_SMOOTHING = 1e-3  # [rad/s or m/s]
ROTOR_SMOOTHING = 0.1  # [rad/s]


@dataclass(frozen=True, eq=False)
class FrictionLaws(Frozen):
    """Friction laws, one a row, k of them; see ``FrictionRecord`` for the formula.

    Row i sees the rate x' and position x of coordinate ``index[i]`` (joint side) or motor
    ``index[i]``: x = multiplier q + shift, and adds multiplier times its force there.

    Attributes:
        index: Coordinate or motor (k,).
        multiplier: A mimic joint's multiplier (k,), else 1.
        shift: Position at q = 0 (k,) [rad or m].
        viscous: (k,) [N m s/rad or N s/m].
        coulomb: For positive and negative rates (k, 2) [N m or N].
        static: Breakaway level likewise (k, 2); equal to ``coulomb`` without Stribeck effect.
        stribeck_speed: (k,), 1 without Stribeck effect.
        load: Part of the load's magnitude (k,).
        offset: Constant force (k,) [N m or N].
        smoothing: Rate within which control smooths the sign (k,), 0: not at all.
        ripple: Rows (law, order, amplitude, phase) (r, 4).
    """

    index: IntArray
    multiplier: Array
    shift: Array
    viscous: Array
    coulomb: Array
    static: Array
    stribeck_speed: Array
    load: Array
    offset: Array
    smoothing: Array
    ripple: Array

    @property
    def count(self) -> int:
        """Number of laws."""
        return len(self.index)


def friction_laws(
    entries: Iterable[tuple[int, float, float, FrictionRecord]], smoothing: float
) -> FrictionLaws:
    """Lay out laws given as (index, multiplier, shift, record).

    Args:
        entries: The laws; one that is all zero is left out.
        smoothing: For records that give none.
    """
    rows = [entry for entry in entries if entry[3] != FrictionRecord()]
    laws = [record for *_, record in rows]
    coulomb = [both(law.coulomb, law.coulomb_negative) for law in laws]
    static = [
        pair if law.static is None else both(law.static, law.static_negative)
        for law, pair in zip(laws, coulomb, strict=True)
    ]
    ripple = [
        (k, wave.order, wave.amplitude, wave.phase)
        for k, law in enumerate(laws)
        for wave in law.ripple
    ]
    return FrictionLaws(
        index=readonly_int([index for index, *_ in rows]),
        multiplier=readonly([row[1] for row in rows]),
        shift=readonly([row[2] for row in rows]),
        viscous=readonly([law.viscous for law in laws]),
        coulomb=readonly(np.reshape(coulomb, (-1, 2))),
        static=readonly(np.reshape(static, (-1, 2))),
        stribeck_speed=readonly([law.stribeck_speed or 1.0 for law in laws]),
        load=readonly([law.load for law in laws]),
        offset=readonly([law.offset for law in laws]),
        smoothing=readonly(
            [smoothing if law.smoothing is None else law.smoothing for law in laws]
        ),
        ripple=readonly(np.reshape(ripple, (-1, 4))),
    )


def both(positive: float, negative: float | None) -> tuple[float, float]:
    """Return the values for both directions."""
    return positive, positive if negative is None else negative


def joint_friction(
    robot: RobotRecord,
    drivetrain: DrivetrainRecord,
    follow: dict[str, Follow],
    frozen: frozenset[str],
) -> FrictionLaws:
    """Friction of every movable joint, mimics included; the drivetrain's replaces the URDF's."""
    given = {j.name: j.friction for j in robot.joints if j.name in follow}
    for entry in drivetrain.joints:
        if entry.name in frozen:
            continue
        if entry.name not in given:
            place = f"{drivetrain.source}, joints.{entry.name}"
            raise UnknownNameError(place, "movable joint", entry.name, given)
        if entry.friction is not None:
            given[entry.name] = entry.friction
    return friction_laws(
        [
            (motion.dof, motion.multiplier, motion.offset, given[name] or FrictionRecord())
            for name, motion in follow.items()
        ],
        JOINT_SMOOTHING,
    )


def linear_friction(laws: FrictionLaws, n: int) -> Array:
    """Viscous and Coulomb friction and offset (3, n) of the coordinates, for identification.

    c+ for v > 0 and -c- for v < 0 are (c+ + c-)/2 sign(v) + (c+ - c-)/2. A mimic joint's
    friction acts on its leader's coordinate: b k^2 and c |k|.
    """
    result = np.zeros((3, n))
    k = laws.multiplier
    mean, difference = laws.coulomb.mean(axis=1), (laws.coulomb @ [0.5, -0.5])
    np.add.at(result[0], laws.index, laws.viscous * k * k)
    np.add.at(result[1], laws.index, mean * np.abs(k))
    np.add.at(result[2], laws.index, (difference + laws.offset) * k)
    return result
