"""A description that changes while the arm is driven, and where the model comes from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import geared_dynamics as gd
from geared_dynamics.errors import ModelError
from geared_dynamics.runtime.model_source import rebuilt, summary, warm_up
from geared_dynamics.runtime.parameters import ParameterError
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
TEXT = (URDF / "elbow.urdf").read_text("utf-8")
DRIVES = str(URDF / "elbow.drivetrain.yaml")


@pytest.fixture(scope="module")
def before() -> gd.GearedModel:
    return rebuilt(feedforward(drivetrain=DRIVES), TEXT, None).model


def test_the_same_description_changes_nothing(before: gd.GearedModel) -> None:
    found = rebuilt(feedforward(drivetrain=DRIVES), TEXT, before)
    assert (found.text, found.changes) == (TEXT, [])
    assert found.model is not before


def test_a_heavier_link_is_named_and_a_rounded_one_is_not(before: gd.GearedModel) -> None:
    for factor, changed in ((1.001, False), (1.05, True)):
        text = re.sub(
            r'mass value="([\d.]+)"', lambda m, f=factor: f'mass value="{f * float(m[1])}"', TEXT
        )
        found = rebuilt(feedforward(drivetrain=DRIVES), text, before)
        assert any("mass of" in line for line in found.changes) == changed
    assert "mass of" in summary(found.changes)


def test_other_joints_are_refused(before: gd.GearedModel) -> None:
    text = TEXT.replace("joint_3", "joint_9")
    drives = Path(DRIVES).read_text("utf-8").replace("joint_3", "joint_9")
    with pytest.raises(ModelError, match=r"has other joints: .*joint_9; deactivate the node"):
        rebuilt(feedforward(drivetrain=drives), text, before)


def test_what_a_summary_leaves_out_is_counted() -> None:
    assert summary(["a", "b"]) == "a, b"
    assert summary(list("abcde")) == "a, b, c, and 2 more"


def test_a_largest_mass_below_zero_is_refused_before_the_arm_moves(
    before: gd.GearedModel,
) -> None:
    warm_up(before, feedforward(payload__link="tip").payload)
    with pytest.raises(ParameterError, match=r"payload\.max_mass: is -2; give a mass"):
        warm_up(before, feedforward(payload__max_mass=-2.0).payload)
