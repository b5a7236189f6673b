"""Parameters of a node as a frozen dataclass: its fields are the schema; what every node has."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.runtime.parameters import (
    JOINT,
    MOTOR,
    Kind,
    Parameter,
    Value,
    Values,
    expanded,
)

# -- A dataclass whose fields are parameters ------------------------------------------------------
#
# A field's type gives its kind, a Literal its choices; ``row`` gives the rest. A field that is a
# group itself gives its name to those in it: ``payload.mass`` is the parameter ``payload.mass``.
# One of the types ``PerJoint`` and ``PerMotor`` is a parameter of each joint or motor, and an
# array in their order here: ``gains.p`` (n,) has the parameters ``gains.<joint>.p``.


PerJoint = Annotated[Array, JOINT, "double"]
PerMotor = Annotated[Array, MOTOR, "double"]
SignPerJoint = Annotated[Array, JOINT, "int"]
SignPerMotor = Annotated[Array, MOTOR, "int"]
KINDS: Mapping[Any, Kind] = {
    bool: "bool", int: "int", float: "double", str: "string", tuple[str, ...]: "strings",
    tuple[float, ...]: "doubles", tuple[int, ...]: "ints",
}  # fmt: skip


def row(default: Value, text: str, low: float = -math.inf, high: float = math.inf,
        **options: Any) -> Any:  # fmt: skip
    """A field that is a parameter.

    Args:
        default: The value where none is given, a list for a tuple.
        text: What it is for, with its unit.
        low: Least value, for numbers.
        high: Largest value.
        options: Other fields of ``Parameter``; ``name`` where it is not that of the field; in
            ``former`` ``{}`` stands for that.
    """
    bounds = {"low": low, "high": high}
    return field(metadata={"default": default, "text": text, **bounds, **options})


at_start = functools.partial(row, when="start")
at_configure = functools.partial(row, when="configure")


@dataclass(frozen=True, kw_only=True, eq=False)
class ParameterGroup:
    """Parameters whose names begin alike; those of a class come before those of its base."""

    without_effect: ClassVar[tuple[Parameter, ...]] = ()  # accepted, and fields of nothing

    @classmethod
    def rows(cls, prefix: str = "") -> tuple[Parameter, ...]:
        """All parameters, ``<joint>`` and ``<motor>`` for one of each."""
        found: list[Parameter] = []
        for entry in layout(cls, prefix).values():  # type: ignore[arg-type]  # mypy: no class is hashable
            found += [entry] if isinstance(entry, Parameter) else entry[0].rows(entry[1])
        return (*found, *cls.without_effect)

    @classmethod
    def fields_of(cls, values: Values, names: Names, prefix: str = "") -> dict[str, Any]:
        """Values by the names of the fields; lists become tuples, those of each joint an array."""
        found: dict[str, Any] = {}
        for key, entry in layout(cls, prefix).items():  # type: ignore[arg-type]
            if not isinstance(entry, Parameter):
                kind, beginning = entry
                found[key] = kind(**kind.fields_of(values, names, beginning))
            elif entry.each:
                head, _, tail = entry.name.partition(entry.each)
                each = [values[f"{head}{name}{tail}"] for name in names[entry.each]]
                found[key] = np.array(each, np.float64)
                found[key].setflags(write=False)
            else:
                value = values[entry.name]
                found[key] = tuple(value) if isinstance(value, list) else value
        return found


Names = Mapping[str, Sequence[str]]  # those of joints and motors, by their marks
Layout = dict[str, "Parameter | tuple[type[ParameterGroup], str]"]


@functools.cache
def layout(group: type[ParameterGroup], prefix: str) -> Layout:
    """The parameters of a group, and groups in it with their prefixes, by field."""
    hints, own = get_type_hints(group, include_extras=True), {f.name: f for f in fields(group)}
    order = [key for kind in group.__mro__ for key in inspect.get_annotations(kind)]
    found: Layout = {}
    for key in order:
        hint, options = hints[key], dict(own[key].metadata) if key in own else {}
        if isinstance(hint, type) and issubclass(hint, ParameterGroup):
            found[key] = hint, f"{prefix}{key}."
        elif options:
            found[key] = parameter(prefix, key, hint, options)
    return found


def parameter(prefix: str, key: str, hint: Any, options: dict[str, Any]) -> Parameter:
    """The parameter of one field, from its type and its row."""
    each, kind = getattr(hint, "__metadata__", ("", KINDS.get(hint, "string")))
    if get_origin(hint) is Literal:
        options = {"choices": get_args(hint), **options}
    name = options.pop("name", f"{each}.{key}" if each else key)
    options["former"] = options.get("former", "").format(key)
    return Parameter(f"{prefix}{name}", kind, **options)


P = TypeVar("P", bound="NodeParameters")


@functools.lru_cache(maxsize=16)
def schema_of(
    kind: type[NodeParameters], joints: tuple[str, ...], motors: tuple[str, ...]
) -> dict[str, Parameter]:
    """The parameters of a node with these joints and motors, by name; made once."""
    return expanded(kind.rows(), joints, motors)


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeParameters(ParameterGroup):
    """All parameters of a node, with the values that they have.

    Attributes:
        values: The same by name, as ROS has them.
        joint_names: Joints in the order of the arrays.
        motor_names: Motors in the order of theirs.
    """

    values: Values
    joint_names: tuple[str, ...]
    motor_names: tuple[str, ...]

    @classmethod
    def of(
        cls: type[P], values: Values, joints: Sequence[str] = (), motors: Sequence[str] = ()
    ) -> P:
        """Parameters with these values, which are not checked, and defaults for all others.

        Args:
            values: By name; what is none of these parameters is left out.
            joints: Names, in the order of the arrays.
            motors: Names of the motors in the order of the columns.
        """
        schema = schema_of(cls, tuple(joints), tuple(motors))  # type: ignore[arg-type]
        own = {name: values.get(name, entry.default) for name, entry in schema.items()}
        names = {JOINT: joints, MOTOR: motors}
        sides = {"joint_names": tuple(joints), "motor_names": tuple(motors)}
        return cls(values=own, **sides, **cls.fields_of(own, names))

    def replaced(self: P, values: Values) -> P:
        """The same with other values of some."""
        return type(self).of({**self.values, **values}, self.joint_names, self.motor_names)

    def changed(self, before: NodeParameters) -> set[str]:
        """Names of those that were set since."""
        old = before.values
        return {name for name, value in self.values.items() if value is not old.get(name)}


# -- Parameters that every node with a model has --------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class PayloadParameters(ParameterGroup):
    """A load on the arm."""

    mass: float = row(0.0, "Mass of the payload [kg].", 0.0)
    max_mass: float = at_start(
        math.nan,
        "Maximum payload.mass [kg]. NaN means the mass whose weight the command limits can hold.",
    )
    center_of_mass: tuple[float, ...] = row(
        [0.0] * 3, "Centre of mass of the payload in the frame of payload.link [m]."
    )
    inertia: tuple[float, ...] = row(
        [0.0] * 6,
        "Inertia ixx, ixy, ixz, iyy, iyz, izz of the payload about its centre of mass, axes of "
        "payload.link [kg m^2].",
    )
    link: str = row(
        "",
        "Link that carries the payload, frames of fixed joints such as tool0 included. Empty "
        "means the only tip.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelParameters(NodeParameters):
    """Where the model comes from, and what it carries."""

    joints: tuple[str, ...]
    robot_description: str = at_configure(
        "", "URDF as text. Empty uses urdf_path, or the topic robot_description_topic."
    )
    urdf_path: str = at_configure(
        "", "Path of a URDF file, used instead of robot_description.", lock="lock_paths"
    )
    robot_description_topic: str = at_start(
        "robot_description",
        "Topic of the URDF, used if both robot_description and urdf_path are empty.",
    )
    drivetrain: str = at_configure("", "Drivetrain file: its path or its text.", lock="lock_paths")
    gravity: tuple[float, ...] = at_configure(
        [0.0, 0.0, -9.81], "Acceleration of free fall in the frame of the root link [m/s^2]."
    )
    locked_joints: tuple[str, ...] = at_configure(
        [], "Joints that do not move, such as those of a gripper."
    )
    locked_positions: tuple[float, ...] = at_configure(
        [], "Positions of locked_joints, in the same order [rad or m]. Empty means all zero."
    )
    payload: PayloadParameters


@dataclass(frozen=True, kw_only=True, eq=False)
class LifecycleParameters(ModelParameters):
    """What both nodes with a lifecycle have."""

    autostart: bool = at_start(True, "If true, the node configures and activates itself.")
    allow_description_changes: bool = at_start(
        False,
        "If true, an active node accepts a robot description that changes a mass, inertia, ratio "
        "or limit by more than 1 %.",
    )
    lock_paths: bool = at_start(
        False, "If true, urdf_path and drivetrain cannot be changed after the start."
    )
    watchdog_rate: float = at_start(
        50.0, "Rate of the check for stale joint states [1/s].", 1.0, 1000.0
    )
    diagnostics_rate: float = at_start(1.0, "Rate of /diagnostics and ~/timing [1/s].", 0.0, 10.0)
    thread_priority: int = at_start(
        0, "Priority under SCHED_FIFO. 0 means the default scheduler.", 0, 99
    )
    cpu_affinity: tuple[int, ...] = at_start(
        [], "Processor cores to run on. Empty means all.", 0, 4095
    )
    lock_memory: bool = at_start(False, "If true, lock the memory so that it is never paged out.")
