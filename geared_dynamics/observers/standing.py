"""Friction that sticks, and friction at rest without a reading of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike, BoolArray, IntArray
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.arguments import above_zero, each
from geared_dynamics.dynamics.elastic.equations import spring_matrix, structure_matrix
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels.observer_layout import FIELDS, GROUPS, HEAD, WINDOWS
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import ROTOR_SMOOTHING, FrictionLaws
from geared_dynamics.observers.pole_assignment import (
    MeasuredCoordinates,
    bounded,
    correction,
    partial,
)
from geared_dynamics.observers.readings import ObservedArm
from geared_dynamics.observers.smoothness import ReadingHistory

# -- Friction that sticks: a predicted step, which laws stand, and what encoders then show --------
#
# Friction of a rotor that stands is any number within its level, so that its encoder shows nothing
# of the rotor's spring. A law counts as standing while its rate is below
#
#     min( 10 \rho, 3 level / (B w) ),    at least what the encoder tells from rest,
#
# \rho the rate that smooths its sign, B the inertia at it, w the observer's rate: ten times \rho,
# or what its friction takes away within three of the observer's decay times. Where the level
# falls with the speed (Stribeck) by more than the observer can follow, up to 2.5 times that
# speed.
#
# Of a shaft whose rotor stands the correction moves the rotor alone, and its link is
# predicted. A link that stands beside a rotor that slides is shown by the rotor; the gain is that
# of an arm in which friction keeps the link's rate.


SLOW = 10.0  # Below so many smoothing rates friction is not given by its law.
STOPPED = 3.0  # Or where it stops the rotor within so many of the observer's decay times.
LEAVE = 1.3  # A law that stands goes on to stand up to this part of the limit.
FALL, STRIBECK = 0.5, 2.5  # The same where its level falls with the speed; see above.
CLEAR = 5.0  # Deviations of an innovation that the standing rotor's encoder may show.


class StandingStep(NamedTuple):
    """A predicted step, e friction laws: joints', then rotors'.

    Attributes:
        mean: State (2N,) at its end.
        acceleration: At its beginning, without what multiplies a rate's sign (N,).
        lost: What that friction changed (2N,).
        phi: Of the arm without it (2N, 2N).
        whole: Exp of the same (2N, 2N).
        spread: What a unit force of each law changes (e, 2N).
        slope: Of the friction by the mean rate over the step (e,).
        held: Whether friction holds the rate (e,).
        speed: Rates at the end (e,).
        response: Their change by a unit force (e,).
        level: Friction's largest level (e,).
        stay: Part of its rate that a standing rotor keeps (e,).
        dt: [s].
    """

    mean: Array
    acceleration: Array
    lost: Array
    phi: Array
    whole: Array
    spread: Array
    slope: Array
    held: Array
    speed: Array
    response: Array
    level: Array
    stay: Array
    dt: float


def predicted(
    arm: ObservedArm,
    mean: Array,
    tau_m: Array,
    tau: Array,
    dt: float,
    stay: Array | None = None,
) -> StandingStep | None:
    """A step of the model from a state (2N,); None where it diverges.

    Args:
        arm: The arm, packed.
        mean: State (2N,).
        tau_m: Of the motors (m,) [N m].
        tau: Known force on the joints (n,) [N m or N].
        dt: [s].
        stay: Part of its rate that a standing rotor keeps (e,); 1 where not given.
    """
    N, e = arm.sizes.coordinates, law_count(arm.model)
    stay = np.ones(e) if stay is None else stay
    given = np.concatenate([tau_m, arm.known_force(tau, mean), [dt], stay])
    square, width = 4 * N * N, 2 * N
    out = np.empty(5 * N + 2 * square + e * (width + FIELDS))
    if kernels.observer_sliding(*arm.forms, mean, given, out) != 0:
        return None
    phi, whole, rest = 5 * N, 5 * N + square, 5 * N + 2 * square
    slope, held, speed, response, level = out[rest + e * width :].reshape(FIELDS, e)
    return StandingStep(
        out[:width],
        out[width : width + N],
        out[width + N : phi],
        out[phi:whole].reshape(width, width),
        out[whole:rest].reshape(width, width),
        out[rest : rest + e * width].reshape(e, width),
        slope,
        held,
        speed,
        response,
        level,
        stay,
        dt,
    )


def law_count(model: GearedModel) -> int:
    """Number of friction laws, e."""
    return model.joint_friction.count + model.motors.friction.count


def rows(model: GearedModel) -> Array:
    """Rates of the laws by x' (e, N)."""
    joints, rotors = model.joint_friction, model.motors.friction
    A = structure_matrix(model)
    found = np.zeros((law_count(model), len(A)))
    found[np.arange(joints.count), joints.index] = joints.multiplier
    found[joints.count :] = A.T[rotors.index]
    return found


