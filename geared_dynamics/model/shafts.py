"""Springs inside drives: a coordinate of its own for what hangs on the motor's side."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import DrivetrainRecord, ShaftSpringRecord
from geared_dynamics.errors import ModelError, UnknownNameError

# Of two wheels' ratios, relative: written with ten digits or more they agree.
ROUNDED = 1e-9


def hang_shafts(
    drivetrain: DrivetrainRecord, wheels: list[str], spin: Array, whole: Array
) -> tuple[list[ShaftSpringRecord], Array, Array]:
    """Let wheels on the motor's side of a spring follow a coordinate of their own.

    Args:
        drivetrain: Records.
        wheels: Names of the wheels (w,).
        spin: Gamma (w, n), all springs stiff.
        whole: Gamma of (q, theta of the elastic joints) (w, n + k).

    Returns:
        The springs whose shafts move (t of them; those of frozen joints do not), Gamma with
        a column more for each (w, n + k + t), and their stretches (t, n + k + t): the first
        shaft's angle less its ratio times the second's.
    """
    acting, ratios, groups = [], [], []
    owner: dict[int, str] = {}
    for spring in drivetrain.springs:
        place = f"{drivetrain.source}, springs.{spring.name}"
        first, second, *others = (
            index_of(name, wheels, place)
            for name in (spring.motor_side, spring.link_side, *spring.others)
        )
        group = {r: ratio(spin, r, first, wheels, place) for r in (first, *others)}
        ratios_to_second = ratio(spin, first, second, wheels, place)
        if second in group:
            finding = f"wheel {wheels[second]!r} is on both sides of the spring"
            raise ModelError(f"{place}.with", finding, "name each wheel on one side")
        for r in group:
            if r in owner:
                finding = f"wheel {wheels[r]!r} hangs behind spring {owner[r]!r} already"
                raise ModelError(place, finding, "let each wheel follow one spring")
            owner[r] = spring.name
        if spin[first].any():
            acting.append(spring)
            groups.append(group)
            ratios.append((first, second, ratios_to_second))
    found = np.hstack([whole, np.zeros((len(wheels), len(acting)))])
    for k, group in enumerate(groups):
        for r, factor in group.items():
            found[r] = 0.0
            found[r, whole.shape[1] + k] = factor
    rows = [found[first] - factor * found[second] for first, second, factor in ratios]
    return acting, found, np.reshape(rows, (len(acting), found.shape[1]))


def shaft_doubts(drivetrain: DrivetrainRecord) -> list[tuple[str, str, str]]:
    """Place, finding and remedy of each spring with no motor on the side named first.

    The first wheel and those under ``with`` follow the spring's own coordinate. Without a
    motor there, neither directly nor through a further spring, they hang on the drive like a
    disc on a soft shaft, which the file can mean; more often its ends are swapped.
    """
    springs = drivetrain.springs
    behind = {s.name: {s.motor_side, *s.others} for s in springs}
    for _ in springs:
        for spring in springs:
            for other in springs:
                if other.link_side in behind[spring.name]:
                    behind[spring.name] |= behind[other.name]
    motors = {motor.wheel: motor.name for motor in drivetrain.motors}
    found = []
    for spring in springs if motors else ():
        if behind[spring.name] & motors.keys():
            continue
        first, second = spring.motor_side, spring.link_side
        finding = f"no motor turns its motor side, {first!r}"
        remedy = f"name the motor's wheel first, between: [{second}, {first}], or under 'with:'"
        if second in motors:
            finding += f"; motor {motors[second]!r} turns {second!r}, on the other"
        found.append((f"{drivetrain.source}, springs.{spring.name}", finding, remedy))
    return found


def index_of(name: str, wheels: list[str], place: str) -> int:
    """Index of a wheel by its name."""
    if name not in wheels:
        raise UnknownNameError(place, "wheel", name, wheels)
    return wheels.index(name)


def ratio(spin: Array, of: int, to: int, wheels: list[str], place: str) -> float:
    """Spin of one wheel per spin of another, the same in every motion of the joints."""
    ours, theirs = spin[of], spin[to]
    d = int(np.argmax(np.abs(theirs)))
    if not ours.any() and not theirs.any():
        return 1.0  # of frozen joints
    if theirs[d] != 0.0 and ours.any():
        factor = float(ours[d] / theirs[d])
        if np.all(np.abs(ours - factor * theirs) <= ROUNDED * np.abs(ours).max()):
            return factor
    finding = f"wheels {wheels[of]!r} and {wheels[to]!r} do not turn in a fixed ratio"
    remedy = "name two wheels of one drive, which turn alike when the spring is stiff"
    raise ModelError(place, finding, remedy)
