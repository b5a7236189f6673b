"""Rates of an arm with its motors, rigid or elastic, and fixed steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.actuation.driven_dynamics import Windings, refuse_losses, windings
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
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.arguments import (
    call,
    check_results,
    finite_input,
    joint_inputs,
    motor_inputs,
    one_driven_state,
    positive,
    real_number,
)
from geared_dynamics.dynamics.drives import balancer_forces, friction_forces, packed_drives
from geared_dynamics.dynamics.elastic.equations import state_inputs
from geared_dynamics.dynamics.state import State, require_state
from geared_dynamics.errors import ArrayError, shown
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.simulation.integrators import exponential_step, rosenbrock_step

# -- The elastic arm with its motors as y' = f(y, input), for one state or many at once -----------
#
#     H x'' + C x' + (g, 0) = springs + A (k_t i - rotor friction) + (balancers + external
#                             - joint friction, 0)
#     L di/dt = u - R i - k_e s,        s = A' x'
#
# y (..., N): q, theta, v, vtheta, and where voltages are the input the currents.


Drive = Literal["voltage", "torque"]
# Of a central difference: the error of the formula and of rounding are about equal.
DIFFERENCE = float(np.finfo(float).eps) ** (1 / 3)


@dataclass(frozen=True)
class ElasticPlant:
    """An elastic arm driven by its motors' voltages or torques.

    Attributes:
        model: Geared model with elastic or passive joints.
        drive: What the input (m,) is: voltage [V] or electromagnetic torque [N m].
        external: Force on the joints from outside (n,) [N m or N].
    """

    model: GearedModel
    drive: Drive
    external: Array

    @cached_property
    def half(self) -> int:
        """Number of coordinates x = (q, theta)."""
        return self.model.n + self.model.elasticity.count

    @cached_property
    def structure(self) -> Array:
        """A (n + n_e, m)."""
        return elastic.structure_matrix(self.model)

    @cached_property
    def wires(self) -> Windings:
        """The motors' windings."""
        return windings(self.model)

    @cached_property
    def lagging(self) -> Array:
        """Which motors have an inductance (m,)."""
        return np.asarray(self.wires.inductance > 0.0)

    @cached_property
    def lag(self) -> Array:
        """L / R of each motor with an inductance, 1 of the others (m,) [s]."""
        return np.where(self.lagging, self.wires.inductance / self.wires.resistance, 1.0)

    @property
    def size(self) -> int:
        """Length of the state, N."""
        return 2 * self.half + (self.structure.shape[1] if self.drive == "voltage" else 0)

    def steady(self, y: Array, given: Array) -> Array:
        """Currents (..., m) once di/dt = 0."""
        return self.wires.steady_current(given, self.speeds(y))

    def settled(self, y: Array, given: Array) -> Array:
        """The state with the currents of motors without inductance, which follow at once."""
        if self.drive == "torque":
            return y
        x = 2 * self.half
        current = np.where(self.lagging, y[..., x:], self.steady(y, given))
        return np.concatenate([y[..., :x], current], axis=-1)

    def speeds(self, y: Array) -> Array:
        """Speeds of the rotors in their carriers (..., m)."""
        return np.asarray(y[..., self.half : 2 * self.half] @ self.structure)

    def rates(self, y: Array, given: Array) -> Array:
        """dy/dt (..., N) for voltages or torques (m,)."""
        n, half = self.model.n, self.half
        state = unpacked(self, y)
        result = np.empty_like(y)
        result[..., :half] = y[..., half : 2 * half]
        torque = np.broadcast_to(given, (*y.shape[:-1], len(given)))
        if self.drive == "voltage":
            steady = self.steady(y, given)
            current = np.where(self.lagging, y[..., 2 * half :], steady)
            result[..., 2 * half :] = (steady - current) / self.lag
            torque = self.wires.torque_constant * current
        tau, torque = self.on_joints(state.q, state.v), torque - self.on_rotors(y)
        a, atheta = elastic.forward_dynamics(self.model, state, torque, tau=tau)
        result[..., half : half + n], result[..., half + n : 2 * half] = a, atheta
        return result

    def on_joints(self, q: Array, v: Array) -> Array:
        """Balancers, friction and what comes from outside (..., n)."""
        tau = np.broadcast_to(self.external, q.shape).copy()
        if self.model.balancers.names:
            tau += balancer_forces(self.model, q)
        if self.model.joint_friction.count:
            tau -= friction_forces(self.model, v, q)
        return tau

    def on_rotors(self, y: Array) -> Array | float:
        """Friction of the rotors (..., m) [N m]; ``elastic.friction_forces`` with fewer checks."""
        if not self.model.motors.friction.count:
            return 0.0
        count = self.structure.shape[1]
        angle = y[..., : self.half] @ self.structure + self.model.motor_zeros
        inputs = {
            "angle": (angle, count),
            "speed": (self.speeds(y), count),
            "load": (np.zeros(count), count),
        }
        constants = (packed_drives(self.model),)
        return call("rotor_friction", self.model, inputs, (count,), constants=constants)

    def jacobian(self, y: Array, given: Array) -> Array:
        """df/dy (N, N) by central differences, all states in one batch."""
        step = DIFFERENCE * np.maximum(1.0, np.abs(y))
        moved = self.rates(np.concatenate([y + np.diag(step), y - np.diag(step)]), given)
        return np.asarray(((moved[: len(y)] - moved[len(y) :]) / (2.0 * step[:, None])).T)


