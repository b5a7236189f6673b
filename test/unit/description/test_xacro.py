"""The xacro files: whatever stands behind the joints, the arm is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lxml import etree

import geared_dynamics as gd

xacro = pytest.importorskip("xacro", reason="xacro is not installed (from ROS or PyPI)")

URDF = Path(__file__).resolve().parents[3] / "urdf"
PLUGINS = {
    "mock": "mock_components/GenericSystem",
    "mujoco": "joint_state_topic_hardware_interface/JointStateTopicSystem",
    "gazebo": "gz_ros2_control/GazeboSimSystem",
}


def processed(**given: str) -> str:
    return str(xacro.process_file(str(URDF / "brisk6.urdf.xacro"), mappings=given).toxml())


@pytest.mark.parametrize("sim", PLUGINS)
def test_the_arm_is_the_same(sim: str) -> None:
    drives = URDF / "brisk6.drivetrain.yaml"
    model = gd.load_model(processed(sim=sim), drives)
    plain = gd.load_model(URDF / "brisk6.urdf", drives)
    q = np.linspace(-1.0, 1.0, 6)
    np.testing.assert_array_equal(gd.mass_matrix(model, q), gd.mass_matrix(plain, q))
    np.testing.assert_array_equal(gd.gravity_forces(model, q), gd.gravity_forces(plain, q))
    assert model.notes == plain.notes


@pytest.mark.parametrize("sim", PLUGINS)
def test_effort_is_the_only_command_interface(sim: str) -> None:
    root = etree.fromstring(processed(sim=sim).encode())
    assert [e.text for e in root.findall("ros2_control/hardware/plugin")] == [PLUGINS[sim]]
    for joint in root.findall("ros2_control/joint"):
        (command,) = joint.findall("command_interface")
        assert command.get("name") == "effort"
        (limit,) = root.xpath(f"joint[@name='{joint.get('name')}']/limit")
        most = {param.get("name"): float(param.text) for param in command}
        assert most["max"] == -most["min"] == float(limit.get("effort"))
        states = [state.get("name") for state in joint.findall("state_interface")]
        assert states == ["position", "velocity", "effort"]


def test_gazebo_gets_its_plugin_and_the_ground() -> None:
    root = etree.fromstring(processed(sim="gazebo", controllers="my.yaml").encode())
    assert [e.text for e in root.findall("gazebo/plugin/parameters")] == ["my.yaml"]
    assert root.xpath("joint[@name='world_joint']/parent/@link") == ["world"]
    assert not etree.fromstring(processed(sim="mock").encode()).findall("gazebo")


def test_an_unknown_switch_is_refused() -> None:
    with pytest.raises(xacro.XacroException, match="give mock, mujoco or gazebo"):
        processed(sim="unity")
