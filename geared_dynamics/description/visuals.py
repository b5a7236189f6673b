"""What a URDF draws of its links: boxes, cylinders, spheres and names of mesh files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from geared_dynamics.description.geometry import rotation_from_rpy
from geared_dynamics.description.robot_records import Vector3, VisualRecord
from geared_dynamics.description.transmission_elements import tag
from geared_dynamics.description.urdf_checks import number_or_none

MOST = 200  # shapes of one link; more are not drawn
# Attributes that give the size of each kind, and how many numbers each holds.
SIZES: dict[str, tuple[tuple[str, int], ...]] = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "mesh": (("scale", 3),),
}


def visuals_of(root: Any) -> dict[str, tuple[VisualRecord, ...]]:
    """Return the shapes of each link that has any.

    They are decoration: what is not a shape with sizes above zero (a mesh's scale may be
    negative) at a finite place is left out, and is no error of the robot.

    Args:
        root: The URDF's root element.
    """
    found: dict[str, tuple[VisualRecord, ...]] = {}
    for link in root:
        if tag(link) == "link":
            shapes = tuple(_shapes(link))[:MOST]
            if shapes:
                found[(link.get("name") or "").strip()] = shapes
    return found


def _shapes(link: Any) -> Iterator[VisualRecord]:
    """Yield the shapes of one link."""
    for visual in link:
        if tag(visual) != "visual":
            continue
        parts = {tag(child): child for child in visual}
        origin, geometry = parts.get("origin"), parts.get("geometry")
        shape = next(iter(geometry), None) if geometry is not None else None
        xyz = _numbers(origin, "xyz", 3, "0 0 0")
        rpy = _numbers(origin, "rpy", 3, "0 0 0")
        size = None if shape is None else _size(shape)
        if shape is None or size is None or xyz is None or rpy is None:
            continue
        file = (shape.get("filename") or "").strip()
        if tag(shape) == "mesh" and not file:
            continue
        yield VisualRecord(tag(shape), size, rotation_from_rpy(*rpy), _three(xyz), file)  # type: ignore[arg-type]


def _size(shape: Any) -> Vector3 | None:
    """Return the sizes of a shape, None if it is none of ours."""
    kind, values = tag(shape), list[float]()
    for key, count in SIZES.get(kind, ()):
        part = _numbers(shape, key, count, "1 1 1" if kind == "mesh" else "")
        if part is None or (kind != "mesh" and min(part) <= 0.0):
            return None
        values += part
    return _three((*values, 0.0, 0.0)) if values else None


def _numbers(node: Any, key: str, count: int, default: str) -> list[float] | None:
    """Return the finite numbers of an attribute; None if they are not as many."""
    text = default if node is None else node.get(key, default)
    found = [number_or_none(word) for word in text.split()]
    numbers = [x for x in found if x is not None and math.isfinite(x)]
    return numbers if len(numbers) == len(found) == count else None


def _three(values: Any) -> Vector3:
    """Return the first three numbers."""
    x, y, z, *_ = values
    return (x, y, z)
