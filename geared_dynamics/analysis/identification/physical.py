"""Full parameters that a physical arm could have, nearest to what was measured.

Of all parameters x that explain the torques equally well, and of those that nearly do, the
one is taken that

- makes every link a body: its pseudo-inertia [[S, mc], [mc', m]], S = tr(I)/2 1 - I, without
  the wheels that it carries locked, is positive semidefinite (Wensing, Kim, Slotine 2018);
- gives wheels no negative inertia, and friction no negative coefficient;
- stays near what the files say where the motion tells nothing.

A semidefinite program: minimise |W (Y x - tau)|^2 + e |x - x0|^2 (both scaled), solved by the
interior-point method of Clarabel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.extras import extra
from geared_dynamics.analysis.identification.columns import column_names, prior
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.columns import BODY_PARAMETERS, columns_of
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.inertia import tensor_of
from geared_dynamics.model.topology import Placement
from geared_dynamics.model.wheels import locked_parameters

NEAR = 1e-4  # weight of the files beside the data's own, which is 1
LEAST = 1e-9  # eigenvalue of a pseudo-inertia, relative to the arm's largest mass
TEN = len(BODY_PARAMETERS)
UPPER = [(i, j) for j in range(4) for i in range(j + 1)]  # columns of the upper triangle


class Physical(NamedTuple):
    """A solution.

    Attributes:
        x: All columns' parameters (p,).
        least: Least eigenvalue of each link's pseudo-inertia without wheels, scaled by the
            link's trace (nb,): 0 on the border of what is a body.
        status: What the solver says.
    """

    x: Array
    least: Array
    status: str


def pseudo_inertia(parameters: Array) -> Array:
    """Pseudo-inertia (4, 4) of ten parameters (10,)."""
    tensor = tensor_of(parameters)
    result = np.empty((4, 4))
    result[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    result[:3, 3] = result[3, :3] = parameters[1:4]
    result[3, 3] = parameters[0]
    return result


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


def physical_parameters(
    model: GearedModel, Y: Array, tau: Array, weight: Array, *, near: float = NEAR
) -> Physical:
    """Find physical parameters from equations.

    Args:
        model: Geared model: what the files say, and which link carries which wheel.
        Y: Columns (k, n, p), of all ``column_names``.
        tau: Measured torques (k, n).
        weight: Of each equation (k, n), one over its deviation; 0: not used.
        near: Weight of the files' values.

    Raises:
        ModelError: If the solver finds none.
    """
    clarabel, sparse = extra("clarabel", "physical_parameters"), extra("scipy.sparse", "clarabel")
    x0, names = prior(model), column_names(model)
    free = np.setdiff1d(np.arange(len(x0)), shared_friction(model, names))
    given = x0.copy()
    given[free] = 0.0
    p = len(free)
    W = (weight[..., None] * Y[..., free]).reshape(-1, p)
    right = (weight * (tau - Y @ given)).ravel()
    triangle = np.asarray(np.linalg.qr(np.column_stack([W, right]), mode="r"))
    R, d = triangle[:p, :p], triangle[:p, p]
    lengths = np.linalg.norm(R, axis=0)
    typical = 1.0 / np.maximum(np.abs(x0[free]), 1e-6)
    scale = 1.0 / np.where(lengths > 1e-9 * lengths.max(), lengths, typical)
    R = R * scale
    P = R.T @ R + near * np.eye(p)
    q = -(R.T @ d) - near * x0[free] / scale
    rows, bounds, cones = body_cones(model, len(x0), clarabel)
    signs = np.array([k for k, i in enumerate(free) if one_sided(names[i])])
    positive = np.zeros((len(signs), p))
    positive[np.arange(len(signs)), signs] = -1.0
    A = np.vstack([positive, rows[:, free]]) * scale
    # Unknowns of size one: with exact data the right side is many deviations long.
    size = max(float(np.linalg.norm(d)), 1.0)
    b = np.concatenate([np.zeros(len(signs)), bounds]) / size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)), q / size, sparse.csc_matrix(A), b,
        [clarabel.NonnegativeConeT(len(signs)), *cones], settings,
    )  # fmt: skip
    solution = solver.solve()
    status = str(solution.status)
    if status not in ("Solved", "AlmostSolved"):
        remedy = "check the files' masses and inertias, which the solution should stay near"
        raise ModelError("physical_parameters", f"the solver found none ({status})", remedy)
    found = np.array(solution.x) * size * scale
    found[signs] = np.maximum(found[signs], 0.0)
    x = x0.copy()
    x[free] = found
    return Physical(x, margins(model, x), status)


def shared_friction(model: GearedModel, names: tuple[str, ...]) -> list[int]:
    """Columns of friction of motors with one joint: all that is found goes to the joint."""
    motors = zip(model.motor_names, np.count_nonzero(model.structure_matrix, axis=0), strict=True)
    single = {name for name, joints in motors if joints == 1}
    whole = {f"{name}.{key}" for name in single for key in ("viscous", "coulomb")}
    first = len(names) - 2 * len(model.motor_names)
    return [k for k in range(first, len(names)) if names[k] in whole]


def one_sided(name: str) -> bool:
    """Whether a parameter cannot be negative by itself."""
    return name.endswith((".J", ".viscous", ".coulomb", ".inertia"))


def body_cones(model: GearedModel, p: int, clarabel: object) -> tuple[Array, Array, list[object]]:
    """Rows A and bounds b with b - A x the triangle of each link's pseudo-inertia."""
    columns = columns_of(model)
    basis = np.stack([triangle_of(pseudo_inertia(unit)) for unit in np.eye(TEN)], axis=1)
    floor = LEAST * max(1.0, float(np.abs(model.tree.parameters[:, 0]).max()))
    rows, bounds, cones = [], [], []
    for body, first in enumerate(columns.bodies):
        A = np.zeros((len(UPPER), p))
        A[:, first : first + TEN] = -basis
        constant = -floor * triangle_of(np.eye(4))
        for r, carrier, none, slope in carried(model):
            if carrier == body:
                A[:, columns.wheels[r]] += basis @ slope
                constant = constant - basis @ none
        rows.append(A)
        bounds.append(constant)
        cones.append(clarabel.PSDTriangleConeT(4))  # type: ignore[attr-defined]
    return np.vstack(rows), np.concatenate(bounds), cones


def triangle_of(matrix: Array) -> Array:
    """Upper triangle of a symmetric matrix, off-diagonals times the root of 2 (10,)."""
    return np.array([matrix[i, j] * (1.0 if i == j else np.sqrt(2.0)) for i, j in UPPER])


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
