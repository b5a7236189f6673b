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

from geared_dynamics.analysis.identification_equations import Equations
from geared_dynamics.analysis.parameter_columns import base_columns
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.packing import BODY_PARAMETERS, columns_of
from geared_dynamics.errors import RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import motor_readings

SCALES = 3  # rounds of scaling joints by their residual
CERTAIN = 3.0  # standard deviations by which a gain must be above zero
FARTHEST = 10.0  # times what is expected, or one over it, beyond which a gain is refused
LOST = 1e-3  # share of a parameter in a direction that is not determined
SINGULAR = 1e-7  # of the largest singular value: below it a direction is not determined


class DriveGains(NamedTuple):
    """Gains (m,) of the recorded efforts, and their standard deviations (m,).

    NaN of motors that act on no joint of the model, as where their joints are frozen.
    """

    gains: Array
    sigma: Array


def drive_gains_from_load(
    model: GearedModel,
    equations: Equations,
    loaded: BoolArray,
    load: Array,
    link: str | None = None,
    *,
    expected: Array | None = None,
) -> DriveGains:
    """Find the gains of the drives.

    Args:
        model: The arm without the load.
        equations: Equations of recordings whose efforts are the motors' (currents, at gain 1).
        loaded: Samples with the load (k,).
        load: Its ten parameters in the link's frame (10,).
        link: The link that holds it, frames of fixed joints included; None: the only tip.
        expected: What the gains should be near (m,), such as the torque constants; NaN or None:
            nothing is known.

    Raises:
        RecordingError: If one of the two kinds of recordings is missing, or if a gain is not
            positive, not determined, or more than FARTHEST times off what is expected.
    """
    if loaded.all() or not loaded.any():
        finding = "all recordings are " + ("with" if loaded.all() else "without") + " the load"
        raise RecordingError("gains", finding, "give recordings with and without the known load")
    if not equations.effort.shape[1]:
        remedy = "drive gains need efforts of type motor_current or motor_torque (--effort)"
        raise RecordingError("gains", "the efforts are joint torques", remedy)
    selection = list(base_columns(model).selection)
    frame = model.payload_frame(link, "gains: link")
    first = columns_of(model).bodies[frame.body]
    Y_load = equations.Y[..., first : first + len(BODY_PARAMETERS)] * loaded[:, None, None]
    acting = list(motor_readings(model).motors)
    A = model.structure_matrix[:, acting]
    left = A[None] * equations.effort[:, None, acting]  # (k, n, motors that act)
    known_torque = equations.known - Y_load @ frame.in_body(load)
    table = np.concatenate([left, -equations.Y[..., selection], known_torque[..., None]], axis=-1)
    m = left.shape[-1]
    weight = equations.used / np.maximum(np.sqrt(np.mean(equations.tau**2, axis=0)), 1e-300)
    for _ in range(SCALES):
        rows = (table * weight[..., None]).reshape(-1, table.shape[-1])
        x, sigma = null_vector(rows)
        residual = table @ np.append(x, 1.0)
        spread = np.sqrt(
            (residual**2 * equations.used).sum(0) / np.maximum(equations.used.sum(0), 1)
        )
        weight = equations.used / np.maximum(spread, 1e-300)
    result = DriveGains(*np.full((2, len(model.motor_names)), np.nan))
    result.gains[acting], result.sigma[acting] = x[:m], sigma[:m]
    refuse_impossible(model, result, expected)
    return result


def refuse_impossible(
    model: GearedModel, gains: DriveGains, expected: Array | None = None
) -> None:
    """Raise if a gain cannot be that of a drive.

    Args:
        model: The model.
        gains: The gains.
        expected: As in ``drive_gains_from_load``.
    """
    if expected is None:
        expected = np.full(len(gains.gains), np.nan)
    findings, remedies = [], []
    for name, k, sigma, usual in zip(model.motor_names, *gains, expected, strict=True):
        ratio = abs(k / usual) if usual else np.nan
        if np.isnan(k):
            continue
        if not sigma * CERTAIN < abs(k):
            problem, remedy = "is not determined", "record more motion with a heavier known load"
        elif k <= 0.0:
            problem = "is not positive"
            remedy = (
                "compare the sign of the ratio in the drivetrain file with that of the current"
            )
        elif ratio > FARTHEST or ratio < 1.0 / FARTHEST:
            problem = f"is {ratio:.2g} times the file's {usual:.4g}"
            remedy = "compare the units of efforts and of the known load with SI units"
        else:
            continue
        findings.append(f"{name} {problem} ({k:.4g}, deviation {sigma:.2g})")
        remedies += [remedy] if remedy not in remedies else []
    if findings:
        remedy = "; ".join(remedies)
        raise RecordingError("drive gains", "; ".join(findings), remedy)


def null_vector(rows: Array) -> tuple[Array, Array]:
    """Solve rows (x, 1) = 0 by total least squares; x and its standard deviations.

    Infinite is the deviation of what the rows do not determine.
    """
    scale = np.maximum(np.linalg.norm(rows, axis=0), 1e-300)
    triangle = np.asarray(np.linalg.qr(rows / scale, mode="r"))
    _, s, right = np.linalg.svd(triangle)
    pivot = right[-1, -1]
    vector = right[-1] / (pivot if pivot else 1e-300)
    x = vector[:-1] * scale[-1] / scale[:-1]
    count, p = rows.shape
    values, basis = np.linalg.eigh(triangle[:, :-1].T @ triangle[:, :-1])
    values = values - s[-1] ** 2
    weak = values < (SINGULAR * s[0]) ** 2
    noise = s[-1] ** 2 / max(count - p, 1) * (1.0 + vector[:-1] @ vector[:-1])
    variance = basis[:, ~weak] ** 2 @ (noise / values[~weak])
    sigma = np.sqrt(variance) * scale[-1] / scale[:-1]
    sigma[(np.abs(basis[:, weak]) > LOST).any(axis=1)] = np.inf
    return x, sigma
