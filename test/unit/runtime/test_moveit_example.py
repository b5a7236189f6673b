"""The example for MoveIt names the node, its action and the joints of a robot of ours."""

from __future__ import annotations

from pathlib import Path

import yaml

import geared_dynamics as gd

ROOT = Path(__file__).resolve().parents[3]
NODE = ROOT / "geared_dynamics" / "ros"


def test_the_example_names_what_there_is() -> None:
    text = (ROOT / "config" / "moveit_controllers.yaml").read_text("utf-8")
    given = yaml.safe_load(text)["moveit_simple_controller_manager"]
    (name,) = given["controller_names"]
    entry = given[name]
    assert f'name: str = "{name}"' in (NODE / "feedforward.py").read_text("utf-8")
    assert f'ACTION = "~/{entry["action_ns"]}"' in (NODE / "action.py").read_text("utf-8")
    assert entry["type"] == "FollowJointTrajectory"
    assert tuple(entry["joints"]) == gd.load_model(ROOT / "urdf" / "brisk6.urdf").joint_names
