"""From records to the model."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

import numpy as np

from geared_dynamics.arrays import (
    Array,
    ArrayLike,
    readonly,
    readonly_bool,
    readonly_int,
    reals,
    refuse_too_large,
)
from geared_dynamics.description.drive_records import DrivetrainRecord, WheelRecord
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.description.robot_records import JointRecord, RobotRecord
from geared_dynamics.errors import ArrayError, ModelError, Note, UnknownNameError, report
from geared_dynamics.model.balancer_arrays import NO_BALANCERS, build_balancers
from geared_dynamics.model.drive_arrays import build_motors, joint_friction, motor_doubts
from geared_dynamics.model.elasticity import build_elasticity, refuse_loose_shafts, shaft_doubts
from geared_dynamics.model.facts import (
    Follow,
    Frame,
    JointType,
    Placement,
    SingleWheels,
    Tree,
    Wheels,
    body_order,
    coordinates,
    following,
    joint_limits,
    placements,
    refuse_free_joints,
)
from geared_dynamics.model.gears import ResolvedDrivetrain, resolve
from geared_dynamics.model.inertia import (
    doubt,
    locked_parameters,
    moved,
    parameters_of_record,
    remaining_doubts,
)
from geared_dynamics.model.model import GearedModel, Records
from geared_dynamics.model.motor_map import held_ratios, refuse_dependent, refuse_idle

EARTH = (0.0, 0.0, -9.81)  # [m/s^2], root frame


def build_model(
    robot: RobotRecord,
    drivetrain: DrivetrainRecord | None = None,
    *,
    gravity: ArrayLike = EARTH,
    strict: bool = False,
    frozen: frozenset[str] = frozenset(),
    notes: Iterable[Note] = (),
) -> GearedModel:
    """Build the model of a robot and its drives.

    Args:
        robot: A tree of links.
        drivetrain: Wheels, spins, gear trains, motors, joint data; the model keeps it with
            its trains solved.
        gravity: Acceleration of free fall in the root link's frame (3,) [m/s^2].
        strict: Refuse what would otherwise only be warned of.
        frozen: Joints of the file that were frozen (and are fixed in ``robot``); what
            the drivetrain says of them has no effect.
        notes: What was noted while reading; doubts of all notes are reported together.
    """
    refuse_free_joints(robot)
    names = coordinates(robot)
    if not names:
        place, remedy = robot.source, "give the robot a revolute or prismatic joint"
        raise ModelError(place, "has no movable joint", remedy)
    drivetrain = resolve(robot, drivetrain or DrivetrainRecord(), frozen)
    follow = following(robot)
    bodies = body_order(robot)
    links = placements(robot, bodies)
    wheels = build_wheels(drivetrain, links, follow, frozen, len(names))
    shafts = [motor.wheel for motor in drivetrain.motors]
    turned = [wheels.names.index(name) for name in shafts]
    held = held_ratios(drivetrain, shafts, frozen)
    A = wheels.spin[turned].T
    refuse_idle(A, held, drivetrain, follow)
    refuse_dependent(A, held, shafts, names, drivetrain.source)
    friction = joint_friction(robot, drivetrain, follow, frozen)
    elastic = build_elasticity(drivetrain, follow, wheels.spin, names)
    refuse_loose_shafts(elastic, wheels.inertia, turned, names, drivetrain)
    parameters = locked_bodies(robot, drivetrain, links, len(bodies))
    notes = [*notes, *tensor_doubts(robot, bodies, parameters)]
    notes += [x for motor in drivetrain.motors for x in motor_doubts(motor, drivetrain.source)]
    notes += shaft_doubts(drivetrain)
    notes += drivetrain.doubts if isinstance(drivetrain, ResolvedDrivetrain) else ()
    notes += remaining_doubts(robot, drivetrain, links, bodies)
    report(notes, strict, stacklevel=3)
    return GearedModel(
        name=robot.name,
        joint_names=names,
        tree=build_tree(bodies, links, follow, parameters),
        wheels=wheels,
        motors=build_motors(robot, drivetrain, A, turned, encoder_zeros(drivetrain, follow)),
        joint_friction=friction,
        balancers=build_balancers(robot, drivetrain, links, follow, frozen)
        if drivetrain.balancers
        else NO_BALANCERS,
        elasticity=elastic,
        gravity=gravity_vector(gravity),
        frame_table=MappingProxyType(frames_of(links, wheels)),
        tips=tips(robot, links),
        records=Records(robot, drivetrain),
        notes=tuple(notes),
    )


def gravity_vector(gravity: ArrayLike) -> Array:
    """Check and freeze the acceleration of free fall."""
    try:
        vector = readonly(reals(gravity))
    except (TypeError, ValueError, OverflowError):
        vector = np.full(1, np.nan)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ArrayError(
            "gravity", f"is {gravity!r}", "give three finite numbers in m/s^2, root link's frame"
        )
    refuse_too_large(float(np.abs(vector).max()), "gravity")
    return vector


def build_tree(
    bodies: tuple[JointRecord, ...],
    links: Mapping[str, Placement],
    follow: Mapping[str, Follow],
    parameters: Array,
) -> Tree:
    """Arrays of the movable bodies; each frame placed in its parent body's frame."""
    parents = [links[joint.parent] for joint in bodies]
    motion = [follow[joint.name] for joint in bodies]
    return Tree(
        names=tuple(joint.child for joint in bodies),
        parent=readonly_int([place.body for place in parents]),
        dof=readonly_int([m.dof for m in motion]),
        multiplier=readonly([m.multiplier for m in motion]),
        offset=readonly([m.offset for m in motion]),
        prismatic=readonly_int([joint.kind == "prismatic" for joint in bodies]),
        rotation=readonly(
            [p.rotation @ np.array(j.rotation) for p, j in zip(parents, bodies, strict=True)]
        ),
        position=readonly(
            [p.position + p.rotation @ j.position for p, j in zip(parents, bodies, strict=True)]
        ),
        axis=readonly([joint.axis for joint in bodies]),
        joints=tuple(joint.name for joint in bodies),
        joint_types=tuple(cast("JointType", joint.kind) for joint in bodies),
        limits=joint_limits(bodies),
        parameters=readonly(parameters),
    )


