"""A MuJoCo specification of the arm: links, rotors and gear wheels as bodies, gears between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geared_dynamics.actuation.friction_elements import FrictionTable
from geared_dynamics.arrays import Array
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.inertia import central_tensor
from geared_dynamics.simulation.integrators import friction_of
from geared_dynamics.simulation.motor_stage import position_limits
from geared_dynamics.simulation.mujoco_parts import (
    GearConstraints,
    WheelBody,
    add_shapes,
    gearing,
    link_bodies,
    mujoco,
    set_coefficient,
    wheel_bodies,
)

# Chosen by measurement, see docs/plants.md.
TIME_CONSTANT = (
    2.0  # of the gears' ties and of end stops, in steps: the shortest that MuJoCo allows
)
IMPEDANCE = 0.9999  # the largest that MuJoCo allows
NO_LIMIT = 1e9  # [rad or m], for MuJoCo, which knows no infinity here
SOLVER_TOLERANCE = 1e-14
WHEEL_JOINT = "wheel {}"  # names: links and joints of a URDF may share one


@dataclass(frozen=True, eq=False)
class Blueprint:
    """What the specification was made from, and the specification.

    Attributes:
        spec: ``mujoco.MjSpec`` (untyped C++ object).
        model: The geared model.
        wheels: The wheels as bodies.
        gears: How their hinges follow the joints.
        joints: Name of the joint of each body in ``model.tree`` (nb,).
        friction: FrictionTable as the plants count it.
        tendons: Rows (n + w,) over joints and wheels of the fixed tendons, by name.
        stops: Body in ``model.tree``, lower and upper limit of each joint with end stops.
    """

    spec: Any
    model: GearedModel
    wheels: tuple[WheelBody, ...]
    gears: GearConstraints
    joints: tuple[str, ...]
    friction: FrictionTable
    tendons: dict[str, Array]
    stops: list[tuple[int, float, float]]


def blueprint(
    model: GearedModel,
    timestep: float,
    *,
    friction: bool = True,
    stops: bool = False,
) -> Blueprint:
    """Describe the arm to MuJoCo.

    Args:
        model: Geared model.
        timestep: Of the integrator [s].
        friction: Whether joints and rotors rub.
        stops: Whether the joints' position limits are end stops.

    Raises:
        ModelError: naming a link or wheel that cannot be a body of its own.
        MissingPackageError: MuJoCo is not installed.
    """
    spec = mujoco().MjSpec()
    wheels = wheel_bodies(model)
    rest = link_bodies(model, wheels)
    gears = gearing(model, wheels)
    joints = model.tree.joints
    spec.modelname = model.name
    set_options(spec, model, timestep)
    bodies = add_links(spec, model, rest, joints)
    add_wheels(model, wheels, bodies)
    add_mimics(spec, model, joints)
    limits = position_limits(model) if stops else []
    plan = Blueprint(spec, model, wheels, gears, joints, friction_of(model, friction), {}, limits)
    add_gears(plan)
    add_motors(plan)
    add_friction(plan)
    add_stops(plan)
    add_shapes(model, wheels, bodies)
    return plan


def compiled(plan: Blueprint) -> Any:
    """The ``mujoco.MjModel`` of a blueprint.

    Raises:
        ModelError: with MuJoCo's words where it does not take the bodies.
    """
    try:
        return plan.spec.compile()
    except ValueError as error:
        finding = f"MuJoCo rejects the model ({' '.join(str(error).split())})"
        remedy = "correct the description, or use the engine 'equations'"
        raise ModelError(plan.model.source, finding, remedy) from None


def set_options(spec: Any, model: GearedModel, timestep: float) -> None:
    """Integrator, solver and gravity; no contacts."""
    package, option = mujoco(), spec.option
    option.timestep = timestep
    option.gravity = np.array(model.gravity)
    option.integrator = package.mjtIntegrator.mjINT_RK4
    option.solver = package.mjtSolver.mjSOL_NEWTON
    # MuJoCo 4.0.0 factorises the Newton solver's sparse Hessian wrongly, corrected in 4.0.1
    # (issue 3767 of MuJoCo); from 60 velocities on it would choose sparse matrices by itself.
    option.jacobian = package.mjtJacobian.mjJAC_DENSE
    option.tolerance = SOLVER_TOLERANCE
    option.disableflags |= int(package.mjtDisableBit.mjDSBL_CONTACT)
    # What has gone astray stays so and is reported, instead of starting again from zero.
    option.disableflags |= int(package.mjtDisableBit.mjDSBL_AUTORESET)
    spec.compiler.degree = False
    spec.compiler.autolimits = False
    spec.compiler.balanceinertia = False


def add_links(
    spec: Any, model: GearedModel, rest: Array, joints: tuple[str, ...]
) -> dict[int, Any]:
    """Add the links, the root's first and those fixed to others last; by body, -1 the root."""
    package, tree = mujoco(), model.tree
    kind = package.mjtJoint
    root = model.root
    bodies = {-1: spec.worldbody.add_body(name=body_name(model, root))}
    # It does not move: no mass, and said so, for MuJoCo would else seek one in its shapes.
    bodies[-1].mass, bodies[-1].inertia, bodies[-1].explicitinertial = 0.0, np.zeros(3), True
    bodies[-1].ipos = np.zeros(3)  # NaN, which an exported file would have, if it is not set
    lower, upper = tree.limits.lower, tree.limits.upper
    for b, name in enumerate(tree.names):
        body = bodies[int(tree.parent[b])].add_body(
            name=body_name(model, name),
            pos=tree.position[b],
            quat=quaternion(tree.rotation[b]),
        )
        set_inertia(body, rest[b])
        joint = body.add_joint(
            name=joints[b],
            type=kind.mjJNT_SLIDE if tree.prismatic[b] else kind.mjJNT_HINGE,
            axis=tree.axis[b],
        )
        if np.isfinite(upper[b] - lower[b]):
            joint.range = [lower[b], upper[b]]  # for viewers
            joint.limited = package.mjtLimited.mjLIMITED_FALSE  # but with ``stops``
        bodies[b] = body
    moving = set(tree.names)
    for name, frame in model.frames.items():
        if frame.wheel < 0 and name not in moving and name != root:
            bodies[frame.body].add_body(
                name=body_name(model, name),
                pos=frame.position,
                quat=quaternion(frame.rotation),
            )
    return bodies


