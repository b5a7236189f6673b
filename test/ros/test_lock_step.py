"""In lock step the plant waits: for readers that the system stops, and for an observer."""

from __future__ import annotations

import os
import signal

import pytest

from plant_rig import POSTURE, PlantRig, stamp
from ros_harness import Graph, Processes

COUNT = 2001  # states, twice as many as publishers usually keep
RECORDER = """
import sys
import rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

rclpy.init()
node, stamps = rclpy.create_node("recorder"), set()

def take(message):
    stamps.add((message.header.stamp.sec, message.header.stamp.nanosec))
    if len(stamps) in (1, int(sys.argv[1])):
        print(f"{len(stamps)} states", flush=True)

node.create_subscription(JointState, "joint_states", take, QoSProfile(depth=10_000))
rclpy.spin(node)
"""


@pytest.fixture
def rig(graph: Graph, processes: Processes) -> PlantRig:
    return PlantRig(graph, processes)


class Driver:
    """Answers each joint state, once.

    Attributes:
        steps: Answered so far.
    """

    def __init__(self, rig: PlantRig) -> None:
        self.rig, self.steps, self._newest = rig, 0, -1.0

    def answer(self) -> None:
        """Answer the newest joint state, if that is new."""
        if self.rig.states.count and stamp(self.rig.states.last) > self._newest:
            state = self.rig.states.last
            self._newest, self.steps = stamp(state), self.steps + 1
            self.rig.named.publish(self.rig.command(state, [0.0] * len(POSTURE)))

    def until(self, condition: object, what: str) -> None:
        """Answer until a condition holds."""

        def met() -> bool:
            self.answer()
            return bool(condition())  # type: ignore[operator]

        self.rig.graph.until(met, what)


def test_a_recorder_that_is_kept_waiting_loses_nothing(rig: PlantRig) -> None:
    """It stands still while the arm moves, and gets all states afterwards."""
    rig.start_plant(pace="lock_step")
    recorder = rig.processes.start("-c", RECORDER, str(COUNT))
    rig.graph.until(lambda: "1 states" in recorder.output, "the recorder's first state")
    rig.graph.wait_for_subscribers(rig.named)
    driver = Driver(rig)
    os.kill(recorder.pid, signal.SIGSTOP)
    driver.until(lambda: driver.steps >= COUNT, "the last state")
    os.kill(recorder.pid, signal.SIGCONT)
    rig.graph.until(lambda: f"{COUNT} states" in recorder.output, "all states at the recorder")


def test_an_observer_that_has_to_answer_misses_no_state(rig: PlantRig) -> None:
    """Time goes on when both have answered a state, not for the command alone."""
    from sensor_msgs.msg import JointState

    plant = rig.start_plant(pace="lock_step", wait_for_observer=True)
    observer = rig.graph.publisher("/plant_node/observed", JointState)
    first = rig.next_state()
    rig.graph.wait_for_subscribers(rig.named)
    rig.graph.wait_for_subscribers(observer)
    rig.named.publish(rig.command(first, [0.0] * 3))
    seen = rig.states.count
    rig.graph.until(lambda: rig.states.count >= seen + 3, "the same state again")
    assert stamp(rig.states.last) == stamp(first)
    rig.graph.publish_until(
        rig.named, rig.command(first, [0.0] * 3),
        lambda: "waiting for an observer on /plant_node/observed" in plant.output, "a log line",
    )  # fmt: skip
    observer.publish(rig.command(first, []))
    rig.graph.publish_until(
        rig.named, rig.command(first, [0.0] * 3),
        lambda: stamp(rig.states.last) > stamp(first), "the next state",
    )  # fmt: skip
    second = rig.states.last
    observer.publish(rig.command(first, []))  # of an earlier time
    rig.named.publish(rig.command(second, [0.0] * 3))
    seen = rig.states.count
    rig.graph.until(lambda: rig.states.count >= seen + 2, "the same state again")
    assert stamp(rig.states.last) == stamp(second)
