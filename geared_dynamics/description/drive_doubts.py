"""What a drivetrain says that is possible and unlikely."""

from __future__ import annotations

from collections.abc import Iterator

from geared_dynamics.description.drive_records import EMF_PER_TORQUE, MotorRecord
from geared_dynamics.description.records import DrivetrainRecord
from geared_dynamics.description.source import at

# Two constants of one motor, measured and rounded apart, agree to a few percent.
CONSTANTS_AGREE = 0.05

Doubt = tuple[str, str, str]


def drive_doubts(drivetrain: DrivetrainRecord) -> list[Doubt]:
    """Return place, finding and remedy of each."""
    return [doubt for motor in drivetrain.motors for doubt in _motor(motor, drivetrain.source)]


def _motor(motor: MotorRecord, source: str) -> Iterator[Doubt]:
    place = at(source, f"motors.{motor.name}")
    k_t, k_e = motor.torque_constant, motor.back_emf_constant
    if k_t is not None and k_e is not None:
        expected = EMF_PER_TORQUE[motor.kind]
        if abs(k_e / (k_t * expected) - 1.0) > CONSTANTS_AGREE:
            whose = "a DC motor" if motor.kind == "dc" else "a brushless motor in phase amplitudes"
            yield (
                f"{place}.back_emf_constant",
                f"{k_e:g} V s/rad is {k_e / k_t:.4g} times the torque constant {k_t:g} N m/A;"
                f" of {whose} it is {expected:.4g} times that",
                "correct one of the two, or leave the back-EMF constant out",
            )
    peak, thermal = motor.limits.current, motor.limits.thermal
    if peak is not None and thermal is not None and thermal.continuous_current > peak:
        yield (
            f"{place}.limits.thermal.continuous_current",
            f"{thermal.continuous_current:g} A is above the peak current {peak:g} A,"
            " so the winding never warms to its limit",
            "correct one of the two",
        )
