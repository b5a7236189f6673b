"""From records to the model."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import cast

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, readonly, readonly_int, reals
from geared_dynamics.checks import refuse_too_large
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.description.robot_records import DrivetrainRecord, JointRecord, RobotRecord
from geared_dynamics.errors import ArrayError, ModelError, Note, report
from geared_dynamics.model.balancer_arrays import build_balancers
from geared_dynamics.model.drive_arrays import build_motors, joint_friction, motor_doubts
from geared_dynamics.model.elasticity import build_elasticity, refuse_loose_shafts, shaft_doubts
from geared_dynamics.model.facts import Frame, JointType, Tree, Wheels, joint_limits
from geared_dynamics.model.gears import (
    ResolvedDrivetrain,
    held_ratios,
    refuse_dependent,
    refuse_idle,
    resolve,
)
from geared_dynamics.model.inertia import doubt, moved, parameters_of_record
from geared_dynamics.model.model import GearedModel, Records
from geared_dynamics.model.topology import (
    Follow,
    Placement,
    body_order,
    coordinates,
    following,
    placements,
    refuse_free_joints,
)
from geared_dynamics.model.wheels import (
    build_wheels,
    encoder_zeros,
    locked_parameters,
    remaining_doubts,
)

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
        balancers=build_balancers(robot, drivetrain, links, follow, frozen),
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
