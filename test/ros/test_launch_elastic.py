"""The launch file of an arm with springs, wherever launch and launch_ros can be imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import trajectory
from ros_harness import Graph, Process, Processes

try:  # without ROS's launch, our folder of that name may be found as an empty package
    from launch import LaunchDescription  # noqa: F401
    from launch_ros.actions import LifecycleNode  # noqa: F401
except ImportError:
    HAS_LAUNCH = False
else:
    HAS_LAUNCH = True

pytestmark = pytest.mark.skipif(not HAS_LAUNCH, reason="launch_ros is not installed (from ROS)")

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "test" / "ros_harness" / "launch_file.py"
URDF, DRIVES = ROOT / "urdf" / "wave6.urdf", ROOT / "urdf" / "wave6.drivetrain.yaml"
OBSERVER = "/elastic_observer_node"
GOAL = [0.4, 0.7, 0.9, 0.3, 0.5, 0.2]


def launch(processes: Processes, *arguments: str) -> Process:
    file = ROOT / "launch" / "elastic.launch.py"
    process = processes.start(RUNNER, file, *arguments, name=file.name)
    process.terminal = True
    return process


def stamp(message: Any) -> float:
    return float(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)


@pytest.mark.parametrize("observer", ["kalman", "nonlinear"])
def test_the_springs_are_seen(processes: Processes, graph: Graph, observer: str) -> None:
    """Moved out of the upright posture, in simulated time: the twist is the weight's over K."""
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    model = gd.load_model(URDF, DRIVES, strict=True)
    inboxes = {
        name: graph.listen(f"{OBSERVER}/{name}", JointState)
        for name in ("link_state", "torque_estimate")
    }
    states = graph.listen("/joint_states", JointState)
    goals = graph.publisher("/feedforward_node/joint_trajectory", JointTrajectory)
    process = launch(processes, "pace:=lock_step", f"observer:={observer}")
    graph.wait_for_state("/feedforward_node", "active")
    graph.wait_for_state(OBSERVER, "active")
    link, torque = inboxes["link_state"], inboxes["torque_estimate"]
    graph.until(lambda: link.count and link.last.header.frame_id == "", "a valid estimate", 60.0)
    graph.wait_for_subscribers(goals)
    begin, follows = stamp(link.last), len(process.output)
    goals.publish(trajectory(model.joint_names, [(1.0, GOAL, [0.0] * 6, [0.0] * 6)]))
    graph.until(lambda: stamp(link.last) > begin + 2.0, "two seconds of its time", 60.0)
    twist = gd.gravity_forces(model, np.array(GOAL)) / model.elasticity.stiffness

    def seen() -> bool:
        """Whether it is so by now: time does not wait for an observer that loses readings."""
        off = np.abs(np.array(torque.last.position) - twist).max()
        link_off = np.abs(np.array(link.last.position) - GOAL).max()
        return bool(link.last.header.frame_id == "" and off < 2e-5 and link_off < 1e-4)

    graph.until(seen, "the twist of the weight, and the links where they are wanted", 30.0)
    assert "stale state" not in process.output[follows:], process.report()
    shaft = np.abs(np.array(states.last.position) - GOAL).max()
    assert shaft > 5e-4, "what the motors show is off by the twist"


def test_a_load_is_seen_as_an_external_torque(
    processes: Processes, graph: Graph, tmp_path: Path
) -> None:
    """Within what the motors' friction can hold."""
    from sensor_msgs.msg import JointState
    from std_srvs.srv import SetBool

    model = gd.load_model(URDF, DRIVES)
    external = graph.listen(f"{OBSERVER}/external_torque", JointState)
    start = {"initial.joint_2": 1.2, "payload.mass": 3.0}
    file = tmp_path / "start.yaml"
    lines = "".join(f"    {name}: {value}\n" for name, value in start.items())
    file.write_text(f"plant_node:\n  ros__parameters:\n{lines}", encoding="utf-8")
    launch(processes, "pace:=lock_step", f"params_file:={file}")
    graph.until(
        lambda: external.count and external.last.header.frame_id == "", "a valid estimate", 60.0
    )
    q = np.array([0.0, 1.2, 0.0, 0.0, 0.0, 0.0])
    held = 1.1 * np.array([2.0, 2.0, 2.0, 0.4, 0.4, 0.4])  # by friction, at the joints
    assert (np.abs(external.last.effort) < held).all()
    begin = stamp(external.last)
    assert graph.call("/plant_node/attach_payload", SetBool, SetBool.Request(data=True)).success
    graph.until(lambda: stamp(external.last) > begin + 1.5, "one and a half seconds", 60.0)
    loaded = model.with_payload(3.0, (0.0, 0.0, 0.0), np.zeros((3, 3)), link="tool")
    weight = gd.gravity_forces(loaded, q) - gd.gravity_forces(model, q)
    assert abs(weight[1]) > 20.0
    assert (np.abs(np.array(external.last.effort) + weight) < held + 0.05 * np.abs(weight)).all()


def test_each_node_has_its_enclave(processes: Processes, graph: Graph) -> None:
    """And the level of the log holds in a namespace."""
    names = {"feedforward_node": "feedforward", "elastic_observer_node": "elastic_observer",
             "plant_node": "plant"}  # fmt: skip
    enclaves = {node: f"/geared_dynamics/{name}" for node, name in names.items()}
    given = dict(
        zip(("enclave", "observer_enclave", "plant_enclave"), enclaves.values(), strict=True)
    )
    process = launch(processes, "namespace:=arm", "log_level:=error",
                     *(f"{name}:={value}" for name, value in given.items()))  # fmt: skip
    wanted = {(node, "/arm", enclave) for node, enclave in enclaves.items()}
    rows = graph.node.get_node_names_and_namespaces_with_enclaves
    graph.until(lambda: wanted <= set(map(tuple, rows())), "the nodes in their enclaves")
    for node in ("feedforward_node", "elastic_observer_node"):
        graph.wait_for_state(f"/arm/{node}", "active")
    assert "[INFO] [arm." not in process.output
    assert process.stop() == 0, process.report()


def test_a_plant_that_dies_ends_the_launch(processes: Processes, ros_domain: int) -> None:
    process = launch(processes, "encoder_counts:=-1")  # which only the plant refuses
    process.wait(60.0)
    assert "plant_node: parameters: encoder_counts: is -1" in process.output
    assert process.output.count("process has finished cleanly") == 2
