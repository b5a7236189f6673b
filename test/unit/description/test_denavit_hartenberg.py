"""Denavit-Hartenberg tables against products of textbook transforms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geared_dynamics.description.denavit_hartenberg import DHRow, robot_from_dh
from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.robot_records import LimitRecord, LinkRecord
from geared_dynamics.errors import DescriptionError, UnknownNameError

TENSOR = ((0.3, 0.01, 0.02), (0.01, 0.25, 0.03), (0.02, 0.03, 0.2))
ROWS = st.lists(
    st.builds(
        DHRow,
        a=st.floats(-1, 1),
        alpha=st.floats(-3, 3) | st.sampled_from([0, np.pi / 2, -np.pi / 2]),
        d=st.floats(-1, 1),
        theta=st.floats(-3, 3),
        kind=st.sampled_from(["revolute", "continuous", "prismatic"]),
        mass=st.floats(0.1, 5),
        com=st.tuples(*[st.floats(-1, 1)] * 3),
        tensor=st.just(TENSOR),
    ),
    min_size=1,
    max_size=6,
)


def standard(row: DHRow, q: float) -> np.ndarray:
    """The matrix that every textbook prints for the standard convention."""
    t = row.theta + (q if row.kind != "prismatic" else 0.0)
    d = row.d + (q if row.kind == "prismatic" else 0.0)
    ct, st_, ca, sa = np.cos(t), np.sin(t), np.cos(row.alpha), np.sin(row.alpha)
    return np.array(
        [
            [ct, -st_ * ca, st_ * sa, row.a * ct],
            [st_, ct * ca, -ct * sa, row.a * st_],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


def modified(row: DHRow, q: float) -> np.ndarray:
    """Craig's matrix: the row's a and alpha come before the joint."""
    t = row.theta + (q if row.kind != "prismatic" else 0.0)
    d = row.d + (q if row.kind == "prismatic" else 0.0)
    ct, st_, ca, sa = np.cos(t), np.sin(t), np.cos(row.alpha), np.sin(row.alpha)
    return np.array(
        [
            [ct, -st_, 0, row.a],
            [st_ * ca, ct * ca, -sa, -d * sa],
            [st_ * sa, ct * sa, ca, d * ca],
            [0, 0, 0, 1],
        ]
    )


@pytest.mark.parametrize(
    ("convention", "matrix", "frame"),
    [("standard", standard, "link_{}_dh"), ("modified", modified, "link_{}")],
)
@given(rows=ROWS, seed=st.integers(0, 100))
def test_frames_and_masses_lie_where_the_table_says(
    convention, matrix, frame, kinematics, rows, seed
) -> None:
    q = np.random.default_rng(seed).uniform(-2, 2, len(rows))
    robot = robot_from_dh(rows, convention=convention)
    inertia = {link.name: link.inertia for link in robot.links}
    poses = kinematics(robot, {f"joint_{i + 1}": value for i, value in enumerate(q)})
    expected = np.eye(4)
    for number, (row, value) in enumerate(zip(rows, q, strict=True), start=1):
        expected = expected @ matrix(row, value)
        np.testing.assert_allclose(poses[frame.format(number)], expected, atol=1e-13)
        pose, body = poses[f"link_{number}"], inertia[f"link_{number}"]
        turn = pose[:3, :3]
        np.testing.assert_allclose(
            turn @ body.com + pose[:3, 3],
            expected[:3, :3] @ row.com + expected[:3, 3],
            atol=1e-13,
        )
        np.testing.assert_allclose(
            turn @ body.tensor @ turn.T, expected[:3, :3] @ TENSOR @ expected[:3, :3].T, atol=1e-14
        )
        assert body.mass == row.mass


@given(rows=ROWS)
def test_both_conventions_describe_the_same_arm(kinematics, rows) -> None:
    """Row i of the modified table takes a and alpha from row i-1 of the standard one."""
    before = [DHRow(0, 0), *rows[:-1]]
    shifted = [
        DHRow(previous.a, previous.alpha, row.d, row.theta, row.kind)
        for previous, row in zip(before, rows, strict=True)
    ]
    q = {f"joint_{i + 1}": 0.3 * i - 0.7 for i in range(len(rows))}
    poses = kinematics(robot_from_dh(rows), q)
    for link, pose in kinematics(robot_from_dh(shifted, convention="modified"), q).items():
        np.testing.assert_allclose(poses[link], pose, atol=1e-13)


def test_planar_arm_by_hand(kinematics) -> None:
    robot = robot_from_dh([DHRow(1.0, 0), DHRow(0.5, 0)], name="planar", base="ground")
    assert robot.name == "planar"
    assert [joint.axis for joint in robot.joints if joint.kind != "fixed"] == [(0, 0, 1)] * 2
    poses = kinematics(robot, {"joint_1": np.pi / 2, "joint_2": -np.pi / 2})
    np.testing.assert_allclose(poses["link_2"][:3, 3], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(poses["link_2_dh"][:3, 3], [0.5, 1, 0], atol=1e-15)


def test_names_limits_and_massless_links() -> None:
    limit, friction = LimitRecord(-1.0, 1.0), FrictionRecord(0.1, 0.2)
    row = DHRow(0, 0, link="upper", joint="elbow", limit=limit, friction=friction)
    robot = robot_from_dh([row, {"a": 1, "alpha": 0, "kind": "prismatic"}])
    names = [link.name for link in robot.links]
    assert names == ["base", "upper", "upper_dh", "link_2", "link_2_dh"]
    assert robot.links[1] == LinkRecord("upper")
    assert [joint.name for joint in robot.joints] == [
        "elbow",
        "upper_dh_mount",
        "joint_2",
        "link_2_dh_mount",
    ]
    assert robot.joints[0].limit is limit
    assert robot.joints[0].friction is friction
    assert robot.joints[2].kind == "prismatic"


def test_numpy_values_become_plain_floats() -> None:
    row = DHRow(np.float64(1), np.float64(0), mass=np.int64(2), com=np.ones(3), tensor=np.eye(3))
    body = robot_from_dh([row], convention="modified").links[1].inertia
    assert body is not None
    assert type(body.mass) is float
    assert {type(item) for item in (*body.com, *body.tensor[0])} == {float}


@pytest.mark.parametrize(
    ("rows", "error", "fragments"),
    [
        ([], DescriptionError, ("rows", "empty", "a row for each joint")),
        ([DHRow(0, 0), 3], DescriptionError, ("rows[1]", "found int", "DHRow(...)")),
        ([{"a": 0, "alfa": 0}], UnknownNameError, ("rows[0]", "'alfa'", "did you mean 'alpha'?")),
        ([{"a": 0}], DescriptionError, ("rows[0]", "'alpha'", "add what is missing")),
        ([DHRow(0, float("nan"))], DescriptionError, ("rows[0].alpha", "nan", "finite")),
        ([DHRow("x", 0)], DescriptionError, ("rows[0].a", "expected a number, found 'x'")),
        ([DHRow(0, 0, d=float("inf"))], DescriptionError, ("rows[0].d", "finite")),
        ([DHRow(0, 0, theta=None)], DescriptionError, ("rows[0].theta", "found None")),
        ([DHRow(0, 0, kind="ball")], UnknownNameError, ("rows[0].kind", "'ball'", "revolute")),
        ([DHRow(0, 0, mass=-1)], DescriptionError, ("rows[0].mass", "negative", ">= 0")),
        ([DHRow(0, 0, com=(0, 0))], DescriptionError, ("rows[0].com", "three numbers")),
        ([DHRow(0, 0, com=(0, 0, float("nan")))], DescriptionError, ("rows[0].com[2]", "nan")),
        ([DHRow(0, 0, tensor=3)], DescriptionError, ("rows[0].tensor", "3 x 3")),
        ([DHRow(0, 0, tensor=((1, 2, 3),) * 3)], DescriptionError, ("tensor[0][1]", "symmetric")),
        ([DHRow(0, 0, tensor=-np.eye(3))], DescriptionError, ("tensor[0][0]", "negative")),
        ([DHRow(0, 0, link="base")], DescriptionError, ("link 'base'", "rename")),
        ([DHRow(0, 0, joint="j")] * 2, DescriptionError, ("joint 'j'", "two joints")),
    ],
)
def test_bad_tables_are_refused(rows, error, fragments, refused) -> None:
    refused(lambda: robot_from_dh(rows), error, *fragments)


def test_bad_convention_is_refused(refused) -> None:
    refused(
        lambda: robot_from_dh([DHRow(0, 0)], convention="modifed"),
        UnknownNameError,
        "convention",
        "did you mean 'modified'?",
    )
