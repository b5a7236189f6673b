"""What is missing around the node: subscribers, joint states at their rate; speed scaling."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from feedforward_rig import JOINTS, POSTURE, Rig, trajectory
from ros_harness import Graph, Processes

GOAL = [0.6, 0.8, -0.1]
STILL = [0.0] * 3
WINDOW = 0.5  # [s] between two looks of the node, in place of 2 s
BRISK = f"""
import sys
from geared_dynamics.ros import departure as surroundings

surroundings.WINDOW = {WINDOW}
from geared_dynamics.ros.feedforward_node import main
sys.exit(main())
"""


@pytest.fixture
def fresh(graph: Graph, processes: Processes) -> Rig:
    """A node of the test's own, which looks around more often than others."""
    rig = Rig(graph, processes)
    rig.program = ("-c", BRISK)
    return rig


def entries(message: Any) -> dict[str, Any]:
    """Diagnostics by what follows the node's name."""
    return {status.name.split(": ")[-1]: status for status in message.status}


def test_nobody_listens_to_the_commands(fresh: Rig, graph: Graph) -> None:
    from diagnostic_msgs.msg import DiagnosticArray
    from std_msgs.msg import Float64MultiArray

    told = graph.listen("/diagnostics", DiagnosticArray)
    fresh.start(publish_joint_commands=True)
    (own,) = (s for s in graph.node.subscriptions if s.topic_name.endswith("node/commands"))
    graph.node.destroy_subscription(own)
    topics = "/feedforward_node/commands and /feedforward_node/joint_commands"
    fresh.until_said(f"no subscriber on {topics}")
    seen = told.count
    fresh.feed_until(lambda: told.count > seen + 1, "a report")
    found = entries(told.last)["surroundings"]
    assert topics in found.message
    assert found.level == b"\x01"
    since = fresh.log_length
    graph.node.create_subscription(Float64MultiArray, "/feedforward_node/commands", id, 1)
    fresh.until_said("there is a subscriber now", since)
    assert fresh.process is not None
    assert fresh.process.output.count("no subscriber on") == 1


def test_another_node_that_commands_the_arm_is_named(fresh: Rig, graph: Graph) -> None:
    """A second one of ours, say; once it is gone that is said too."""
    from diagnostic_msgs.msg import DiagnosticArray
    from std_msgs.msg import Float64MultiArray

    told = graph.listen("/diagnostics", DiagnosticArray)
    fresh.start()
    other = graph.publisher(f"{fresh.node}/commands", Float64MultiArray)
    fresh.until_said("others publish commands on /feedforward_node/commands (/test)")
    seen = told.count
    fresh.feed_until(lambda: told.count > seen + 1, "a report")
    found = entries(told.last)["surroundings"]
    assert "others publish commands on /feedforward_node/commands (/test)" in found.message
    assert found.level == b"\x01"
    since = fresh.log_length
    graph.node.destroy_publisher(other)
    fresh.until_said("is again the only publisher of commands", since)
    assert fresh.process is not None
    named = "others publish commands on /feedforward_node/commands (/test)"
    assert fresh.process.output.count(named) == 1


def test_nobody_listens_to_the_annotated_trajectory(fresh: Rig, graph: Graph) -> None:
    from trajectory_msgs.msg import JointTrajectory

    fresh.start(mode="annotate", annotate__topic="/arm_controller/joint_trajectory")
    fresh.until_said("no subscriber on /arm_controller/joint_trajectory")
    graph.wait_for_subscribers(fresh.goals)
    message = trajectory(JOINTS, [(1.0, GOAL, STILL)])
    since = fresh.log_length
    fresh.goals.publish(message)
    fresh.until_said("trajectory sent, but there is no subscriber on /arm_controller", since)
    heard = graph.listen("/arm_controller/joint_trajectory", JointTrajectory)
    fresh.until_said("there is a subscriber now", since)
    since = fresh.log_length
    fresh.goals.publish(message)
    fresh.feed_until(lambda: heard.count, "the trajectory")
    assert "trajectory sent" not in fresh.process.output[since:]  # type: ignore[union-attr]


def test_slow_joint_states_are_named_with_both_rates(fresh: Rig) -> None:
    """A joint state every 4 ms or more: 1000 was never meant."""
    fresh.start(update_rate=1000)
    fresh.until_active()
    fresh.until_said("update_rate says 1000")
    assert fresh.process is not None
    line = next(x for x in fresh.process.output.splitlines() if "update_rate says" in x)
    rate = float(line.split("joint states come ")[1].split()[0])
    assert 5.0 < rate <= 250.0
    since = fresh.log_length
    assert fresh.set(update_rate=5).successful
    begin = time.monotonic()
    fresh.feed_until(lambda: time.monotonic() > begin + 2.25 * WINDOW, "two windows")
    assert "update_rate says" not in fresh.process.output[since:]


def test_the_reference_goes_as_fast_as_the_robot_allows(fresh: Rig, graph: Graph) -> None:
    """In simulated time: at a half a motion of two seconds takes four; at zero it stands."""
    from std_msgs.msg import Float64

    fresh.use_clock()
    fresh.start(use_sim_time=True, speed_scaling__full=100.0, safety__time_jump=1.0)
    scaling = graph.publisher("/feedforward_node/speed_scaling_input", Float64)
    fresh.until_active()
    graph.wait_for_subscribers(scaling)
    for value, said in ((-1.0, "is not a valid factor"), (float("nan"), "is not a valid factor")):
        since = fresh.log_length
        scaling.publish(Float64(data=value))
        fresh.until_said(said, since)
        begin = time.monotonic()
        fresh.feed_until(lambda begin=begin: time.monotonic() > begin + 1.05, "the next line")
    scaling.publish(Float64(data=50.0))
    fresh.until_said("speed scaling: 50 %")
    assert fresh.now is not None
    begin = fresh.now
    weight = weight_at(POSTURE)
    points = [(0.0, POSTURE, STILL, STILL), (2.0, GOAL, STILL, STILL)]
    fresh.go(points, start=begin)
    since = fresh.log_length

    def runs() -> bool:
        nonlocal since
        assert fresh.process is not None
        if "trajectory refused" in fresh.process.output[since:]:  # this process has stalled
            since = fresh.log_length
            fresh.go(points, start=begin)
        return fresh.said("running: following the reference")

    fresh.feed_until(runs, "the motion")
    fresh.creep = 0.0
    half = quintic(0.5)
    fresh.advance(begin + 2.0)
    fresh.q = list(half[0])
    fresh.v = list(0.5 * half[1] / 2.0)
    expected = fed(half[0], 0.5 * half[1] / 2.0, 0.25 * half[2] / 4.0)
    fresh.until_command(expected, "the torque half way, at half speed", tolerance=0.05)
    assert np.abs(expected - weight).max() > 1.0


def quintic(s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From POSTURE to GOAL from rest to rest over s from 0 to 1: q and two derivatives by s."""
    way = np.array(GOAL) - np.array(POSTURE)
    p = 10 * s**3 - 15 * s**4 + 6 * s**5
    v, a = 30 * s**2 - 60 * s**3 + 30 * s**4, 60 * s - 180 * s**2 + 120 * s**3
    return np.array(POSTURE) + p * way, v * way, a * way


def fed(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """What the node sends for a state that is wanted."""
    import geared_dynamics as gd
    from feedforward_rig import elbow

    return np.asarray(gd.inverse_dynamics(elbow(), q, v, a))


def weight_at(q: list[float]) -> np.ndarray:
    """Gravity at a position."""
    return fed(np.array(q), np.zeros(3), np.zeros(3))
