"""Motors, gear losses and friction put on a model whose drivetrain states none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.description.drive_records import FrictionRecord, RippleRecord
from geared_dynamics.model.drive_arrays import ROTOR_SMOOTHING, friction_laws
from geared_dynamics.model.model import GearedModel

VISCOUS = FrictionRecord(viscous=2e-5)
ROTOR = FrictionRecord(
    viscous=2e-5,
    coulomb=0.02,
    coulomb_negative=0.03,
    static=0.05,
    static_negative=0.06,
    stribeck_speed=3.0,
    load=0.01,
    offset=0.004,
    ripple=(RippleRecord(7.0, 0.003, 0.4),),
    smoothing=0.5,
)
JOINT = FrictionRecord(
    viscous=0.3, coulomb=0.8, coulomb_negative=0.6, static=1.1, stribeck_speed=0.05, load=0.02
)
LINEAR_JOINT = FrictionRecord(viscous=0.3, coulomb=0.8)


def with_motors(
    model: GearedModel,
    *,
    resistance: ArrayLike = 0.8,
    inductance: ArrayLike = 0.0,
    torque_constant: ArrayLike = 0.06,
    back_emf_constant: ArrayLike | None = None,
    power_factor: ArrayLike = 1.0,
    efficiency: ArrayLike = (1.0, 1.0),
    rotor: FrictionRecord = VISCOUS,
    joint: FrictionRecord | None = None,
) -> GearedModel:
    """The model with these motors, the same for all where one number is given.

    ``joint`` None keeps the joints' friction as it is.
    """
    count = len(model.motor_names)

    def column(values: ArrayLike) -> Array:
        return readonly(np.broadcast_to(np.asarray(values, float), (count,)))

    emf = torque_constant if back_emf_constant is None else back_emf_constant
    zeros = model.motor_zeros
    motors = replace(
        model.motors,
        resistance=column(resistance),
        inductance=column(inductance),
        torque_constant=column(torque_constant),
        back_emf_constant=column(emf),
        power_factor=column(power_factor),
        efficiency=readonly(np.broadcast_to(np.asarray(efficiency, float), (count, 2))),
        friction=friction_laws(
            [(k, 1.0, float(zeros[k]), rotor) for k in range(count)], ROTOR_SMOOTHING
        ),
    )
    laws = model.joint_friction
    if joint is not None:
        laws = friction_laws([(d, 1.0, 0.0, joint) for d in range(model.n)], 1e-3)
    return replace(model, motors=motors, joint_friction=laws)


def state(model: GearedModel, seed: int, rows: int = 3) -> Array:
    """Random q, v, a, ... (rows, n)."""
    return np.random.default_rng(seed).normal(size=(rows, model.n))