def locked_bodies(
    robot: RobotRecord,
    drivetrain: DrivetrainRecord,
    links: Mapping[str, Placement],
    count: int,
) -> Array:
    """Ten parameters of each body (count, 10): links fixed together, wheels locked."""
    parameters = np.zeros((count + 1, 10))  # the last row gathers what is fixed to the root
    for link in robot.links:
        place = links[link.name]
        own = parameters_of_record(link.inertia)
        parameters[place.body] += moved(own, place.rotation, place.position)
    for wheel in drivetrain.wheels:
        if not wheel.included_in_link:
            place = links[wheel.carrier]
            parameters[place.body] += locked_parameters(wheel, place)
    return parameters[:count]


def tensor_doubts(
    robot: RobotRecord, bodies: tuple[JointRecord, ...], parameters: Array
) -> list[Note]:
    """Name the bodies that no mass distribution could make."""
    remedy = "correct mass, centre and inertia"
    return [
        Note(
            f"{robot.source}, link {joint.child!r}/inertial",
            f"with what is fixed to it, {finding}",
            remedy,
        )
        for joint, body in zip(bodies, parameters, strict=True)
        if (finding := doubt(body))
    ]


def tips(robot: RobotRecord, links: Mapping[str, Placement]) -> tuple[str, ...]:
    """Links that move and have nothing attached, neither by a joint nor fixed."""
    parents = {joint.parent for joint in robot.joints}
    ends = (link.name for link in robot.links if link.name not in parents)
    return tuple(name for name in ends if links[name].body >= 0)


def frames_of(links: Mapping[str, Placement], wheels: Wheels) -> dict[str, Frame]:
    """Every link and wheel; a wheel's frame has its z axis along the spin axis.

    Its origin is its own centre of mass, also where the wheel's mass includes that of others.
    """
    frames = {
        name: Frame(place.body, readonly(place.rotation), readonly(place.position))
        for name, place in links.items()
    }
    for r, name in enumerate(wheels.names):
        rotation = readonly(rotation_with_z(wheels.axis[r]))
        centre = readonly(wheels.alone.position[r])
        frames[name] = Frame(int(wheels.carrier[r]), rotation, centre, wheel=r)
    return frames


# -- Wheels: their carriers, axes and spins; locked, they join their carriers ---------------------


