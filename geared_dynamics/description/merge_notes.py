"""What became of the URDF's drives under a drivetrain file: a line for each."""

from __future__ import annotations

from geared_dynamics.description.records import DrivetrainRecord


def override_notes(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[str, ...]:
    """Return a line for each wheel and motor of the URDF that the file states itself.

    Args:
        merged: What ``merge`` returned.
        urdf: What it was given.
    """
    wheels = {wheel.name: wheel.origin for wheel in merged.wheels}
    motors = {motor.wheel: motor for motor in merged.motors}
    lines = [
        f"{wheel.origin}: overridden by wheels.{wheel.name} of {merged.source}"
        for wheel in urdf.wheels
        if wheels.get(wheel.name) == ""
    ]
    for motor in urdf.motors:
        ours = motors.get(motor.wheel)
        if ours is not None and not ours.origin:
            offset = "; its offset stays" if ours.offsets else ""
            lines.append(
                f"{motor.origin}: its motor is motors.{ours.name} of {merged.source}{offset}"
            )
    return tuple(lines)


def replaced_notes(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[str, ...]:
    """Return a line for each wheel or motor of the URDF that is dropped or may count twice.

    Args:
        merged: What ``merge`` returned.
        urdf: What it was given.
    """
    return (
        *_wheels_left_out(merged, urdf),
        *_motors_left_out(merged, urdf),
        *_side_by_side(merged, urdf),
    )


def _wheels_left_out(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[str]:
    shared = dict(merged.replaced)
    return [
        f"{wheel.origin}: left out, because {merged.source} has motors on"
        f" {', '.join(shared[wheel.name])}; name a wheel there {wheel.name!r} to combine the two"
        for wheel in urdf.wheels
        if wheel.name in shared
    ]


def _motors_left_out(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[str]:
    """Return lines for motors whose wheel stays and whose name the file gives to another."""
    gone = dict(merged.replaced).keys() | {motor.wheel for motor in merged.motors}
    return [
        f"{motor.origin}: its motor is left out, because motors.{motor.name} of"
        f" {merged.source} turns another wheel; wheel {motor.wheel!r} has no motor now"
        for motor in urdf.motors
        if motor.wheel not in gone
    ]


def _side_by_side(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[str]:
    """Return lines for wheels with inertia that may be a wheel of the file by another name."""
    others = _unmotored(merged)
    theirs = {wheel.name: wheel for wheel in merged.wheels if wheel.origin and wheel.axial > 0.0}
    lines = []
    for spin in urdf.spins:
        beside = [
            name
            for name, joints in others.items()
            if joints & {joint for joint, _ in spin.coefficients}
        ]
        if spin.wheel in theirs and beside:
            lines.append(
                f"{theirs[spin.wheel].origin}: its inertia counts beside that of"
                f" {', '.join(beside)} of {merged.source}; if the two are one, call it"
                f" {spin.wheel!r}, if not, state {spin.wheel!r} there as well"
            )
    return lines


def _unmotored(merged: DrivetrainRecord) -> dict[str, set[str]]:
    """Return the file's wheels and sets with inertia, no motor on them -> their joints."""
    motored = {motor.wheel for motor in merged.motors}
    heavy = {wheel.name for wheel in merged.wheels if not wheel.origin and wheel.axial > 0.0}
    result = {
        spin.wheel: {joint for joint, _ in spin.coefficients}
        for spin in merged.spins
        if spin.wheel in heavy - motored
    }
    for drive in merged.harmonic:
        if drive.wave_generator.name not in motored:
            result[drive.wave_generator.name] = {drive.joint}
    for item in merged.planetary:
        if item.joint and not any(name.startswith(f"{item.name}.") for name in motored):
            result[item.name] = {item.joint}
    return result
