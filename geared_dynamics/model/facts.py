"""Facts of an arm as frozen arrays: bodies, wheels, limits of joints, and the motor map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen, IntArray, readonly
from geared_dynamics.description.robot_records import JointRecord, LimitRecord
from geared_dynamics.model.gears.rank import rank, scales

# Of a coordinate; ``shaft``: behind a spring, which no joint follows.
JointType = Literal["revolute", "continuous", "prismatic", "shaft"]

# -- Limits of joints -----------------------------------------------------------------------------


# A limit of this size or more stands for none: writers of URDFs put 1e6, 1e9 or 1e16 where
# they have no value and the format demands one.
NO_LIMIT = 1e6


@dataclass(frozen=True, eq=False)
class JointLimits(Frozen):
    """Limits of k joints, infinite where there is none.

    One rule says what is no limit: one that is absent, a velocity or an effort of zero, any
    magnitude of ``NO_LIMIT`` or more, and every position of a continuous joint.

    Attributes:
        lower: Lowest position (k,) [rad or m].
        upper: Highest position (k,).
        velocity: Largest speed (k,) [rad/s or m/s].
        effort: Largest force on the joint (k,) [N m or N].
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array

    @property
    def bounded(self) -> BoolArray:
        """Whether positions have a range: both limits, with room between them (k,)."""
        return np.isfinite(self.lower) & np.isfinite(self.upper) & (self.lower < self.upper)

    def rows(self, index: ArrayLike) -> JointLimits:
        """Limits of the joints with these indices (k,); of index -1 none."""
        chosen = np.asarray(index, np.int64)
        return JointLimits(
            lower=readonly(np.append(self.lower, -np.inf)[chosen]),
            upper=readonly(np.append(self.upper, np.inf)[chosen]),
            velocity=readonly(np.append(self.velocity, np.inf)[chosen]),
            effort=readonly(np.append(self.effort, np.inf)[chosen]),
        )


def joint_limits(joints: Sequence[JointRecord]) -> JointLimits:
    """Limits of joints as their records state them."""
    given = [joint.limit or LimitRecord() for joint in joints]
    turning = np.array([joint.kind == "continuous" for joint in joints], bool)
    lower = magnitudes([limit.lower for limit in given])
    upper = magnitudes([limit.upper for limit in given])
    velocity = magnitudes([limit.velocity or None for limit in given])
    effort = magnitudes([limit.effort or None for limit in given])
    return JointLimits(
        lower=readonly(np.where(turning | np.isinf(lower), -np.inf, lower)),
        upper=readonly(np.where(turning, np.inf, upper)),
        velocity=readonly(velocity),
        effort=readonly(effort),
    )


def magnitudes(values: Sequence[float | None]) -> Array:
    """Values (k,), infinite where there is none or one so large that it stands for none."""
    found = np.array([np.inf if value is None else value for value in values], float)
    return np.where(np.abs(found) < NO_LIMIT, found, np.inf)


# -- Bodies and wheels ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tree(Frozen):
    """Movable bodies (links with what is fixed to them), parents before children.

    A body's frame is the frame of the URDF link that its joint moves. Index -1
    is the root. Body b moves by ``multiplier[b] * q[dof[b]] + offset[b]``.

    Attributes:
        names: Link names, nb of them.
        parent: Parent body (nb,), -1 for the root.
        dof: Coordinate that drives the body (nb,); a mimic joint has its leader's.
        multiplier: Ratio of the body's joint to its coordinate (nb,), 1 without mimic.
        offset: Joint position at q = 0 (nb,) [rad or m], 0 without mimic.
        prismatic: True where the joint slides (nb,).
        rotation: Body frame in the parent body's frame at joint position 0 (nb, 3, 3).
        position: Its origin there (nb, 3) [m].
        axis: Joint axis in the body frame, unit vectors (nb, 3).
        joints: Name of the joint that moves each body, nb of them.
        joint_types: Its type, nb of them.
        limits: Its limits (nb,), those of mimic joints included.
        parameters: Ten parameters of the body with its wheels locked, (nb, 10):
            m, m c (3), Ixx Ixy Ixz Iyy Iyz Izz about the frame's origin.
    """

    names: tuple[str, ...]
    parent: IntArray
    dof: IntArray
    multiplier: Array
    offset: Array
    prismatic: IntArray
    rotation: Array
    position: Array
    axis: Array
    joints: tuple[str, ...]
    joint_types: tuple[JointType, ...]
    limits: JointLimits
    parameters: Array


