"""Exact derivatives of the dynamics of arms with elastic joints, x = (q, theta)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import by_own_code, common_lead
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
from geared_dynamics.trace.functions import (
    Arrays,
    blocks,
    coordinates,
    jacobian,
    mass_matrix,
    solved,
)
from geared_dynamics.trace.graph import Number
from geared_dynamics.trace.joined import JoinedFunction, Shapes, filled, joined_results
from geared_dynamics.trace.run import Tracer
from geared_dynamics.trace.structure import NUMBER, Form, body_form

INVERSE_DERIVATIVES = "elastic.inverse_dynamics_derivatives"


class ElasticInverseDerivatives(NamedTuple):
    """Force that a motion of x = (q, theta) needs besides the springs', and its derivatives.

    N = n + n_e; rows are forces: first those on the joints, then those on theta, joint side.

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
        a: Acceleration of x (..., N) [rad/s^2 or m/s^2].
        da_dx: Its derivative by the position x (..., N, N).
        da_drate: By its velocity (..., N, N).
        da_dtau_m: By the torques at the motors' shafts (..., N, m): H^-1 A.
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
        a: Joint acceleration (..., n) [rad/s^2 or m/s^2].
        atheta: Acceleration of theta (..., n_e), joint side.
        out: An earlier result of the same shape, which is filled and returned.

    Raises:
        ArrayError: at a state where a spring has no derivative: at the end of its backlash.
    """
    require_model(model).with_springs()  # refuses an arm without springs
    if model.joined_code:  # (q, theta) is x: the parts are the inputs one after the other
        sides = state_inputs(model, state)
        sides |= {"a": (a, model.n), "atheta": (atheta, model.elasticity.count)}
        rows = by_own_code(model, INVERSE_DERIVATIVES, sides)
        if rows is not None:
            return filled(ElasticInverseDerivatives(*inverse_slope_parts(rows, model)), out)
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
    size, n, m = require_model(model).with_springs().n, model.n, len(model.motor_names)
    ends = (size, 2 * size, 2 * size + m)
    if model.joined_code:
        given = state_inputs(model, state)
        given |= {"tau_m": (tau_m, m), "tau": (np.zeros(n) if tau is None else tau, n)}
        rows = by_own_code(model, FORWARD_DERIVATIVES, given)
        if rows is not None:
            columns = rows[..., size:].reshape(*rows.shape[:-1], size, -1)
            parts = np.split(columns, ends, axis=-1)
            return filled(ElasticForwardDerivatives(rows[..., :size], *parts), out)
    x, rate = joined(model, q=(state.q, state.theta), v=(state.v, state.vtheta))
    a = np.concatenate(forward_dynamics(model, state, tau_m, tau=tau), axis=-1)
    lead = common_lead({"x": x, "a": a})
    x, rate = (np.broadcast_to(part, (*lead, size)) for part in (x, rate))
    _, by_x, by_rate, H = slopes_of(model, x, rate, a)
    forced = np.hstack([structure_matrix(model), np.eye(size)[:, :n]])
    right = np.concatenate(
        [-by_x, -by_rate, np.broadcast_to(forced, (*lead, *forced.shape))], axis=-1
    )
    columns = np.linalg.solve(H, right)
    return filled(ElasticForwardDerivatives(a, *np.split(columns, ends, axis=-1)), out)


def slopes_of(model: GearedModel, x: Array, rate: Array, change: Array) -> tuple[Array, ...]:
    """Force on x (..., N) and its derivatives (..., N, N) by x and its two derivatives."""
    size = model.with_springs().n

    lead = common_lead({"x": x, "rate": rate, "a": change})

    def refuse(_place: int, where: tuple[int, ...]) -> NoReturn:
        refuse_stop(model, np.broadcast_to(x, (*lead, size))[where], where)

    inputs: dict[str, tuple[ArrayLike, int]] = {
        "x": (x, size), "rate": (rate, size), "a": (change, size)
    }  # fmt: skip
    rows = joined_results(model, INVERSE_DERIVATIVES, INVERSE_SLOPES, inputs, refuse)
    return inverse_slope_parts(rows, model)


def inverse_slope_parts(rows: Array, model: GearedModel) -> tuple[Array, ...]:
    """Force on x and its three derivatives, of the results (..., N + 3 N N)."""
    size = model.with_springs().n
    count, shape = size * size, (*rows.shape[:-1], size, size)
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


# -- The traced functions -------------------------------------------------------------------------


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


def trace_inverse_slopes(
    tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]
) -> list[Number]:
    """Force on x (N,), then its derivatives (N N,) by x, its velocity, its acceleration."""
    force = force_on_x(tracer, arrays, inputs)
    variables = [tracer.graph.symbol(x) for part in inputs for x in part]
    return [*force, *blocks(jacobian(tracer.graph, force, variables), len(force))]


def trace_forward_slopes(
    tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]
) -> list[Number]:
    """Acceleration (N,), then its derivatives (N, 2 N + m + n) by x, rate, tau_m and tau."""
    graph, (x, rate, tau_m, tau) = tracer.graph, inputs
    size, n, m = len(x), len(tau), len(tau_m)
    sides = x[:n], x[n:], rate[:n], rate[n:]
    a = acceleration_of_x(tracer, arrays, [*sides, tau_m, tau])
    a = [graph.held(part) for part in a]
    force = force_on_x(tracer, arrays, [x, rate, a])
    slopes = jacobian(graph, force, [graph.symbol(part) for part in (*x, *rate)])
    matrix = mass_matrix(tracer, arrays, [x])
    right = [[-line[k] for line in slopes] for k in range(2 * size)]
    for k in range(m):
        own = tracer.memory([0.0] * size)
        one = tracer.memory([float(k == j) for j in range(m)])
        tracer.call(elastic.add_motors, tracer.memory(list(arrays["shafts"])), one, own)
        right.append(list(own.cells))
    right += [[float(i == k) for i in range(size)] for k in range(n)]
    columns = [solved(tracer, matrix, column) for column in right]
    return [*a, *(part for line in zip(*columns, strict=True) for part in line)]


def force_on_x(tracer: Tracer, arrays: Arrays, motion: list[list[Number]]) -> list[Number]:
    """Force (N,) that a motion of x needs, beyond what the springs give."""
    x, rate, _ = motion
    size = len(x)
    springs = tracer.memory([0.0] * size)
    cells = [tracer.memory(list(part)) for part in (arrays["shafts"], x, rate)]
    tracer.call(elastic.add_springs, *cells, springs)
    force = tracer.run(inverse.inverse_dynamics, [arrays["model"]], motion, size)
    return [total - spring for total, spring in zip(force, springs.cells, strict=True)]


def trace_inverse(tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]) -> list[Number]:
    """Forces on q and theta for q, theta, v, vtheta, a, atheta."""
    pairs = zip(inputs[::2], inputs[1::2], strict=True)
    return force_on_x(tracer, arrays, [[*link, *shaft] for link, shaft in pairs])


def acceleration_of_x(tracer: Tracer, arrays: Arrays, inputs: list[list[Number]]) -> list[Number]:
    """Acceleration (N,) of x for q, theta, v, vtheta, tau_m, tau."""
    constants = [arrays["model"], arrays["shafts"], arrays["plan"]]
    size = coordinates(arrays)
    return list(tracer.run(elastic.elastic_forward_dynamics, constants, inputs, size))


def lengths(arrays: Arrays) -> tuple[int, int, int]:
    """Numbers of coordinates q and theta, and of motors."""
    joints, shafts, motors = (arrays["shafts"][k] for k in (has.JOINTS, has.SHAFTS, has.MOTORS))
    return int(joints), int(shafts), int(motors)  # type: ignore[arg-type]


def motion_inputs(arrays: Arrays) -> dict[str, int]:
    """Lengths of position, velocity and acceleration of both sides of the springs."""
    n, shafts, _ = lengths(arrays)
    names = (("q", "theta"), ("v", "vtheta"), ("a", "atheta"))
    return {key: size for pair in names for key, size in zip(pair, (n, shafts), strict=True)}


def forward_inputs(arrays: Arrays) -> dict[str, int]:
    """Lengths of the inputs of ``acceleration_of_x``, by name."""
    n, shafts, motors = lengths(arrays)
    return {"q": n, "theta": shafts, "v": n, "vtheta": shafts, "tau_m": motors, "tau": n}


def both_sides(*names: str) -> Callable[[Arrays], Shapes]:
    """A quantity of the joints and one of theta."""

    def shapes(arrays: Arrays) -> Shapes:
        n, shafts, _ = lengths(arrays)
        return dict(zip(names, ((n,), (shafts,)), strict=True))

    return shapes


def of_x(*names: str) -> Callable[[Arrays], dict[str, int]]:
    """Inputs that are quantities of x."""
    return lambda arrays: dict.fromkeys(names, coordinates(arrays))


def forward_slope_inputs(arrays: Arrays) -> dict[str, int]:
    """Lengths of the inputs of ``trace_forward_slopes``."""
    n, shafts, motors = lengths(arrays)
    return {"x": n + shafts, "rate": n + shafts, "tau_m": motors, "tau": n}


def inverse_slope_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_inverse_slopes``."""
    size = coordinates(arrays)
    names = ("dtau_dx", "dtau_drate", "dtau_da")
    return {"tau": (size,)} | dict.fromkeys(names, (size, size))


def forward_slope_shapes(arrays: Arrays) -> Shapes:
    """Outputs of ``trace_forward_slopes``."""
    n, shafts, motors = lengths(arrays)
    size = n + shafts
    return {"a": (size,), "slopes": (size, 2 * size + motors + n)}


FORWARD_DERIVATIVES = "elastic.forward_dynamics_derivatives"
INVERSE_SLOPES = JoinedFunction(
    motion_forms, of_x("x", "rate", "a"), inverse_slope_shapes, trace_inverse_slopes, kinks=True
)
FORWARD_SLOPES = JoinedFunction(
    forward_forms, forward_slope_inputs, forward_slope_shapes, trace_forward_slopes, kinks=True
)
INVERSE_DYNAMICS = JoinedFunction(
    motion_forms, motion_inputs, both_sides("tau", "tau_theta"), trace_inverse
)
FORWARD_DYNAMICS = JoinedFunction(
    forward_forms, forward_inputs, both_sides("a", "atheta"), acceleration_of_x
)
