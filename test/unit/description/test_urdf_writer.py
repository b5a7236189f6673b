"""write_urdf: what is read back is what was written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.geometry import (
    largest_difference,
    multiply,
    rotation_about,
    rotation_from_rpy,
    unit,
)
from geared_dynamics.description.robot_records import (
    InertiaRecord,
    JointRecord,
    LimitRecord,
    LinkRecord,
    MimicRecord,
    RobotRecord,
)
from geared_dynamics.description.urdf_files import write_urdf
from geared_dynamics.description.urdf_reader import read_urdf
from geared_dynamics.errors import DescriptionError

NUMBERS = st.floats(-1e3, 1e3) | st.sampled_from([1e-300, -5e-324, 1 / 3, 0.1])
POSITIVE = st.floats(0.0, 1e3)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
AXES = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: math.hypot(*a) > 1e-2).map(unit)
RIGHT = st.sampled_from([k * math.pi / 2 for k in range(-2, 3)])
ROTATIONS = st.builds(rotation_from_rpy, RIGHT, RIGHT, RIGHT) | st.builds(
    lambda a, p, b, q: multiply(rotation_about(a, p), rotation_about(b, q)),
    AXES,
    st.floats(-4, 4),
    AXES,
    st.floats(-4, 4),
)
# Names that need escaping in XML.
NAMES = st.lists(
    st.text("abc<>&\"'/é漢 _-", min_size=1, max_size=6).filter(lambda t: t == t.strip()),
    min_size=8,
    max_size=8,
    unique=True,
)
MAYBE = st.none() | NUMBERS
LIMITS = st.none() | st.builds(
    lambda low, high, effort, velocity: LimitRecord(
        low if low is None or high is None else min(low, high),
        high if low is None or high is None else max(low, high),
        effort,
        velocity,
    ),
    MAYBE,
    MAYBE,
    st.none() | POSITIVE,
    st.none() | POSITIVE,
).map(lambda limit: None if limit == LimitRecord() else limit)
FRICTION = st.none() | st.builds(FrictionRecord, POSITIVE, POSITIVE)
INERTIA = st.none() | st.builds(
    lambda mass, com, d, p: InertiaRecord(
        mass, com, ((d[0], p[0], p[1]), (p[0], d[1], p[2]), (p[1], p[2], d[2]))
    ),
    POSITIVE,
    VECTORS,
    st.tuples(POSITIVE, POSITIVE, POSITIVE),
    VECTORS,
)
KINDS = st.sampled_from(["revolute", "continuous", "prismatic", "planar"])


@st.composite
def robots(draw: st.DrawFn) -> RobotRecord:
    """A tree of up to five links with every kind of joint, the last one perhaps a follower."""
    names = draw(NAMES)
    n = draw(st.integers(1, 4))
    links = tuple(LinkRecord(names[i], draw(INERTIA)) for i in range(n + 1))
    joints = [
        JointRecord(
            names[-1 - i],
            draw(KINDS),
            parent=names[draw(st.integers(0, i))],
            child=names[i + 1],
            rotation=draw(ROTATIONS),
            position=draw(VECTORS),
            axis=draw(AXES),
            limit=draw(LIMITS),
            friction=draw(FRICTION),
        )
        for i in range(n)
    ]
    ends = {"parent": names[0], "child": "end", "rotation": draw(ROTATIONS)}
    kind = draw(st.sampled_from(["fixed", "floating", "revolute"]))
    mimic = None
    if kind == "revolute" and joints[0].kind != "planar":
        mimic = MimicRecord(joints[0].name, draw(NUMBERS), draw(NUMBERS))
    joints.append(JointRecord("last", kind, mimic=mimic, **ends))
    return RobotRecord("r & d", "<URDF text>", (*links, LinkRecord("end")), tuple(joints))


@given(robots())
def test_round_trip(robot: RobotRecord) -> None:
    again = read_urdf(write_urdf(robot))
    assert (again.name, again.source, again.links) == (robot.name, robot.source, robot.links)
    for before, after in zip(robot.joints, again.joints, strict=True):
        assert largest_difference(before.rotation, after.rotation) < 1e-15
        assert {**vars(before), "rotation": None} == {**vars(after), "rotation": None}


def test_joints_that_need_limits_have_them() -> None:
    joint = JointRecord("j", "revolute", "a", "b")
    robot = RobotRecord("r", "<test>", (LinkRecord("a"), LinkRecord("b")), (joint,))
    text = write_urdf(robot)
    assert text.startswith("<?xml")
    for key in ("lower", "upper", "effort", "velocity"):
        assert f'{key}="' in text
    assert "inf" not in text
    assert read_urdf(text).joints[0].limit is None


def test_numbers_keep_all_their_digits() -> None:
    link = LinkRecord("a", InertiaRecord(1 / 3, (0.1, 2 / 3, 1e-17)))
    again = read_urdf(write_urdf(RobotRecord("r", "<test>", (link,), ())))
    assert again.links == (link,)


def with_friction(friction: FrictionRecord) -> RobotRecord:
    joint = JointRecord("j", "continuous", "a", "b", friction=friction)
    return RobotRecord("arm", "here", (LinkRecord("a"), LinkRecord("b")), (joint,))


@pytest.mark.parametrize(
    "law",
    [
        FrictionRecord(1.0, 2.0, 3.0),
        FrictionRecord(1.0, 2.0, static=3.0, stribeck_speed=1.0),
        FrictionRecord(load=0.1),
        FrictionRecord(offset=0.1),
    ],
)
def test_friction_that_a_urdf_cannot_hold_is_refused(law: FrictionRecord, refused) -> None:
    refused(
        lambda: write_urdf(with_friction(law)),
        DescriptionError,
        "joint 'j'",
        "<dynamics>",
        "joints.j.friction",
    )


def test_equal_levels_for_both_directions_are_one() -> None:
    robot = read_urdf(write_urdf(with_friction(FrictionRecord(1.0, 2.0, 2.0))))
    assert robot.joints[0].friction == FrictionRecord(1.0, 2.0)
