"""The arm with a coupled wrist, its motors and their torques along a motion, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.description.yaml_files import read_data, yaml_text
from recorded_motions import JOINT_STATE, ROBOTS, messages, motion, write_sqlite

JOINTS = tuple(f"joint_{k}" for k in range(1, 7))
FILES = (ROBOTS / "brisk6.urdf", ROBOTS / "brisk6.drivetrain.yaml")
# Written down from the drivetrain file: motors by rows, joints by columns.
RATIOS = np.array(
    [
        [6, 0, 0, 0, 0, 0],
        [0, 8, 0, 0, 0, 0],
        [0, 7, 7, 0, 0, 0],
        [0, 0, 0, -6, 0, 0],
        [0, 0, 0, -6, -6, 0],
        [0, 0, 0, -5, 5, -5],
    ],
    float,
)
AT = 0.3  # [rad] where the joint at rest is


def smooth_drive() -> dict[str, Any]:
    """The drivetrain without friction, whose jumps the filters would blur."""
    data = read_data(FILES[1])[0]
    for entry in data["motors"].values():
        del entry["friction"]
    return data | {"joints": {}}


def brisk_motion(still: int) -> tuple[Array, Array, Array, Array]:
    """Times, positions, velocities and motor torques of all six, one joint at rest at AT."""
    model = gd.load_model(FILES[0], smooth_drive())
    t, q, v, a = motion(8.0, 200.0, n=6)
    q[:, still], v[:, still], a[:, still] = AT, 0.0, 0.0
    return t, q, v, np.linalg.solve(RATIOS.T, gd.inverse_dynamics(model, q, v, a).T).T


def brisk_run(folder: Path, still: int, *, without: bool = False) -> tuple[str, list[str]]:
    """A bag of motor currents, perhaps without the joint at rest, and the robot's options."""
    t, q, v, tau_m = brisk_motion(still)
    drive = smooth_drive()
    constants = [motor["torque_constant"] for motor in drive["motors"].values()]
    shown = [k for k in range(6) if not (without and k == still)]
    parts = (x[:, shown] for x in (q, v, tau_m / constants))
    data = messages([JOINTS[k] for k in shown], t, *parts)
    bag = write_sqlite(folder / "run.db3", {"/joint_states": (JOINT_STATE, data)})
    file = folder / "smooth.drivetrain.yaml"
    file.write_text(yaml_text(drive, "without friction"), encoding="utf-8")
    return str(bag), ["--robot", str(FILES[0]), "--drivetrain", str(file)]
