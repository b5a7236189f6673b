"""Wheels as bodies of Pinocchio's tree, each on the link or the wheel that carries it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import DrivetrainRecord, WheelRecord
from geared_dynamics.errors import MissingPackageError
from geared_dynamics.model.gears import ResolvedDrivetrain


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
