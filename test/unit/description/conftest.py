"""Helpers of the description tests: refusals, and kinematics in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from geared_dynamics.description.records import JointRecord, RobotRecord
from geared_dynamics.errors import GearedDynamicsError

Array = NDArray[np.float64]


@pytest.fixture(scope="session")
def refused() -> Callable[..., GearedDynamicsError]:
    """A call must raise exactly this class, with all of these fragments in its text."""

    def check(
        call: Callable[[], Any], error: type[GearedDynamicsError], *fragments: str
    ) -> GearedDynamicsError:
        with pytest.raises(GearedDynamicsError) as caught:
            call()
        assert type(caught.value) is error
        assert caught.value.place
        assert caught.value.finding
        assert caught.value.remedy
        for fragment in fragments:
            assert fragment in str(caught.value)
        return caught.value

    return check


def turn(axis: Any, angle: float) -> Array:
    """Rotation about a unit axis, by the unit quaternion."""
    w = np.cos(angle / 2)
    x, y, z = np.sin(angle / 2) * np.asarray(axis, dtype=float)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def placed(rotation: Any = None, position: Any = (0, 0, 0)) -> Array:
    """A 4 x 4 transform."""
    result = np.eye(4)
    if rotation is not None:
        result[:3, :3] = rotation
    result[:3, 3] = position
    return result


def joint_position(robot: RobotRecord, joint: JointRecord, q: Mapping[str, float]) -> float:
    if joint.mimic is None:
        return q.get(joint.name, 0.0)
    leader = next(item for item in robot.joints if item.name == joint.mimic.leader)
    return joint.mimic.multiplier * joint_position(robot, leader, q) + joint.mimic.offset


def link_poses(robot: RobotRecord, q: Mapping[str, float]) -> dict[str, Array]:
    """Pose of every link in the root's frame."""
    children = {joint.child for joint in robot.joints}
    poses = {link.name: np.eye(4) for link in robot.links if link.name not in children}
    waiting = list(robot.joints)
    while waiting:
        joint = next(item for item in waiting if item.parent in poses)
        waiting.remove(joint)
        value = joint_position(robot, joint, q)
        motion = np.eye(4)
        if joint.kind in ("revolute", "continuous"):
            motion = placed(turn(joint.axis, value))
        elif joint.kind == "prismatic":
            motion = placed(None, value * np.asarray(joint.axis))
        pose = poses[joint.parent] @ placed(joint.rotation, joint.position) @ motion
        poses[joint.child] = pose
    return poses


@pytest.fixture(scope="session")
def kinematics() -> Callable[[RobotRecord, Mapping[str, float]], dict[str, Array]]:
    return link_poses


@pytest.fixture(scope="session")
def rotation() -> Callable[[Any, float], Array]:
    return turn


@pytest.fixture(scope="session")
def transform() -> Callable[..., Array]:
    return placed
