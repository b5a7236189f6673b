"""Effort in a trajectory: dense enough, right at jumps, the same as the model's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control import controller
from geared_dynamics.runtime.annotation import (
    GAP,
    MOST,
    Annotation,
    Answer,
    Posture,
    annotate,
    annotated,
    tail_of,
    with_jumps,
)
from geared_dynamics.trajectory import (
    JointTrajectory,
    MotionLimits,
    Point,
    Rules,
    TrajectoryError,
    checked,
    follow,
    sample,
    state,
)

URDF = Path(__file__).resolve().parents[3] / "urdf"
START = [0.1, 0.2, -0.3, 0.2, 0.1, 0.0]
# Linear, cubic and quintic segments: velocity, acceleration or neither jumps between them.
WAYS = {
    "cubic": [(0.6, [0.5] * 6, [0.8] * 6), (1.7, [1.0] * 6, [0.0] * 6)],
    "quintic": [(0.6, [0.5] * 6, [0.8] * 6, [0.1] * 6), (1.7, [1.0] * 6, [0.0] * 6, [0.0] * 6)],
    "short": [(0.02, [0.11, 0.2, -0.3, 0.2, 0.1, 0.0], [0.0] * 6)],
}


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    """With Coulomb friction, steep where a joint turns back."""
    return gd.load_model(URDF / "puma560.urdf", URDF / "puma560.drivetrain.yaml")


def motion(model: gd.GearedModel, way: list[tuple[Any, ...]]) -> Any:
    rules = Rules(joints=model.joint_names, rest_after_end=True)
    points = JointTrajectory(model.joint_names, [Point(*row) for row in way])
    return follow(checked(points, rules, 0.0), state(START), 0.0, rules)


def force(model: gd.GearedModel, rows: Any) -> Any:
    q, v, a = (np.ascontiguousarray(rows[:, k]) for k in range(3))
    return gd.inverse_dynamics(model, q, v, a) + gd.friction_forces(model, v, q)


@pytest.mark.parametrize("way", WAYS)
def test_the_controllers_rules_reproduce_the_force(model: gd.GearedModel, way: str) -> None:
    exact = motion(model, WAYS[way])
    made = annotated(exact, controller(model).setting, 0.01, 0.002)
    assert made.times[0] == 0.0
    assert 0.4 * GAP < np.diff(made.times).min()
    assert np.diff(made.times).max() <= 0.01 + 1e-12
    rules = Rules(joints=model.joint_names)
    rows = zip(made.times, made.q, made.v, made.a, made.effort, strict=True)
    points = JointTrajectory(model.joint_names, [Point(*row) for row in rows])
    read = follow(checked(points, rules, 0.0), state(START), 0.0, rules)
    end = WAYS[way][-1][0]
    times = np.linspace(0.0, end - 2 * GAP, 4001)
    knots = np.array([row[0] for row in WAYS[way]])
    clear = (np.abs(times[:, None] - knots) > 2 * GAP).all(axis=1)
    times = times[clear]
    got = np.array([sample(read, t).effort for t in times])
    true = force(model, gd.trajectory.derivatives(exact, times, 2))
    assert (np.abs(got - true) / np.abs(made.effort).max(axis=0)).max() < 0.005


def test_it_ends_at_rest_with_gravity(model: gd.GearedModel) -> None:
    made = annotated(motion(model, WAYS["cubic"]), controller(model).setting, 0.01, 0.002)
    last = gd.gravity_forces(model, made.q[-1])
    np.testing.assert_allclose(made.effort[-1], last, atol=1e-9)
    assert not made.v[-1].any()


def test_switches_count(model: gd.GearedModel) -> None:
    from geared_dynamics.control import Terms

    way = motion(model, WAYS["cubic"])
    off = Terms(use_gravity_compensation=False)
    whole = annotated(way, controller(model).setting, 0.05, 0.1)
    part = annotated(way, controller(model, terms=off).setting, 0.05, 0.1)
    gravity = gd.gravity_forces(model, whole.q[0])
    np.testing.assert_allclose(whole.effort[0] - part.effort[0], gravity, atol=1e-9)


# -- where the points are put -----------------------------------------------------------------


def test_it_is_refined_where_the_line_would_be_off(model: gd.GearedModel) -> None:
    """And nowhere else; halved until it is good, but not beyond."""
    way = motion(model, WAYS["cubic"])
    coarse = annotated(way, controller(model).setting, 0.3, 10.0)
    fine = annotated(way, controller(model).setting, 0.3, 1e-4)
    assert coarse.error > 100 * 1e-4
    assert fine.error <= 1e-4
    steps = np.diff(fine.times)
    halved = np.diff(coarse.times)
    assert len(fine.times) > 3 * len(coarse.times)
    assert set(coarse.times) < set(fine.times)
    assert steps[steps > 1.5 * GAP].min() >= min(halved[halved > 1.5 * GAP]) / 2**8 - 1e-12
    # Each step that is twice as long as need be would be off.
    middle = 0.5 * (fine.times[1:] + fine.times[:-1])
    true = force(model, gd.trajectory.derivatives(way, middle, 2))
    line = 0.5 * (fine.effort[1:] + fine.effort[:-1])
    miss = np.abs(line - true) / np.abs(fine.effort).max(axis=0)
    assert miss[steps > 1.5 * GAP].max() <= 1e-4 * 1.01


@pytest.mark.parametrize(("way", "jumps"), [("cubic", [0.6]), ("quintic", []), ("short", [])])
def test_two_points_stand_where_the_acceleration_jumps(
    model: gd.GearedModel, way: str, jumps: list[float]
) -> None:
    """At inner waypoints of cubics; at the end always, for the arm rests from there on."""
    exact = motion(model, WAYS[way])
    times = with_jumps(exact, np.array([0.0, *(row[0] for row in WAYS[way])]))
    before = times[:-1][np.diff(times) < 2 * GAP]
    np.testing.assert_allclose(before, np.array([*jumps, WAYS[way][-1][0]]) - GAP, atol=1e-12)


def test_a_motion_without_end_is_refused(model: gd.GearedModel) -> None:
    way = motion(model, [(1.01e-3 * MOST, [0.5] * 6, [0.0] * 6)])
    with pytest.raises(
        TrajectoryError, match=r"annotate.period: would result in more than 200000"
    ):
        annotated(way, controller(model).setting, 1e-3, 0.1)


# -- what a controller makes of it ------------------------------------------------------------

V0 = [0.4, -0.3, 0.5, 0.2, 0.0, -0.6]
NOW = 100.0
FREE = MotionLimits(*(np.full(6, sign * np.inf) for sign in (-1, 1, 1)))


def given(model: gd.GearedModel, **changes: Any) -> Annotation:
    rules = Rules(joints=model.joint_names, rest_after_end=True)
    standard = {"rules": rules, "limits": FREE, "effort": np.full(6, np.inf), "jump": 0.1}
    steps = {"resting": 0.02, "period": 0.01, "tolerance": 0.002}
    return Annotation(controller(model).setting, **standard | steps | changes)


def answered(
    model: gd.GearedModel,
    points: list[tuple[Any, ...]],
    start: float | None = None,
    v: Any = V0,
    how: Annotation | None = None,
    q: Any = START,
) -> Answer:
    how = how or given(model)
    trajectory = JointTrajectory(model.joint_names, [Point(*row) for row in points], start)
    tail = tail_of(checked(trajectory, how.rules, NOW), how)
    return annotate(tail, Posture(state(q, v), NOW), how)


def followed(
    model: gd.GearedModel, answer: Answer, late: float, start: float | None = None
) -> Any:
    """The controller's reference, from the message that came so late; its published rules."""
    dense = answer.dense
    stamp = {"none": None, "posture": NOW, "given": start}[answer.stamp]
    rows = zip(dense.times, dense.q, dense.v, dense.a, dense.effort, strict=True)
    message = JointTrajectory(model.joint_names, [Point(*row) for row in rows], stamp)
    rules = Rules(joints=model.joint_names, allow_nonzero_velocity_at_trajectory_end=True)
    there = state(np.array(START) + 5.0)  # must not matter: no way from there is made up
    return follow(checked(message, rules, NOW + late), there, NOW + late, rules)


