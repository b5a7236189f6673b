"""A motion as ``trajectory_msgs/msg/JointTrajectory``: YAML text, or a bag with one message."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.analysis.report.bag_file import refuse_existing
from geared_dynamics.analysis.report.yaml_text import flow
from geared_dynamics.arrays import Array
from geared_dynamics.bags import Bag
from geared_dynamics.files import new_files

TYPE = "trajectory_msgs/msg/JointTrajectory"
DIGITS = 9


def trajectory_yaml(
    joints: Sequence[str], times: Array, q: Array, v: Array, a: Array, comment: str
) -> str:
    """Write it as ``ros2 topic pub`` reads it; times (k,) [s], motion (k, n)."""
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += [f"joint_names: {flow(list(joints))}", "points:"]
    for t, *rows in zip(nanoseconds(times).tolist(), q, v, a, strict=True):
        start = "  - "
        for name, row in zip(("positions", "velocities", "accelerations"), rows, strict=True):
            numbers = ", ".join(f"{value:.{DIGITS}f}" for value in row)
            lines.append(f"{start}{name}: [{numbers}]")
            start = "    "
        lines.append(f"    time_from_start: {{sec: {t // 10**9}, nanosec: {t % 10**9}}}")
    return "\n".join(lines) + "\n"


def write_trajectory_bag(
    path: Path, topic: str, joints: Sequence[str], times: Array, motion: tuple[Array, Array, Array]
) -> None:
    """Write a bag with one message, for ``ros2 bag play``.

    Raises:
        RecordingError: If the folder is there already.
    """
    typesys = extra("rosbags.typesys", "bag")
    refuse_existing(path)
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    message = trajectory_message(store.types, joints, times, motion)
    with new_files(path, parents=True) as (draft,), Bag(draft, {topic: TYPE}) as bag:
        bag.write(topic, 0, bytes(store.serialize_cdr(message, TYPE)))


def trajectory_message(
    types: Any, joints: Sequence[str], times: Array, motion: tuple[Array, Array, Array]
) -> Any:
    """Build the message of a type store."""
    time, header = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]
    duration = types["builtin_interfaces/msg/Duration"]
    point = types["trajectory_msgs/msg/JointTrajectoryPoint"]
    points = [
        point(q, v, a, np.empty(0), duration(t // 10**9, t % 10**9))
        for t, q, v, a in zip(nanoseconds(times).tolist(), *motion, strict=True)
    ]
    return types[TYPE](header(time(0, 0), ""), list(joints), points)


def nanoseconds(times: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Times [s] as whole nanoseconds."""
    return np.rint(times * 1e9).astype(np.int64)
