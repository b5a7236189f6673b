"""The schema, and what values its parameters take."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import pytest

from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.parameters import (
    DESCRIPTION,
    Parameter,
    ParameterError,
    expanded,
    unknown,
)

ROOT = Path(__file__).resolve().parents[3]
TABLES = runpy.run_path(str(ROOT / "tools" / "parameter_tables.py"))
SCHEMA = FeedforwardParameters.rows()
NAMES = [entry.name for entry in SCHEMA]
# The parameters of the joint trajectory controller that a user's block may have.
JTC = (
    "joints", "command_joints", "command_interfaces", "state_interfaces", "state_publish_rate",
    "action_monitor_rate", "interpolation_method", "allow_partial_joints_goal",
    "allow_nonzero_velocity_at_trajectory_end", "allow_integration_in_goal_trajectories",
    "interpolate_from_desired_state", "open_loop_control", "cmd_timeout",
    "set_last_command_interface_value_as_state_on_activation",
    "constraints.stopped_velocity_tolerance", "constraints.goal_time",
    "constraints.decelerate_on_cancel", "constraints.<joint>.trajectory",
    "constraints.<joint>.goal", "constraints.<joint>.max_deceleration_on_cancel",
    "gains.<joint>.p", "gains.<joint>.i", "gains.<joint>.d", "gains.<joint>.i_clamp",
    "gains.<joint>.i_clamp_max", "gains.<joint>.i_clamp_min", "gains.<joint>.ff_velocity_scale",
    "gains.<joint>.u_clamp_max", "gains.<joint>.u_clamp_min",
    "gains.<joint>.antiwindup_strategy", "gains.<joint>.tracking_time_constant",
    "gains.<joint>.error_deadband",
)  # fmt: skip


def test_names_are_unique_and_described() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert all(entry.text for entry in SCHEMA)


@pytest.mark.parametrize("entry", SCHEMA, ids=NAMES)
def test_defaults_are_good_values(entry: Parameter) -> None:
    value = entry.checked(entry.default)
    same = value == entry.default or (math.isnan(value) and math.isnan(entry.default))  # type: ignore[arg-type]
    assert same
    assert entry.kind in DESCRIPTION


@pytest.mark.parametrize("name", JTC)
def test_the_names_of_the_joint_trajectory_controller_are_there(name: str) -> None:
    assert name in NAMES


@pytest.mark.parametrize("name", TABLES["PAGES"])
def test_the_page_shows_the_schema(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    schema = TABLES["PAGES"][name].rows()
    assert page == TABLES["replaced"](page, schema), "python tools/parameter_tables.py"


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("bool", 1, "p: is 1; give true or false"),
        ("double", True, "give a number"),
        ("double", "1.0", "give a number"),
        ("double", -0.1, "p: is -0.1; give 0 to 2"),
        ("double", float("nan"), "give 0 to 2"),
        ("int", 1.5, "give a whole number"),
        ("int", 3, "give 0 to 2"),
        ("string", 3, "give a text"),
        ("strings", "one", "give a list of texts"),
        ("strings", [1], "give a list of texts"),
        ("doubles", [0.5, "x"], "give a list of numbers"),
        ("ints", [1, 5], "give 0 to 2"),
    ],
)
def test_wrong_values_are_refused(kind: Any, value: Any, words: str) -> None:
    entry = Parameter("p", kind, 0, "", 0.0, 2.0)
    with pytest.raises(ParameterError) as error:
        entry.checked(value)
    assert words in str(error.value)


def test_whole_numbers_serve_as_numbers() -> None:
    assert Parameter("p", "double", 0.0, "").checked(3) == 3.0
    assert isinstance(Parameter("p", "double", 0.0, "").checked(3), float)
    assert Parameter("p", "doubles", [], "").checked((1, 2.5)) == [1.0, 2.5]


def test_a_wrong_choice_names_the_nearest() -> None:
    entry = Parameter("mode", "string", "stream", "", choices=("annotate", "stream"))
    with pytest.raises(ParameterError, match="did you mean 'stream'"):
        entry.checked("steam")


def test_each_joint_and_motor_has_its_own() -> None:
    schema = [Parameter("gains.<joint>.p", "double", 0.0, ""), Parameter("rate", "int", 1, "")]
    assert list(expanded(schema, ["a", "b"], ["m"])) == ["gains.a.p", "gains.b.p", "rate"]
    schema = [Parameter("motors.<motor>.sign", "int", 1, "")]
    assert list(expanded(schema, ["a"], ["m", "k"])) == ["motors.m.sign", "motors.k.sign"]


def test_unknown_names_are_told_of() -> None:
    lines = unknown(["bandwith", "mode"], ["bandwidth", "mode"])
    assert lines == [
        "parameter 'bandwith' is unknown to this node and has no effect; did you mean 'bandwidth'?"
    ]