LATE = 0.004  # [s] from the joint state to the controller
STAMPS: dict[str, float | None] = {
    "now": None,
    "0.3 s ago": NOW - 0.3,
    "joined in the middle": NOW - 0.6 - 1e-3,
    "in half a second": NOW + 0.5,
}


@pytest.mark.parametrize("way", ["cubic", "quintic"])
@pytest.mark.parametrize("stamp", STAMPS)
def test_the_motion_is_that_which_the_controller_would_make(
    model: gd.GearedModel, stamp: str, way: str
) -> None:
    """Of the trajectory as it came, from the posture and at its time, whatever its stamp."""
    start = STAMPS[stamp]
    points = WAYS[way]
    if stamp == "joined in the middle":  # where it is by then is where the arm is
        points = [(0.6, START, *points[0][2:]), *points[1:]]
    answer = answered(model, points, start)
    got = followed(model, answer, LATE, start)
    rules = Rules(joints=model.joint_names, rest_after_end=True)
    trajectory = JointTrajectory(model.joint_names, [Point(*row) for row in points], start)
    exact = follow(checked(trajectory, rules, NOW), state(START, V0), NOW, rules)
    for t in np.linspace(NOW + LATE, NOW + 2.3, 400):
        one, other = sample(exact, t), sample(got, t)
        np.testing.assert_allclose(other.q, one.q, atol=1e-7, err_msg=str(t))


