"""Two drivetrains in one: the drivetrain file's entries win over the URDF's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from geared_dynamics.description.records import (
    DrivetrainRecord,
    MotorRecord,
    SpinRecord,
    WheelRecord,
)


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
    """Return the URDF's spins of wheels that the file does not fix, saying whence.

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
