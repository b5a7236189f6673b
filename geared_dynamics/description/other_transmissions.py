"""Transmissions of ROS 1, PR2, FROST and Drake; inertia and reduction given per joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from geared_dynamics.description.robot_records import MOVABLE_KINDS
from geared_dynamics.description.ros2_control import place_of
from geared_dynamics.description.transmission_elements import (
    COUNT,
    Context,
    Drive,
    End,
    children,
    coefficients,
    inertia,
    kind_of,
    movable,
    name_of,
    number,
    number_in,
    offsets,
    only,
    parameter,
    ratio,
)
from geared_dynamics.description.transmission_roles import (
    INERTIA,
    OFFSET,
    REDUCTION,
    DialectRules,
    by_role,
    check_strays,
)
from geared_dynamics.description.xml_input import XmlFile
from geared_dynamics.errors import DescriptionError

# -- ``<transmission>`` right below ``<robot>``: the form of ROS 1, PR2, FROST and Drake ----------
#
# The reduction stands inside ``<actuator>`` as ``<mechanicalReduction>``, FROST's
# ``<motorInertia>`` beside it; Drake writes ``<drake:gear_ratio value="...">`` and
# ``<drake:rotor_inertia value="...">`` there. PR2's form has the type as an attribute
# and the reduction below the transmission.


_REDUCTION, _INERTIA = "mechanicalReduction", "motorInertia"
_DRAKE_RATIO, _DRAKE_INERTIA = "drake:gear_ratio", "drake:rotor_inertia"
_PACKAGES = ("pr2_mechanism_model/",)
_OR_MOVE = "or move the transmission into <ros2_control>"
_RULES = DialectRules(
    read=(
        (_REDUCTION,),
        ("joint", _REDUCTION),
        ("joint", "offset"),
        ("actuator", _REDUCTION),
        ("actuator", _INERTIA),
        ("actuator", _DRAKE_RATIO),
        ("actuator", _DRAKE_INERTIA),
    ),
    finding="{what} has no effect outside of <ros2_control>",
    remedies={
        REDUCTION: f"write <{_REDUCTION}> inside <actuator>, {_OR_MOVE}",
        INERTIA: f"write <{_INERTIA}> inside <actuator>, {_OR_MOVE}",
        OFFSET: f"write <offset> inside <joint>, {_OR_MOVE}",
    },
)


def read_transmission(node: Any, context: Context) -> list[Drive]:
    """Return the drives of a top-level ``<transmission>``.

    Args:
        node: The element.
        context: The robot; takes the notes.

    Raises:
        DescriptionError: If a number is none, a reduction zero, a role missing, or
            a number stands where it has no effect.
        UnknownNameError: If a role is not there.
    """
    name = (node.get("name") or "").strip()
    place = f"transmission {name!r}" if name else f"transmission, line {node.sourceline}"
    kind = _kind(node, place, context)
    if kind is None:
        return []
    check_strays(node, _RULES, place, context)
    joints = [_joint(child, place, context) for child in children(node, "joint")]
    actuators = [_actuator(child, place, context) for child in children(node, "actuator")]
    for word, ends in (("joint", joints), ("actuator", actuators)):
        if len(ends) != COUNT[kind]:
            context.note(place, f"left out, because a {kind} has {COUNT[kind]} <{word}>")
            return []
    # Excerpts of larger robots keep such transmissions, which ROS 2 does not look at.
    gone = [joint.name for joint in joints if joint.name not in context.kinds]
    if gone:
        context.note(f"{place}/joint {gone[0]!r}", "left out, because there is no such joint")
        return []
    if not all([movable(joint.name, place, context) for joint in joints]):
        return []
    actuators = _with_outer_reduction(node, kind, actuators, place, context)
    if kind == "SimpleTransmission":
        joints = [_without_reduction(joints[0], actuators[0], place, context)]
    ordered = by_role(actuators, "actuator", place, context)
    rows = coefficients(kind, by_role(joints, "joint", place, context), ordered)
    return [
        Drive(end.name, row, place, context.source, "ROS 1", end.inertia, True, zeros)
        for end, row, zeros in zip(ordered, rows, offsets(rows, joints), strict=True)
    ]


def _kind(node: Any, place: str, context: Context) -> str | None:
    found = children(node, "type")
    text = (found[0].text if found else node.get("type")) or ""
    kind = kind_of(text)
    for package in _PACKAGES:
        kind = kind.removeprefix(package)
    if kind not in COUNT:
        what = f"{text.strip()!r} is not known here" if text.strip() else "it has no <type>"
        context.note(place, f"left out, because {what} (known: {', '.join(COUNT)})")
        return None
    return kind


def _role(node: Any) -> str:
    found = children(node, "role")
    return ((found[0].text if found else node.get("role")) or "").strip()


def _joint(node: Any, place: str, context: Context) -> End:
    name = name_of(node, place, context)
    where = f"{place}/joint {name!r}"
    return End(
        name=name,
        reduction=ratio(number_in(node, _REDUCTION, where, context), where, context),
        offset=number_in(node, "offset", where, context) or 0.0,
        role=_role(node),
    )


def _without_reduction(joint: End, actuator: End, place: str, context: Context) -> End:
    """Return the joint of a SimpleTransmission, whose own reduction ROS 1 does not look at.

    Raises:
        DescriptionError: If the actuator has none instead: the joint's was meant.
    """
    if joint.reduction == 1.0:
        return joint
    where = f"{place}/joint {joint.name!r}"
    finding = f"<{_REDUCTION}> {joint.reduction:g} is not used, as in ROS 1"
    remedy = f"move it into <actuator>, where this form of transmission has it, {_OR_MOVE}"
    if actuator.reduction == 1.0:
        raise DescriptionError(f"{context.source}, {where}", finding, remedy)
    context.note(where, f"{finding}; {remedy}")
    return replace(joint, reduction=1.0)


def _actuator(node: Any, place: str, context: Context) -> End:
    name = name_of(node, place, context)
    where = f"{place}/actuator {name!r}"
    plain = number_in(node, _REDUCTION, where, context)
    drake = _drake(node, _DRAKE_RATIO, where, context)
    if plain is not None and drake is not None and plain != drake:
        context.note(where, f"<{_DRAKE_RATIO}> {drake:g} is taken, not <{_REDUCTION}> {plain:g}")
    own = number_in(node, _INERTIA, where, context)
    drake_inertia = _drake(node, _DRAKE_INERTIA, where, context)
    if own is not None and drake_inertia is not None and own != drake_inertia:
        context.note(
            where, f"<{_DRAKE_INERTIA}> {drake_inertia:g} is taken, not <{_INERTIA}> {own:g}"
        )
    return End(
        name=name,
        reduction=ratio(plain if drake is None else drake, where, context),
        role=_role(node),
        inertia=inertia(own if drake_inertia is None else drake_inertia, where, context),
    )


def _drake(node: Any, name: str, place: str, context: Context) -> float | None:
    found = only(children(node, name), name, place, context)
    return None if found is None else number(found.get("value"), f"{place}/{name}", context)


def _with_outer_reduction(
    node: Any, kind: str, actuators: list[End], place: str, context: Context
) -> list[End]:
    """Return the actuators of PR2's form, whose reduction stands below the transmission."""
    outer = number_in(node, _REDUCTION, place, context)
    if outer is None:
        return actuators
    if COUNT[kind] > 1 or actuators[0].reduction not in (1.0, outer):
        context.note(place, f"<{_REDUCTION}> {outer:g} below <transmission> is not used")
        return actuators
    end = actuators[0]
    return [End(end.name, ratio(outer, place, context), end.offset, end.role, end.inertia)]


