"""The demo's time goes on when the node follows the trajectory, however long it prepares it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from feedforward_rig import JOINTS, POSTURE, text
from plant_rig import NODE, ROBOT, PlantRig, stamp
from ros_harness import Graph, Processes

pytest.importorskip("rosbags", reason="rosbags is not installed (extra demo)")

from geared_dynamics.apps.demo_plan import patience
from geared_dynamics.runtime.process_tasks import DemoTask, Run, write_demo_task

POINTS = 401  # more than are taken over at once
RATE = 1000.0
LONG = 75  # states of an arm that is paused, 50 a second: longer than the default clock_timeout
SLOW = """
import sys
from pathlib import Path

from geared_dynamics.ros import trajectories

prepare = trajectories.prepare


def slow(*given):
    Path({go!r}).read_text()  # a pipe: waits until somebody writes
    return prepare(*given)


trajectories.prepare = slow
sys.argv[0] = "feedforward_node"
from geared_dynamics.ros.feedforward_node import main
sys.exit(main(sys.argv))
"""


@pytest.fixture
def rig(graph: Graph, processes: Processes) -> PlantRig:
    return PlantRig(graph, processes)


def task(folder: Path) -> Path:
    """One run of a short motion."""
    times = np.linspace(0.0, 0.4, POINTS)
    part = 0.5 * (1.0 - np.cos(5.0 * np.pi * times))[:, None]
    speed = 2.5 * np.pi * np.sin(5.0 * np.pi * times)[:, None]
    rate = 12.5 * np.pi**2 * np.cos(5.0 * np.pi * times)[:, None]
    ways = np.full((1, 3), 0.05)
    made = DemoTask(
        joints=JOINTS, times=times.tolist(), q=(POSTURE + part * ways).tolist(),
        v=(speed * ways).tolist(), a=(rate * ways).tolist(), lock_step=True,
        runs=[Run("only", {"payload.mass": 0.0})], bag=str(folder / "bag"), springs=False,
    )  # fmt: skip
    write_demo_task(made, folder / "task.json")
    return folder / "task.json"


def test_time_stands_still_while_the_trajectory_is_prepared(rig: PlantRig, tmp_path: Path) -> None:
    from trajectory_msgs.msg import JointTrajectory

    go = tmp_path / "go"
    os.mkfifo(go)
    sent = rig.graph.listen(f"{NODE}/joint_trajectory", JointTrajectory)
    rig.start_plant(driven=True, pace="lock_step", paused=True, rate=RATE)
    values = ROBOT | {"mode": "computed_torque", "update_rate": int(RATE), "autostart": False,
                      "publish_joint_commands": True, "use_sim_time": True,
                      **patience(lock_step=True), "state_publish_rate": 50.0,
                      "diagnostics_rate": 10.0}  # fmt: skip
    options = [part for name, value in values.items() for part in ("-p", f"{name}:={text(value)}")]
    node = rig.processes.start("-c", SLOW.format(go=str(go)), "--ros-args", *options, name="node")
    conductor = rig.processes.start(
        "-m", "geared_dynamics.ros.demo_conductor", str(task(tmp_path)), name="conductor"
    )
    rig.graph.until(lambda: sent.count, "the trajectory")
    stamps = [stamp(rig.next_state()) for _ in range(10)]
    assert len(set(stamps)) == 1, "time goes on before the node follows"
    os.kill(conductor.pid, signal.SIGSTOP)  # the machine is busy: time stands still for long
    go.write_text("go")
    rig.until_said(node, "running: following the reference")
    for _ in range(LONG):
        rig.next_state()
    assert "time jump" not in node.output
    os.kill(conductor.pid, signal.SIGCONT)
    assert conductor.wait(60.0) == 0
