"""The elbow under hard pushes, for ``observer_pushes``.

Springs of 9e3, 7e3 and 3e3 N m/rad, damping 2, friction. The plant is the model: all that differs
is the push.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.equations import packed_springs
from geared_dynamics.dynamics.packing import packed

URDF = Path(__file__).resolve().parents[1] / "urdf"
LIMIT = np.array([2.0, 2.0, 1.5])  # of the motors [N m]
PARTS = 4  # of the plant's step
AT, LONG, END = 0.15, 0.15, 0.4  # [s]: a push begins, lasts; the run ends
FORCES, RISES = (20.0, 50.0, 100.0, 200.0, 400.0), (0.0, 1e-3, 5e-3, 20e-3)  # [N m], [s]
WALLS = (5e3, 2e4, 1e5)  # [N/m]
AMONG = 0.6  # [rad], of the posture: random
Push = Callable[[float, np.ndarray], np.ndarray]


class Run(NamedTuple):
    """A motion.

    Attributes:
        name: Of the push.
        rate: Of the readings [1/s].
        phi: Exact angles of the motors (T, m) [rad].
        tau_m: Their torques over the steps before (T, m) [N m].
        q: Of the links (T, n) [rad].
        states: At the beginning of each part of the plant's steps: q, theta, rates (P T, 4 n).
        forces: On the joints, over such a part (P T, n) [N m].
    """

    name: str
    rate: float
    phi: np.ndarray
    tau_m: np.ndarray
    q: np.ndarray
    states: np.ndarray
    forces: np.ndarray


def elbow() -> gd.GearedModel:
    """The arm."""
    drives = yaml.safe_load((URDF / "elbow.drivetrain.yaml").read_text("utf-8"))
    friction = {"viscous": 0.3, "coulomb": 1.0, "smoothing": 0.02}
    drives["joints"] = {
        f"joint_{k}": {"stiffness": K, "damping": 2.0, "friction": dict(friction)}
        for k, K in enumerate((9e3, 7e3, 3e3), start=1)
    }
    for motor in drives["motors"].values():
        motor["friction"] = {"viscous": 2e-5, "coulomb": 0.01}
    return gd.load_model(URDF / "elbow.urdf", drives)


class Plant:
    """The arm as the model has it, under position control of its motors."""

    def __init__(
        self,
        model: gd.GearedModel,
        random: np.random.Generator,
        moving: bool,
        posture: np.ndarray | None = None,
    ) -> None:
        """At rest in a posture, random unless given; from there in slow motion, if moving."""
        self.model, n = model, model.n
        self.A = gd.elastic.structure_matrix(model)
        q = np.array([0.0, -0.3, 0.5]) + random.uniform(-AMONG, AMONG, n)
        q = q if posture is None else posture
        weight = gd.gravity_forces(model, q)
        theta = q + weight / [9e3, 7e3, 3e3]
        self.z = np.concatenate([q, theta, np.zeros(2 * n)])
        self.tau_m = np.linalg.solve(self.A[n:], weight)
        self.weight, self.centre = self.tau_m, self.A.T @ self.z[: 2 * n]
        H = gd.elastic.mass_matrix(model, q)
        self.inertia = 1.0 / np.diag(self.A.T @ np.linalg.solve(H, self.A))
        self.swing = 0.5 * moving * np.abs(self.A).max(axis=0)
        self.pace, self.phase = random.uniform(3.0, 7.0, n), random.uniform(0.0, 6.0, n)
        self.constants = packed(model.with_springs()), packed_springs(model), packed_drives(model)

    def wanted(self, t: float) -> np.ndarray:
        """Angles of the motors (m,)."""
        away = np.sin(self.pace * t + self.phase) - np.sin(self.phase)
        return self.centre + self.swing * min(1.0, t / 0.1) * away

    def step(self, t: float, dt: float, push: Push) -> list[tuple[np.ndarray, np.ndarray]]:
        """Go on by dt under ``push(t, z)`` (n,) [N m]; states and pushes of its parts."""
        half = len(self.z) // 2
        phi, speed = self.A.T @ self.z[:half], self.A.T @ self.z[half:]
        servo = self.inertia * (40.0**2 * (self.wanted(t) - phi) - 60.0 * speed)
        self.tau_m = np.clip(self.weight + servo, -LIMIT, LIMIT)
        out, passed = np.empty(3 * half + half + 8 * half * half), []
        for part in range(PARTS):
            passed.append((self.z, push(t + part * dt / PARTS, self.z)))
            given = [self.tau_m, passed[-1][1], [dt / PARTS]]
            state = np.concatenate([self.z, np.zeros(half)])
            kernels.observer_transition(*self.constants, state, np.concatenate(given), out)
            self.z = out[: 2 * half].copy()
        return passed


def ramped(joint: int, force: float, rise: float) -> Push:
    """A push on a joint."""

    def push(t: float, z: np.ndarray) -> np.ndarray:
        grown = 1.0 if rise == 0.0 else min(1.0, (t - AT) / rise)
        return force * grown * (AT <= t < AT + LONG) * (np.arange(3) == joint)

    return push


def wall(model: gd.GearedModel, stiffness: float) -> Push:
    """A one-sided spring across the tip's way, met in motion."""
    met: list[np.ndarray] = []

    def push(t: float, z: np.ndarray) -> np.ndarray:
        if t < AT:
            return np.zeros(3)
        place, J = gd.pose(model, z[:3], "tip")[:3, 3], gd.jacobian(model, z[:3], "tip")[:3]
        if not met:
            way = J @ z[6:9]
            met[:] = [place, way / np.linalg.norm(way)]
        deep = float(met[1] @ (place - met[0]))
        return -stiffness * max(deep, 0.0) * (J.T @ met[1])

    return push


def simulated(name: str, plant: Plant, push: Push, rate: float) -> Run:
    """A run."""
    rows, parts = [], []
    for k in range(round(END * rate)):
        rows.append((plant.A.T @ plant.z[:6], plant.tau_m, plant.z[:3]))
        parts += plant.step(k / rate, 1.0 / rate, push)
    columns = [*zip(*rows, strict=True), *zip(*parts, strict=True)]
    return Run(name, rate, *(np.array(column) for column in columns))


def runs(seed: int, rate: float = 1000.0) -> list[Run]:
    """All pushes and walls."""
    model, random, found = elbow(), np.random.default_rng(seed), []
    for moving in (False, True):
        for force in FORCES:
            for rise in RISES:
                for joint in range(3):
                    name = f"{force:.0f} N m, {1e3 * rise:.0f} ms, joint {joint + 1}"
                    plant = Plant(model, random, moving)
                    found.append(simulated(name, plant, ramped(joint, force, rise), rate))
    for stiffness in WALLS:
        for _ in range(3):
            plant = Plant(model, random, True)
            push = wall(model, stiffness)
            found.append(simulated(f"wall {stiffness:.0e} N/m", plant, push, rate))
    return found
