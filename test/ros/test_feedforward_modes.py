"""Each mode end to end: what goes in over DDS, what comes out, beside the model itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import JOINTS, LEAD, POSTURE, Rig, elbow
from geared_dynamics.trajectory import JointTrajectory, Point, Rules, checked, follow, state

TUNED = ("reference", "error")
START = 101.0  # [s] simulated
GOAL = [
    (0.5, [0.4, 0.6, -0.2], [0.3, -0.2, 0.5], [0.5, 0.4, -0.3]),
    (2.0, [0.8, 0.3, 0.1], [0.0] * 3, [0.0] * 3),
]


@pytest.fixture(scope="module")
def stream(rig: Rig) -> Rig:
    """The node in the mode stream, on simulated time."""
    rig.use_clock()
    # Simulated time goes on by leaps here, and clock messages may be lost.
    options = {"state_publish_rate": 50.0, "publish_terms": True, "safety.time_jump": 60.0}
    # It stays behind at first, where the loop is closed; no running node lets go of that.
    options |= {f"constraints.{name}.trajectory": 0.0 for name in JOINTS}
    rig.start(mode="stream", use_sim_time=True, **options)
    rig.until_active()
    return rig


def motion(start: float, now: float) -> Any:
    """The reference as the trajectory room reads it, proved there against published rules."""
    rules = Rules(joints=tuple(JOINTS), rest_after_end=True)
    given = JointTrajectory(JOINTS, [Point(*row) for row in GOAL], start)
    return follow(checked(given, rules, now), state(POSTURE), now, rules)


def wanted(t: float, start: float = START, now: float = 100.0) -> Any:
    return gd.trajectory.sample(motion(start, now), t)


def test_without_reference_it_holds_by_gravity(stream: Rig) -> None:
    stream.until_command(gd.gravity_forces(elbow(), POSTURE), "gravity at the posture")


def test_stream_sends_the_complete_inverse_dynamics(stream: Rig) -> None:
    stream.go(GOAL, START)
    stream.until_said("running: following the reference")
    model = elbow()
    for t in (100.4, 101.3, 101.9, 102.7):
        stream.advance(t)
        at = wanted(t + LEAD)
        exact = gd.inverse_dynamics(model, at.q, at.v, at.a)
        stream.until_command(exact, f"inverse dynamics at {t} s")
        plain = gd.inverse_dynamics(model.with_coupling("diagonal"), at.q, at.v, at.a)
        assert np.abs(plain - exact).max() > 1e-4, "the coupling shows, so the test sees it"


def test_stream_ends_at_rest_at_the_goal(stream: Rig) -> None:
    stream.advance(103.5)
    stream.until_command(gd.gravity_forces(elbow(), GOAL[-1][1]), "gravity at the goal")


def test_tuning_topics_tell_reference_error_and_terms(stream: Rig) -> None:
    from sensor_msgs.msg import JointState

    names = ("reference", "feedback", "error", "output", "terms/gravity", "terms/rotor_coupling")
    boxes = {name: stream.graph.listen(f"{stream.node}/{name}", JointState) for name in names}
    stream.feed_until(lambda: all(box.count for box in boxes.values()), "all tuning topics")
    goal = np.array(GOAL[-1][1])
    assert boxes["reference"].last.name == JOINTS
    np.testing.assert_allclose(boxes["reference"].last.position, goal, atol=1e-9)
    np.testing.assert_allclose(boxes["feedback"].last.position, POSTURE, atol=1e-12)
    np.testing.assert_allclose(boxes["error"].last.position, goal - POSTURE, atol=1e-9)
    gravity = gd.gravity_forces(elbow(), goal)
    np.testing.assert_allclose(boxes["terms/gravity"].last.effort, gravity, atol=1e-6)
    np.testing.assert_allclose(boxes["output"].last.effort, gravity, atol=1e-6)


def test_the_held_posture_is_the_reference(stream: Rig) -> None:
    """While the arm is held, as it is here after the emergency stop."""
    from sensor_msgs.msg import JointState
    from std_srvs.srv import SetBool

    boxes = {name: stream.graph.listen(f"{stream.node}/{name}", JointState) for name in TUNED}
    for pressed in (True, False):
        service = f"{stream.node}/emergency_stop"
        stream.graph.call(service, SetBool, SetBool.Request(data=pressed))
    stream.until_command(gd.gravity_forces(elbow(), POSTURE), "gravity at the posture")

    def held() -> bool:
        last = [box.last for box in boxes.values() if box.messages]
        return len(last) == 2 and np.allclose([m.position for m in last], [POSTURE, [0.0] * 3])

    stream.feed_until(held, "the posture at which it is held")
    assert list(boxes["reference"].last.velocity) == [0.0] * 3


def test_computed_torque_closes_the_loop(stream: Rig) -> None:
    stream.reconfigure(mode="computed_torque", bandwidth=8.0, damping_ratio=0.9)
    stream.advance(104.0)
    stream.go(GOAL, 105.0)
    since = stream.log_length
    stream.until_said("running", since)
    model, t = elbow(), 105.8
    at, ahead = wanted(t, 105.0, 104.0), wanted(t + LEAD, 105.0, 104.0)
    stream.q = (at.q - [0.02, -0.01, 0.03]).tolist()
    stream.until_there()
    stream.advance(t)
    stream.v = (at.v + np.array([0.01, 0.02, -0.01])).tolist()
    feedback = 64.0 * (at.q - stream.q) + 14.4 * (at.v - stream.v)
    exact = gd.inverse_dynamics(model, stream.q, stream.v, ahead.a + feedback)
    stream.until_command(exact, "computed torque", 1e-5)
    stream.q, stream.v = list(POSTURE), [0.0] * 3
    stream.until_there()


def test_annotate_fills_in_effort(stream: Rig) -> None:
    """The joint trajectory controller's rules between the points give the model's force."""
    from trajectory_msgs.msg import JointTrajectory as Message

    stream.reconfigure(mode="annotate")
    topic = f"{stream.node}/annotated_trajectory"
    box = stream.graph.listen(topic, Message)
    feedback = stream.graph.listen(f"{stream.node}/feedback", _joint_state())
    before = feedback.count
    stream.feed_until(lambda: feedback.count > before, "the node to know where the robot is")
    stream.go(GOAL)
    stream.graph.wait_for_publishers(topic)
    stream.feed_until(lambda: box.count, "the annotated trajectory")
    sent = box.last
    first = sent.points[0]
    assert (first.time_from_start.sec, first.time_from_start.nanosec) == (0, 0)
    model = elbow()
    gravity = gd.gravity_forces(model, POSTURE)
    assert list(sent.joint_names) == JOINTS
    # The first segment starts from rest, with the acceleration that its polynomial has there.
    exact = motion(100.0, 100.0)
    begin = gd.trajectory.sample(exact, 100.0)
    np.testing.assert_allclose(first.effort, gd.inverse_dynamics(model, *begin[:3]), atol=1e-9)
    assert np.abs(first.effort - gravity).max() < 1e-6, "at rest, without acceleration"
    steps = np.diff([seconds(p.time_from_start) for p in sent.points])
    assert 0.0 < steps.min()
    assert steps.max() <= 0.01 + 1e-9
    # A controller that was given this trajectory at 100 s:
    rules = Rules(joints=tuple(JOINTS))
    points = [
        Point(seconds(p.time_from_start), p.positions, p.velocities, p.accelerations, p.effort)
        for p in sent.points
    ]
    waypoints = checked(JointTrajectory(JOINTS, points), rules, 100.0)
    followed = follow(waypoints, state(POSTURE), 100.0, rules)
    times = 100.0 + np.linspace(0.0, 1.9999, 3001)
    got = np.array([gd.trajectory.sample(followed, t).effort for t in times])
    rows = gd.trajectory.derivatives(exact, times, 2)
    true = gd.inverse_dynamics(model, rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].copy())
    largest = np.abs(true).max(axis=0)
    assert (np.abs(got - true) / largest).max() < 0.005
    # Not so if the points were as far apart as those that came in.
    coarse = true[::1000]
    line = np.array([np.interp(times, times[::1000], coarse[:, k]) for k in range(3)]).T
    assert (np.abs(line - true) / largest).max() > 0.005
    q = np.array([gd.trajectory.sample(followed, t).q for t in times])
    np.testing.assert_allclose(q, rows[:, 0], atol=1e-7)


def seconds(time: Any) -> float:
    return float(time.sec + 1e-9 * time.nanosec)


def _joint_state() -> Any:
    from sensor_msgs.msg import JointState

    return JointState
