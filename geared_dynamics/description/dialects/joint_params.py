"""``<param>`` of a ``<joint>`` of ``<ros2_control>``: reduction and inertia of its drive.

ros2_control hands parameters to the hardware's driver. Those of Dynamixel, DJI and
other servos take ``mechanical_reduction`` from there, without any transmission.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from geared_dynamics.description.dialects.drive import Context, Drive
from geared_dynamics.description.dialects.elements import (
    children,
    inertia,
    movable,
    name_of,
    parameter,
    ratio,
)
from geared_dynamics.description.dialects.ros2_control import place_of

_DIALECT = "ros2_control <param>"
_REDUCTION, _INERTIA = "mechanical_reduction", "rotor_inertia"


def with_joint_params(root: Any, drives: Sequence[Drive], context: Context) -> list[Drive]:
    """Return the drives with what joints' parameters say.

    A joint without a drive gets one. A drive of the joint's own takes the inertia if it
    has none; its reduction stays that of the transmission.

    Args:
        root: The URDF's root element.
        drives: Drives from transmissions.
        context: The robot; takes the notes.

    Raises:
        DescriptionError: If a parameter is no number, a reduction zero, an inertia negative.
    """
    result = list(drives)
    for block in children(root, "ros2_control"):
        for node in children(block, "joint"):
            joint = name_of(node, place_of(block), context)
            place = f"{place_of(block)}/joint {joint!r}"
            gear = parameter(node, _REDUCTION, place, context)
            rotor = inertia(parameter(node, _INERTIA, place, context), place, context)
            if (gear is None and rotor is None) or not movable(joint, place, context):
                continue
            row = ((joint, ratio(gear, place, context)),)
            given = Drive(f"{joint}_rotor", row, place, context.source, _DIALECT, rotor)
            result = _placed(given, gear, result, context)
    return result


def _placed(
    given: Drive, gear: float | None, drives: list[Drive], context: Context
) -> list[Drive]:
    """Return the drives with one more, or with one that has taken its inertia."""
    (joint,) = given.joints
    there = [drive for drive in drives if joint in drive.joints]
    if not there:
        if gear not in (None, 1.0):
            context.note(
                given.place,
                f"{_REDUCTION} {gear:g} is read here; ros2_control leaves it to the hardware's"
                " driver, and Gazebo ignores it",
            )
        return [*drives, given]
    old = there[0]
    alone = len(there) == 1 and len(old.joints) == 1
    if gear is not None and not (alone and old.coefficients == given.coefficients):
        context.note(given.place, f"{_REDUCTION} {gear:g} is not used; {old.place} is")
    if given.inertia is None or (alone and old.inertia == given.inertia):
        return drives
    if not alone or old.inertia is not None:
        context.note(given.place, f"{_INERTIA} {given.inertia:g} is not used; {old.place} is")
        return drives
    new = replace(old, inertia=given.inertia, dialect=f"{old.dialect}, <param>")
    return [new if drive is old else drive for drive in drives]
