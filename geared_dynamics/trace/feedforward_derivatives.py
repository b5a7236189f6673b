"""Exact derivatives of the feedforward of elastic joints by the links' motion."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import flag
from geared_dynamics.dynamics.elastic.flatness import (
    FRICTIONLESS,
    Method,
    enough,
    feedforward,
    plan_of,
)
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import flatness
from geared_dynamics.kernels import flatness_layout as at
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace.functions import Arrays, jacobian
from geared_dynamics.trace.graph import Number
from geared_dynamics.trace.joined import JoinedFunction, Shapes, joined_results
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import NUMBER, Form, bodies_of
from geared_dynamics.trace.tape import filled

FEEDFORWARD_DERIVATIVES = "elastic.feedforward_derivatives"


class FeedforwardDerivatives(NamedTuple):
    """Motor-side motion and motor torque, and their derivatives by q and its time derivatives.

    The last two dimensions (rows, n) are those of the path: row i is the i-th time derivative of
    q, and there are as many as the method reads (``derivatives_needed`` and one). theta is on the
    joint side of the gear, tau_m at the motors' shafts.

    Attributes:
        values: theta [rad or m], vtheta, atheta, tau_m [N m], one after the other
            (..., 3 n_e + m).
        dtheta: Derivative of theta (..., n_e, rows, n).
        dvtheta: Of its velocity (..., n_e, rows, n).
        datheta: Of its acceleration (..., n_e, rows, n).
        dtau_m: Of the motors' torque (..., m, rows, n).
    """

    values: Array
    dtheta: Array
    dvtheta: Array
    datheta: Array
    dtau_m: Array


def feedforward_derivatives(
    model: GearedModel,
    derivatives: ArrayLike,
    method: Method = "reduced",
    order: int | None = None,
    *,
    friction: bool = False,
    out: FeedforwardDerivatives | None = None,
) -> FeedforwardDerivatives:
    """Feedforward of elastic joints, and its exact derivatives by the path.

    The values are those of ``gd.elastic.feedforward``, the arguments too. The first call for an
    arm traces it, which takes seconds for six joints, unless it is compiled (``compiled``).

    Args:
        model: Geared model with elastic joints.
        derivatives: Joint position [rad or m] and its time derivatives (..., k+1, n).
        method: ``reduced``, ``expanded`` or ``exact``.
        order: Of ``expanded``.
        friction: Whether joint friction counts.
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ArrayError: as ``feedforward``; and at a path where friction has no derivative.
        ModelError: as ``feedforward``.
    """
    friction = flag("friction", friction)
    plan = plan_of(require_model(model), method, order)
    path = enough(model, derivatives, plan, method, plan.rows)
    n, shafts = model.n, int(plan.plan[at.SHAFTS])
    flat = path.reshape(*path.shape[:-2], plan.rows * n)
    usual = (method, order, friction) == ("reduced", None, False)
    function = FEEDFORWARD_SLOPES if usual else slopes_function(method, order, friction)
    name = FEEDFORWARD_DERIVATIVES
    if not usual:
        name += f" {method} {order} {friction}"
    feedforward(model, path, method, order, friction=friction)  # refuses what has no answer

    def refuse(place: int, state: tuple[int, ...]) -> NoReturn:
        refuse_feedforward_kink(model, place, state, shafts)

    rows = joined_results(model, name, function, {"derivatives": (flat, plan.rows * n)}, refuse)
    width = rows.shape[-1] // (1 + plan.rows * n)
    slopes = rows[..., width:].reshape(*rows.shape[:-1], width, plan.rows, n)
    parts = np.split(slopes, (shafts, 2 * shafts, 3 * shafts), axis=-3)
    return filled(FeedforwardDerivatives(rows[..., :width], *parts), out)


def refuse_feedforward_kink(
    model: GearedModel, place: int, state: tuple[int, ...], shafts: int
) -> NoReturn:
    """Name the result that has no derivative."""
    where = f" of state {', '.join(map(str, state))}" if state else ""
    finding = "friction changes its sign there, so that the feedforward has no derivative"
    if place < 3 * shafts:
        finding += f" ({model.elasticity.names[place % shafts]})"
    remedy = "move off that state; friction with smoothing, the same in both directions, is smooth"
    raise ArrayError(f"derivatives{where}", finding, remedy)


# -- the traced functions -------------------------------------------------------------------------


def feedforward_forms(
    model: GearedModel, method: Method, order: int | None, friction: bool
) -> dict[str, Form]:
    """Packed arrays of a feedforward: the arm with springs, the plan, the drives."""
    made = plan_of(model, method, order)
    plan = made.plan.copy()
    places = np.zeros(len(plan), np.int8)
    for b in range(int(plan[at.SPRINGS]), int(plan[at.SPRINGS_END]), at.SPRING_SIZE):
        places[b + at.COMPLIANCE : b + at.SPRING_SIZE] = NUMBER
    drives = made.drives if friction else FRICTIONLESS
    return {
        "model": bodies_of(made.packed),
        "flat": Form(plan, places),
        "drives": Form(drives.copy(), np.zeros(len(drives), np.int8)),
    }


def path_width(arrays: Arrays) -> dict[str, int]:
    """Length of the path, row after row."""
    plan = arrays["flat"]
    rows = 2 * int(plan[at.ROUNDS]) + 3  # type: ignore[arg-type]
    return {"derivatives": rows * int(plan[at.JOINTS])}  # type: ignore[arg-type]


def result_width(arrays: Arrays) -> int:
    """Length 3 n_e + m of the values."""
    plan = arrays["flat"]
    return at.MOTION_ROWS * int(plan[at.SHAFTS]) + int(plan[at.MOTORS])  # type: ignore[arg-type]


def trace_feedforward(tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]) -> list[Number]:
    """Motor-side motion, then the motors' torque (3 n_e + m,)."""
    constants = [arrays[name] for name in ("model", "flat", "drives")]
    return list(tracer.run(flatness.elastic_feedforward, constants, inputs, result_width(arrays)))


def trace_feedforward_slopes(
    tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]
) -> list[Number]:
    """Those, then the derivatives of each by the path, row after row."""
    values = trace_feedforward(tracer, arrays, inputs)
    variables = [tracer.graph.symbol(x) for x in inputs[0]]
    slopes = jacobian(tracer.graph, values, variables)
    return [*values, *(x for line in slopes for x in line)]


def feedforward_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_feedforward``."""
    plan = arrays["flat"]
    shafts, motors = int(plan[at.SHAFTS]), int(plan[at.MOTORS])  # type: ignore[arg-type]
    widths = {"theta": shafts, "vtheta": shafts, "atheta": shafts, "tau_m": motors}
    return {name: (width,) for name, width in widths.items()}


def feedforward_slope_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_feedforward_slopes``."""
    width = result_width(arrays)
    return {"values": (width,), "slopes": (width, path_width(arrays)["derivatives"])}


def slopes_function(method: Method, order: int | None, friction: bool) -> JoinedFunction:
    """Derivatives of a feedforward by one method."""
    return JoinedFunction(
        lambda model: feedforward_forms(model, method, order, friction),
        path_width,
        feedforward_slope_shapes,
        trace_feedforward_slopes,
        kinks=True,
    )


FEEDFORWARD_SLOPES = slopes_function("reduced", None, False)
FEEDFORWARD = JoinedFunction(
    lambda model: feedforward_forms(model, "reduced", None, False),
    path_width,
    feedforward_shapes,
    trace_feedforward,
)