def test_a_motion_from_rest_begins_when_it_arrives(model: gd.GearedModel) -> None:
    """Whatever the clocks of two machines say: its header has no time."""
    assert answered(model, WAYS["cubic"], v=[0.019] * 6).stamp == "none"
    assert answered(model, WAYS["cubic"], v=[0.021] * 6).stamp == "posture"
    assert answered(model, WAYS["cubic"], NOW - 0.1, v=[0.0] * 6).stamp == "posture"


def test_a_replacement_in_motion_does_not_step_back(model: gd.GearedModel) -> None:
    """Where the controller joins, the arm is by then; stamped with nothing it steps back."""
    answer = answered(model, WAYS["cubic"])
    first = sample(followed(model, answer, LATE), NOW + LATE)
    there = np.array(START) + LATE * np.array(V0)
    assert np.abs(first.q - there).max() < 1e-4
    unstamped = sample(followed(model, answer._replace(stamp="none"), LATE), NOW + LATE)
    assert np.abs(unstamped.q - there).max() > 0.9 * LATE * 0.6, "a negative control"


def test_a_first_point_at_once_needs_no_posture(model: gd.GearedModel) -> None:
    how = given(model)
    rows = [(0.0, START, [0.0] * 6), *WAYS["cubic"]]
    points = JointTrajectory(model.joint_names, [Point(*row) for row in rows])
    tail = tail_of(checked(points, how.rules, NOW), how)
    blind = annotate(tail, None, how)
    seen = annotate(tail, Posture(state(START, V0), NOW), how)
    assert blind.stamp == seen.stamp == "none"
    for one, other in zip(blind.dense, seen.dense, strict=True):
        np.testing.assert_array_equal(one, other)
    late = tail_of(checked(points._replace(start=NOW + 1.0), how.rules, NOW), how)
    for other_tail in (late, tail_of(checked(as_one(model, "cubic"), how.rules, NOW), how)):
        with pytest.raises(TrajectoryError, match="no joint state has been received"):
            annotate(other_tail, None, how)


def as_one(model: gd.GearedModel, way: str) -> JointTrajectory:
    return JointTrajectory(model.joint_names, [Point(*row) for row in WAYS[way]])


def test_way_and_tail_are_the_whole(model: gd.GearedModel) -> None:
    """What is computed before the posture is known fits to what is computed after."""
    how = given(model)
    answer = answered(model, WAYS["cubic"])
    waypoints = checked(as_one(model, "cubic"), how.rules, NOW)
    exact = follow(waypoints, state(START, V0), NOW, how.rules)
    dense = answer.dense
    assert (np.diff(dense.times) > 0.4 * GAP).all()
    assert dense.times[0] == 0.0
    rows = gd.trajectory.derivatives(exact, NOW + dense.times[:-1], 2)
    np.testing.assert_allclose(dense.q[:-1], rows[:, 0], atol=1e-9)
    clear = np.abs(dense.times[:-1] - 0.6) > 1e-9  # where the acceleration jumps
    assert clear.sum() == len(clear) - 1
    np.testing.assert_allclose(dense.effort[:-1][clear], force(model, rows)[clear], atol=1e-6)
    np.testing.assert_allclose(dense.effort[-1], gd.gravity_forces(model, dense.q[-1]), atol=1e-9)


def test_joints_that_are_not_named_stay(model: gd.GearedModel) -> None:
    rules = Rules(model.joint_names, allow_partial_joints_goal=True, rest_after_end=True)
    how = given(model, rules=rules)
    points = JointTrajectory(model.joint_names[:1], [Point(1.0, [0.5], [0.0])])
    tail = tail_of(checked(points, rules, NOW), how)
    answer = annotate(tail, Posture(state(START, [0.0] * 6), NOW), how)
    np.testing.assert_allclose(answer.dense.q[-1], [0.5, *START[1:]], atol=1e-12)
    with pytest.raises(TrajectoryError, match="no joint state has been received"):
        annotate(tail, None, how)


