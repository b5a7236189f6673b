"""Inertia given per joint: Pinocchio's ``<rotor_params>`` and ``<dynamics armature>``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from geared_dynamics.description.dialects.drive import SINGLE, Context, Drive
from geared_dynamics.description.dialects.elements import children, inertia, name_of, number

_MUJOCO, _PINOCCHIO = "armature", "Pinocchio"


def with_rotor_params(root: Any, drives: Sequence[Drive], context: Context) -> list[Drive]:
    """Return the drives with what the ``<rotor_params>`` of an SRDF say of their joints.

    Pinocchio calls the rotor's inertia [kg m^2] ``mass``. A joint without a drive
    gets one; one with a drive of its own alone keeps that drive's name and takes
    inertia and ratio from here.

    Args:
        root: The SRDF's root element.
        drives: Drives from the URDF.
        context: The robot, with the SRDF as source; takes the notes.
    """
    result = list(drives)
    for block in children(root, "rotor_params"):
        for node in children(block, "joint"):
            joint = name_of(node, "rotor_params", context)
            place = f"rotor_params/joint {joint!r}"
            if context.kinds.get(joint) not in SINGLE:
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


def with_armature(root: Any, drives: Sequence[Drive], context: Context) -> list[Drive]:
    """Return the drives with the armature that joints' ``<dynamics>`` carry.

    ``armature`` is MuJoCo's name for J n^2 [kg m^2, or kg for a prismatic joint], which
    some converters write into the URDF. A drive of the joint's own that has no inertia
    takes J = armature / n^2; a joint without a drive gets a wheel of ratio 1.

    Args:
        root: The URDF's root element.
        drives: Drives from transmissions.
        context: The robot; takes the notes.
    """
    result = list(drives)
    for node in children(root, "joint"):
        joint = (node.get("name") or "").strip()
        for dynamics in children(node, "dynamics"):
            if dynamics.get("armature") is None:
                continue
            place = f"joint {joint!r}/dynamics/armature"
            value = inertia(number(dynamics.get("armature"), place, context), place, context)
            if not value or context.kinds.get(joint) not in SINGLE:
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
    context.note(given.place, f"taken for this joint alone, although {names} couple it to others")
    ((joint, _),) = given.coefficients
    return [*drives, replace(given, name=f"{joint}_armature", motor=False)]
