"""Motion that motor torques cause, with gear losses and stiction."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeGuard, get_args

import numpy as np

from geared_dynamics.actuation.friction_elements import (
    ArmAtState,
    elements,
    plant_at,
    rough,
    warn_if_elastic,
)
from geared_dynamics.actuation.piecewise_linear import (
    COMPLIANCE,
    Pieces,
    PiecewiseSolution,
    Turned,
    UnknownColumns,
    columns,
    equations,
    follow,
    lossless,
    magnitudes,
    size,
    slope,
    start,
)
from geared_dynamics.arrays import Array, ArrayLike, BoolArray, IntArray
from geared_dynamics.checks import choice
from geared_dynamics.dynamics.arguments import (
    check_results,
    each_state,
    joint_inputs,
    motor_inputs,
    one_driven_state,
    real_number,
)
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

# -- Motion from the motors' torques: losses, friction and stiction included ----------------------


Mode = Literal["smooth", "exact"]
STARTS = 60  # tried where a gear locks itself
BAND = 1e-9  # rate below which an element is at rest, in its own units


class DrivenMotion(NamedTuple):
    """What the drives make the arm do at one state.

    Attributes:
        a: Joint acceleration (n,).
        transmitted: Torque m that each gear transmits (m,) [N m], motor side.
        joints_at_rest: Coordinates held by joint friction, by name.
        motors_at_rest: Motors held by rotor friction or by their gears, by name.
    """

    a: Array
    transmitted: Array
    joints_at_rest: tuple[str, ...]
    motors_at_rest: tuple[str, ...]


def motion_from_torque(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    torque: ArrayLike,
    *,
    external: ArrayLike | None = None,
    mode: Mode = "smooth",
    band: float = BAND,
) -> Array:
    """Joint acceleration that electromagnetic torques give: ``motor_commands`` the other way.

    Gear losses depend on the sign of the torque that each gear transmits, which depends on
    the acceleration; all equations are solved together, exactly (docs/actuation.md).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        torque: Electromagnetic torque k_t i of each motor (..., m) [N m].
        external: Joint force from outside (..., n) [N m or N], zero where not given.
        mode: ``smooth``: friction as control sees it, the inverse of ``motor_commands``;
            ``exact``: Coulomb friction with its jump, and stiction at rest.
        band: ``exact`` only: a joint or rotor with a rate within it is at rest, in its own
            units, and stays there until a force breaks it loose.

    Returns:
        Joint acceleration (..., n).

    Raises:
        ModelError: naming the motor whose gear jams: backdriven, and no acceleration
            satisfies the equations.
    """
    choose(mode)
    inputs = joint_inputs(model, q=q, v=v, external=external)
    warn_if_elastic(model, "motion_from_torque")
    inputs |= motor_inputs(model, torque=torque)
    lead, states = each_state(inputs)
    limit = limit_of(mode, band)
    rows = [motion_at(model, *state, band=limit).a for state in states]
    result = np.reshape(rows, (*lead, model.n))
    check_results(inputs, result)
    return result


def choose(mode: Mode) -> None:
    """Refuse a mode that does not exist."""
    choice("mode", "mode", mode, get_args(Mode))


def limit_of(mode: Mode, band: float) -> float | None:
    """The band of the exact mode, None for smooth friction."""
    remedy = "give a rate of zero or more"
    rate = real_number("band", band, remedy, lambda x: 0.0 <= x < np.inf)
    return rate if mode == "exact" else None


@np.errstate(over="ignore", invalid="ignore")
def motion_at(
    model: GearedModel,
    q: Array,
    v: Array,
    external: Array,
    torque: Array,
    *,
    band: float | None,
    way: Array | None = None,
) -> DrivenMotion:
    """Motion at one state; arguments as ``plant_at``. NaN where numbers overflow."""
    plant = plant_at(model, q, v, external, band, way)
    if linear(plant):
        return free_motion(model, plant, torque)
    at = columns(plant)
    x, signs = solve(model, plant, torque, at)
    stuck = resting_signs(signs, at)
    rest = plant.resting
    return DrivenMotion(
        x[at.a],
        x[at.m],
        names(model.joint_names, rest.joint[stuck]),
        names(model.motor_names, rest.motor[stuck]),
    )


def linear(plant: ArmAtState) -> bool:
    """Whether nothing rests, and neither friction nor a gear's loss depends on a load."""
    forward, backward = plant.toward.T
    pressed = plant.joint_slope.any() or np.any(forward != backward)
    return not (pressed or len(plant.resting.joint))


