"""The drives of a drivetrain file and of a URDF as one: who replaces whom, and what is said of it.

What a motor acts on shows in its solved ratios, however its train is written. A belt that
passes a joint turns its motor with that joint as well; it ends at the joint behind. So each
motor of the file counts for one joint (a coordinate: what mimics counts as its leader), the
one farthest from the link that carries its wheel; motors that share joints, as those of a
differential do, count for as many of them as their ratios are independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    MotorRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.drivetrain_reader import check_drivetrain
from geared_dynamics.description.robot_records import MOVABLE_KINDS, JointRecord, RobotRecord
from geared_dynamics.errors import Note, urdf_doubt
from geared_dynamics.model.gears import refuse_screws_on_turning_joints, resolve
from geared_dynamics.model.motor_map import rank

Row = Mapping[str, float]  # coordinate -> ratio [1 or rad/m]


def one_drivetrain(
    whole: RobotRecord,
    robot: RobotRecord,
    file: DrivetrainRecord,
    urdf: DrivetrainRecord,
    frozen: frozenset[str],
) -> tuple[DrivetrainRecord, tuple[Note, ...]]:
    """Combine the drives of a drivetrain file and of a URDF; the file is believed.

    Args:
        whole: The robot.
        robot: The same with the joints ``frozen`` fixed.
        file: The drivetrain file's records, their names not yet checked.
        urdf: The URDF's, primitive: no meshes, no sets.
        frozen: Joints that are held still; they count as if they moved.

    Returns:
        The file's entries in file order, then the URDF's that stay, and a note for each drive
        of the URDF that is left out, overridden, or may count twice.

    Raises:
        GearedDynamicsError: for wheels that are not there, fixed twice or turned twice, and
            what ``resolve`` raises for trains that do not work.
    """
    both = merge(file, urdf)
    check_drivetrain(both)
    refuse_screws_on_turning_joints(whole, both)
    drives = without_replaced(whole, robot, both, frozen)
    return drives, source_notes(drives, urdf) if urdf.wheels else ()


# -- Two drivetrains in one: the drivetrain file's entries win over the URDF's --------------------


def merge(file: DrivetrainRecord, urdf: DrivetrainRecord) -> DrivetrainRecord:
    """Return what both say; where both speak of the same thing, the file is believed.

    A wheel is overridden by its name, a spin by its wheel, a motor by its name or
    its wheel, what is said of a joint by the joint, key by key. Which drives of the URDF
    are the file's by another name, only the solved trains tell: ``without_replaced``.

    Args:
        file: The drivetrain file's; its entries come first, in file order.
        urdf: The URDF's, primitive (no meshes, no sets); those not overridden
            come last.
    """
    if not urdf.wheels:
        return file
    if file == DrivetrainRecord():
        return urdf
    own = {wheel.name for wheel in file.wheels}
    return replace(
        file,
        wheels=file.wheels + tuple(_remaining(w, file) for w in urdf.wheels if w.name not in own),
        spins=file.spins + _spins(file, urdf),
        motors=_own_motors(file, urdf) + _motors(file, urdf),
    )


def _remaining(wheel: WheelRecord, file: DrivetrainRecord) -> WheelRecord:
    """Return a wheel of the URDF, saying so where its spin is not the URDF's."""
    if wheel.name not in {spin.wheel for spin in file.spins}:
        return wheel
    return replace(wheel, urdf_origin=f"{wheel.urdf_origin}, its spin from the drivetrain file")


