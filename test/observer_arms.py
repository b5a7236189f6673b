"""Arms, plants and motions for the tests of the observers."""

from __future__ import annotations

import numpy as np

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.elastic.springs import packed_springs
from geared_dynamics.dynamics.packing import packed

ob = gd.observers
DT = 1e-3
TURN = 2 * np.pi / 2**17  # resolution of an encoder of 17 bits [rad]


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
    constants = packed(extended(model)), packed_springs(model), packed_drives(model)
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


def followed(model: gd.GearedModel, seed: int, steps: int) -> tuple[np.ndarray, bool]:
    """Largest error of q (steps,) of the Kalman filter from a random wrong start; validity."""
    random, n, N = np.random.default_rng(seed), model.n, model.n + model.elasticity.count
    A, m = gd.elastic.structure_matrix(model), len(model.motor_names)
    q = random.uniform(-0.5, 0.5, n)
    theta = model.elasticity.rigid @ q + 1e-3 * random.normal(size=N - n)
    z = np.concatenate([q, theta, 0.3 * random.normal(size=N)])
    centre, size = A.T @ z[:N], 0.3 * np.abs(A).max(axis=0)
    frequency, phase = random.uniform(0.3, 1.5, m), random.uniform(0, 6, m)
    gains = ob.kalman_gains(model, resolution=TURN, noise=0.3 * TURN)
    state, off, tau_m = None, [], np.zeros(m)
    for k in range(steps):
        shown = A.T @ z[:N] + model.motor_zeros + 0.3 * TURN * random.normal(size=m)
        measurement = ob.Measurement(TURN * np.round(shown / TURN), tau_m)
        if state is None:
            wrong = q + random.uniform(-0.1, 0.1, n)
            state = ob.kalman_start(model, gains, measurement, q=wrong, twist=0.1)
        else:
            state = ob.kalman_step(model, gains, state, measurement, DT)
        off.append(np.abs(state.mean[:n] - z[:n]).max())
        goal = centre + size * (np.sin(2 * np.pi * frequency * k * DT + phase) - np.sin(phase))
        tau_m = drive(model, z, goal)
        z = moved(model, z, tau_m, np.zeros(n))
    return np.array(off), state.health.valid
