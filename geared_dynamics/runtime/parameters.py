"""Parameters of a node: what each is, and a frozen dataclass whose fields are the schema."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsError, suggestion

# -- One parameter: its name, kind, default and range, and what a value must be -------------------


Value = bool | int | float | str | list[str] | list[float] | list[int]
Values = Mapping[str, Value]
Kind = Literal["bool", "int", "double", "string", "strings", "doubles", "ints"]
# start: fixed for the node's life; configure: read when the node is configured; run: at any time.
When = Literal["start", "configure", "run"]
# In which direction a value takes protection away; "model": what the robot's description says
# counts as well, see ``refuse_wider_than_start``.
Weaker = Literal["", "above", "below", "aside", "model"]
JOINT, MOTOR = "<joint>", "<motor>"  # stand for each joint's or motor's name
RESTART = "restart the node with this value in its parameter file or on its command line"
RESERVED: Mapping[Weaker, str] = {
    "": "",
    "above": "above the default at the start only",
    "below": "below the default at the start only",
    "aside": "from the default to the start's value",
    "model": "within description, default or start",
}
DESCRIPTION: Mapping[Kind, str] = {
    "bool": "true or false",
    "int": "a whole number",
    "double": "a number",
    "string": "a text",
    "strings": "a list of texts",
    "doubles": "a list of numbers",
    "ints": "a list of whole numbers",
}


class ParameterError(GearedDynamicsError):
    """A parameter has a value that the node cannot use."""


@dataclass(frozen=True)
class Parameter:
    """A parameter as the schema has it.

    Attributes:
        name: Its name; ``<joint>`` and ``<motor>`` stand for one of each.
        kind: What values are.
        default: The value where none is given.
        text: What it is for, with its unit.
        low: Least value, for numbers.
        high: Largest value.
        choices: The only values, for texts.
        when: When it can be changed.
        lock: Parameter, read-only, with which it keeps its value of the start; empty: none.
        ignored: A parameter of the joint trajectory controller that is accepted without effect.
        former: Name of earlier releases, still taken from files and the command line; empty: none.
        former_choices: Choices of earlier releases, still taken, with the present ones.
        weaker: Which values protect the arm less: those ``above`` or ``below`` the default or on
            either side of it (``aside``). While the node runs, a value goes no farther in that
            direction than the default or the value of the start, whichever is farther.
        weakest: The choices that protect it less; only the start can make them.
    """

    name: str
    kind: Kind
    default: Value
    text: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    when: When = "run"
    ignored: bool = False
    lock: str = ""
    former: str = ""
    former_choices: tuple[tuple[str, str], ...] = ()
    weaker: Weaker = ""
    weakest: tuple[str, ...] = ()

    @functools.cached_property
    def each(self) -> str:
        """``<joint>`` or ``<motor>`` where there is one for each, else empty."""
        return next((mark for mark in (JOINT, MOTOR) if mark in self.name), "")

    @property
    def reserved(self) -> str:
        """Which values only the start can give, in words; empty where all can be set later."""
        if self.weakest:
            return f"{', '.join(self.weakest)} at the start only"
        return RESERVED[self.weaker]

    def named(self, name: str) -> Parameter:
        """The parameter of one joint or motor."""
        own = {key: getattr(self, key).replace(self.each, name) for key in ("name", "former")}
        return replace(self, **own)

    def checked(self, value: object) -> Value:
        """Return the value in its kind; whole numbers serve as numbers.

        Raises:
            ParameterError: naming the parameter, the finding, and what to give.
        """
        converted = converted_to(self.kind, value)
        if converted is None:
            raise ParameterError(self.name, f"is {value!r}", f"give {DESCRIPTION[self.kind]}")
        self._refuse_out_of_range(converted)
        if isinstance(converted, str):
            converted = dict(self.former_choices).get(converted, converted)
        if self.choices:
            for text in [converted] if isinstance(converted, str) else converted:  # type: ignore[union-attr]
                if text not in self.choices:
                    remedy = suggestion(text, self.choices)
                    raise ParameterError(self.name, f"is {text!r}", remedy)
        return converted

    def refuse_weaker(self, value: Value, start: Value) -> None:
        """Refuse a value, given while the node runs, that takes protection away.

        Args:
            value: As ``checked``.
            start: The value that the node was started with, or the default.

        Raises:
            ParameterError: naming what may be given.
        """
        if value in self.weakest and value not in {start, self.default}:
            finding = f"is {value!r}, which can only be chosen at the start of the node"
            raise ParameterError(self.name, finding, RESTART)
        if self.weaker in {"", "model"}:
            return
        usual, own, given = float(self.default), float(start), float(value)  # type: ignore[arg-type]
        high = max(usual, own) if self.weaker != "below" else math.inf
        low = min(usual, own) if self.weaker != "above" else -math.inf
        if not low <= given <= high:
            finding = f"is {given:g}, and while the node runs it must be {interval(low, high)}"
            raise ParameterError(self.name, finding, RESTART)

    def _refuse_out_of_range(self, value: Value) -> None:
        numbers = value if isinstance(value, list) else [value]
        for number in numbers:
            if isinstance(number, (bool, str)) or (self.low, self.high) == (-math.inf, math.inf):
                continue
            if not self.low <= number <= self.high:
                remedy = f"give {interval(self.low, self.high)}"
                raise ParameterError(self.name, f"is {value!r}", remedy)


def interval(low: float, high: float) -> str:
    """A range in words."""
    if high == math.inf:
        return f"at least {low:g}"
    if low == -math.inf:
        return f"at most {high:g}"
    if low == high:
        return f"{low:g}"
    return f"{low:g} to {high:g}"


def converted_to(kind: Kind, value: object) -> Value | None:
    """The value as its kind has it, or None if it is none."""
    if kind == "bool":
        return value if isinstance(value, bool) else None
    if kind == "string":
        return value if isinstance(value, str) else None
    if kind == "int":
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if kind == "double":
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if number else None  # type: ignore[arg-type]
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return None
    single: Kind = {"strings": "string", "doubles": "double", "ints": "int"}[kind]  # type: ignore[assignment]
    items = [converted_to(single, item) for item in value]
    return None if any(item is None for item in items) else items  # type: ignore[return-value]


def expanded(
    schema: Iterable[Parameter], joints: Sequence[str], motors: Sequence[str]
) -> dict[str, Parameter]:
    """The schema by name, with an entry for each joint and motor."""
    found: dict[str, Parameter] = {}
    names = {JOINT: joints, MOTOR: motors}
    for entry in schema:
        each = [entry.named(name) for name in names[entry.each]] if entry.each else [entry]
        found |= {one.name: one for one in each}
    return found


def unknown(given: Iterable[str], schema: Iterable[str]) -> list[str]:
    """A line about each given name that no parameter has."""
    names = sorted(schema)
    return [
        f"parameter {name!r} is unknown to this node and has no effect; {nearest(name, names)}"
        for name in sorted(set(given) - set(names))
    ]


def nearest(name: str, names: Sequence[str]) -> str:
    """The name that was probably meant."""
    hint = suggestion(name, names)
    return hint.split("? ")[0] + "?" if hint.startswith("did you mean") else "see docs/nodes.md"


# -- Numbers of joints or motors that make no sense, refused by the parameter's name --------------


def signs(found: Array, pattern: str, names: Sequence[str]) -> Array:
    """Signs (k,), which are not zero; ``{}`` in the parameter's name stands for joint or motor."""
    for name, number in zip(names, found.tolist(), strict=True):
        if abs(number) != 1.0:
            raise ParameterError(pattern.format(name), "is 0", "give 1 or -1")
    return found


def ranged(
    found: Array,
    pattern: str,
    names: Sequence[str],
    least: float,
    remedy: str,
    *,
    none: bool = False,
) -> Array:
    """Finite numbers of several joints or motors, not below the least.

    Args:
        found: The numbers (k,).
        pattern: The parameter's name, ``{}`` for the joint or motor.
        names: Of those (k,).
        least: Number that is allowed.
        remedy: Said where one is not.
        none: Whether NaN is allowed as well: nothing is given.
    """
    for name, number in zip(names, found.tolist(), strict=True):
        if not (least <= number < np.inf and number > -np.inf) and not (none and np.isnan(number)):
            raise ParameterError(pattern.format(name), f"is {number:g}", remedy)
    return found


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
