"""Motors, friction and balancers as ``describe`` shows them."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from geared_dynamics.cli.console import numeric_table, print_table
from geared_dynamics.description.drive_records import (
    BalancerRecord,
    FrictionRecord,
    MotorLimitRecord,
    MotorRecord,
    TorsionSpringRecord,
)
from geared_dynamics.model.model import GearedModel


def print_drives(console: Console, model: GearedModel) -> None:
    """Print what is given of the motors, of friction and of balancers, and what is not."""
    motors = model.drivetrain.motors
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
                console.print(f"  {line}")
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
        parts.append(f"{thermal.continuous_current:g} A for ever ({thermal.time_constant:g} s)")
    return parts


def friction_lines(model: GearedModel) -> list[str]:
    """Write every law of joints and rotors and where it comes from."""
    from_file = {joint.name: joint.friction for joint in model.drivetrain.joints}
    lines = []
    for joint in model.robot.joints:
        own = from_file.get(joint.name)
        law = own or joint.friction
        if joint.kind != "fixed" and law is not None:
            origin = "the URDF's <dynamics>" if own is None else "the drivetrain file"
            lines.append(f"{joint.name}: {friction(law)} (joint side, {origin})")
    for motor in model.drivetrain.motors:
        if motor.friction != FrictionRecord():
            law_of_rotor = friction(motor.friction)
            lines.append(f"{motor.name}: {law_of_rotor} (motor side, the drivetrain file)")
    return lines


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
        for item in model.drivetrain.balancers
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
