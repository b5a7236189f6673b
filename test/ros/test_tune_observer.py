"""``tune-observer`` on what the plant node of an elastic arm publishes, recorded into a bag."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from observer_node_arm import URDF, arm, drives
from observer_rig import message_of
from plant_rig import PlantRig
from ros_harness import Graph, Processes

pytest.importorskip("rosbags", reason="writes the bag (the extra 'analysis')")

RATE = 500.0
SAMPLES = 500
TOPIC = "/motor_states"


class Mover:
    """Moves the motors about where they begin, by their own angles and speeds."""

    def __init__(self, first: Any) -> None:
        import geared_dynamics as gd

        model = arm()
        A = gd.elastic.structure_matrix(model)
        q = np.linalg.solve(model.structure_matrix.T, np.array(first.position) - model.motor_zeros)
        H = gd.elastic.mass_matrix(model, q)
        self.start = np.array(first.position)
        self.swing = 0.3 * np.abs(A).max(axis=0) * np.array([1.0, 0.8, 0.6])
        self.inertia = 1.0 / np.diag(A.T @ np.linalg.solve(H, A))
        self.weight = np.linalg.pinv(model.structure_matrix) @ gd.gravity_forces(model, q)

    def torques(self, state: Any, time: float) -> np.ndarray:
        goal = self.start + self.swing * np.sin(6.0 * time) ** 2
        push = 3600.0 * (goal - np.array(state.position)) - 84.0 * np.array(state.velocity)
        return np.asarray(self.inertia * push + self.weight)


def stamp(message: Any) -> int:
    return int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec)


@pytest.fixture
def drivetrain(tmp_path: Path) -> Path:
    file = tmp_path / "arm.drivetrain.yaml"
    file.write_text(drives(), encoding="utf-8")
    return file


@pytest.fixture
def bag(graph: Graph, processes: Processes, tmp_path: Path, drivetrain: Path) -> Path:
    """The motors' angles and torques of a second of motion, each step answered."""
    from sensor_msgs.msg import JointState

    from geared_dynamics.ros.demo_conductor import Recorder, write_bag

    rig = PlantRig(graph, processes)
    motors = graph.listen(TOPIC, JointState)
    recorder = Recorder(graph.node, [TOPIC])
    recorder.begin()
    rig.start_plant(
        pace="lock_step", drivetrain=str(drivetrain), command="motor_torque", rate=RATE,
        encoder_counts=2**17,
    )  # fmt: skip
    graph.until(lambda: motors.count > 0, "the motors", 120.0)
    graph.wait_for_subscribers(rig.named)
    state = motors.last
    mover, begin = Mover(state), stamp(state)
    for _ in range(SAMPLES):
        torques = mover.torques(state, 1e-9 * (stamp(state) - begin))
        command = message_of(state.name, stamp(state), effort=torques)
        seen = stamp(state)
        rig.named.publish(command)
        for _ in range(100):
            graph.until(lambda: motors.count > 0, "the motors")
            if stamp(motors.last) > seen:
                break
            rig.graph.spin_once(0.05)
            if stamp(motors.last) == seen:
                rig.named.publish(command)  # a loaded machine may have lost it
        state = motors.last
        assert stamp(state) > seen
    folder = tmp_path / "recording"
    write_bag(folder, {"arm": recorder.end()})
    return folder


def tuned(processes: Processes, bag: Path, drivetrain: Path) -> tuple[str, list[float]]:
    """What the command prints, and the innovations squared that it finds, by reading."""
    names = [f"{j}={m}" for j, m in zip(arm().joint_names, arm().motor_names, strict=True)]
    words = ["tune-observer", bag, "--robot", URDF, "--drivetrain", drivetrain]
    words += ["--positions", "motor", "--effort", "motor_torque", "--rename", *names]
    words += ["--search-seconds", "0.4"]
    process = processes.start("-m", "geared_dynamics.apps.cli.main", *words, name="tune-observer")
    code = process.wait(240.0)
    assert code in (0, 1), process.report()
    lines = [line for line in process.output.splitlines() if "NIS by reading" in line]
    return process.output, [float(line.split()[3].rstrip(",")) for line in lines]


def test_a_bag_of_the_plant_is_judged_and_tuned(
    processes: Processes, bag: Path, drivetrain: Path, tmp_path: Path
) -> None:
    said, (given, suggested) = tuned(processes, bag, drivetrain)
    for words in ("noise that fits", "encoder_noise", "update_rate: 500", "motor_3", "1 starts"):
        assert words in " ".join(said.split())
    assert 0.3 < given < 1.2, "a part of the noise is the encoders' steps, which are even"
    assert 0.3 < suggested < 1.2
    data = yaml.safe_load(drives())
    for wheel in data["wheels"].values():
        wheel["inertia"] = {key: 1.5 * value for key, value in wheel["inertia"].items()}
    wrong = tmp_path / "wrong.drivetrain.yaml"
    wrong.write_text(yaml.safe_dump(data), encoding="utf-8")
    assert tuned(processes, bag, wrong)[1][0] > 2.0 * given, "negative control: other rotors"


def test_a_bag_without_torques_is_refused(
    processes: Processes, tmp_path: Path, drivetrain: Path
) -> None:
    from rclpy.serialization import serialize_message

    from geared_dynamics.ros.demo_conductor import Recorded, write_bag

    model, times = arm(), np.arange(400)
    shown = {"position": [0.1, 0.2, 0.3], "velocity": [0.0] * 3, "effort": [float("nan")] * 3}
    messages = [message_of(model.joint_names, int(k) * 2_000_000, **shown) for k in times]
    rows = [Recorded("/joint_states", stamp(m), bytes(serialize_message(m))) for m in messages]
    folder = tmp_path / "recording"
    write_bag(folder, {"arm": rows})
    words = ["tune-observer", folder, "--robot", URDF, "--drivetrain", drivetrain]
    process = processes.start("-m", "geared_dynamics.apps.cli.main", *words, name="tune-observer")
    assert process.wait(60.0) == 2, process.report()
    assert "effort" in process.output, process.report()
    assert "Traceback" not in process.output, process.report()
