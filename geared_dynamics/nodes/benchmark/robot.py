"""The robot of the benchmark: its files, its joints, a posture to move about."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import geared_dynamics
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel

ARM = "puma560"
ROOM = 0.25  # [rad] that the motion needs above a joint's start


def default_files() -> tuple[Path, Path]:
    """Return URDF and drivetrain file of the PUMA 560 that comes with the package.

    Raises:
        GearedDynamicsError: They are not installed.
    """
    prefixes = [*filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))]
    source = Path(geared_dynamics.__file__).resolve().parents[1]
    shares = [Path(p) / "share" / "geared_dynamics" for p in (*prefixes, sys.prefix)]
    for folder in (source, *shares):
        files = tuple(folder / "urdf" / f"{ARM}.{kind}" for kind in ("urdf", "drivetrain.yaml"))
        if all(file.is_file() for file in files):
            return files[0], files[1]
    raise GearedDynamicsError(
        "loop-benchmark", f"the files of the {ARM} are not installed", "name a URDF of your own"
    )


def posture(model: GearedModel) -> list[float]:
    """Return positions with room above them: zero, or the middle of a joint's range."""
    limits = {joint.name: joint.limit for joint in model.robot.joints}
    start = []
    for name in model.joint_names:
        limit = limits[name]
        low = None if limit is None else limit.lower
        high = None if limit is None else limit.upper
        free = (low is None or low <= -ROOM) and (high is None or high >= ROOM)
        if free or low is None or high is None:
            start.append(0.0)
        else:
            start.append((low + high - ROOM) / 2.0)
    return start
