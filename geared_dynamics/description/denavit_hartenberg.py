"""Robots from Denavit-Hartenberg tables.

Standard convention (one joint's z axis at the far end of each link):

    T(i-1, i) = Rz(theta) Tz(d) Tx(a) Rx(alpha)

Modified convention (the frame sits at the joint; row i holds a(i-1), alpha(i-1)):

    T(i-1, i) = Rx(alpha) Tx(a) Rz(theta) Tz(d)

A revolute joint adds q to theta, a prismatic one adds q to d.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from geared_dynamics.description.geometry import (
    add,
    apply,
    multiply,
    rotation_about,
    turn_tensor,
)
from geared_dynamics.description.records import (
    IDENTITY3,
    ZERO3,
    FrictionRecord,
    InertiaRecord,
    JointRecord,
    LimitRecord,
    LinkRecord,
    Matrix3,
    RobotRecord,
    Vector3,
)
from geared_dynamics.description.tree_check import check_robot
from geared_dynamics.description.values import as_rows, finite, inertia, name_of
from geared_dynamics.errors import UnknownNameError

Convention = Literal["standard", "modified"]
_X: Vector3 = (1.0, 0.0, 0.0)
_Z: Vector3 = (0.0, 0.0, 1.0)
_KINDS = ("revolute", "continuous", "prismatic")
_MOUNT = "_mount"  # of D-H frame i on link i


@dataclass(frozen=True)
class DHRow:
    """One row of a Denavit-Hartenberg table: a joint and the link it moves.

    Attributes:
        a: Link length [m].
        alpha: Link twist [rad].
        d: Link offset [m]; what a prismatic joint's q adds to.
        theta: Joint angle [rad]; what a revolute joint's q adds to.
        kind: ``revolute``, ``continuous`` or ``prismatic``.
        mass: Mass of the link [kg].
        com: Centre of mass in the row's DH frame (3,) [m], at the far end of the link in
            the standard convention.
        tensor: Inertia about the centre of mass in the axes of the row's DH
            frame (3, 3) [kg m^2]; None: zero.
        link: Name of the link, default ``link_1`` ...
        joint: Name of the joint, default ``joint_1`` ...
        limit: Joint limits.
        friction: Joint-side friction.
    """

    a: float
    alpha: float
    d: float = 0.0
    theta: float = 0.0
    kind: Literal["revolute", "continuous", "prismatic"] = "revolute"
    mass: float = 0.0
    com: Sequence[float] = ZERO3
    tensor: Sequence[Sequence[float]] | None = None
    link: str | None = None
    joint: str | None = None
    limit: LimitRecord | None = None
    friction: FrictionRecord | None = None


def robot_from_dh(
    rows: Sequence[DHRow | Mapping[str, Any]],
    *,
    name: str = "arm",
    convention: Convention = "standard",
    base: str = "base",
) -> RobotRecord:
    """Return the serial arm that a Denavit-Hartenberg table describes.

    The table's inertial data refer to the DH frames. In the modified convention
    the frame of link i is DH frame i. In the standard convention DH frame i
    lies at the far end of link i, off the joint's axis, where no URDF link frame
    can be; the link frame is then DH frame i-1 moved by Rz(theta) Tz(d), the
    inertial data are carried over to it, and a massless link ``<link>_dh``
    fixed to it marks DH frame i (for poses, Jacobians, payloads and carriers of
    wheels; ``dh_frames`` holds a drivetrain to one of the two).

    Args:
        rows: A row for each joint, base to tip: :class:`DHRow` or its keywords.
        name: The robot's name.
        convention: ``standard`` or ``modified``.
        base: Name of the root link, whose frame is DH frame 0.

    Returns:
        The robot, z being every joint's axis.

    Raises:
        DescriptionError: If a row is not a row, a number not finite, a mass or
            moment negative, or a name used twice.
        UnknownNameError: If convention, kind or key are not known.
    """
    if not isinstance(convention, str) or convention not in ("standard", "modified"):
        raise UnknownNameError("convention", "convention", convention, ("standard", "modified"))
    table = as_rows(rows, DHRow, tuple(item.name for item in fields(DHRow)))
    links, joints = [LinkRecord(base)], []
    parent = base
    ahead: tuple[Matrix3, Vector3] = (IDENTITY3, ZERO3)
    for index, row in enumerate(table):
        place = f"rows[{index}]"
        if not isinstance(row.kind, str) or row.kind not in _KINDS:
            raise UnknownNameError(f"{place}.kind", "joint kind", row.kind, _KINDS)
        link = row.link or f"link_{index + 1}"
        body = inertia(row.mass, row.com, row.tensor, place)
        twist = _twist(row, place)
        # In both conventions a joint stands at twist, then Rz(theta) Tz(d): the
        # twist of its own row, or (standard) what the row before left ahead.
        before = twist if convention == "modified" else ahead
        joints.append(_joint(row, index, parent, link, before, place))
        if convention == "modified":
            links.append(LinkRecord(link, body))
        else:
            marker = f"{link}_dh"
            links += [LinkRecord(link, _carry(body, *twist)), LinkRecord(marker)]
            joints.append(JointRecord(marker + _MOUNT, "fixed", link, marker, *twist))
        parent, ahead = link, twist
    robot = RobotRecord(
        name_of(name, "name"), "<Denavit-Hartenberg table>", tuple(links), tuple(joints)
    )
    check_robot(robot)
    return robot


def dh_mounts(robot: RobotRecord) -> dict[str, JointRecord]:
    """Return the fixed joints that place D-H frame i in link i's frame, by the links' names.

    None in the modified convention, where the two frames are one.
    """
    return {
        joint.parent: joint
        for joint in robot.joints
        if joint.kind == "fixed" and joint.name == joint.child + _MOUNT
    }


def _twist(row: DHRow, place: str) -> tuple[Matrix3, Vector3]:
    """Return Tx(a) Rx(alpha); the two commute."""
    alpha = finite(row.alpha, f"{place}.alpha")
    return rotation_about(_X, alpha), (finite(row.a, f"{place}.a"), 0.0, 0.0)


def _joint(
    row: DHRow,
    index: int,
    parent: str,
    child: str,
    before: tuple[Matrix3, Vector3],
    place: str,
) -> JointRecord:
    """Return the joint at ``before`` Rz(theta) Tz(d), about or along z."""
    rotation, position = before
    theta, d = finite(row.theta, f"{place}.theta"), finite(row.d, f"{place}.d")
    return JointRecord(
        name=row.joint or f"joint_{index + 1}",
        kind=row.kind,
        parent=parent,
        child=child,
        rotation=multiply(rotation, rotation_about(_Z, theta)),
        position=add(position, apply(rotation, _Z), d),
        axis=_Z,
        limit=row.limit,
        friction=row.friction,
    )


def _carry(
    body: InertiaRecord | None, rotation: Matrix3, position: Vector3
) -> InertiaRecord | None:
    """Return inertial data given in a frame placed so, in the outer frame."""
    if body is None:
        return None
    com = add(position, apply(rotation, body.com))
    return InertiaRecord(body.mass, com, turn_tensor(rotation, body.tensor))
