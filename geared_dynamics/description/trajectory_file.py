"""A ``trajectory_msgs/JointTrajectory`` in a YAML file, as ``ros2 topic pub`` reads it."""

from __future__ import annotations

import os
from typing import Any

from geared_dynamics.description.yaml_loader import FileLimits, load_yaml
from geared_dynamics.errors import DescriptionError
from geared_dynamics.files import decode, place_in, read_file

SIZE_LIMIT = 2**26
LIMITS = FileLimits(values=10_000_000, depth=16)  # a minute of seven joints at 1 kHz: two million
SECONDS, NANOSECONDS = 2**31, 2**32  # of a builtin_interfaces/Duration: int32 and uint32
KIND = "trajectory file"
KEYS = ("header", "joint_names", "points")
FIELDS = ("positions", "velocities", "accelerations", "effort", "time_from_start")
EXPECTED = "write it as a trajectory_msgs/JointTrajectory: joint_names and points"


def read_trajectory(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a trajectory as plain data: ``joint_names`` and ``points``.

    Each point is a dict with ``time`` [s] and the fields that it has, lists that are not yet
    looked into yet (``trajectory.checked`` does).

    Raises:
        DescriptionError: If it cannot be read, is not YAML or no JointTrajectory.
    """
    place = os.fspath(path)
    data = load_yaml(decode(read_file(path, KIND, SIZE_LIMIT), place, KIND), place, LIMITS)
    mapping(data, place, KEYS)
    points = data.get("points")
    if not isinstance(points, list):
        raise DescriptionError(place_in(place, "points"), "are not a list", EXPECTED)
    names = data.get("joint_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DescriptionError(place_in(place, "joint_names"), "are not a list of names", EXPECTED)
    found = [point_of(point, place_in(place, f"points[{k}]")) for k, point in enumerate(points)]
    return {"joint_names": names, "points": found}


def point_of(point: Any, place: str) -> dict[str, Any]:
    """One point with its time in seconds."""
    mapping(point, place, FIELDS)
    fields = {name: value for name, value in point.items() if name != "time_from_start"}
    start = point.get("time_from_start", {})
    mapping(start, f"{place}.time_from_start", ("sec", "nanosec"))
    parts = [start.get(key, 0) for key in ("sec", "nanosec")]
    if not all(type(part) is int for part in parts):
        finding = "is not whole seconds and nanoseconds"
        raise DescriptionError(f"{place}.time_from_start", finding, "write {sec: 1, nanosec: 0}")
    if not (-SECONDS <= parts[0] < SECONDS and 0 <= parts[1] < NANOSECONDS):
        finding = "is beyond what a builtin_interfaces/Duration holds"
        raise DescriptionError(f"{place}.time_from_start", finding, "write {sec: 1, nanosec: 0}")
    return fields | {"time": parts[0] + 1e-9 * parts[1]}


def mapping(value: Any, place: str, keys: tuple[str, ...]) -> None:
    """Raise if it is not a mapping of these keys."""
    if not isinstance(value, dict):
        raise DescriptionError(
            place, f"is a {type(value).__name__}; it must be a mapping", EXPECTED
        )
    unknown = [key for key in value if key not in keys]
    if unknown:
        remedy = f"the keys are {', '.join(keys)}"
        raise DescriptionError(place, f"has the unknown key {unknown[0]!r}", remedy)
