"""Serial arms from Denavit-Hartenberg tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar

from geared_dynamics.description.drive_records import (
    BalancerRecord,
    DrivetrainRecord,
    FrictionRecord,
    HarmonicRecord,
    LineElementRecord,
    MeshRecord,
    PlanetaryRecord,
    WheelRecord,
)
from geared_dynamics.description.geometry import (
    IDENTITY3,
    ZERO3,
    Matrix3,
    Vector3,
    add,
    apply,
    largest_gap,
    multiply,
    rotation_about,
    turn_tensor,
)
from geared_dynamics.description.robot_records import (
    MOVABLE_KINDS,
    InertiaRecord,
    JointRecord,
    LimitRecord,
    LinkRecord,
    RobotRecord,
)
from geared_dynamics.description.robot_tree import check_robot
from geared_dynamics.description.table_values import as_rows, finite, inertia, name_of
from geared_dynamics.errors import DescriptionError, UnknownNameError
from geared_dynamics.files import place_in

# -- Robots from Denavit-Hartenberg tables --------------------------------------------------------
#
# Standard convention (one joint's z axis at the far end of each link):
#
#     T(i-1, i) = Rz(theta) Tz(d) Tx(a) Rx(alpha)
#
# Modified convention (the frame sits at the joint; row i holds a(i-1), alpha(i-1)):
#
#     T(i-1, i) = Rx(alpha) Tx(a) Rz(theta) Tz(d)
#
# A revolute joint adds q to theta, a prismatic one adds q to d.


Convention = Literal["standard", "modified"]
_X: Vector3 = (1.0, 0.0, 0.0)
_Z: Vector3 = (0.0, 0.0, 1.0)
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
    wheels; ``in_carrier_frame`` holds a drivetrain to one of the two).

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
        if not isinstance(row.kind, str) or row.kind not in MOVABLE_KINDS:
            raise UnknownNameError(f"{place}.kind", "joint kind", row.kind, MOVABLE_KINDS)
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


# -- The frame of a Denavit-Hartenberg arm in which a drivetrain's axes and positions are read ----
#
# In the standard convention D-H frame i lies at the far end of link i, behind a and alpha, and
# the link's own frame at its joint, before them. The row's ``com`` and ``tensor`` are in D-H
# frame i; what a drivetrain places on the link must say in which of the two it is.


CarrierFrame = Literal["dh", "joint"]
_FRAMES = ("dh", "joint")
_SAME = 1e-12  # two readings of a unit vector or a position [m] that differ by rounding only
_AXIS, _POSITION, _PHASE = "axis", "position", "phase"

Mounts = dict[str, JointRecord]
GearSet = TypeVar("GearSet", PlanetaryRecord, HarmonicRecord)


def in_carrier_frame(
    drives: DrivetrainRecord, robot: RobotRecord, frame: CarrierFrame | None
) -> DrivetrainRecord:
    """Return the drivetrain with what it places on a row's link read in one stated frame.

    Args:
        drives: The drivetrain; wheels, gear sets, mesh arms and balancers name links.
        robot: What ``robot_from_dh`` returned.
        frame: ``dh``: D-H frame i, as the row's com and tensor; ``joint``: the link's own
            frame at its joint; None: as ``joint`` where the two agree, refused where not.

    Raises:
        DescriptionError: If an axis or a position is another in the two frames and none is
            stated.
        UnknownNameError: If the frame is neither.
    """
    if frame is not None and (not isinstance(frame, str) or frame not in _FRAMES):
        raise UnknownNameError("carrier_frame", "frame", frame, _FRAMES)
    mounts = dh_mounts(robot)
    if frame is None:
        for place, link, key in _undecided(drives, mounts):
            raise _ambiguous(place_in(drives.source, place), link, key, mounts[link].child)
    return _in_dh_frames(drives, mounts) if frame == "dh" else drives


def _ambiguous(place: str, link: str, key: str, marker: str) -> DescriptionError:
    return DescriptionError(
        place,
        f"the {key} on link {link!r} differs between D-H frame {marker!r}, in which com and tensor"
        " of the row are given, and the frame at the link's joint, before a and alpha",
        f"write {marker!r} instead of the link's name for the D-H frame, or pass"
        " carrier_frame='dh' or carrier_frame='joint' for all links of the table",
    )


def _undecided(drives: DrivetrainRecord, mounts: Mounts) -> Iterator[tuple[str, str, str]]:
    """Yield key path, link and quantity of what the two frames read differently."""
    in_trains = _members_of_trains(drives)
    for wheel in drives.wheels:
        mount = mounts.get(wheel.carrier)
        if mount is not None:
            placed = wheel.mass > 0.0 or wheel.name in in_trains
            position = wheel.position if placed else None
            if key := _differs(mount, wheel.axis, position):
                yield f"wheels.{wheel.name}.{key}", wheel.carrier, key
    for mesh in drives.meshes:
        mount = mounts.get(mesh.arm)
        for index, axis in enumerate(mesh.axes or ()):
            if mount is not None and _differs(mount, axis, None):
                yield f"{mesh.place}.axes[{index}]", mesh.arm, _AXIS
    sets = [("planetary", item) for item in drives.planetary]
    sets += [("harmonic", item) for item in drives.harmonic]  # type: ignore[misc]
    for section, item in sets:
        if key := _set_differs(mounts.get(item.housing), item):
            yield f"{section}.{item.name}.{key}", item.housing, key
    for balancer in drives.balancers:
        if isinstance(balancer, LineElementRecord):
            for index, (link, point) in enumerate(balancer.anchors):
                mount = mounts.get(link)
                if mount is not None and _differs(mount, None, point):
                    place = f"balancers.{balancer.name}.anchors[{index}].{_POSITION}"
                    yield place, link, _POSITION


def _members_of_trains(drives: DrivetrainRecord) -> set[str]:
    """Return the wheels whose positions count even where they have no mass."""
    names = {name for mesh in drives.meshes for name in mesh.members}
    names |= {said for item in drives.planetary for _, said in item.members if type(said) is str}
    return names


def _set_differs(mount: JointRecord | None, item: PlanetaryRecord | HarmonicRecord) -> str:
    """Return what of a gear set's placement is another in the D-H frame; empty if nothing."""
    if mount is None:
        return ""
    if key := _differs(mount, item.axis, item.position):
        return key
    # The planets' angles count from an axis of the housing's frame.
    turned = _differs(mount, (1.0, 0.0, 0.0), None) or _differs(mount, (0.0, 0.0, 1.0), None)
    return _PHASE if isinstance(item, PlanetaryRecord) and item.phase and turned else ""


