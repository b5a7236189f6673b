"""What was read from where, what is missing, what was assumed: lines of text."""

from __future__ import annotations

import numpy as np

from geared_dynamics.description.records import DrivetrainRecord, MotorRecord
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.model.gears import ResolvedDrivetrain
from geared_dynamics.model.model import GearedModel

ROUNDING = 1e-12  # [m]: of a weight's lever


def orbits(drives: DrivetrainRecord) -> dict[str, str]:
    """Wheels whose mass has gone into the wheel that carries them round, with the latter."""
    if not isinstance(drives, ResolvedDrivetrain):
        return {}
    heavy = {wheel.name for wheel in drives.apart if wheel.mass}
    put = {wheel.name for wheel in drives.wheels if not wheel.mass}
    return {rider: holder for rider, holder in drives.riders if rider in heavy & put}


def sources(model: GearedModel) -> list[str]:
    """Say where the robot, its drives and gravity come from."""
    drives = model.drivetrain
    gravity = " ".join(f"{component:g}" for component in model.gravity)
    fixed = sum(joint.kind == "fixed" for joint in model.robot.joints)
    return [
        f"{model.name}: {model.n} coordinates, {len(model.body_names)} moving links, "
        f"{len(model.wheel_names)} wheels, {len(model.motor_names)} motors",
        f"links and joints: {model.robot.source} ({fixed} fixed joints merged)",
        f"wheels, spins, motors: {drives.source}",
        f"joint friction: {friction_source(model)}",
        f"gravity in the root link's frame: {gravity} m/s^2{weightless(model)}",
        *wheel_sources(model),
        *motor_sources(model),
    ]


def weightless(model: GearedModel) -> str:
    """Say where gravity moves no joint, in any posture: as a rule its direction is wrong."""
    if not (any(model.gravity) and model.n):
        return ""
    postures = np.random.default_rng(0).uniform(-1.0, 1.0, (8, model.n))
    total = model.tree.parameters[:, 0].sum() * np.linalg.norm(model.gravity)
    forces = gravity_forces(model, postures)
    return "; no joint carries weight" if np.all(np.abs(forces) <= ROUNDING * total) else ""


def wheel_sources(model: GearedModel) -> list[str]:
    """Say of wheels that are not the drivetrain file's alone who speaks of them."""
    named: dict[str, list[str]] = {}
    for wheel in model.drivetrain.wheels:
        if wheel.origin:
            named.setdefault(wheel.origin, []).append(wheel.name)
    return [f"{', '.join(names)}: from {origin}" for origin, names in named.items()]


def motor_sources(model: GearedModel) -> list[str]:
    """Say which motors are whose, where the URDF has some, and who gives their offsets."""
    drives = model.drivetrain
    own = [motor.name for motor in drives.motors if not motor.origin]
    theirs = [motor.name for motor in drives.motors if motor.origin]
    lines = []
    if theirs:
        parts = [f"{', '.join(own)} from {drives.source}"] if own else []
        parts.append(f"{', '.join(theirs)} from the robot's own files")
        lines.append(f"motors: {'; '.join(parts)}")
    for motor in drives.motors:
        lines += [f"offset of {motor.name} on {text}" for text in offset_sources(model, motor)]
    return lines


def offset_sources(model: GearedModel, motor: MotorRecord) -> list[str]:
    """Say where a motor's encoder reads zero, joint by joint, and who says so."""
    drives = model.drivetrain
    file = {item.name: item.offset for item in drives.joints if item.offset is not None}
    own = dict(motor.offsets)
    spin = next(item for item in drives.spins if item.wheel == motor.wheel)
    texts = []
    for joint, _ in spin.coefficients:
        if joint in file:
            text = f"{joint}: {file[joint]:g} from joints.{joint} of {drives.source}"
            differs = own.get(joint, file[joint]) != file[joint]
            texts.append(f"{text}, not {own[joint]:g} of the URDF" if differs else text)
        elif joint in own:
            texts.append(f"{joint}: {own[joint]:g} from {motor.origin or 'the URDF'}")
    return texts


def friction_source(model: GearedModel) -> str:
    """Say which file gives the joints' friction."""
    own = [joint.name for joint in model.drivetrain.joints if joint.friction is not None]
    from_urdf = [
        joint.name
        for joint in model.robot.joints
        if joint.friction is not None and joint.name not in own
    ]
    parts = []
    if own:
        parts.append(f"{', '.join(own)} from the drivetrain")
    if from_urdf:
        parts.append(f"{', '.join(from_urdf)} from the URDF's <dynamics>")
    return "; ".join(parts) or "none given"


def gaps(model: GearedModel) -> list[str]:
    """List what the files leave out and a complete model would have."""
    masses = zip(model.body_names, model.tree.parameters[:, 0], strict=True)
    bare = [name for name, mass in masses if mass == 0.0]
    lines = []
    if bare:
        lines.append(f"no mass, neither own nor of what is fixed to it: {', '.join(bare)}")
    rows = zip(model.joint_names, model.Gamma.T, strict=True)
    without = [joint for joint, column in rows if not column.any()]
    if without:
        lines.append(f"no wheel turns with: {', '.join(without)}")
    light = [wheel.name for wheel in model.drivetrain.wheels if wheel.axial == 0.0]
    if light:
        lines.append(f"no inertia about the spin axis: {', '.join(light)}")
    if model.wheel_names and not model.motor_names:
        lines.append("no motors: section, so there is no structure matrix")
    rows = zip(model.joint_names, model.structure_matrix, strict=True)
    idle = [joint for joint, row in rows if not row.any()]
    if model.motor_names and idle:
        lines.append(f"no motor acts on: {', '.join(idle)}")
    return lines


def assumptions(model: GearedModel) -> list[str]:
    """List what the model takes for granted, and the notes made while building it."""
    lines = list(model.notes)
    joints = [joint for joint in model.drivetrain.joints if joint.stiffness is not None]
    elastic = [joint.name for joint in joints if not joint.passive]
    elastic += [spring.name for spring in model.drivetrain.springs]
    if elastic:
        lines.append(f"stiffness of {', '.join(elastic)} is read; rigid functions mean theta = q")
    passive = [joint.name for joint in joints if joint.passive]
    if passive:
        lines.append(f"springs of passive {', '.join(passive)} act in the elastic functions only")
    drives = model.drivetrain
    there = {wheel.name for wheel in drives.wheels if wheel.mass or wheel.included_in_link}
    there |= orbits(drives).keys()
    light = [wheel.name for wheel in drives.wheels if wheel.name not in there]
    if light:
        lines.append(f"wheels without mass: {', '.join(light)}")
    return lines
