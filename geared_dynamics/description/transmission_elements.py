"""What all ways of writing transmissions share: names, numbers, and each type's ratios."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from geared_dynamics.description.robot_records import MOVABLE_KINDS, RobotRecord
from geared_dynamics.description.urdf_checks import clip, number_or_none
from geared_dynamics.description.xml_input import tag
from geared_dynamics.errors import DescriptionError, Note, UnknownNameError

# -- What every dialect comes down to: rotors that follow joints ----------------------------------


_SHOWN = 4  # places that a line names before it counts


@dataclass(frozen=True)
class Drive:
    """A rotor that follows one or two joints.

    Attributes:
        name: Name of the actuator, or of the joint where none is named.
        coefficients: Joint -> rotor angle per joint position [1 or rad/m].
        place: The element in the file, such as ``transmission 't1'``.
        source: The file.
        dialect: Whose way of writing this is.
        inertia: About the rotor's axis [kg m^2]; None: not given.
        motor: Whether the rotor is a motor's.
        offsets: Joint -> position [rad or m] at which the motor's encoder reads zero.
    """

    name: str
    coefficients: tuple[tuple[str, float], ...]
    place: str
    source: str
    dialect: str
    inertia: float | None = None
    motor: bool = True
    offsets: tuple[tuple[str, float], ...] = ()

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that the rotor follows."""
        return tuple(joint for joint, _ in self.coefficients)


