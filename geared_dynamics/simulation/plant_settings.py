"""What a plant is made of: settings, faults, encoders, its engine's protocol (``Mechanism``)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from geared_dynamics.actuation.command_type import CommandName
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import flag
from geared_dynamics.errors import ArrayError, UnknownNameError, shown
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.wall import Wall

# -- What a plant is like beside its mechanics, and what is wrong with it: plain values -----------


LONGEST_LATENCY = 10.0  # [s]


@dataclass(frozen=True)
class PlantSettings:
    """How a plant integrates, rubs, measures and delays.

    Attributes:
        timestep: Longest step of the integrator [s]; None: 1 ms, or less where springs or
            damping ask for it. A step that is not stable is refused.
        friction: Whether joints and rotors rub, with stiction.
        saturate: Whether the motors' limits hold.
        end_stops: Whether the URDF's position limits are end stops, inelastic ones. A joint that
            starts beyond a limit has its stop where it starts.
        encoder_counts: Of a motor's encoder per turn; None: exact angles and speeds. With
            counts the speed is the difference of angles over a step.
        angle_noise: RMS of the noise of the motors' angles, before quantisation [rad].
        speed_noise: RMS of the noise of their speeds [rad/s].
        current_noise: RMS of the noise of their currents [A].
        command_latency: Time until a command acts [s].
        measurement_latency: Age of what is read [s].
        seed: Of the noise and of dropped messages; the same seed gives the same run.
        wall: What the tool can touch; None: nothing.
    """

    timestep: float | None = None
    friction: bool = True
    saturate: bool = True
    end_stops: bool = True
    encoder_counts: int | None = None
    angle_noise: float = 0.0
    speed_noise: float = 0.0
    current_noise: float = 0.0
    command_latency: float = 0.0
    measurement_latency: float = 0.0
    seed: int = 0
    wall: Wall | None = None

    def __post_init__(self) -> None:
        """Check every number."""
        if self.timestep is not None:
            within("timestep", self.timestep, 1e-9, 1.0)
        for name in ("angle_noise", "speed_noise", "current_noise"):
            within(name, getattr(self, name), 0.0, math.inf)
        for name in ("command_latency", "measurement_latency"):
            within(name, getattr(self, name), 0.0, LONGEST_LATENCY)
        for name in ("friction", "saturate", "end_stops"):
            flag(name, getattr(self, name))
        if self.encoder_counts is not None:
            whole("encoder_counts", self.encoder_counts, 1)
        whole("seed", self.seed, 0)
        if self.wall is not None and not isinstance(self.wall, Wall):
            finding = f"is {self.wall!r:.40}"
            raise ArrayError("wall", finding, "give a gd.simulation.Wall, or None")


@dataclass(frozen=True)
class Faults:
    """What is wrong with a plant at the moment; ``Faults()`` is nothing.

    Attributes:
        frozen_encoders: Motors whose encoder shows what it showed when it froze.
        torque_limits: Torque [N m] beyond which a motor gives no more, by motor.
        drop_commands: Part of the commands that are lost, 0 to 1; the last one goes on.
        drop_measurements: Part of the measurements that are lost, 0 to 1.
        paused: Whether time stands still.
    """

    frozen_encoders: frozenset[str] = frozenset()
    torque_limits: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    drop_commands: float = 0.0
    drop_measurements: float = 0.0
    paused: bool = False

    def __post_init__(self) -> None:
        """Check every value, and keep tables of our own."""
        for name in ("drop_commands", "drop_measurements"):
            within(name, getattr(self, name), 0.0, 1.0)
        flag("paused", self.paused)
        object.__setattr__(self, "frozen_encoders", motor_set(self.frozen_encoders))
        if not isinstance(self.torque_limits, Mapping):
            finding = f"is {shown(self.torque_limits)}"
            raise ArrayError("torque_limits", finding, "give a table from motor to torque")
        for motor, limit in self.torque_limits.items():
            within(f"torque_limits[{motor!r}]", limit, 0.0, math.inf)
        object.__setattr__(self, "torque_limits", MappingProxyType(dict(self.torque_limits)))

    def named(self, motors: Iterable[str]) -> Faults:
        """Return the faults if every motor they name exists.

        Args:
            motors: Names of the plant's motors.
        """
        names = tuple(motors)
        for motor in (*self.frozen_encoders, *self.torque_limits):
            if motor not in names:
                raise UnknownNameError("faults", "motor", motor, names)
        return self

    def frozen(self, *motors: str) -> Faults:
        """Return the same with the encoders of these motors frozen as well.

        Args:
            motors: Names of motors.
        """
        return replace(self, frozen_encoders=self.frozen_encoders | set(motors))

    def saturated(self, motor: str, torque: float) -> Faults:
        """Return the same with a motor that gives no more than a torque.

        Args:
            motor: Its name.
            torque: [N m], motor side.
        """
        return replace(self, torque_limits={**self.torque_limits, motor: torque})


def motor_set(names: object) -> frozenset[str]:
    """A set of motor names, or an error."""
    remedy = "give a set of motor names"
    if isinstance(names, str):
        raise ArrayError("frozen_encoders", f"is the text {shown(names)}", remedy)
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise ArrayError("frozen_encoders", f"is {shown(names)}", remedy)
    return frozenset(names)


def within(name: str, value: object, low: float, high: float) -> None:
    """Refuse what is no number within bounds."""
    remedy = f"give a number from {low:g} to {high:g}"
    if not isinstance(value, bool) and isinstance(value, Real):
        number: float = value  # type: ignore[assignment]
        # Compared before it is converted: an integer may be larger than any float.
        if low <= number <= high and abs(number) != math.inf:
            return
    raise ArrayError(name, f"is {shown(value)}", remedy)


def whole(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number, or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ArrayError(name, f"is {shown(value)}", f"give a whole number from {least}")


# -- What goes into a plant and what comes out of it ----------------------------------------------


class Command(NamedTuple):
    """A command with its kind, so that no plant takes one for another.

    Attributes:
        kind: ``joint_torque`` [N m or N] (n,), ``motor_torque`` [N m], ``motor_current`` [A]
            or ``motor_voltage`` [V] (m,).
        values: The numbers.
    """

    kind: CommandName
    values: ArrayLike


class Mechanism(Protocol):
    """Bodies in motion, x = (q, theta): what stands behind a plant.

    Attributes:
        model: Geared model.
        timestep: Of one step [s].
    """

    model: GearedModel
    timestep: float

    def place(self, x: Array, rate: Array) -> None:
        """Put the arm at a position with a velocity (n + n_e,)."""

    @property
    def x(self) -> Array:
        """Position (n + n_e,)."""

    @property
    def rate(self) -> Array:
        """Velocity (n + n_e,)."""

    @property
    def angle(self) -> Array:
        """Rotors' angles relative to their links (m,), 0 at q = 0."""

    @property
    def speed(self) -> Array:
        """Rotors' speeds (m,)."""

    @property
    def touch(self) -> Array:
        """Force of the wall on the tool (3,) [N], root axes; zero without a wall."""

    def show_wall(self, present: bool) -> None:
        """Take the wall away, or put it back."""

    def advance(self, drive: Array, drag: Array) -> None:
        """Move on by one step under the torques drive - drag * speed."""


