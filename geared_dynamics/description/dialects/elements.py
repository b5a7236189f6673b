"""Names and numbers of XML elements, with errors that name the element."""

from __future__ import annotations

import math
from typing import Any

from geared_dynamics.description._untyped import lxml_etree
from geared_dynamics.description.dialects.drive import SINGLE, Context
from geared_dynamics.description.urdf_prune import clip, number_or_none
from geared_dynamics.errors import DescriptionError, UnknownNameError


def tag(node: Any) -> str:
    """Return an element's name; one of a foreign namespace with its prefix in front.

    Drake's namespace is recognised by its prefix or its address.
    """
    name = lxml_etree().QName(node)
    if name.namespace == lxml_etree().QName(node.getroottree().getroot()).namespace:
        return str(name.localname)
    prefix = "drake" if "drake" in f"{node.prefix} {name.namespace}" else node.prefix or "?"
    return f"{prefix}:{name.localname}"


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
    if kind not in SINGLE:
        context.remark(place, f"left out, because its joint is {kind}")
        return False
    return True
