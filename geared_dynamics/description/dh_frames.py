"""The frame of a Denavit-Hartenberg arm in which a drivetrain's axes and positions are read.

In the standard convention D-H frame i lies at the far end of link i, behind a and alpha, and
the link's own frame at its joint, before them. The row's ``com`` and ``tensor`` are in D-H
frame i; what a drivetrain places on the link must say in which of the two it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, TypeVar

from geared_dynamics.description.denavit_hartenberg import dh_mounts
from geared_dynamics.description.drive_records import BalancerRecord, LineElementRecord
from geared_dynamics.description.geometry import add, apply, largest_gap
from geared_dynamics.description.records import (
    DrivetrainRecord,
    HarmonicRecord,
    JointRecord,
    MeshRecord,
    PlanetaryRecord,
    RobotRecord,
    Vector3,
    WheelRecord,
)
from geared_dynamics.description.source import at
from geared_dynamics.errors import DescriptionError, UnknownNameError

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
            raise _ambiguous(at(drives.source, place), link, key, mounts[link].child)
    return _in_dh_frames(drives, mounts) if frame == "dh" else drives


def _ambiguous(place: str, link: str, key: str, marker: str) -> DescriptionError:
    return DescriptionError(
        place,
        f"the {key} on link {link!r} is not the same in D-H frame {marker!r}, where the row's"
        " com and tensor are, and in the frame at the link's joint, before a and alpha",
        f"write {marker!r} as the link's name for the D-H frame, or pass carrier_frame='dh' or"
        " carrier_frame='joint' for all links of the table",
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
