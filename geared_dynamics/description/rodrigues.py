"""Robots from the Rodrigues geometry of Vukobratovic 2002 (20.2-20.8, 20.100-20.111).

Link j has a frame of its own with the origin in its centre of mass C_j. Joint
S_j connects it to link j-1 and moves about or along the unit vector e_j. The
joint's zero is not a free choice: it is the extended position, in which, seen
along e_j, the direction from C_(j-1) to S_j and that from S_j to C_j agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.geometry import (
    ZERO3,
    Matrix3,
    Vector3,
    add,
    cross,
    multiply,
    norm,
    rotation_about,
    transpose,
    unit,
)
from geared_dynamics.description.robot_records import (
    MOVABLE_KINDS,
    JointRecord,
    LimitRecord,
    LinkRecord,
    RobotRecord,
)
from geared_dynamics.description.robot_tree import check_robot
from geared_dynamics.description.table_values import (
    as_rows,
    direction,
    finite,
    inertia,
    name_of,
    vector3,
)
from geared_dynamics.errors import DescriptionError, UnknownNameError

_PARALLEL = 1e-9


@dataclass(frozen=True)
class RodriguesRow:
    """Geometry and inertia of link j and of the joint S_j below it.

    For the first link, link j-1 is the base and C_(j-1) its frame's origin.

    Attributes:
        axis: e_j in link j's frame (3,) (the paper's e with the tilde above).
        axis_below: e_j in link j-1's frame (3,) (the tilde below).
        to_centre: r_(j,j), from S_j to C_j, link j's frame (3,) [m].
        from_centre: r_(j-1,j), from S_j back to C_(j-1), link j-1's frame (3,)
            [m]: the sign of (20.25), r_cj = r_c(j-1) - r_(j-1,j) + r'_(j,j).
        mass: Mass of link j [kg].
        tensor: Inertia about C_j in link j's frame (3, 3) [kg m^2]; None: zero.
        kind: ``revolute`` (s_j = 0), ``continuous`` or ``prismatic`` (s_j = 1).
        alpha: Constant angle of a linear joint from its fictive extended
            position, about e_j [rad]; a revolute joint has none.
        special_to_centre: r*_(j,j) of a specificity: any vector in link j's
            frame not parallel to e_j; used in place of r_(j,j) to define the
            extended position, and required where r_(j,j) is parallel to e_j.
        special_from_centre: r*_(j-1,j) in link j-1's frame, with the
            direction of r_(j-1,j): from the joint backwards.
        link: Name of the link, default ``link_1`` ...
        joint: Name of the joint, default ``joint_1`` ...
        limit: Joint limits.
        friction: Joint-side friction.
    """

    axis: Sequence[float]
    axis_below: Sequence[float]
    to_centre: Sequence[float]
    from_centre: Sequence[float]
    mass: float = 0.0
    tensor: Sequence[Sequence[float]] | None = None
    kind: Literal["revolute", "continuous", "prismatic"] = "revolute"
    alpha: float = 0.0
    special_to_centre: Sequence[float] | None = None
    special_from_centre: Sequence[float] | None = None
    link: str | None = None
    joint: str | None = None
    limit: LimitRecord | None = None
    friction: FrictionRecord | None = None


def robot_from_rodrigues(
    rows: Sequence[RodriguesRow | Mapping[str, Any]], *, name: str = "arm", base: str = "base"
) -> RobotRecord:
    """Return the serial arm that a table of Rodrigues geometry describes.

    Link j's frame in the record is parallel to the paper's frame j and has its
    origin in S_j, on the joint's axis (S_j'' of a linear joint, which moves with
    link j); the centre of mass is then r_(j,j).

    Args:
        rows: A row for each joint, base to tip: :class:`RodriguesRow` or its
            keywords.
        name: The robot's name.
        base: Name of the root link.

    Returns:
        The robot; q = 0 is the extended position of every joint.

    Raises:
        DescriptionError: If a row is not a row, a number not finite, an axis
            zero, a mass negative, a specificity left open, or a name used twice.
        UnknownNameError: If a kind or key is not known.
    """
    table = as_rows(rows, RodriguesRow, tuple(item.name for item in fields(RodriguesRow)))
    links, joints = [LinkRecord(base)], []
    parent, centre = base, ZERO3
    for index, row in enumerate(table):
        place = f"rows[{index}]"
        link = row.link or f"link_{index + 1}"
        to_centre = vector3(row.to_centre, f"{place}.to_centre")
        joints.append(_joint(row, index, (parent, link), centre, place))
        links.append(LinkRecord(link, inertia(row.mass, to_centre, row.tensor, place)))
        parent, centre = link, to_centre
    robot = RobotRecord(name_of(name, "name"), "<Rodrigues table>", tuple(links), tuple(joints))
    check_robot(robot)
    return robot


def _joint(
    row: RodriguesRow, index: int, ends: tuple[str, str], centre: Vector3, place: str
) -> JointRecord:
    """Return joint S_j; ``centre`` is C_(j-1) in the frame of link j-1's record."""
    if not isinstance(row.kind, str) or row.kind not in MOVABLE_KINDS:
        raise UnknownNameError(f"{place}.kind", "joint kind", row.kind, MOVABLE_KINDS)
    alpha = finite(row.alpha, f"{place}.alpha")
    if alpha and row.kind != "prismatic":
        raise DescriptionError(
            f"{place}.alpha",
            f"a {row.kind} joint has no constant angle",
            "its zero is the extended position; leave alpha at 0",
        )
    axis = direction(row.axis, f"{place}.axis")
    return JointRecord(
        name=row.joint or f"joint_{index + 1}",
        kind=row.kind,
        parent=ends[0],
        child=ends[1],
        rotation=multiply(_extended(row, axis, place), rotation_about(axis, alpha)),
        position=add(centre, vector3(row.from_centre, f"{place}.from_centre"), -1.0),
        axis=axis,
        limit=row.limit,
        friction=row.friction,
    )


def _extended(row: RodriguesRow, axis: Vector3, place: str) -> Matrix3:
    """Return A0_(j-1,j), (20.101)-(20.106): [e a b] below times its inverse in link j.

    The triples are orthonormal, so the inverse is the transpose.
    """
    below = direction(row.axis_below, f"{place}.axis_below")
    forward = _across(below, row.from_centre, row.special_from_centre, place, "from_centre")
    outward = _across(axis, row.to_centre, row.special_to_centre, place, "to_centre")
    ahead: Vector3 = (-forward[0], -forward[1], -forward[2])
    in_parent = transpose((below, ahead, cross(below, ahead)))
    in_link = (axis, outward, cross(axis, outward))
    return multiply(in_parent, in_link)


def _across(axis: Vector3, vector: Any, special: Any, place: str, key: str) -> Vector3:
    """Return the unit vector of e x (r x e), the part of r across the axis e."""
    if special is not None:
        key, vector = f"special_{key}", special
    r = vector3(vector, f"{place}.{key}")
    across = cross(axis, cross(r, axis))
    if norm(across) <= _PARALLEL * norm(r):
        remedy = "give another" if special is not None else f"give 'special_{key}'"
        raise DescriptionError(
            f"{place}.{key}",
            "the vector is zero or parallel to the joint's axis and defines no extended position",
            f"{remedy}, a vector that is not parallel to it",
        )
    return unit(across)
