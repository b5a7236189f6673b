"""The drives in the form the kernels read (see kernels.drive_layout)."""

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.dynamics.motor_side import motor_shares
from geared_dynamics.dynamics.packing import sealed
from geared_dynamics.errors import ModelError
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import ROTOR_SMOOTHING, FrictionLaws


def packed_drives(model: GearedModel) -> Array:
    """Return the packed drives, made at first use and kept on the model."""
    forms = model._forms
    if forms.drives is None:
        forms.drives = sealed(pack_drives(model))
    return forms.drives


def pack_drives(model: GearedModel) -> Array:
    """Lay the drives out.

    Where the motors cannot produce every joint force, the rows of the distribution are
    zero: ``motor_commands`` refuses such a model, friction does not mind.
    """
    count = len(model.motor_names)
    size = at.ROWS + 2 * model.n
    joints, rotors = model.joint_friction, model.motors.friction
    starts = np.cumsum(
        [
            at.HEADER_SIZE,
            count * size,
            joints.count * at.LAW_SIZE,
            rotors.count * at.LAW_SIZE,
            at.RIPPLE_SIZE * len(joints.ripple),
            at.RIPPLE_SIZE * len(rotors.ripple),
        ]
    )
    header = np.zeros(at.HEADER_SIZE)
    header[at.COUNT], header[at.MOTORS], header[at.MOTOR_SIZE] = count, starts[0], size
    header[at.JOINT_LAWS], header[at.JOINT_LAWS_END] = starts[1], starts[2]
    motors = motor_blocks(model, size)
    motors[rotors.index, at.LAW] = starts[2] + at.LAW_SIZE * np.arange(rotors.count)
    envelopes = [points.ravel() for points in model.motors.envelopes]
    ends = starts[5] + np.cumsum([0, *[points.size for points in envelopes]])
    motors[:, at.ENVELOPE], motors[:, at.ENVELOPE_END] = ends[:-1], ends[1:]
    parts = [
        header,
        motors.ravel(),
        law_blocks(joints, int(starts[3])).ravel(),
        law_blocks(rotors, int(starts[4])).ravel(),
        joints.ripple[:, 1:].ravel(),
        rotors.ripple[:, 1:].ravel(),
        *envelopes,
    ]
    return np.concatenate(parts)


def motor_blocks(model: GearedModel, size: int) -> Array:
    """Motors (m, size), their envelopes unset."""
    motors, wheels = model.motors, model.wheels
    blocks = np.zeros((len(motors.names), size))
    carriers = wheels.carrier[motors.wheel]
    blocks[:, at.CARRIER] = carriers
    for block, carrier, axis in zip(blocks, carriers, wheels.axis[motors.wheel], strict=True):
        turn = np.eye(3) if carrier < 0 else rotation_with_z(model.tree.axis[carrier])
        block[at.AXIS : at.AXIS + 3] = turn.T @ axis
    if model.coupling != "none":
        blocks[:, at.INERTIA] = model.J[motors.wheel]
    blocks[:, at.COUPLED] = model.coupling == "complete"
    # What a file does not give is neutral here; MotorCommands refuses to show it.
    blocks[:, at.RESISTANCE] = with_default(motors.resistance, 0.0)
    blocks[:, at.INDUCTANCE] = motors.inductance
    blocks[:, at.TORQUE_CONSTANT] = with_default(motors.torque_constant, 1.0)
    blocks[:, at.BACK_EMF] = with_default(motors.back_emf_constant, 0.0)
    driving, backdriving = motors.efficiency.T
    blocks[:, at.DRIVING] = 1.0 / driving - 1.0
    blocks[:, at.BACKDRIVING] = 1.0 - backdriving
    blocks[:, at.SMOOTHING] = ROTOR_SMOOTHING
    blocks[motors.friction.index, at.SMOOTHING] = motors.friction.smoothing
    blocks[:, at.ZERO] = motors.zeros
    blocks[:, at.POLE_PAIRS] = motors.pole_pairs
    blocks[:, at.LIMITS : at.LIMITS + 4] = motors.limits
    blocks[:, at.ROWS : at.ROWS + model.n] = model.structure_matrix.T
    try:
        blocks[:, at.ROWS + model.n :] = motor_shares(model).T
    except ModelError:
        pass  # see pack_drives
    return blocks


def with_default(values: Array, neutral: float) -> Array:
    """Return the values with ``neutral`` where a file gives none."""
    return np.where(np.isnan(values), neutral, values)


def law_blocks(laws: FrictionLaws, ripples: int) -> Array:
    """Friction laws (k, LAW_SIZE); their ripples begin at ``ripples``."""
    blocks = np.zeros((laws.count, at.LAW_SIZE))
    blocks[:, at.INDEX] = laws.index
    blocks[:, at.MULTIPLIER] = laws.multiplier
    blocks[:, at.SHIFT] = laws.shift
    blocks[:, at.VISCOUS] = laws.viscous
    blocks[:, at.COULOMB : at.COULOMB + 2] = laws.coulomb
    blocks[:, at.EXCESS : at.EXCESS + 2] = laws.static - laws.coulomb
    blocks[:, at.STRIBECK_SPEED] = laws.stribeck_speed
    blocks[:, at.LOAD] = laws.load
    blocks[:, at.OFFSET] = laws.offset
    blocks[:, at.ROUNDING] = laws.smoothing
    counts = [int(np.sum(laws.ripple[:, 0] == k)) for k in range(laws.count)]
    ends = ripples + at.RIPPLE_SIZE * np.cumsum([0, *counts])
    blocks[:, at.RIPPLES], blocks[:, at.RIPPLES_END] = ends[:-1], ends[1:]
    return blocks
