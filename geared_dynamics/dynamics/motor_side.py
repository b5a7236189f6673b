"""Between the joints' and the motors' side of the gears."""

import math
from typing import NoReturn

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import as_input, coordinates, deliver
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel, require_model


def motor_torques(model: GearedModel, tau: ArrayLike, *, out: Array | None = None) -> Array:
    """Motor torques tau_m with A tau_m = tau, before efficiency.

    With more motors than coordinates the solution of least norm is returned.

    Args:
        model: Geared model.
        tau: Generalised joint force (..., n) [N m or N], joint side.
        out: Result array (..., m), returned.

    Returns:
        Torque at each motor's shaft (..., m) [N m], motor side.

    Raises:
        ModelError: if the motors cannot produce every joint force.

    References:
        Chen 1998, eq. (12): tau = A tau_m.
    """
    return checked("tau", tau, coordinates(model), motor_shares(model), out=out)


def motor_shares(model: GearedModel) -> Array:
    """What each motor gives per joint force, S' (n, m), of least norm.

    Raises:
        ModelError: if the motors do not move all coordinates independently.
    """
    shares = require_model(model).motor_map
    if not shares.complete:
        refuse_underactuated(model, shares.rank)
    return shares.inverse.T


def refuse_underactuated(model: GearedModel, moved: int) -> NoReturn:
    """Name the coordinates that no motor moves, or say that they do not move by themselves."""
    idle = [
        name
        for name, row in zip(model.joint_names, model.structure_matrix, strict=True)
        if not row.any()
    ]
    count = len(model.motor_names)
    motors = f"{count} motor{'s' if count != 1 else ''} move{'s' if count == 1 else ''}"
    finding = f"{motors} {moved} of {model.n} coordinates"
    detail = f" (none acts on {', '.join(idle)})" if idle else " independently of each other"
    remedy = "declare the missing motors" if idle else "declare more motors, or let a joint mimic"
    raise ModelError(f"{model.drivetrain_source}, motors", finding + detail, remedy)


def motor_angles(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """What the motors' encoders show: phi = A' q + phi(0), relative to their carriers.

    Args:
        model: Geared model; phi(0), ``model.motor_zeros``, is A' (-offset) with each motor's
            own offsets of its joints.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., m), returned.

    Returns:
        Rotor angle of each motor (..., m) [rad], motor side.
    """
    return checked("q", q, coordinates(model), model.structure_matrix, model.motor_zeros, out)


def motor_speeds(model: GearedModel, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Rotor speed of each motor relative to its carrier: A' v (..., m) [rad/s], motor side.

    Args:
        model: Geared model.
        v: Joint velocity (..., n).
        out: Result array (..., m), returned.

    References:
        Chen 1998, eq. (12).
    """
    return checked("v", v, coordinates(model), model.structure_matrix, out=out)


def checked(
    name: str,
    value: ArrayLike,
    width: int,
    matrix: Array,
    added: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Convert an input (..., width) to float64 and return input @ matrix + added, in ``out``."""
    array = as_input(name, value, width)
    with np.errstate(over="ignore", invalid="ignore"):
        result = array @ matrix
        if added is not None:
            result = result + added
    refuse_infinite(name, array, result)
    return deliver(np.asarray(result), out, {name: value})


def refuse_infinite(name: str, array: Array, result: Array) -> None:
    """Raise for NaN and infinity in an input or in what it gives."""
    # Squares summed are finite only if every number is: a quick look that settles most calls.
    if math.isfinite(np.vdot(array, array) + np.vdot(result, result)):
        return
    if not np.isfinite(array).all():
        raise ArrayError(name, "contains NaN or infinity", "give finite numbers")
    if not np.isfinite(result).all():
        raise ArrayError(name, "is so large that the result overflows", "use SI units")