def _differs(mount: JointRecord, axis: Vector3 | None, position: Vector3 | None) -> str:
    """Return what is another in the link's frame when it is read in the D-H frame.

    ``mount`` places the D-H frame in the link's: v = R v_dh, p = R p_dh + p_mount.
    """
    if axis is not None and largest_gap(apply(mount.rotation, axis), axis) > _SAME:
        return _AXIS
    if position is not None:
        moved = add(mount.position, apply(mount.rotation, position))
        if largest_gap(moved, position) > _SAME:
            return _POSITION
    return ""


def _in_dh_frames(drives: DrivetrainRecord, mounts: Mounts) -> DrivetrainRecord:
    """Name the link of D-H frame i where the drivetrain names that of row i."""
    marker = {link: mount.child for link, mount in mounts.items()}
    return replace(
        drives,
        wheels=tuple(_named_wheel(wheel, marker) for wheel in drives.wheels),
        meshes=tuple(_turned(mesh, mounts) for mesh in drives.meshes),
        planetary=tuple(_housed(item, marker) for item in drives.planetary),
        harmonic=tuple(_housed(item, marker) for item in drives.harmonic),
        balancers=tuple(_anchored(item, marker) for item in drives.balancers),
    )


def _named_wheel(wheel: WheelRecord, marker: dict[str, str]) -> WheelRecord:
    return replace(wheel, carrier=marker.get(wheel.carrier, wheel.carrier))


def _turned(mesh: MeshRecord, mounts: Mounts) -> MeshRecord:
    """Return a mesh with its axes in the arm's own frame; the arm keeps its name."""
    if mesh.axes is None or mesh.arm not in mounts:
        return mesh
    first, second = (apply(mounts[mesh.arm].rotation, axis) for axis in mesh.axes)
    return replace(mesh, axes=(first, second))


def _housed(item: GearSet, marker: dict[str, str]) -> GearSet:
    return replace(item, housing=marker.get(item.housing, item.housing))


def _anchored(item: BalancerRecord, marker: dict[str, str]) -> BalancerRecord:
    if not isinstance(item, LineElementRecord):
        return item
    first, second = ((marker.get(link, link), point) for link, point in item.anchors)
    return replace(item, anchors=(first, second))
