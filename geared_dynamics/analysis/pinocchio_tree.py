"""The arm as Pinocchio's tree, in which every wheel is a body with a joint of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description import write_urdf
from geared_dynamics.description.drive_records import DrivetrainRecord, WheelRecord
from geared_dynamics.description.robot_records import RobotRecord
from geared_dynamics.errors import MissingPackageError, ModelError
from geared_dynamics.model.gears import ResolvedDrivetrain
from geared_dynamics.model.model import GearedModel

# -- Wheels as bodies of Pinocchio's tree, each on the link or the wheel that carries it ----------


def pinocchio() -> Any:
    """Import Pinocchio (an untyped C++ module) or say how to install it."""
    try:
        import pinocchio as pin
    except ImportError:
        raise MissingPackageError("validation", "pin", "analysis") from None
    return pin


def riders_of(drive: DrivetrainRecord) -> dict[str, str]:
    """Wheels that other wheels carry, with these."""
    return dict(drive.riders) if isinstance(drive, ResolvedDrivetrain) else {}


def apart(drive: DrivetrainRecord) -> list[WheelRecord]:
    """The wheels, each with its own mass and inertia, placed on links.

    In a solved drivetrain the mass of orbiting wheels is lumped into those that carry them.
    """
    given = drive.apart if isinstance(drive, ResolvedDrivetrain) else ()
    own = {wheel.name: wheel for wheel in given}
    return [replace(own.get(wheel.name, wheel), carrier=wheel.carrier) for wheel in drive.wheels]


def wheel_placement(wheel: WheelRecord) -> Any:
    """Place of a wheel in its link's frame, z along its axis.

    Its tensor is diagonal there, so that rounding does not mix the axial with the transverse
    moment (multiplied by the square of a large ratio).
    """
    return pinocchio().SE3(_z_to(np.array(wheel.axis)), np.array(wheel.position))


def add_wheel(tree: Any, wheel: WheelRecord, holder: int, placement: Any) -> int:
    """Give a wheel its joint and body on its holder's joint; return the joint's index."""
    pin = pinocchio()
    joint = tree.addJoint(holder, pin.JointModelRZ(), placement, f"wheel {wheel.name}")
    tree.appendBodyToJoint(joint, _body(wheel), pin.SE3.Identity())
    return int(joint)


def take_out(tree: Any, wheel: WheelRecord, link: int, placement: Any) -> None:
    """Take a wheel, locked, out of a link's body if its inertial already contains it."""
    if wheel.included_in_link and link > 0:
        tree.inertias[link] = _difference(tree.inertias[link], placement.act(_body(wheel)))


def _body(wheel: WheelRecord) -> Any:
    """Pinocchio's inertia of a wheel in its own frame."""
    tensor = np.diag([wheel.transverse, wheel.transverse, wheel.axial])
    return pinocchio().Inertia(wheel.mass, np.zeros(3), tensor)


def _z_to(axis: Array) -> Array:
    """A rotation matrix (3, 3) whose third column is the unit vector ``axis``."""
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side = side / np.linalg.norm(side)
    return np.column_stack([side, np.cross(axis, side), axis])


def _difference(whole: Any, part: Any) -> Any:
    """Inertia of a body without one of its parts, by its ten parameters."""
    pin = pinocchio()
    rest = whole.toDynamicParameters() - part.toDynamicParameters()
    if rest[0] == 0.0:  # no centre of mass to divide out
        body = pin.Inertia.Zero()
        body.inertia = np.array([rest[[4, 5, 7]], rest[[5, 6, 8]], rest[[7, 8, 9]]])
        return body
    return pin.Inertia.FromDynamicParameters(rest)


