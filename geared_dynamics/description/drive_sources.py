"""File and URDF drives into one, with its notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from geared_dynamics.description.drive_records import MotorRecord
from geared_dynamics.description.robot_records import DrivetrainRecord, SpinRecord, WheelRecord

# -- Two drivetrains in one: the drivetrain file's entries win over the URDF's --------------------


def merge(file: DrivetrainRecord, urdf: DrivetrainRecord) -> DrivetrainRecord:
    """Return what both say; where both speak of the same thing, the file is believed.

    A wheel is overridden by its name, a spin by its wheel, a motor by its name or
    its wheel, what is said of a joint by the joint, key by key. Which drives of the URDF
    are the file's by another name, only the solved trains tell: ``model.gears.replaced``.

    Args:
        file: The drivetrain file's; its entries come first, in file order.
        urdf: The URDF's, primitive (no meshes, no sets); those not overridden
            come last.
    """
    if not urdf.wheels:
        return file
    if file == DrivetrainRecord():
        return urdf
    own = {wheel.name for wheel in file.wheels}
    return replace(
        file,
        wheels=file.wheels + tuple(_remaining(w, file) for w in urdf.wheels if w.name not in own),
        spins=file.spins + _spins(file, urdf),
        motors=_own_motors(file, urdf) + _motors(file, urdf),
    )


def without(record: DrivetrainRecord, replaced: Mapping[str, tuple[str, ...]]) -> DrivetrainRecord:
    """Return the record without some of the URDF's wheels, which it names as replaced.

    Args:
        record: What ``merge`` returned.
        replaced: These wheels, each with the joints on which the file has motors.
    """
    return replace(
        record,
        wheels=tuple(wheel for wheel in record.wheels if wheel.name not in replaced),
        spins=tuple(spin for spin in record.spins if spin.wheel not in replaced),
        motors=tuple(motor for motor in record.motors if motor.wheel not in replaced),
        replaced=tuple(replaced.items()),
    )


def _remaining(wheel: WheelRecord, file: DrivetrainRecord) -> WheelRecord:
    """Return a wheel of the URDF, saying so where its spin is not the URDF's."""
    if wheel.name not in {spin.wheel for spin in file.spins}:
        return wheel
    return replace(wheel, origin=f"{wheel.origin}, its spin from the drivetrain file")


def _spins(file: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[SpinRecord, ...]:
    """Return the URDF's spins of wheels that the file does not fix, with their source.

    A wheel that the file declares and meshes, or makes a member of a planetary set, may be
    fixed by these.
    """
    meshed = {member for mesh in file.meshes for member in mesh.members}
    given = [said for item in file.planetary for _, said in item.members]
    meshed |= {said for said in given if isinstance(said, str)}
    fixed = meshed & {wheel.name for wheel in file.wheels}
    fixed |= {spin.wheel for spin in file.spins}
    return tuple(
        replace(spin, place=f"{spin.place} of {urdf.source}", origin=urdf.source)
        for spin in urdf.spins
        if spin.wheel not in fixed
    )


def _own_motors(file: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[MotorRecord, ...]:
    """Return the file's motors; one on a wheel of the URDF has the offsets given there."""
    offsets = {motor.wheel: motor.offsets for motor in urdf.motors}
    return tuple(replace(m, offsets=offsets.get(m.wheel, m.offsets)) for m in file.motors)


def _motors(file: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[MotorRecord, ...]:
    """Return the URDF's motors that the file neither names nor turns the wheel of."""
    names = {motor.name for motor in file.motors}
    turned = {motor.wheel for motor in file.motors}
    return tuple(m for m in urdf.motors if m.name not in names and m.wheel not in turned)


# -- What became of the URDF's drives under a drivetrain file: a line for each --------------------


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
