"""Full parameters that a physical arm could have, nearest to what was measured and to the files.

Of all parameters x those are taken that

- make every link, without the wheels that it carries, a body (``nearest_bodies``);
- give wheels no negative inertia, and friction no negative coefficient;
- minimise |R (B x - x_b)|^2 + e |d|^2, x_b the identified base parameters, B their
  combinations, R'R the inverse of their covariance, d the change of the files' values, each
  measured by itself: 1 is a change as large as the value.

What motion cannot tell (the null space of B) so keeps the files' values, but for what a body
needs. Files that describe no bodies stand for the nearest ones that are.

The semidefinite program is solved (Clarabel's interior-point method) in the coordinates in
which the objective is a unit sphere about its unconstrained minimum. In any other the files'
part, some ten orders of magnitude below the data's, is lost in the solver's tolerance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.analysis.parameter_columns import IdentifiableColumns, column_names, prior
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.packing import BODY_PARAMETERS, columns_of
from geared_dynamics.errors import ModelError, extra
from geared_dynamics.model import GearedModel
from geared_dynamics.model.inertia import disc, tensor_of

# -- Links as bodies: their pseudo-inertia without the wheels that they carry ---------------------
#
# The pseudo-inertia [[S, mc], [mc', m]], S = tr(I)/2 1 - I, in the link's frame, is positive
# semidefinite for a body and for nothing else (Wensing, Kim, Slotine 2018).


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
    wheels = model.wheels
    for r in np.flatnonzero(wheels.carrier >= 0).tolist():
        mass, axis, position = float(wheels.mass[r]), wheels.axis[r], wheels.position[r]
        axial = float(wheels.inertia[r])
        ratio = float(wheels.transverse[r]) / axial if axial > 0.0 else 0.5
        none = disc(mass, 0.0, 0.0, axis, position)
        one = disc(mass, 1.0, ratio, axis, position)
        found.append((r, int(wheels.carrier[r]), none, one - none))
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
    matrices = [pseudo_inertia(link) for link in bare_links(model, x)]
    return np.array([np.linalg.eigvalsh(P)[0] / max(np.trace(P), 1e-300) for P in matrices])


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


# -- Full parameters that a physical arm could have, nearest to what was measured and to the files


NEAR = 1.0  # weight of the files: their values may be wrong by as much as themselves
FINEST = 1e6  # one over the relative deviation below which data are exact
LEAST = 1e-7  # eigenvalue of a pseudo-inertia in the scale of its file's
TOUCHES = 1e-4  # of a parameter's own size, or that eigenvalue: what is less lies on its bound


class Physical(NamedTuple):
    """A solution.

    Attributes:
        x: All columns' parameters (p,).
        least: Least eigenvalue of each link's pseudo-inertia without wheels, scaled by the
            link's trace (nb,): 0 on the border of what is a body.
        status: What the solver says.
        forbidden: What the best fit without limits would need, and no arm has: links that are
            no bodies, inertias and friction coefficients below zero, with their values.
        bound: What lies on its bound: links that are on the border of what is a body, inertias
            and friction coefficients of 0.
    """

    x: Array
    least: Array
    status: str
    forbidden: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()


class SphereCoordinates(NamedTuple):
    """Parameters as x = start + scale u, and what u has to satisfy.

    Attributes:
        start: The files' values, or the nearest physical ones (p,).
        scale: (p, c); ten coordinates per link, one per wheel, one per remaining parameter.
        bodies: L^-1 P L^-T of each link at the start, (nb, 4, 4): plus the link's coordinates
            as a symmetric matrix it must stay positive semidefinite.
        one_sided: Coordinates that have a lower bound.
        bounds: These bounds.
        columns: The column that each of them is of.
    """

    start: Array
    scale: Array
    bodies: Array
    one_sided: list[int]
    bounds: Array
    columns: list[int]


def physical_parameters(
    model: GearedModel, base: IdentifiableColumns, x: Array, root: Array, *, near: float = NEAR
) -> Physical:
    """Find physical parameters from identified base parameters.

    Args:
        model: Geared model: what the files say, and which link carries which wheel.
        base: The base parameters.
        x: Their values (b,).
        root: R (b, b), R'R the inverse of their covariance.
        near: Weight of the files' values, above 0.

    Raises:
        ModelError: If the solver finds none.
    """
    if not near > 0.0:
        remedy = "give a weight above 0: without one there is no single solution"
        raise ModelError("physical_parameters: near", f"is {near}", remedy)
    space = coordinates(model, base, x)
    left, size, right = np.linalg.svd(root @ base.combinations @ space.scale)
    size = np.maximum(size, 1e-300)
    measured = (left.T @ root @ (x - base.combinations @ space.start))[: len(size)] / size
    size = np.minimum(size, FINEST)
    stretch = np.full(len(right), near)
    stretch[: len(size)] += size**2
    best = np.zeros(len(right))
    best[: len(size)] = size**2 * measured / stretch[: len(size)]
    turn = right.T / np.sqrt(stretch)  # u = right' best + turn w, minimise |w|^2
    u, status = nearest_allowed(space, right.T @ best, turn)
    u = inside(space, u)
    full = space.start + space.scale @ u
    forbidden = beyond_limits(model, space, right.T @ best)
    return Physical(full, margins(model, full), status, forbidden, on_bounds(model, space, u))


def coordinates(model: GearedModel, base: IdentifiableColumns, x: Array) -> SphereCoordinates:
    """Set up the coordinates; friction of motors with one joint has none, it stays."""
    names, columns, start = column_names(model), columns_of(model), prior(model)
    fixed = {*shared_friction(model, names), *range(columns.count)}
    signed = [*columns.wheels, *(k for k in range(columns.count, len(names)) if k not in fixed)]
    lower = [k for k in signed if one_sided(names[k])]
    start[lower] = np.maximum(start[lower], 0.0)
    bare = bare_links(model, start)
    nearest, roots = nearest_bodies(bare)
    count = TEN * len(nearest)
    scale = np.zeros((len(start), count + len(signed)))
    for b, (first, P, L) in enumerate(zip(columns.bodies, nearest, roots, strict=True)):
        start[first : first + TEN] += ten_of(P) - bare[b]
        scale[first : first + TEN, TEN * b : TEN * (b + 1)] = np.stack(
            [ten_of(L @ unit @ L.T) for unit in units()], axis=1
        )
    typical = np.abs(start)
    typical[list(base.selection)] = np.maximum(typical[list(base.selection)], np.abs(x))
    typical[list(columns.wheels)] = wheel_scales(start[list(columns.wheels)])
    for c, k in enumerate(signed, count):
        scale[k, c] = typical[k] or 1.0
    for r, body, _, slope in carried(model):
        wheel = scale[columns.wheels[r]].copy()  # a wheel's J is its carrier's as well
        scale[columns.bodies[body] : columns.bodies[body] + TEN] += np.outer(slope, wheel)
    inverse = np.linalg.inv(roots)
    bounds = [-start[k] / scale[k, c] for c, k in enumerate(signed, count) if k in lower]
    return SphereCoordinates(
        start, scale, inverse @ nearest @ inverse.transpose(0, 2, 1),
        [c for c, k in enumerate(signed, count) if k in lower], np.array(bounds),
        [k for k in signed if k in lower],
    )  # fmt: skip


def wheel_scales(J: Array) -> Array:
    """Scale of the wheels' inertias: their own, or a small part of the largest."""
    return np.asarray(np.maximum(J, 1e-3 * (J.max(initial=0.0) or 1.0)))