# -- The spanning tree ----------------------------------------------------------------------------
#
# Nothing of our dynamics is used. Pinocchio's own parser reads the URDF (mimic joints as
# ordinary joints); then every wheel gets a revolute joint on the link, or the wheel, that carries
# it: planets on a turning carrier orbit as bodies of their own. The tree's rates follow the
# robot's coordinates by a constant matrix, v_tree = G v, so that
#
#     M = G' M_tree G,   tau = G' rnea_tree(q_tree, G v, G a),
#
# with the rows of G for the wheels taken from the drivetrain's records.


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """Pinocchio's tree with the wheels, and how it follows the robot's coordinates.

    Attributes:
        tree: ``pinocchio.Model`` (untyped C++ object).
        data: ``pinocchio.Data``, Pinocchio's workspace.
        G: Tree rates per coordinate rate (nv_tree, n).
        offset: Tree positions at q = 0, in tangent space (nv_tree,).
        moving: Whether a coordinate moves the body of each joint's parent frame, or the
            body itself if it is a link (njoints,): a spinning wheel alone does not count.
        wheel_joint: Pinocchio's joint index of each wheel, by name; it turns about z.
    """

    tree: Any
    data: Any
    G: Array
    offset: Array
    moving: tuple[bool, ...]
    wheel_joint: dict[str, int]

    def configuration(self, q: Array) -> Array:
        """Tree configuration (nq_tree,) at the coordinates q (n,)."""
        pin = pinocchio()
        tangent = self.G @ q + self.offset
        return np.asarray(pin.integrate(self.tree, pin.neutral(self.tree), tangent))

    def link_frame(self, link: str) -> int:
        """Pinocchio's frame index of a link."""
        return _link_frame(self.tree, link)

    def locked_frame(self, wheel: str) -> int:
        """Pinocchio's frame index of where a wheel is on its link while no wheel turns."""
        return int(self.tree.getFrameId(f"locked {wheel}", pinocchio().FrameType.OP_FRAME))


def spanning_tree(
    model: GearedModel, *, urdf: str | None = None, drivetrain: DrivetrainRecord | None = None
) -> SpanningTree:
    """Build the reference of a model.

    Args:
        model: Geared model; only its records and gravity are used.
        urdf: The robot's own URDF text. Without it, or when the model has joints of this
            text frozen, the text is written from the model's record.
        drivetrain: Other wheels and ratios than the model's own (a negative control).

    Raises:
        MissingPackageError: Pinocchio is not installed.
        ModelError: Pinocchio cannot read the URDF.
    """
    drive = model.records.drivetrain if drivetrain is None else drivetrain
    tree, wheel_joint = _with_wheels(_read_links(model, urdf), drive)
    tree.gravity.linear = np.array(model.gravity)
    wheel_name = {joint: name for name, joint in wheel_joint.items()}
    rows: list[Array] = [np.empty((0, model.n))]
    offsets, moving = [], [False]
    for joint in range(1, tree.njoints):
        carried = moving[tree.parents[joint]]
        if joint in wheel_name:
            row, offset = _relative_row(wheel_name[joint], drive, model), 0.0
        else:
            row, offset = _coordinate_row(tree.names[joint], model)
            carried = carried or bool(row.any())
        rows.append(row[None, :])
        offsets.append(offset)
        moving.append(carried)
    return SpanningTree(
        tree=tree,
        data=tree.createData(),
        G=np.concatenate(rows),
        offset=np.array(offsets),
        moving=tuple(moving),
        wheel_joint=wheel_joint,
    )


def _read_links(model: GearedModel, urdf: str | None) -> Any:
    """Read the links with Pinocchio's parser: from the user's text unless joints are frozen."""
    source = model.source
    if urdf is not None:
        links = _parse(urdf, source)
        movable = {joint.name for joint in model.records.robot.joints if joint.kind != "fixed"}
        if set(links.names[1:]) <= movable:
            return links
    return _parse(write_urdf(model.records.robot), source)


def _parse(urdf: str, source: str) -> Any:
    """Let Pinocchio read the URDF text, its root fixed, mimic joints ordinary."""
    try:
        return pinocchio().buildModelFromXML(urdf)
    except (ValueError, RuntimeError) as error:
        finding = f"Pinocchio cannot read this URDF ({error})"
        remedy = "the model can be used, but not be compared with Pinocchio"
        raise ModelError(source, finding, remedy) from None


