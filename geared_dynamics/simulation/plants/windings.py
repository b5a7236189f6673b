"""Currents of the motors' windings over a step in which the rotors' speeds hardly change.

    i(t) = i_s + (i - i_s) exp(-t R/L),   i_s = (u - k_e s) / R

exactly; its mean is i_s w + i (1 - w), w = 1 - (1 - exp(-x)) / x with x = h R / L. The torque
k_t times that mean is linear in s: drive - drag s, drag = k_t k_e w / R. The arm takes the drag
as damping; thus neither a short L/R nor a strong back-EMF asks for a short step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.electrics import Windings
from geared_dynamics.arrays import Array

SMALL = 1e-3  # x below which w is summed as a series


class WindingStep(NamedTuple):
    """What a step of a certain length makes of m windings.

    Attributes:
        length: h [s].
        pull: Torque per voltage, k_t w / R [N m/V].
        keep: Torque per current at the beginning, k_t (1 - w) [N m/A].
        drag: Torque per speed, k_t k_e w / R [N m s/rad].
        fade: exp(-x).
        emf: k_e / R [A s/rad].
        admittance: 1 / R [1/ohm].
        late: How much of the final current goes by the speed at the end: 1 without inductance,
            else 1/2, the mean.
    """

    length: float
    pull: Array
    keep: Array
    drag: Array
    fade: Array
    emf: Array
    admittance: Array
    late: Array

    def after(self, voltage: Array, current: Array, before: Array, after: Array) -> Array:
        """Current at the end (m,) [A].

        Args:
            voltage: [V].
            current: At the beginning [A].
            before: Speed there [rad/s].
            after: Speed at the end [rad/s].
        """
        speed = before + self.late * (after - before)
        steady = voltage * self.admittance - self.emf * speed
        return np.asarray(steady + (current - steady) * self.fade)


def winding_step(wires: Windings, length: float) -> WindingStep:
    """Compute the numbers of a step.

    Args:
        wires: The windings.
        length: Of the step [s].
    """
    with np.errstate(divide="ignore"):
        x = length * wires.resistance / wires.inductance
    near = np.minimum(x, 1.0)
    series = near * (0.5 - near * (1.0 / 6.0 - near * (1.0 / 24.0 - near / 120.0)))
    share = np.where(x < SMALL, series, 1.0 + np.expm1(-x) / x)
    pull = wires.torque_constant * share / wires.resistance
    return WindingStep(
        length,
        pull,
        wires.torque_constant * (1.0 - share),
        pull * wires.back_emf_constant,
        np.exp(-x),
        wires.back_emf_constant / wires.resistance,
        1.0 / wires.resistance,
        np.where(wires.inductance > 0.0, 0.5, 1.0),
    )
