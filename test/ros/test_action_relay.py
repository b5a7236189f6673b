"""The mode annotate over DDS: goals go on to a controller's own action, its answers come back.

Needs ``control_msgs``, which is not on PyPI: the tests are skipped where it is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from fake_controller import ACTION, FakeController
from feedforward_rig import JOINTS, POSTURE, Rig, elbow
from goal_client import ABORTED, CANCELED, SUCCEEDED, Goal, GoalClient

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")

STILL = [0.0] * 3
NEAR = [x + 0.3 for x in POSTURE]
FEEDBACK = f"{ACTION}/_action/feedback"
POINTS = [(0.6, NEAR, STILL, STILL), (1.2, POSTURE, STILL, STILL)]


@pytest.fixture(scope="module")
def controller(rig: Rig) -> Iterator[FakeController]:
    found = FakeController(rig.graph.node)
    yield found
    found.leave()


@pytest.fixture(scope="module")
def client(rig: Rig, controller: FakeController) -> GoalClient:
    rig.start(mode="annotate", annotate__topic="/arm_controller/joint_trajectory")
    rig.graph.wait_for_state(rig.node, "active")
    found = GoalClient(rig.graph, f"{rig.node}/follow_joint_trajectory")
    found.wait()
    rig.feed_until(lambda: rig.states.get_subscription_count(), "a listener")
    return found


@pytest.fixture(autouse=True)
def willing(controller: FakeController) -> Iterator[None]:
    yield
    controller.accepts = True


def begun(rig: Rig, client: GoalClient, controller: FakeController, **options: Any) -> Goal:
    """Send a goal until the controller has it: it may have to be found first."""
    count = len(controller.handles)
    goal = client.send(POINTS, **options)

    def there() -> bool:
        nonlocal goal
        if goal.accepted is False:
            goal = client.send(POINTS, **options)
        return len(controller.handles) > count

    rig.feed_until(there, "the controller's goal")
    rig.feed_until(lambda: goal.accepted, "the answer")
    return goal


def ended(rig: Rig, goal: Goal) -> tuple[int, int]:
    rig.feed_until(lambda: goal.answer, "the end of the goal")
    return goal.end


def until_refused(rig: Rig, client: GoalClient) -> None:
    """Send goals until the node knows that its controller is gone, of which it hears later.

    Before, it accepts a goal for the controller that was there, and aborts it.
    """
    goal = client.send(POINTS)

    def refused() -> bool:
        nonlocal goal
        if goal.answer is not None:
            assert goal.end == (ABORTED, -1)
            goal = client.send(POINTS)
        return goal.accepted is False

    rig.feed_until(refused, "a refusal")


def test_the_controller_gets_effort_and_tolerances_and_its_answers_come_back(
    rig: Rig, client: GoalClient, controller: FakeController
) -> None:
    options = {"path": [("joint_2", 0.3, 0.4, 0.5)], "end": [("joint_1", -1.0)], "time": 1.5}
    goal = begun(rig, client, controller, **options)
    given, expected = controller.newest.request, client.message(POINTS, **options)
    for field in ("path_tolerance", "goal_tolerance", "goal_time_tolerance"):
        assert getattr(given, field) == getattr(expected, field)
    sent = given.trajectory
    assert sent.joint_names == JOINTS
    rows = [(p.positions, p.velocities, p.accelerations, p.effort) for p in sent.points]
    q, v, a, effort = (np.array(row) for row in zip(*rows, strict=True))
    np.testing.assert_allclose(q[-1], POSTURE, atol=1e-9)
    np.testing.assert_allclose(effort, gd.inverse_dynamics(elbow(), q, v, a), atol=1e-6)
    assert len(sent.points) > 100
    feedback = controller.kind.Feedback(joint_names=JOINTS)
    if hasattr(feedback, "index"):  # from control_msgs 6.3 on
        feedback.index = 99
    feedback.desired.time_from_start.nanosec = 700_000_000
    feedback.actual.positions = NEAR
    controller.newest.publish_feedback(feedback)
    rig.feed_until(lambda: goal.feedback, "feedback")
    assert getattr(goal.feedback[0], "index", 1) == 1, "of the points that the client has given"
    assert list(goal.feedback[0].actual.positions) == NEAR
    controller.end("succeed", 0, "as the controller says")
    assert ended(rig, goal) == (SUCCEEDED, 0)
    assert goal.text == "as the controller says"


@pytest.mark.parametrize("code", [-5, -4, -1])
def test_the_controllers_codes_are_passed_on(
    rig: Rig, client: GoalClient, controller: FakeController, code: int
) -> None:
    goal = begun(rig, client, controller)
    controller.end("abort", code, "so it is")
    assert ended(rig, goal) == (ABORTED, code)
    assert goal.text == "so it is"


def test_a_cancel_reaches_the_controller(
    rig: Rig, client: GoalClient, controller: FakeController
) -> None:
    goal, before = begun(rig, client, controller), controller.cancels
    goal.handle.cancel_goal_async()
    rig.feed_until(lambda: controller.newest.is_cancel_requested, "the cancel")
    assert controller.cancels == before + 1
    assert goal.answer is None, "the controller says when"
    controller.end("canceled", 0, "")
    assert ended(rig, goal) == (CANCELED, 0)


def test_a_goal_that_the_controller_rejects_is_aborted(
    rig: Rig, client: GoalClient, controller: FakeController
) -> None:
    controller.accepts = False
    goal = client.send(POINTS)
    assert ended(rig, goal) == (ABORTED, -1)
    assert "/arm_controller/follow_joint_trajectory has rejected" in goal.text


def test_a_goal_that_makes_no_sense_never_reaches_the_controller(
    rig: Rig, client: GoalClient, controller: FakeController
) -> None:
    count = len(controller.handles)
    goal = client.send([(0.2, POSTURE), (0.1, POSTURE)])
    rig.feed_until(lambda: goal.accepted is not None, "an answer")
    assert goal.accepted is False
    assert len(controller.handles) == count


@pytest.mark.parametrize("how", ["emergency_stop", "deactivate"])
def test_a_stop_cancels_the_controllers_goal(
    rig: Rig, client: GoalClient, controller: FakeController, how: str
) -> None:
    from std_srvs.srv import SetBool

    goal = begun(rig, client, controller)
    if how == "deactivate":
        assert rig.graph.change_state(rig.node, "deactivate")
    else:
        rig.graph.call(f"{rig.node}/emergency_stop", SetBool, SetBool.Request(data=True))
    assert ended(rig, goal) == (ABORTED, -1)
    assert ("deactivate" if how == "deactivate" else "EMERGENCY_STOP") in goal.text
    rig.feed_until(lambda: controller.newest.is_cancel_requested, "the cancel")
    controller.end("canceled", 0, "")
    if how == "deactivate":
        assert rig.graph.change_state(rig.node, "activate")
    else:
        rig.graph.call(f"{rig.node}/emergency_stop", SetBool, SetBool.Request(data=False))


def test_a_controller_that_starts_again_ends_its_goals(
    rig: Rig, client: GoalClient, controller: FakeController
) -> None:
    """The action is there all the time, but no controller follows the goal any more."""
    goal = begun(rig, client, controller)
    first = controller.server
    controller.serve(rig.graph.node)
    rig.graph.until(
        lambda: rig.graph.node.count_publishers(FEEDBACK) == 2, "the second controller"
    )
    first.destroy()
    assert ended(rig, goal) == (ABORTED, -1)
    assert "is gone" in goal.text
    goal = begun(rig, client, controller)
    controller.end("succeed", 0, "")
    assert ended(rig, goal) == (SUCCEEDED, 0)


def test_a_controller_that_does_not_answer_ends_the_goal(
    rig: Rig, client: GoalClient, controller: FakeController
) -> None:
    """Its process hangs, and its name stays in the graph."""
    from rclpy.node import Node

    controller.leave()
    hung = Node("hung_controller", context=rig.graph.context)  # never spun
    controller.serve(hung)
    goal = client.send(POINTS)

    def there() -> bool:
        nonlocal goal
        if goal.accepted is False:
            goal = client.send(POINTS)
        return bool(goal.accepted)

    rig.feed_until(there, "the answer of the node")
    assert ended(rig, goal) == (ABORTED, -1)
    assert "has not answered" in goal.text
    controller.leave()
    hung.destroy_node()
    until_refused(rig, client)
    controller.serve(rig.graph.node)


def test_a_controller_that_goes_away_ends_its_goals_and_no_more_are_accepted(
    rig: Rig, client: GoalClient, controller: FakeController
) -> None:
    goal = begun(rig, client, controller)
    controller.leave()
    assert ended(rig, goal) == (ABORTED, -1)
    assert "is gone" in goal.text
    until_refused(rig, client)
    goal = client.send(POINTS)
    rig.feed_until(lambda: goal.accepted is not None, "an answer")
    assert goal.accepted is False
    assert rig.said("start and activate the controller")
