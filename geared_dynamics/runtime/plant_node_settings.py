"""From parameter values to a plant, its start, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

import numpy as np

from geared_dynamics.actuation.command_type import COMMANDS, as_command_type, is_of_motors
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.errors import ArrayError, MissingPackageError, ModelError, UnknownNameError
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.joint_readings import order
from geared_dynamics.runtime.model_source import numbers, payload_place, payload_tensor
from geared_dynamics.runtime.parameters import MODEL, PAYLOAD, Parameter, Values
from geared_dynamics.simulation.plant import LARGEST, Engine, Plant
from geared_dynamics.simulation.plant_settings import Faults, PlantSettings

# -- All parameters of the plant node. docs/demo.md shows this table ------------------------------


PACES = ("real_time", "lock_step")
AUTO = "auto"  # engine
LONG = 10.0

PLANT = (
    Parameter("joints", "strings", [], "joints that move; none: all of the URDF", when="start"),
    Parameter("command", "string", "joint_torque", "what commands are", choices=COMMANDS,
              when="start"),
    Parameter("engine", "string", AUTO,
              "what moves the bodies: MuJoCo or our own equations; auto: MuJoCo "
              "where it is installed and takes the arm", choices=(AUTO, *get_args(Engine)),
              when="start"),
    Parameter("pace", "string", "real_time",
              "real_time: by the wall clock; lock_step: time waits for each command",
              choices=PACES, when="start"),
    Parameter("rate", "double", 1000.0, "joint states per second of the arm's time [1/s]",
              1.0, 10_000.0, when="start"),
    Parameter("start_time", "double", 1.0, "of /clock in lock_step [s]", 0.0, 1e9, when="start"),
    Parameter("paused", "bool", False, "begin paused", when="start"),
    Parameter("initial.<joint>", "double", 0.0, "where the arm begins [rad or m]"),
    Parameter("timestep", "double", 0.0,
              "longest step of the integrator [s]; 0: 1 ms, or less where it has to be",
              0.0, 1.0, when="start"),
    Parameter("friction", "bool", True, "If true, simulate friction and stiction.", when="start"),
    Parameter("saturate", "bool", True, "the motors' limits hold", when="start"),
    Parameter("end_stops", "bool", True, "If true, the URDF's position limits are end stops",
              when="start"),
    Parameter("encoder_counts", "int", 0, "per turn of a motor; 0: exact angles and speeds",
              0, 2**31 - 1, when="start"),
    Parameter("angle_noise", "double", 0.0, "RMS, of the motors' angles [rad]", 0.0, LONG,
              when="start"),
    Parameter("speed_noise", "double", 0.0, "RMS, of their speeds [rad/s]", 0.0, 1e3,
              when="start"),
    Parameter("current_noise", "double", 0.0, "RMS, of their currents [A]", 0.0, 1e3,
              when="start"),
    Parameter("command_latency", "double", 0.0, "time until a command acts [s]", 0.0, LONG,
              when="start"),
    Parameter("measurement_latency", "double", 0.0, "age of what is published [s]", 0.0, LONG,
              when="start"),
    Parameter("seed", "int", 0, "of noise and lost messages", 0, 2**31 - 1, when="start"),
)  # fmt: skip
FAULTS = (
    Parameter("faults.lost_part", "double", 1.0,
              "part of the messages that ~/drop_states and ~/drop_commands lose", 0.0, 1.0),
    Parameter("faults.motors", "strings", [],
              "motors of ~/freeze_encoders and ~/saturate_motors; none: all"),
    Parameter("faults.torque_limit", "double", 0.0,
              "most that ~/saturate_motors leaves, motor side [N m]", 0.0),
)  # fmt: skip

SCHEMA: tuple[Parameter, ...] = (*MODEL, *PLANT, *PAYLOAD, *FAULTS)


# -- From parameter values to a plant, its start, and what is wrong with it -----------------------


# Faults that a service of the same name switches on and off.
DROP_STATES, DROP_COMMANDS = "drop_states", "drop_commands"
FREEZE, SATURATE = "freeze_encoders", "saturate_motors"
FAULT_NAMES = (DROP_STATES, DROP_COMMANDS, FREEZE, SATURATE)


def plant_of(values: Values, model: GearedModel) -> tuple[Plant, str]:
    """Return the plant that the parameters describe, at its start, and a note on its engine.

    Raises:
        GearedDynamicsError: for an arm without motors, a step that is not stable, and so on.
    """
    command_type = as_command_type("command", values["command"])
    options: dict[str, Any] = {
        name: values[name]
        for name in (
            "friction", "saturate", "end_stops", "angle_noise", "speed_noise", "current_noise",
            "command_latency", "measurement_latency", "seed",
        )
    }  # fmt: skip
    settings = PlantSettings(
        timestep=cast(float, values["timestep"]) or None,
        encoder_counts=cast(int, values["encoder_counts"]) or None,
        **options,
    )
    engine, note = cast(Any, values["engine"]), ""

    def built(engine: Engine) -> Plant:
        return Plant(model, command=command_type, engine=engine, settings=settings)

    if engine != AUTO:
        plant = built(engine)
    else:
        try:
            plant = built("mujoco")
        except (MissingPackageError, ModelError) as error:
            plant, note = (
                built("equations"),
                f"our own equations move the arm, not MuJoCo: {error}",
            )
    plant.reset(start_of(values, model))
    return plant, note


def start_of(values: Values, model: GearedModel) -> Array:
    """Where the arm begins (n,)."""
    return numbers(values, "initial.{}", model.joint_names)


def attach_payload(plant: Plant, values: Values, attached: bool) -> None:
    """Fix the load of ``payload.*`` to the arm while it moves, or take it off.

    Raises:
        GearedDynamicsError: for a load that there cannot be.
    """
    if not attached:
        plant.load(0.0)
        return
    mass, tensor = cast(float, values["payload.mass"]), payload_tensor(values)
    link = payload_place(plant.model, values).link if mass else None
    plant.load(mass, cast("list[float]", values["payload.center_of_mass"]), tensor, link=link)


def faults_of(values: Values, model: GearedModel, active: Collection[str]) -> Faults:
    """Faults that are switched on.

    Args:
        values: The parameters with their amounts.
        model: The arm.
        active: Names in ``FAULT_NAMES``.

    Raises:
        UnknownNameError: for a motor that there is none of.
    """
    part = cast(float, values["faults.lost_part"])
    named = cast("list[str]", values["faults.motors"])
    for name in named:
        if name not in model.motor_names:
            raise UnknownNameError("faults.motors", "motor", name, model.motor_names)
    motors = named or list(model.motor_names)
    faults = Faults(
        drop_measurements=part if DROP_STATES in active else 0.0,
        drop_commands=part if DROP_COMMANDS in active else 0.0,
    )
    if FREEZE in active:
        faults = faults.frozen(*motors)
    if SATURATE in active:
        limit = cast(float, values["faults.torque_limit"])
        faults = replace(faults, torque_limits=dict.fromkeys(motors, limit))
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
            finding = f"is for {', '.join(names) or 'nobody'}"
            what = "motors" if is_of_motors(self._type) else "joints"
            remedy = f"this plant takes {self._type} of the {what} {', '.join(self._names)}"
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
            finding = f"has a number of {np.abs(values).max():g}"
            raise ArrayError("command", finding, f"give numbers below {LARGEST:g}, SI units")
        return values
