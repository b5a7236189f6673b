"""What ``loop-benchmark`` prints of figures that are known, and which node it measures."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from command_documents import validate
from elbow_run import DRIVE, URDF
from geared_dynamics.apps.cli import loop_benchmark
from geared_dynamics.apps.cli.main import main
from geared_dynamics.runtime.latency_figures import Result, RoundTrip, Subject, Usage

FAST = RoundTrip(1000, 100.0, 150.0, 170.0, 180.0, 1, 0, 5.0)
SLOW = RoundTrip(1000, 120.0, 300.0, 400.0, 900.0, 4, 2, 25.0)


def result(usage: Usage = Usage(0.254, 12_345)) -> Result:  # noqa: B008
    """A node that is 1.2 times as slow as the echo, and lost two messages."""
    subjects = Subject("our node", SLOW, usage), Subject("echo", FAST, Usage(None, None))
    return Result(500, 10.0, *subjects, compute=45.678, executor="EventsExecutor")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is measured, where nothing runs."""
    asked: list[Any] = []

    def measure(node: Any, options: Any) -> Result:
        asked.extend((node, options))
        return result()

    monkeypatch.setattr(loop_benchmark, "measure", measure)
    return asked


def rows(text: str) -> list[list[str]]:
    """Words of the lines."""
    return [line.split() for line in text.splitlines()]


def test_tables(measured: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["loop-benchmark", URDF, DRIVE]) == 0
    found = rows(capsys.readouterr().out)
    for row in (
        ["p50", "120", "100", "1.20"],
        ["p99", "300", "150", "2.00"],
        ["p99.9", "400", "170", "2.35"],
        ["max", "900", "180", "5.00"],
        ["missed", "cycles", "4", "1"],
        ["lost", "2", "0"],
        ["CPU", "[%", "of", "a", "core]", "25", "-"],
        ["memory", "growth", "[kB]", "12", "-"],
        ["median,", "ratio", "to", "the", "bare", "node", "1.2", "1.35", "ok"],
        ["p99,", "ratio", "to", "the", "bare", "node", "2", "1.5", "EXCEEDED"],
    ):
        assert row in found
    node, options = measured
    assert (options.rate, options.domain) == (1000, None)
    assert list(options.joints) == ["joint_1", "joint_2", "joint_3"]
    assert "feedforward" in node.name


def test_checks_and_json(measured: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["loop-benchmark", URDF, DRIVE, "--json", "--rate", "250"]) == 0
    shown = json.loads(capsys.readouterr().out)
    validate(shown)
    numbers = json.loads(json.dumps(result().as_dict()))
    assert {key: value for key, value in shown.items() if key in numbers} == numbers
    assert measured[1].rate == 250
    assert main(["loop-benchmark", URDF, DRIVE, "--check"]) == 1


def test_what_is_not_known_is_null_in_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No message came back: JSON has no word for NaN."""
    nothing = RoundTrip(1000, *4 * (float("nan"),), 1000, 1000, float("nan"))
    subject = Subject("our node", nothing, Usage(None, None))
    found = result()._replace(subject=subject, compute=None)
    monkeypatch.setattr(loop_benchmark, "measure", lambda *_: found)
    assert main(["loop-benchmark", URDF, DRIVE, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    validate(shown)
    assert shown["median_ratio"] is None


def test_a_check_that_is_passed(
    measured: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fine = result()._replace(subject=Subject("our node", FAST, Usage(0.1, 0)))
    monkeypatch.setattr(loop_benchmark, "measure", lambda *_: fine)
    assert main(["loop-benchmark", URDF, DRIVE, "--check"]) == 0
    assert "EXCEEDED" not in capsys.readouterr().out


@pytest.mark.parametrize(("node", "words"), [("echo", "echo"), ("observer", "observer")])
def test_the_node_that_is_asked_for(
    node: str, words: str, measured: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The observer's robot is an elastic one of the package where none is named."""
    assert main(["loop-benchmark", "--node", node]) == 0
    assert words in measured[0].name
    count = len(measured[1].joints)
    assert count == 6
    assert np.isfinite(measured[1].start).all()
