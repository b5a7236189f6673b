"""One parameter of a node: name, kind, default, range; and what a value must be."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsError, suggestion

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
