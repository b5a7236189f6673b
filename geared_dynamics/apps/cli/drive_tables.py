"""Tables of ``geared-dynamics describe``: motors, friction, balancers, sources, what is missing.

Those of joints, links and wheels are in ``describe.py``.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from geared_dynamics.apps.cli.command_output import numeric_table, print_indented, print_table
from geared_dynamics.description.drive_records import (
    BalancerRecord,
    FrictionRecord,
    MotorLimitRecord,
    MotorRecord,
    TorsionSpringRecord,
)
from geared_dynamics.description.robot_records import DrivetrainRecord
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.model.gears import ResolvedDrivetrain
from geared_dynamics.model.model import GearedModel

# -- Motors, friction and balancers as ``describe`` shows them ------------------------------------


def print_drives(console: Console, model: GearedModel) -> None:
    """Print what is given of the motors, of friction and of balancers, and what is not."""
    motors = model.records.drivetrain.motors
    if any(is_told(motor) for motor in motors):
        print_table(console, "Motors, motor side ('-': not given)", motor_table(motors))
    sections = (
        ("Limits of the motors, motor side", limit_lines(motors)),
        ("Friction", friction_lines(model)),
        ("Balancers", balancer_lines(model)),
        ("Motors: what is missing", missing(motors)),
    )
    for title, lines in sections:
        if lines:
            console.print(title, style="bold")
            for line in lines:
                print_indented(console, line)
            console.print()


def is_told(motor: MotorRecord) -> bool:
    """Whether anything is given of the motor's electrics or its gear's efficiency."""
    bare = MotorRecord(motor.name, motor.wheel, friction=motor.friction, limits=motor.limits)
    return motor != bare


def motor_table(motors: tuple[MotorRecord, ...]) -> Table:
    """Electrics and efficiencies, a row per motor."""
    table = numeric_table(
        "motor",
        "kind",
        "R\n[ohm]",
        "L\n[H]",
        "k_t\n[N m/A]",
        "k_e\n[V s/rad]",
        "efficiency\nfwd back",
    )
    for motor in motors:
        kind = f"{motor.kind} {motor.pole_pairs}p" if motor.pole_pairs else motor.kind
        table.add_row(
            motor.name,
            kind,
            number(motor.resistance),
            number(motor.inductance if motor.resistance is not None else None),
            number(motor.torque_constant),
            number(motor.back_emf_constant),
            f"{motor.driving:.3g} {motor.backdriving:.3g}",
        )
    return table


def limit_lines(motors: tuple[MotorRecord, ...]) -> list[str]:
    """Name the limits of each motor that has any."""
    return [f"{m.name}: {', '.join(limits(m.limits))}" for m in motors if limits(m.limits)]


def limits(given: MotorLimitRecord) -> list[str]:
    """Write the limits that are given."""
    units = {"voltage": "V", "current": "A", "torque": "N m", "speed": "rad/s"}
    values = {unit: getattr(given, name) for name, unit in units.items()}
    parts = [f"{value:g} {unit}" for unit, value in values.items() if value is not None]
    if given.envelope:
        parts.append("envelope " + " ".join(f"({s:g}, {t:g})" for s, t in given.envelope))
    if given.thermal is not None:
        thermal = given.thermal
        parts.append(
            f"{thermal.continuous_current:g} A indefinitely ({thermal.time_constant:g} s)"
        )
    return parts


def friction_lines(model: GearedModel) -> list[str]:
    """Write every law of joints and rotors, who has it, and where it comes from."""
    from_file = {joint.name: joint.friction for joint in model.records.drivetrain.joints}
    laws: dict[str, list[str]] = {}
    for joint in model.records.robot.joints:
        own = from_file.get(joint.name)
        law = own or joint.friction
        if joint.kind != "fixed" and law is not None:
            origin = "the URDF's <dynamics>" if own is None else "the drivetrain file"
            laws.setdefault(f"{friction(law)} (joint side, {origin})", []).append(joint.name)
    for motor in model.records.drivetrain.motors:
        if motor.friction != FrictionRecord():
            text = f"{friction(motor.friction)} (motor side, the drivetrain file)"
            laws.setdefault(text, []).append(motor.name)
    return [f"{', '.join(names)}: {text}" for text, names in laws.items()]


def friction(law: FrictionRecord) -> str:
    """Write the terms of a law that are not zero."""
    parts = [f"viscous {law.viscous:g}"] if law.viscous else []
    if law.coulomb or law.coulomb_negative:
        parts.append(f"Coulomb {both(law.coulomb, law.coulomb_negative)}")
    if law.static is not None:
        static = both(law.static, law.static_negative)
        parts.append(f"static {static} (Stribeck speed {law.stribeck_speed:g})")
    if law.load:
        parts.append(f"{law.load:g} of the load")
    if law.offset:
        parts.append(f"offset {law.offset:g}")
    if law.ripple:
        parts.append("ripple of order " + " ".join(f"{wave.order:g}" for wave in law.ripple))
    if law.smoothing is not None:
        parts.append(f"smoothed within {law.smoothing:g}")
    return ", ".join(parts) or "none"


def both(positive: float, negative: float | None) -> str:
    """Write a level, or two if they differ by direction."""
    return f"{positive:g}" if negative in (None, positive) else f"+{positive:g}/-{negative:g}"


def balancer_lines(model: GearedModel) -> list[str]:
    """Say where each balancer acts, and which do nothing because joints are frozen."""
    acting = model.balancers.names
    return [
        f"{item.name}: {balancer(item)}{'' if item.name in acting else ' (frozen, no effect)'}"
        for item in model.records.drivetrain.balancers
    ]


def balancer(item: BalancerRecord) -> str:
    """Write one balancer."""
    if isinstance(item, TorsionSpringRecord):
        return (
            f"torsion spring on {item.joint}, {item.stiffness:g} per rad or m,"
            f" {item.preload:g} at {item.rest:g}"
        )
    ends = " to ".join(link for link, _ in item.anchors)
    if item.kind == "constant":
        return f"{item.preload:g} N from {ends}"
    if item.kind == "coil":
        return f"coil from {ends}, {item.stiffness:g} N/m, {item.preload:g} N at {item.length:g} m"
    action = "pull" if item.pull else "push"
    force = item.area * item.pressure
    return f"gas spring from {ends}, {action} {force:g} N at {item.length:g} m"


def missing(motors: tuple[MotorRecord, ...]) -> list[str]:
    """List what keeps currents or voltages unknown, and who has no limits."""
    torque = [m for m in motors if m.torque_constant is None]
    voltage = [m for m in motors if m.torque_constant is not None and m.resistance is None]
    entries = (
        ("no torque constant, so torque and speed only", torque),
        ("no resistance, so no voltage", voltage),
        ("no limits", [m for m in motors if not limits(m.limits)]),
    )
    return [f"{text}: {', '.join(m.name for m in found)}" for text, found in entries if found]


def number(value: float | None) -> str:
    """Write a number with four digits."""
    return "-" if value is None else f"{value:.4g}"


# -- What was read from where, what is missing, what was assumed: lines of text -------------------


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
    drives = model.records.drivetrain
    gravity = " ".join(f"{component:g}" for component in model.gravity)
    fixed = sum(joint.kind == "fixed" for joint in model.records.robot.joints)
    return [
        f"{model.name}: {model.n} coordinates, {len(model.body_names)} moving links, "
        f"{len(model.wheel_names)} wheels, {len(model.motor_names)} motors",
        f"links and joints: {model.source} ({fixed} fixed joints merged)",
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
    for wheel in model.records.drivetrain.wheels:
        if wheel.urdf_origin:
            named.setdefault(wheel.urdf_origin, []).append(wheel.name)
    return [f"{', '.join(names)}: from {origin}" for origin, names in named.items()]


def motor_sources(model: GearedModel) -> list[str]:
    """Say which motors are whose, where the URDF has some, and who gives their offsets."""
    drives = model.records.drivetrain
    own = [motor.name for motor in drives.motors if not motor.urdf_origin]
    theirs = [motor.name for motor in drives.motors if motor.urdf_origin]
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
    drives = model.records.drivetrain
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
            texts.append(f"{joint}: {own[joint]:g} from {motor.urdf_origin or 'the URDF'}")
    return texts


def friction_source(model: GearedModel) -> str:
    """Say which file gives the joints' friction."""
    own = [joint.name for joint in model.records.drivetrain.joints if joint.friction is not None]
    from_urdf = {
        joint.name: joint.friction
        for joint in model.records.robot.joints
        if joint.friction is not None and joint.name not in own
    }
    parts = []
    if own:
        parts.append(f"{', '.join(own)} from the drivetrain")
    rubs = [name for name, law in from_urdf.items() if friction(law) != "none"]
    if rubs:
        parts.append(f"{', '.join(rubs)} from the URDF's <dynamics>")
    elif from_urdf:
        parts.append("none (the URDF's <dynamics> are 0)")
    return "; ".join(parts) or "none given"


