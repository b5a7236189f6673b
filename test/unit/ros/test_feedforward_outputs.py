"""Names and order of the commands, and the node's time where no joint state comes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd

pytest.importorskip("rclpy")

from geared_dynamics.ros import feedforward as feedforward_node
from geared_dynamics.ros.feedforward_topics import Commands, names_to_send
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.parameters import ParameterError
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
JOINTS = ["joint_1", "joint_2", "joint_3"]
TURNED = ["joint_3", "joint_1", "joint_2"]


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    """Its motors have names of their own."""
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


def values(model: gd.GearedModel, **changes: Any) -> FeedforwardParameters:
    """Parameters of the node."""
    return feedforward(model, **changes)


NAMES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "as in the model": ({}, JOINTS, JOINTS),
    "as listed": ({"joints": TURNED}, TURNED, TURNED),
    "in another order": ({"command_joints": TURNED}, TURNED, TURNED),
    "that order counts": ({"command_joints": TURNED, "joints": JOINTS[::-1]}, TURNED, TURNED),
    "other names": ({"command_joints": ["a", "b", "c"]}, JOINTS, ["a", "b", "c"]),
    "other names of a list": (
        {"command_joints": ["a", "b", "c"], "joints": TURNED}, TURNED, ["a", "b", "c"],
    ),
    "some other names": (
        {"command_joints": ["a", "joint_1", "joint_2"]}, JOINTS, ["a", "joint_1", "joint_2"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NAMES)
def test_order_and_names_of_the_commands(model: gd.GearedModel, case: str) -> None:
    changes, ours, called = NAMES[case]
    found = names_to_send(values(model, output="joint_torque", **changes), model)
    assert (list(found[0]), list(found[1])) == (ours, called)


def test_motors_go_in_their_own_order(model: gd.GearedModel) -> None:
    own = list(model.motor_names)
    for listed in ([], ["a", "b"]):  # as many names as joints of a gripper, say: not these
        given = values(model, output="motor_torque", command_joints=listed, joints=TURNED)
        assert names_to_send(given, model) == (own, own)
    turned = [own[2], own[0], own[1]]
    given = values(model, output="motor_torque", command_joints=turned)
    assert names_to_send(given, model) == (turned, turned)
    named = ["a", "b", "c"]
    given = values(model, output="motor_torque", command_joints=named)
    assert names_to_send(given, model) == (own, named)


@pytest.mark.parametrize(
    "names",
    [
        ["joint_1", "joint_1", "joint_2"],  # as many, one twice
        ["joint_1", "joint_2", "joint_3", "joint_3"],  # all, and one twice
        ["joint_1", "joint_2"],
        ["joint_1", "joint_2", "joint_3", "joint_4"],
    ],
)
def test_names_twice_or_too_few_are_refused(model: gd.GearedModel, names: list[str]) -> None:
    given = values(model, output="joint_torque", command_joints=names)
    with pytest.raises(ParameterError, match=f"command_joints: has {len(names)} names"):
        names_to_send(given, model)


def test_numbers_go_out_in_the_order_of_the_names(
    model: gd.GearedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = values(model, output="joint_torque", command_joints=TURNED, publish_commands=True)
    sent: list[bytes] = []
    publishers: Any = SimpleNamespace(get=lambda *_: SimpleNamespace(publish=sent.append))
    commands = Commands(publishers, given, model)
    commands.send(np.array([1.0, 2.0, 3.0]), 0)
    assert commands._targets[0][0].values.tolist() == [3.0, 1.0, 2.0]
    assert len(sent) == len(commands._targets)


def test_in_silence_the_loop_gets_both_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steady time of the watchdog, and ROS time since activation in seconds."""
    heard: list[tuple[float, float]] = []
    looked: list[tuple[float, float]] = []
    published: list[float] = []
    monkeypatch.setattr(feedforward_node, "publish_state", lambda _, now: published.append(now))
    monkeypatch.setattr(feedforward_node, "time", SimpleNamespace(monotonic=lambda: 100.0))

    def silence(now: float, clock: float) -> None:
        heard.append((now, clock))

    node: Any = SimpleNamespace(
        exchange=SimpleNamespace(carrying=None),
        take_description=lambda: None,
        loop=SimpleNamespace(silence=silence, stale_after=0.05, decision=None),
        active=True,
        annotating=False,
        heard=99.9,
        ros_time=SimpleNamespace(now=lambda: 7_250_000_000),
        zero=5_000_000_000,
        reporter=SimpleNamespace(report=lambda _: None),
        action=SimpleNamespace(judge=lambda *times: looked.append(times), watch=lambda: None),
        references=SimpleNamespace(work=None, take_waiting=lambda: None),
        surroundings=SimpleNamespace(report_changes=lambda _: None),
        send=lambda _: None,
    )
    node.clock_time = lambda: feedforward_node.FeedforwardNode.clock_time(node)
    feedforward_node.FeedforwardNode.watch(node)
    assert heard == looked == [(100.0, pytest.approx(2.25))]
    node.heard = 99.96  # not long enough ago
    feedforward_node.FeedforwardNode.watch(node)
    assert len(heard) == 1
    assert published == [100.0, 100.0]