def stands(
    model: GearedModel,
    step: StandingStep,
    rate: float,
    before: BoolArray,
    innovation: Array,
    expected: Array,
    dt: float,
) -> BoolArray:
    """Which laws stand at the end of a step (e,).

    Args:
        model: Geared model.
        step: Predicted.
        rate: Of the observer, w [1/s].
        before: Which stood so far (e,).
        innovation: Readings less their predictions (m,) [rad].
        expected: Standard deviation of those (m,) [rad].
        dt: Between readings [s].
    """
    joints, rotors = model.joint_friction, model.motors.friction
    count = joints.count
    doubt = np.zeros(len(step.level))
    doubt[count:] = CLEAR * expected[rotors.index]
    smooth = np.concatenate([joints.smoothing, rotors.smoothing])
    taken = step.level * step.response / (step.dt * rate)  # level / (B w)
    limit = np.minimum(np.maximum(SLOW * smooth, doubt / dt), STOPPED * taken)
    falls = np.concatenate([joints.static - joints.coulomb, rotors.static - rotors.coulomb])
    if np.count_nonzero(falls):
        speed = np.concatenate([joints.stribeck_speed, rotors.stribeck_speed])
        quick = falls.max(axis=1) * step.response > FALL * rate * step.dt * speed
        limit = np.where(quick, np.maximum(limit, STRIBECK * speed), limit)
    found = np.abs(step.speed) < np.where(before, LEAVE, 1.0) * limit
    # Of a rotor that does not go where friction would hold it the law is not in doubt.
    found[count:] &= np.abs(innovation[rotors.index]) < limit[count:] * dt + doubt[count:]
    return np.asarray(found)


def alone(model: GearedModel, coordinates: IntArray, standing: BoolArray) -> BoolArray:
    """Which seen coordinates are corrected without what is behind them (c,).

    Args:
        model: Geared model.
        coordinates: Indices in x of those that the encoders tell (c,).
        standing: Which laws stand (e,).
    """
    joints, rotors = model.joint_friction, model.motors.friction
    still = rotors.index[standing[joints.count :]]
    found = np.any(structure_matrix(model)[np.ix_(coordinates, still)] != 0.0, axis=1)
    still_links = np.isin(coordinates, joints.index[standing[: joints.count]])
    return np.asarray(found | still_links)


def retained_rates(model: GearedModel, used: BoolArray) -> Array:
    """Part of its rate that each law keeps where it stands (e,).

    A rotor's rate is measured: friction holds what it has, be it a creep. Without its reading it
    comes to rest.

    Args:
        model: Geared model.
        used: Which motors' readings are (m,).
    """
    stay = np.ones(law_count(model))
    stay[model.joint_friction.count :] = used[model.motors.friction.index]
    return stay