def units() -> list[Array]:
    """Symmetric matrices (4, 4) of size one, in the order of the upper triangle."""
    found = []
    for i, j in UPPER:
        unit = np.zeros((4, 4))
        unit[i, j] = unit[j, i] = 1.0 if i == j else np.sqrt(0.5)
        found.append(unit)
    return found


def nearest_allowed(space: SphereCoordinates, best: Array, turn: Array) -> tuple[Array, str]:
    """Minimise |w|^2 such that u = best + turn w is allowed; u and the solver's status."""
    clarabel, sparse = extra("clarabel", "physical_parameters"), extra("scipy.sparse", "clarabel")
    bodies = TEN * len(space.bodies)
    floor = np.zeros(TEN)
    floor[DIAGONAL] = LEAST
    offsets = [triangle_of(P) - floor for P in space.bodies]
    rows = [*space.one_sided, *range(bodies)]
    bounds = np.concatenate([-space.bounds, *offsets]) + best[rows]
    cones: list[Any] = [clarabel.NonnegativeConeT(len(space.one_sided))]
    cones += [clarabel.PSDTriangleConeT(4) for _ in space.bodies]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    c = len(best)
    solver = clarabel.DefaultSolver(
        sparse.identity(c, format="csc"), np.zeros(c), sparse.csc_matrix(-turn[rows]), bounds,
        cones, settings,
    )  # fmt: skip
    solution = solver.solve()
    status = str(solution.status)
    if status not in ("Solved", "AlmostSolved"):
        remedy = "record a longer motion of all joints, or check the files' masses and inertias"
        raise ModelError(
            "physical_parameters",
            f"no physically possible parameters were found ({status})",
            remedy,
        )
    return best + turn @ np.array(solution.x), status