def _spins(file: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[SpinRecord, ...]:
    """Return the URDF's spins of wheels that the file does not fix, with their source.

    A wheel that the file declares and meshes, or makes a member of a planetary set, may be
    fixed by these.
    """
    meshed = {member for mesh in file.meshes for member in mesh.members}
    given = [said for item in file.planetary for _, said in item.members]
    meshed |= {said for said in given if isinstance(said, str)}
    fixed = meshed & {wheel.name for wheel in file.wheels}
    fixed |= {spin.wheel for spin in file.spins}
    return tuple(
        replace(spin, place=f"{spin.place} of {urdf.source}", urdf_origin=urdf.source)
        for spin in urdf.spins
        if spin.wheel not in fixed
    )


def _own_motors(file: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[MotorRecord, ...]:
    """Return the file's motors; one on a wheel of the URDF has the offsets given there."""
    offsets = {motor.wheel: motor.offsets for motor in urdf.motors}
    return tuple(replace(m, offsets=offsets.get(m.wheel, m.offsets)) for m in file.motors)


def _motors(file: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[MotorRecord, ...]:
    """Return the URDF's motors that the file neither names nor turns the wheel of."""
    names = {motor.name for motor in file.motors}
    turned = {motor.wheel for motor in file.motors}
    return tuple(m for m in urdf.motors if m.name not in names and m.wheel not in turned)


# -- Drives of the URDF that end where motors of the file end -------------------------------------


def without_replaced(
    whole: RobotRecord, robot: RobotRecord, drivetrain: DrivetrainRecord, frozen: frozenset[str]
) -> DrivetrainRecord:
    """Leave out the URDF's drives that end where the file's own motors end.

    Args and errors are those of ``one_drivetrain``; ``drivetrain`` is what ``merge`` returns.
    """
    foreign = {spin.wheel for spin in drivetrain.spins if spin.urdf_origin}
    own = [m.wheel for m in drivetrain.motors if not m.urdf_origin and m.wheel not in foreign]
    unnamed = foreign - wheels_of_file(drivetrain)
    if not (own and unnamed):
        return drivetrain
    solved = resolve(robot, drivetrain, frozen)
    leader = leaders(whole)
    rows = {spin.wheel: row_of(spin.coefficients, leader) for spin in solved.spins}
    carrier = {wheel.name: wheel.carrier for wheel in solved.wheels}
    taken = ends_of_motors([(carrier[w], rows[w]) for w in own if w in rows], leader, whole)
    ends = ends_of_drives({wheel: rows[wheel] for wheel in rows if wheel in foreign})
    joints = {spin.wheel: [joint for joint, _ in spin.coefficients] for spin in drivetrain.spins}
    gone = {
        wheel.name: tuple(j for j in joints[wheel.name] if leader.get(j, ("",))[0] in taken)
        for wheel in drivetrain.wheels
        if wheel.name in unnamed and ends[wheel.name] & taken
    }
    return replace(
        drivetrain,
        wheels=tuple(wheel for wheel in drivetrain.wheels if wheel.name not in gone),
        spins=tuple(spin for spin in drivetrain.spins if spin.wheel not in gone),
        motors=tuple(motor for motor in drivetrain.motors if motor.wheel not in gone),
        replaced=tuple(gone.items()),
    )


def wheels_of_file(drivetrain: DrivetrainRecord) -> set[str]:
    """Wheels that the file speaks of; one that it spins itself is not the URDF's any more."""
    names = {wheel.name for wheel in drivetrain.wheels if not wheel.urdf_origin}
    names |= {wheel.carrier for wheel in drivetrain.wheels}
    names |= {motor.wheel for motor in drivetrain.motors if not motor.urdf_origin}
    names |= {name for mesh in drivetrain.meshes for name in (*mesh.members, mesh.arm)}
    members = [given for item in drivetrain.planetary for _, given in item.members]
    return names | {given for given in members if isinstance(given, str)}


def leaders(robot: RobotRecord) -> dict[str, tuple[str, float]]:
    """The joint that leads each movable one, itself mostly, and their ratio of rates."""
    joints = {joint.name: joint for joint in robot.joints}
    found = {}
    for joint in robot.joints:
        factor, last = 1.0, joint
        while last.mimic is not None:
            factor *= last.mimic.multiplier
            last = joints[last.mimic.leader]
        if joint.kind in MOVABLE_KINDS:
            found[joint.name] = last.name, factor
    return found


def row_of(
    coefficients: Iterable[tuple[str, float]], leader: Mapping[str, tuple[str, float]]
) -> Row:
    """A wheel's ratios to the coordinates; joints that do not exist are judged elsewhere."""
    row: dict[str, float] = {}
    for joint, ratio in coefficients:
        if joint in leader:
            name, factor = leader[joint]
            row[name] = row.get(name, 0.0) + ratio * factor
    return {name: ratio for name, ratio in row.items() if ratio}


def ends_of_motors(
    motors: list[tuple[str, Row]], leader: Mapping[str, tuple[str, float]], robot: RobotRecord
) -> set[str]:
    """Coordinates that motors act on, each for one: from the farthest on, while independent.

    Args:
        motors: Carrying link and ratios of each.
        leader: Who leads each movable joint.
        robot: The robot.
    """
    distances = LinkDistances(robot)
    joints: dict[str, list[JointRecord]] = {}
    for joint in robot.joints:
        if joint.name in leader:
            joints.setdefault(leader[joint.name][0], []).append(joint)
    far = {name: 0 for _, row in motors for name in row}
    for carrier, row in motors:
        for name in row:
            far[name] = max([far[name], *(distances.between(carrier, j) for j in joints[name])])
    # Of two equally far joints, the one farther out.
    depth = {
        joint.name: distances.between("", joint) for joint in robot.joints if joint.name in far
    }
    order = sorted(far, key=lambda name: (far[name], depth.get(name, 0)), reverse=True)
    ratios = [[row.get(name, 0.0) for _, row in motors] for name in order]
    A = np.array(ratios, float).reshape(len(order), len(motors))
    if rank(A) == len(order):
        return set(order)
    independent = [rank(A[:k]) for k in range(1, len(order) + 1)]
    return {
        name for k, name in enumerate(order) if independent[k] > (independent[k - 1] if k else 0)
    }


class LinkDistances:
    """How far links are from joints, counted in movable joints."""

    def __init__(self, robot: RobotRecord) -> None:
        """Place every link: how many joints, and how many movable ones, the root is away."""
        self._incoming = {joint.child: joint for joint in robot.joints}
        self._place: dict[str, tuple[int, int]] = {}
        for joint in robot.joints:
            waiting, link = [], joint.child
            while link in self._incoming and link not in self._place:
                waiting.append(self._incoming[link])
                link = waiting[-1].parent
            for step in reversed(waiting):
                all_, movable = self._place.get(step.parent, (0, 0))
                self._place[step.child] = all_ + 1, movable + (step.kind != "fixed")

    def between(self, link: str, joint: JointRecord) -> int:
        """How many movable joints a train passes from a link to the far side of a joint.

        The joint itself counts, also where the link lies behind it. Of a link that does not
        exist, from the root.
        """
        one, other, passed = link, joint.child, False
        while one != other and (one in self._incoming or other in self._incoming):
            if self._depth(one) >= self._depth(other):
                one = self._incoming[one].parent
            else:
                passed = passed or other == joint.child
                other = self._incoming[other].parent
        common = self._movable(one) if one == other else 0
        count = self._movable(link) + self._movable(joint.child) - 2 * common
        return count + (joint.kind == "fixed" or not passed)

    def _depth(self, link: str) -> int:
        return self._place.get(link, (0, 0))[0]

    def _movable(self, link: str) -> int:
        return self._place.get(link, (0, 0))[1]


def ends_of_drives(rows: Mapping[str, Row]) -> dict[str, set[str]]:
    """Coordinates that each drive of the URDF acts on, without those that others hold alone.

    Of a four-bar linkage's two drives the first acts on joint 1, the second, which joint 1
    turns as well, on joint 2; both drives of a differential act on both.
    """
    left = {wheel: set(row) for wheel, row in rows.items()}
    ends: dict[str, set[str]] = {}
    while alone := {wheel: names for wheel, names in left.items() if len(names) < 2}:
        ends |= alone
        held = set().union(*alone.values())
        left = {w: names - held or names for w, names in left.items() if w not in alone}
    return ends | left


# -- What became of the URDF's drives: a line for each --------------------------------------------


def source_notes(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[Note, ...]:
    """Return a note for each drive of the URDF that is left out, overridden, or may count twice.

    ``merged`` are the drives of both, without what the file's motors replace.
    """
    doubts = _left_out(merged, urdf) + _motors_left_out(merged, urdf) + _side_by_side(merged, urdf)
    return (*doubts, *_overridden(merged, urdf))


def _overridden(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> tuple[Note, ...]:
    """Return a remark on each wheel and motor of the URDF that the file states itself."""
    wheels = {wheel.name: wheel.urdf_origin for wheel in merged.wheels}
    motors = {motor.wheel: motor for motor in merged.motors}
    lines = [
        Note(wheel.urdf_origin, f"overridden by wheels.{wheel.name} of {merged.source}")
        for wheel in urdf.wheels
        if wheels.get(wheel.name) == ""
    ]
    for motor in urdf.motors:
        ours = motors.get(motor.wheel)
        if ours is not None and not ours.urdf_origin:
            offset = "; its offset stays" if ours.offsets else ""
            finding = f"its motor is motors.{ours.name} of {merged.source}{offset}"
            lines.append(Note(motor.urdf_origin, finding))
    return tuple(lines)


def _left_out(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[Note]:
    """Return a line for each wheel whose joint the file's motors turn; one for all empty ones."""
    shared = dict(merged.replaced)
    empty = [wheel.name for wheel in urdf.wheels if wheel.name in shared and _empty(wheel, urdf)]
    finding = (
        f"its motors replace the URDF's transmissions {', '.join(empty)}, which have ratio 1 and"
        " no rotor inertia"
    )
    return [Note(merged.source, finding)] * bool(empty) + [
        urdf_doubt(
            wheel.urdf_origin,
            f"left out, because {merged.source} has motors on {', '.join(shared[wheel.name])};"
            f" name a wheel there {wheel.name!r} to combine the two",
        )
        for wheel in urdf.wheels
        if wheel.name in shared and wheel.name not in empty
    ]


def _empty(wheel: WheelRecord, urdf: DrivetrainRecord) -> bool:
    """Whether a transmission says nothing but that its joint has a motor."""
    ratios = [abs(k) for s in urdf.spins if s.wheel == wheel.name for _, k in s.coefficients]
    offsets = [m for m in urdf.motors if m.wheel == wheel.name and any(x for _, x in m.offsets)]
    return wheel.axial == 0.0 and ratios == [1.0] and not offsets


def _motors_left_out(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[Note]:
    """Return lines for motors whose wheel stays and whose name the file gives to another."""
    gone = dict(merged.replaced).keys() | {motor.wheel for motor in merged.motors}
    return [
        urdf_doubt(
            motor.urdf_origin,
            f"its motor is left out, because motors.{motor.name} of {merged.source} turns"
            f" another wheel; wheel {motor.wheel!r} has no motor now",
        )
        for motor in urdf.motors
        if motor.wheel not in gone
    ]


def _side_by_side(merged: DrivetrainRecord, urdf: DrivetrainRecord) -> list[Note]:
    """Return lines for wheels with inertia that may be a wheel of the file by another name."""
    others = _unmotored(merged)
    theirs = {
        wheel.name: wheel for wheel in merged.wheels if wheel.urdf_origin and wheel.axial > 0.0
    }
    lines = []
    for spin in urdf.spins:
        beside = [
            name
            for name, joints in others.items()
            if joints & {joint for joint, _ in spin.coefficients}
        ]
        if spin.wheel in theirs and beside:
            finding = (
                f"its inertia is added to that of {', '.join(beside)} of {merged.source}; if both"
                f" are the same wheel, name it {spin.wheel!r} there, otherwise describe"
                f" {spin.wheel!r} there as well"
            )
            lines.append(urdf_doubt(theirs[spin.wheel].urdf_origin, finding))
    return lines


def _unmotored(merged: DrivetrainRecord) -> dict[str, set[str]]:
    """Return the file's wheels and sets with inertia, no motor on them -> their joints."""
    motored = {motor.wheel for motor in merged.motors}
    heavy = {wheel.name for wheel in merged.wheels if not wheel.urdf_origin and wheel.axial > 0.0}
    result = {
        spin.wheel: {joint for joint, _ in spin.coefficients}
        for spin in merged.spins
        if spin.wheel in heavy - motored
    }
    for drive in merged.harmonic:
        if drive.wave_generator.name not in motored:
            result[drive.wave_generator.name] = {drive.joint}
    for item in merged.planetary:
        if item.joint and not any(name.startswith(f"{item.name}.") for name in motored):
            result[item.name] = {item.joint}
    return result
