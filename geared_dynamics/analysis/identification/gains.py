"""Drive gains: joint torque per unit of recorded current, from a load that is known.

A motor's current says nothing of its scale: Y x = A diag(i) k holds with any multiple of x and
k. A second recording with a known load fixes it (Gautier and Briot 2014):

    A diag(i) k - Y x = -f              without,
    A diag(i) k - Y x = Y_L pi_L - f    with the load,

f the forces that are known in any case, such as those of springs. Both sides are measured, so it
is solved by total least squares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.identification.columns import base_columns
from geared_dynamics.analysis.identification.equations import Equations
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.columns import BODY_PARAMETERS, columns_of
from geared_dynamics.model import GearedModel

SCALES = 3  # rounds of scaling joints by their residual


class Gains(NamedTuple):
    """Gains (m,) of the recorded efforts, and their standard deviations (m,)."""

    gains: Array
    sigma: Array


def drive_gains_from_load(
    model: GearedModel, found: Equations, loaded: BoolArray, load: Array, link: str
) -> Gains:
    """Find the gains of the drives.

    Args:
        model: The arm without the load.
        found: Equations of recordings whose efforts are the motors' (currents, at gain 1).
        loaded: Samples with the load (k,).
        load: Its ten parameters in the link's frame (10,).
        link: The moving link that holds it.

    Raises:
        RecordingError: If one of the two kinds of recordings is missing.
    """
    if loaded.all() or not loaded.any():
        finding = "all recordings are " + ("with" if loaded.all() else "without") + " the load"
        raise RecordingError("gains", finding, "give recordings with and without the known load")
    if not found.effort.shape[1]:
        remedy = "they are found for motor_current and motor_torque only"
        raise RecordingError("gains", "the efforts are not the motors'", remedy)
    selection = list(base_columns(model).selection)
    first = columns_of(model).bodies[model.body_names.index(link)]
    Y_load = found.Y[..., first : first + len(BODY_PARAMETERS)] * loaded[:, None, None]
    A = model.structure_matrix
    left = A[None] * found.effort[:, None, :]  # (k, n, m)
    given = found.known - Y_load @ load
    table = np.concatenate([left, -found.Y[..., selection], given[..., None]], axis=-1)
    m = left.shape[-1]
    weight = found.used / np.maximum(np.sqrt(np.mean(found.tau**2, axis=0)), 1e-300)
    for _ in range(SCALES):
        rows = (table * weight[..., None]).reshape(-1, table.shape[-1])
        x, sigma = null_vector(rows)
        residual = table @ np.append(x, 1.0)
        spread = np.sqrt((residual**2 * found.used).sum(0) / np.maximum(found.used.sum(0), 1))
        weight = found.used / np.maximum(spread, 1e-300)
    return Gains(x[:m], sigma[:m])


def null_vector(rows: Array) -> tuple[Array, Array]:
    """Solve rows (x, 1) = 0 by total least squares; x and its standard deviations."""
    scale = np.maximum(np.linalg.norm(rows, axis=0), 1e-300)
    triangle = np.asarray(np.linalg.qr(rows / scale, mode="r"))
    _, s, right = np.linalg.svd(triangle)
    vector = right[-1] / right[-1, -1]
    x = vector[:-1] * scale[-1] / scale[:-1]
    count, p = rows.shape
    inner = triangle[:, :-1].T @ triangle[:, :-1] - s[-1] ** 2 * np.eye(p - 1)
    noise = s[-1] ** 2 / max(count - p, 1) * (1.0 + vector[:-1] @ vector[:-1])
    covariance = noise * np.linalg.pinv(inner)
    sigma = np.sqrt(np.maximum(covariance.diagonal(), 0.0)) * scale[-1] / scale[:-1]
    return x, sigma
