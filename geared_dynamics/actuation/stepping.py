"""A fixed step of the arm with its motors, for simulations.

The current is written as i = (u - k_e s) / R + x: what it would be without inductance, and
the rest x, which decays with R/L and is fed by the acceleration, x' = -R/L x + k_e s' / R.
The decay is exact (exponential Runge-Kutta step of Cox and Matthews, 2002), and what feeds
it stays bounded as L goes to zero: the step is of fourth order and stable however much
shorter than the step L/R is. What must be resolved is the motion, not the winding. The motion
of a step much longer than L/R sees a jump of the voltage with 5/6 of its weight, because one
of the four stages has the current from before.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np

from geared_dynamics.actuation.driven_dynamics import windings
from geared_dynamics.actuation.friction_elements import warn_if_elastic
from geared_dynamics.actuation.motion_from_torque import (
    BAND,
    Mode,
    choose,
    limit_of,
    motion_at,
    stopped,
)
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import (
    check_results,
    joint_inputs,
    motor_inputs,
    one_driven_state,
    positive,
    real_number,
)
from geared_dynamics.dynamics.state import State, require_state
from geared_dynamics.model import GearedModel, require_model

# -- Runge-Kutta step of fourth order with an exact decay: Cox and Matthews (2002), ETDRK4 --------


SERIES = 1.0  # |x| below which the functions phi are summed as series
TERMS = 20


def exponential_step(rest: Callable[[Array], Array], x: Array, decay: Array, dt: float) -> Array:
    """State after dt of x' = decay x + rest(x); the classical step where the decay is 0.

    Args:
        rest: Rates without the decay.
        x: State (k,).
        decay: Rate of each entry on its own (k,) [1/s], zero or negative.
        dt: Step [s].

    References:
        S. M. Cox, P. C. Matthews, J. Comput. Phys. 176 (2002), eq. (26)-(29).
    """
    half, whole = np.swapaxes(phi(dt * np.stack([0.5 * decay, decay])), 0, 1)
    fade, step = np.exp(0.5 * dt * decay), 0.5 * dt * half[1]
    first = rest(x)
    a = fade * x + step * first
    second = rest(a)
    b = fade * x + step * second
    third = rest(b)
    c = fade * a + step * (2.0 * third - first)
    last = rest(c)
    _, one, two, three = whole
    return np.asarray(
        np.exp(dt * decay) * x
        + dt * (one - 3.0 * two + 4.0 * three) * first
        + dt * (2.0 * two - 4.0 * three) * (second + third)
        + dt * (4.0 * three - two) * last
    )


def phi(x: Array) -> Array:
    """phi_0 = exp, phi_k+1 = (phi_k - 1 / k!) / x for k = 0, 1, 2 (4, ...).

    Near zero phi_3 is summed, sum x^j / (j + 3)!, and the others follow from it.
    """
    small = np.abs(x) < SERIES
    whole = np.exp(x)
    far = np.where(small, -1.0, x)
    rows = [whole]
    for k in range(3):
        rows.append((rows[-1] - 1.0 / factorial(k)) / far)
    close = np.where(small, x, 0.0)
    last = np.zeros_like(x)
    for j in reversed(range(TERMS)):
        last = last * close + 1.0 / factorial(j + 3)
    second = close * last + 0.5
    near = [whole, close * second + 1.0, second, last]
    return np.where(small, near, rows)


# -- A fixed step of the arm with its motors, for simulations -------------------------------------


def driven_step(
    model: GearedModel,
    state: State,
    voltage: ArrayLike,
    dt: float,
    *,
    external: ArrayLike | None = None,
    mode: Mode = "smooth",
    band: float = BAND,
) -> State:
    """State after a time dt with constant voltages and external force.

    The error is of fourth order in dt where friction is smooth over a step. With
    ``exact`` friction, a joint or rotor whose rate changes its sign within the step is
    stopped at its end, so that it can stick in the next: of first order there.

    Args:
        model: Geared model.
        state: Where the step begins, with the motors' currents; None: no currents.
        voltage: Voltage of each motor (m,) [V].
        dt: Length of the step [s].
        external: Joint force from outside (n,) [N m or N].
        mode: As in ``motion_from_torque``.
        band: As in ``motion_from_torque``.

    Raises:
        ModelError: where a constant is not given, or a gear jams.
    """
    require_model(model)
    require_state(state, "driven_step", ("model", "state", "voltage", "dt"))
    warn_if_elastic(model, "driven_step")
    dt = real_number("dt", dt, "give a time above zero [s]", positive)
    choose(mode)
    wires, limit = windings(model), limit_of(mode, band)
    inputs = joint_inputs(model, q=state.q, v=state.v, external=external)
    inputs |= motor_inputs(model, current=state.current, voltage=voltage)
    q, v, outside, current, u = one_driven_state(inputs)
    n, A = model.n, model.structure_matrix
    lagging = wires.inductance > 0.0
    pull = wires.back_emf_constant / wires.resistance
    rest = np.where(lagging, current - wires.steady_current(u, v @ A), 0.0)
    x = np.concatenate([q, v, rest])
    decay = np.zeros(len(x))
    decay[2 * n :] = np.where(
        lagging, -wires.resistance / np.where(lagging, wires.inductance, 1.0), 0.0
    )

    # Exact friction keeps its direction over the step: what it reverses is stopped below.
    way = None if limit is None else v

    def feed(y: Array) -> Array:
        """Rates without the decay."""
        check_results(inputs, y)
        rate = y[n : 2 * n]
        flowing = wires.steady_current(u, rate @ A) + y[2 * n :]
        torque = wires.torque_constant * flowing
        a = motion_at(model, y[:n], rate, outside, torque, band=limit, way=way).a
        check_results(inputs, a)
        return np.concatenate([rate, a, np.where(lagging, pull * (a @ A), 0.0)])

    with np.errstate(over="ignore", invalid="ignore"):
        end = exponential_step(feed, x, decay, dt)
    check_results(inputs, end)
    q, after, rest = end[:n], end[n : 2 * n], end[2 * n :]
    if limit is not None:
        after = stopped(model, q, v, after, limit)
    return State(q, after, current=wires.steady_current(u, after @ A) + rest)
