"""Exits of a feedforward node that moves an arm with springs, simulated by the plant node."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from feedforward_rig import text, trajectory
from ros_harness import Graph, Process, Processes

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "urdf_path": ROOT / "urdf" / "wave6.urdf",
    "drivetrain": ROOT / "urdf" / "wave6.drivetrain.yaml",
}
PRESET = yaml.safe_load((ROOT / "config" / "elastic_simulated.yaml").read_text("utf-8"))
PLANT, NODE = "/plant_node", "/feedforward_node"
GOAL = [0.9, 0.7, 0.9, 0.6, 0.5, 0.6]
RATE = 200  # [1/s]: a busy machine keeps up with it
REST = 0.02  # [rad/s], joint side


class Springs:
    """The plant, real time, and a node that is fed with its motors."""

    def __init__(self, graph: Graph, processes: Processes, side: str) -> None:
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import JointTrajectory

        self.graph, self.processes, self.side = graph, processes, side
        self.model = gd.load_model(FILES["urdf_path"], FILES["drivetrain"])
        self.motors = graph.listen("/motor_states", JointState)
        self.goals = graph.publisher(f"{NODE}/joint_trajectory", JointTrajectory)
        values = FILES | {"command": side, "engine": "equations", "encoder_counts": 131072}
        values["rate"] = float(RATE)
        links = ["-r", f"~/joint_commands:={NODE}/joint_commands"]
        self.plant = self.start("plant_node", values, links)

    def start(self, module: str, values: dict[str, Any], links: list[str]) -> Process:
        options = [
            part for name, value in values.items() for part in ("-p", f"{name}:={text(value)}")
        ]
        words = ("-m", f"geared_dynamics.ros.{module}", "--ros-args", *options, *links)
        return self.processes.start(*words)

    def until_moving(self) -> None:
        """Start the node and a motion, and wait until it is fast."""
        values = PRESET["/**"]["ros__parameters"] | FILES
        values |= {"mode": "computed_torque", "output": self.side, "update_rate": RATE}
        values["safety.state_timeout"] = 0.5
        self.node = self.start("feedforward_node", values, ["-r", "joint_states:=motor_states"])
        self.until(lambda: "holding: no reference" in self.node.output, "the node")
        self.graph.state(NODE)  # so that its services are found before it moves
        self.move(GOAL)

    def move(self, goal: list[float]) -> None:
        """Begin a motion, and wait until it is fast."""
        still = [0.0] * 6
        self.graph.wait_for_subscribers(self.goals)
        self.goals.publish(trajectory(self.model.joint_names, [(1.0, goal, still, still)]))
        self.until(lambda: self.speed > 1.0, "speed")
        self.mark()

    def mark(self) -> None:
        """Measure ways from here."""
        self.fast, self.begin = self.speed, self.angle

    def until(self, condition: Callable[[], Any], what: str) -> None:
        self.graph.until(condition, what, 60.0)

    @property
    def speed(self) -> float:
        """Of the fastest joint, by its motor [rad/s]."""
        return float(np.abs(self.motors.last.velocity).max()) / 100.0 if self.motors.count else 0.0

    @property
    def angle(self) -> np.ndarray:
        return np.array(self.motors.last.position) / 100.0

    def rests(self) -> None:
        """It came to rest near where the exit was, and stays there under the last command."""
        speed, where = self.speed, self.angle
        way = float(np.abs(where - self.begin).max())
        print(f"speed left {speed:.4f} rad/s of {self.fast:.2f}, way {way:.3f} rad")
        assert speed < REST
        assert way < 0.2 * self.fast
        end = time.monotonic() + 0.3
        self.until(lambda: time.monotonic() > end, "a while")
        assert self.speed < REST
        assert np.abs(self.angle - where).max() < 2e-3


@pytest.mark.parametrize(
    "side", ["joint_torque", pytest.param("motor_current", marks=pytest.mark.validate)]
)
def test_exits_in_motion(graph: Graph, processes: Processes, side: str) -> None:
    """A transition, then a signal; what the node sends last holds the arm."""
    from lifecycle_msgs.srv import ChangeState

    arm = Springs(graph, processes, side)
    arm.until_moving()
    client = graph.wait_for_service(f"{NODE}/change_state", ChangeState)
    request = ChangeState.Request()
    request.transition.id = 4
    future = client.call_async(request)
    arm.until(lambda: "braking" in arm.node.output, "braking")
    arm.mark()  # not what it went while the request was on its way
    arm.until(future.done, "the answer to deactivate")
    assert future.result().success
    arm.rests()
    since = len(arm.node.output)
    assert graph.change_state(NODE, "activate")
    arm.until(lambda: "holding" in arm.node.output[since:], "the node again")
    arm.move([0.0] * 6)
    since = len(arm.node.output)
    arm.node.signal(signal.SIGINT if side == "joint_torque" else signal.SIGTERM)
    arm.until(lambda: "braking" in arm.node.output[since:], "braking")
    arm.mark()
    arm.until(lambda: not arm.node.running, "its end")
    assert arm.node.returncode == 0
    arm.rests()
