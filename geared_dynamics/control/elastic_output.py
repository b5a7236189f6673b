"""What is sent for the motor torques of an elastic arm, on each side."""

from __future__ import annotations

import numpy as np

from geared_dynamics.actuation.commands import Limit, MotorCommands
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.control.values import Output, Side
from geared_dynamics.model import GearedModel

BITS = {"motor_torque": Limit.TORQUE, "motor_current": Limit.CURRENT}


def elastic_output(
    model: GearedModel,
    side: Side,
    limits: Array,
    torque: Array,
    speed: Array,
    commands: MotorCommands | None,
    clip: bool,
) -> Output:
    """The command of motor torques on the side that is sent.

    Args:
        model: Geared model with elastic joints.
        side: What is sent.
        limits: Largest commands (m,) or (n,).
        torque: At the motors' shafts (m,) [N m].
        speed: Of the rotors (m,) [rad/s].
        commands: Of the planned motion, for limits and the windings' inductance; None: none.
        clip: Whether commands beyond the limits are clipped.
    """
    motors, joint = model.motors, model.structure_matrix @ torque
    exceeded: IntArray = np.zeros(len(torque), np.int64)
    if commands is not None:
        exceeded = commands.binding
    if side == "joint_torque":
        command = joint
    elif side == "motor_torque":
        command = torque
    else:
        command = torque / motors.torque_constant
        if side == "motor_voltage":
            inductive = 0.0 if commands is None else commands.inductive_voltage
            command = motors.resistance * command + motors.back_emf_constant * speed
            command = command + inductive
    if side != "joint_torque":
        bit = int(BITS.get(side, Limit.VOLTAGE))
        exceeded = exceeded | bit * (np.abs(command) > limits)
    if clip:
        command = np.clip(command, -limits, limits)
    return Output(np.asarray(command), joint, exceeded)
