"""What is written back into the robot's files, and what stays in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.identification_results import written
from geared_dynamics.analysis.parameter_columns import column_names, known_friction, prior
from geared_dynamics.description.yaml_files import new_entry, read_data, yaml_text
from recorded_motions import ROBOTS, motion, torques

URDF = (ROBOTS / "elbow.urdf").read_text("utf-8")
LAW = {"viscous": 4.0, "coulomb": [3.0, 4.0], "load": 0.05, "offset": 0.2, "smoothing": 0.01,
       "stribeck": {"static": [9.0, 8.0], "speed": 0.4},
       "ripple": [{"order": 3, "amplitude": 1.0, "phase": 0.5}]}  # fmt: skip
OWN = {"viscous": 1e-4, "coulomb": [0.01, 0.03], "offset": 0.02, "load": 0.01}


def rich() -> dict[str, Any]:
    """A drivetrain with all that friction can be."""
    data, _ = read_data(ROBOTS / "elbow.drivetrain.yaml")
    data["joints"] = {f"joint_{k}": {"friction": dict(LAW)} for k in (1, 2)}
    data["motors"]["motor_2"]["friction"] = dict(OWN)
    return data


def test_friction_that_is_not_identified_stays(tmp_path: Path) -> None:
    model = gd.load_model(ROBOTS / "elbow.urdf", rich())
    x, names = prior(model), column_names(model)
    for joint, coulomb in (("joint_1", 5.0), ("joint_2", 0.2), ("joint_3", 1.0)):
        x[names.index(f"{joint}.coulomb")] = coulomb  # of joint 2 less than half the difference
        x[names.index(f"{joint}.viscous")] = 6.0
        x[names.index(f"{joint}.offset")] = -0.4
    new = written(model, x, URDF, rich())
    file = tmp_path / "new.yaml"
    file.write_text(yaml_text(new.drivetrain), "utf-8")
    again = gd.load_model(new.urdf, file)
    _, q, v, a = motion(5.0, 50.0)
    np.testing.assert_allclose(prior(again), x, atol=1e-12)
    found, expected = (
        torques(one, prior(one), q, v, a) + known_friction(one, q, v, a) for one in (again, model)
    )
    change = torques(model, x - prior(model), q, v, a)
    np.testing.assert_allclose(found, expected + change, atol=1e-9 * np.abs(found).max())
    one = new.drivetrain["joints"]["joint_1"]["friction"]
    assert {key: one[key] for key in ("load", "ripple", "smoothing")} == {
        key: LAW[key] for key in ("load", "ripple", "smoothing")
    }
    assert one["coulomb"] == [4.5, 5.5]
    own = new.drivetrain["motors"]["motor_2"]["friction"]
    assert set(own) == set(OWN)
    for key, value in OWN.items():
        np.testing.assert_allclose(own[key], value, rtol=1e-12)
    assert set(new.kept) == {
        *(f"joint_{k}.friction.{key}" for k in (1, 2) for key in ("load", "stribeck", "ripple")),
        "motor_2.friction.load",
    }
    moved = {change.name: (change.before, change.after) for change in new.changes}
    assert moved["joint_1.static"] == (9.0, 10.5)  # 6 above Coulomb friction, as before
    assert new.unwritten == ()


def test_what_has_no_place_is_named() -> None:
    data = rich()
    del data["motors"]["motor_2"]
    model = gd.load_model(ROBOTS / "elbow.urdf", rich())
    assert [
        line.split(" = ")[0] for line in written(model, prior(model), URDF, data).unwritten
    ] == [
        "motor_2.viscous",
        "motor_2.coulomb",
    ]
    nowhere = written(model, prior(model), URDF, None).unwritten
    assert [line.split(" = ")[0] for line in nowhere[:3]] == [
        "rotor_1.J",
        "rotor_2.J",
        "rotor_3.J",
    ]
    small = prior(model)
    small[column_names(model).index("rotor_2.J")] = 1e-11
    again = written(model, small, URDF, None).unwritten
    assert [line.split(" = ")[0] for line in again[:2]] == ["rotor_1.J", "rotor_3.J"]


@pytest.mark.parametrize(
    ("old", "values", "new"),
    [
        ({}, (1.0, 2.0, 0.0), {"viscous": 1.0, "coulomb": 2.0, "offset": 0.0}),
        ({"coulomb": 3.0, "smoothing": 0.1}, (1.0, 2.0, None),
         {"viscous": 1.0, "coulomb": 2.0, "smoothing": 0.1}),
        ({"coulomb": [3.0, 1.0]}, (0.0, 0.5, None),
         {"viscous": 0.0, "coulomb": [1.0, 0.0], "offset": 0.5}),
        ({"coulomb": 1.0, "stribeck": {"static": 1.5, "speed": 0.1}}, (0.0, 2.0, 0.0),
         {"viscous": 0.0, "coulomb": 2.0, "offset": 0.0,
          "stribeck": {"static": 2.5, "speed": 0.1}}),
    ],
)  # fmt: skip
def test_entries(
    old: dict[str, Any], values: tuple[float, float, float | None], new: dict[str, Any]
) -> None:
    assert new_entry(old, *values).friction == new


GRIPPER = """<robot name="gripper">
  <link name="base"/>
  <link name="one"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="two"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="leader" type="revolute"><parent link="base"/><child link="one"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
  <joint name="follower" type="revolute"><parent link="base"/><child link="two"/>
    <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="9" velocity="9"/>
    <dynamics damping="0.2" friction="0.5"/><mimic joint="leader" multiplier="-2"/></joint>
</robot>"""


@pytest.mark.parametrize("law", [None, LAW, {"viscous": 0.3}, {"offset": 0.1}])
def test_friction_of_mimic_joints_is_written_once(law: dict[str, Any] | None) -> None:
    """What is identified of the leader has the mimic's in it."""
    data: dict[str, Any] = {"version": 1}
    if law is not None:
        data["joints"] = {"follower": {"friction": law}}
    model = gd.load_model(GRIPPER.encode(), data)
    x, names = prior(model), column_names(model)
    for key in ("viscous", "coulomb", "offset"):
        x[names.index(f"leader.{key}")] += 0.25
    new = written(model, x, GRIPPER, data)
    again = gd.load_model(new.urdf.encode(), new.drivetrain)
    np.testing.assert_allclose(prior(again), x, atol=1e-12)
    _, q, v, a = motion(5.0, 50.0, n=1)
    np.testing.assert_allclose(
        known_friction(again, q, v, a), known_friction(model, q, v, a), atol=1e-12
    )
    assert any(change.name.startswith("follower.") for change in new.changes)
