"""Parts of the feedforward node in one process: surroundings, departure, topics to tune by."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

import geared_dynamics as gd
from feedforward_rig import elbow
from geared_dynamics.control import Reference
from geared_dynamics.ros import departure, feedforward_topics
from geared_dynamics.ros.departure import (
    DEADLINE,
    HURRY,
    NOT_SLOW,
    PACE,
    SLOW,
    WINDOW,
    Departure,
    Surroundings,
)
from geared_dynamics.ros.diagnostics import OK, WARN
from geared_dynamics.runtime.feedforward_settings import feedforward_setup
from node_values import feedforward

SECOND = 10**9


class Log:
    """What was logged, by severity."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def info(self, text: str) -> None:
        self.lines.append(("info", text))

    def warning(self, text: str) -> None:
        self.lines.append(("warning", text))

    def taken(self) -> list[tuple[str, str]]:
        """The lines since the last call."""
        lines, self.lines = self.lines, []
        return lines


# -- surroundings --------------------------------------------------------------------------------


class Around:
    """A node with a publisher, a clock, and joint states at a rate."""

    def __init__(self, update_rate: int = 100) -> None:
        self.log, self.now, self.heard = Log(), 5.0, [1]
        outputs = [
            SimpleNamespace(
                topic_name=f"/out_{k}", get_subscription_count=lambda k=k: self.heard[k]
            )
            for k in range(len(self.heard))
        ]
        self.node: Any = SimpleNamespace(
            get_logger=lambda: self.log,
            annotating=False,
            count_publishers=lambda _: 1,
            commands=SimpleNamespace(publishers=outputs),
            parameters=feedforward(update_rate=update_rate),
            ros_time=SimpleNamespace(now=lambda: round(SECOND * self.now)),
            timing=SimpleNamespace(total=0),
        )
        self.seen = Surroundings(self.node)
        self.seen.begin(self.now)

    def after(self, seconds: float, rate: float) -> float:
        """Look after a time in which joint states came at a rate; the rate that is called slow."""
        self.now += seconds
        self.node.timing.total += round(rate * seconds)
        self.seen.report_changes(self.now)
        return self.seen.rate


def test_slow_joint_states_are_said_once() -> None:
    around = Around()
    assert around.after(WINDOW, 100.0) == 0.0
    assert around.after(WINDOW, 100.0 * SLOW) == 0.0
    assert around.log.taken() == []
    assert around.after(WINDOW, 50.0) == pytest.approx(50.0)
    ((severity, text),) = around.log.taken()
    assert severity == "warning"
    assert "come 50 times a second, update_rate says 100" in text
    assert "for 10 ms ahead" in text
    status = around.seen.status()
    assert (status.level, status.message) == (
        WARN,
        "joint states come 50 times a second, slower than update_rate",
    )
    assert around.after(WINDOW, 92.0) == pytest.approx(92.0)  # slow until it is well above
    assert around.after(WINDOW, 100.0 * NOT_SLOW) == 0.0
    assert around.log.taken() == []
    assert around.seen.status().level == OK


def test_looks_are_a_window_apart() -> None:
    around = Around()
    assert around.after(WINDOW - 0.01, 10.0) == 0.0  # too early
    assert around.after(0.01, 10.0) == pytest.approx(10.0, rel=0.05)
    around.seen.begin(around.now)
    assert around.seen.rate == 0.0


@pytest.mark.parametrize(("wanted", "rate"), [(0, 1.0), (100, 0.0)])
def test_no_rate_is_slow_where_none_is_asked_for_or_none_comes(wanted: int, rate: float) -> None:
    around = Around(wanted)
    assert around.after(WINDOW, rate) == 0.0
    assert around.log.taken() == []


def test_a_clock_that_has_just_begun_tells_no_rate() -> None:
    around = Around()
    now = around.now
    around.node.ros_time = SimpleNamespace(now=lambda: round(SECOND * (now + 0.2 * WINDOW)))
    around.node.timing.total += 1
    around.seen.report_changes(around.now + WINDOW)
    assert around.seen.rate == 0.0


def test_a_topic_without_subscriber_is_said_once_and_again_when_it_has_one() -> None:
    around = Around()
    around.heard[0] = 0
    around.after(WINDOW, 100.0)
    around.after(WINDOW, 100.0)
    ((severity, text),) = around.log.taken()
    assert (severity, text[:24]) == ("warning", "no subscriber on /out_0:")
    assert around.seen.status().message == "no subscriber on /out_0"
    around.heard[0] = 1
    around.after(WINDOW, 100.0)
    around.after(WINDOW, 100.0)
    assert around.log.taken() == [("info", "/out_0: there is a subscriber now")]
    assert around.seen.status().message == "as expected"
    around.node.commands = None
    around.after(WINDOW, 100.0)
    assert around.log.taken() == []


# -- departure -----------------------------------------------------------------------------------


