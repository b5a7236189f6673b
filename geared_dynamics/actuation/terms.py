"""What the drives add to the equations of motion at one state, from kernels.plant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.border import call
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.model import GearedModel


class Rotors(NamedTuple):
    """Inertial torque of the motors' rotors, upstream of the gears' losses.

    beta = rows a + drift = J (s' + e . alpha_carrier) (m,) [N m], motor side. With the
    coupling ``diagonal`` the carrier's turn is left out, with ``none`` all is zero, as in the
    model's mass matrix.

    Attributes:
        rows: J (A' + Z_m) (m, n) [kg m^2].
        drift: J times the carriers' angular acceleration about the axes at a = 0 (m,).
    """

    rows: Array
    drift: Array


class DriveTerms(NamedTuple):
    """Rotors' inertia, and friction as base + slope |load|, against the motion.

    Attributes:
        rotors: See ``Rotors``.
        joint_base: Joint friction without load (n,) [N m or N].
        joint_slope: Per load's magnitude (n,).
        rotor_base: Rotor friction without load (m,) [N m].
        rotor_slope: Per |m| (m,).
        turn: What stands for the signs of the rotors' speeds (m,).
    """

    rotors: Rotors
    joint_base: Array
    joint_slope: Array
    rotor_base: Array
    rotor_slope: Array
    turn: Array


def drive_terms(
    model: GearedModel, q: Array, v: Array, way: Array, band: float | None
) -> DriveTerms:
    """Terms at one state; arguments as ``plant_at``."""
    n, m = model.structure_matrix.shape
    inputs = {
        "q": (q, n),
        "v": (v, n),
        "way": (way, n),
        "band": (np.array([-1.0 if band is None else band]), 1),
    }
    size = m * n + 4 * m + 2 * n
    flat = call("drive_terms", model, inputs, (size,), constants=(packed_drives(model),))
    ends = np.cumsum([m * n, m, n, n, m, m])
    rows, drift, *rest = np.split(flat, ends)
    return DriveTerms(Rotors(rows.reshape(m, n), drift), *rest)