def free_motion(model: GearedModel, plant: ArmAtState, torque: Array) -> DrivenMotion:
    """Motion of a ``linear`` plant, whose gears transmit what they are given."""
    given = torque - plant.rotor_base
    force = plant.structure @ given - plant.free - plant.joint_base
    try:
        np.linalg.cholesky(plant.mass)  # fails where it is not positive definite
    except np.linalg.LinAlgError:
        raise jam(model, plant) from None
    a = np.asarray(np.linalg.solve(plant.mass, force), dtype=np.float64)
    return DrivenMotion(a, given - plant.rotors.rows @ a - plant.rotors.drift, (), ())


def solve(
    model: GearedModel, plant: ArmAtState, torque: Array, at: UnknownColumns
) -> PiecewiseSolution:
    """Solve the plant's equations, or say which gear jams."""
    pieces = equations(plant, torque, at, COMPLIANCE)
    found = first_way(pieces, plant, torque, at)
    if found is None:
        raise jam(model, plant)
    if not (resting_signs(found.signs, at).any() and np.isfinite(found.x).all()):
        return found
    return PiecewiseSolution(hold(equations(plant, torque, at, 0.0), found), found.signs)


def first_way(
    pieces: Pieces, plant: ArmAtState, torque: Array, at: UnknownColumns
) -> PiecewiseSolution | None:
    """Solution from the first start that leads to an acceptable one."""
    unique = not locking(plant)
    if unique:
        found = follow(pieces, lossless(pieces, at))
        if acceptable(found, pieces):
            return found
    begin = start(plant, torque, at)
    if not np.isfinite(size(magnitudes(pieces), begin)).all():
        return PiecewiseSolution(np.full(at.size, np.nan), np.ones(len(pieces.offsets)))
    found = follow(pieces, begin)
    if acceptable(found, pieces):
        return found
    return None if unique else search(pieces, begin)


def acceptable(found: PiecewiseSolution | Turned, pieces: Pieces) -> TypeGuard[PiecewiseSolution]:
    """Whether there is a solution, in which the torques accelerate the arm their own way.

    That is a positive determinant, as that of the lossless arm.
    """
    return isinstance(found, PiecewiseSolution) and bool(
        np.linalg.slogdet(slope(pieces, found.signs))[0] > 0.0
    )


def locking(plant: ArmAtState) -> bool:
    """Whether a gear locks itself: only then is the way not sure to lead to a solution."""
    least = plant.toward.min(initial=1.0)
    levels = plant.resting.slope[plant.resting.motor >= 0].max(initial=0.0)
    return bool(least <= 0.0 or levels >= 1.0)


def search(pieces: Pieces, begin: Array) -> PiecewiseSolution | None:
    """Follow the way from starts all around the usual one."""
    random = np.random.default_rng(0)  # the same starts in every call
    for _ in range(STARTS):
        found = follow(
            pieces, begin + 3.0 * (np.abs(begin) + 0.01) * random.normal(size=len(begin))
        )
        if acceptable(found, pieces):
            return found
    return None


def hold(pieces: Pieces, found: PiecewiseSolution) -> Array:
    """Solve again in the piece that was found, with elements that rest exactly.

    Where elements rest together their forces are not unique: the nearest to those found.
    """
    rest = pieces.linear @ found.x + pieces.constant
    rest += pieces.weights @ (found.signs * (pieces.planes @ found.x + pieces.offsets))
    step = np.linalg.lstsq(slope(pieces, found.signs), -rest, rcond=1e-12)[0]
    return np.asarray(found.x + step)


def resting_signs(signs: Array, at: UnknownColumns) -> BoolArray:
    """Which of the resting elements stay at rest (e,): z between -low and high."""
    above, below = signs[at.w.stop - at.w.start :].reshape(-1, 2).T
    return np.asarray((above < 0.0) & (below > 0.0))


