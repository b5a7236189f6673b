"""Frozen records of a drivetrain file, SI units: ``DrivetrainRecord`` and all that it holds.

Wheels, their spins and gear trains; motors, friction and springs. Those of links and joints:
``robot_records``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from geared_dynamics.description.geometry import Vector3

Point = tuple[str, Vector3]

# Back-EMF over torque constant of a power-consistent motor, by kind: u i = k_e s i, or
# 3/2 u i in phase amplitudes, is the mechanical power k_t i s.
EMF_PER_TORQUE = {"dc": 1.0, "brushless": 2.0 / 3.0}


@dataclass(frozen=True)
class RippleRecord:
    """A force that repeats with the position x: amplitude * sin(order * x + phase).

    x is the joint's position on the joint side, the rotor's angle relative to its
    carrier on the motor side (cogging).
    """

    order: float
    amplitude: float
    phase: float = 0.0


@dataclass(frozen=True)
class FrictionRecord:
    """Friction of a joint (joint side) or of a rotor (motor side).

    The force against a motion at rate v, with load T and position x:

        viscous v + level sign(v) + offset + ripple(x)
        level = coulomb + (static - coulomb) exp(-(v / stribeck_speed)^2) + load |T|

    Units: N m (s/rad), or N (s/m) at a prismatic joint. ``coulomb`` and ``static``
    hold for v > 0; their ``_negative`` twins for v < 0, None: the same. ``static``
    None: no Stribeck effect. ``load`` has no unit. ``smoothing`` is the rate within
    which control replaces the sign by tanh(v / smoothing); None: the default.
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    coulomb_negative: float | None = None
    static: float | None = None
    static_negative: float | None = None
    stribeck_speed: float | None = None
    load: float = 0.0
    offset: float = 0.0
    ripple: tuple[RippleRecord, ...] = ()
    smoothing: float | None = None


@dataclass(frozen=True)
class ThermalRecord:
    """I^2 t budget: what the winding stands for ever, and how fast it warms.

    ``continuous_current`` [A], ``time_constant`` [s].
    """

    continuous_current: float
    time_constant: float


@dataclass(frozen=True)
class MotorLimitRecord:
    """Limits of a motor, magnitudes, motor side; None: not given.

    ``voltage`` [V], ``current`` [A], ``torque`` [N m], ``speed`` [rad/s];
    ``envelope`` lists (speed, torque) with speed rising: the torque that the drive
    gives at that speed, straight lines between.
    """

    voltage: float | None = None
    current: float | None = None
    torque: float | None = None
    speed: float | None = None
    envelope: tuple[tuple[float, float], ...] = ()
    thermal: ThermalRecord | None = None


@dataclass(frozen=True)
class MotorRecord:
    """A motor acts on one wheel; key path ``motors.<name>``.

    ``resistance`` [ohm], ``inductance`` [H], ``torque_constant`` [N m/A],
    ``back_emf_constant`` [V s/rad]; None: not given. A brushless motor is meant as
    its q-axis equivalent in phase amplitudes, where a power-consistent motor has
    torque constant = 3/2 back-EMF constant; a DC motor has both equal.
    ``pole_pairs`` (0: not given) gives a brushless motor its d-axis voltage.
    ``driving`` and ``backdriving`` are the gear's efficiencies.

    ``offsets`` are the joint positions [rad or m] at which its own encoder reads zero,
    of a URDF's transmission; ``joints.<name>.offset`` of the drivetrain file goes
    before. ``urdf_origin`` says where in the URDF the record comes from; it is empty for one of
    that file.
    """

    name: str
    wheel: str
    kind: Literal["dc", "brushless"] = "dc"
    resistance: float | None = None
    inductance: float = 0.0
    torque_constant: float | None = None
    back_emf_constant: float | None = None
    pole_pairs: int = 0
    friction: FrictionRecord = FrictionRecord()
    driving: float = 1.0
    backdriving: float = 1.0
    limits: MotorLimitRecord = MotorLimitRecord()
    offsets: tuple[tuple[str, float], ...] = ()
    urdf_origin: str = ""


@dataclass(frozen=True)
class ShaftSpringRecord:
    """A spring inside a drive, between two shafts; key path ``springs.<name>``.

    ``motor_side`` and ``link_side`` are wheels that turn in a fixed ratio when the spring is
    stiff; ``others`` turn with the first in theirs whether it is or not. Torque on the first,
    about its axis: stiffness times what it is turned beyond its ratio to the second
    [N m/rad], and ``damping`` [N m s/rad]; ``backlash`` [rad] is play there.
    """

    name: str
    motor_side: str
    link_side: str
    others: tuple[str, ...]
    stiffness: float
    damping: float = 0.0
    backlash: float = 0.0


@dataclass(frozen=True)
class TorsionSpringRecord:
    """A spring on one joint; key path ``balancers.<name>``.

    Force on the joint: preload - stiffness (q - rest) [N m or N].
    """

    name: str
    joint: str
    stiffness: float
    rest: float = 0.0
    preload: float = 0.0


@dataclass(frozen=True)
class LineElementRecord:
    """A spring between two points of two links; key path ``balancers.<name>``.

    ``anchors`` are (link, point in the link's frame [m]). The tension F [N] pulls the
    anchors together, a negative one pushes them apart; l is their distance [m].

    ``kind`` and what it reads:

    - ``coil``: F = preload + stiffness (l - length)
    - ``gas``: F = +-area pressure (volume / (volume -+ area (l - length)))^exponent, upper
      sign where ``pull`` (the gas is pressed as the anchors part), lower where it pushes;
      ``pressure`` [Pa] and ``volume`` [m^3] are those at l = length
    - ``constant``: F = preload
    """

    name: str
    kind: Literal["coil", "gas", "constant"]
    anchors: tuple[Point, Point]
    length: float = 0.0
    stiffness: float = 0.0
    preload: float = 0.0
    area: float = 0.0
    pressure: float = 0.0
    volume: float = 0.0
    exponent: float = 1.0
    pull: bool = True


BalancerRecord = TorsionSpringRecord | LineElementRecord


@dataclass(frozen=True)
class WheelRecord:
    """An axisymmetric body carried by a link or a wheel; key path ``wheels.<name>``.

    ``axis`` is a unit vector and ``position`` the centre of mass, both in the
    carrier link's frame (a carrying wheel's axes are its own carrier's);
    ``axial`` and ``transverse`` [kg m^2] are its moments of inertia about its
    centre of mass. ``urdf_origin`` says where in the URDF the record comes from; it is empty
    for one of the drivetrain file.
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
    urdf_origin: str = ""


@dataclass(frozen=True)
class SpinRecord:
    """spin of ``wheel`` = sum of coefficient * joint rate; key path ``place``.

    ``length`` is the key of the length that the ratio follows from, of a joint that slides.
    ``urdf_origin`` says where in the URDF the record comes from; it is empty for one of the
    drivetrain file.
    """

    wheel: str
    coefficients: tuple[tuple[str, float], ...]
    place: str = "spins"
    length: Literal["", "lead", "pinion_radius"] = ""
    urdf_origin: str = ""


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
