"""The rotors' own inertia, upstream of the gears' losses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.kinematics import jacobian, jacobian_drift, pose
from geared_dynamics.model import GearedModel


class Rotors(NamedTuple):
    """Inertial torque of the motors' rotors: beta = rows a + drift (m,) [N m], motor side.

    Attributes:
        rows: J (A' + Z_m) (m, n) [kg m^2].
        drift: J times the carriers' angular acceleration about the axes at a = 0 (m,).
    """

    rows: Array
    drift: Array


def rotor_inertia(model: GearedModel, q: Array, v: Array) -> Rotors:
    """Return beta = J (s' + e . alpha_carrier) of each motor at one state q, v (n,).

    With the coupling ``diagonal`` the carrier's turn is left out, with ``none`` all is zero,
    as in the model's mass matrix.
    """
    wheels, index = model.wheels, model.motor_wheel
    rows, drift = model.structure_matrix.T.copy(), np.zeros(len(index))
    inertia = np.zeros(len(index)) if model.coupling == "none" else model.J[index]
    if model.coupling == "complete":
        for body in set(wheels.carrier[index].tolist()) - {-1}:
            link = model.body_names[body]
            turn, change = (
                jacobian(model, q, link)[3:],
                jacobian_drift(model, q, v, link)[3:],
            )
            riders = np.flatnonzero(wheels.carrier[index] == body)
            axes = wheels.axis[index[riders]] @ pose(model, q, link)[:3, :3].T
            rows[riders] += axes @ turn
            drift[riders] = axes @ change
    return Rotors(inertia[:, None] * rows, inertia * drift)
