"""What single calls of the nodes do, on stand-ins for all that needs other processes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

from rclpy.action import GoalResponse
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.errors import ModelError
from geared_dynamics.ros import plant, trajectories
from geared_dynamics.ros.action import TrajectoryAction
from geared_dynamics.ros.model_node import ModelNode
from geared_dynamics.ros.plant import PlantNode
from geared_dynamics.ros.trajectories import References
from geared_dynamics.runtime import plant_node_settings


class Log:
    """What was logged, by severity."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def __getattr__(self, severity: str) -> Any:
        return lambda text: self.lines.append((severity, text))


def stand_in(**given: Any) -> Any:
    """A node with a log."""
    log = Log()
    return SimpleNamespace(log=log, get_logger=lambda: log, **given)


# -- a new description ---------------------------------------------------------------------------


def described(taken: object, loop: object, error: Exception | None = None) -> Any:
    """A node for whose model another one was built."""

    def exchange(parameters: object, model: object) -> None:
        node.calls.append((parameters, model))
        if error is not None:
            raise error

    node = stand_in(
        model="old",
        loop=loop,
        parameters="given",
        calls=[],
        exchanged="the loop goes on",
        description=SimpleNamespace(taken=lambda: taken),
        exchange_model=exchange,
    )
    ModelNode.take_description(node)
    return node


def test_a_model_of_a_new_description_is_taken_over() -> None:
    node = described("new", object())
    assert (node.calls, node.model) == ([("given", "new")], "new")
    said = "the robot description has changed; the loop goes on"
    assert node.log.lines == [("info", said)]


def test_a_model_that_the_loop_refuses_is_not_used() -> None:
    node = described("new", object(), ModelError("place", "is wrong", "correct it"))
    assert (node.calls, node.model) == ([("given", "new")], "old")
    said = "new description not used: place: is wrong; correct it"
    assert node.log.lines == [("error", said)]


@pytest.mark.parametrize(("taken", "loop"), [(None, object()), ("new", None)])
def test_without_a_new_model_or_a_loop_nothing_changes(taken: object, loop: object) -> None:
    node = described(taken, loop)
    assert (node.calls, node.model, node.log.lines) == ([], "old", [])


# -- goals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["active", "loop", "goals"])
def test_no_goal_before_the_node_is_active(missing: str) -> None:
    counters = SimpleNamespace(refused=4)
    loop = None if missing == "loop" else SimpleNamespace(counters=counters)
    node = stand_in(active=missing != "active", loop=loop, state_label="inactive")
    action: Any = SimpleNamespace(_node=node, goals=None if missing == "goals" else object())
    goal: Any = SimpleNamespace(trajectory=JointTrajectory())
    assert TrajectoryAction._on_goal(action, goal) == GoalResponse.REJECT
    ((severity, text),) = node.log.lines
    assert severity == "error"
    assert "is inactive; activate it first" in text
    assert counters.refused == 4 + (loop is not None)


@pytest.mark.parametrize("annotating", [True, False])
def test_a_goal_replaces_what_came_before(annotating: bool) -> None:
    dropped: list[bool] = []
    node = stand_in(
        active=True,
        loop=object(),
        annotating=annotating,
        clock_time=lambda: 7.0,
        references=SimpleNamespace(drop=lambda: dropped.append(True)),
    )
    action: Any = SimpleNamespace(
        _node=node,
        goals=object(),
        _new=None,
        _annotated=lambda goal: ("annotated", goal),
        _followed=lambda goal, clock: ("followed", goal, clock),
    )
    goal: Any = SimpleNamespace(trajectory=JointTrajectory())
    assert TrajectoryAction._on_goal(action, goal) == GoalResponse.ACCEPT
    assert action._new == (("annotated", goal) if annotating else ("followed", goal, 7.0))
    assert (dropped, node.log.lines) == ([True], [])


# -- annotated trajectories ----------------------------------------------------------------------

POSTURE, GIVEN = 5_000_000_007, 8_250_000_000  # [ns]


@pytest.mark.parametrize(
    ("stamp", "expected"), [("posture", (5, 7)), ("given", (8, 250_000_000)), ("zero", (0, 0))]
)
@pytest.mark.parametrize("continued", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_the_annotated_motion_begins_when_it_says(
    stamp: str,
    expected: tuple[int, int],
    continued: bool,
    known: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posture = SimpleNamespace(state="state", time=2.5) if known else None
    answer = SimpleNamespace(stamp=stamp, warnings=("too fast", "too far"), dense="motion")
    monkeypatch.setattr(trajectories, "annotate", lambda *given: asked.append(given) or answer)
    monkeypatch.setattr(trajectories, "annotation_of", lambda setup: ("how", setup))
    monkeypatch.setattr(trajectories, "follow", lambda *given: ("sent", *given))
    setup = SimpleNamespace(continued=continued, rules="rules")
    node = stand_in(loop=SimpleNamespace(setup=setup), posture_stamp=POSTURE)
    references: Any = SimpleNamespace(_node=node, _posture=lambda: posture, _sent="before")
    received = SimpleNamespace(header=JointTrajectory().header, stamp=GIVEN)
    tail: Any = SimpleNamespace(waypoints="waypoints")
    asked: list[Any] = []
    assert References._annotated(references, received, tail) == "motion"
    assert asked == [(tail, posture, ("how", setup))]
    assert (received.header.stamp.sec, received.header.stamp.nanosec) == expected
    sent = ("sent", "waypoints", "state", 2.5, "rules") if continued and known else None
    assert references._sent == sent
    assert references.last == "too fast; too far"
    begin = "trajectory sent although it is beyond limits: "
    assert node.log.lines == [("warning", begin + line) for line in answer.warnings]


# -- the plant -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lock_step", [True, False])
@pytest.mark.parametrize("waiting", [True, False])
def test_topics_and_services_of_the_plant(lock_step: bool, waiting: bool) -> None:
    topics: dict[str, tuple[Any, ...]] = {}
    services: dict[str, tuple[Any, ...]] = {}
    node = stand_in(
        lock_step=lock_step,
        parameters=SimpleNamespace(wait_for_observer=waiting),
        create_subscription=lambda kind, name, call, _: topics.update({name: (kind, call)}),
        create_service=lambda kind, name, call: services.update({name: (kind, call)}),
        _answer=lambda call: ("answer", call),
        _fault=lambda name: ("fault", name),
        **{f"_on_{name}": name for name in ("flat", "named", "observed")},
        **{f"_on_{name}": name for name in ("reset", "pause", "payload", "wall")},
    )
    PlantNode._make_inputs(node)
    observed = {plant.OBSERVED} if lock_step and waiting else set()
    assert set(topics) == {"~/commands", "~/joint_commands"} | observed
    assert [topics[name][1] for name in ("~/commands", "~/joint_commands")] == ["flat", "named"]
    assert services == {
        "~/reset": (Trigger, ("answer", "reset")),
        "~/pause": (SetBool, ("answer", "pause")),
        "~/attach_payload": (SetBool, ("answer", "payload")),
        "~/remove_wall": (SetBool, ("answer", "wall")),
        **{
            f"~/{name}": (SetBool, ("answer", ("fault", name)))
            for name in plant_node_settings.FAULT_NAMES
        },
    }
