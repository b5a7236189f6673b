"""Cases of the joint trajectory controller's own tests, as goals over DDS.

Needs ``control_msgs``, which is not on PyPI: the tests are skipped where it is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest

from feedforward_rig import POSTURE, Rig
from goal_client import SUCCEEDED, Goal, GoalClient, ended

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")

STILL = [0.0] * 3
NEAR = [x + 0.05 for x in POSTURE]


@pytest.fixture(scope="module")
def client(rig: Rig) -> GoalClient:
    rig.start(
        cmd_timeout=0.2, constraints__goal_time=5.0, constraints__joint_1__goal=0.01,
        allow_nonzero_velocity_at_trajectory_end=True,
    )  # fmt: skip
    rig.until_active()
    found = GoalClient(rig.graph, f"{rig.node}/follow_joint_trajectory")
    found.wait()
    return found


@pytest.fixture(autouse=True)
def posture(rig: Rig) -> None:
    rig.q, rig.v = list(POSTURE), [0.0] * 3


def test_a_cmd_timeout_that_is_shorter_than_goal_time_is_ignored(
    rig: Rig, client: GoalClient
) -> None:
    goal = client.send([(0.2, NEAR, STILL)])

    def late() -> bool:
        times = [f.desired.time_from_start for f in goal.feedback[-1:]]
        return any(t.sec + 1e-9 * t.nanosec > 0.8 for t in times)

    rig.feed_until(late, "the end of the path, and three times cmd_timeout")
    assert goal.answer is None
    rig.q = list(NEAR)
    assert ended(rig, goal) == (SUCCEEDED, 0)


def test_nan_in_effort_is_no_reason_to_refuse_a_goal(rig: Rig, client: GoalClient) -> None:
    message = client.message([(0.2, POSTURE, STILL)])
    message.trajectory.points[0].effort = [float("nan")] * 3
    goal = Goal()
    sent = client.client.send_goal_async(message)
    sent.add_done_callback(goal.on_answer)
    assert ended(rig, goal) == (SUCCEEDED, 0)


def test_after_a_speed_at_the_end_the_arm_stands(rig: Rig, client: GoalClient) -> None:
    """A controller commands that speed for ever; a torque would push for ever (docs/nodes.md)."""
    from sensor_msgs.msg import JointState

    reference = rig.graph.listen(f"{rig.node}/reference", JointState)
    goal = client.send([(0.3, NEAR, [0.1] * 3)])
    rig.q = list(NEAR)
    assert ended(rig, goal) == (SUCCEEDED, 0)
    seen = reference.count
    rig.feed_until(lambda: reference.count > seen + 2, "the reference after the end")
    np.testing.assert_allclose(reference.last.position, NEAR, atol=1e-9)
    assert list(reference.last.velocity) == STILL
