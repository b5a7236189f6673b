"""Parameters on a node that is a stand-in: what is declared, refused, applied and logged."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

from rclpy.parameter import Parameter as RosParameter

from geared_dynamics.errors import ModelError
from geared_dynamics.ros.declared import Declared, descriptor
from geared_dynamics.runtime.parameters import (
    NodeParameters,
    ParameterError,
    ParameterGroup,
    PerJoint,
    row,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Gains(ParameterGroup):
    gain: PerJoint = row(1.0, "of a joint", lock="fixed")


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameters(NodeParameters):
    rate: float = row(100.0, "cycles [1/s]", 1.0, 1000.0)
    points: int = row(3, "of a table", 2, 9, when="configure")
    mode: Literal["stream", "hold"] = row("stream", "what is sent")
    fixed: bool = row(False, "locks the gain", when="start")
    joints: Gains
    names: tuple[str, ...] = row([], "any")
    speed: float = row(2.0, "new name", former="old_{}")


class Node:
    """Keeps what is declared and logged; parameters are set through the callbacks."""

    def __init__(self, **given: Any) -> None:
        self.given = {name.replace("__", "."): value for name, value in given.items()}
        self.declared: dict[str, Any] = {}
        self.described: dict[str, Any] = {}
        self.lines: list[tuple[str, str]] = []

    def get_parameters_by_prefix(self, prefix: str) -> dict[str, Any]:
        assert prefix == ""
        return {name: SimpleNamespace(value=value) for name, value in self.given.items()}

    def undeclare_parameter(self, name: str) -> None:
        del self.given[name]

    def declare_parameter(
        self, name: str, value: Any, entry: Any, *, ignore_override: bool
    ) -> None:
        assert ignore_override
        asked = [RosParameter(name, value=value)]
        if hasattr(self, "before"):  # as rclpy does of what it declares, too
            asked = self.before(asked)
            assert self.check(asked).successful
        self.declared[name], self.described[name] = value, entry
        if hasattr(self, "after"):
            self.after(asked)

    def has_parameter(self, name: str) -> bool:
        return name in self.declared

    def get_logger(self) -> Any:
        def line(severity: str) -> Any:
            return lambda text: self.lines.append((severity, text))

        return SimpleNamespace(**{one: line(one) for one in ("info", "warning", "error")})

    def add_pre_set_parameters_callback(self, call: Any) -> None:
        self.before = call

    def add_on_set_parameters_callback(self, call: Any) -> None:
        self.check = call

    def add_post_set_parameters_callback(self, call: Any) -> None:
        self.after = call

    def set(self, **values: Any) -> Any:
        """Set parameters together, as rclpy does; return its answer."""
        asked = [
            RosParameter(name.replace("__", "."), value=value) for name, value in values.items()
        ]
        asked = self.before(asked)
        answer = self.check(asked)
        if answer.successful:
            self.after(asked)
        return answer

    def taken(self) -> list[tuple[str, str]]:
        """Log lines since the last call."""
        lines, self.lines = self.lines, []
        return lines


def made(**given: Any) -> tuple[Node, Declared[Parameters]]:
    """A node with a joint."""
    node = Node(**given)
    declared = Declared(node, Parameters)  # type: ignore[arg-type]
    declared.declare(["a"], [])
    return node, declared


def test_defaults_and_given_values() -> None:
    node, declared = made(rate=50, joints__a__gain=2.5, use_sim_time=True, names=["x"])
    assert declared.now.values == {
        "rate": 50.0, "points": 3, "mode": "stream", "fixed": False, "names": ["x"],
        "speed": 2.0, "joints.a.gain": 2.5,
    }  # fmt: skip
    assert node.declared == declared.now.values
    assert isinstance(node.declared["rate"], float)
    assert node.given == {"use_sim_time": True}
    assert (declared.wrong, node.lines) == ({}, [])
    declared.refuse_wrong()
    declared.declare(["a"], [])  # nothing twice
    assert node.declared == declared.now.values


def test_wrong_values_have_their_default_until_they_are_corrected() -> None:
    node, declared = made(rate=0.5, mode="steam", points=2.5)
    assert set(declared.wrong) == {"rate", "mode", "points"}
    assert (declared.now.values["rate"], declared.now.values["points"]) == (100.0, 3)
    errors = node.taken()
    assert [severity for severity, _ in errors] == ["error"] * 3
    assert any("did you mean 'stream'?" in text for _, text in errors)
    with pytest.raises(ParameterError, match=r"rate: is 0\.5") as caught:
        declared.refuse_wrong()
    assert caught.value.finding.count(";") >= 2
    assert node.set(rate=2.0).successful
    assert set(declared.wrong) == {"mode", "points"}


def test_a_former_name_is_taken_with_a_warning() -> None:
    node, declared = made(old_speed=7.0)
    assert declared.now.values["speed"] == 7.0
    assert node.taken() == [
        ("warning", "parameter 'old_speed' is now called 'speed'; rename it"),
    ]
    declared.warn_of_unknown()
    assert node.taken() == []
    node, declared = made(old_speed=7.0, speed=8.0)
    assert declared.now.values["speed"] == 8.0


def test_unknown_parameters_are_named() -> None:
    node, declared = made(rat=1.0)
    declared.warn_of_unknown()
    ((severity, text),) = node.taken()
    assert severity == "warning"
    assert "'rat'" in text
    assert "rate" in text


def test_changes_are_applied_together() -> None:
    node, declared = made()
    applied: list[Parameters] = []
    declared.on_change(lambda given: lambda: applied.append(given))
    answer = node.set(rate=20, mode="hold")
    assert answer.successful
    assert (declared.now.values["rate"], declared.now.values["mode"]) == (20.0, "hold")
    assert applied == [declared.now]
    node.after([])  # nothing is pending
    assert len(applied) == 1
    assert node.taken() == []


REFUSED = {
    "range": ({"rate": 1001.0}, "rate: is 1001.0; give 1 to 1000"),
    "kind": ({"points": 2.5}, "points: is 2.5; give a whole number"),
    "choice": ({"mode": "halt"}, "mode: is 'halt'"),
    "one of two": ({"mode": "hold", "rate": 0.0}, "rate: is 0.0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_change_changes_nothing(case: str) -> None:
    values, words = REFUSED[case]
    node, declared = made()
    before = dict(declared.now.values)
    answer = node.set(**values)
    assert not answer.successful
    assert words in answer.reason
    assert declared.now.values == before
    ((severity, text),) = node.taken()
    assert severity == "error"
    assert text.startswith(f"parameters not changed: {words}")


def test_what_does_not_go_together_changes_nothing() -> None:
    node, declared = made()

    def validate(given: Parameters) -> Any:
        if given.rate == 7.0:
            raise ModelError("rate", "is seven", "give another")
        if given.rate == 8.0:
            raise ZeroDivisionError("a defect")
        return lambda: None

    declared.on_change(validate)
    answer = node.set(rate=7.0)
    assert (answer.successful, answer.reason) == (False, "rate: is seven; give another")
    assert node.taken() == [("error", "parameters not changed: rate: is seven; give another")]
    answer = node.set(rate=8.0)
    assert (answer.successful, answer.reason) == (False, "unexpected exception: a defect")
    assert "ZeroDivisionError" in node.taken()[0][1]
    assert declared.now.values["rate"] == 100.0
    assert node.set(rate=9.0).successful


def test_parameters_with_a_time_to_be_read() -> None:
    node, declared = made()
    assert node.set(points=4).successful
    declared.configured = True
    answer = node.set(points=5)
    assert not answer.successful
    assert "points: is read when the node is configured; deactivate the node" in answer.reason
    assert declared.now.values["points"] == 4
    assert node.set(joints__a__gain=3.0).successful
    locked, other = made(fixed=True)
    answer = locked.set(joints__a__gain=3.0)
    assert not answer.successful
    assert "joints.a.gain: is locked by fixed; restart the node" in answer.reason
    assert other.now.values["joints.a.gain"] == 1.0


def test_parameters_of_others() -> None:
    node, declared = made()
    answer = node.set(use_sim_time=True)
    assert answer.successful
    ((severity, text),) = node.taken()
    assert (severity, text[:46]) == ("error", "parameters not changed: 'use_sim_time' is unkn")
    assert "use_sim_time" not in declared.now.values


def test_descriptors() -> None:
    rate, points, mode, fixed, _, names, _ = (descriptor(entry) for entry in Parameters.rows())
    assert rate.description == "cycles [1/s]"
    span = rate.floating_point_range[0]
    assert (span.from_value, span.to_value) == (1.0, 1000.0)
    assert rate.additional_constraints == "1 to 1000"
    whole = points.integer_range[0]
    assert (whole.from_value, whole.to_value) == (2, 9)
    assert not points.floating_point_range
    assert mode.additional_constraints == "one of: stream, hold"
    assert [d.read_only for d in (rate, points, mode, fixed)] == [False, False, False, True]
    assert [d.dynamic_typing for d in (rate, names)] == [False, True]
