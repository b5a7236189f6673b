"""Torque, current, voltage for a motion."""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike, BoolArray, IntArray
from geared_dynamics.dynamics.arguments import call, check_results, common_lead, coordinates
from geared_dynamics.dynamics.drives import motor_shares, packed_drives
from geared_dynamics.dynamics.elastic.flatness import Method, enough, plan_of, run
from geared_dynamics.dynamics.packing import packed, packed_balancers
from geared_dynamics.errors import ModelError
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.kernels.door import KernelAnswer, door
from geared_dynamics.model import GearedModel, require_model

# -- Motor commands: what the amplifiers must give for a motion -----------------------------------


class Limit(enum.IntFlag):
    """Limits that a command exceeds."""

    NONE = 0
    VOLTAGE = at.OVER_VOLTAGE
    CURRENT = at.OVER_CURRENT
    TORQUE = at.OVER_TORQUE
    SPEED = at.OVER_SPEED
    ENVELOPE = at.OVER_ENVELOPE


class MotorCommands:
    """Commands of m motors for one state or a batch, motor side; arrays (..., m).

    Look at ``exceeded`` before you send them: they are what the motion needs, whether
    or not the motors can give it (``saturate`` makes them fit).
    """

    __slots__ = ("_values", "model")

    def __init__(self, model: GearedModel, values: Array) -> None:
        """Wrap the kernel's result (..., RESULT_ROWS, m)."""
        self.model = model
        self._values = values

    def __repr__(self) -> str:
        """Show torques and what binds."""
        return f"MotorCommands(torque={self.torque}, exceeded={self.exceeded})"

    @property
    def torque(self) -> Array:
        """Electromagnetic torque k_t i [N m]."""
        return self._values[..., at.TORQUE, :]

    @property
    def current(self) -> Array:
        """Current i [A]; of a brushless motor the q-axis amplitude."""
        self._refuse_missing(self.model.motors.torque_constant, "torque_constant")
        return self._values[..., at.CURRENT, :]

    @property
    def voltage(self) -> Array:
        """Voltage u = R i + L di/dt + k_e s [V]; of a brushless motor on the q axis."""
        self._refuse_missing(self.model.motors.torque_constant, "torque_constant")
        self._refuse_missing(self.model.motors.resistance, "resistance")
        return self._values[..., at.VOLTAGE, :]

    @property
    def inductive_voltage(self) -> Array:
        """L di/dt in the voltage [V]: zero without inductance, and where no jerk was given."""
        motors = self.model.motors
        wound = motors.inductance > 0.0
        voltage, current = self._values[..., at.VOLTAGE, :], self._values[..., at.CURRENT, :]
        rest = voltage - motors.resistance * current - motors.back_emf_constant * self.speed
        return np.where(wound, rest, 0.0)

    @property
    def speed(self) -> Array:
        """Speed of the rotors relative to their carriers, A' v [rad/s]."""
        return self._values[..., at.SPEED, :]

    @property
    def angle(self) -> Array:
        """What the encoders show, relative to the carriers [rad]."""
        return self._values[..., at.ANGLE, :]

    @property
    def shaft_torque(self) -> Array:
        """Torque without the rotors' friction [N m]."""
        return self._values[..., at.SHAFT, :]

    @property
    def transmitted_torque(self) -> Array:
        """Torque that the gears pass on, after their loss and the rotors' inertia [N m]."""
        return self._values[..., at.TRANSMITTED, :]

    @property
    def binding(self) -> IntArray:
        """Limits that the commands exceed, ``Limit`` as integers."""
        return self._values[..., at.BINDING, :].astype(np.int64)

    @property
    def exceeded(self) -> dict[str, Limit]:
        """Motors whose limits are exceeded, in any state of a batch, and which limits."""
        bits = self.binding.reshape(-1, len(self.model.motor_names))
        union = np.bitwise_or.reduce(bits, axis=0)
        return {
            name: Limit(int(b)) for name, b in zip(self.model.motor_names, union, strict=True) if b
        }

    def _refuse_missing(self, values: Array, key: str) -> None:
        missing = np.isnan(values)
        if missing.any():
            names = [n for n, gone in zip(self.model.motor_names, missing, strict=True) if gone]
            place = f"{self.model.drivetrain_source}, motors.{names[0]}.{key}"
            finding = f"is not given for {', '.join(names)}"
            raise ModelError(place, finding, "add it, or read the torques only")


