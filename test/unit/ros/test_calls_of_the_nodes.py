"""What single calls of the nodes do, on stand-ins for all that needs other processes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

from rclpy.action import GoalResponse
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from geared_dynamics.errors import GearedDynamicsError, ModelError
from geared_dynamics.ros import latency_driver, plant, publisher, trajectories
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


# -- the benchmark's goal, and a trajectory that is published ------------------------------------


def followed(monkeypatch: pytest.MonkeyPatch, accepted: bool = True, points: int = 3) -> Any:
    """A goal of the benchmark, its server ready and its answer there from the third look on."""
    made: list[Any] = []

    class Client:
        def __init__(self, *_: object) -> None:
            self.looks = 0
            made.append(self)

        def ready(self) -> bool:
            self.looks += 1
            return self.looks > 2

        server_is_ready = ready

        def send_goal_async(self, goal: Any, heard: Any) -> Any:
            self.goal, self.heard, self.looks = goal, heard, 0
            result = SimpleNamespace(add_done_callback=lambda call: vars(self).update(end=call))
            handle = SimpleNamespace(accepted=accepted, get_result_async=lambda: result)
            return SimpleNamespace(done=self.ready, result=lambda: handle)

    kind = SimpleNamespace(Goal=lambda trajectory: ("goal", trajectory))
    monkeypatch.setattr(latency_driver, "ActionClient", Client)
    monkeypatch.setattr(latency_driver, "action_type", lambda: kind)
    trajectory = JointTrajectory(points=[JointTrajectoryPoint()] * points)
    ticks: list[int] = []
    found: Any = latency_driver.FollowedGoal(
        None,
        "follow",
        trajectory,
        lambda: ticks.append(1),  # type: ignore[arg-type]
    )
    assert made[0].goal == ("goal", trajectory)
    assert len(ticks) == 4
    return found, made[0]


def test_a_goal_that_is_followed_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    goal, client = followed(monkeypatch)
    with pytest.raises(GearedDynamicsError) as caught:
        goal.refuse_ended()
    assert str(caught.value) == "loop-benchmark: the goal gave no feedback; see the node's log"
    client.heard("feedback")
    client.heard("feedback")
    goal.refuse_ended()
    assert goal.feedback == 2
    ended = SimpleNamespace(result=SimpleNamespace(error_string="path violated"))
    client.end(SimpleNamespace(result=lambda: ended))
    with pytest.raises(GearedDynamicsError) as caught:
        goal.refuse_ended()
    said = "loop-benchmark: the goal ended too early: path violated; see the log"
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("accepted", "points", "said"),
    [
        (False, 3, "the goal was rejected; see the node's log"),
        (True, 7, "the goal has 7 points, and a goal 6 at most; give a shorter --duration"),
        (True, 6, ""),
    ],
)
def test_a_goal_that_is_not_taken(
    accepted: bool, points: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latency_driver, "MOST_POINTS", 6)
    if not said:
        followed(monkeypatch, accepted, points)
        return
    with pytest.raises(GearedDynamicsError) as caught:
        followed(monkeypatch, accepted, points)
    assert str(caught.value) == f"loop-benchmark: {said}"


@pytest.mark.parametrize("arrived", [True, False])
def test_a_trajectory_that_does_not_arrive(arrived: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The node and rclpy end either way."""
    events: list[Any] = []
    output = SimpleNamespace(
        topic_name="/trajectory",
        get_subscription_count=lambda: 1,
        publish=events.append,
        wait_for_all_acked=lambda wait: events.append(wait.nanoseconds) or arrived,
    )
    node = SimpleNamespace(
        create_publisher=lambda *_: output, destroy_node=lambda: events.append("destroyed")
    )
    ros = SimpleNamespace(
        init=lambda args: events.append(args), try_shutdown=lambda: events.append("ended")
    )
    monkeypatch.setattr(publisher, "rclpy", ros)
    monkeypatch.setattr(publisher, "Node", lambda name: node)
    monkeypatch.setattr(publisher, "message_of", lambda found: ("message", found))
    args: Any = SimpleNamespace(topic="trajectory", no_check=True, approach=None, timeout=2.5)
    given: Any = "motion"
    if arrived:
        publisher.run(args, ["--ros-args"], given)
    else:
        with pytest.raises(GearedDynamicsError) as caught:
            publisher.run(args, ["--ros-args"], given)
        said = "/trajectory: did not arrive within 2.5 s; check its subscriber"
        assert str(caught.value) == said
    begin = [["publish_trajectory", "--ros-args"], ("message", "motion"), 2_500_000_000]
    assert events == [*begin, "destroyed", "ended"]


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
