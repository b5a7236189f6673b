"""Frozen records of what the files say: plain numbers and names, SI units.

Everything below ``description`` sees these records and never a file. Vectors
are tuples of floats; a matrix is a tuple of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]
JointKind = Literal["revolute", "continuous", "prismatic", "fixed", "floating", "planar"]

ZERO3: Vector3 = (0.0, 0.0, 0.0)
IDENTITY3: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class InertiaRecord:
    """Mass [kg], centre of mass [m] and tensor about it [kg m^2], link frame."""

    mass: float
    com: Vector3 = ZERO3
    tensor: Matrix3 = (ZERO3, ZERO3, ZERO3)


@dataclass(frozen=True)
class LinkRecord:
    """A link; ``inertia`` is None where the URDF gives no ``<inertial>``."""

    name: str
    inertia: InertiaRecord | None = None


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
class FrictionRecord:
    """Joint-side friction: viscous [N m s/rad or N s/m], Coulomb [N m or N]."""

    viscous: float = 0.0
    coulomb: float = 0.0


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


@dataclass(frozen=True)
class WheelRecord:
    """An axisymmetric body carried by a link; key path ``wheels.<name>``.

    ``axis`` is a unit vector and ``position`` the centre of mass, both in the
    carrier link's frame; ``axial`` and ``transverse`` [kg m^2] are its moments
    of inertia about its centre of mass.
    """

    name: str
    carrier: str
    axis: Vector3
    position: Vector3
    mass: float
    axial: float
    transverse: float
    side: Literal["motor", "link"] = "motor"
    included_in_link: bool = False


@dataclass(frozen=True)
class SpinRecord:
    """spin of ``wheel`` = sum of coefficient * joint rate; key path ``spins[i]``."""

    wheel: str
    coefficients: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class MotorRecord:
    """A motor acts on one wheel; key path ``motors.<name>``."""

    name: str
    wheel: str


@dataclass(frozen=True)
class JointDriveRecord:
    """What the drivetrain file says of one joint; key path ``joints.<name>``.

    ``stiffness`` and ``damping`` (None: rigid) belong to the spring of an
    elastic joint; ``friction`` replaces the URDF's ``<dynamics>``.
    """

    name: str
    stiffness: float | None = None
    damping: float | None = None
    friction: FrictionRecord | None = None


@dataclass(frozen=True)
class DrivetrainRecord:
    """A drivetrain file, everything in file order."""

    source: str = "<no drivetrain>"
    wheels: tuple[WheelRecord, ...] = ()
    spins: tuple[SpinRecord, ...] = ()
    motors: tuple[MotorRecord, ...] = ()
    joints: tuple[JointDriveRecord, ...] = ()
