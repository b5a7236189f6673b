"""What became of the URDF's drives under a drivetrain file: a line for each."""

from __future__ import annotations

from geared_dynamics.description.drive_records import DrivetrainRecord, WheelRecord
from geared_dynamics.errors import Note, urdf_doubt


def source_notes(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[Note, ...]:
    """Return a note for each drive of the URDF that is left out, overridden, or may count twice.

    Args:
        merged: The drives of both, without what the file's motors replace.
        urdf: Those of the URDF alone.
    """
    doubts = [
        *_left_out(merged, urdf),
        *_motors_left_out(merged, urdf),
        *_side_by_side(merged, urdf),
    ]
    return (*doubts, *_overridden(merged, urdf))


def _overridden(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[Note, ...]:
    """Return a remark on each wheel and motor of the URDF that the file states itself."""
    wheels = {wheel.name: wheel.urdf_origin for wheel in merged.wheels}
    motors = {motor.wheel: motor for motor in merged.motors}
    lines = [
        Note(wheel.urdf_origin, f"overridden by wheels.{wheel.name} of {merged.source}")
        for wheel in urdf.wheels
        if wheels.get(wheel.name) == ""
    ]
    for motor in urdf.motors:
        ours = motors.get(motor.wheel)
        if ours is not None and not ours.urdf_origin:
            offset = "; its offset stays" if ours.offsets else ""
            finding = f"its motor is motors.{ours.name} of {merged.source}{offset}"
            lines.append(Note(motor.urdf_origin, finding))
    return tuple(lines)


def _left_out(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[Note]:
    """Return a line for each wheel whose joint the file's motors turn; one for all empty ones."""
    shared = dict(merged.replaced)
    empty = [wheel.name for wheel in urdf.wheels if wheel.name in shared and _empty(wheel, urdf)]
    finding = (
        f"its motors replace the URDF's transmissions {', '.join(empty)}, which have ratio 1 and"
        " no rotor inertia"
    )
    return [Note(merged.source, finding)] * bool(empty) + [
        urdf_doubt(
            wheel.urdf_origin,
            f"left out, because {merged.source} has motors on {', '.join(shared[wheel.name])};"
            f" name a wheel there {wheel.name!r} to combine the two",
        )
        for wheel in urdf.wheels
        if wheel.name in shared and wheel.name not in empty
    ]


def _empty(wheel: WheelRecord, urdf: DrivetrainRecord) -> bool:
    """Whether a transmission says nothing but that its joint has a motor."""
    ratios = [abs(k) for s in urdf.spins if s.wheel == wheel.name for _, k in s.coefficients]
    offsets = [m for m in urdf.motors if m.wheel == wheel.name and any(x for _, x in m.offsets)]
    return wheel.axial == 0.0 and ratios == [1.0] and not offsets


def _motors_left_out(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[Note]:
    """Return lines for motors whose wheel stays and whose name the file gives to another."""
    gone = dict(merged.replaced).keys() | {motor.wheel for motor in merged.motors}
    return [
        urdf_doubt(
            motor.urdf_origin,
            f"its motor is left out, because motors.{motor.name} of {merged.source} turns"
            f" another wheel; wheel {motor.wheel!r} has no motor now",
        )
        for motor in urdf.motors
        if motor.wheel not in gone
    ]


def _side_by_side(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[Note]:
    """Return lines for wheels with inertia that may be a wheel of the file by another name."""
    others = _unmotored(merged)
    theirs = {
        wheel.name: wheel for wheel in merged.wheels if wheel.urdf_origin and wheel.axial > 0.0
    }
    lines = []
    for spin in urdf.spins:
        beside = [
            name
            for name, joints in others.items()
            if joints & {joint for joint, _ in spin.coefficients}
        ]
        if spin.wheel in theirs and beside:
            finding = (
                f"its inertia is added to that of {', '.join(beside)} of {merged.source}; if both"
                f" are the same wheel, name it {spin.wheel!r} there, otherwise describe"
                f" {spin.wheel!r} there as well"
            )
            lines.append(urdf_doubt(theirs[spin.wheel].urdf_origin, finding))
    return lines


def _unmotored(merged: DrivetrainRecord) -> dict[str, set[str]]:
    """Return the file's wheels and sets with inertia, no motor on them -> their joints."""
    motored = {motor.wheel for motor in merged.motors}
    heavy = {wheel.name for wheel in merged.wheels if not wheel.urdf_origin and wheel.axial > 0.0}
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
