"""Motion of an elastic arm over a time, integrated with step control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from geared_dynamics.actuation.batch import motor_inputs, one_state
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import as_numbers
from geared_dynamics.errors import (
    ArrayError,
    GearedDynamicsError,
    MissingPackageError,
    UnknownNameError,
)
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.elastic import ElasticState, packed_state, plant_of, unpacked
from geared_dynamics.simulation.plant import ElasticPlant

Method = Literal["LSODA", "DOP853", "Radau"]
Input = ArrayLike | Callable[[float], ArrayLike]


class ElasticRun(NamedTuple):
    """A simulated motion at k times.

    Attributes:
        t: Times (k,) [s].
        q: Joint position (k, n) [rad or m].
        theta: Position of the shafts behind the springs (k, n_e), joint side.
        v: Joint velocity (k, n).
        vtheta: Velocity of the shafts (k, n_e).
        current: Currents (k, m) [A]; None with torques.
        evaluations: How often the rates were computed.
    """

    t: Array
    q: Array
    theta: Array
    v: Array
    vtheta: Array
    current: Array | None
    evaluations: int

    @property
    def end(self) -> ElasticState:
        """The last state."""
        current = None if self.current is None else self.current[-1]
        return ElasticState(self.q[-1], self.theta[-1], self.v[-1], self.vtheta[-1], current)


def simulate_elastic(
    model: GearedModel,
    state: ElasticState,
    times: ArrayLike,
    *,
    voltage: Input | None = None,
    torque: Input | None = None,
    external: ArrayLike | None = None,
    method: Method = "LSODA",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_evaluations: int = 1_000_000,
) -> ElasticRun:
    """Motion from a state, with step control; needs SciPy (extra ``analysis``).

    Inputs are arrays, or functions of the time that should be smooth between the times: let a
    step of an input fall on the end of one run and the beginning of the next.

    Args:
        model: Geared model with elastic or passive joints.
        state: State at the first time.
        times: Where the motion is wanted (k,), rising, at least two [s].
        voltage: Voltage of each motor (m,) [V], or a function that gives it for a time.
        torque: Electromagnetic torque of each motor (m,) [N m] or a function, instead of
            voltages; zero if neither is given.
        external: Force on the joints from outside (n,) [N m or N].
        method: ``LSODA`` changes between a stiff and a plain scheme by itself; ``DOP853`` is
            cheaper where springs are hardly damped and errors shall be small; ``Radau``
            stands the stiffest.
        rtol: Relative error of a step.
        atol: Absolute error of a step, in each number's own unit.
        max_evaluations: After so many evaluations of the rates the motion is given up.

    Raises:
        ModelError: as ``elastic_rates``.
        ArrayError: where the motion leaves all bounds, with the time.
        MissingPackageError: without SciPy.
    """
    if not isinstance(method, str) or method not in get_args(Method):
        raise UnknownNameError("method", "method", method, get_args(Method))
    when = checked_times(times)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if isinstance(value, bool) or not isinstance(value, float | int) or not 0 < value < 1:
            raise ArrayError(name, f"is {value!r}", "give a number between 0 and 1")
    if isinstance(max_evaluations, bool) or not isinstance(max_evaluations, int):
        raise ArrayError("max_evaluations", f"is {max_evaluations!r}", "give a whole number")
    given = voltage if voltage is not None else torque
    start = given(float(when[0])) if callable(given) else given
    if voltage is not None and torque is not None:
        raise ArrayError("torque", "is given beside voltage", "give one of the two")
    plant, steady = plant_of(
        model, None if voltage is None else start, None if voltage is not None else start, external
    )
    given_at = inputs_over_time(plant, given) if callable(given) else lambda _: steady
    y = plant.settled(packed_state(plant, state), steady)
    found, evaluations = integrate(plant, y, when, given_at, method, rtol, atol, max_evaluations)
    if plant.drive == "voltage":
        found = np.stack([plant.settled(x, given_at(t)) for t, x in zip(when, found, strict=True)])
    return ElasticRun(when, *unpacked(plant, found), evaluations)


def checked_times(times: ArrayLike) -> Array:
    """Return the times as a rising array."""
    remedy = "give at least two rising, finite times [s]"
    when = as_numbers("times", times, remedy)
    if when.ndim != 1 or len(when) < 2:
        raise ArrayError("times", f"has shape {when.shape}", remedy)
    if not np.all(np.isfinite(when)) or np.any(np.diff(when) <= 0.0):
        raise ArrayError("times", "does not rise, or is not finite", remedy)
    return when


def inputs_over_time(
    plant: ElasticPlant, given: Callable[[float], ArrayLike]
) -> Callable[[float], Array]:
    """The function with a check of what it returns."""
    name = str(plant.drive)

    def at(t: float) -> Array:
        """Input (m,) at a time."""
        found = given(t)
        if found is None:
            raise ArrayError(name, f"is None at t = {t:g} s", "return one number for each motor")
        (value,) = one_state(motor_inputs(plant.model, **{name: found}))
        return value

    return at


def integrate(
    plant: ElasticPlant,
    y: Array,
    when: Array,
    given_at: Callable[[float], Array],
    method: Method,
    rtol: float,
    atol: float,
    most: int,
) -> tuple[Array, int]:
    """States (k, N) at the times, and the number of evaluations."""
    try:
        from scipy.integrate import solve_ivp
    except ImportError:
        raise MissingPackageError("simulate_elastic", "scipy", "analysis") from None
    explicit, count = method == "DOP853", 0

    def rates(t: float, z: Array) -> Array:
        """Rates; a step that went too far is none to an explicit scheme."""
        nonlocal count
        count += 1
        if count > most:
            raise leaves(t)
        inputs = given_at(t)
        try:
            return plant.rates(z, inputs)
        except ArrayError:
            if explicit:
                return np.full_like(z, np.nan)
            raise leaves(t) from None

    options: dict[str, Any] = {"rtol": rtol, "atol": atol}
    if not explicit:
        options["jac"] = lambda t, z: plant.jacobian(z, given_at(t))
    span = (when[0], when[-1])
    with np.errstate(over="ignore", invalid="ignore"):
        done = solve_ivp(rates, span, y, method, t_eval=when, **options)
    if not done.success:
        raise leaves(float(done.t[-1]) if len(done.t) else float(when[0]))
    return done.y.T, count


def leaves(t: float) -> GearedDynamicsError:
    """The error of a motion that cannot be followed."""
    finding = f"the motion cannot be followed beyond {t:g} s"
    return ArrayError("simulate_elastic", finding, "look at the inputs there, or try 'Radau'")