class Leaving:
    """A node that is to end, with a clock that stands still until it is moved."""

    def __init__(self, patch: pytest.MonkeyPatch, **changes: Any) -> None:
        self.now, self.sent, self.ended, self.log = 50.0, [], 0, Log()
        self.timer = SimpleNamespace(runs=True)
        self.timer.cancel = lambda: setattr(self.timer, "runs", False)
        self.timer.reset = lambda: setattr(self.timer, "runs", True)
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep)
        patch.setattr(departure, "time", clock)
        self.loop: Any = SimpleNamespace(
            left=False, hurried=False, decided=self.now, decision=None, left_to="",
            v=np.array([0.1, -0.4, 0.2]), stamp=self.now,
        )  # fmt: skip
        self.loop.leave = lambda what: setattr(self.loop, "left_to", what)
        self.loop.silence = lambda now, clock: (now, clock)
        self.node: Any = SimpleNamespace(
            create_timer=lambda *_, **__: self.timer,
            active=True,
            annotating=False,
            loop=self.loop,
            parameters=feedforward(on_deactivate="gravity"),
            send=self.sent.append,
            clock_time=lambda: 7.0,
            reporter=SimpleNamespace(report=lambda _: None),
            finish_transition=self.finished,
            get_logger=lambda: self.log,
            states=SimpleNamespace(handle=SimpleNamespace(take_message=lambda *_: None)),
        )
        vars(self.node).update(changes)
        self.made = Departure(self.node)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def finished(self) -> None:
        self.ended += 1


@pytest.fixture
def leaving(monkeypatch: pytest.MonkeyPatch) -> Leaving:
    return Leaving(monkeypatch)


@pytest.mark.parametrize(("chosen", "to"), [("zero", "zero"), ("gravity", "gravity")])
def test_what_is_left_behind(chosen: str, to: str, leaving: Leaving) -> None:
    assert not leaving.timer.runs
    assert not leaving.made.under_way
    leaving.node.parameters = feedforward(on_deactivate=chosen)
    leaving.made.begin()
    assert (leaving.loop.left_to, leaving.timer.runs, leaving.made.begun) == (to, True, 50.0)
    assert leaving.made.under_way
    leaving.now += 0.5
    leaving.made.begin()  # it has begun
    assert leaving.made.begun == 50.0


@pytest.mark.parametrize("change", [{"active": False}, {"annotating": True}, {"loop": None}])
def test_nothing_to_brake_where_nothing_is_sent(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving = Leaving(monkeypatch, **change)
    leaving.made.begin()
    leaving.made.hurry()
    assert leaving.made.begun is None
    assert not leaving.made.under_way
    assert not leaving.timer.runs
    leaving.made.complete()
    assert leaving.log.taken() == []


def test_the_end_comes_at_rest_or_at_the_deadline(leaving: Leaving) -> None:
    leaving.made.begin()
    leaving.now = 50.0 + DEADLINE - 1e-3
    assert leaving.made.under_way
    leaving.now = 50.0 + DEADLINE
    assert not leaving.made.under_way
    leaving.now = 50.1
    leaving.loop.left = True
    assert not leaving.made.under_way


def test_a_second_signal_leaves_less_time(leaving: Leaving) -> None:
    leaving.made.hurry()  # nothing has begun
    assert not leaving.loop.hurried
    leaving.made.begin()
    leaving.now = 51.0
    leaving.made.hurry()
    assert leaving.loop.hurried
    leaving.now = 51.0 + HURRY - 1e-3
    leaving.made.hurry()  # a third one changes nothing
    assert leaving.made.under_way
    leaving.now = 51.0 + HURRY + 1e-3
    assert not leaving.made.under_way


def test_it_goes_on_without_joint_states_at_its_own_pace(leaving: Leaving) -> None:
    leaving.made.keep_halting()  # before the begin
    leaving.made.begin()
    leaving.now = 50.0 + 0.9 * PACE
    leaving.made.keep_halting()
    assert leaving.sent == []
    leaving.now = 50.0 + 1.1 * PACE
    leaving.made._tick()
    assert leaving.sent == [(leaving.now, 7.0)]
    assert (leaving.ended, leaving.timer.runs) == (0, True)
    leaving.loop.left = True
    leaving.made._tick()
    assert (leaving.ended, leaving.timer.runs) == (1, False)


def test_an_end_without_the_executor(leaving: Leaving) -> None:
    """States that wait are taken; without any the time goes on until the deadline."""
    waiting, taken = ["one", "two"], []

    def take(*_: object) -> tuple[str, None] | None:
        return (waiting.pop(0), None) if waiting else None

    leaving.node.states.handle.take_message = take
    leaving.node.on_joint_state = taken.append
    leaving.made.complete()
    assert taken == ["one", "two"]
    assert leaving.now == pytest.approx(50.0 + DEADLINE, abs=PACE)
    ((severity, text),) = leaving.log.taken()
    assert severity == "warning"
    assert text == (
        "stopped at the deadline after 2.00 s; "
        "2.00 s ago the fastest joint moved at 0.4 rad/s or m/s"
    )
    assert leaving.made.begun is None
    assert not leaving.timer.runs


def test_the_report_of_an_arm_at_rest_and_of_one_in_a_hurry(leaving: Leaving) -> None:
    leaving.made.begin()
    leaving.now += 0.25
    leaving.loop.left = True
    leaving.made.complete()
    assert leaving.log.taken() == [
        ("info", "stopped after 0.25 s; the final command remains in effect")
    ]
    leaving.loop.left = False
    leaving.made.begin()
    leaving.made.hurry()
    leaving.made.complete()
    ((_, text),) = leaving.log.taken()
    assert text.startswith("stopped by a second signal after 0.4")


# -- topics to tune by ---------------------------------------------------------------------------


class Listened:
    """Topics of which some have listeners."""

    def __init__(self, *names: str, terms: tuple[str, ...] = ()) -> None:
        self.names, self.terms, self.sent = names, terms, {}

    def wanted(self, name: str) -> bool:
        return name in self.names

    def send(self, name: str, stamp: int, **fields: Any) -> None:
        assert name in self.names or name.startswith("terms/")
        assert stamp == 3 * SECOND
        self.sent[name] = fields


Q, V = np.array([0.1, 3.1, -0.2]), np.array([0.5, -0.1, 0.2])
WANTED = Reference(
    np.array([0.2, -3.1, 0.0]), np.array([0.4, 0.0, 0.1]), np.array([1.0, 2.0, 3.0])
)


def tuned(topics: Any, model: gd.GearedModel, **changes: Any) -> Any:
    """A node in motion."""
    given = feedforward(model, mode="stream", state_publish_rate=50.0, effort_feedback="none")
    made = feedforward_setup(given, model)
    loop = SimpleNamespace(
        q=Q,
        v=V,
        decision=SimpleNamespace(command=np.ones(3)),
        held=None,
        motion=object(),
        present=WANTED,
        setup=made,
    )
    vars(loop).update(changes)
    clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=3 * SECOND))
    return SimpleNamespace(
        loop=loop,
        state_topics=topics,
        tuning_sent=10.0,
        model=model,
        data=None,
        parameters=given,
        get_clock=lambda: clock,
    )


