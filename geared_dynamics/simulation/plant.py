"""A simulated arm: commands in, measurements out, time by steps.

command -> latency -> motors (limits, windings) -> mechanism (friction) -> encoders -> latency
"""

from __future__ import annotations

import warnings
from collections import deque
from typing import Any, Literal, get_args

import numpy as np

from geared_dynamics.actuation.command_type import SHORT_NAMES, CommandName, as_command_type
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import choice, warn_former
from geared_dynamics.dynamics.arguments import finite_input, one_driven_state
from geared_dynamics.dynamics.state import Measurement, State
from geared_dynamics.errors import (
    ArrayError,
    GearedDynamicsWarning,
    ModelError,
    shown,
)
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.simulation.equations_engine import EquationsMechanism
from geared_dynamics.simulation.integrators import longest_step
from geared_dynamics.simulation.motor_stage import MotorStage, MotorTorques
from geared_dynamics.simulation.plant_settings import (
    Command,
    Faults,
    Mechanism,
    PlantEncoders,
    PlantSettings,
    within,
)

Engine = Literal["mujoco", "equations"]
STEP = 1e-3  # [s], where none is given and a stable one is longer
LARGEST = 1e9  # of a command or speed; MuJoCo takes larger controls for zero
SHORT = 2e-5  # [s], below which a step is worth a warning
MOMENT = 1e-12  # [s], below which two times are the same
UNDETERMINED = 1e-9  # share of a joint that the motors leave open, and no rounding


