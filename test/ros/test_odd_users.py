"""What unlucky users of a real graph do: managers that cycle, other QoS, time that is switched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import JOINTS, POSTURE, Rig, elbow, trajectory

CYCLES = int(os.environ.get("GEARED_DYNAMICS_CYCLES", "6"))
STILL = [0.0] * 3
QUEUE = 5  # requests at once, of each kind; a service keeps ten, emergency stops come in pairs


@pytest.fixture(scope="module")
def node(rig: Rig) -> Rig:
    """The node in the mode stream, active."""
    rig.start(publish_joint_commands=True)
    rig.graph.until(lambda: rig.said("configured"), "the node")
    rig.until_active()
    return rig


def gravity() -> Any:
    return gd.gravity_forces(elbow(), POSTURE)


def transition(rig: Rig, name: str) -> None:
    """A transition, the robot going on meanwhile."""
    from lifecycle_msgs.srv import ChangeState

    from ros_harness.graph import TRANSITIONS

    client = rig.graph.wait_for_service(f"{rig.node}/change_state", ChangeState)
    request = ChangeState.Request()
    request.transition.id = TRANSITIONS[name]
    future = client.call_async(request)
    rig.feed_until(future.done, f"the answer to {name}", 20.0)
    assert future.result().success, rig.processes.report()


def footprint(rig: Rig) -> tuple[int, int, int, int]:
    """Threads, open files, publishers and subscriptions of the node."""
    assert rig.process is not None
    proc = Path(f"/proc/{rig.process.pid}")
    name, space = rig.node.rpartition("/")[2], rig.space or "/"
    sent = rig.graph.node.get_publisher_names_and_types_by_node(name, space)
    heard = rig.graph.node.get_subscriber_names_and_types_by_node(name, space)
    tasks, files = (len(list((proc / folder).iterdir())) for folder in ("task", "fd"))
    return tasks, files, len(sent), len(heard)


def test_a_manager_that_cycles_the_node(node: Rig) -> None:
    """As often as it likes: the same commands, and nothing is left behind."""
    before = None
    for cycle in range(CYCLES):
        for name in ("deactivate", "cleanup", "configure", "activate"):
            transition(node, name)
        node.until_command(gravity(), "gravity after the cycle")
        if cycle == 1:
            before = footprint(node)
    assert footprint(node) == before


@pytest.mark.parametrize("state", ["active", "inactive", "unconfigured"])
def test_parameters_in_each_state(node: Rig, state: str) -> None:
    """A payload given in any state is carried once the node is active."""
    way = {"active": [], "inactive": ["deactivate"], "unconfigured": ["deactivate", "cleanup"]}
    back = {"active": [], "inactive": ["activate"], "unconfigured": ["configure", "activate"]}
    for name in way[state]:
        transition(node, name)
    assert node.set(payload__mass=1.0, payload__center_of_mass=[0.1, 0.0, 0.0]).successful
    assert not node.set(payload__mass=-1.0).successful
    for name in back[state]:
        transition(node, name)
    loaded = elbow().with_payload(1.0, [0.1, 0.0, 0.0])
    node.until_command(gd.gravity_forces(loaded, POSTURE), "gravity with the load")
    assert node.set(payload__mass=0.0, payload__center_of_mass=STILL).successful
    node.until_command(gravity(), "gravity without it")


@pytest.mark.parametrize("topic", ["joint_trajectory", "speed_scaling_input"])
def test_a_publisher_of_another_quality_of_service_is_named(node: Rig, topic: str) -> None:
    """Nothing of it arrives: best effort, where the node wants reliable messages."""
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from std_msgs.msg import Float64
    from trajectory_msgs.msg import JointTrajectory

    since = node.log_length
    quality = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    kind = JointTrajectory if topic == "joint_trajectory" else Float64
    other = node.graph.publisher(f"{node.node}/{topic}", kind, quality)
    node.until_said("incompatible QoS", since)
    assert f"/{topic}'" in node.process.output[since:]  # type: ignore[union-attr]
    node.graph.node.destroy_publisher(other)


def test_simulated_time_is_switched_on_in_motion(node: Rig) -> None:
    """Without a clock the time is zero: the motion stops, and is not taken up again."""
    node.go([(20.0, POSTURE, STILL, STILL)])
    node.until_said("running: following the reference")
    since = node.log_length
    assert node.set(use_sim_time=True).successful
    node.until_said("holding: time jump", since)
    assert node.set(use_sim_time=False).successful
    since = node.log_length
    node.graph.wait_for_subscribers(node.goals)
    node.feed_until(
        lambda: sent(node) or "running: following" in node.process.output[since:],  # type: ignore[union-attr]
        "a motion that is taken again",
    )
    node.until_command(gravity(), "gravity where it stands")


def sent(rig: Rig) -> bool:
    """Ask for a motion again; what comes before the recovery time is refused."""
    rig.goals.publish(trajectory(JOINTS, [(20.0, POSTURE, STILL, STILL)]))
    rig.graph.spin_once(0.02)
    return False


def test_floods_of_requests(node: Rig) -> None:
    """Stops, resets, loads, transitions that there are not: answered, and the arm is held."""
    from lifecycle_msgs.srv import ChangeState
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter
    from std_srvs.srv import SetBool, Trigger

    change = ChangeState.Request()
    change.transition.label = "no such transition"
    masses = SetParametersAtomically.Request()
    masses.parameters = [Parameter("payload.mass", value=0.5).to_parameter_msg()]
    requests = [
        ("emergency_stop", SetBool, SetBool.Request(data=True)),
        ("reset", Trigger, Trigger.Request()),
        ("change_state", ChangeState, change),
        ("set_parameters_atomically", SetParametersAtomically, masses),
        ("emergency_stop", SetBool, SetBool.Request(data=False)),
    ]
    for _ in range(5):
        futures = []
        for _ in range(QUEUE):
            for name, kind, request in requests:
                client = node.graph.wait_for_service(f"{node.node}/{name}", kind)
                futures.append(client.call_async(request))
            node.send()
        node.feed_until(lambda f=futures: all(one.done() for one in f), "all answers", 20.0)
    assert node.set(payload__mass=0.0).successful
    node.until_command(gravity(), "gravity after it")
    assert np.abs(np.array([list(m.data) for m in node.commands.messages])).max() <= 100.0
    assert "Traceback" not in node.process.output  # type: ignore[union-attr]