def fixed(model: GearedModel, step: StandingStep, standing: BoolArray) -> Array:
    """Derivative of a step (2N, 2N) in which the standing laws' rates keep what they are.

    F - V (R V)^+ (R F - R), with R the rates of those laws by z.
    """
    if not standing.any():
        return step.whole
    R = np.zeros((int(np.count_nonzero(standing)), len(step.whole)))
    R[:, R.shape[1] // 2 :] = rows(model)[standing]
    V, F = step.spread[standing].T, step.whole
    return np.asarray(F - V @ np.linalg.pinv(R @ V, rcond=1e-9) @ (R @ F - R))


def derivative(model: GearedModel, step: StandingStep) -> Array:
    """Derivative of a step by the state (2N, 2N), friction included.

    With f = s r of what slides, r its mean rate, and R z(dt) = stay R z of what friction holds.
    """
    F, R = step.whole, rows(model)
    held = step.held != 0.0
    rubs = held | (step.slope != 0.0)
    if not rubs.any():
        return F
    R, held = R[rubs], held[rubs]
    V = step.spread[rubs].T
    still = np.hstack([np.zeros_like(R), R])
    mean = np.hstack([R, np.zeros_like(R)]) / step.dt
    ended = still @ F - step.stay[rubs, None] * still
    moved = mean @ F - mean
    weight = np.where(held, 1.0, step.slope[rubs])[:, None]
    by_z = weight * np.where(held[:, None], ended, moved)
    by_f = weight * np.where(held[:, None], still @ V, mean @ V)
    by_f[~held] += np.eye(len(R))[~held]
    return np.asarray(F - V @ np.linalg.pinv(by_f, rcond=1e-12) @ by_z)


# A state far outside overflows; its gain is not finite, which who uses it sees.
@np.errstate(over="ignore", invalid="ignore")
def gain_of(
    model: GearedModel,
    at: MeasuredCoordinates,
    structure: Array,
    rate: float,
    steps: list[StandingStep],
    standing: BoolArray,
) -> tuple[Array, BoolArray]:
    """G (2N, c) on the seen coordinates, and which of them are corrected alone (c,).

    Args:
        model: Geared model.
        at: What the encoders tell.
        structure: What they show of x (m, N).
        rate: Of the observer, w [1/s].
        steps: Parts of the predicted step.
        standing: Which friction laws stand (e,).
    """
    dt = sum(step.dt for step in steps)
    if not standing.any():
        F = product([step.whole for step in steps])
        return correction(F, at, rate, dt), np.zeros(len(at.coordinates), bool)
    links = standing.copy()
    links[model.joint_friction.count :] = False
    F = product([fixed(model, step, links) for step in steps])
    whole = product([fixed(model, step, standing) for step in steps])
    apart, behind = alone(model, at.coordinates, standing), model.elasticity.joint
    gain = partial(F, at, apart, behind, rate, dt)
    closed = whole.copy()
    closed[:, : structure.shape[1]] -= whole @ gain @ at.inverse @ structure
    if not apart.all() and not bounded(whole, closed, rate, dt):
        apart = np.ones(len(apart), bool)
        gain = partial(F, at, apart, behind, rate, dt)
    return gain, apart


def product(parts: list[Array]) -> Array:
    """The later ones from the left."""
    return parts[0] if len(parts) == 1 else np.linalg.multi_dot(parts[::-1])


# -- Friction at rest as an observer without a reading of it has to count it ----------------------
#
# A rotor that stands still tells no more of the torque that its spring puts on it than that
# friction holds the difference to the motor's: any number within its level. The laws' levels and
# rows are laid out here for ``kernels.observer_linear``, which carries on what that makes wrong.


LOOK = 8  # Instants within which an encoder that moves shows it,
STILL = 5.0  # by more than so many deviations of its noise.


def stiction_rows(model: GearedModel, motors: ArrayLike | None, error: float) -> Array:
    """Level, smoothing, share in motion, motor and row over x of each law (p, HEAD + N).

    The motor's number is -1 of a joint's law.

    Args:
        model: Geared model with elastic joints.
        motors: Level of the motors' friction at rest (m,) or one [N m]; None for the model's.
        error: How far friction may be off in motion, as a part of that level.
    """
    n, N = model.n, model.n + model.elasticity.count
    share = above_zero("friction_error", error, "a fraction of the friction, 0 to 1", zero=True)
    if share > 1.0:
        raise ArrayError("friction_error", f"is {share:g}", "give a fraction from 0 to 1")
    A = elastic.structure_matrix(model)
    joints, rotors = model.joint_friction, model.motors.friction
    along = np.vstack([joints.multiplier[:, None] * np.eye(n, N)[joints.index], A.T])
    level, smoothing = stated_levels(model, motors), np.full(A.shape[1], ROTOR_SMOOTHING)
    smoothing[rotors.index] = rotors.smoothing
    levels = np.concatenate([largest(joints), level])
    smooth = np.concatenate([joints.smoothing, smoothing])
    motor = np.concatenate([np.full(joints.count, -1.0), np.arange(A.shape[1])])
    rows = np.column_stack([levels, smooth, np.full(len(levels), share), motor, along])
    return np.asarray(rows[levels > 0.0])


def stated_levels(model: GearedModel, motors: ArrayLike | None) -> Array:
    """Level of the motors' friction at rest (m,) [N m]: as stated, or else the model's."""
    if motors is None:
        return motor_levels(model)
    return each("stiction", motors, len(model.motor_names), "a torque [N m]", zero=True)


def motor_levels(model: GearedModel) -> Array:
    """Largest level of each motor's friction (m,) [N m], motor side."""
    level, laws = np.zeros(len(model.motor_names)), model.motors.friction
    np.maximum.at(level, laws.index, np.abs(laws.multiplier) * largest(laws))
    return level


def largest(laws: FrictionLaws) -> Array:
    """Largest level of each law, at rest or in motion, either way (k,)."""
    return np.asarray(np.maximum(laws.coulomb, laws.static).max(axis=1, initial=0.0))


def ringing(model: GearedModel, q: Array) -> Array:
    """Frequency of each joint on its springs with the motors at rest (n,) [rad/s].

    sqrt(K_j / M_j) of the diagonals at a posture; 0 of a rigid joint.
    """
    n = model.n
    K = np.diag(spring_matrix(model, model.elasticity.stiffness))[:n]
    return np.asarray(np.sqrt(K / np.diag(elastic.mass_matrix(model, q))[:n]))


def passing(stiction: Array, interval: float, age: float, dt: float, moving: BoolArray) -> Array:
    """What the kernel needs beside the step: interval now, whether it begins, and the laws.

    Args:
        stiction: Laws as of ``stiction_rows`` (p, HEAD + N).
        interval: In which the friction at rest is one number [s].
        age: At the end of the step [s].
        dt: Its length [s].
        moving: Which motors' readings are known to move, and any of them (m + 1,): a joint may
            move off where any motor does.
    """
    if not stiction.size:
        return np.zeros(0)
    now, before = int(age / interval), int((age - dt) / interval)
    laws = stiction.copy()
    laws[:, HEAD - 1] = moving[laws[:, HEAD - 1].astype(np.int64)]
    return np.concatenate([[float(now % WINDOWS), float(now != before)], laws.ravel()])


def in_motion(past: ReadingHistory, noise: Array) -> BoolArray:
    """Which motors' readings are not where they were some instants ago, and any (m + 1,).

    Args:
        past: The last readings, the motors' first.
        noise: Standard deviation of the motors' (m,) [rad].
    """
    m, before = len(noise), past.rows[max(-len(past.rows), -1 - LOOK)]
    found = np.empty(m + 1, bool)
    still = np.abs(past.rows[-1][:m] - before[:m]) <= STILL * noise  # a missing one moves
    np.logical_not(still, out=found[:m])
    found[m] = found[:m].any()
    return found


def no_rows(stiction: Array, size: int) -> Array:
    """Rows of no error yet (GROUPS p k,)."""
    return np.zeros(GROUPS * len(stiction) * size)