def gaps(model: GearedModel) -> list[str]:
    """List what the files leave out and a complete model would have."""
    lines = weightless_links(model)
    rows = zip(model.joint_names, model.Gamma.T, strict=True)
    without = [joint for joint, column in rows if not column.any()]
    if without:
        lines.append(f"no wheel turns with: {', '.join(without)}")
    light = [wheel.name for wheel in model.records.drivetrain.wheels if wheel.axial == 0.0]
    if light:
        lines.append(f"no inertia about the spin axis: {', '.join(light)}")
    direct = [
        wheel.name
        for wheel, row in zip(model.records.drivetrain.wheels, model.Gamma, strict=True)
        if wheel.urdf_origin and not wheel.axial and np.array_equal(np.abs(row[row != 0.0]), [1.0])
    ]
    if direct:
        lines.append(
            f"no gear ratio: transmissions of the URDF give {', '.join(direct)} ratio 1 and no "
            "inertia, so what is said of these motors is that of the joints"
        )
    if model.wheel_names and not model.motor_names:
        lines.append("no motors: section, so there is no structure matrix")
    rows = zip(model.joint_names, model.structure_matrix, strict=True)
    idle = [joint for joint, row in rows if not row.any()]
    if model.motor_names and idle:
        lines.append(f"no motor acts on: {', '.join(idle)}")
    return lines