def _with_wheels(links: Any, drive: DrivetrainRecord) -> tuple[Any, dict[str, int]]:
    """Copy the tree joint by joint, each followed by the wheels that its body carries.

    Pinocchio's algorithms need joints numbered depth first, so that wheels cannot be
    appended at the end. Of each wheel there is a frame "locked ...", fixed to its link's body:
    where it is as long as no wheel turns.

    Returns:
        The new tree and each wheel's joint index by name.
    """
    pin = pinocchio()
    tree = pin.Model()
    joint_of = {0: 0}
    wheel_joint: dict[str, int] = {}
    riders = riders_of(drive)
    wheels = apart(drive)
    placement_of = {}
    for wheel in wheels:
        link = links.frames[_link_frame(links, wheel.carrier)]
        placement_of[wheel.name] = link.parentJoint, link.placement * wheel_placement(wheel)

    def add_wheels(old: int, holder: str, joint: int, placed: Any) -> None:
        """Add the wheels that a body, a wheel ``holder`` or a link, carries."""
        for wheel in wheels:
            parent, placement = placement_of[wheel.name]
            if parent == old and riders.get(wheel.name, "") == holder:
                take_out(tree, wheel, joint_of[old], placement)
                own = add_wheel(tree, wheel, joint, placed.actInv(placement))
                wheel_joint[wheel.name] = own
                add_wheels(old, wheel.name, own, placement)

    def add_children(old: int) -> None:
        add_wheels(old, "", joint_of[old], pin.SE3.Identity())
        for child in range(1, links.njoints):
            if links.parents[child] == old:
                placement, name = links.jointPlacements[child], links.names[child]
                new = tree.addJoint(joint_of[old], links.joints[child], placement, name)
                joint_of[child] = new
                tree.appendBodyToJoint(new, links.inertias[child], pin.SE3.Identity())
                add_children(child)

    add_children(0)
    for frame in links.frames:
        if frame.type == pin.FrameType.BODY:
            joint = joint_of[frame.parentJoint]
            tree.addFrame(pin.Frame(frame.name, joint, 0, frame.placement, frame.type))
    for name, (parent, placement) in placement_of.items():
        joint, kind = joint_of[parent], pin.FrameType.OP_FRAME
        tree.addFrame(pin.Frame(f"locked {name}", joint, 0, placement, kind))
    return tree, wheel_joint


def _link_frame(tree: Any, link: str) -> int:
    """Pinocchio's frame index of a link."""
    return int(tree.getFrameId(link, pinocchio().FrameType.BODY))


def _follows(name: str, robot: RobotRecord) -> tuple[str, float, float]:
    """Resolve mimic joints: (leader, multiplier, offset) with q_name = multiplier q + offset."""
    records = {joint.name: joint for joint in robot.joints}
    multiplier, offset = 1.0, 0.0
    mimic = records[name].mimic
    while mimic is not None:
        offset += multiplier * mimic.offset
        multiplier *= mimic.multiplier
        name = mimic.leader
        mimic = records[name].mimic
    return name, multiplier, offset


def _coordinate_row(name: str, model: GearedModel) -> tuple[Array, float]:
    """Row (n,) of a joint's rate per coordinate rate, and its position at q = 0."""
    row = np.zeros(model.n)
    leader, multiplier, offset = _follows(name, model.records.robot)
    if leader in model.joint_names:
        row[model.joint_names.index(leader)] = multiplier
    return row, offset


def _wheel_row(wheel: str, drive: DrivetrainRecord, model: GearedModel) -> Array:
    """Row (n,) of Gamma: the wheel's spin relative to its link per coordinate rate."""
    row = np.zeros(model.n)
    for spin in drive.spins:
        if spin.wheel == wheel:
            for joint, coefficient in spin.coefficients:
                row += coefficient * _coordinate_row(joint, model)[0]
    return row


def _relative_row(wheel: str, drive: DrivetrainRecord, model: GearedModel) -> Array:
    """Row (n,): spin relative to what carries the wheel; on a wheel, less that one's spin."""
    row, holder = _wheel_row(wheel, drive, model), riders_of(drive).get(wheel)
    if holder is None:
        return row
    axis = {record.name: np.array(record.axis) for record in drive.wheels}
    turn = float(np.sign(axis[wheel] @ axis[holder]))
    return row - turn * _wheel_row(holder, drive, model)
