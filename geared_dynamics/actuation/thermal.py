"""I^2 t: an estimate of how warm the motors' windings are."""

import numpy as np

from geared_dynamics.actuation.batch import check_results, positive, real_number
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import common_lead, finite_input
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel, require_model


def thermal_step(model: GearedModel, heat: ArrayLike, current: ArrayLike, dt: float) -> Array:
    """Heat of the windings after a time at a current, exact for a constant one.

    T h' = (i / i_c)^2 - h with the continuous current i_c and the time constant T of
    ``limits.thermal``: h = 0 is cold, h = 1 the end of the budget. One body of one time
    constant: an estimate, no substitute for a sensor. Motors without ``thermal`` stay at 0.

    Args:
        model: Geared model.
        heat: h before (..., m).
        current: i (..., m) [A].
        dt: Time [s].

    Returns:
        h after (..., m).
    """
    h, i = heat_of(model, heat), finite_input("current", current, len(model.motor_names))
    inputs = {"heat": h, "current": i}
    common_lead(inputs)
    stay = decay(model, "dt", dt)
    continuous = model.motors.thermal[:, 0]
    with np.errstate(over="ignore"):
        result = np.asarray(stay * h + (1.0 - stay) * (i / continuous) ** 2)
    check_results(inputs, result)
    return result


def thermal_current(model: GearedModel, heat: ArrayLike, horizon: float) -> Array:
    """Current that uses the budget up just at the end of a time.

    Give it to ``saturate`` as ``current_limit``.

    Args:
        model: Geared model.
        heat: h now (..., m), see ``thermal_step``.
        horizon: The time [s].

    Returns:
        Current (..., m) [A]: infinite for motors without ``thermal``, the continuous current
        where the budget is used up already.
    """
    h = heat_of(model, heat)
    stay = decay(model, "horizon", horizon)
    continuous = model.motors.thermal[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):  # inf, where there is no budget
        square = (1.0 - np.minimum(h, 1.0) * stay) / (1.0 - stay)
    return np.where(
        np.isinf(continuous), np.inf, continuous * np.sqrt(np.where(stay < 1.0, square, 1.0))
    )


def heat_of(model: GearedModel, heat: ArrayLike) -> Array:
    """Check the heat."""
    require_model(model)
    h = finite_input("heat", heat, len(model.motor_names))
    if np.any(h < 0.0):
        raise ArrayError("heat", "is negative", "begin with 0, a cold winding")
    return h


def decay(model: GearedModel, name: str, time: float) -> Array:
    """What is left of a heat after a time (m,)."""
    seconds = real_number(name, time, "give a time above 0 [s]", positive)
    return np.exp(-seconds / model.motors.thermal[:, 1])
