"""Currents that a motor's voltage limit allows at a speed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.batch import check_results
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.border import common_lead
from geared_dynamics.model import GearedModel


class VoltageRange(NamedTuple):
    """Currents of m motors within their voltage limits, infinite where there is none.

    Attributes:
        low: Least current (..., m) [A].
        high: Largest (..., m) [A].
        reachable: Whether any current meets the limit (..., m); else low = high is the one
            that needs least voltage.
    """

    low: Array
    high: Array
    reachable: BoolArray


@np.errstate(over="ignore", invalid="ignore")
def voltage_range(model: GearedModel, speed: Array, inductive: Array) -> VoltageRange:
    """Currents with (R i + e)^2 + (x i)^2 <= u_max^2, e = k_e s + L di/dt, x = p s L.

    With z = hypot(R, x) they are -R e / z^2 -+ sqrt(u_max^2 - (e x / z)^2) / z.

    Args:
        model: Geared model.
        speed: Rotor speed (..., m) [rad/s].
        inductive: L di/dt (..., m) [V].
    """
    motors = model.motors
    inputs = {"speed": speed, "inductive": inductive}
    shape = (*common_lead(inputs), len(motors.names))
    voltage = motors.limits[:, 0]
    known = np.isfinite(voltage) & ~np.isnan(motors.resistance)
    r = np.where(known, motors.resistance, 1.0)
    emf = np.where(known, motors.back_emf_constant * speed + inductive, 0.0)
    x = np.where(known, motors.pole_pairs * speed * motors.inductance, 0.0)
    check_results(inputs, emf, x)
    z = np.hypot(r, x)
    lost = np.abs(emf) * np.abs(x / z)  # voltage that remains at the best current
    limit = np.where(known, voltage, 0.0)
    middle = -(r / z) * (emf / z)
    half = np.sqrt(np.maximum(limit - lost, 0.0)) * np.sqrt(limit + lost) / z
    return VoltageRange(
        np.where(known, middle - half, np.full(shape, -np.inf)),
        np.where(known, middle + half, np.full(shape, np.inf)),
        (lost <= limit) | ~known,
    )
