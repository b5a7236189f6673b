"""Motors between command and rotor: ideal current loops or windings, and limits."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from geared_dynamics.actuation.electrics import windings
from geared_dynamics.actuation.limits import torque_range
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.transmission import motor_torques
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.plants.windings import WindingStep, winding_step

CommandKind = Literal["effort", "torque", "current", "voltage"]


class Drives(NamedTuple):
    """What the motors do during a step, m of them: torque = drive - drag * speed.

    Attributes:
        drive: [N m].
        drag: [N m s/rad].
        limited: Whether a limit binds.
    """

    drive: Array
    drag: Array
    limited: BoolArray


class MotorStage:
    """The motors of an arm for one kind of command.

    Attributes:
        model: Geared model.
        kind: What commands are: joint effort, motor torque, current or voltage.
        saturate: Whether the motors' limits hold.
    """

    def __init__(self, model: GearedModel, kind: CommandKind, *, saturate: bool = True) -> None:
        """Check that the model says what the kind of command needs."""
        if not isinstance(kind, str) or kind not in get_args(CommandKind):
            raise UnknownNameError("command", "kind of command", kind, get_args(CommandKind))
        source = model.drivetrain.source
        if not model.motor_names:
            remedy = "add a section 'motors' to the drivetrain file (docs/motors.md)"
            raise ModelError(f"{source}, motors", "are missing: nothing moves this arm", remedy)
        self.model, self.kind, self.saturate = model, kind, saturate
        motors = model.motors
        self._kt, self._known = motors.torque_constant, not np.isnan(motors.torque_constant).any()
        if kind == "voltage":
            self._wires = windings(model)
        elif kind == "current" and not self._known:
            name = model.motor_names[int(np.flatnonzero(np.isnan(self._kt))[0])]
            place = f"{source}, motors.{name}.torque_constant"
            raise ModelError(place, "is not given", "add it: the current acts through it")
        if kind == "effort":
            motor_torques(model, np.zeros(model.n))  # refuses arms whose motors cannot
        self._none = np.zeros(len(model.motor_names))
        self._wound: WindingStep | None = None
        self._lay_out_limits()

    def _lay_out_limits(self) -> None:
        """Keep the limits that do not depend on the speed."""
        motors = self.model.motors
        voltage, current, torque, _ = motors.limits.T
        constant = np.where(np.isnan(self._kt), 1.0, self._kt)
        self._most = np.minimum(torque, current * constant)
        self._voltage = voltage
        self._bounded = bool(np.isfinite(motors.limits).any()) or any(
            len(points) for points in motors.envelopes
        )
        plain = not any(len(points) for points in motors.envelopes)
        self._plain = plain and not motors.pole_pairs.any()
        fed = np.isfinite(voltage) & ~np.isnan(motors.resistance)
        self._fed = bool(fed.any())
        with np.errstate(invalid="ignore"):
            self._stall = np.where(fed, constant * voltage / motors.resistance, np.inf)
            slope = constant * motors.back_emf_constant / motors.resistance
        self._slope = np.where(fed, slope, 0.0)
        self._top = motors.limits[:, 3]

    @property
    def count(self) -> int:
        """Numbers in a command."""
        return self.model.n if self.kind == "effort" else len(self.model.motor_names)

    def over(
        self, command: Array, current: Array, speed: Array, step: float, ceiling: Array | None
    ) -> Drives:
        """What the motors do over a step.

        Args:
            command: In the stage's kind.
            current: Currents at the beginning (m,) [A].
            speed: Rotor speeds there (m,) [rad/s].
            step: [s].
            ceiling: Further limit of the torque (m,) [N m]; None: none.
        """
        if self.kind == "voltage":
            return self._by_voltage(command, current, speed, step, ceiling)
        wanted = command
        if self.kind == "effort":
            wanted = motor_torques(self.model, command)
        elif self.kind == "current":
            wanted = command * self._kt
        drag, given = self._none, wanted
        if self.saturate and self._bounded:
            low, high = self.range(speed)
            given = np.minimum(np.maximum(wanted, low), high)
            bound = given != wanted
            if self._fed and bound.any():  # at the voltage's limit the back-EMF brakes
                drag = np.where(bound & (np.abs(given) < self._most), self._slope, 0.0)
        if ceiling is not None:
            given = np.clip(given, -ceiling, ceiling)
        return Drives(given + drag * speed, drag, given != wanted)

    def range(self, speed: Array) -> tuple[Array, Array]:
        """Least and largest torque at a speed, as ``torque_range``."""
        if not self._plain:
            return torque_range(self.model, speed)
        most = np.where(speed > self._top, 0.0, self._most)
        least = np.where(speed < -self._top, 0.0, -self._most)
        if not self._fed:
            return least, most
        brake = self._slope * speed
        low = np.minimum(np.maximum(-self._stall - brake, least), most)
        return low, np.maximum(np.minimum(self._stall - brake, most), least)

    def _by_voltage(
        self, command: Array, current: Array, speed: Array, step: float, ceiling: Array | None
    ) -> Drives:
        """Windings."""
        tension = self._supplied(command)
        if self._wound is None or self._wound.length != step:
            self._wound = winding_step(self._wires, step)
        wound = self._wound
        drive, drag = wound.pull * tension + wound.keep * current, wound.drag
        limited = tension != command
        if ceiling is not None:
            torque = drive - drag * speed
            beyond = np.abs(torque) > ceiling
            if beyond.any():
                drive = np.where(beyond, np.clip(torque, -ceiling, ceiling), drive)
                drag, limited = np.where(beyond, 0.0, drag), limited | beyond
        return Drives(drive, drag, limited)

    def _supplied(self, command: Array) -> Array:
        """Voltage that the supply gives (m,) [V]."""
        if not self.saturate:
            return command
        return np.asarray(np.minimum(np.maximum(command, -self._voltage), self._voltage))

    def currents(
        self, command: Array, current: Array, drives: Drives, speeds: tuple[Array, Array]
    ) -> Array:
        """Currents at the end of the step (m,) [A]; NaN where no torque constant is given.

        Args:
            command: In the stage's kind.
            current: Currents at the beginning (m,) [A].
            drives: What ``over`` gave.
            speeds: Of the rotors before and after (m,) [rad/s].
        """
        if self._wound is None:
            return np.asarray((drives.drive - drives.drag * speeds[1]) / self._kt)
        return self._wound.after(self._supplied(command), current, *speeds)

    def voltage(self, command: Array, current: Array, speed: Array) -> Array:
        """Voltage across the motors (m,) [V]; NaN where their constants are not given."""
        if self.kind == "voltage":
            return self._supplied(command)
        motors = self.model.motors
        return np.asarray(motors.resistance * current + motors.back_emf_constant * speed)
