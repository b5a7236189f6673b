"""Arms, plants and motions for the tests of the observers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

import geared_dynamics as gd
from elastic_arms import URDF, elbow_drives
from geared_dynamics import kernels
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.equations import packed_springs
from geared_dynamics.dynamics.packing import packed

ob = gd.observers
DT = 1e-3
TURN = 2 * np.pi / 2**17  # resolution of an encoder of 17 bits [rad]
MOVE, LAST = np.array([0.8, 0.6, -0.7]), 1.5  # rest to rest [rad], [s]


def moved(
    model: gd.GearedModel,
    z: np.ndarray,
    tau_m: np.ndarray,
    tau: np.ndarray,
    *,
    dt: float = DT,
    parts: int = 4,
) -> np.ndarray:
    """State (2N,) of a plant after dt: the kernels' exponential step, in parts."""
    N = model.n + model.elasticity.count
    out = np.empty(3 * N + N + 8 * N * N)
    constants = packed(model.with_springs()), packed_springs(model), packed_drives(model)
    for _ in range(parts):
        given = np.concatenate([tau_m, tau, [dt / parts]])
        state = np.concatenate([z, np.zeros(N)])
        assert kernels.observer_transition(*constants, state, given, out) == 0
        z = out[: 2 * N].copy()
    return z


def drive(
    model: gd.GearedModel, z: np.ndarray, goal: np.ndarray, stiff: float = 60.0
) -> np.ndarray:
    """Motor torques (m,) that hold the motors' angles near a goal (m,)."""
    n, N = model.n, model.n + model.elasticity.count
    A = gd.elastic.structure_matrix(model)
    H = gd.elastic.mass_matrix(model, z[:n])
    inertia = 1.0 / np.diag(A.T @ np.linalg.solve(H, A))
    phi, speed = A.T @ z[:N], A.T @ z[N:]
    return inertia * (stiff**2 * (goal - phi) - 1.4 * stiff * speed)


class Plant(Protocol):
    """An arm that moves: x = (q, theta), its rate, and its rotors' angles from zero (m,)."""

    @property
    def x(self) -> np.ndarray: ...
    @property
    def rate(self) -> np.ndarray: ...
    @property
    def angle(self) -> np.ndarray: ...
    def advance(self, tau_m: np.ndarray) -> None: ...


class Kernels:
    """The model itself as a plant: a test of the filter, not of the model."""

    def __init__(self, model: gd.GearedModel, z: np.ndarray) -> None:
        """Put it at z = (x, rate)."""
        self.model, self._z = model, z

    @property
    def x(self) -> np.ndarray:
        return self._z[: len(self._z) // 2]

    @property
    def rate(self) -> np.ndarray:
        return self._z[len(self._z) // 2 :]

    @property
    def angle(self) -> np.ndarray:
        return np.asarray(gd.elastic.structure_matrix(self.model).T @ self.x)

    def advance(self, tau_m: np.ndarray) -> None:
        """Move on by ``DT``."""
        self._z = moved(self.model, self._z, tau_m, np.zeros(self.model.n))


Maker = Callable[[gd.GearedModel, np.ndarray], Plant]


def following(
    model: gd.GearedModel, seed: int, steps: int, make: Maker = Kernels, **tuning: Any
) -> Iterator[tuple[ob.KalmanState, np.ndarray]]:
    """State of the Kalman filter and true q (n,), instant by instant.

    The start is random: springs twisted, all in motion, the filter's q up to 0.1 rad or m wrong.

    Args:
        model: Of the filter.
        seed: Of start, motion and noise.
        steps: At 1 kHz.
        make: Makes the plant that is followed.
        tuning: Keywords of ``kalman_gains``.
    """
    random, n, N = np.random.default_rng(seed), model.n, model.n + model.elasticity.count
    A, m = gd.elastic.structure_matrix(model), len(model.motor_names)
    q = random.uniform(-0.5, 0.5, n)
    theta = model.elasticity.rigid @ q + 1e-3 * random.normal(size=N - n)
    plant = make(model, np.concatenate([q, theta, 0.3 * random.normal(size=N)]))
    centre, size = A.T @ plant.x, 0.3 * np.abs(A).max(axis=0)
    frequency, phase = random.uniform(0.3, 1.5, m), random.uniform(0, 6, m)
    gains = ob.kalman_gains(model, resolution=TURN, noise=0.3 * TURN, **tuning)
    state, tau_m = None, np.zeros(m)
    for k in range(steps):
        shown = plant.angle + model.motor_zeros + 0.3 * TURN * random.normal(size=m)
        measurement = gd.Measurement(TURN * np.round(shown / TURN), tau_m)
        if state is None:
            wrong = q + random.uniform(-0.1, 0.1, n)
            state = ob.kalman_start(model, gains, measurement, q=wrong, twist=0.1)
        else:
            state = ob.kalman_step(model, gains, state, measurement, DT)
        yield state, plant.x[:n].copy()
        goal = centre + size * (np.sin(2 * np.pi * frequency * k * DT + phase) - np.sin(phase))
        tau_m = drive(model, np.concatenate([plant.x, plant.rate]), goal)
        plant.advance(tau_m)


def followed(model: gd.GearedModel, seed: int, steps: int) -> tuple[np.ndarray, bool]:
    """Largest error of q (steps,) of the Kalman filter from a random wrong start; validity."""
    off, valid = [], False
    for state, q in following(model, seed, steps):
        off.append(np.abs(state.mean[: model.n] - q).max())
        valid = state.health.valid
    return np.array(off), valid


def rubbing(coulomb: float, joints: float = 0.0, **law: Any) -> gd.GearedModel:
    """The elbow with springs and friction of the rotors, and of the joints."""
    drives = elbow_drives(damping=2.0)
    for motor in drives["motors"].values():
        motor["friction"] = {"viscous": 0.0, "coulomb": coulomb, **law}
    for joint in drives["joints"].values():
        if joints:
            joint["friction"] = {"coulomb": joints}
    return gd.load_model(URDF / "elbow.urdf", drives)


def wanted(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joint position, velocity and acceleration of a motion from rest to rest."""
    s = min(max((t - 0.05) / LAST, 0.0), 1.0)
    v = (140 * s**3 - 420 * s**4 + 420 * s**5 - 140 * s**6) / LAST
    a = (420 * s**2 - 1680 * s**3 + 2100 * s**4 - 840 * s**5) / LAST**2
    return MOVE * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3), MOVE * v, MOVE * a
