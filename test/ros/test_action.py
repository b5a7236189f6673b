"""The action of the feedforward node over DDS: goals end as a joint trajectory controller's do.

Needs ``control_msgs``, which is not on PyPI: the tests are skipped where it is not installed.
"""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import JOINTS, POSTURE, Rig, elbow
from goal_client import ABORTED, CANCELED, SUCCEEDED, Goal, GoalClient, ended

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")

STILL = [0.0] * 3
NEAR = [x + 0.05 for x in POSTURE]


@pytest.fixture(scope="module")
def client(rig: Rig) -> GoalClient:
    rig.start(**{"safety.resume_error": 3.0})
    rig.until_active()
    found = GoalClient(rig.graph, f"{rig.node}/follow_joint_trajectory")
    found.wait()
    return found


@pytest.fixture(autouse=True)
def posture(rig: Rig) -> None:
    rig.q, rig.v = list(POSTURE), [0.0] * 3


def under_way(rig: Rig, goal: Goal) -> Goal:
    """Feed joint states until a goal is followed."""
    rig.feed_until(lambda: goal.handle and goal.feedback, "the answer and feedback")
    return goal


def test_a_goal_is_reached_and_tells_of_itself_twenty_times_a_second(
    rig: Rig, client: GoalClient
) -> None:
    points = [(0.4, POSTURE, STILL), (1.0, POSTURE, STILL)]
    begin = time.monotonic()
    goal = client.send(points)
    assert ended(rig, goal) == (SUCCEEDED, 0)
    assert goal.text == "Goal successfully reached!"
    assert time.monotonic() - begin > 0.99
    times = [f.desired.time_from_start.sec + 1e-9 * f.desired.time_from_start.nanosec
             for f in goal.feedback]  # fmt: skip
    gaps = np.diff(times)  # a state that is late makes the gap before it longer
    assert 0.045 <= np.median(gaps) <= 0.065
    assert gaps.min() > 0.04
    assert len(times) <= 21
    last = goal.feedback[-1]
    if hasattr(last, "index"):  # from control_msgs 6.3 on
        points_ahead = [int(np.searchsorted([0.4, 1.0], t)) for t in times]
        assert [f.index for f in goal.feedback] == points_ahead
    assert last.joint_names == JOINTS
    np.testing.assert_allclose(last.actual.positions, POSTURE)
    np.testing.assert_allclose(last.desired.positions, POSTURE, atol=1e-9)
    np.testing.assert_allclose(last.error.positions, STILL, atol=1e-9)
    assert len(last.desired.accelerations) == 3


def test_a_goal_that_leaves_its_path_is_aborted_and_the_next_one_runs(
    rig: Rig, client: GoalClient
) -> None:
    goal = client.send([(1.0, NEAR, STILL)], path=[("joint_2", 0.01)])
    assert ended(rig, goal) == (ABORTED, -4)
    assert "'joint_2'" in goal.text
    gravity = gd.gravity_forces(elbow(), np.array(POSTURE))
    rig.until_command(gravity, "the arm is held")
    goal = client.send([(0.2, POSTURE, STILL)])
    assert ended(rig, goal) == (SUCCEEDED, 0), "no reset is needed"


def test_an_arm_that_does_not_arrive_in_time_aborts_its_goal(rig: Rig, client: GoalClient) -> None:
    goal = client.send([(0.2, NEAR, STILL)], end=[("joint_1", 0.01)], time=0.2)
    assert ended(rig, goal) == (ABORTED, -5)
    assert "goal_time_tolerance" in goal.text
    assert "'joint_1'" in goal.text


def test_an_arm_that_arrives_late_but_in_time_reaches_its_goal(
    rig: Rig, client: GoalClient
) -> None:
    goal = client.send([(0.2, NEAR, STILL)], end=[("joint_1", 0.01)], time=5.0)
    end = 200_000_000  # [ns]
    rig.feed_until(
        lambda: goal.feedback and goal.feedback[-1].desired.time_from_start.nanosec > end,
        "the end of the path",
    )
    assert goal.answer is None
    rig.q = list(NEAR)
    assert ended(rig, goal) == (SUCCEEDED, 0)


def test_a_cancelled_goal_holds_the_arm(rig: Rig, client: GoalClient) -> None:
    goal = under_way(rig, client.send([(9.0, NEAR, STILL)]))
    goal.handle.cancel_goal_async()
    assert ended(rig, goal) == (CANCELED, 0)
    rig.until_command(gd.gravity_forces(elbow(), np.array(POSTURE)), "the arm is held")


def test_goals_and_trajectories_preempt_goals(rig: Rig, client: GoalClient) -> None:
    first = under_way(rig, client.send([(9.0, NEAR, STILL)]))
    second = client.send([(9.0, NEAR, STILL)])
    assert ended(rig, first) == (ABORTED, -1)
    assert first.text == "Current goal preempted by new incoming action."
    under_way(rig, second)
    rig.go([(0.1, POSTURE, STILL)])
    assert ended(rig, second) == (ABORTED, -1)
    assert "by a trajectory on the topic" in second.text