# -- Rates of an elastic arm with its motors, and a fixed step for plants -------------------------


LOST = 1.0  # error of a joint in one step with which its position is none [rad or m]


class ElasticRates(NamedTuple):
    """Time derivatives of the velocities and currents of a ``State``.

    Attributes:
        a: Joint acceleration (n,).
        atheta: Acceleration of the motor side of the springs (n_e,), joint side.
        current: di/dt (m,) [A/s], 0 of motors without inductance; None with torques.
    """

    a: Array
    atheta: Array
    current: Array | None


def elastic_rates(
    model: GearedModel,
    state: State,
    *,
    voltage: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    external: ArrayLike | None = None,
) -> ElasticRates:
    """Accelerations and di/dt of an elastic arm with friction, balancers and motors.

    Args:
        model: Geared model with elastic or passive joints.
        state: The state.
        voltage: Voltage of each motor (m,) [V].
        torque: Electromagnetic torque of each motor (m,) [N m], instead of voltages; zero if
            neither is given.
        external: Force on the joints from outside (n,) [N m or N].

    Raises:
        ModelError: where no joint is elastic, a loss depends on the load, or voltages are
            given and a constant of a motor is not.
    """
    plant, given = plant_of(model, voltage, torque, external)
    found = plant.rates(packed_state(plant, state), given)
    n, half = model.n, plant.half
    return ElasticRates(
        found[half : half + n],
        found[half + n : 2 * half],
        found[2 * half :] if plant.drive == "voltage" else None,
    )


