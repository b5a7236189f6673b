"""The node as users run it, without checks of the messages' fields, and with them.

Message classes keep or copy what a field is given, depending on these checks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from ros_harness import Graph, Processes

ROOT = Path(__file__).resolve().parents[2]
ELBOW = ROOT / "urdf" / "elbow.urdf"
DRIVES = ROOT / "urdf" / "elbow.drivetrain.yaml"
MODULE = "geared_dynamics.ros.feedforward_node"


@pytest.mark.parametrize("checks", ["", "1"])
def test_the_held_arm_gets_its_gravity(processes: Processes, graph: Graph, checks: str) -> None:
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    model = gd.load_model(ELBOW, DRIVES)
    q = [0.3, -0.4, 0.5]
    values = [
        f"urdf_path:={ELBOW}",
        f"drivetrain:={DRIVES}",
        "publish_joint_commands:=true",
        "mode:=stream",
    ]
    words = [word for value in values for word in ("-p", value)]
    env = {"ROS_PYTHON_CHECK_FIELDS": checks}
    processes.start("-m", MODULE, "--ros-args", *words, env=env)
    publisher = graph.publisher("/joint_states", JointState)
    flat = graph.listen("/feedforward_node/commands", Float64MultiArray)
    named = graph.listen("/feedforward_node/joint_commands", JointState)

    def measured() -> JointState:
        message = JointState(name=list(model.joint_names), position=q, velocity=[0.0] * 3)
        message.header.stamp = graph.node.get_clock().now().to_msg()
        return message

    wanted = gd.gravity_forces(model, q)
    assert np.abs(wanted).max() > 1.0

    def holds() -> bool:
        if not (flat.count and named.count):
            return False
        return np.allclose(flat.last.data, wanted) and np.allclose(named.last.effort, wanted)

    graph.publish_until(publisher, measured, holds, f"gravity {wanted}")