def motor_commands(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    jerk: ArrayLike | None = None,
) -> MotorCommands:
    """Torque, current and voltage of every motor for a motion, losses and friction included.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).
        jerk: Its derivative (..., n), from which the current's derivative follows exactly.
            Without it the current is taken as steady: L di/dt is left out of the voltage.

    Raises:
        ModelError: if the motors cannot produce every joint force.

    References:
        Vukobratovic 2002, eq. (20.62)-(20.69); formulas in kernels.drive.
    """
    if jerk is None:
        return MotorCommands(model, command_rows(model, q, v, a))
    inputs = {"q": q, "v": v, "a": a, "jerk": jerk}
    return MotorCommands(model, rows_by_call("motor_commands_jerk", model, inputs))


def by_drives(model: GearedModel) -> KernelAnswer:
    """Let the kernel of the motor commands answer for a model."""
    constants = packed(model), packed_drives(model), packed_balancers(model)
    shape = (at.RESULT_ROWS, len(model.motor_names))
    return KernelAnswer(kernels.motor_commands, constants, 0, shape, model.n)


@door("motor_commands", 3, by_drives)
def command_rows(
    model: GearedModel, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None
) -> Array:
    """Motor commands as the kernel gives them (..., RESULT_ROWS, m), without jerk."""
    return rows_by_call("motor_commands", model, {"q": q, "v": v, "a": a}, out)


def rows_by_call(
    name: str, model: GearedModel, values: dict[str, ArrayLike], out: Array | None = None
) -> Array:
    """Call a kernel of motor commands; refuse joints that no motor moves."""
    if not require_model(model).motor_map.complete:
        motor_shares(model)
    n = coordinates(model)
    inputs = {key: (value, n) for key, value in values.items()}
    core = (at.RESULT_ROWS, len(model.motor_names))
    packs = (packed_drives(model), packed_balancers(model))
    return call(name, model, inputs, core, out, constants=packs)


# -- Currents that a motor's voltage limit allows at a speed --------------------------------------


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


# -- Motor commands of arms with elastic joints ---------------------------------------------------


def elastic_motor_commands(
    model: GearedModel,
    derivatives: ArrayLike,
    method: Method = "reduced",
    order: int | None = None,
) -> MotorCommands:
    """Torque, current and voltage of every motor for a motion of elastic joints.

    As ``gd.motor_commands``: friction of joints (on v) and rotors (on their own speed), the
    gears' losses, balancers, limits. ``saturate`` takes the result. With one derivative more than
    ``derivatives_needed`` the current's derivative follows exactly; without it the current is
    taken as steady: L di/dt is left out of the voltage.

    Args:
        model: Geared model with elastic joints.
        derivatives: Joint position and its time derivatives (..., k+1, n), as of
            ``feedforward``.
        method: As of ``feedforward``.
        order: Order of the method ``expanded``.

    Raises:
        ArrayError: as ``feedforward``.
        ModelError: as ``feedforward``.

    References:
        Vukobratovic 2002, eq. (20.62)-(20.69); formulas in kernels.drive and kernels.flatness.
    """
    plan = plan_of(model, method, order)
    path = enough(model, derivatives, plan, method, plan.rows + 1)
    count = len(model.motor_names)
    values = run("elastic_motor_commands", model, plan, plan.drives, path, at.RESULT_ROWS * count)
    return MotorCommands(model, values.reshape(*path.shape[:-2], at.RESULT_ROWS, count))
