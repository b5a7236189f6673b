"""A client that is killed in the middle of its goal: as with a controller, the goal goes on.

Needs ``control_msgs``, which is not on PyPI: the tests are skipped where it is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from fake_controller import FakeController
from feedforward_rig import POSTURE, Rig
from goal_client import SUCCEEDED, Goal, GoalClient
from ros_harness import Inbox, Process

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")

STILL = [0.0] * 3
NEAR = [x + 0.05 for x in POSTURE]
EXPIRY = 30.0  # [s] for a result that the node keeps for ten
CLIENT = """
import sys

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.serialization import deserialize_message

rclpy.init()
node = rclpy.create_node("client")
client = ActionClient(node, FollowJointTrajectory, sys.argv[1])
client.wait_for_server()
goal = deserialize_message(bytes.fromhex(sys.argv[2]), FollowJointTrajectory.Goal)
sent = client.send_goal_async(goal, lambda _: print("feedback", flush=True))
rclpy.spin_until_future_complete(node, sent)
result = sent.result().get_result_async()
print("goal", bytes(sent.result().goal_id.uuid).hex(), flush=True)
rclpy.spin(node)
"""


@pytest.fixture(scope="module")
def client(rig: Rig) -> GoalClient:
    found = GoalClient(rig.graph, f"{rig.node}/follow_joint_trajectory")
    rig.start(mode="computed_torque")
    found.wait()
    return found


class Watched:
    """What the node tells everybody of its goals."""

    def __init__(self, rig: Rig) -> None:
        from action_msgs.msg import GoalStatusArray
        from rclpy.qos import DurabilityPolicy, QoSProfile

        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        topic = f"{rig.node}/follow_joint_trajectory/_action/status"
        self._box: Inbox = rig.graph.listen(topic, GoalStatusArray, latched)

    def goals(self) -> dict[str, int]:
        """Status by goal."""
        rows = self._box.last.status_list if self._box.messages else []
        return {bytes(row.goal_info.goal_id.uuid).hex(): row.status for row in rows}


def kill_in_the_middle(
    rig: Rig, client: GoalClient, points: Any, active: Callable[[Process], bool]
) -> str:
    """Kill a client while its goal is active; the goal."""
    from rclpy.serialization import serialize_message

    goal = bytes(serialize_message(client.message(points))).hex()
    words = ("-c", CLIENT, f"{rig.node}/follow_joint_trajectory", goal)
    process = rig.processes.start(*words, name="client")
    rig.feed_until(
        lambda: "goal " in process.output and active(process), "the goal to be active", 30.0
    )
    process.kill()
    return next(
        line.split()[1] for line in process.output.splitlines() if line.startswith("goal ")
    )


def ended(rig: Rig, goal: Goal) -> tuple[int, int]:
    rig.feed_until(lambda: goal.answer or goal.accepted is False, "the end of the goal")
    return goal.end


def test_the_arm_goes_on_to_the_end_of_the_goal(rig: Rig, client: GoalClient) -> None:
    """The reference reaches the end, the goal succeeds, and is forgotten as any other."""
    from sensor_msgs.msg import JointState

    rig.until_active()
    watched, reference = Watched(rig), rig.graph.listen(f"{rig.node}/reference", JointState)
    killed = kill_in_the_middle(
        rig, client, [(4.0, NEAR, STILL)], lambda process: "feedback" in process.output
    )
    rig.feed_until(lambda: watched.goals().get(killed), "the node to tell of the goal")
    assert watched.goals()[killed] < SUCCEEDED, "it is active while the client is killed"
    rig.feed_until(lambda: watched.goals()[killed] == SUCCEEDED, "the end of the goal")
    rig.feed_until(lambda: np.allclose(reference.last.position, NEAR, 0.0, 1e-9), "its last point")
    assert not rig.said("goal aborted")

    goal = client.send([(0.2, POSTURE, STILL)])
    assert ended(rig, goal) == (SUCCEEDED, 0), "the next client's"

    def forgotten() -> bool:
        nonlocal goal
        if goal.answer is not None:
            goal = client.send([(0.2, POSTURE, STILL)])
        return killed not in watched.goals()

    rig.feed_until(forgotten, "the goal to be forgotten", EXPIRY)
    assert ended(rig, goal) == (SUCCEEDED, 0)


@pytest.fixture
def controller(rig: Rig) -> Iterator[FakeController]:
    found = FakeController(rig.graph.node)
    yield found
    found.leave()


def test_a_goal_that_was_passed_on_stays_with_the_controller(
    rig: Rig, client: GoalClient, controller: FakeController
) -> None:
    """The controller is not asked to cancel it, and how it ends is told."""
    rig.start(mode="annotate", annotate__topic="/arm_controller/joint_trajectory")
    rig.graph.wait_for_state(rig.node, "active")
    client.wait()
    rig.feed_until(lambda: rig.states.get_subscription_count(), "a listener")
    watched, points = Watched(rig), [(0.6, NEAR, STILL, STILL), (1.2, POSTURE, STILL, STILL)]

    def followed(count: int) -> Goal:
        """Send a goal, again while the node has not found the controller."""
        goal = client.send(points)

        def there() -> bool:
            nonlocal goal
            if goal.accepted is False:
                goal = client.send(points)
            return len(controller.handles) == count

        rig.feed_until(there, "the controller's goal")
        return goal

    goal = followed(1)
    controller.end("succeed", 0, "")
    assert ended(rig, goal) == (SUCCEEDED, 0), "the controller is found"
    killed = kill_in_the_middle(rig, client, points, lambda _: len(controller.handles) == 2)
    for _ in range(3):
        controller.newest.publish_feedback(controller.kind.Feedback(joint_names=["joint_1"]))
    rig.feed_until(lambda: watched.goals().get(killed), "the node to tell of the goal")
    assert watched.goals()[killed] < SUCCEEDED
    controller.end("succeed", 0, "")
    rig.feed_until(lambda: watched.goals()[killed] == SUCCEEDED, "the end of the goal")
    assert controller.cancels == 0
    goal = followed(3)
    controller.end("succeed", 0, "")
    assert ended(rig, goal) == (SUCCEEDED, 0), "the next client's"