def weightless_links(model: GearedModel) -> list[str]:
    """Name the moving links that the files give no mass, in one line; no line where all have."""
    masses = zip(model.body_names, model.tree.parameters[:, 0], strict=True)
    bare = ", ".join(name for name, mass in masses if mass == 0.0)
    return [f"no mass, neither their own nor of links fixed to them: {bare}"] if bare else []


def assumptions(model: GearedModel) -> list[str]:
    """List what the model takes for granted, and the notes made while building it."""
    lines: list[str] = [*model.notes]
    joints = [joint for joint in model.records.drivetrain.joints if joint.stiffness is not None]
    elastic = [joint.name for joint in joints if not joint.passive]
    elastic += [spring.name for spring in model.records.drivetrain.springs]
    if elastic:
        lines.append(f"stiffness of {', '.join(elastic)} is read; rigid functions mean theta = q")
    passive = [joint.name for joint in joints if joint.passive]
    if passive:
        lines.append(f"springs of passive {', '.join(passive)} act in the elastic functions only")
    drives = model.records.drivetrain
    there = {wheel.name for wheel in drives.wheels if wheel.mass or wheel.included_in_link}
    there |= orbits(drives).keys()
    light = [wheel.name for wheel in drives.wheels if wheel.name not in there]
    if light:
        lines.append(f"wheels without mass: {', '.join(light)}")
    return lines
