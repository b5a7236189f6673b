"""Frozen records of a robot's links and joints as its URDF (or table) states them, SI units.

Those of wheels, gear trains, motors and of the whole drivetrain file: ``drive_records``.
Everything below ``description`` sees these records and never a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from geared_dynamics.description.drive_records import (
    DrivetrainRecord as DrivetrainRecord,  # its former place
)
from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.drive_records import (
    WheelRecord as WheelRecord,  # its former place
)
from geared_dynamics.description.geometry import IDENTITY3, ZERO3, Matrix3, Vector3

JointKind = Literal["revolute", "continuous", "prismatic", "fixed", "floating", "planar"]
# Of joints that have one coordinate; also of those that mimic another.
MOVABLE_KINDS = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class InertiaRecord:
    """Mass [kg], centre of mass [m] and tensor about it [kg m^2], link frame."""

    mass: float
    com: Vector3 = ZERO3
    tensor: Matrix3 = (ZERO3, ZERO3, ZERO3)


@dataclass(frozen=True)
class VisualRecord:
    """A shape that a URDF draws of a link, placed in the link's frame.

    ``size`` is the edges of a box [m], radius and length of a cylinder, the radius of a sphere,
    or the scale of a mesh, whose file is ``mesh`` as the URDF writes it.
    """

    kind: Literal["box", "cylinder", "sphere", "mesh"]
    size: Vector3
    rotation: Matrix3 = IDENTITY3
    position: Vector3 = ZERO3
    mesh: str = ""


@dataclass(frozen=True)
class LinkRecord:
    """A link; ``inertia`` is None where the URDF gives no ``<inertial>``.

    ``visuals`` is what the URDF draws of it, for pictures only.
    """

    name: str
    inertia: InertiaRecord | None = None
    visuals: tuple[VisualRecord, ...] = ()


@dataclass(frozen=True)
class MimicRecord:
    """q = multiplier * q_leader + offset [rad or m]."""

    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class LimitRecord:
    """Joint limits: position [rad or m], effort [N m or N], velocity [1/s]; None: not given."""

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None


@dataclass(frozen=True)
class JointRecord:
    """A joint between two links.

    ``rotation`` and ``position`` place the child's frame in the parent link's
    frame at q = 0; ``axis`` is a unit vector in the child's frame.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    rotation: Matrix3 = IDENTITY3
    position: Vector3 = ZERO3
    axis: Vector3 = (1.0, 0.0, 0.0)
    mimic: MimicRecord | None = None
    limit: LimitRecord | None = None
    friction: FrictionRecord | None = None


@dataclass(frozen=True)
class RobotRecord:
    """A robot as its URDF (or table) states it, joints in file order.

    ``source`` is the file's path or a phrase such as ``<URDF text>``.
    """

    name: str
    source: str
    links: tuple[LinkRecord, ...]
    joints: tuple[JointRecord, ...]
