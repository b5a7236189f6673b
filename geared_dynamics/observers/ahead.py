"""From an estimate of a little while ago to one of now: for encoders that are read late."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.elastic.springs import packed_springs
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.kalman import KalmanState
from geared_dynamics.observers.nonlinear import NonlinearState
from geared_dynamics.observers.outside import outside
from geared_dynamics.observers.plan import sizes_of

LONGEST = 0.005  # of one step of the prediction [s]

State = KalmanState | NonlinearState


def ahead(
    model: GearedModel, state: State, torques: Sequence[tuple[float, Array]]
) -> State | None:
    """The state after known torques have acted, without readings; None where it diverges.

    Only the mean moves. The unaccounted force of the Kalman filter goes on as it is. What else
    the state holds (innovation, covariance, health) is that of its last readings.

    Args:
        model: Geared model with elastic joints.
        state: Of an observer.
        torques: How long [s] which torque of the motors (m,) [N m] acts, one after the other.
    """
    sizes = sizes_of(model)
    N, k = sizes.coordinates, sizes.state
    arm, springs, drives = packed(extended(model)), packed_springs(model), packed_drives(model)
    whole = np.zeros(k)
    whole[: len(state.mean)] = state.mean
    out = np.empty(k + N + 8 * N * N)
    nothing = np.zeros(sizes.n)
    for span, tau_m in torques:
        count = ceil(span / LONGEST - 1e-9)
        for _ in range(count):
            given = np.concatenate([tau_m, outside(model, nothing, whole), [span / count]])
            if kernels.observer_transition(arm, springs, drives, whole, given, out) != 0:
                return None
            whole[: 2 * N] = out[: 2 * N]
    return state._replace(mean=whole[: len(state.mean)])