# -- Inertia given per joint: Pinocchio's ``<rotor_params>`` and ``<dynamics armature>`` ----------


_MUJOCO, _PINOCCHIO = "armature", "Pinocchio"


def with_rotor_params(srdf: XmlFile, drives: Sequence[Drive], context: Context) -> list[Drive]:
    """Return the drives with what the ``<rotor_params>`` of an SRDF say of their joints.

    Pinocchio calls the rotor's inertia [kg m^2] ``mass``. A joint without a drive
    gets one; one with a drive of its own alone keeps that drive's name and takes
    inertia and ratio from here.

    Args:
        srdf: The SRDF.
        drives: Drives from the URDF.
        context: The robot, with the SRDF as source; takes the notes.
    """
    result = list(drives)
    for block in srdf.children("rotor_params"):
        for node in children(block, "joint"):
            joint = name_of(node, "rotor_params", context)
            place = f"rotor_params/joint {joint!r}"
            if context.kinds.get(joint) not in MOVABLE_KINDS:
                kind = context.kinds.get(joint, "not in the URDF")
                context.remark(place, f"left out, because the joint is {kind}")
                continue
            rotor = inertia(number(node.get("mass"), f"{place}/mass", context), place, context)
            gear = number(node.get("gear_ratio"), f"{place}/gear_ratio", context)
            if gear == 0.0:
                context.remark(place, "left out, because its gear_ratio is 0")
                continue
            given = Drive(
                f"{joint}_rotor", ((joint, gear),), place, context.source, _PINOCCHIO, rotor
            )
            result = _placed(given, result, context)
    return result


def _placed(given: Drive, drives: list[Drive], context: Context) -> list[Drive]:
    """Return the drives with one more, or with one that has taken its numbers."""
    (joint, gear), *_ = given.coefficients
    there = [drive for drive in drives if joint in drive.joints]
    if not there:
        return [*drives, given]
    old = there[0]
    if len(there) > 1 or len(old.joints) > 1:
        return _beside(given, there, drives, context)
    ((_, before),) = old.coefficients
    if before not in (1.0, gear):
        context.note(
            given.place, f"its gear_ratio {gear:g} is taken, not {before:g} of {old.place}"
        )
    if old.inertia is not None and old.inertia != given.inertia:
        context.note(
            given.place, f"its mass {given.inertia:g} is taken, not {old.inertia:g} of {old.place}"
        )
    new = replace(given, name=old.name, offsets=old.offsets)
    return [new if drive is old else drive for drive in drives]


