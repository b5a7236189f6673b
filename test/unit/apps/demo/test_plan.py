"""What is refused before anything starts, and which engine is taken."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from demo_robots import URDF
from geared_dynamics.apps import demo_plan
from geared_dynamics.errors import GearedDynamicsError, MissingPackageError, ModelError
from geared_dynamics.files import RobotFiles, robot_files

PENDULUM = """<robot name="p"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<origin xyz="0 0 1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
</joint></robot>"""


def test_an_arm_without_motors_is_refused(tmp_path: Path) -> None:
    urdf = tmp_path / "p.urdf"
    urdf.write_text(PENDULUM, encoding="utf-8")
    with pytest.raises(ModelError, match="nothing moves this arm; write a drivetrain file"):
        demo_plan.make_plan(RobotFiles(urdf, None), None)


def test_an_arm_that_mujoco_does_not_take_is_moved_by_our_equations() -> None:
    made = demo_plan.make_plan(robot_files("tx40"), None)
    assert made.engine == "equations"
    assert "our own equations" in made.notes[0]


def test_both_nodes_get_parameters_that_they_know() -> None:
    from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
    from geared_dynamics.runtime.parameters import schema_of
    from geared_dynamics.runtime.plant_node_settings import PlantParameters

    made = demo_plan.make_plan(robot_files("elbow"), "equations")
    names = made.model.joint_names, made.model.motor_names
    for kind, values in (
        (PlantParameters, demo_plan.plant_parameters(made, lock_step=True)),
        (FeedforwardParameters, demo_plan.node_parameters(made, lock_step=True)),
    ):
        known = schema_of(kind, *names)
        for name, value in values.items():
            if name != "use_sim_time":
                known[name].checked(value)
    assert values["use_sim_time"] is True
    assert values["urdf_path"] == str(URDF / "elbow.urdf")


def test_a_missing_package_is_named_as_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'ros-jazzy-rclpy\[fastrtps\]'"):
        demo_plan.refuse_missing()


def test_a_package_of_another_python_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rclpy.py").write_text("raise ImportError('no _rclpy_pybind11')", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "rclpy", raising=False)
    with pytest.raises(
        GearedDynamicsError, match=r"'rclpy' cannot be imported \(no _rclpy.*Python"
    ):
        demo_plan.refuse_missing()