def test_topics_that_somebody_listens_to() -> None:
    model = elbow()
    topics = Listened(
        "feedback", "output", "reference", "error", "terms/gravity", terms=("gravity",)
    )
    node = tuned(topics, model)
    feedforward_topics.publish_state(node, 10.021)
    assert node.tuning_sent == 10.021
    assert set(topics.sent) == {"feedback", "output", "reference", "error", "terms/gravity"}
    np.testing.assert_array_equal(topics.sent["feedback"]["position"], Q)
    np.testing.assert_array_equal(topics.sent["reference"]["velocity"], WANTED.v)
    np.testing.assert_allclose(topics.sent["error"]["velocity"], WANTED.v - V)
    np.testing.assert_allclose(topics.sent["error"]["position"][[0, 2]], [0.1, 0.2])
    terms = node.loop.setup.control.term_torques(gd.State(Q, V), WANTED)
    np.testing.assert_array_equal(topics.sent["terms/gravity"]["effort"], terms.gravity)
    np.testing.assert_array_equal(topics.sent["output"]["effort"], np.ones(3))


def test_nothing_is_sent_that_nobody_listens_to_or_too_often() -> None:
    model = elbow()
    silent = Listened(terms=("gravity",))
    feedforward_topics.publish_state(tuned(silent, model), 11.0)
    assert silent.sent == {}
    topics = Listened("feedback")
    node = tuned(topics, model)
    feedforward_topics.publish_state(node, 10.019)  # 50 a second
    assert (topics.sent, node.tuning_sent) == ({}, 10.0)
    node.parameters = feedforward(model, state_publish_rate=0.0)
    feedforward_topics.publish_state(node, 99.0)
    assert topics.sent == {}
    for change in ({"q": None}, {"v": None}):
        feedforward_topics.publish_state(tuned(topics, model, **change), 99.0)
    assert topics.sent == {}


def test_an_arm_that_is_held_has_its_posture_as_reference() -> None:
    topics = Listened("reference", "error", "terms/gravity", terms=("gravity",))
    held = np.array([0.15, 3.0, -0.2])
    feedforward_topics.publish_state(tuned(topics, elbow(), held=held, motion=None), 11.0)
    np.testing.assert_array_equal(topics.sent["reference"]["position"], held)
    np.testing.assert_array_equal(topics.sent["reference"]["velocity"], np.zeros(3))
    np.testing.assert_allclose(topics.sent["error"]["position"], held - Q)
    assert "terms/gravity" not in topics.sent
    still = Listened("reference", "error")
    feedforward_topics.publish_state(tuned(still, elbow(), motion=None), 11.0)
    assert still.sent == {}