# -- limits -----------------------------------------------------------------------------------


def limits(**changes: Any) -> MotionLimits:
    """Of the second joint only."""
    rows = {name: getattr(FREE, name).copy() for name in MotionLimits._fields}
    for name, value in changes.items():
        rows[name][1] = value
    return MotionLimits(**rows)


def effort(most: float) -> Any:
    found = np.full(6, np.inf)
    found[1] = most
    return found


def beyond(model: gd.GearedModel) -> dict[str, tuple[dict[str, Any], str]]:
    """Limits that the way of these tests exceeds, and the words of it."""
    name = repr(model.joint_names[1])
    return {
        "position": ({"limits": limits(upper=0.95)}, f"position, joint {name}: is 1"),
        "velocity": ({"limits": limits(velocity=0.75)}, f"velocity, joint {name}: is"),
        "effort": ({"effort": effort(20.0)}, f"effort, joint {name}: is"),
    }


@pytest.mark.parametrize("kind", ["position", "velocity", "effort"])
@pytest.mark.parametrize("way", ["cubic", "short"])
def test_beyond_a_limit_it_is_refused(model: gd.GearedModel, kind: str, way: str) -> None:
    changes, words = beyond(model)[kind]
    points = WAYS[way]
    if way == "short":  # all within one way from the posture, which is too fast or too far
        points = [(0.2 if kind == "velocity" else 0.6, [0.5, 1.0, 0, 0, 0, 0], [0.0] * 6)]
    with pytest.raises(TrajectoryError) as raised:
        answered(model, points, how=given(model, **changes))
    assert words in str(raised.value)
    assert " s, beyond " in str(raised.value)
    answer = answered(model, points, how=given(model, refuse=False, **changes))
    assert [words in line for line in answer.warnings] == [True] * len(answer.warnings)
    assert answer.warnings
    plain = answered(model, points)
    np.testing.assert_array_equal(answer.dense.effort, plain.dense.effort)
    assert not plain.warnings


def test_the_effort_reported_is_the_largest(model: gd.GearedModel) -> None:
    dense = answered(model, WAYS["cubic"]).dense
    k = int(np.abs(dense.effort[:, 1]).argmax())
    most = abs(dense.effort[k, 1])
    answered(model, WAYS["cubic"], how=given(model, effort=effort(most)))
    with pytest.raises(TrajectoryError) as raised:
        answered(model, WAYS["cubic"], how=given(model, effort=effort(most * 0.999)))
    assert f"is {dense.effort[k, 1]:.6g} at {dense.times[k]:.3f} s" in str(raised.value)


def test_times_in_a_refusal_count_as_those_of_the_points(model: gd.GearedModel) -> None:
    changes, _ = beyond(model)["position"]
    for start in (None, NOW + 0.5, NOW - 0.3):
        with pytest.raises(TrajectoryError, match=r"at 1\.\d\d\d s, beyond 0.95"):
            answered(model, WAYS["cubic"], start, how=given(model, **changes))


def test_an_arm_beyond_a_limit_is_led_back(model: gd.GearedModel) -> None:
    how = given(model, limits=limits(upper=0.15))
    answered(model, [(2.0, [0.1] * 6, [0.0] * 6)], v=[0.0] * 6, how=how)
    with pytest.raises(TrajectoryError, match=r"beyond 0\.2"):
        answered(model, [(2.0, [0.1] * 6, [0.0] * 6)], how=how, v=[0.0, 0.4, 0, 0, 0, 0])


@pytest.mark.parametrize("start", [None, NOW - 0.5])
def test_a_jump_at_the_beginning_is_refused(model: gd.GearedModel, start: float | None) -> None:
    """The controller joins a trajectory that has begun wherever it is by then."""
    points = [(0.0, START, [0.0] * 6), (1.0, np.array(START) + 1.0, [0.0] * 6)]
    q = np.array(START) + ([0.0, 0.11, 0, 0, 0, 0] if start is None else 0.0)
    with pytest.raises(TrajectoryError, match=r"it would jump; give the first point time"):
        answered(model, points, start, q=q)
    answer = answered(model, points, start, q=q, how=given(model, refuse=False))
    assert "it would jump" in answer.warnings[0]
    near = np.array(START) + (0.09 if start is None else 0.5)
    assert not answered(model, points, start, q=near).warnings
