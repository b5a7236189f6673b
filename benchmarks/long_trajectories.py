"""How long a cycle of the feedforward node waits while a long trajectory comes in.

``python benchmarks/long_trajectories.py [MODE]``: a node in this process, in a mode
(``stream``), joint states at 1 kHz through its own callbacks, and trajectories of some thousand
points in between; no DDS. A cycle is late by what the trajectory's callback takes and by what a
thread beside the loop holds the interpreter.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from builtin_interfaces.msg import Duration
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from geared_dynamics.ros.feedforward import FeedforwardNode

URDF = Path(__file__).resolve().parents[1] / "urdf"
POSTURE = [0.3, 0.5, -0.4]
RUNS, BEFORE, AFTER = 7, 200, 400  # cycles around a trajectory
PERIOD = 1e-3  # [s]


def trajectory(count: int, names: list[str]) -> bytes:
    """A slow motion of so many points."""
    t = 0.5 + 0.01 * np.arange(count)
    phase = np.linspace(0.0, 2.0 * np.pi, count)
    q = np.array(POSTURE) + 0.05 * (1.0 - np.cos(phase))[:, None]
    v = 0.05 * np.sin(phase)[:, None] * 2.0 * np.pi / (t[-1] - t[0]) * np.ones(3)
    v[-1] = 0.0
    message = JointTrajectory(joint_names=names)
    for when, position, rate in zip(t.tolist(), q.tolist(), v.tolist(), strict=True):
        stamp = Duration(sec=int(when), nanosec=round(when % 1 * 1e9) % 10**9)
        point = JointTrajectoryPoint(positions=position, velocities=rate, time_from_start=stamp)
        message.points.append(point)
    return bytes(serialize_message(message))


def late(node: Any, state: JointState, data: bytes) -> tuple[float, float]:
    """Longest delay of a cycle without and with a trajectory [s]."""
    found = [0.0, 0.0]
    due = time.perf_counter()
    for k in range(BEFORE + AFTER):
        due += PERIOD
        time.sleep(max(due - time.perf_counter(), 0.0))
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(time.time_ns(), 10**9)
        message = bytes(serialize_message(state))
        if k == BEFORE:
            node.references.take(data)
        node.on_joint_state(message)
        row = int(k >= BEFORE)
        found[row] = max(found[row], time.perf_counter() - due)
        due = max(due, time.perf_counter() - PERIOD)
    return found[0], found[1]


def main() -> None:
    """Measure and print."""
    files = [f"urdf_path:={URDF / 'elbow.urdf'}", f"drivetrain:={URDF / 'elbow.drivetrain.yaml'}"]
    files.append(f"mode:={sys.argv[1] if len(sys.argv) > 1 else 'stream'}")
    options = [part for word in files for part in ("-p", word)]
    rclpy.init(args=[sys.argv[0], "--ros-args", *options])
    node = FeedforwardNode()
    node.start()
    names = ["joint_1", "joint_2", "joint_3"]
    state = JointState(name=names, position=POSTURE, velocity=[0.0] * 3)
    print("longest delay of a cycle, median of runs [ms]\n points   before   with it")
    for count in (10, 1000, 5000, 20000):
        data = trajectory(count, names)
        rows = 1e3 * np.median([late(node, state, data) for _ in range(RUNS)], axis=0)
        print(f" {count:6d} {rows[0]:8.2f} {rows[1]:9.2f}")
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
