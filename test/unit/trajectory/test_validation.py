"""Trajectories that are refused: with the point, the joint and the remedy."""

from __future__ import annotations

import pickle
from array import array
from typing import Any

import pytest
from numpy.testing import assert_array_equal

from geared_dynamics import GearedDynamicsError
from geared_dynamics.trajectory import (
    INVALID_GOAL,
    INVALID_JOINTS,
    OLD_HEADER_TIMESTAMP,
    JointTrajectory,
    Point,
    Rules,
    TrajectoryError,
    checked,
)

JOINTS = ["shoulder", "elbow"]
NOW = 1000.0
INTEGRATE = {"allow_integration_in_goal_trajectories": True}
ENDING = {"allow_nonzero_velocity_at_trajectory_end": True}
NAN, INF = float("nan"), float("inf")
TWO = [0.0, 0.0]
GOOD = [Point(1.0, [1.0, 2.0], TWO, TWO, TWO), Point(2.0, [3.0, 4.0], TWO, TWO, TWO)]


def changed(k: int, **fields: Any) -> list[Point]:
    """The good points with one changed."""
    points = list(GOOD)
    points[k] = points[k]._replace(**fields)
    return points


def goal(points: Any = GOOD, names: Any = JOINTS, start: Any = None) -> JointTrajectory:
    return JointTrajectory(names, points, start)


# Trajectory, changed rules, code, words of the error.
REFUSED: dict[str, tuple[JointTrajectory, dict[str, Any], int, list[str]]] = {
    "no names": (goal(names=[]), {}, INVALID_JOINTS, ["joint_names", "empty", "shoulder, elbow"]),
    "unknown": (
        goal(names=["shoulder", "elbows"]),
        {},
        INVALID_JOINTS,
        ["no joint 'elbows' (index 1)", "did you mean 'elbow'"],
    ),
    "no text": (
        goal(names=["shoulder", 3]),
        {},
        INVALID_JOINTS,
        ["no joint 3", "valid: shoulder"],
    ),
    "twice": (
        goal(names=["elbow", "elbow"]),
        {},
        INVALID_JOINTS,
        ["'elbow' stands at index 0 and 1", "once"],
    ),
    "missing": (
        goal([Point(1.0, [1.0])], ["elbow"]),
        {},
        INVALID_JOINTS,
        ["'shoulder' missing", "allow_partial_joints_goal"],
    ),
    "no points": (goal([]), {}, INVALID_GOAL, ["points: the list is empty", "at least one"]),
    "no Point": (goal([(1.0, TWO)]), {}, INVALID_GOAL, ["point 0: is a tuple", "Point"]),
    "old": (
        goal(start=900.0),
        {},
        OLD_HEADER_TIMESTAMP,
        ["start: is 900 s", "ended 98 s ago", "clocks"],
    ),
    "NaN stamp": (goal(start=NAN), {}, INVALID_GOAL, ["start: is nan", "finite"]),
    "text stamp": (goal(start="now"), {}, INVALID_GOAL, ["start: is 'now'", "seconds"]),
    "negative time": (goal(changed(0, time=-0.1)), {}, INVALID_GOAL, ["point 0, time", "-0.1 s"]),
    "same time": (
        goal(changed(1, time=1.0)),
        {},
        INVALID_GOAL,
        ["point 1, time: 1 s is not later than point 0 (1 s)", "strictly"],
    ),
    "back in time": (
        goal(changed(1, time=0.5)),
        {},
        INVALID_GOAL,
        ["point 1, time: 0.5 s is not"],
    ),
    "NaN time": (goal(changed(1, time=NAN)), {}, INVALID_GOAL, ["point 1, time: is nan"]),
    "no time": (goal(changed(1, time=None)), {}, INVALID_GOAL, ["point 1, time: is None"]),
    "few positions": (
        goal(changed(1, positions=[1.0])),
        {},
        INVALID_GOAL,
        ["point 1, positions: has 1 numbers for 2 joints"],
    ),
    "many velocities": (
        goal(changed(0, velocities=[0.0] * 3)),
        {},
        INVALID_GOAL,
        ["point 0, velocities: has 3 numbers for 2 joints"],
    ),
    "few accelerations": (
        goal(changed(0, accelerations=[0.0])),
        {},
        INVALID_GOAL,
        ["point 0, accelerations: has 1"],
    ),
    "few effort": (goal(changed(1, effort=[0.0])), {}, INVALID_GOAL, ["point 1, effort: has 1"]),
    "a number": (
        goal(changed(0, positions=1.0)),
        {},
        INVALID_GOAL,
        ["point 0, positions: is 1.0"],
    ),
    "text": (
        goal(changed(0, positions=["1", "2"])),
        {},
        INVALID_GOAL,
        ["positions", "not a real number"],
    ),
    "nested": (
        goal([Point(1.0, [[1.0], [2.0]])]),
        {},
        INVALID_GOAL,
        ["positions", "not a real number"],
    ),
    "NaN position": (
        goal(changed(1, positions=[0.0, NAN])),
        {},
        INVALID_GOAL,
        ["point 1, positions, joint 'elbow': is nan", "finite"],
    ),
    "infinite effort": (
        goal(changed(0, effort=[INF, 0.0])),
        {},
        INVALID_GOAL,
        ["point 0, effort, joint 'shoulder': is inf"],
    ),
    "moving end": (
        goal(changed(1, velocities=[0.0, 0.25])),
        {},
        INVALID_GOAL,
        ["point 1, velocities, joint 'elbow': is 0.25", "allow_nonzero_velocity"],
    ),
    "no positions": (
        goal(changed(1, positions=None)),
        {},
        INVALID_GOAL,
        ["point 1, positions: are missing", "allow_integration"],
    ),
    "empty positions": (goal(changed(0, positions=[])), {}, INVALID_GOAL, ["point 0, positions"]),
    "nothing": (
        goal([Point(1.0, effort=TWO)]),
        INTEGRATE,
        INVALID_GOAL,
        ["point 0, positions: are missing, and so are their derivatives"],
    ),
    "stairs do not integrate": (
        goal(changed(1, positions=None)),
        {**INTEGRATE, "interpolation_method": "none"},
        INVALID_GOAL,
        ["point 1, positions", "splines"],
    ),
    "accelerations alone": (
        goal(changed(1, velocities=None)),
        {},
        INVALID_GOAL,
        ["point 1, accelerations: are given without velocities", "give velocities"],
    ),
    "nobody commands effort": (
        goal(),
        {"command_interfaces": ("position",)},
        INVALID_GOAL,
        ["point 0, effort", "command_interfaces"],
    ),
}