def elastic_step(
    model: GearedModel,
    state: State,
    dt: float,
    *,
    voltage: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    external: ArrayLike | None = None,
) -> State:
    """State after dt with constant inputs, at a cost that does not depend on the state.

    One implicit step of fourth order. What is damped and faster than the step (windings,
    stiff springs) does no harm; vibrations to be followed need ten steps per period, and
    friction near rest a step in which the rate changes by no more than its smoothing.

    Args:
        model: Geared model with elastic or passive joints.
        state: Where the step begins.
        dt: Length of the step [s].
        voltage: Voltage of each motor (m,) [V].
        torque: Electromagnetic torque of each motor (m,) [N m], instead of voltages; zero if
            neither is given.
        external: Force on the joints from outside (n,) [N m or N].

    Raises:
        ModelError: as ``elastic_rates``.
        ArrayError: if dt is so long that the state after it means nothing.
    """
    try:
        usable = np.ndim(dt) == 0 and bool(np.isfinite(dt) and dt > 0.0)
    except (TypeError, ValueError, OverflowError):
        usable = False
    if not usable:
        raise ArrayError("dt", f"is {shown(dt)}", "give a time above zero [s]")
    plant, given = plant_of(model, voltage, torque, external)
    y = plant.settled(packed_state(plant, state), given)
    with np.errstate(over="ignore", invalid="ignore"):
        jacobian = plant.jacobian(y, given)
        try:
            end, error = rosenbrock_step(lambda z: plant.rates(z, given), jacobian, y, dt)
        # A motion that grows as exp(t / (GAMMA dt)), or states within the step beyond all numbers
        # (the jacobian has accepted the one that was given): how they fail depends on rounding.
        except (np.linalg.LinAlgError, ArrayError):
            end = error = np.full_like(y, np.nan)
    if not np.all(np.isfinite(end)):
        raise ArrayError("dt", f"of {dt} s is too long: the state overflows", "use a smaller step")
    refuse_lost(model, float(dt), error[: model.n])
    return unpacked(plant, plant.settled(end, given))


def refuse_lost(model: GearedModel, dt: float, error: Array) -> None:
    """Raise where a step's own estimate of its error (n,) says that its end means nothing."""
    worst = int(np.argmax(np.abs(error)))
    if abs(error[worst]) > LOST:
        finding = (
            f"of {dt:g} s is too long for this motion: joint {model.joint_names[worst]!r} has"
        )
        finding += f" an error of about {abs(error[worst]):.2g} rad or m"
        raise ArrayError("dt", finding, "use a smaller step, or check the inputs")


def plant_of(
    model: GearedModel,
    voltage: ArrayLike | None,
    torque: ArrayLike | None,
    external: ArrayLike | None,
) -> tuple[ElasticPlant, Array]:
    """The plant, and its input (m,)."""
    if voltage is not None and torque is not None:
        raise ArrayError("torque", "both torque and voltage are given", "give one of the two")
    model.with_springs()  # refuses an arm without springs
    refuse_losses(model, remedy="simulate it without: put the loss into coulomb friction")
    (outside,) = one_driven_state(joint_inputs(model, external=external))
    if voltage is None:
        (given,) = one_driven_state(motor_inputs(model, torque=torque))
        return ElasticPlant(model, "torque", outside), given
    (given,) = one_driven_state(motor_inputs(model, voltage=voltage))
    return ElasticPlant(model, "voltage", outside), given


def packed_state(plant: ElasticPlant, state: State) -> Array:
    """The state as one array (N,)."""
    require_state(state, "simulation")
    parts = state_inputs(plant.model, state)
    if plant.drive == "voltage":
        count = plant.structure.shape[1]
        current = np.zeros(count) if state.current is None else state.current
        parts["current"] = (current, count)
    arrays = {name: finite_input(name, value, width) for name, (value, width) in parts.items()}
    return np.concatenate(one_driven_state(arrays))


def unpacked(plant: ElasticPlant, y: Array) -> State:
    """A state, or many (..., N), from an array."""
    n, half = plant.model.n, plant.half
    current = y[..., 2 * half :] if plant.drive == "voltage" else None
    q, theta = y[..., :n], y[..., n:half]
    v, vtheta = y[..., half : half + n], y[..., half + n : 2 * half]
    return State(q, v, theta, vtheta, current)


# -- A fixed step of the arm with its motors, for simulations -------------------------------------
#
# The current is written as i = (u - k_e s) / R + x: what it would be without inductance, and
# the rest x, which decays with R/L and is fed by the acceleration, x' = -R/L x + k_e s' / R.
# The decay is exact (exponential Runge-Kutta step of Cox and Matthews, 2002), and what feeds
# it stays bounded as L goes to zero: the step is of fourth order and stable however much
# shorter than the step L/R is. What must be resolved is the motion, not the winding. The motion
# of a step much longer than L/R sees a jump of the voltage with 5/6 of its weight, because one
# of the four stages has the current from before.


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
