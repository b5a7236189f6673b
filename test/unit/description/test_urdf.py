"""URDF -> records: the good cases."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files

import numpy as np
import pytest

from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.description.robot_records import LimitRecord, LinkRecord, MimicRecord
from geared_dynamics.description.urdf_reader import read_urdf
from geared_dynamics.errors import GearedDynamicsError

ARM = """<?xml version="1.0"?>
<robot name="arm" version="1.0">
  <material name="blue"/>
  <link name="base"><visual><geometry><box size="a b"/></geometry></visual></link>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="2.5"/>
    </inertial>
    <gazebo_nonsense/>
  </link>
  <link name="tool">
    <inertial><mass value="0.5"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  </link>
  <link name="finger"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0.1 -0.2 0.3"/>
    <parent link="base"/><child link="upper"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/>
    <dynamics damping="0.5" friction="0.25"/>
    <safety_controller k_velocity="x"/>
  </joint>
  <joint name="mount" type="fixed">
    <parent link="upper"/><child link="tool"/><axis xyz="0 0 0"/>
  </joint>
  <joint name="grip" type="prismatic">
    <parent link="tool"/><child link="finger"/><mimic joint="shoulder" multiplier="0.5"/>
  </joint>
  <transmission name="t"><type>x</type></transmission>
  <ros2_control name="c" type="system"><joint name="shoulder"/></ros2_control>
  <gazebo reference="base"><sensor/></gazebo>
</robot>"""


def test_arm_is_read_in_file_order_and_silently(capfd: pytest.CaptureFixture[str]) -> None:
    robot = read_urdf(ARM)
    assert capfd.readouterr() == ("", "")
    assert robot.name == "arm"
    assert [link.name for link in robot.links] == ["base", "upper", "tool", "finger"]
    assert [joint.name for joint in robot.joints] == ["shoulder", "mount", "grip"]
    assert [joint.kind for joint in robot.joints] == ["revolute", "fixed", "prismatic"]
    assert robot.links[0] == LinkRecord("base", None)


def test_joint_fields() -> None:
    shoulder, mount, grip = read_urdf(ARM).joints
    assert (shoulder.parent, shoulder.child) == ("base", "upper")
    assert shoulder.position == (0.0, 0.0, 1.0)
    assert shoulder.axis == (0.0, 0.0, 1.0)
    assert shoulder.limit == LimitRecord(-1.0, 2.0, 30.0, 4.0)
    assert shoulder.friction == FrictionRecord(0.5, 0.25)
    assert mount.axis == grip.axis == (1.0, 0.0, 0.0)
    assert mount.limit is None
    assert grip.mimic == MimicRecord("shoulder", 0.5, 0.0)
    assert grip.limit is None
    assert grip.friction is None


def test_rpy_turns_about_fixed_axes(rotation) -> None:
    shoulder = read_urdf(ARM).joints[0]
    x, y, z = np.eye(3)
    expected = rotation(z, 0.3) @ rotation(y, -0.2) @ rotation(x, 0.1)
    np.testing.assert_allclose(shoulder.rotation, expected, atol=1e-15)


def test_inertia_is_turned_into_the_links_frame(rotation) -> None:
    inertia = read_urdf(ARM).links[1].inertia
    turned = rotation((0, 0, 1), np.pi / 2)
    written = np.array([[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]])
    assert inertia is not None
    assert inertia.mass == 2.0
    assert inertia.com == (0.1, 0.2, 0.3)
    np.testing.assert_allclose(inertia.tensor, turned @ written @ turned.T, atol=1e-15)
    # A quarter turn about z exchanges x and y: the sign test that a transpose fails.
    np.testing.assert_allclose(inertia.tensor[0], [2, -0.1, -0.3], atol=1e-15)


def test_products_of_inertia_default_to_zero() -> None:
    inertia = read_urdf(ARM).links[2].inertia
    assert inertia is not None
    assert inertia.tensor == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    assert inertia.com == (0.0, 0.0, 0.0)


JOINT = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{rest}</joint></robot>"""


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("", None),
        ("<limit/>", None),
        ('<limit effort="3"/>', LimitRecord(effort=3.0)),
        ('<limit effort="3" velocity="inf"/>', LimitRecord(effort=3.0)),
        ('<limit lower="-inf" upper="1" velocity="2"/>', LimitRecord(upper=1.0, velocity=2.0)),
        ('<limit lower="" upper="1"/>', LimitRecord(upper=1.0)),
    ],
)
def test_sloppy_limits_are_limits_not_given(rest: str, expected: LimitRecord | None) -> None:
    assert read_urdf(JOINT.format(kind="revolute", rest=rest)).joints[0].limit == expected


@pytest.mark.parametrize("kind", ["floating", "planar", "continuous"])
def test_other_kinds_are_kept(kind: str) -> None:
    assert read_urdf(JOINT.format(kind=kind, rest="")).joints[0].kind == kind


def test_axis_of_a_fixed_joint_does_not_matter() -> None:
    joint = read_urdf(JOINT.format(kind="fixed", rest='<axis xyz="nan"/><limit effort="x"/>'))
    assert joint.joints[0].axis == (1.0, 0.0, 0.0)


def test_rounded_zero_moment_is_no_negative_one() -> None:
    text = (
        '<robot name="r"><link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="-5e-20" iyy="1" izz="1"/></inertial></link></robot>'
    )
    assert read_urdf(text).links[0].inertia is not None


def test_deep_chain_needs_no_recursion() -> None:
    n = 3000
    links = "".join(f'<link name="l{i}"/>' for i in range(n + 1))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        + (f'<mimic joint="j{i + 1}"/>' if i < n - 1 else "")
        + "</joint>"
        for i in range(n)
    )
    robot = read_urdf(f'<robot name="r">{links}{joints}</robot>')
    assert len(robot.joints) == n


# Published files that are wrong, and what is wrong with them.
FAULTY = {
    "alex_psyonic_hands.urdf": "there is no joint 'index_q1'",
    "ur3.urdf": "the robot has no name",
}


def test_published_robots_are_read(capfd: pytest.CaptureFixture[str]) -> None:
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    urdfs = [file.locate() for file in listed if file.suffix == ".urdf"]
    refusals = {}
    for urdf in urdfs:
        try:
            robot = read_urdf(str(urdf))
        except GearedDynamicsError as error:
            refusals[urdf.name] = error.finding
        else:
            assert len(robot.links) == len(robot.joints) + 1
    assert capfd.readouterr() == ("", "")
    assert len(urdfs) > 50
    assert refusals == FAULTY
