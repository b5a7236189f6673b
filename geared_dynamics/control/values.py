"""What goes into a control cycle and what comes out; arrays in the model's joint order."""

from __future__ import annotations

from typing import Literal, NamedTuple

from geared_dynamics.arrays import Array, IntArray

Side = Literal["joint_torque", "motor_torque", "motor_current", "motor_voltage"]


class State(NamedTuple):
    """Measured state of the arm.

    Attributes:
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        theta: Position of the shafts behind the springs (n_e,), joint side; elastic arms.
        vtheta: Its rate (n_e,).
    """

    q: Array
    v: Array
    theta: Array | None = None
    vtheta: Array | None = None


class Reference(NamedTuple):
    """Wanted motion at the instant of the command.

    Attributes:
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        a: Joint acceleration (n,).
        jerk: Its derivative (n,), for L di/dt of motors; without it currents count as steady.
        derivatives: q and its time derivatives (k+1, n), for elastic arms.
    """

    q: Array
    v: Array
    a: Array
    jerk: Array | None = None
    derivatives: Array | None = None


class Memory(NamedTuple):
    """What a law remembers from cycle to cycle.

    Attributes:
        integral: Time integral of the position error (n,) [rad s or m s].
    """

    integral: Array


class Output(NamedTuple):
    """Result of a control cycle.

    Attributes:
        command: What to send (n,) or (m,), in the controller's ``side``.
        joint_torque: Joint force that the law asks for (n,) [N m or N], joint side.
        exceeded: Limits that the command exceeded before it was made to fit (m,),
            ``gd.Limit`` as integers; empty on the joint side.
    """

    command: Array
    joint_torque: Array
    exceeded: IntArray
