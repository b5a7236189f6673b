"""Helpers of the description tests: refusals, and kinematics in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from geared_dynamics.description.robot_records import JointRecord, RobotRecord
from geared_dynamics.errors import GearedDynamicsError

Array = NDArray[np.float64]

_LINK = """
<link name="link_{i}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
<joint name="joint_{i}" type="{kind}"><parent link="{parent}"/><child link="link_{i}"/>
  <axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="-1" upper="1"/>{more}</joint>
"""


def chain_urdf(extra: str = "", *, kinds: Any = ("revolute",) * 3, more: Any = {}) -> str:  # noqa: B006
    """A chain base, link_1, ... with joint_1, ...; ``more`` goes inside a joint by number."""
    parts = [
        _LINK.format(
            i=i, kind=kind, parent=f"link_{i - 1}" if i > 1 else "base", more=more.get(i, "")
        )
        for i, kind in enumerate(kinds, 1)
    ]
    drake = 'xmlns:drake="http://drake.mit.edu"'
    return f'<robot name="arm" {drake}><link name="base"/>{"".join(parts)}{extra}</robot>'


@pytest.fixture(scope="session")
def arm() -> Callable[..., str]:
    return chain_urdf


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