class Plant:
    """A simulated arm with its motors, friction, encoders, delays and faults.

    Attributes:
        model: Geared model.
        command: Kind of its commands.
        engine: What moves its bodies.
        settings: See ``PlantSettings``.
        timestep: Longest step of the integrator [s].
        time: Since the reset [s].
    """

    def __init__(
        self,
        model: GearedModel,
        *,
        command: CommandName,
        engine: Engine = "mujoco",
        settings: PlantSettings | None = None,
    ) -> None:
        """Build a plant, at rest at q = 0.

        Args:
            model: Geared model, coupling ``complete``; MuJoCo has bodies and no other coupling.
            command: What commands are: ``joint_torque``, ``motor_torque``, ``motor_current`` or
                ``motor_voltage``; ``effort``, ``torque``, ``current``, ``voltage`` for short.
            engine: ``mujoco``: rotors and wheels are MuJoCo's bodies (extra ``sim``);
                ``equations``: our own equations of motion.
            settings: Integrator, friction, sensors and delays.

        Raises:
            ModelError: for an arm without motors, without the constants that the commands
                need, with losses that depend on the load, with a step that is not stable;
                with MuJoCo also for links and wheels that cannot be bodies.
        """
        require_model(model)
        choice("engine", "engine", engine, get_args(Engine))
        self.settings = PlantSettings() if settings is None else settings
        if not isinstance(self.settings, PlantSettings):
            raise ArrayError(
                "settings", f"is {shown(settings)}", "give a gd.simulation.PlantSettings"
            )
        self.engine: Engine = engine
        self._stage = MotorStage(model, command, saturate=self.settings.saturate)
        self.command = self._stage.kind
        self.time, self._faults, self._walled = 0.0, Faults(), True
        self._encoders = PlantEncoders(model, self.settings)
        self._bare = model
        self._build(model)
        self.reset()

    def _build(self, model: GearedModel) -> None:
        """Build the mechanism for a model."""
        refuse_reduced(model, self.engine)
        self.timestep = stable_step(model, self.settings, electric=self.command == "motor_voltage")
        self.model = model
        self._mechanism = mechanism(model, self.engine, self.timestep, self.settings)
        self._mechanism.show_wall(self._walled)
        self._A = model.structure_matrix
        # Joints that the motors do not determine have an encoder of their own.
        free = np.eye(model.n) - model.motor_map.inverse.T @ self._A.T
        self._own_encoder = np.abs(free).max(axis=1) > UNDETERMINED

    @property
    def faults(self) -> Faults:
        """What is wrong at the moment; set it at any time."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        if not isinstance(faults, Faults):
            raise ArrayError("faults", f"is {shown(faults)}", "give a gd.simulation.Faults")
        self._faults = faults.named(self.model.motor_names)
        self._ceiling = None
        if faults.torque_limits:
            limits = [faults.torque_limits.get(name, np.inf) for name in self.model.motor_names]
            self._ceiling = np.array(limits)

    @property
    def walled(self) -> bool:
        """Whether the wall of the settings is there; take it away or put it back at any time."""
        return self._walled and self.settings.wall is not None

    @walled.setter
    def walled(self, present: bool) -> None:
        if self.settings.wall is None:
            remedy = "build the plant with PlantSettings(wall=gd.simulation.Wall(...))"
            raise ArrayError("wall", "does not exist in this plant", remedy)
        self._walled = bool(present)
        self._mechanism.show_wall(self._walled)

    @property
    def touch(self) -> Array:
        """Force of the wall on its frame's origin (3,) [N], root axes; zero without contact."""
        return np.array(self._mechanism.touch)

    @property
    def state(self) -> State:
        """Where the arm really is."""
        n = self.model.n
        x, rate = self._mechanism.x, self._mechanism.rate
        parts = (x[:n], rate[:n], x[n:], rate[n:], self._current)
        return State(*(np.array(part) for part in parts))

    def reset(self, state: State | ArrayLike | None = None) -> None:
        """Put the arm somewhere, time zero, no faults, no command, noise from its seed.

        Args:
            state: Where; parts that are None are zero, or at rest on the motor side. Only q (n,)
                means at rest there, None at rest at q = 0.
        """
        self.faults = Faults()
        self.time = 0.0
        self._place(state)
        self._held = np.zeros(self._stage.count)
        self._coming: deque[tuple[float, Array]] = deque()
        self._encoders.start(self._angle(), self._mechanism.speed)
        count = len(self.model.motor_names)
        still = np.zeros(count)
        self._drives = MotorTorques(still, still, np.zeros(count, bool))
        self._shown = self._measured()
        self._taken: deque[Measurement] = deque([self._shown])

    def _place(self, state: State | ArrayLike | None) -> None:
        """Check a state and put the arm there."""
        n, law, count = self.model.n, self.model.elasticity, len(self.model.motor_names)
        still = np.zeros(n)
        given = state
        if not isinstance(given, State):
            given = State(still if state is None else np.asarray(state), still)
        q, v = (
            one_driven_state({name: finite_input(name, value, n)})[0]
            for name, value in (("q", given.q), ("v", given.v))
        )
        relaxed = {"theta": law.rigid @ q, "vtheta": law.rigid @ v, "current": np.zeros(count)}
        sizes = {"theta": law.count, "vtheta": law.count, "current": count}
        inputs = {}
        for name, size in sizes.items():
            value = getattr(given, name)
            inputs[name] = finite_input(name, relaxed[name] if value is None else value, size)
        theta, vtheta, current = one_driven_state(inputs)
        self._mechanism.place(np.concatenate([q, theta]), np.concatenate([v, vtheta]))
        self._current = current.copy()

    def step(self, command: Command | ArrayLike, dt: float) -> None:
        """Give a command and let time pass.

        Args:
            command: Numbers of the plant's kind, or a ``Command``, whose kind is checked.
            dt: Time until the next step [s].
        """
        values = self._checked(command)
        within("dt", dt, MOMENT, np.inf)
        if self._faults.paused:
            return
        if not self._encoders.lost(self._faults.drop_commands):
            self._coming.append((self.time + self.settings.command_latency, values))
        end = self.time + dt
        while self.time < end - MOMENT:
            while self._coming and self._coming[0][0] <= self.time + MOMENT:
                self._held = self._coming.popleft()[1]
            until = min(end, self._coming[0][0]) if self._coming else end
            self._advance(until - self.time)
            self.time = until
        self.time = end
        self._encoders.sample(self._angle(), self._mechanism.speed, dt, self._faults)
        self._deliver()

    def read(self) -> Measurement:
        """What the sensors report: the newest that has arrived and was not lost."""
        return self._shown

    def attach_payload(
        self,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        *,
        link: str | None = None,
    ) -> None:
        """Fix a payload to a link in place of the previous one; the motion continues.

        A reset keeps the payload; a mass of 0 removes it.

        Args:
            mass: Mass [kg].
            com: Its centre of mass in the link's frame (3,) [m].
            inertia: Tensor about its centre of mass, link's axes (3, 3) [kg m^2].
            link: As in ``GearedModel.with_payload``.
        """
        x, rate = np.array(self._mechanism.x), np.array(self._mechanism.rate)
        self._build(self._bare.with_payload(mass, com, inertia, link=link))
        self._mechanism.place(x, rate)

    def load(self, *arguments: Any, **settings: Any) -> None:
        """Call ``attach_payload``, its name for one release."""
        warn_former("Plant.load", "attach_payload")
        self.attach_payload(*arguments, **settings)

    def _checked(self, command: Command | ArrayLike) -> Array:
        """Numbers of a command."""
        if isinstance(command, Command):
            kind = as_command_type("command.kind", command.kind, aliases=SHORT_NAMES)
            if kind != self.command:
                finding = f"is of kind {kind!r}, and this plant takes {self.command!r}"
                remedy = f"build the plant with command={kind!r}, or convert the command"
                raise ArrayError("command", finding, remedy)
            command = command.values
        values = finite_input("command", command, self._stage.count)
        if np.abs(values).max() >= LARGEST:
            finding = f"contains the number {np.abs(values).max():g}"
            raise ArrayError("command", finding, f"use SI units, below {LARGEST:g}")
        return np.array(one_driven_state({"command": values})[0])

    def _advance(self, duration: float) -> None:
        """Let the held command act for a time."""
        arm, stage = self._mechanism, self._stage
        count = max(1, int(np.ceil(duration / self.timestep - 1e-9)))
        step = duration / count
        if abs(step - arm.timestep) > 1e-15:
            arm.timestep = step
        before = arm.speed
        for _ in range(count):
            drives = stage.over(self._held, self._current, before, step, self._ceiling)
            try:
                arm.advance(drives.drive, drives.drag)
            except ArrayError:  # it names numbers that no user gave
                raise self._astray(step) from None
            after = arm.speed
            speeds = (before, after)
            self._current = stage.currents(self._held, self._current, drives, speeds)
            before = after
        self._drives = drives
        if not np.abs(before).max() < LARGEST:  # NaN as well
            raise self._astray(step)

    def _astray(self, step: float) -> ArrayError:
        """The error of a motion that diverges."""
        finding = f"the motion diverges at {self.time:g} s, with steps of {step:g} s"
        return ArrayError("plant", finding, "check the commands, or reduce timestep")

    def _angle(self) -> Array:
        """What exact encoders show (m,)."""
        return np.asarray(self._mechanism.angle + self.model.motor_zeros)

    def _measured(self) -> Measurement:
        """Take a measurement."""
        arm, seen, n = self._mechanism, self._encoders, self.model.n
        own = self._own_encoder if self._own_encoder.any() else None
        return Measurement(
            motor_angle=seen.angle,
            motor_torque=self._drives.drive - self._drives.drag * arm.speed,
            link_position=None if own is None else np.where(own, arm.x[:n], np.nan),
            motor_speed=seen.speed,
            link_velocity=None if own is None else np.where(own, arm.rate[:n], np.nan),
            current=seen.current(self._current),
            voltage=self._stage.voltage(self._held, self._current, arm.speed),
            limited=self._drives.limited,
            time=self.time,
        )

    def _deliver(self) -> None:
        """Take a measurement, and show the newest that has had time to arrive."""
        if not self._encoders.lost(self._faults.drop_measurements):
            self._taken.append(self._measured())
        latest = self.time - self.settings.measurement_latency + MOMENT
        while self._taken and self._taken[0].time <= latest:
            self._shown = self._taken.popleft()


