"""Friction that files describe and no column stands for: it is taken as they say.

Columns of friction are linear: viscous, Coulomb with one level, and an offset. The Stribeck
effect, what a load adds and ripple are not, nor have motors an offset or a second level.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.friction import friction_forces
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.model import GearedModel
from geared_dynamics.model.friction import FrictionLaws


def known_friction(model: GearedModel, q: Array, v: Array, a: Array) -> Array:
    """Friction beside the columns' (k, n) [N m or N], joint side, as ``analyze`` counts it.

    tau = Y x + known_friction. The load is the files' rigid torque, as in the comparison;
    what a load, an angle or slowness changes in a motor is left out there as well.
    """
    result = np.zeros(q.shape)
    laws = model.joint_friction
    if not is_linear(laws):
        linear = replace(model, joint_friction=linear_part(laws))
        tau = inverse_dynamics(model, q, v, a)
        result += friction_forces(model, v, q, tau) - friction_forces(linear, v, q, tau)
    motors = model.motors.friction
    constant = np.zeros(len(model.motor_names))
    np.add.at(constant, motors.index, motors.offset + motors.coulomb @ [0.5, -0.5])
    return np.asarray(result + model.structure_matrix @ constant)


def is_linear(laws: FrictionLaws) -> bool:
    """Whether columns stand for all of these laws."""
    return not (laws.load.any() or len(laws.ripple) or (laws.static != laws.coulomb).any())


def linear_part(laws: FrictionLaws) -> FrictionLaws:
    """What columns stand for."""
    none = readonly(np.zeros(laws.count))
    return replace(laws, static=laws.coulomb, load=none, ripple=readonly(np.zeros((0, 4))))
