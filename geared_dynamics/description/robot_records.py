"""Frozen records of what the files say: plain numbers and names, SI units.

Everything below ``description`` sees these records and never a file. Vectors
are tuples of floats; a matrix is a tuple of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from geared_dynamics.description.drive_records import BalancerRecord as BalancerRecord
from geared_dynamics.description.drive_records import FrictionRecord as FrictionRecord
from geared_dynamics.description.drive_records import MotorRecord as MotorRecord
from geared_dynamics.description.drive_records import ShaftSpringRecord as ShaftSpringRecord

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


@dataclass(frozen=True)
class WheelRecord:
    """An axisymmetric body carried by a link or a wheel; key path ``wheels.<name>``.

    ``axis`` is a unit vector and ``position`` the centre of mass, both in the
    carrier link's frame (a carrying wheel's axes are its own carrier's);
    ``axial`` and ``transverse`` [kg m^2] are its moments of inertia about its
    centre of mass. ``origin`` says where the record comes from when it is not
    the drivetrain file.
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
    origin: str = ""


@dataclass(frozen=True)
class SpinRecord:
    """spin of ``wheel`` = sum of coefficient * joint rate; key path ``place``.

    ``length`` is the key of the length that the ratio follows from, of a joint that slides.
    ``origin`` says where the record comes from when it is not the drivetrain file.
    """

    wheel: str
    coefficients: tuple[tuple[str, float], ...]
    place: str = "spins"
    length: Literal["", "lead", "pinion_radius"] = ""
    origin: str = ""


@dataclass(frozen=True)
class MeshRecord:
    """A gear pair, belt or chain between two members, wheels or links; key path ``place``.

    (spin of a - arm) size_a = sign (spin of b - arm) size_b, each about its own
    axis, with the fundamental circuit's ``arm``, the link that keeps the distance
    of the two axes. ``sizes`` are teeth, or pitch radii [m] where ``radii`` says so;
    ``wraps`` marks a belt or a chain. ``sign`` is literal
    where given; otherwise external is -1 and internal +1 (belts, chains), times the
    sign of the two axes' dot product. ``axes`` state the members' positive
    directions in the arm's frame where they are not a wheel's or a joint's own.
    ``key`` is the word of the file for ``arm``.
    """

    members: tuple[str, str]
    arm: str
    sizes: tuple[float, float]
    kind: Literal["external", "internal"] | None = None
    sign: Literal[-1, 1] | None = None
    axes: tuple[Vector3, Vector3] | None = None
    place: str = "spins"
    radii: bool = False
    wraps: bool = False
    key: Literal["carrier", "arm"] = field(default="arm", compare=False)


@dataclass(frozen=True)
class PlanetaryRecord:
    """A planetary set; key path ``planetary.<name>``.

    ``fixed``, ``input`` and ``output`` are ``sun``, ``ring`` and ``carrier`` in some
    order. The fixed member belongs to link ``housing``; the output turns with the
    child of ``joint``, or is a wheel when there is no joint. ``members`` holds what
    is said of sun, ring and carrier: a wheel of their own, or the name of a wheel
    that is this member (stacked stages). ``planet`` is one of ``planets`` equal
    planets, ``radius`` [m] its distance from the axis, ``phase`` [rad] the first
    one's angle. ``axis`` and ``position`` (housing's frame) default to the joint's.
    """

    name: str
    housing: str
    fixed: Literal["sun", "ring", "carrier"]
    input: Literal["sun", "ring", "carrier"]
    output: Literal["sun", "ring", "carrier"]
    teeth: tuple[int, int, int]
    planets: int
    planet: WheelRecord
    members: tuple[tuple[str, WheelRecord | str], ...]
    joint: str | None = None
    radius: float = 0.0
    phase: float = 0.0
    axis: Vector3 | None = None
    position: Vector3 | None = None


@dataclass(frozen=True)
class HarmonicRecord:
    """A harmonic drive; key path ``harmonic.<name>``.

    ``fixed`` belongs to link ``housing``, the other spline to the child of
    ``joint``; ``flexspline`` and ``circular_spline`` are numbers of teeth, the
    latter the larger. Spin of the wave generator over joint rate: -f/(c - f) with
    the circular spline fixed, c/(c - f) with the flexspline fixed. ``axis`` and
    ``position`` (housing's frame) default to the joint's.
    """

    name: str
    housing: str
    joint: str
    fixed: Literal["circular_spline", "flexspline"]
    flexspline: int
    circular_spline: int
    wave_generator: WheelRecord
    axis: Vector3 | None = None
    position: Vector3 | None = None


@dataclass(frozen=True)
class JointDriveRecord:
    """What the drivetrain file says of one joint; key path ``joints.<name>``.

    ``stiffness`` and ``damping`` (None: rigid) belong to the spring of an
    elastic joint, ``backlash`` [rad or m] is the play in series with it; of a
    ``passive`` joint, which no motor moves, they are a spring between its links
    that is relaxed at ``rest`` [rad or m]. ``friction`` replaces the URDF's
    ``<dynamics>``; ``offset`` [rad or m] (None: not given, the motors' own or
    zero) is the position at which the encoders of all its motors read zero.
    """

    name: str
    stiffness: float | None = None
    damping: float | None = None
    friction: FrictionRecord | None = None
    offset: float | None = None
    passive: bool = False
    rest: float = 0.0
    backlash: float = 0.0


@dataclass(frozen=True)
class DrivetrainRecord:
    """A drivetrain file, everything in file order; what only the URDF gives comes last.

    ``replaced`` holds the wheels of the URDF that are left out because the file has
    motors on their joints, each with the joints that the two share.
    """

    source: str = "<no drivetrain>"
    wheels: tuple[WheelRecord, ...] = ()
    spins: tuple[SpinRecord, ...] = ()
    meshes: tuple[MeshRecord, ...] = ()
    planetary: tuple[PlanetaryRecord, ...] = ()
    harmonic: tuple[HarmonicRecord, ...] = ()
    motors: tuple[MotorRecord, ...] = ()
    joints: tuple[JointDriveRecord, ...] = ()
    springs: tuple[ShaftSpringRecord, ...] = ()
    balancers: tuple[BalancerRecord, ...] = ()
    replaced: tuple[tuple[str, tuple[str, ...]], ...] = ()