def jam(model: GearedModel, plant: ArmAtState) -> ModelError:
    """The error that names the motor whose gear jams: the one worst to drive back."""
    if np.linalg.eigvalsh(plant.mass)[0] <= 0.0:
        finding = "is not positive definite at one of the positions"
        return ModelError("mass matrix", finding, "add inertia to the massless links or wheels")
    if not len(model.motor_names):
        return ModelError(
            "friction",
            "no acceleration satisfies the equations of motion",
            "reduce the 'load' coefficients of the friction laws",
        )
    worst = int(plant.toward.min(axis=1).argmin())
    name = model.motor_names[worst]
    backdriving = model.motors.efficiency[worst, 1]
    finding = (
        f"the gear jams: with backdriving efficiency {backdriving:g} no acceleration "
        "satisfies the equations of motion"
    )
    remedy = "drive it forward, let it stick (mode 'exact'), increase the rotor inertia, or stop "
    remedy += "the gear by gd.contact.jam"
    return ModelError(f"{model.drivetrain_source}, motors.{name}", finding, remedy)


def names(every: tuple[str, ...], index: IntArray) -> tuple[str, ...]:
    """Names at the indices, without -1 and without repetition."""
    return tuple(every[i] for i in sorted(set(index.tolist()) - {-1}))


# -- Friction with its jump at zero: what sticks, and what a step has stopped ---------------------
#
# At rest a joint's friction is any force between its two breakaway levels, and a gear's
# loss any torque between those of its two directions: with m > 0 what enters the gear lies
# between m eta_b and m / eta_d. A gear with eta_b <= 0 therefore holds any load at rest.


class Sticking(NamedTuple):
    """What moves and what rests under given torques.

    Attributes:
        a: Joint acceleration (n,).
        transmitted: Torque that each gear transmits (m,) [N m], motor side. Where a joint and
            its rotor rest together it is one of the possible ones.
        joints: Names of the coordinates that joint friction holds.
        motors: Names of the motors that rotor friction or the gear holds.
    """

    a: Array
    transmitted: Array
    joints: tuple[str, ...]
    motors: tuple[str, ...]


def sticking(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    torque: ArrayLike,
    *,
    external: ArrayLike | None = None,
    band: float = BAND,
) -> Sticking:
    """Say what sticks under given torques, and what the rest does: exact friction.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        torque: Electromagnetic torque of each motor (m,) [N m].
        external: Joint force from outside (n,) [N m or N].
        band: Rate within which a joint or a rotor is at rest, in its own units.

    Raises:
        ModelError: naming the motor whose gear jams.
    """
    inputs = joint_inputs(model, q=q, v=v, external=external)
    warn_if_elastic(model, "sticking")
    inputs |= motor_inputs(model, torque=torque)
    found = motion_at(model, *one_driven_state(inputs), band=limit_of("exact", band))
    check_results(inputs, found.a, found.transmitted)
    return Sticking(*found)


def stopped(model: GearedModel, q: Array, before: Array, after: Array, band: float) -> Array:
    """Velocity with every rough joint and rotor stopped whose rate has changed its sign.

    What rests goes on resting, and the others keep their momentum: the change is the
    smallest in the kinetic energy.

    Args:
        model: Geared model.
        q: Joint position (n,).
        before: Velocity at the step's beginning (n,).
        after: Velocity at its end (n,).
        band: What was within it was at rest.
    """
    rows = rough_rows(model)
    old, new = rows @ before, rows @ after
    reversed_ = (old * new < 0.0) & (np.abs(old) > band)
    if not reversed_.any():
        return after
    resting = (np.abs(old) <= band) & (np.abs(new) <= band)
    R = rows[reversed_ | resting]
    spread = np.linalg.solve(mass_matrix(model, q), R.T)
    impulse = np.linalg.lstsq(R @ spread, R @ after, rcond=1e-12)[0]
    result = after - spread @ impulse
    return np.asarray(np.where(np.abs(R).any(axis=0) & (np.abs(result) < band), 0.0, result))


def rough_rows(model: GearedModel) -> Array:
    """Rates, per joint rate, of what has any friction to stick with (e, n)."""
    every = elements(model)
    return every.rows[rough(every)]