def build_wheels(
    drivetrain: DrivetrainRecord,
    links: Mapping[str, Placement],
    follow: Mapping[str, Follow],
    frozen: frozenset[str],
    n: int,
) -> Wheels:
    """Place the wheels in their bodies and read their spins.

    Args:
        drivetrain: Records; every wheel is fixed by exactly one spin.
        links: Where each link sits.
        follow: How movable joints follow coordinates.
        frozen: Joints that do not move; a wheel's share from them is zero.
        n: Number of coordinates.
    """
    wheels = drivetrain.wheels
    for wheel in wheels:
        refuse_too_large(wheel.axial, f"{drivetrain.source}, wheels.{wheel.name}.inertia.axial")
    carriers = [carrier_of(drivetrain, wheel, links) for wheel in wheels]
    axes = [link.rotation @ wheel.axis for link, wheel in zip(carriers, wheels, strict=True)]
    return Wheels(
        names=tuple(wheel.name for wheel in wheels),
        carrier=readonly_int([link.body for link in carriers]),
        axis=readonly(np.reshape(axes, (-1, 3))),
        position=centres(wheels, carriers),
        inertia=readonly([wheel.axial for wheel in wheels]),
        spin=readonly(spin_matrix(drivetrain, follow, frozen, n)),
        links=tuple(wheel.carrier for wheel in wheels),
        mass=readonly([wheel.mass for wheel in wheels]),
        transverse=readonly([wheel.transverse for wheel in wheels]),
        included=readonly_bool([wheel.included_in_link for wheel in wheels]),
        alone=single_wheels(drivetrain, carriers),
    )


def centres(wheels: Sequence[WheelRecord], carriers: Sequence[Placement]) -> Array:
    """Centres of mass (w, 3) in the bodies' frames."""
    pairs = zip(carriers, wheels, strict=True)
    rows = [link.position + link.rotation @ wheel.position for link, wheel in pairs]
    return readonly(np.reshape(rows, (-1, 3)))


def single_wheels(drivetrain: DrivetrainRecord, carriers: Sequence[Placement]) -> SingleWheels:
    """The wheels each by itself, as the files state them."""
    names = [wheel.name for wheel in drivetrain.wheels]
    stated, riders = dict[str, WheelRecord](), dict[str, str]()
    if isinstance(
        drivetrain, ResolvedDrivetrain
    ):  # without trains ``resolve`` returns the records
        stated, riders = {w.name: w for w in drivetrain.apart}, dict(drivetrain.riders)
    own = [stated.get(wheel.name, wheel) for wheel in drivetrain.wheels]
    return SingleWheels(
        holder=readonly_int([names.index(riders[n]) if n in riders else -1 for n in names]),
        position=centres(own, carriers),
        mass=readonly([wheel.mass for wheel in own]),
        inertia=readonly([wheel.axial for wheel in own]),
        transverse=readonly([wheel.transverse for wheel in own]),
    )


def carrier_of(
    drivetrain: DrivetrainRecord, wheel: WheelRecord, links: Mapping[str, Placement]
) -> Placement:
    """Find where the wheel's carrier sits."""
    place = f"{drivetrain.source}, wheels.{wheel.name}"
    if wheel.name in links:
        raise ModelError(place, "is also the name of a link", "rename the wheel")
    if wheel.carrier not in links:
        raise UnknownNameError(f"{place}.carrier", "link", wheel.carrier, links)
    return links[wheel.carrier]


def spin_matrix(
    drivetrain: DrivetrainRecord, follow: Mapping[str, Follow], frozen: frozenset[str], n: int
) -> Array:
    """Gamma (w, n): spin relative to the carrier per coordinate rate [1 or rad/m]."""
    row = {wheel.name: r for r, wheel in enumerate(drivetrain.wheels)}
    gamma = np.zeros((len(row), n))
    for spin in drivetrain.spins:
        for joint, coefficient in spin.coefficients:
            if joint in follow:
                motion = follow[joint]
                ratio = coefficient * motion.multiplier
                refuse_too_large(ratio, f"{drivetrain.source}, {spin.place}")
                gamma[row[spin.wheel], motion.dof] += ratio
            elif joint not in frozen:
                place = f"{drivetrain.source}, {spin.place}"
                raise UnknownNameError(place, "movable joint", joint, follow)
    return gamma


def encoder_zeros(drivetrain: DrivetrainRecord, follow: Mapping[str, Follow]) -> Array:
    """What each motor's encoder shows at q = 0 (m,) [rad].

    With joint positions x = k q + b (k = 1, b = 0 but for mimic joints) and a motor's spin
    coefficients g and offsets o over the joints, ros2_control's phi = g (x - o) is
    phi = a' q + g (b - o). An offset of the drivetrain file holds for all motors of its
    joint, one of a transmission for its own. What a frozen joint adds is constant and left
    out: the encoder shows whatever it showed.
    """
    given = {joint.name: joint.offset for joint in drivetrain.joints if joint.offset is not None}
    spins = {spin.wheel: spin.coefficients for spin in drivetrain.spins}
    zeros = []
    for motor in drivetrain.motors:
        offset = {**dict(motor.offsets), **given}
        terms = [(c, follow[j].offset, j) for j, c in spins[motor.wheel] if j in follow]
        zeros.append(sum(c * (b - offset.get(j, 0.0)) for c, b, j in terms))
    return np.array(zeros, float) + 0.0  # no negative zeros