@dataclass(frozen=True)
class Context:
    """What the elements of a URDF are checked against, and what is said on the way.

    Attributes:
        source: The file, for errors.
        kinds: Joint -> its kind.
        links: Names of the links.
        notes: What is doubtful, because some reader reads it otherwise or not at all:
            text -> places.
        remarks: What is left out without any effect on the model: text -> places.
    """

    source: str
    kinds: dict[str, str]
    links: frozenset[str]
    notes: dict[str, list[str]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def of(robot: RobotRecord, source: str) -> Context:
        """Return the context for a file about this robot."""
        return Context(
            source,
            {joint.name: joint.kind for joint in robot.joints},
            frozenset(link.name for link in robot.links),
        )

    def note(self, place: str, text: str) -> None:
        """Keep a doubt about an element."""
        self.notes.setdefault(text, []).append(place)

    def remark(self, place: str, text: str) -> None:
        """Keep a plain fact about an element."""
        self.remarks.setdefault(text, []).append(place)


def notes_of(
    source: str, said: dict[str, list[str]], note: Callable[[str, str], Note]
) -> list[Note]:
    """Return what was said of a file's elements as notes: first places of each, then the text."""
    result = []
    for text, places in said.items():
        shown = list(dict.fromkeys(places))
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        result.append(note(f"{source}, {', '.join(shown[:_SHOWN])}{more}", text))
    return result


# -- Names and numbers of XML elements, with errors that name the element -------------------------


def children(node: Any, name: str) -> list[Any]:
    """Return the child elements of that name."""
    return [child for child in node if tag(child) == name]


def name_of(node: Any, place: str, context: Context, key: str = "name") -> str:
    """Return an attribute that must be there.

    Raises:
        DescriptionError: If it is missing or empty.
    """
    name = (node.get(key) or "").strip()
    if not name:
        raise DescriptionError(
            f"{context.source}, {place}",
            f"<{tag(node)}> has no attribute {key!r}",
            f'write <{tag(node)} {key}="...">',
        )
    return name


def number_in(node: Any, name: str, place: str, context: Context) -> float | None:
    """Return the number that a child element holds, None where there is no such child.

    Raises:
        DescriptionError: If it is given twice or is not a finite number.
    """
    return only_number(children(node, name), name, place, context)


def parameter(node: Any, name: str, place: str, context: Context) -> float | None:
    """Return the number of a ``<param name="...">`` child, None where there is no such child.

    Raises:
        DescriptionError: If it is given twice or is not a finite number.
    """
    found = [item for item in children(node, "param") if item.get("name") == name]
    return only_number(found, f'param name="{name}"', place, context)


def only_number(found: list[Any], name: str, place: str, context: Context) -> float | None:
    """Return the number that the one element found holds, None where there is none.

    Raises:
        DescriptionError: If there are two, or it is not a finite number.
    """
    node = only(found, name, place, context)
    if node is None:
        return None
    if len(node):
        raise DescriptionError(
            f"{context.source}, {place}",
            f"<{name}> holds <{tag(node[0])}>",
            "write nothing but a number in it",
        )
    return number(node.text, f"{place}/{name}", context)


def only(found: list[Any], name: str, place: str, context: Context) -> Any:
    """Return the one element found, None where there is none.

    Raises:
        DescriptionError: If there are two.
    """
    if len(found) > 1:
        raise DescriptionError(
            f"{context.source}, {place}", f"<{name}> is given twice", "keep one of them"
        )
    return found[0] if found else None


def number(text: str | None, place: str, context: Context) -> float:
    """Return the number that a text is.

    Raises:
        DescriptionError: If it is not a finite number. Other readers take their
            default then, and say nothing.
    """
    value = number_or_none(text or "")
    if value is None or not math.isfinite(value):
        raise DescriptionError(
            f"{context.source}, {place}",
            f"expected a finite number, found {clip((text or '').strip())!r}",
            "correct it; other readers silently take their default instead",
        )
    return value


def ratio(value: float | None, place: str, context: Context) -> float:
    """Return a reduction, 1 where it is not given.

    Raises:
        DescriptionError: If it is zero.
    """
    if value == 0.0:
        raise DescriptionError(
            f"{context.source}, {place}",
            "the reduction is zero",
            "write how often the actuator turns for one turn of the joint",
        )
    return 1.0 if value is None else value


def inertia(value: float | None, place: str, context: Context) -> float | None:
    """Return a rotor's inertia [kg m^2] as it is given.

    Raises:
        DescriptionError: If it is negative.
    """
    if value is not None and value < 0.0:
        raise DescriptionError(
            f"{context.source}, {place}",
            f"the rotor's inertia is negative ({value:g} kg m^2)",
            "write it >= 0",
        )
    return value


def movable(joint: str, place: str, context: Context) -> bool:
    """Say whether a joint has one coordinate, with a remark where it has not.

    Raises:
        UnknownNameError: If there is no such joint.
    """
    if joint not in context.kinds:
        raise UnknownNameError(f"{context.source}, {place}", "joint", joint, context.kinds)
    kind = context.kinds[joint]
    if kind not in MOVABLE_KINDS:
        context.remark(place, f"left out, because its joint is {kind}")
        return False
    return True


# -- Maps of the three transmissions that ros_control and ros2_control know -----------------------
#
# Actuator angle phi = sum of coefficient (q - offset) over the joints; rates go the
# same way, and joint force = sum of coefficient * actuator torque. The formulas are
# those of the code of transmission_interface; its comments hold misprints.


COUNT = {"SimpleTransmission": 1, "DifferentialTransmission": 2, "FourBarLinkageTransmission": 2}
_PREFIX = "transmission_interface/"


@dataclass(frozen=True)
class End:
    """A joint's or actuator's end of a transmission: name, reduction, offset [rad or m]."""

    name: str
    reduction: float = 1.0
    offset: float = 0.0
    role: str = ""
    inertia: float | None = None


Coefficients = tuple[tuple[str, float], ...]


def kind_of(plugin: str) -> str:
    """Return a transmission's kind, without the package that it comes from."""
    return plugin.strip().removeprefix(_PREFIX)


def offsets(rows: Sequence[Coefficients], joints: Sequence[End]) -> tuple[Coefficients, ...]:
    """Return for each actuator the offsets of the joints that it follows, those not zero.

    Args:
        rows: Each actuator's coefficients.
        joints: The joints' ends.
    """
    given = {joint.name: joint.offset for joint in joints if joint.offset}
    return tuple(tuple((j, given[j]) for j, _ in row if j in given) for row in rows)


def coefficients(
    kind: str, joints: Sequence[End], actuators: Sequence[End]
) -> tuple[Coefficients, ...]:
    """Return each actuator's coefficients over the joints, in the order of their roles.

    Args:
        kind: A key of ``COUNT``.
        joints: The joints' ends, joint1 first.
        actuators: The actuators' ends, actuator1 first.
    """
    if kind == "SimpleTransmission":
        return (((joints[0].name, joints[0].reduction * actuators[0].reduction),),)
    (j1, j2), (a1, a2) = joints, actuators
    if kind == "DifferentialTransmission":
        return (
            (
                (j1.name, a1.reduction * j1.reduction),
                (j2.name, a1.reduction * j2.reduction),
            ),
            (
                (j1.name, a2.reduction * j1.reduction),
                (j2.name, -a2.reduction * j2.reduction),
            ),
        )
    return (
        ((j1.name, a1.reduction * j1.reduction),),
        ((j1.name, a2.reduction), (j2.name, a2.reduction * j2.reduction)),
    )
