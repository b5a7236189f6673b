"""Frozen joints: same poses as the moving robot at that position."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.geometry import rotation_from_rpy, unit
from geared_dynamics.description.robot_records import (
    JointRecord,
    LimitRecord,
    LinkRecord,
    MimicRecord,
    RobotRecord,
)
from geared_dynamics.description.robot_tree import freeze
from geared_dynamics.errors import DescriptionError, UnknownNameError

KINDS = {
    "lift": "prismatic",
    "turn": "revolute",
    "wheel": "continuous",
    "mount": "fixed",
    "finger": "revolute",
    "tip": "prismatic",
    "free": "floating",
    "table": "planar",
}
MIMICS = {"finger": MimicRecord("turn", 0.5, 0.1), "tip": MimicRecord("finger", -2.0, 0.3)}


def chain() -> RobotRecord:
    """A chain of every kind of joint, placed and turned at random; tip follows a follower."""
    random = np.random.default_rng(4)
    names = list(KINDS)
    joints = tuple(
        JointRecord(
            name=name,
            kind=KINDS[name],  # type: ignore[arg-type]
            parent=f"l{index}",
            child=f"l{index + 1}",
            rotation=rotation_from_rpy(*random.uniform(-3, 3, 3)),
            position=tuple(random.uniform(-1, 1, 3)),
            axis=unit(tuple(random.uniform(-1, 1, 3))),
            mimic=MIMICS.get(name),
            limit=LimitRecord(-1.0, 1.0),
            friction=FrictionRecord(0.1, 0.2),
        )
        for index, name in enumerate(names)
    )
    links = tuple(LinkRecord(f"l{index}") for index in range(len(names) + 1))
    return RobotRecord("chain", "<test>", links, joints)


def kinds(robot: RobotRecord) -> dict[str, str]:
    return {joint.name: joint.kind for joint in robot.joints if joint.kind != "fixed"}


def test_nothing_asked_nothing_changed() -> None:
    assert freeze(chain()) == chain()
    assert freeze(chain(), None, {}) == chain()


def test_lock_freezes_where_the_robot_stands(kinematics) -> None:
    robot = chain()
    frozen = freeze(robot, lock={"lift": 0.7, "turn": -1.2})
    assert kinds(frozen) == {"wheel": "continuous", "free": "floating", "table": "planar"}
    moving = kinematics(robot, {"lift": 0.7, "turn": -1.2, "wheel": 0.4})
    for link, pose in kinematics(frozen, {"wheel": 0.4}).items():
        np.testing.assert_allclose(pose, moving[link], atol=1e-14)


def test_followers_freeze_with_their_leader() -> None:
    frozen = {joint.name: joint for joint in freeze(chain(), lock={"turn": 2.0}).joints}
    for name in ("turn", "finger", "tip"):
        assert frozen[name].kind == "fixed"
        assert frozen[name].mimic is None
        assert frozen[name].limit is None
        assert frozen[name].friction is None
    # tip = -2 (0.5 * 2 + 0.1) + 0.3 = -1.9 along its axis
    tip = next(joint for joint in chain().joints if joint.name == "tip")
    shift = np.array(tip.rotation) @ tip.axis * -1.9
    np.testing.assert_allclose(frozen["tip"].position, tip.position + shift, atol=1e-15)


def test_followers_stay_with_a_kept_leader() -> None:
    frozen = freeze(chain(), joints=["turn"])
    assert kinds(frozen) == {"turn": "revolute", "finger": "revolute", "tip": "prismatic"}
    assert freeze(chain(), joints=("tip", "turn")) == frozen


def test_joints_not_kept_stand_at_zero_or_at_their_lock(kinematics) -> None:
    robot = chain()
    frozen = freeze(robot, joints=["turn"], lock={"lift": 0.3})
    moving = kinematics(robot, {"turn": 0.9, "lift": 0.3})
    for link, pose in kinematics(frozen, {"turn": 0.9}).items():
        np.testing.assert_allclose(pose, moving[link], atol=1e-14)


def test_zero_leaves_the_placement_untouched() -> None:
    frozen = freeze(chain(), joints=[])
    assert kinds(frozen) == {}
    for before, after in zip(chain().joints, frozen.joints, strict=True):
        if before.mimic is None:
            assert after.rotation == before.rotation
            assert after.position == before.position


@pytest.mark.parametrize(
    ("joints", "lock", "error", "fragments"),
    [
        (["tern"], None, UnknownNameError, ("joints", "'tern'", "did you mean 'turn'?")),
        (None, {"tern": 0.0}, UnknownNameError, ("lock", "'tern'", "did you mean 'turn'?")),
        ([3], None, UnknownNameError, ("joints", "no joint 3")),
        (["mount"], None, DescriptionError, ("joints", "fixed already", "leave it out")),
        (None, {"mount": 0.0}, DescriptionError, ("lock", "fixed already")),
        ("turn", None, DescriptionError, ("joints", "list of names", "write ['turn']")),
        (["turn"], {"turn": 0.0}, DescriptionError, ("lock['turn']", "stay movable", "'lock'")),
        (["tip"], None, DescriptionError, ("'tip' mimics 'turn'", "name 'turn' as well")),
        (None, {"tip": 0.0}, DescriptionError, ("lock['tip']", "'turn'", "lock 'turn' instead")),
        (None, {"free": 0.0}, DescriptionError, ("lock['free']", "floating", "identity")),
        (None, {"table": 0.0}, DescriptionError, ("lock['table']", "planar", "identity")),
        (None, {"turn": float("nan")}, DescriptionError, ("lock['turn']", "finite", "rad or m")),
        (None, {"turn": float("inf")}, DescriptionError, ("lock['turn']", "found inf")),
        (None, {"turn": "x"}, DescriptionError, ("lock['turn']", "found 'x'")),
        (None, {"turn": None}, DescriptionError, ("lock['turn']", "found None")),
    ],
)
def test_bad_requests_are_refused(joints, lock, error, fragments, refused) -> None:
    refused(lambda: freeze(chain(), joints, lock), error, *fragments)


def test_a_record_made_by_hand_is_checked(refused) -> None:
    robot = chain()
    looped = replace(robot.joints[1], mimic=MimicRecord("finger"))
    bad = replace(robot, joints=(robot.joints[0], looped, *robot.joints[2:]))
    refused(lambda: freeze(bad), DescriptionError, "mimic each other")