# -- Encoders with counts, noise and a fault ------------------------------------------------------


class PlantEncoders:
    """The motors' encoders; what they show depends on what they showed.

    Attributes:
        angle: What they show (m,) [rad].
        speed: What is made of it (m,) [rad/s].
    """

    def __init__(self, model: GearedModel, settings: PlantSettings) -> None:
        """Lay out; ``start`` gives the first values."""
        self._settings, self._motors = settings, model.motor_names
        self._random = np.random.default_rng(settings.seed)
        counts = settings.encoder_counts
        self._count = None if counts is None else 2.0 * np.pi / counts
        self.angle, self.speed = np.zeros((2, len(self._motors)))

    def start(self, angle: Array, speed: Array) -> None:
        """Begin at an angle and a speed."""
        self._random = np.random.default_rng(self._settings.seed)
        self.angle, self.speed = self._quantised(angle), speed.copy()

    def sample(self, angle: Array, speed: Array, elapsed: float, faults: Faults) -> None:
        """Look at the rotors.

        Args:
            angle: Their true angles (m,) [rad].
            speed: Their true speeds (m,) [rad/s].
            elapsed: Since the last look [s].
            faults: Which encoders stand still.
        """
        settings, count = self._settings, len(angle)
        if settings.angle_noise:
            angle = angle + settings.angle_noise * self._random.normal(size=count)
        shown = self._quantised(angle)
        if self._count is not None:
            speed = (shown - self.angle) / elapsed
        if settings.speed_noise:
            speed = speed + settings.speed_noise * self._random.normal(size=count)
        if faults.frozen_encoders:
            frozen = np.array([name in faults.frozen_encoders for name in self._motors])
            shown, speed = np.where(frozen, self.angle, shown), np.where(frozen, 0.0, speed)
        self.angle, self.speed = shown, speed

    def current(self, current: Array) -> Array:
        """Currents as they are measured."""
        if not self._settings.current_noise:
            return current
        noise = self._settings.current_noise * self._random.normal(size=len(current))
        return np.asarray(current + noise)

    def lost(self, part: float) -> bool:
        """Whether a message is lost, with a probability."""
        return part > 0.0 and bool(self._random.random() < part)

    def _quantised(self, angle: Array) -> Array:
        """Angle in whole counts."""
        if self._count is None:
            return angle
        return np.asarray(self._count * np.floor(angle / self._count + 0.5))
