"""The mode annotate: what goes to the joint trajectory controller (JTC), and what does not.

The controller is its published rules, proved in ``test/golden``; it gets a message some
milliseconds after the joint state with which the motion begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import JOINTS, POSTURE, Rig, elbow, trajectory
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    checked,
    follow,
    sample,
    state,
)

LATE = 0.005  # [s] until the controller has it
GOAL = [
    (0.8, [0.5, 0.4, -0.1], [0.3, -0.2, 0.4]),
    (2.0, [0.8, 0.3, 0.1], [0.0] * 3),
]
MOVING = [0.5, -0.8, 0.3]


@pytest.fixture(scope="module")
def node(rig: Rig) -> Rig:
    """The node on simulated time."""
    rig.use_clock()
    rig.start(
        mode="annotate",
        use_sim_time=True,
        diagnostics_rate=10.0,
        joint_limits__joint_1__max_velocity=2.0,
        joint_limits__joint_2__max_effort=60.0,
        joint_limits__joint_3__max_position=1.0,
        annotate__beyond_limits="warn",  # while the node runs nobody can choose it otherwise
    )
    rig.feed_until(lambda: rig.said("configured"), "the node to be configured")
    assert rig.set(annotate__beyond_limits="refuse").successful
    until_heard(rig)
    return rig


def until_heard(rig: Rig) -> None:
    """Send trajectories until the node knows who listens: what it sends before is lost."""
    rig.q, rig.v = list(POSTURE), [0.0] * 3
    rig.until_known()
    box = inbox(rig)
    while not box.count:
        since = rig.log_length
        rig.go(GOAL)
        rig.feed_until(
            lambda since=since: box.count or "there is no subscriber" in rig.log_after(since),
            "a trajectory, or that there is no subscriber",
        )


@pytest.fixture
def arm(node: Rig) -> Rig:
    """The node, knowing that the arm rests at its posture."""
    node.q, node.v = list(POSTURE), [0.0] * 3
    node.until_known()
    return node


def inbox(rig: Rig) -> Any:
    """What goes to the controller."""
    from trajectory_msgs.msg import JointTrajectory as Message

    topic = f"{rig.node}/annotated_trajectory"
    box = rig.graph.listen(topic, Message)
    rig.graph.wait_for_publishers(topic)
    return box


def annotated(rig: Rig, points: Any = None, start: float | None = None) -> Any:
    """What is sent for a trajectory."""
    box = inbox(rig)
    seen = box.count
    rig.go(GOAL if points is None else points, start)
    rig.feed_until(lambda: box.count > seen, "the annotated trajectory")
    return box.last


def refused(rig: Rig, words: str, act: Any, feed: bool = True) -> None:
    """Nothing is sent for what ``act`` publishes; the log says why."""
    box, since = inbox(rig), rig.log_length
    seen = box.count
    act()
    if feed:
        rig.until_said(words, since)
    else:
        rig.graph.until(lambda: words in rig.process.output[since:], words)  # type: ignore[union-attr]
    assert "trajectory refused: " in rig.process.output[since:]  # type: ignore[union-attr]
    assert box.count == seen


def seconds(time: Any) -> float:
    return float(time.sec + 1e-9 * time.nanosec)


def controller(rig: Rig, message: Any, now: float) -> Any:
    """The reference of a controller that gets a message at a time, wherever the arm is."""
    rules = Rules(joints=tuple(JOINTS))
    points = [
        Point(seconds(p.time_from_start), p.positions, p.velocities, p.accelerations, p.effort)
        for p in message.points
    ]
    stamp = seconds(message.header.stamp)
    given = JointTrajectory(JOINTS, points, stamp or None)
    return follow(checked(given, rules, now), state([9.0] * 3), now, rules)


def exact(points: Any, start: float | None, now: float, v: Any) -> Any:
    """What the controller makes of the trajectory as the user sent it."""
    rules = Rules(joints=tuple(JOINTS), rest_after_end=True)
    given = JointTrajectory(JOINTS, [Point(*row) for row in points], start)
    return follow(checked(given, rules, now), state(POSTURE, v), now, rules)


STAMPS = {"at once": None, "a second ago": -1.0, "in two seconds": 2.0}


@pytest.mark.parametrize("stamp", STAMPS)
def test_a_stamp_changes_the_motion_as_it_does_for_the_controller(arm: Rig, stamp: str) -> None:
    """One second ago: no jump, less time. In the future: more time, not twice the speed."""
    after = STAMPS[stamp]
    points = [(1.5, GOAL[0][1], [0.0] * 3), (3.0, *GOAL[1][1:])]
    assert arm.now is not None
    start = None if after is None else round(arm.now + after, 3)
    message = annotated(arm, points, start)
    stamped = seconds(message.header.stamp)
    now = stamped or arm.now  # the posture's time; it creeps with each joint state
    assert abs(now - arm.now) < 1e-3
    got, wanted = controller(arm, message, now), exact(points, start, now, [0.0] * 3)
    end = now + 3.0 + (after or 0.0)
    for t in np.linspace(now + LATE, end + 0.1, 300):
        np.testing.assert_allclose(sample(got, t).q, sample(wanted, t).q, atol=1e-6)
    first = sample(got, now + LATE)
    assert np.abs(first.q - POSTURE).max() < 1e-3, "no jump"


def test_a_replacement_in_motion_does_not_step_back(arm: Rig) -> None:
    """The controller gets it later than the posture with which it begins."""
    arm.v = list(MOVING)
    arm.until_known()
    message = annotated(arm)
    assert arm.now is not None
    stamp = seconds(message.header.stamp)
    assert abs(stamp - arm.now) < 1e-3, "the time of the posture"
    for late in (0.002, LATE, 0.02):
        there = np.array(POSTURE) + late * np.array(MOVING)
        first = sample(controller(arm, message, stamp + late), stamp + late)
        assert np.abs(first.q - there).max() < 1e-3
        assert np.abs(first.v - MOVING).max() < 0.1
    message.header.stamp.sec = message.header.stamp.nanosec = 0
    now = stamp + 0.02
    back = (
        np.array(POSTURE) + 0.02 * np.array(MOVING) - sample(controller(arm, message, now), now).q
    )
    assert np.abs(back).max() > 0.01, "a negative control: begun when it arrives"


def test_a_motion_from_rest_needs_no_common_clock(arm: Rig) -> None:
    message = annotated(arm)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
    got = controller(arm, message, 7.0)
    np.testing.assert_allclose(sample(got, 7.0).q, POSTURE, atol=1e-9)


def test_effort_is_the_models_whatever_it_was(arm: Rig) -> None:
    """NaN, as a JTC too accepts it, and another number of numbers: the field is not read."""
    plain, box = annotated(arm), inbox(arm)
    for effort in ([float("nan")] * 3, [1e9] * 3, [1.0]):
        message, seen = trajectory(JOINTS, GOAL), box.count
        for point in message.points:
            point.effort = effort
        arm.goals.publish(message)
        arm.feed_until(lambda n=seen: box.count > n, "the annotated trajectory")
        assert [p.effort for p in box.last.points] == [p.effort for p in plain.points]


BEYOND = {
    "position": (
        [(5.0, [0.3, 0.5, 1.2], [0.0] * 3)],
        "position, joint 'joint_3': is 1.2 at 5.000 s",
    ),
    "velocity": ([(0.5, [1.3, 0.5, -0.4], [0.0] * 3)], "velocity, joint 'joint_1': is 3"),
    "effort": ([(0.25, [0.3, 1.3, -0.4], [0.0] * 3)], "effort, joint 'joint_2': is"),
}


def status(rig: Rig, words: str) -> None:
    """Wait for the entry about trajectories in the diagnostics."""
    from diagnostic_msgs.msg import DiagnosticArray

    box = rig.graph.listen("/diagnostics", DiagnosticArray)

    def told() -> bool:
        entries = [s for m in list(box.messages)[-1:] for s in m.status]
        return any(s.name.endswith(": trajectories") and words in s.message for s in entries)

    rig.feed_until(told, f"the status {words!r}")


@pytest.mark.parametrize("kind", BEYOND)
def test_what_is_beyond_limits_is_refused(arm: Rig, kind: str) -> None:
    """With joint, time and value, in the log and in the diagnostics."""
    points, words = BEYOND[kind]
    refused(arm, f"trajectory refused: {words}", lambda: arm.go(points))
    said = arm.process.output.rpartition("trajectory refused: ")[2]  # type: ignore[union-attr]
    assert " s, beyond " in said.splitlines()[0]
    status(arm, words)
    annotated(arm)
    status(arm, "the last one was taken")


@pytest.mark.parametrize("kind", BEYOND)
def test_what_is_beyond_limits_is_sent_with_a_warning_on_request(arm: Rig, kind: str) -> None:
    points, words = BEYOND[kind]
    assert arm.set(annotate__beyond_limits="warn").successful
    try:
        since = arm.log_length
        message = annotated(arm, points)
        arm.until_said(f"trajectory sent although it is beyond limits: {words}", since)
        assert list(message.points[-1].positions) == points[-1][1]
        status(arm, words)
    finally:
        assert arm.set(annotate__beyond_limits="refuse").successful


def test_a_jump_to_the_first_point_is_refused(arm: Rig) -> None:
    away = [(0.0, [0.8, 0.5, -0.4], [0.0] * 3), *GOAL]
    words = "position, joint 'joint_1': is 0.8 where the motion begins, and the joint is at 0.3"
    refused(arm, words, lambda: arm.go(away))
    message = annotated(arm, [(0.0, POSTURE, [0.0] * 3), *GOAL])
    assert list(message.points[0].positions) == POSTURE


def test_a_posture_that_is_old_is_not_begun_with(arm: Rig) -> None:
    from diagnostic_msgs.msg import DiagnosticArray

    def stale(message: Any) -> bool:
        return any("joint states are stale" in entry.message for entry in message.status)

    arm.graph.wait_for_message("/diagnostics", DiagnosticArray, stale)
    words = "trajectory refused: joint_states: no valid message for"
    refused(arm, words, lambda: arm.go(GOAL), feed=False)
    arm.until_known()
    annotated(arm)


def test_the_emergency_stop_stops_further_trajectories(arm: Rig) -> None:
    from std_srvs.srv import SetBool

    def press(pressed: bool) -> Any:
        request = SetBool.Request(data=pressed)
        return arm.graph.call(f"{arm.node}/emergency_stop", SetBool, request)

    answer = press(True)
    assert answer.success
    assert "stop the controller that follows it" in answer.message
    try:
        refused(arm, "trajectory refused: emergency stop: is active", lambda: arm.go(GOAL))
        status(arm, "refused: the emergency stop is active")
        for transition in ("deactivate", "activate"):
            assert arm.graph.change_state(arm.node, transition)
        arm.until_known()
        refused(arm, "trajectory refused: emergency stop: is active", lambda: arm.go(GOAL))
    finally:
        assert press(False).message == "released; trajectories are sent again"
    annotated(arm)


def test_the_old_reference_is_continued_on_request(arm: Rig) -> None:
    """As a JTC does with this parameter: the new way begins where the old one is by then."""
    assert arm.set(interpolate_from_desired_state=True).successful
    try:
        first = annotated(arm, start=arm.now)
        assert arm.now is not None
        stamp = seconds(first.header.stamp)
        arm.now = stamp + 0.4  # the arm itself stands still
        arm.until_known()
        second = annotated(arm, [(2.0, POSTURE, [0.0] * 3)])
        begin = seconds(second.header.stamp)
        old = sample(controller(arm, first, stamp), begin)
        new = sample(controller(arm, second, begin), begin)
        np.testing.assert_allclose(new.q, old.q, atol=1e-6)
        np.testing.assert_allclose(new.v, old.v, atol=1e-6)
        assert np.abs(old.q - POSTURE).max() > 0.05
    finally:
        assert arm.set(interpolate_from_desired_state=False).successful


def test_a_long_trajectory_has_the_models_effort(arm: Rig) -> None:
    """Prepared beside the loop, in two parts; the points' own times and places are kept."""
    t = 0.5 + 0.01 * np.arange(5000)
    q = np.array(POSTURE) + 0.2 * np.sin(0.4 * t)[:, None] * [1.0, 0.5, -1.0]
    v = 0.08 * np.cos(0.4 * t)[:, None] * [1.0, 0.5, -1.0]
    v[-1] = 0.0
    message = annotated(arm, list(zip(t, q, v, strict=True)))
    times = np.array([seconds(p.time_from_start) for p in message.points])
    effort = np.array([p.effort for p in message.points])
    rows = [np.array([getattr(p, f) for p in message.points]) for f in FIELDS]
    at = np.searchsorted(times, t - 1e-6)
    np.testing.assert_allclose(times[at], t, atol=1e-9)
    np.testing.assert_array_equal(rows[0][at], q)
    np.testing.assert_allclose(effort, gd.inverse_dynamics(elbow(), *rows), atol=1e-9)
    np.testing.assert_allclose(rows[0][0], POSTURE, atol=1e-12)


FIELDS = ("positions", "velocities", "accelerations")
