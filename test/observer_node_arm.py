"""An elbow with two elastic joints and a rigid one, simulated, and its observer's parameters."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import geared_dynamics as gd
from geared_dynamics.observers.readings import at_rest
from geared_dynamics.runtime.observer_settings import (
    ObserverParameters,
    ObserverSetup,
    observer_setup,
)
from node_values import parameters
from observer_arms import TURN, drive, moved

FILES = Path(__file__).resolve().parents[1] / "urdf"
URDF = FILES / "elbow.urdf"
DT = 1e-3
POSTURE = (0.3, 0.5, -0.4)


@functools.cache
def drives(damping: float = 60.0) -> str:
    """The elbow's drives with springs before joints 1 and 2."""
    data = yaml.safe_load((FILES / "elbow.drivetrain.yaml").read_text("utf-8"))
    data["joints"] = {
        "joint_1": {"stiffness": 9e3, "damping": damping},
        "joint_2": {"stiffness": 7e3, "damping": damping},
    }
    for motor in data["motors"].values():
        motor["torque_constant"] = 0.1
        motor["friction"] = {"viscous": 2e-5}
    return yaml.safe_dump(data)


@functools.cache
def arm(damping: float = 60.0) -> gd.GearedModel:
    """Its model."""
    return gd.load_model(URDF, yaml.safe_load(drives(damping)))


def values(**given: Any) -> ObserverParameters:
    """The node's parameters; ``__`` in a name stands for a dot."""
    return parameters(ObserverParameters, arm(), **given)


def ready(**given: Any) -> ObserverSetup:
    """The observer's settings."""
    return observer_setup(values(**given), arm())


class Plant:
    """The arm under position control of its motors; time goes on by DT.

    Attributes:
        z: q, theta and their rates (2N,).
        tau_m: Torque over the last step (m,).
        push: External force on the joints (n,) [N m].
        time: [s].
    """

    def __init__(self, q: tuple[float, ...] = POSTURE, damping: float = 60.0) -> None:
        self.model = arm(damping)
        n, self.width = self.model.n, self.model.n + self.model.elasticity.count
        self.A = gd.elastic.structure_matrix(self.model)
        rigid = self.model.structure_matrix.T @ np.array(q) + self.model.motor_zeros
        self.z = np.concatenate([at_rest(self.model, rigid), np.zeros(self.width)])
        self.start = self.A.T @ self.z[: self.width]
        weight = gd.gravity_forces(self.model, self.z[:n])
        self.inverse = np.linalg.pinv(self.model.structure_matrix)
        self.tau_m = self.inverse @ weight
        self.push = np.zeros(n)
        self.time = 0.0

    @property
    def q(self) -> np.ndarray:
        """Where the links are (n,)."""
        return self.z[: self.model.n]

    @property
    def v(self) -> np.ndarray:
        """How fast (n,)."""
        return self.z[self.width : self.width + self.model.n]

    @property
    def spring(self) -> np.ndarray:
        """Torques of the springs (n_e,)."""
        parts = np.split(self.z, [3, self.width, self.width + 3])
        return gd.elastic.joint_torque(
            self.model, gd.State(parts[0], parts[2], parts[1], parts[3])
        )

    @property
    def phi(self) -> np.ndarray:
        """What the motors' encoders show (m,), with 17 bits."""
        shown = self.A.T @ self.z[: self.width] + self.model.motor_zeros
        return TURN * np.round(shown / TURN)

    def step(self, tau_m: np.ndarray | None = None, dt: float = DT) -> None:
        """Go on, with a torque or along a motion of the motors."""
        if tau_m is None:
            swing = 0.3 * np.abs(self.A).max(axis=0)
            goal = self.start + swing * np.array([1.0, 0.8, 0.6]) * np.sin(6.0 * self.time) ** 2
            n = self.model.n
            weight = gd.gravity_forces(self.model, self.z[:n])
            tau_m = drive(self.model, self.z, goal) + self.inverse @ weight
        self.tau_m = np.asarray(tau_m)
        self.z = moved(self.model, self.z, self.tau_m, self.push, dt=dt, parts=2)
        self.time += dt
