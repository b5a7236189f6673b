"""Motion of an elastic arm over a time, integrated with step control."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import choice
from geared_dynamics.dynamics.arguments import as_numbers, motor_inputs, one_driven_state
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import (
    ArrayError,
    GearedDynamicsError,
    MissingPackageError,
    shown,
)
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.driven_arm import (
    ElasticPlant,
    packed_state,
    plant_of,
    unpacked,
)

Method = Literal["LSODA", "DOP853", "Radau"]
Input = ArrayLike | Callable[[float], ArrayLike]
# Below it SciPy would take another tolerance than the given one.
LEAST_RTOL = 100.0 * float(np.finfo(float).eps)
INSTEAD: dict[Method, str] = {
    "LSODA": "'DOP853' where springs are hardly damped, 'Radau' where they are very stiff",
    "DOP853": "'LSODA', which changes to a stiff scheme where springs or windings are stiff",
    "Radau": "'LSODA', which is cheaper where not everything is stiff",
}


class ElasticRun(NamedTuple):
    """A simulated motion at k times.

    Attributes:
        t: Times (k,) [s].
        state: States at these times, arrays (k, n), (k, n_e) and (k, m); no currents with torques.
        evaluations: How often the rates were computed.
    """

    t: Array
    state: State
    evaluations: int

    @property
    def q(self) -> Array:
        """Joint position (k, n) [rad or m]."""
        return self.state.q

    @property
    def v(self) -> Array:
        """Joint velocity (k, n)."""
        return self.state.v

    @property
    def theta(self) -> Array:
        """Motor-side position of the elastic joints (k, n_e), reflected to the joints."""
        return cast("Array", self.state.theta)

    @property
    def vtheta(self) -> Array:
        """Its time derivative (k, n_e)."""
        return cast("Array", self.state.vtheta)

    @property
    def current(self) -> Array | None:
        """Currents (k, m) [A]; None with torques."""
        return self.state.current

    @property
    def end(self) -> State:
        """The last state."""
        return State(*(None if part is None else part[-1] for part in self.state))  # type: ignore[arg-type]


def simulate_elastic(
    model: GearedModel,
    state: State,
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
        rtol: Relative error of a step, 2.3e-14 at least.
        atol: Absolute error of a step, in each number's own unit.
        max_evaluations: After so many evaluations of the rates the motion is given up.

    Raises:
        ModelError: as ``elastic_rates``.
        ArrayError: where the motion diverges, or ``max_evaluations`` are used up,
            with the time.
        MissingPackageError: without SciPy.
    """
    choice("method", "method", method, get_args(Method))
    when = checked_times(times)
    refuse_tolerances(rtol, atol)
    one_or_more("max_evaluations", max_evaluations)
    given = voltage if voltage is not None else torque
    start = given(float(when[0])) if callable(given) else given
    if voltage is not None and torque is not None:
        raise ArrayError("torque", "both torque and voltage are given", "give one of the two")
    plant, steady = plant_of(
        model, None if voltage is None else start, None if voltage is not None else start, external
    )
    given_at = inputs_over_time(plant, given) if callable(given) else lambda _: steady
    y = plant.settled(packed_state(plant, state), steady)
    found, evaluations = integrate(plant, y, when, given_at, method, rtol, atol, max_evaluations)
    if plant.drive == "voltage":
        found = np.stack([plant.settled(x, given_at(t)) for t, x in zip(when, found, strict=True)])
    return ElasticRun(when, unpacked(plant, found), evaluations)


def refuse_tolerances(rtol: float, atol: float) -> None:
    """Raise for tolerances that no scheme can keep."""
    for name, value, least in (("rtol", rtol, LEAST_RTOL), ("atol", atol, 0.0)):
        usable = isinstance(value, float | int | np.number) and not isinstance(value, bool)
        if not (usable and 0.0 < value < 1.0):
            raise ArrayError(name, f"is {shown(value)}", "give a number between 0 and 1")
        if value < least:
            finding = f"{value:g} is below the resolution of float64"
            raise ArrayError(name, finding, f"give {least:.2g} or more; 1e-12 is already strict")


def one_or_more(name: str, count: int) -> None:
    """Raise for what is no number of evaluations or events."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ArrayError(name, f"is {shown(count)}", "give a whole number from 1 on")


def checked_times(times: ArrayLike) -> Array:
    """Return the times as a rising array."""
    remedy = "give at least two rising, finite times [s]"
    when = as_numbers("times", times, remedy)
    if when.ndim != 1 or len(when) < 2:
        raise ArrayError("times", f"has shape {when.shape}", remedy)
    if not np.all(np.isfinite(when)) or np.any(np.diff(when) <= 0.0):
        raise ArrayError("times", "must increase and be finite", remedy)
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
        (value,) = one_driven_state(motor_inputs(plant.model, **{name: found}))
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
        from scipy.linalg import LinAlgWarning
    except ImportError:
        raise MissingPackageError("simulate_elastic", "scipy", "analysis") from None
    # From zero: late times, as seconds of 1970's calendar, have no digits left for small steps.
    start = float(when[0])
    explicit, count, last, outside = method == "DOP853", 0, start, False

    def inputs(t: float) -> Array:
        """The input, with a mark for errors that are the caller's own."""
        nonlocal outside
        outside = True
        value = given_at(t)
        outside = False
        return value

    def rates(t: float, z: Array) -> Array:
        """Rates; a step that went too far is none to an explicit scheme."""
        nonlocal count, last
        count, last = count + 1, start + float(t)
        if count > most:
            raise used_up(last, when, method, most)
        given = inputs(last)
        try:
            return plant.rates(z, given)
        except ArrayError as error:
            if explicit:
                return np.full_like(z, np.nan)
            raise leaves(last, error.finding) from None

    options: dict[str, Any] = {"rtol": rtol, "atol": atol}
    if not explicit:
        options["jac"] = lambda t, z: plant.jacobian(z, inputs(start + float(t)))
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        # LSODA says by a warning why it gives up, Radau that its matrix is singular.
        warnings.filterwarnings("error", message="lsoda", category=UserWarning)
        warnings.filterwarnings("error", category=LinAlgWarning)
        try:
            span = (0.0, when[-1] - start)
            done = solve_ivp(rates, span, y, method, t_eval=when - start, **options)
        except (UserWarning, LinAlgWarning) as warning:
            if outside:
                raise
            raise leaves(last, str(warning)) from None
        except ValueError as error:  # of SciPy's linear algebra, where its step underflows
            if outside:
                raise
            raise leaves(last, str(error)) from None
    if not done.success:
        raise leaves(last, done.message)
    return done.y.T, count


def used_up(t: float, when: Array, method: Method, most: int) -> GearedDynamicsError:
    """The error of a motion that takes more evaluations than allowed."""
    finding = f"all {most} evaluations were used by {t:.9g} s of {when[-1]:.9g} s"
    remedy = (
        f"allow more, loosen rtol and atol, or use another method: {INSTEAD[method]}; remove "
        "noise and jumps from the inputs, which need small steps"
    )
    return ArrayError("max_evaluations", finding, remedy)


def leaves(t: float, reason: str) -> GearedDynamicsError:
    """The error of a motion that no scheme follows."""
    finding = f"the motion cannot be followed beyond {t:.9g} s ({reason.strip().rstrip('.')})"
    remedy = "check inputs and state there for wrong units, jumps and unstable feedback"
    return ArrayError("simulate_elastic", finding, remedy)