def inside(space: SphereCoordinates, u: Array) -> Array:
    """Pull a solution back towards the start by as much as the solver's tolerance let it out.

    The start is allowed, and least eigenvalues are concave on the way to it.
    """
    share = 1.0
    for b, P in enumerate(space.bodies):
        change = sum(e * unit for e, unit in zip(u[TEN * b : TEN * (b + 1)], units(), strict=True))
        there, here = np.linalg.eigvalsh(P + change)[0], np.linalg.eigvalsh(P)[0]
        if there < 0.0:
            share = min(share, float(here / (here - there)))
    result = share * u
    result[space.one_sided] = np.maximum(result[space.one_sided], space.bounds)
    return np.asarray(result)


def beyond_limits(model: GearedModel, space: SphereCoordinates, u: Array) -> tuple[str, ...]:
    """Name the links and parameters that coordinates u (c,) would make impossible."""
    least = least_eigenvalues(space, u)
    found = [
        f"{model.body_names[b]}: a mass distribution that no body can have"
        for b in np.flatnonzero(least < 0.0)
    ]
    names, values = column_names(model), space.start + space.scale @ u
    low = np.flatnonzero(u[space.one_sided] < space.bounds)
    found += [f"{names[k]} = {values[k]:.3g}" for k in (space.columns[i] for i in low)]
    return tuple(found)


def on_bounds(model: GearedModel, space: SphereCoordinates, u: Array) -> tuple[str, ...]:
    """Name the links and parameters that allowed coordinates u (c,) put on their bounds."""
    names, above = column_names(model), u[space.one_sided] - space.bounds
    thin = np.flatnonzero(least_eigenvalues(space, u) < TOUCHES)
    zero = [names[space.columns[i]] for i in np.flatnonzero(above < TOUCHES)]
    return (*(model.body_names[b] for b in thin), *zero)


def least_eigenvalues(space: SphereCoordinates, u: Array) -> Array:
    """Least eigenvalue of each link's pseudo-inertia in the scale of its file's (nb,)."""
    changes = [
        sum(e * unit for e, unit in zip(u[TEN * b : TEN * (b + 1)], units(), strict=True))
        for b in range(len(space.bodies))
    ]
    both = zip(space.bodies, changes, strict=True)
    return np.array([np.linalg.eigvalsh(P + change)[0] for P, change in both])


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
