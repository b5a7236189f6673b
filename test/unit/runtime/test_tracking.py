"""How far an arm may be from its reference, where it is given and where not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.runtime.acceptance import tracking_of, untracked
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.parameters import ParameterError
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
CLOSED = {"mode": "computed_torque"}
JTC = CLOSED | {"command_interfaces": ["effort"]}
ONE = "constraints.joint_2.trajectory"


def values(model: gd.GearedModel, given: dict[str, Any]) -> FeedforwardParameters:
    return feedforward(model, **given)


def elbow(sliding: bool = False) -> gd.GearedModel:
    text = (URDF / "elbow.urdf").read_text("utf-8")
    kind = 'name="joint_3" type="revolute"'
    assert kind in text
    text = text.replace(kind, kind.replace("revolute", "prismatic")) if sliding else text
    return gd.load_model(text, URDF / "elbow.drivetrain.yaml")


@pytest.mark.parametrize(
    ("given", "tolerance"),
    [
        (CLOSED, (0.2, 0.2, 0.2)),
        ({"mode": "stream"}, (math.inf,) * 3),
        (CLOSED | {ONE: 0.0}, (0.2, math.inf, 0.2)),
        (CLOSED | {ONE: 0.7}, (0.2, 0.7, 0.2)),
        (JTC, (math.inf,) * 3),
        (JTC | {ONE: 0.1}, (math.inf, 0.1, math.inf)),
        ({"mode": "stream", ONE: 0.1}, (math.inf, 0.1, math.inf)),
    ],
)
def test_tolerances(given: dict[str, Any], tolerance: tuple[float, ...]) -> None:
    model = elbow()
    np.testing.assert_array_equal(tracking_of(values(model, given), model), tolerance)


def test_of_joints_that_slide() -> None:
    model = elbow(sliding=True)
    assert tracking_of(values(model, CLOSED), model).tolist() == [0.2, 0.2, 0.05]


def test_a_jtc_without_tolerance_is_named_and_what_was_said_is_not() -> None:
    model = elbow()
    (line,) = untracked(values(model, JTC | {ONE: 0.0}), model)
    assert "no position error of joint_1, joint_3 stops" in line
    assert not untracked(values(model, CLOSED | {ONE: 0.0}), model)


def test_a_negative_one_is_refused() -> None:
    model = elbow()
    with pytest.raises(ParameterError, match=r"joint_2.trajectory: is -1; set a tolerance"):
        tracking_of(values(model, {ONE: -1.0}), model)