@dataclass(frozen=True, eq=False)
class SingleWheels(Frozen):
    """Wheels each by itself, where ``Wheels`` counts planets as part of what carries them.

    Attributes:
        holder: The wheel that carries each (w,), -1: a link.
        position: Own centre of mass in the carrier body's frame (w, 3) [m].
        mass: Own mass (w,) [kg], 0 where no file gives it.
        inertia: Own axial moment of inertia (w,) [kg m^2].
        transverse: Across the axis (w,) [kg m^2].
    """

    holder: IntArray
    position: Array
    mass: Array
    inertia: Array
    transverse: Array


@dataclass(frozen=True, eq=False)
class Wheels(Frozen):
    """Axisymmetric bodies that spin in their carriers, w of them.

    Attributes:
        names: Wheel names.
        carrier: Body that holds the bearings (w,), -1 for the root.
        axis: Spin axis, unit vectors in the carrier body's frame (w, 3).
        position: Centre of mass in the carrier body's frame (w, 3) [m].
        inertia: J, axial moment of inertia (w,) [kg m^2].
        spin: Gamma (w, n): spin relative to the carrier = Gamma v [1 or rad/m].
        links: The link that carries each, w of them: the carrier or one that is fixed to it.
        mass: With the mass that orbits with it (w,) [kg].
        transverse: Moment of inertia across the axis (w,) [kg m^2].
        included: Whether the link's own inertial contains it (w,).
        alone: The wheels without what orbits with them.
    """

    names: tuple[str, ...]
    carrier: IntArray
    axis: Array
    position: Array
    inertia: Array
    spin: Array
    links: tuple[str, ...]
    mass: Array
    transverse: Array
    included: BoolArray
    alone: SingleWheels


@dataclass(frozen=True, eq=False)
class Frame(Frozen):
    """A link or wheel: fixed in a body (-1: root), or spinning with a wheel's axis.

    ``rotation`` and ``position`` place it in the body's frame; ``wheel`` is the
    wheel's index, -1 for a link. A wheel's frame is drawn with the wheel locked.
    """

    body: int
    rotation: Array
    position: Array
    wheel: int = -1


# -- Between joints and motors --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MotorMap(Frozen):
    """Between the coordinates x (N,) and the motors (m,): tau = A tau_m, phi = A' x + zeros.

    x is q, or (q, theta) of an arm whose springs are coordinates (``elastic.with_springs``).

    Attributes:
        A: Structure matrix (N, m) [1 or rad/m].
        zeros: What each motor's encoder shows at x = 0 (m,) [rad].
        rank: Of A, the same in all units.
        inverse: A^+ (m, N): the motor torques of least norm that give a force on the
            coordinates, or come nearest to it (least squares) where motors are missing; and
            its transpose the coordinates that the motors show.
    """

    A: Array
    zeros: Array
    rank: int
    inverse: Array

    @property
    def complete(self) -> bool:
        """Whether the motors move, and show, every coordinate independently."""
        return self.rank == len(self.A)

    def coordinates(self, phi: Array) -> Array:
        """Coordinates x (..., N) that the motors' angles phi (..., m) show."""
        return np.asarray((phi - self.zeros) @ self.inverse)


def motor_map(A: Array, zeros: Array) -> MotorMap:
    """Make the map of a structure matrix.

    Args:
        A: Structure matrix (N, m).
        zeros: The encoders' zeros (m,).
    """
    driven = np.flatnonzero(A.any(axis=1))
    inverse, found = np.zeros(A.shape[::-1]), rank(A)
    inverse[:, driven] = least_norm_inverse(A[driven], found)
    return MotorMap(readonly(A), readonly(zeros), found, readonly(inverse))


def least_norm_inverse(A: Array, found: int) -> Array:
    """Inverse (m, k) of A (k, m) of a known rank: of least norm, of least squares, or both."""
    if found == A.shape[0]:
        return least_norm(A)
    if found == A.shape[1]:
        return least_norm(A.T).T
    return np.asarray(np.linalg.pinv(A))


def least_norm(A: Array) -> Array:
    """S (m, k) with A S = 1, of least norm; units of very different size lose nothing.

    Scaling a row does not change which solution is the least, scaling a column would; of a
    square matrix there is only one.

    Args:
        A: A matrix of full row rank (k, m).
    """
    rows, columns = scales(A)
    if A.shape[0] == A.shape[1]:
        return columns[:, None] * np.linalg.inv(rows[:, None] * A * columns) * rows
    Q, R = np.linalg.qr((rows[:, None] * A).T)
    return np.asarray(Q @ np.linalg.inv(R).T * rows)