def test_goals_that_come_together_end_one_after_the_other(rig: Rig, client: GoalClient) -> None:
    """Sent in one moment and answered in any order: one is followed to its end, no other."""
    goals = [client.send([(0.3, POSTURE, STILL)]) for _ in range(6)]
    ends = sorted(ended(rig, goal) for goal in goals)
    assert ends == sorted([(SUCCEEDED, 0)] + 5 * [(ABORTED, -1)])
    reached = [goal for goal in goals if goal.end == (SUCCEEDED, 0)]
    late = client.send([(0.2, POSTURE, STILL)])
    assert ended(rig, late) == (SUCCEEDED, 0)
    assert len(reached) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"joints": ["joint_1", "joint_2", "elsewhere"]},
        {"points": []},
        {"points": [(0.1, [np.nan] * 3)]},
        {"points": [(0.1, POSTURE, [1.0] * 3)]},
        {"points": [(0.2, POSTURE), (0.1, POSTURE)]},
        {"start": 5},
        {"points": [(0.001 * k, POSTURE, STILL) for k in range(1, 2002)]},
    ],
)
def test_a_goal_that_cannot_be_followed_is_rejected_and_the_one_before_goes_on(
    rig: Rig, client: GoalClient, options: dict[str, Any]
) -> None:
    goal = under_way(rig, client.send([(1.0, POSTURE, STILL)]))
    given = {"points": [(0.1, POSTURE, STILL)]} | options
    wrong = client.send(given.pop("points"), **given)
    rig.feed_until(lambda: wrong.accepted is not None, "an answer")
    assert wrong.accepted is False
    assert ended(rig, goal) == (SUCCEEDED, 0)


def test_tolerances_without_a_meaning_leave_those_of_the_parameters(
    rig: Rig, client: GoalClient
) -> None:
    since = rig.log_length
    goal = client.send([(0.1, POSTURE, STILL)], path=[("joint_1", -3.0)])
    assert ended(rig, goal) == (SUCCEEDED, 0)
    rig.until_said("the parameters' tolerances are used", since)


def test_a_goal_cannot_widen_the_tracking_tolerance(rig: Rig, client: GoalClient) -> None:
    """Without it a goal's -1 would take the limit of the parameter away."""
    assert rig.set(constraints__joint_2__trajectory=0.02).successful
    wide = [("joint_2", -1.0)]
    goal = client.send([(1.0, NEAR, STILL)], path=wide, end=wide)
    assert ended(rig, goal) == (ABORTED, -4)
    assert "TRACKING_ERROR" in goal.text
    assert rig.set(constraints__joint_2__trajectory=float("nan")).successful
    goal = client.send([(0.2, POSTURE, STILL)])
    assert ended(rig, goal) == (SUCCEEDED, 0)


def test_an_emergency_stop_aborts_the_goal(rig: Rig, client: GoalClient) -> None:
    from std_srvs.srv import SetBool, Trigger

    goal = under_way(rig, client.send([(9.0, NEAR, STILL)]))
    rig.graph.call(f"{rig.node}/emergency_stop", SetBool, SetBool.Request(data=True))
    assert ended(rig, goal) == (ABORTED, -1)
    assert "EMERGENCY_STOP" in goal.text
    other = client.send([(0.1, POSTURE, STILL)])
    rig.feed_until(lambda: other.accepted is not None, "an answer")
    assert other.accepted is False, "nothing is accepted while it is pressed"
    rig.graph.call(f"{rig.node}/emergency_stop", SetBool, SetBool.Request(data=False))
    rig.graph.call(f"{rig.node}/reset", Trigger)
    goal = client.send([(0.1, POSTURE, STILL)])
    assert ended(rig, goal) == (SUCCEEDED, 0)


def test_joint_states_that_end_abort_the_goal(rig: Rig, client: GoalClient) -> None:
    goal = under_way(rig, client.send([(9.0, NEAR, STILL)]))
    rig.graph.until(lambda: goal.answer, "the end of the goal", 6.0)
    assert goal.end == (ABORTED, -1)
    assert "STALE_STATE" in goal.text
    rig.until_active()


def test_a_violated_limit_aborts_the_goal(rig: Rig, client: GoalClient) -> None:
    goal = under_way(rig, client.send([(9.0, NEAR, STILL)]))
    rig.v = [0.0, 7.0, 0.0]  # joint_2 may have 5 rad/s; twice that would be impossible
    assert ended(rig, goal) == (ABORTED, -1)
    assert "VELOCITY_LIMIT" in goal.text
    rig.v = [0.0] * 3
    rig.until_known()
    goal = client.send([(0.3, POSTURE, STILL)])
    assert ended(rig, goal) == (SUCCEEDED, 0)


def test_a_trajectory_of_the_topic_is_held_where_it_does_not_arrive_in_time(
    rig: Rig, client: GoalClient
) -> None:
    since = rig.log_length
    names = {f"constraints__{name}__goal": 0.01 for name in JOINTS}
    assert rig.set(constraints__goal_time=0.1, **names).successful
    rig.go([(0.1, NEAR, STILL)])
    rig.until_said("goal_time_tolerance", since)
    rig.until_command(gd.gravity_forces(elbow(), np.array(POSTURE)), "the arm is held")
    assert rig.set(constraints__goal_time=0.0, **dict.fromkeys(names, 0.0)).successful


def test_deactivation_and_the_end_of_the_process_abort_goals(rig: Rig, client: GoalClient) -> None:
    goal = under_way(rig, client.send([(9.0, NEAR, STILL)]))
    assert rig.graph.change_state(rig.node, "deactivate")
    rig.graph.until(lambda: goal.answer, "the end of the goal", 6.0)
    assert goal.end == (ABORTED, -1)
    assert "deactivate" in goal.text
    other = client.send([(0.1, POSTURE, STILL)])
    rig.graph.until(lambda: other.accepted is not None, "an answer", 6.0)
    assert other.accepted is False
    assert rig.graph.change_state(rig.node, "activate")
    rig.until_active()
    goal = under_way(rig, client.send([(9.0, NEAR, STILL)]))
    assert rig.process is not None
    rig.process.signal(signal.SIGINT)
    rig.graph.until(lambda: goal.answer, "the end of the goal", 6.0)
    assert goal.end == (ABORTED, -1)
    assert rig.process.wait() == 0
