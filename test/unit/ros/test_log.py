"""Log lines and printed lines of the nodes hold printable text, and say where they come from."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy")

from rclpy.impl import rcutils_logger
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node

from geared_dynamics.apps.cli import analyze
from geared_dynamics.errors import UNSEEN, GearedDynamicsError
from geared_dynamics.ros import demo_conductor, process, publish_trajectory
from geared_dynamics.ros import plant as plant_program
from geared_dynamics.ros.elastic_observer import ElasticObserverNode
from geared_dynamics.ros.feedforward import FeedforwardNode
from geared_dynamics.ros.lifecycle_node import SteadyLifecycleNode
from geared_dynamics.ros.log import Failures, PrintableLog
from geared_dynamics.ros.plant import PlantNode

# ESC, C1's CSI, DEL, a letter of no width, a mark of direction, half of a pair.
HOSTILE = "joint\x1b[2J\x9b31m\x7f\u200b\u202e\ud800"
SHOWN = "joint\\x1b[2J\\x9b31m\\x7f\\u200b\\u202e\\ud800"


class Bare:
    """What of rclpy's node the log needs, without the graph."""

    def get_logger(self) -> Any:
        return rcutils_logger.RcutilsLogger("bare")


class Listener(PrintableLog, Bare):
    """A node's log."""


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What reaches ROS: severity, name, message, function, file, line."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        rcutils_logger._rclpy, "rclpy_logging_rcutils_log", lambda *given: found.append(given)
    )
    monkeypatch.setattr(
        rcutils_logger._rclpy, "rclpy_logging_logger_is_enabled_for", lambda *_: True
    )
    return found


@pytest.mark.parametrize("severity", ["debug", "info", "warn", "warning", "error", "fatal"])
def test_every_severity_is_filtered(lines: list[tuple[Any, ...]], severity: str) -> None:
    getattr(Listener().get_logger(), severity)(f"no {HOSTILE}\n\tin\tit")
    assert [line[2] for line in lines] == [f"no {SHOWN}\n\tin\tit"]


def test_lines_carry_their_own_place(lines: list[tuple[Any, ...]]) -> None:
    """One node logs in several severities; rclpy tells them apart by the place."""
    log = Listener().get_logger()
    first = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    log.info("a")
    log.error("b")
    log.warning("c", once=True)
    assert [(line[1], Path(line[4]).name, line[5]) for line in lines] == [
        ("bare", Path(__file__).name, first + k) for k in range(3)
    ]
    assert Listener().get_logger() is not log
    listener = Listener()
    assert listener.get_logger() is listener.get_logger()


def test_unforeseen_exceptions_are_filtered(lines: list[tuple[Any, ...]]) -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        Failures(Listener()).log(error, "the node keeps running")
    assert SHOWN in lines[0][2]
    assert not UNSEEN.search(lines[0][2])


@pytest.mark.parametrize("node", [FeedforwardNode, ElasticObserverNode, PlantNode])
def test_all_nodes_log_through_it(node: type) -> None:
    assert node.get_logger is PrintableLog.get_logger
    assert issubclass(node, (LifecycleNode, Node))
    assert SteadyLifecycleNode.get_logger is PrintableLog.get_logger


def raising(*_: Any) -> Any:
    raise GearedDynamicsError(HOSTILE, HOSTILE, HOSTILE)


def test_what_the_programs_print_is_filtered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert process.refused(HOSTILE, HOSTILE) == 2
    monkeypatch.setattr(plant_program, "PlantNode", raising)
    monkeypatch.setattr(plant_program.rclpy, "init", lambda **_: None)
    monkeypatch.setattr(plant_program.rclpy, "try_shutdown", lambda: None)
    monkeypatch.setattr(plant_program, "catch_signals", list)
    assert plant_program.run([]) == 2
    monkeypatch.setattr(sys, "argv", ["reference", "task.json"])
    monkeypatch.setattr(demo_conductor, "read_demo_task", lambda _: None)
    monkeypatch.setattr(demo_conductor, "Conductor", raising)
    assert demo_conductor.main() == 1
    monkeypatch.setattr(publish_trajectory, "read_waypoints", raising)
    assert publish_trajectory.main(["publish_trajectory", str(tmp_path / "x.yaml")]) == 2
    printed = capsys.readouterr()
    shown = printed.out + printed.err
    assert shown.count(SHOWN) >= 4 * 2
    assert not UNSEEN.search(shown)


def test_recordings_that_fail_are_told_in_printable_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = SimpleNamespace(with_coupling=lambda _: None)
    monkeypatch.setattr(analyze, "load_with_payload", lambda _: model)
    monkeypatch.setattr(analyze, "functions_of", lambda _: [])
    monkeypatch.setattr(analyze, "compiled_for", lambda *_: None)
    monkeypatch.setattr(analyze, "rest_speed", lambda _: None)
    monkeypatch.setattr(analyze, "show_payload_frame", lambda *_: None)
    monkeypatch.setattr(analyze, "analyze_one", raising)
    given: Any = type("Arguments", (), {})()
    vars(given).update(
        samples=False,
        bag=False,
        output=None,
        output_bag=None,
        save_topic=None,
        json=False,
        force=False,
        recordings=["a", "b"],
    )
    assert analyze.run(given) == analyze.SOME_FAILED
    shown = capsys.readouterr().err
    assert shown.count(SHOWN) == 2 * 3
    assert not UNSEEN.search(shown)
