"""Motors between command and rotor, windings included; end stops of the joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.command_type import (
    SHORT_NAMES,
    CommandName,
    as_command_type,
    command_names,
    require_constants,
    torque_map,
)
from geared_dynamics.actuation.driven_dynamics import Windings, windings
from geared_dynamics.actuation.motor_limits import torque_range
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics.drives import motor_shares
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

# -- Currents of the motors' windings over a step in which the rotors' speeds hardly change -------
#
#     i(t) = i_s + (i - i_s) exp(-t R/L),   i_s = (u - k_e s) / R
#
# exactly; its mean is i_s w + i (1 - w), w = 1 - (1 - exp(-x)) / x with x = h R / L. The torque
# k_t times that mean is linear in s: drive - drag s, drag = k_t k_e w / R. The arm takes the drag
# as damping; thus neither a short L/R nor a strong back-EMF asks for a short step.


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


# -- Motors between command and rotor: ideal current loops or windings, and limits ----------------


class MotorTorques(NamedTuple):
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

    def __init__(self, model: GearedModel, kind: CommandName, *, saturate: bool = True) -> None:
        """Check that the model says what the kind of command needs."""
        self.kind = as_command_type("command", kind, aliases=SHORT_NAMES)
        source = model.drivetrain_source
        if not model.motor_names:
            remedy = "add a section 'motors' to the drivetrain file (docs/motors.md)"
            raise ModelError(f"{source}, motors", "the section is missing", remedy)
        self.model, self.saturate = model, saturate
        motors = model.motors
        self._kt, self._known = motors.torque_constant, not np.isnan(motors.torque_constant).any()
        if self.kind == "motor_voltage":
            self._wires = windings(model)
        else:
            require_constants(model, self.kind, "add it: the current acts through it")
            self._torques = torque_map(model, self.kind, "motor_torque")
        if self.kind == "joint_torque":
            motor_shares(model)  # refuses arms whose motors cannot
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
        return len(command_names(self.model, self.kind))

    def over(
        self, command: Array, current: Array, speed: Array, step: float, ceiling: Array | None
    ) -> MotorTorques:
        """What the motors do over a step.

        Args:
            command: In the stage's kind.
            current: Currents at the beginning (m,) [A].
            speed: Rotor speeds there (m,) [rad/s].
            step: [s].
            ceiling: Further limit of the torque (m,) [N m]; None: none.
        """
        if self.kind == "motor_voltage":
            return self._by_voltage(command, current, speed, step, ceiling)
        wanted = command if self.kind == "motor_torque" else self._torques(command)
        drag, given = self._none, wanted
        if self.saturate and self._bounded:
            low, high = self.range(speed)
            given = np.minimum(np.maximum(wanted, low), high)
            bound = given != wanted
            if self._fed and bound.any():  # at the voltage's limit the back-EMF brakes
                drag = np.where(bound & (np.abs(given) < self._most), self._slope, 0.0)
        if ceiling is not None:
            given = np.clip(given, -ceiling, ceiling)
        return MotorTorques(given + drag * speed, drag, given != wanted)

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
    ) -> MotorTorques:
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
        return MotorTorques(drive, drag, limited)

    def _supplied(self, command: Array) -> Array:
        """Voltage that the supply gives (m,) [V]."""
        if not self.saturate:
            return command
        return np.asarray(np.minimum(np.maximum(command, -self._voltage), self._voltage))

    def currents(
        self, command: Array, current: Array, drives: MotorTorques, speeds: tuple[Array, Array]
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
        if self.kind == "motor_voltage":
            return self._supplied(command)
        motors = self.model.motors
        return np.asarray(motors.resistance * current + motors.back_emf_constant * speed)


# -- End stops: the position limits of the joints as rigid, inelastic stops -----------------------
#
#     gap = S q - b >= 0
#
# A joint that reaches a stop loses its velocity towards it. The impulse p >= 0 of the stops is the
# one of the least kinetic energy, so it only takes energy away:
#
#     v+ = v + M^-1 S' p,   S v+ >= 0,   p' S v+ = 0


@dataclass(frozen=True, eq=False)
class Stops:
    """End stops, s of them.

    Attributes:
        rows: Rate of the gap per rate of the joints (s, n).
        bound: Value of ``rows @ q`` at the stop (s,) [rad or m].
    """

    rows: Array
    bound: Array

    def placed(self, q: Array) -> Stops:
        """Return the stops of an arm that starts at q (n,): none is inside of it.

        A joint that starts beyond a limit has its stop where it starts.
        """
        return Stops(self.rows, np.minimum(self.bound, self.rows @ q))

    def gap(self, q: Array) -> Array:
        """Return the distance to each stop (s,) [rad or m]; negative beyond it."""
        return np.asarray(self.rows @ q - self.bound)

    def beyond(self, q: Array) -> IntArray:
        """Return the stops that a position (n,) is beyond."""
        return np.asarray((self.rows @ q < self.bound).nonzero()[0])


def stops_of(model: GearedModel, wanted: bool = True) -> Stops:
    """Return the stops of a model: the limits of its joints, those of mimic joints included.

    Continuous joints, joints without limits and limits that leave no range have none.

    Args:
        model: Geared model.
        wanted: False: no stops.
    """
    tree, rows, bound = model.tree, [], []
    for body, low, high in position_limits(model) if wanted else ():
        row = np.zeros(model.n)
        row[tree.dof[body]] = tree.multiplier[body]
        for sign, limit in ((1.0, low), (-1.0, high)):
            if np.isfinite(limit):
                rows.append(sign * row)
                bound.append(sign * (limit - tree.offset[body]))
    return Stops(np.reshape(rows, (-1, model.n)), np.array(bound))


def position_limits(model: GearedModel) -> list[tuple[int, float, float]]:
    """Return the body in ``model.tree``, the lower and the upper limit of each joint with limits.

    A limit that is not given is infinite.
    """
    lower, upper = model.tree.limits.lower, model.tree.limits.upper
    limited = (lower < upper) & (np.isfinite(lower) | np.isfinite(upper))
    return [(int(b), float(lower[b]), float(upper[b])) for b in np.flatnonzero(limited)]
