"""Rates of an elastic arm with its motors, and a fixed step for plants."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.batch import joint_inputs, motor_inputs, one_state
from geared_dynamics.actuation.driven import refuse_losses
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import finite_input
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.plant import ElasticPlant
from geared_dynamics.simulation.rosenbrock import rosenbrock_step

LOST = 1.0  # error of a joint in one step with which its position is none [rad or m]


class ElasticState(NamedTuple):
    """State of an elastic arm with its motors.

    Attributes:
        q: Joint position (n,) [rad or m].
        theta: Position of the shafts behind the springs (n_e,), joint side.
        v: Joint velocity (n,).
        vtheta: Velocity of the shafts (n_e,).
        current: Current of each motor (m,) [A]; None for zero, and for motors that are
            driven by torques. Without inductance it follows at once and is not read.
    """

    q: Array
    theta: Array
    v: Array
    vtheta: Array
    current: Array | None = None


class ElasticRates(NamedTuple):
    """What changes an ``ElasticState``.

    Attributes:
        a: Joint acceleration (n,).
        atheta: Acceleration of the shafts behind the springs (n_e,), joint side.
        current: di/dt (m,) [A/s], 0 of motors without inductance; None with torques.
    """

    a: Array
    atheta: Array
    current: Array | None


def elastic_rates(
    model: GearedModel,
    state: ElasticState,
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
    state: ElasticState,
    dt: float,
    *,
    voltage: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    external: ArrayLike | None = None,
) -> ElasticState:
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
        raise ArrayError("dt", f"is {dt}", "give a time above zero [s]")
    plant, given = plant_of(model, voltage, torque, external)
    y = plant.settled(packed_state(plant, state), given)
    with np.errstate(over="ignore", invalid="ignore"):
        jacobian = plant.jacobian(y, given)
        try:
            end, error = rosenbrock_step(lambda z: plant.rates(z, given), jacobian, y, dt)
        except np.linalg.LinAlgError:  # a motion that grows as exp(t / (GAMMA dt))
            end = error = np.full_like(y, np.nan)
    if not np.all(np.isfinite(end)):
        raise ArrayError("dt", f"of {dt} s leaves no finite state", "give a smaller step")
    refuse_lost(model, float(dt), error[: model.n])
    return unpacked(plant, plant.settled(end, given))


def refuse_lost(model: GearedModel, dt: float, error: Array) -> None:
    """Raise where a step's own estimate of its error (n,) says that its end means nothing."""
    worst = int(np.argmax(np.abs(error)))
    if abs(error[worst]) > LOST:
        finding = f"of {dt:g} s is too long for this motion: joint {model.joint_names[worst]!r} is"
        finding += f" known to {abs(error[worst]):.2g} rad or m only"
        raise ArrayError("dt", finding, "give a smaller step, or look at the inputs")


def plant_of(
    model: GearedModel,
    voltage: ArrayLike | None,
    torque: ArrayLike | None,
    external: ArrayLike | None,
) -> tuple[ElasticPlant, Array]:
    """The plant, and its input (m,)."""
    if voltage is not None and torque is not None:
        raise ArrayError("torque", "is given beside voltage", "give one of the two")
    extended(model)  # refuses an arm without springs
    refuse_losses(model, remedy="simulate it without: put the loss into coulomb friction")
    (outside,) = one_state(joint_inputs(model, external=external))
    if voltage is None:
        (given,) = one_state(motor_inputs(model, torque=torque))
        return ElasticPlant(model, "torque", outside), given
    (given,) = one_state(motor_inputs(model, voltage=voltage))
    return ElasticPlant(model, "voltage", outside), given


def packed_state(plant: ElasticPlant, state: ElasticState) -> Array:
    """The state as one array (N,)."""
    if not isinstance(state, tuple) or len(state) != len(ElasticState._fields):
        finding = f"is a {type(state).__name__}, or not of {len(ElasticState._fields)} parts"
        raise ArrayError("state", finding, "give an ElasticState: q, theta, v, vtheta, current")
    q, theta, v, vtheta, current = state
    n, shafts = plant.model.n, plant.model.elasticity.count
    parts = {"q": (q, n), "theta": (theta, shafts), "v": (v, n), "vtheta": (vtheta, shafts)}
    if plant.drive == "voltage":
        count = plant.structure.shape[1]
        parts["current"] = (np.zeros(count) if current is None else current, count)
    arrays = {name: finite_input(name, value, width) for name, (value, width) in parts.items()}
    return np.concatenate(one_state(arrays))


def unpacked(plant: ElasticPlant, y: Array) -> ElasticState:
    """A state, or many (..., N), from an array."""
    n, half = plant.model.n, plant.half
    parts = np.split(y, [n, half, half + n, 2 * half], axis=-1)
    q, theta, v, vtheta, current = parts
    return ElasticState(q, theta, v, vtheta, current if plant.drive == "voltage" else None)
