"""What a drivetrain must say of its own names, whatever the robot."""

from __future__ import annotations

from geared_dynamics.description.records import DrivetrainRecord
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError, UnknownNameError


def check_drivetrain(record: DrivetrainRecord) -> None:
    """Refuse wheels that are not there, fixed twice or not at all, or turned by two motors.

    Where meshes or planetary sets tie wheels to each other, only their solution
    shows which wheels are left free.

    Raises:
        DescriptionError: If a wheel is fixed twice, not at all, or turned twice.
        UnknownNameError: If a spin or a motor names a wheel that is not there.
    """
    _check_spins(record)
    _check_motors(record)


def wheel_names(record: DrivetrainRecord) -> list[str]:
    """Return the names of the wheels, declared or expanded from sets."""
    names = [wheel.name for wheel in record.wheels]
    for item in record.planetary:
        named = {member for member, given in item.members if isinstance(given, str)}
        named |= {item.fixed} if item.joint is None else {item.fixed, item.output}
        names += [f"{item.name}.{m}" for m in ("sun", "ring", "carrier") if m not in named]
        names += [f"{item.name}.planet_{number + 1}" for number in range(item.planets)]
    return names + [drive.wave_generator.name for drive in record.harmonic]


def _check_spins(record: DrivetrainRecord) -> None:
    """Every wheel is declared and fixed by at most one spin."""
    names = wheel_names(record)
    fixed_by: dict[str, str] = {}
    for spin in record.spins:
        if spin.wheel not in names:
            raise UnknownNameError(
                at(record.source, f"{spin.place}.wheel"), "wheel", spin.wheel, names
            )
        if spin.wheel in fixed_by:
            raise DescriptionError(
                at(record.source, spin.place),
                f"wheel {spin.wheel!r} is fixed twice, by {fixed_by[spin.wheel]} and {spin.place}",
                "keep one of them; a wheel that follows several joints takes 'coefficients'",
            )
        fixed_by[spin.wheel] = spin.place
    free = [wheel.name for wheel in record.wheels if wheel.name not in fixed_by]
    if free and not record.meshes and not record.planetary:
        kind = "wheel" if len(free) == 1 else "wheels"
        raise DescriptionError(
            at(record.source, "spins"),
            f"no spin fixes {kind} {', '.join(repr(name) for name in free)}",
            f"add {{wheel: {free[0]}, joint: ..., ratio: ...}}",
        )


def _check_motors(record: DrivetrainRecord) -> None:
    """Every motor turns a wheel of its own."""
    names = wheel_names(record)
    turned_by: dict[str, str] = {}
    for motor in record.motors:
        place = at(record.source, f"motors.{motor.name}.wheel")
        if motor.wheel not in names:
            raise UnknownNameError(place, "wheel", motor.wheel, names)
        if motor.wheel in turned_by:
            raise DescriptionError(
                place,
                f"wheel {motor.wheel!r} is turned by two motors, {turned_by[motor.wheel]!r}"
                f" and {motor.name!r}",
                "give each motor a wheel of its own",
            )
        turned_by[motor.wheel] = motor.name