def mechanism(
    model: GearedModel, engine: Engine, timestep: float, settings: PlantSettings
) -> Mechanism:
    """Build what moves the bodies."""
    friction, stops, wall = settings.friction, settings.end_stops, settings.wall
    if engine == "equations":
        return EquationsMechanism(model, timestep, friction=friction, stops=stops, wall=wall)
    # MuJoCo is an extra, and takes a while to import.
    from geared_dynamics.simulation.mujoco_engine import MujocoMechanism

    return MujocoMechanism(model, timestep, friction=friction, stops=stops, wall=wall)


def stable_step(model: GearedModel, settings: PlantSettings, *, electric: bool) -> float:
    """The step to take, or an error with the longest stable one."""
    longest, what = longest_step(model, electric=electric), "springs and damping"
    if settings.wall is not None:
        most = settings.wall.longest_step(model)
        if most < longest:
            longest, what = most, "springs, damping and wall"
    if settings.timestep is None:
        if longest < SHORT:
            finding = f"{what} need steps of {longest:.1g} s, so the simulation is slow"
            words = f"timestep: {finding}; make them softer, or model the stiff joints as rigid"
            warnings.warn(words, GearedDynamicsWarning, stacklevel=4)
        return min(STEP, longest)
    if settings.timestep > longest:
        finding = f"of {settings.timestep:g} s is not stable with this arm's {what}"
        remedy = f"use at most {longest:.3g} s, or leave it out to let the plant choose"
        raise ModelError("timestep", finding, remedy)
    return float(settings.timestep)


def refuse_reduced(model: GearedModel, engine: Engine) -> None:
    """Refuse reduced models where bodies move."""
    if engine == "mujoco" and (model.coupling != "complete" or model.elastic_model != "complete"):
        finding = f"is reduced (coupling {model.coupling!r}, elastic {model.elastic_model!r})"
        remedy = "use the complete model, or the engine 'equations'; MuJoCo simulates bodies"
        raise ModelError("model", finding, remedy)