def with_armature(file: XmlFile, drives: Sequence[Drive], context: Context) -> list[Drive]:
    """Return the drives with the armature that joints' ``<dynamics>`` carry.

    ``armature`` is MuJoCo's name for J n^2 [kg m^2, or kg for a prismatic joint], which
    some converters write into the URDF. A drive of the joint's own that has no inertia
    takes J = armature / n^2; a joint without a drive gets a wheel of ratio 1.

    Args:
        file: The URDF.
        drives: Drives from transmissions.
        context: The robot; takes the notes.
    """
    result = list(drives)
    for node in file.children("joint"):
        joint = (node.get("name") or "").strip()
        for dynamics in children(node, "dynamics"):
            if dynamics.get("armature") is None:
                continue
            place = f"joint {joint!r}/dynamics/armature"
            value = inertia(number(dynamics.get("armature"), place, context), place, context)
            if not value or context.kinds.get(joint) not in MOVABLE_KINDS:
                continue
            result = _reflected(joint, value, place, result, context)
    return result


def _reflected(
    joint: str, value: float, place: str, drives: list[Drive], context: Context
) -> list[Drive]:
    alone = Drive(
        f"{joint}_armature", ((joint, 1.0),), place, context.source, _MUJOCO, value, motor=False
    )
    there = [drive for drive in drives if joint in drive.joints]
    if not there:
        return [*drives, alone]
    old = there[0]
    if len(there) > 1 or len(old.joints) > 1 or old.inertia is not None:
        return _beside(alone, there, drives, context)
    ((_, gear),) = old.coefficients
    new = replace(old, inertia=value / gear**2, dialect=f"{old.dialect}, armature")
    return [new if drive is old else drive for drive in drives]


def _beside(
    given: Drive, there: Sequence[Drive], drives: list[Drive], context: Context
) -> list[Drive]:
    """Return the drives with an inertia of one joint beside drives that couple it to others.

    It is believed, as its own reader does, unless the drives have inertias of their own.
    """
    names = ", ".join(repr(drive.name) for drive in there)
    if any(drive.inertia is not None for drive in there):
        context.note(given.place, f"left out, because the inertia of {names} is given")
        return drives
    context.note(given.place, f"applied to this joint alone, although {names} couple it to others")
    ((joint, _),) = given.coefficients
    return [*drives, replace(given, name=f"{joint}_armature", motor=False)]


# -- ``<param>`` of a ``<joint>`` of ``<ros2_control>``: reduction and inertia of its drive -------
#
# ros2_control hands parameters to the hardware's driver. Those of Dynamixel, DJI and
# other servos take ``mechanical_reduction`` from there, without any transmission.


_DIALECT = "ros2_control <param>"
_PARAM_REDUCTION, _PARAM_INERTIA = "mechanical_reduction", "rotor_inertia"


def with_joint_params(file: XmlFile, drives: Sequence[Drive], context: Context) -> list[Drive]:
    """Return the drives with what joints' parameters say.

    A joint without a drive gets one. A drive of the joint's own takes the inertia if it
    has none; its reduction stays that of the transmission.

    Args:
        file: The URDF.
        drives: Drives from transmissions.
        context: The robot; takes the notes.

    Raises:
        DescriptionError: If a parameter is no number, a reduction zero, an inertia negative.
    """
    result = list(drives)
    for block in file.children("ros2_control"):
        for node in children(block, "joint"):
            joint = name_of(node, place_of(block), context)
            place = f"{place_of(block)}/joint {joint!r}"
            gear = parameter(node, _PARAM_REDUCTION, place, context)
            rotor = inertia(parameter(node, _PARAM_INERTIA, place, context), place, context)
            if (gear is None and rotor is None) or not movable(joint, place, context):
                continue
            row = ((joint, ratio(gear, place, context)),)
            given = Drive(f"{joint}_rotor", row, place, context.source, _DIALECT, rotor)
            result = _param_placed(given, gear, result, context)
    return result


def _param_placed(
    given: Drive, gear: float | None, drives: list[Drive], context: Context
) -> list[Drive]:
    """Return the drives with one more, or with one that has taken its inertia."""
    (joint,) = given.joints
    there = [drive for drive in drives if joint in drive.joints]
    if not there:
        if gear not in (None, 1.0):
            context.note(
                given.place,
                f"{_PARAM_REDUCTION} {gear:g} is read here; ros2_control leaves it to the"
                " hardware's"
                " driver, and Gazebo ignores it",
            )
        return [*drives, given]
    old = there[0]
    alone = len(there) == 1 and len(old.joints) == 1
    if gear is not None and not (alone and old.coefficients == given.coefficients):
        context.note(given.place, f"{_PARAM_REDUCTION} {gear:g} is not used; {old.place} is")
    if given.inertia is None or (alone and old.inertia == given.inertia):
        return drives
    if not alone or old.inertia is not None:
        context.note(
            given.place, f"{_PARAM_INERTIA} {given.inertia:g} is not used; {old.place} is"
        )
        return drives
    new = replace(old, inertia=given.inertia, dialect=f"{old.dialect}, <param>")
    return [new if drive is old else drive for drive in drives]
