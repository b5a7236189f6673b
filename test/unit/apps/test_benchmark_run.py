from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml

from geared_dynamics.apps.latency_run import (
    Options,
    echo,
    environment,
    feedforward,
    measure,
    parameter_file,
)
from geared_dynamics.errors import GearedDynamicsError, MissingPackageError
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters

ROOT = Path(__file__).resolve().parents[3]
OPTIONS = Options(["joint_1"], [0.0], 1000, 1.0, 1.0, None)


def test_without_ros_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'ros-jazzy-rclpy\[fastrtps\]'"):
        measure(echo(), OPTIONS)


def test_a_goal_needs_control_msgs(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"control_msgs"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else 1)
    node = feedforward(Path("a.urdf"), None, "stream", 1000, goal=True)
    with pytest.raises(GearedDynamicsError, match=r"needs control_msgs.*control-msgs"):
        measure(node, OPTIONS)


def test_the_nodes_parameters_exist_and_are_in_range() -> None:
    schema = {parameter.name: parameter for parameter in FeedforwardParameters.rows()}
    for rate in (1, 100, 4000):
        for name, value in feedforward(Path("a.urdf"), None, "stream", rate).parameters.items():
            schema[name].checked(value)


def test_parameters_are_written_as_yaml() -> None:
    values: dict[str, Any] = {"a": "x: [", "b": True, "c": 0.5}
    assert yaml.safe_load(parameter_file(values)) == {"/**": {"ros__parameters": values}}


def test_the_run_stays_on_this_machine(tmp_path: Path) -> None:
    own = environment(7, tmp_path)
    assert own["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert own["ROS_DOMAIN_ID"] == "7"
