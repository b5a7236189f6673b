"""Exact derivatives of inverse and forward dynamics, by compiled code or by a tape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import (
    as_input,
    as_output,
    common_lead,
    convert_and_call,
    coordinates,
)
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.dynamics.rigid import forward_dynamics
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels.door import KernelAnswer, door
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace.functions import FUNCTIONS, program_of
from geared_dynamics.trace.joined import tape
from geared_dynamics.trace.structure import forms_of


class Slopes:
    """A quantity of the joints and its derivatives, views of one array; they can be unpacked."""

    __slots__ = ("rows",)
    rows: Array

    def __init__(self, rows: Array) -> None:
        """Look into an array (..., 1 + 3 n, n)."""
        self.rows = rows
        n = rows.shape[-1]
        names: tuple[str, ...] = tuple(type(self).__slots__)
        setattr(self, names[0], rows[..., 0, :])
        for k, name in enumerate(names[1:]):
            setattr(self, name, rows[..., 1 + k * n : 1 + (k + 1) * n, :])

    def __iter__(self) -> Iterator[Array]:
        """Give the quantity, then its derivatives."""
        return iter([getattr(self, name) for name in type(self).__slots__])

    def __repr__(self) -> str:
        """Show all of them."""
        parts = ", ".join(f"{name}={getattr(self, name)}" for name in type(self).__slots__)
        return f"{type(self).__name__}({parts})"


class InverseDynamicsDerivatives(Slopes):
    """Joint force and its derivatives.

    Attributes:
        tau: Generalised joint force (..., n).
        dtau_dq: Its derivative by the position (..., n, n), a row for each force.
        dtau_dv: By the velocity (..., n, n).
        dtau_da: By the acceleration (..., n, n): the mass matrix.
    """

    __slots__ = ("tau", "dtau_dq", "dtau_dv", "dtau_da")  # noqa: RUF023 (the order of the rows)
    tau: Array
    dtau_dq: Array
    dtau_dv: Array
    dtau_da: Array


class ForwardDynamicsDerivatives(Slopes):
    """Joint acceleration and its derivatives.

    Attributes:
        a: Joint acceleration (..., n).
        da_dq: Its derivative by the position (..., n, n), a row for each acceleration.
        da_dv: By the velocity (..., n, n).
        da_dtau: By the joint force (..., n, n): the inverse of the mass matrix.
    """

    __slots__ = ("a", "da_dq", "da_dv", "da_dtau")  # noqa: RUF023 (the order of the rows)
    a: Array
    da_dq: Array
    da_dv: Array
    da_dtau: Array


@door("inverse_dynamics_derivatives", 3, result=InverseDynamicsDerivatives)
def inverse_dynamics_derivatives(
    model: GearedModel,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    *,
    out: InverseDynamicsDerivatives | None = None,
    **former: object,
) -> InverseDynamicsDerivatives:
    """Joint force, and its exact derivatives by position, velocity and acceleration.

    No differences are taken: the recursion itself is differentiated. The model is complete
    (wheels, gravity, coupling as chosen), without friction and balancers. The first call for a
    model takes some tens of milliseconds, unless it is compiled (``compiled``).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).
        out: An earlier result of the same shape, which is filled and returned.
        former: Arguments of the function that had this name; refused.
    """
    if q is None or v is None or a is None or former:
        require_model(model)
        refuse_former({"q": q, "v": v, "a": a}, former)
    done = inverse_rows(model, q, v, a, out=rows_of(out, InverseDynamicsDerivatives))
    return InverseDynamicsDerivatives(done) if out is None else out


def by_tape(model: GearedModel) -> KernelAnswer:
    """Let the kernel that plays a tape answer for a model."""
    constants, n = (packed(model), tape_of(model)), model.n
    return KernelAnswer(kernels.inverse_dynamics_slopes, constants, 0, (1 + 3 * n, n), n)


@door("inverse_dynamics_derivatives", 3, by_tape)
def inverse_rows(
    model: GearedModel, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None
) -> Array:
    """Joint force and its derivatives (..., 1 + 3 n, n), by the tape of the model."""
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n), "a": (a, n)}
    core, name = (1 + 3 * n, n), "inverse_dynamics_slopes"
    return convert_and_call(name, model, inputs, core, out, (tape_of(model),))


@door("forward_dynamics_derivatives", 3, result=ForwardDynamicsDerivatives)
def forward_dynamics_derivatives(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    out: ForwardDynamicsDerivatives | None = None,
) -> ForwardDynamicsDerivatives:
    r"""Joint acceleration, and its exact derivatives by position, velocity and force.

    With ID the inverse dynamics, at the acceleration a:

        da/dq = -M^{-1} dID/dq,   da/dv = -M^{-1} dID/dv,   da/dtau = M^{-1}.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        tau: Generalised joint force (..., n) [N m or N], joint side.
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ModelError: if the mass matrix is not positive definite.
    """
    rows = rows_of(out, ForwardDynamicsDerivatives)
    done = forward_rows(model, q, v, tau, out=rows)
    return ForwardDynamicsDerivatives(done) if out is None else out


@door("forward_dynamics_derivatives", 3)
def forward_rows(
    model: GearedModel, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, out: Array | None = None
) -> Array:
    """Acceleration and its derivatives (..., 1 + 3 n, n), from those of the inverse dynamics."""
    n = coordinates(model)
    inputs = {"q": as_input("q", q, n), "v": as_input("v", v, n), "tau": as_input("tau", tau, n)}
    shape = (*common_lead(inputs), 1 + 3 * n, n)
    a = forward_dynamics(model, **inputs)
    slopes = inverse_dynamics_derivatives(model, inputs["q"], inputs["v"], a)
    right = np.concatenate(
        [-slopes.dtau_dq, -slopes.dtau_dv, np.broadcast_to(np.eye(n), slopes.dtau_da.shape)],
        axis=-1,
    )
    columns = np.linalg.solve(slopes.dtau_da, right)
    result = np.empty(shape) if out is None else as_output(out, shape)
    result[..., 0, :] = a
    for k in range(3):
        result[..., 1 + k * n : 1 + (k + 1) * n, :] = columns[..., k * n : (k + 1) * n]
    return result


def refuse_former(given: dict[str, object], former: dict[str, object]) -> NoReturn:
    """Refuse a call in the form of the function that had this name."""
    name = next(iter([*former, *(key for key, value in given.items() if value is None)]))
    finding = "is not an argument" if former else "is not given"
    remedy = (
        "give q, v and a; for the derivatives in time along a path call "
        "gd.inverse_dynamics_time_derivatives(model, derivatives)"
    )
    raise ArrayError(f"inverse_dynamics_derivatives: {name}", finding, remedy)


def rows_of(out: Slopes | None, kind: type[Slopes]) -> Array | None:
    """Array behind an earlier result."""
    if out is None:
        return None
    if type(out) is not kind:
        remedy = f"give what an earlier call returned, a {kind.__name__}"
        raise ArrayError("out", f"is a {type(out).__name__}", remedy)
    return out.rows


# -- The tape of a model that is not compiled ----------------------------------------------------


def tape_of(model: GearedModel) -> Array:
    """Return the tape of the inverse dynamics' derivatives, made at first use and kept."""
    name = "inverse_dynamics_derivatives"
    known = require_model(model)._forms.tapes.get(name)
    if known is not None:
        return known
    forms = forms_of(model, FUNCTIONS[name].forms)
    return tape(model, name, forms, lambda structure: program_of(name, structure))
