"""A motion of the elbow arm, its torques, and a bag of them, for tests of the commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recorded_motions import (
    JOINT_STATE,
    ROBOTS,
    elbow,
    messages,
    motion,
    torques,
    truth,
    write_sqlite,
)

MODEL = elbow()
URDF, DRIVE = str(ROBOTS / "elbow.urdf"), str(ROBOTS / "elbow.drivetrain.yaml")
ROBOT = ["--robot", URDF, "--drivetrain", DRIVE]
T, Q, V, A = motion(30.0, 200.0)
TAU = torques(MODEL, truth(MODEL), Q, V, A)


def elbow_bag(folder: Path) -> str:
    """A bag of it, with noise; its path."""
    tau = TAU + np.random.default_rng(0).normal(size=TAU.shape)
    data = messages(MODEL.joint_names, T, Q, V, tau)
    return str(write_sqlite(folder / "run.db3", {"/joint_states": (JOINT_STATE, data)}))
