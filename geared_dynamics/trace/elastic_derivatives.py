"""Exact derivatives of the dynamics of arms with elastic joints, x = (q, theta)."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import common_lead
from geared_dynamics.dynamics.elastic.equations import (
    forward_dynamics,
    joined,
    packed_springs,
    state_inputs,
    structure_matrix,
)
from geared_dynamics.dynamics.elimination_plan import elimination_plan
from geared_dynamics.dynamics.state import State, takes_state
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import elastic, inverse
from geared_dynamics.kernels import elastic_layout as has
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace.functions import Arrays, Program, blocks, coordinates, jacobian
from geared_dynamics.trace.graph import Number
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import NUMBER, Form, Structure, body_form
from geared_dynamics.trace.tape import filled, joined_inputs, played, tape

MOTION = "elastic_inverse_dynamics_derivatives"


class ElasticInverseDerivatives(NamedTuple):
    """Force that a motion of x = (q, theta) needs beside that of the springs, and its derivatives.

    N = n + n_e; rows are forces: first those on the joints, then those on theta.

    Attributes:
        tau: Force on x (..., N) [N m or N].
        dtau_dx: Its derivative by the position x (..., N, N).
        dtau_drate: By its velocity (..., N, N).
        dtau_da: By its acceleration (..., N, N): the mass matrix H.
    """

    tau: Array
    dtau_dx: Array
    dtau_drate: Array
    dtau_da: Array


class ElasticForwardDerivatives(NamedTuple):
    """Acceleration of x = (q, theta), N = n + n_e, and its derivatives, a row for each.

    Attributes:
        a: Acceleration of x (..., N).
        da_dx: Its derivative by the position x (..., N, N).
        da_drate: By its velocity (..., N, N).
        da_dtau_m: By the motors' torques (..., N, m): H^-1 A.
        da_dtau: By the further force on the joints (..., N, n): the first columns of H^-1.
    """

    a: Array
    da_dx: Array
    da_drate: Array
    da_dtau_m: Array
    da_dtau: Array


@takes_state
def inverse_dynamics_derivatives(
    model: GearedModel,
    state: State,
    a: ArrayLike,
    atheta: ArrayLike,
    *,
    out: ElasticInverseDerivatives | None = None,
) -> ElasticInverseDerivatives:
    """Forces for a motion of both sides of the springs, and their exact derivatives.

    The forces are those of ``gd.elastic.inverse_dynamics``, on q and theta together.

    Args:
        model: Geared model with elastic joints.
        state: State with its motor side, arrays (..., n) and (..., n_e).
        a: Joint acceleration (..., n).
        atheta: Acceleration of theta (..., n_e).
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ArrayError: at a state where a spring has no derivative: at the end of its backlash.
    """
    require_model(model).with_springs()  # refuses an arm without springs
    x, rate, change = joined(
        model, q=(state.q, state.theta), v=(state.v, state.vtheta), a=(a, atheta)
    )
    return filled(ElasticInverseDerivatives(*slopes_of(model, x, rate, change)), out)


@takes_state
def forward_dynamics_derivatives(
    model: GearedModel,
    state: State,
    tau_m: ArrayLike,
    *,
    tau: ArrayLike | None = None,
    out: ElasticForwardDerivatives | None = None,
) -> ElasticForwardDerivatives:
    r"""Acceleration of both sides of the springs, and its exact derivatives.

    With F(x, x', x'') the force of ``inverse_dynamics_derivatives`` and A the structure matrix,
    F = A tau_m + (tau, 0), so that at the acceleration

        da/dx = -H^{-1} dF/dx,   da/dx' = -H^{-1} dF/dx',   da/dtau_m = H^{-1} A.

    Args:
        model: Geared model with elastic joints.
        state: State with its motor side, arrays (..., n) and (..., n_e).
        tau_m: Torque at the motors' shafts (..., m) [N m], motor side.
        tau: What else acts on the joints (..., n) [N m or N]; zero if not given.
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ModelError: if the mass matrix is not positive definite.
        ArrayError: as ``inverse_dynamics_derivatives``.
    """
    size, n = require_model(model).with_springs().n, model.n
    parts = forward_dynamics(model, state, tau_m, tau=tau)
    a = np.concatenate(parts, axis=-1)
    x, rate = joined(model, q=(state.q, state.theta), v=(state.v, state.vtheta))
    lead = common_lead({"x": x, "a": a})
    x, rate = (np.broadcast_to(part, (*lead, size)) for part in (x, rate))
    _, by_x, by_rate, H = slopes_of(model, x, rate, a)
    given = np.hstack([structure_matrix(model), np.eye(size)[:, :n]])
    right = np.concatenate(
        [-by_x, -by_rate, np.broadcast_to(given, (*lead, *given.shape))], axis=-1
    )
    columns = np.linalg.solve(H, right)
    ends = (size, 2 * size, 2 * size + len(model.motor_names))
    return filled(ElasticForwardDerivatives(a, *np.split(columns, ends, axis=-1)), out)


def slopes_of(model: GearedModel, x: Array, rate: Array, change: Array) -> tuple[Array, ...]:
    """Force on x (..., N) and its derivatives (..., N, N) by x and its two derivatives."""
    size = model.with_springs().n
    given = joined_inputs({"x": (x, size), "rate": (rate, size), "a": (change, size)})
    made = model._forms.tapes.get(MOTION)
    if made is None:
        made = tape(model, MOTION, motion_forms(model), motion_program)

    def refuse(_place: int, where: tuple[int, ...]) -> NoReturn:
        refuse_stop(model, given[where], where)

    rows = played(model.with_springs(), made, given, refuse)
    shape = (*rows.shape[:-1], size, size)
    count = size * size
    parts = (rows[..., size + k * count : size + (k + 1) * count] for k in range(3))
    return rows[..., :size], *(part.reshape(shape) for part in parts)


def refuse_stop(model: GearedModel, given: Array, state: tuple[int, ...]) -> NoReturn:
    """Name the spring with backlash that is nearest to the end of it."""
    elasticity = model.elasticity
    stretch = elasticity.stretch @ given[: elasticity.stretch.shape[1]] - elasticity.rest
    free = elasticity.gap > 0.0
    away = np.where(free, np.abs(np.abs(stretch) - elasticity.gap), np.inf)
    spring = int(np.argmin(away))
    ends = np.flatnonzero(elasticity.stretch[spring])
    names = [model.with_springs().joint_names[k] for k in ends]
    where = f" of state {', '.join(map(str, state))}" if state else ""
    finding = (
        f"the spring between {' and '.join(names)} has no derivative: its backlash ends there"
    )
    raise ArrayError(f"state.theta{where}", finding, "move off the end of the backlash")


# -- the traced functions -------------------------------------------------------------------------


def spring_form(model: GearedModel) -> Form:
    """Packed springs of elastic joints, and their places."""
    form = packed_springs(model).copy()
    places = np.zeros(len(form), np.int8)
    for b in range(int(form[has.SPRINGS]), int(form[has.SPRINGS_END]), has.SPRING_SIZE):
        for place in (has.STIFFNESS, has.DAMPING, has.REST):
            places[b + place] = NUMBER
    return Form(form, places)


def motion_forms(model: GearedModel) -> dict[str, Form]:
    """Packed arrays of the arm with springs."""
    return {"model": body_form(require_model(model).with_springs()), "shafts": spring_form(model)}


def forward_forms(model: GearedModel) -> dict[str, Form]:
    """Those and the plan of its elimination, which is structure."""
    plan = elimination_plan(require_model(model).with_springs())
    return motion_forms(model) | {"plan": Form(plan.copy(), np.zeros(len(plan), np.int8))}


def motion_program(structure: Structure) -> Program:
    """Force on x (N,), then its derivatives (N N,) by x, its velocity, its acceleration."""
    tracer = Tracer()
    arrays = structure.symbols(tracer.graph)
    size = coordinates(arrays)
    given = tracer.graph.inputs("inputs", 3 * size)
    force = force_on_x(tracer, arrays, [given[k * size : (k + 1) * size] for k in range(3)])
    slopes = jacobian(tracer.graph, force, [tracer.graph.symbol(x) for x in given])
    results = (*force, *blocks(slopes, size))
    return Program(tracer.graph, ("inputs",), 3 * size, results, tuple(tracer.guards))


def force_on_x(tracer: Tracer, arrays: Arrays, motion: list[list[Number]]) -> list[Number]:
    """Force (N,) that a motion of x needs, beyond what the springs give."""
    x, rate, _ = motion
    size = len(x)
    springs = tracer.memory([0.0] * size)
    cells = [tracer.memory(list(part)) for part in (arrays["shafts"], x, rate)]
    tracer.call(elastic.add_springs, *cells, springs)
    force = tracer.run(inverse.inverse_dynamics, [arrays["model"]], motion, size)
    return [total - spring for total, spring in zip(force, springs.cells, strict=True)]


def acceleration_of_x(tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]) -> list[Number]:
    """Acceleration (N,) of x for q, theta, v, vtheta, tau_m, tau."""
    constants = [arrays["model"], arrays["shafts"], arrays["plan"]]
    size = coordinates(arrays)
    return list(tracer.run(elastic.elastic_forward_dynamics, constants, inputs, size))


def forward_inputs(model: GearedModel) -> dict[str, int]:
    """Lengths of the inputs of ``acceleration_of_x``, by name."""
    still = State(*(np.zeros(k) for k in (model.n, model.n, *[model.elasticity.count] * 2)))
    sizes = {name: width for name, (_, width) in state_inputs(model, still).items()}
    return sizes | {"tau_m": len(model.motor_names), "tau": model.n}
