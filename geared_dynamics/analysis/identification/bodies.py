"""Links as bodies: their pseudo-inertia without the wheels that they carry.

The pseudo-inertia [[S, mc], [mc', m]], S = tr(I)/2 1 - I, in the link's frame, is positive
semidefinite for a body and for nothing else (Wensing, Kim, Slotine 2018).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.columns import BODY_PARAMETERS, columns_of
from geared_dynamics.model import GearedModel
from geared_dynamics.model.inertia import tensor_of
from geared_dynamics.model.topology import Placement
from geared_dynamics.model.wheels import locked_parameters

TEN = len(BODY_PARAMETERS)
UPPER = [(i, j) for j in range(4) for i in range(j + 1)]  # columns of the upper triangle
DIAGONAL = [k for k, (i, j) in enumerate(UPPER) if i == j]
CLOSEST = 1e-6  # least eigenvalue of what is taken for a body, of its trace at unit radius
SLIMMEST = 1e-3  # the same where changes are measured: no file knows inertias better
LIGHTEST = 1e-3  # of all links together: what a link without mass is measured by


def pseudo_inertia(parameters: Array) -> Array:
    """Pseudo-inertia (4, 4) of ten parameters (10,)."""
    tensor = tensor_of(parameters)
    result = np.empty((4, 4))
    result[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    result[:3, 3] = result[3, :3] = parameters[1:4]
    result[3, 3] = parameters[0]
    return result


def triangle_of(matrix: Array) -> Array:
    """Upper triangle of a symmetric matrix, off-diagonals times the root of 2 (10,)."""
    return np.array([matrix[i, j] * (1.0 if i == j else np.sqrt(2.0)) for i, j in UPPER])


def ten_of(pseudo: Array) -> Array:
    """Ten parameters of a pseudo-inertia: I = tr(S) 1 - S."""
    S = pseudo[:3, :3]
    tensor = np.trace(S) * np.eye(3) - S
    return np.concatenate([[pseudo[3, 3]], pseudo[:3, 3], tensor[np.triu_indices(3)]])


def carried(model: GearedModel) -> list[tuple[int, int, Array, Array]]:
    """Wheels on moving links: wheel, body, ten parameters as constant + J slope, locked.

    Transverse moments keep their ratio to the axial one.
    """
    found = []
    for r, wheel in enumerate(model.drivetrain.wheels):
        body = int(model.wheels.carrier[r])
        if body < 0:
            continue
        place = model.frame(wheel.carrier)
        frame = Placement(body, place.rotation, place.position)
        ratio = wheel.transverse / wheel.axial if wheel.axial > 0.0 else 0.5
        none = locked_parameters(replace(wheel, axial=0.0, transverse=0.0), frame)
        one = locked_parameters(replace(wheel, axial=1.0, transverse=ratio), frame)
        found.append((r, body, none, one - none))
    return found


def bare_links(model: GearedModel, x: Array) -> Array:
    """Ten parameters of each moving body without the wheels that it carries (nb, 10)."""
    columns = columns_of(model)
    bare = np.stack([x[first : first + TEN] for first in columns.bodies])
    for r, body, none, slope in carried(model):
        bare[body] -= none + x[columns.wheels[r]] * slope
    return bare


def margins(model: GearedModel, x: Array) -> Array:
    """Least eigenvalue of each link's pseudo-inertia, scaled by its trace (nb,)."""
    found = [pseudo_inertia(link) for link in bare_links(model, x)]
    return np.array([np.linalg.eigvalsh(P)[0] / max(np.trace(P), 1e-300) for P in found])


def clipped(pseudo: Array, length: float, least: float, lightest: float) -> Array:
    """Nearest pseudo-inertia whose eigenvalues are at least a share of its trace.

    Lengths are in units of ``length`` meanwhile, so that all entries are masses.

    Args:
        pseudo: (4, 4).
        length: The body's radius of gyration about its frame [m].
        least: Share of the trace.
        lightest: Trace that counts at least [kg].
    """
    unit = np.array([length, length, length, 1.0])
    values, vectors = np.linalg.eigh(pseudo / np.outer(unit, unit))
    values = np.maximum(values, least * max(float(values.clip(0.0).sum()), lightest))
    nearest: Array = (vectors * values) @ vectors.T * np.outer(unit, unit)
    return nearest


def nearest_bodies(bare: Array) -> tuple[Array, Array]:
    """Bodies nearest to what the files say, and the scales in which changes are measured.

    Args:
        bare: Ten parameters of each link without wheels (nb, 10).

    Returns:
        Pseudo-inertias (nb, 4, 4) and, of somewhat fatter ones, roots L (nb, 4, 4): a change
        L E L' has the size |E|, which no choice of frame or units changes
        (Lee, Wensing, Park 2020).
    """
    all_pseudo = [pseudo_inertia(link) for link in bare]
    second = [max(float(np.trace(P[:3, :3])), 0.0) for P in all_pseudo]
    masses = [max(float(P[3, 3]), 0.0) for P in all_pseudo]
    total = sum(masses) or 1.0
    usual = float(np.sqrt(sum(second) / total)) or 1.0
    lengths = [
        np.sqrt(s / m) if s * m > 0.0 else usual for s, m in zip(second, masses, strict=True)
    ]
    both = list(zip(all_pseudo, lengths, strict=True))
    nearest = [clipped(P, length, CLOSEST, LIGHTEST * total) for P, length in both]
    fatter = [clipped(P, length, SLIMMEST, LIGHTEST * total) for P, length in both]
    return np.stack(nearest), np.linalg.cholesky(np.stack(fatter))
