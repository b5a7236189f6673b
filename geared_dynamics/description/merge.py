"""Two drivetrains in one: the drivetrain file's entries win over the URDF's."""

from __future__ import annotations

from dataclasses import replace

from geared_dynamics.description.driven import driven_joints
from geared_dynamics.description.records import (
    DrivetrainRecord,
    MotorRecord,
    RobotRecord,
    SpinRecord,
    WheelRecord,
)

Shared = dict[str, tuple[str, ...]]


def merge(
    file: DrivetrainRecord, urdf: DrivetrainRecord, robot: RobotRecord | None = None
) -> DrivetrainRecord:
    """Return what both say; where both speak of the same thing, the file is believed.

    A wheel is overridden by its name, a spin by its wheel, a motor by its name or
    its wheel, what is said of a joint by the joint, key by key. A wheel of the URDF
    that the file does not name is left out where the file has a motor of its own that
    turns one of its joints: that is the same drive by another name. A wheel without a
    motor, such as a brake disc, is one more wheel.

    Args:
        file: The drivetrain file's; its entries come first, in file order.
        urdf: The URDF's, primitive (no meshes, no sets); those not overridden
            come last.
        robot: Tells which joint a mesh of the file with a link turns.
    """
    if not urdf.wheels:
        return file
    if file == DrivetrainRecord():
        return urdf
    left_out = _left_out(file, urdf, robot)
    stays = tuple(wheel for wheel in urdf.wheels if wheel.name not in left_out)
    own = {wheel.name for wheel in file.wheels}
    return replace(
        file,
        wheels=file.wheels + tuple(_remaining(w, file) for w in stays if w.name not in own),
        spins=file.spins + _spins(file, urdf, left_out),
        motors=_own_motors(file, urdf) + _motors(file, urdf, left_out),
        replaced=tuple(left_out.items()),
    )


def _left_out(file: DrivetrainRecord, urdf: DrivetrainRecord, robot: RobotRecord | None) -> Shared:
    """Return the wheels of the URDF whose joints the file drives by other wheels, with those."""
    named = {wheel.name for wheel in file.wheels}
    named |= {spin.wheel for spin in file.spins}
    named |= {motor.wheel for motor in file.motors}
    named |= {member for mesh in file.meshes for member in mesh.members}
    theirs = {wheel.name for wheel in urdf.wheels}
    driven = driven_joints(file, theirs, robot)
    shared = {
        spin.wheel: tuple(joint for joint, _ in spin.coefficients if joint in driven)
        for spin in urdf.spins
        if spin.wheel not in named
    }
    return {wheel: joints for wheel, joints in shared.items() if joints}


def _remaining(wheel: WheelRecord, file: DrivetrainRecord) -> WheelRecord:
    """Return a wheel of the URDF, saying so where its spin is not the URDF's."""
    if wheel.name not in {spin.wheel for spin in file.spins}:
        return wheel
    return replace(wheel, origin=f"{wheel.origin}, its spin from the drivetrain file")


def _spins(
    file: DrivetrainRecord, urdf: DrivetrainRecord, left_out: Shared
) -> tuple[SpinRecord, ...]:
    """Return the URDF's spins of wheels that the file does not fix, saying whence.

    A wheel that the file declares and meshes may be fixed by its meshes.
    """
    fixed = {spin.wheel for spin in file.spins} | left_out.keys()
    meshed = {member for mesh in file.meshes for member in mesh.members}
    fixed |= meshed & {wheel.name for wheel in file.wheels}
    return tuple(
        replace(spin, place=f"{spin.place} of {urdf.source}")
        for spin in urdf.spins
        if spin.wheel not in fixed
    )


def _own_motors(file: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[MotorRecord, ...]:
    """Return the file's motors; one on a wheel of the URDF has the offsets given there."""
    offsets = {motor.wheel: motor.offsets for motor in urdf.motors}
    return tuple(replace(m, offsets=offsets.get(m.wheel, m.offsets)) for m in file.motors)


def _motors(
    file: DrivetrainRecord, urdf: DrivetrainRecord, left_out: Shared
) -> tuple[MotorRecord, ...]:
    """Return the URDF's motors that the file neither names nor replaces."""
    names = {motor.name for motor in file.motors}
    turned = {motor.wheel for motor in file.motors} | left_out.keys()
    return tuple(m for m in urdf.motors if m.name not in names and m.wheel not in turned)
