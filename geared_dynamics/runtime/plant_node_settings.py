"""The plant node's parameters, the plant that follows, and its commands from messages."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from geared_dynamics.actuation.command_type import SentType, is_of_motors
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.dynamics.contact.constraints import Surface
from geared_dynamics.dynamics.contact.packing import prepare
from geared_dynamics.errors import (
    ArrayError,
    GearedDynamicsError,
    MissingPackageError,
    ModelError,
    UnknownNameError,
)
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.common_parameters import ModelParameters
from geared_dynamics.runtime.joint_readings import order
from geared_dynamics.runtime.model_source import payload_place, payload_tensor
from geared_dynamics.runtime.parameters import (
    ParameterError,
    ParameterGroup,
    PerJoint,
    at_start,
    row,
)
from geared_dynamics.simulation.plant import LARGEST, Engine, Plant
from geared_dynamics.simulation.plant_settings import Faults, PlantSettings
from geared_dynamics.simulation.wall import Wall

# -- All parameters of the plant node. docs/demo.md shows this table ------------------------------


AUTO = "auto"  # engine
LONG = 10.0
noise = functools.partial(at_start, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class FaultParameters(ParameterGroup):
    """Amounts of the faults that services switch on."""

    lost_part: float = row(
        1.0, "Fraction of the messages that ~/drop_states and ~/drop_commands drop.", 0.0, 1.0
    )
    motors: tuple[str, ...] = row(
        [], "Motors of ~/freeze_encoders and ~/saturate_motors. Empty means all motors."
    )
    torque_limit: float = row(
        0.0, "Torque to which ~/saturate_motors limits a motor, motor side [N m].", 0.0
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class WallParameters(ParameterGroup):
    """A plane that the tool can touch."""

    frame: str = at_start("", "Link whose origin touches the wall. Empty means no wall.")
    point: tuple[float, ...] = at_start(
        [0.0] * 3, "Point of the wall, in the frame of the root link [m]."
    )
    normal: tuple[float, ...] = at_start(
        [0.0, 0.0, 1.0], "Normal vector of the wall, towards the free side, axes of the root link."
    )
    stiffness: float = at_start(1e5, "Stiffness of the wall [N/m].", 1.0, 1e8)
    damping: float = at_start(500.0, "Damping of the wall [N s/m].", 0.0, 1e8)
    friction: float = at_start(
        0.0, "Coulomb friction coefficient between tool and wall.", 0.0, 10.0
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PlantParameters(ModelParameters):
    """All parameters of the plant node."""

    joints: tuple[str, ...] = at_start([], "Joints that move. Empty means all joints of the URDF.")
    command: SentType = at_start("joint_torque", "Type of the received commands.")
    engine: Literal["auto", Engine] = at_start(
        AUTO,
        "Simulation engine: mujoco, or equations, the package's own. auto selects MuJoCo if it is "
        "installed and supports the arm.",
    )
    pace: Literal["real_time", "lock_step"] = at_start(
        "real_time",
        "Simulation time: real_time follows the wall clock, lock_step waits for each command.",
    )
    rate: float = at_start(1000.0, "Rate of joint_states in simulation time [1/s].", 1.0, 10_000.0)
    wait_for_observer: bool = at_start(
        False,
        "If true, lock_step waits for ~/observed as well, a JointState of an observer with the "
        "stamp of the state, so that the observer misses none.",
    )
    start_time: float = at_start(1.0, "First time on /clock in lock_step [s].", 0.0, 1e9)
    paused: bool = at_start(False, "If true, start paused.")
    initial: PerJoint = row(
        0.0, "Initial position of the joint [rad or m].", name="initial.<joint>"
    )
    compiled: bool = at_start(
        False,
        "If true, compile the model's functions at the start (gd.compiled), for the engine "
        "equations and a rigid arm. Where that fails, the log gives the reason and the plant uses "
        "the kernels.",
    )
    timestep: float = at_start(
        0.0,
        "Maximum integration step [s]. 0 means 1 ms, or less where stability requires it.",
        0.0,
        1.0,
    )
    friction: bool = at_start(True, "If true, simulate friction and stiction.")
    saturate: bool = at_start(
        True, "If true, limit the motors to their maximum torque or current."
    )
    end_stops: bool = at_start(True, "If true, the position limits of the URDF are end stops.")
    encoder_counts: int = at_start(
        0,
        "Encoder counts per motor revolution. 0 gives exact angles and speeds.",
        0,
        2**31 - 1,
    )
    angle_noise: float = noise("RMS noise of the motor angles [rad].", 0.0, LONG)
    speed_noise: float = noise("RMS noise of the motor speeds [rad/s].", 0.0, 1e3)
    current_noise: float = noise("RMS noise of the motor currents [A].", 0.0, 1e3)
    command_latency: float = at_start(0.0, "Time until a command takes effect [s].", 0.0, LONG)
    measurement_latency: float = at_start(0.0, "Age of the published measurements [s].", 0.0, LONG)
    seed: int = at_start(0, "Seed of the noise and of lost messages.", 0, 2**31 - 1)
    faults: FaultParameters
    wall: WallParameters


# -- From parameter values to a plant, its start, and what is wrong with it -----------------------


# Faults that a service of the same name switches on and off.
DROP_STATES, DROP_COMMANDS = "drop_states", "drop_commands"
FREEZE, SATURATE = "freeze_encoders", "saturate_motors"
FAULT_NAMES = (DROP_STATES, DROP_COMMANDS, FREEZE, SATURATE)


def plant_of(parameters: PlantParameters, model: GearedModel) -> tuple[Plant, str]:
    """Return the plant that the parameters describe, at its start, and a note on its engine.

    Raises:
        GearedDynamicsError: for an arm without motors, a step that is not stable, and so on.
    """
    settings = PlantSettings(
        timestep=parameters.timestep or None,
        friction=parameters.friction,
        saturate=parameters.saturate,
        end_stops=parameters.end_stops,
        encoder_counts=parameters.encoder_counts or None,
        angle_noise=parameters.angle_noise,
        speed_noise=parameters.speed_noise,
        current_noise=parameters.current_noise,
        command_latency=parameters.command_latency,
        measurement_latency=parameters.measurement_latency,
        seed=parameters.seed,
        wall=wall_of(parameters, model),
    )
    note = ""

    def built(engine: Engine) -> Plant:
        return Plant(model, command=parameters.command, engine=engine, settings=settings)

    if parameters.engine != "auto":
        plant = built(parameters.engine)
    else:
        try:
            plant = built("mujoco")
        except (MissingPackageError, ModelError) as error:
            plant, note = (
                built("equations"),
                f"our own equations move the arm, not MuJoCo: {error}",
            )
    plant.reset(parameters.initial)
    return plant, note


def wall_of(parameters: PlantParameters, model: GearedModel) -> Wall | None:
    """The wall of ``wall.*``, None where no frame is named.

    Raises:
        ParameterError: for a frame that there is not, a point or normal that is none.
    """
    own = parameters.wall
    if not own.frame:
        return None
    try:
        surface = Surface(own.frame, own.point, own.normal)
        prepare(model, surface)
        return Wall(surface, own.stiffness, own.damping, own.friction)
    except GearedDynamicsError as error:
        place = f"wall.{error.place.rpartition('.')[2]}"  # of a Surface, or of contacts[0]
        raise ParameterError(place, error.finding, error.remedy) from None


def attach_payload(plant: Plant, parameters: PlantParameters, attached: bool) -> None:
    """Fix the load of ``payload.*`` to the arm while it moves, or take it off.

    Raises:
        GearedDynamicsError: for a load that there cannot be.
    """
    if not attached:
        plant.attach_payload(0.0)
        return
    load, tensor = parameters.payload, payload_tensor(parameters.payload)
    link = payload_place(plant.model, load).link if load.mass else None
    plant.attach_payload(load.mass, load.center_of_mass, tensor, link=link)


def faults_of(parameters: PlantParameters, model: GearedModel, active: Collection[str]) -> Faults:
    """Faults that are switched on.

    Args:
        parameters: The parameters with their amounts.
        model: The arm.
        active: Names in ``FAULT_NAMES``.

    Raises:
        UnknownNameError: for a motor that there is none of.
    """
    part = parameters.faults.lost_part
    for name in parameters.faults.motors:
        if name not in model.motor_names:
            raise UnknownNameError("faults.motors", "motor", name, model.motor_names)
    motors = parameters.faults.motors or model.motor_names
    faults = Faults(
        drop_measurements=part if DROP_STATES in active else 0.0,
        drop_commands=part if DROP_COMMANDS in active else 0.0,
    )
    if FREEZE in active:
        faults = faults.frozen(*motors)
    if SATURATE in active:
        faults = replace(
            faults, torque_limits=dict.fromkeys(motors, parameters.faults.torque_limit)
        )
    return faults


# -- Commands from messages: by place or by name, of the right kind and size, finite --------------


class CommandReader:
    """Takes commands for known joints or motors.

    A label says what numbers are: in ``layout.dim[0].label`` of a ``Float64MultiArray``, in
    ``header.frame_id`` of a ``JointState``. One without a label counts as right.
    """

    def __init__(self, names: Sequence[str], command_type: str) -> None:
        """Prepare for commands of one kind.

        Args:
            names: Joints or motors in the plant's order.
            command_type: What the numbers are.
        """
        self._names, self._type = tuple(names), command_type
        self._seen: list[str] | None = None
        self._index: IntArray = np.arange(len(self._names))

    def flat(self, numbers: object, label: str = "") -> Array:
        """Numbers in the plant's order (n,) or (m,).

        Args:
            numbers: ``Float64MultiArray.data``.
            label: What they are, empty for unknown.

        Raises:
            ArrayError: for another kind, a wrong count, NaN.
        """
        self._refuse_other(label)
        return self._finite(np.array(numbers, float))

    def named(self, names: list[str], numbers: object, label: str = "") -> Array:
        """The same from numbers by name.

        Args:
            names: ``JointState.name``, in any order.
            numbers: ``JointState.effort``.
            label: What they are, empty for unknown.
        """
        self._refuse_other(label)
        if names != self._seen:
            self._look_up(names)
        values = np.array(numbers, float)
        if len(values) != len(names):
            finding = f"has {len(values)} numbers for {len(names)} names"
            raise ArrayError("command", finding, "put one into effort for each name")
        return self._finite(values[self._index])

    def _refuse_other(self, label: str) -> None:
        if label and label != self._type:
            finding = f"is of kind {label}, and this plant takes {self._type}"
            remedy = (
                f"start the plant with command:={label}, or the node with output:={self._type}"
            )
            raise ArrayError("command", finding, remedy)

    def _look_up(self, names: list[str]) -> None:
        if len(names) != len(self._names) or set(names) != set(self._names):
            finding = f"names {', '.join(names) or 'no joints'}"
            what = "motors" if is_of_motors(self._type) else "joints"
            remedy = f"send {self._type} for the {what} {', '.join(self._names)}"
            raise ArrayError("command", finding, remedy)
        self._index, self._seen = order(names, self._names), list(names)

    def _finite(self, values: Array) -> Array:
        if values.shape != (len(self._names),):
            finding = f"has {values.size} numbers"
            remedy = f"give {len(self._names)}: {self._type} of {', '.join(self._names)}"
            raise ArrayError("command", finding, remedy)
        if not np.isfinite(values).all():
            name = self._names[int(np.argmin(np.isfinite(values)))]
            raise ArrayError("command", f"is not finite for {name}", "check its sender")
        if np.abs(values).max() >= LARGEST:
            finding = f"contains the number {np.abs(values).max():g}"
            raise ArrayError("command", finding, f"send SI units, below {LARGEST:g}")
        return values