def body_name(model: GearedModel, name: str) -> str:
    """Name of a link's or wheel's body: MuJoCo's own root is ``world``, as in many URDFs."""
    free = name
    while free == "world" or (free != name and free in model.frames):
        free += "_"
    return free


def set_inertia(body: Any, parameters: Array) -> None:
    """Give a body its ten parameters (10,), about its frame's origin."""
    tensor = central_tensor(parameters)
    moments, axes = np.linalg.eigh(tensor)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    body.mass = float(parameters[0])
    body.ipos = parameters[1:4] / parameters[0]
    body.iquat = quaternion(axes)
    body.inertia = moments
    body.explicitinertial = True


def add_wheels(
    model: GearedModel, wheels: tuple[WheelBody, ...], bodies: dict[int, Any]
) -> dict[str, Any]:
    """Add the wheels, each with a hinge on the link or wheel that carries it."""
    package, left = mujoco(), list(wheels)
    added: dict[str, Any] = {}
    frames: dict[str, tuple[Array, Array]] = {}
    while left:
        wheel = left.pop(0)
        if wheel.holder and wheel.holder not in added:
            left.append(wheel)
            continue
        turned = z_to(wheel.axis)
        holder, place, rotation = bodies[wheel.carrier], wheel.position, turned
        if wheel.holder:
            origin, base = frames[wheel.holder]
            holder, place = added[wheel.holder], base.T @ (wheel.position - origin)
            rotation = base.T @ turned
        frames[wheel.name] = wheel.position, turned
        body = holder.add_body(
            name=body_name(model, wheel.name),
            pos=place,
            quat=quaternion(rotation),
            mass=wheel.mass,
            ipos=[0.0, 0.0, 0.0],
            iquat=[1.0, 0.0, 0.0, 0.0],
            inertia=[wheel.transverse, wheel.transverse, wheel.axial],
            explicitinertial=True,
        )
        body.add_joint(
            name=WHEEL_JOINT.format(wheel.name),
            type=package.mjtJoint.mjJNT_HINGE,
            axis=[0.0, 0.0, 1.0],
        )
        added[wheel.name] = body
    return added


def add_mimics(spec: Any, model: GearedModel, joints: tuple[str, ...]) -> None:
    """Tie mimic joints to their leaders: x = multiplier q + offset."""
    tree = model.tree
    for b, name in enumerate(joints):
        leader = model.joint_names[int(tree.dof[b])]
        if name != leader:
            tie = spec.add_equality(
                name=f"mimic {name}",
                type=mujoco().mjtEq.mjEQ_JOINT,
                objtype=mujoco().mjtObj.mjOBJ_JOINT,
                name1=name,
                name2=leader,
            )
            tie.data[:5] = [tree.offset[b], tree.multiplier[b], 0.0, 0.0, 0.0]
            tighten(spec, tie)


def tighten(spec: Any, tie: Any) -> None:
    """Make an equality as stiff as MuJoCo allows."""
    tie.solref = [TIME_CONSTANT * spec.option.timestep, 1.0]
    tie.solimp = [IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2.0]