@pytest.mark.parametrize(("bad", "rules", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(bad: JointTrajectory, rules: dict[str, Any], code: int, words: list[str]) -> None:
    checked(goal(), Rules(JOINTS), NOW)  # type: ignore[arg-type]
    with pytest.raises(TrajectoryError) as caught:
        checked(bad, Rules(JOINTS, **rules), NOW)  # type: ignore[arg-type]
    assert isinstance(caught.value, GearedDynamicsError)
    assert caught.value.code == code
    for word in words:
        assert word in str(caught.value)
    assert caught.value.finding
    assert caught.value.remedy
    assert pickle.loads(pickle.dumps(caught.value)).code == code


ALLOWED: dict[str, tuple[JointTrajectory, dict[str, Any]]] = {
    "some joints": (goal([Point(1.0, [1.0])], ["elbow"]), {"allow_partial_joints_goal": True}),
    "moving end": (goal(changed(1, velocities=[0.0, 0.25])), ENDING),
    "almost standing": (goal(changed(1, velocities=[0.0, 1.1e-7])), {}),  # JTC's 1.19e-7
    "speeds only": (goal([Point(1.0, None, TWO)]), INTEGRATE),
    "integrated end in motion": (goal([Point(1.0, None, None, [1.0, 1.0])]), INTEGRATE),
    "stairs take all as it is": (
        goal(changed(0, velocities=None)),
        {"interpolation_method": "none"},
    ),
    "stamp that ends now": (goal(start=NOW - 2.0), {}),
    "message arrays": (goal([Point(1.0, array("d", [1.0, 2.0]), array("d"))]), {}),
    "integers": (goal([Point(1, [1, 2], [0, 0])]), {}),
    "no effort where nobody commands it": (
        goal([Point(1.0, TWO, effort=[])]),
        {"command_interfaces": ("position",)},
    ),
}


@pytest.mark.parametrize(("good", "rules"), ALLOWED.values(), ids=ALLOWED)
def test_allowed(good: JointTrajectory, rules: dict[str, Any]) -> None:
    waypoints = checked(good, Rules(JOINTS, **rules), NOW)  # type: ignore[arg-type]
    assert waypoints.joint_names == tuple(JOINTS)
    assert waypoints.duration == good.points[-1].time


def test_what_is_given() -> None:
    points = [Point(1.0, [1.0, 2.0]), Point(2.0, [3.0, 4.0], TWO, effort=[5.0, 6.0])]
    found = checked(goal(points, ["elbow", "shoulder"]), Rules(JOINTS), NOW)  # type: ignore[arg-type]
    assert_array_equal(found.positions, [[2.0, 1.0], [4.0, 3.0]])
    assert_array_equal(found.effort, [[0.0, 0.0], [6.0, 5.0]])
    assert_array_equal(found.has_positions, [True, True])
    assert_array_equal(found.has_velocities, [False, True])
    assert_array_equal(found.has_accelerations, [False, False])
    assert_array_equal(found.has_effort, [False, True])
    assert_array_equal(found.held, [False, False])
    assert (found.n, found.start) == (2, None)
    with pytest.raises(ValueError, match="read-only"):
        found.positions[0] = 0.0


BAD_RULES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no joints": ({"joints": ()}, ["joints: the list is empty"]),
    "one text": ({"joints": "elbow"}, ["joints: is 'elbow'", "list"]),
    "a number": ({"joints": 3}, ["joints: is 3"]),
    "no texts": ({"joints": (1, 2)}, ["joints: is (1, 2)"]),
    "twice": ({"joints": ("a", "a")}, ["'a' twice"]),
    "continuous": ({"continuous": ("elbo",)}, ["'elbo'", "did you mean 'elbow'"]),
    "method": ({"interpolation_method": "spline"}, ["'spline'", "did you mean 'splines'"]),
}


@pytest.mark.parametrize(("wrong", "words"), BAD_RULES.values(), ids=BAD_RULES)
def test_bad_rules(wrong: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(TrajectoryError) as caught:
        Rules(**{"joints": tuple(JOINTS), **wrong})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("now", [NAN, None, "soon"])
def test_bad_clock(now: Any) -> None:
    with pytest.raises(TrajectoryError, match="now"):
        checked(goal(), Rules(JOINTS), now)  # type: ignore[arg-type]
