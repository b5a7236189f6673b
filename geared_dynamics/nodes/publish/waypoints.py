"""A trajectory file as checked waypoints, and whether the arm is where they begin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from geared_dynamics.description.trajectory_file import read_trajectory
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    TrajectoryError,
    Waypoints,
    checked,
)


def read_waypoints(path: Path) -> Waypoints:
    """Read a file and check it by the joint trajectory controller's rules.

    Raises:
        DescriptionError: If it is no JointTrajectory.
        TrajectoryError: If a controller would refuse it.
    """
    data = read_trajectory(path)
    names = tuple(data["joint_names"])
    points = [Point(**point) for point in data["points"]]
    try:
        return checked(JointTrajectory(names, points), Rules(names), 0.0)
    except TrajectoryError as error:
        place = f"{path}, {error.place}"
        raise TrajectoryError(place, error.finding, error.remedy, error.code) from None


def refuse_elsewhere(found: Waypoints, measured: Mapping[str, float], tolerance: float) -> None:
    """Raise if a joint is not where the waypoints begin: the arm would jump there.

    Args:
        found: The waypoints.
        measured: Position of each of their joints [rad or m].
        tolerance: Largest distance [rad or m].
    """
    begin = dict(zip(found.joint_names, found.positions[0].tolist(), strict=True))
    away = {joint: measured[joint] - place for joint, place in begin.items()}
    worst = max(away, key=lambda joint: abs(np.nan_to_num(away[joint], nan=np.inf)))
    if not abs(away[worst]) <= tolerance:
        finding = (
            f"begins at {begin[worst]:.6g}, and joint {worst!r} is at {measured[worst]:.6g}: "
            "it would jump"
        )
        remedy = "move the arm slowly to the first point, or give a larger --tolerance"
        raise TrajectoryError("trajectory", finding, remedy)