def add_gears(plan: Blueprint) -> None:
    """Tie the wheels to the joints, and put springs between them."""
    spec, gears, elastic = plan.spec, plan.gears, plan.model.elasticity
    for r, row in zip(gears.tied, gears.ties, strict=True):
        name = f"gear {plan.wheels[r].name}"
        add_tendon(plan, name, row)
        tie = spec.add_equality(
            name=name,
            type=mujoco().mjtEq.mjEQ_TENDON,
            objtype=mujoco().mjtObj.mjOBJ_TENDON,
            name1=name,
        )
        tighten(spec, tie)
    for s, row in enumerate(gears.stretch):
        tendon = add_tendon(plan, f"spring {s + 1}", row)
        set_coefficient(tendon, "stiffness", elastic.stiffness[s])
        if elastic.gap[s] == 0.0:  # with play the damping acts only where the spring does
            set_coefficient(tendon, "damping", elastic.damping[s])
        tendon.springlength = elastic.rest[s] + elastic.gap[s] * np.array([-1.0, 1.0])


def add_tendon(plan: Blueprint, name: str, row: Array) -> Any:
    """Add the fixed tendon of a row (n + w,) over joints and wheels."""
    tendon, n = plan.spec.add_tendon(name=name), plan.model.n
    plan.tendons[name] = row
    for d in np.flatnonzero(row):
        joint = plan.model.joint_names[d] if d < n else wheel_joint(plan.wheels[d - n])
        tendon.wrap_joint(joint, row[d])
    return tendon


def wheel_joint(wheel: WheelBody) -> str:
    """Name of a wheel's hinge."""
    return WHEEL_JOINT.format(wheel.name)


def add_motors(plan: Blueprint) -> None:
    """Add an actuator for each motor: its control is the electromagnetic torque [N m]."""
    package, model = mujoco(), plan.model
    for k, r in enumerate(model.motor_wheel):
        motor = plan.spec.add_actuator(
            name=model.motor_names[k],
            target=wheel_joint(plan.wheels[r]),
            trntype=package.mjtTrn.mjTRN_JOINT,
        )
        limit = model.motors.limits[k, 2]
        if np.isfinite(limit):
            motor.ctrlrange = [-limit, limit]
            motor.ctrllimited = package.mjtLimited.mjLIMITED_TRUE


def add_friction(plan: Blueprint) -> None:
    """Give joints and wheels their viscous friction and their breakaway levels."""
    spec, friction = plan.spec, plan.friction
    loss: dict[str, list[float]] = {}
    for k, name in enumerate(friction_joints(plan)):
        entry = loss.setdefault(name, [0.0, 0.0])
        entry[0] += float(friction.laws.viscous[k])
        entry[1] += float(friction.laws.static.mean(axis=1)[k])
    for name, (viscous, level) in loss.items():
        joint = spec.joint(name)
        set_coefficient(joint, "damping", viscous)
        joint.frictionloss = level
        joint.solref_friction = [TIME_CONSTANT * spec.option.timestep, 1.0]
        joint.solimp_friction = [IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2.0]


def add_stops(plan: Blueprint) -> None:
    """Make position limits MuJoCo's: stiff, and damped so that nothing bounces."""
    limited = mujoco().mjtLimited.mjLIMITED_TRUE
    for body, *bounds in plan.stops:
        joint = plan.spec.joint(plan.joints[body])
        joint.range, joint.limited = np.clip(bounds, -NO_LIMIT, NO_LIMIT), limited
        joint.solref_limit = [TIME_CONSTANT * plan.spec.option.timestep, 1.0]
        joint.solimp_limit = [IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2.0]


def friction_joints(plan: Blueprint) -> list[str]:
    """Name of the MuJoCo joint that each friction law acts on."""
    tree, friction, names = plan.model.tree, plan.friction, []
    for k in range(friction.count):
        if friction.motor[k] >= 0:
            names.append(wheel_joint(plan.wheels[plan.model.motor_wheel[friction.motor[k]]]))
            continue
        same = (
            (tree.dof == friction.laws.index[k])
            & (tree.multiplier == friction.laws.multiplier[k])
            & (tree.offset == friction.laws.shift[k])
        )
        names.append(plan.joints[int(np.flatnonzero(same)[0])])
    return names


def quaternion(rotation: Array) -> Array:
    """Quaternion (4,) of a rotation matrix."""
    result = np.zeros(4)
    mujoco().mju_mat2Quat(result, np.ascontiguousarray(rotation, dtype=np.float64).ravel())
    return result


def z_to(axis: Array) -> Array:
    """A rotation matrix (3, 3) whose third column is the unit vector ``axis``."""
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    side = side / np.linalg.norm(side)
    return np.column_stack([side, np.cross(axis, side), axis])
