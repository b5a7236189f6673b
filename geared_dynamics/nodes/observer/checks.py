"""Numbers of joints and motors that make no sense, refused by the parameter's name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.nodes.common.parameters import ParameterError, Values
from geared_dynamics.nodes.common.values import numbers


def check_encoders(
    motors: tuple[str, ...], resolution: Array, noise: Array, observer: str
) -> None:
    """Refuse encoders without any error: by resolution, or for the Kalman filter by noise."""
    nothing = resolution == 0.0
    if observer == "kalman":
        nothing &= noise == 0.0
    for name in np.array(motors)[nothing]:
        place, finding = f"motors.{name}.encoder_resolution", "is 0"
        finding += ", and encoder_noise as well" if observer == "kalman" else ""
        raise ParameterError(
            place, finding, "give the encoder's resolution, or encoder_resolution"
        )


def ranged(
    values: Values,
    pattern: str,
    names: Sequence[str],
    least: float,
    remedy: str,
    *,
    none: bool = False,
) -> Array:
    """Finite numbers of several joints or motors, not below the least.

    Args:
        values: Of the parameters.
        pattern: Their name, ``{}`` for the joint or motor.
        names: Of those.
        least: Number that is allowed.
        remedy: Said where one is not.
        none: Whether NaN is allowed as well: nothing is given.
    """
    found = numbers(values, pattern, names)
    for name, number in zip(names, found.tolist(), strict=True):
        if not (least <= number < np.inf and number > -np.inf) and not (none and np.isnan(number)):
            raise ParameterError(pattern.format(name), f"is {number:g}", remedy)
    return found


def deviations(values: Values, pattern: str, names: Sequence[str]) -> Array:
    """Standard deviations of sensors, above zero; NaN where there is none."""
    remedy = "give a number above zero, or NaN: there is no sensor"
    return ranged(values, pattern, names, np.finfo(float).tiny, remedy, none=True)
