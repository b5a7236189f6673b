"""The benchmark's robot and its task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime import latency_figures
from geared_dynamics.runtime.process_tasks import (
    LatencyTask,
    read_latency_task,
    write_latency_task,
)

ROOT = Path(__file__).resolve().parents[3]


def test_a_task_survives_its_file(tmp_path: Path) -> None:
    task = LatencyTask(["j"], [0.1], 1000, 60.0, 3.0, ["a", "b"], ["c", "d"], "", "times.npz")
    write_latency_task(task, tmp_path / "task.json")
    assert read_latency_task(str(tmp_path / "task.json")) == task


def test_the_robot_that_comes_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    urdf, drivetrain = latency_figures.default_files()
    assert gd.load_model(urdf, drivetrain).n == 6
    monkeypatch.setattr(latency_figures, "ARM", "no_such_arm")
    with pytest.raises(GearedDynamicsError, match="name a URDF of your own"):
        latency_figures.default_files()


@pytest.mark.parametrize("name", ["elbow", "puma560", "tx40", "kr300"])
def test_the_motion_stays_within_the_joints_ranges(name: str) -> None:
    model = gd.load_model(
        ROOT / "urdf" / f"{name}.urdf", ROOT / "urdf" / f"{name}.drivetrain.yaml"
    )
    start = np.array(latency_figures.posture(model))
    limits = {joint.name: joint.limit for joint in model.records.robot.joints}
    for joint, low in zip(model.joint_names, start, strict=True):
        limit = limits[joint]
        if limit is not None and limit.lower is not None:
            assert limit.lower <= low
        if limit is not None and limit.upper is not None:
            assert low + 0.2 <= limit.upper


ONE_JOINT = """<robot name="arm"><link name="base"/>
<link name="link"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="link"/><axis xyz="0 0 1"/>
<limit lower="{low}" upper="{high}" effort="9" velocity="9"/></joint></robot>"""


@pytest.mark.parametrize(
    ("low", "high", "start"),
    [
        *((-3.0, -1.0, -2.125), (1.0, 2.0, 1.375), (-1.0, 1.0, 0.0)),
        # Room on both sides, just so and not quite.
        *((-0.25, 0.25, 0.0), (-0.25, 1.0, 0.0), (-1.0, 0.25, 0.0)),
        *((-0.24, 1.0, 0.255), (-1.0, 0.24, -0.505)),
    ],
)
def test_a_joint_whose_range_is_beside_zero_starts_in_it(
    low: float, high: float, start: float
) -> None:
    model = gd.load_model(ONE_JOINT.format(low=low, high=high))
    assert latency_figures.posture(model) == [pytest.approx(start, abs=1e-12)]
