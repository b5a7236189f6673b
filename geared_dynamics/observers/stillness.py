r"""Whether an encoder that shows the same for long can be that of a rotor that stands.

A rotor that stands within its friction bridges twice its level, no more: if its motors' torques
\tau change by more, in terms of the acceleration G \tau that they give it, then either a force on
its link changed by the same amount in the same time, or the rotor moves and its encoder does not
say so. With unknown forces on all links no reading excludes the former. It is improbable, though:

- that the force would have to know the torque: what the observer adds to the model's acceleration
  of the rotor, p, by its estimate d of the force, G B^+ d, and by its correction of the rate,
  changes as the torque does, and against it, though the model expects no change of it;
- that the prediction, which does not know the torque to be held, is far off (``surprise``).

A torque that the model's own load explains (a feedforward that holds a joint while others move)
changes neither p nor the surprise. A load that the controller knows and the observer does not
changes both, but only as the motion of the other joints says (``beyond_load``), or, taken up at
rest, as its weight says of all motors (``taken_up``). After the start of an observer, and after
torques were missing, both are of its own errors: then a prediction says nothing before it has
been right for as long as readings are kept (``Health.unproven``).
"""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.polynomial import legendre

from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics.elastic.equations import spring_matrix
from geared_dynamics.dynamics.packing import columns_of
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import Limits
from geared_dynamics.observers.smoothness import ReadingHistory

LEAST = 10  # instants for which a reading must have been the same
LONG = 30  # instants from which on the newest torques count, too
ANSWER = 4e-3  # that a rotor needs to answer a torque [s]: before LONG the last ones do not count
DRIVEN = 5.0  # times its friction: so much a torque may change at a rotor that stands
DOUBT = 2.5  # times its friction: if torque and estimated force change by more it is doubted
AGAINST = 0.35  # of the opposite: so far the estimated force goes against the torque
LAGS = (12, 24, 48)  # instants over which torques are compared first, which is fast
DEGREE = 5  # of the polynomials that the other joints' motion is fitted with
INSTANTS = 24  # of that motion at which a load's forces are computed: as many as there is time for
SHOWN = 1e6  # [rad or m] Beyond it a reading is no motion, and its forces would overflow.
SUDDENLY = 2.0  # times what friction takes of its rate in a step: faster no rotor comes to rest
HEAVY = np.repeat([100.0, 30.0, 9.0], [1, 3, 6])  # so large a load may be [kg, kg m, kg m^2]
WEIGHT = 4  # numbers of a load that its weight depends on: mass and first moment
RESTED = 15.0  # levels of friction that the motion of an arm needs at most that nearly stands
ROUGHLY = 0.2  # of that need: so far it may be off
ASIDE = 4  # instants to both sides over which torques are averaged: measured ones are noisy
TURNED = 7.0  # deviations (two steps) by which a rotor may turn before its encoder shows it

NOWHERE = np.zeros(1, bool)
NOWHERE.setflags(write=False)


def held_acceleration(
    model: GearedModel, agility: Array, level: Array, deviations: Array
) -> Array:
    """What each rotor may be accelerated by without its encoder showing it (m,) [rad/s^2].

    By friction, and by what its spring takes while it turns by two steps of its encoder.
    Infinite where nothing states friction, or where that grows with the load.

    Args:
        model: Geared model with elastic joints.
        agility: What motors' torques accelerate the rotors by (m, m).
        level: Of the motors' friction at rest, motor side, where the model's is not larger
            (m,) [N m].
        deviations: Of the encoders, steps included (m,) [rad].
    """
    laws = model.motors.friction
    own = np.zeros(len(agility))
    np.add.at(own, laws.index, np.maximum(laws.coulomb, laws.static).max(axis=1))
    level = np.maximum(own, level)
    unknown = level == 0.0
    unknown[laws.index[laws.load > 0.0]] = True
    back = model.elastic_motor_map.inverse
    stiffness = back @ spring_matrix(model, model.elasticity.stiffness) @ back.T
    turned = np.abs(np.diag(agility @ stiffness)) * TURNED * deviations
    return np.asarray(np.where(unknown, np.inf, np.abs(agility) @ level + turned))


def carried(model: GearedModel, agility: Array) -> Array:
    """G B^+ (m, n): what forces on the joints, carried to resting rotors, accelerate these by."""
    return np.asarray(agility @ model.motor_map.inverse)


def doubted(
    past: ReadingHistory, row: Array, same: BoolArray, agility: Array, rub: Array, dt: float
) -> BoolArray:
    """Which readings stand still while torque and estimated force change by more than friction.

    Args:
        past: The readings before.
        row: These (c,), NaN where missing.
        same: Which are what they were (c,).
        agility: What motors' torques accelerate the readings by (c, m).
        rub: What friction does (c,).
        dt: Since the readings before [s].

    Returns:
        Truths (c,), or a single False for all.
    """
    if len(past.rows) < LEAST:
        return NOWHERE
    still = same & (past.rows[-LEAST] == row)
    if not still.any():
        return NOWHERE
    newest, most = past.torques[-1], DOUBT * rub
    for lag in LAGS:
        if lag <= len(past.torques):
            driven_now = still & (np.abs(agility @ (newest - past.torques[-lag])) > most)
            if driven_now.any():
                return np.array(
                    [
                        bool(there)
                        and driven(past, j, float(row[j]), agility[j], dt) > most[j]
                        and pulled(past, j, float(row[j])) > most[j]
                        for j, there in enumerate(driven_now)
                    ]
                )
    return NOWHERE


def driven(past: ReadingHistory, channel: int, value: float, agility: Array, dt: float) -> float:
    """By how much its motors' torques changed a channel's acceleration while it stood still.

    Zero where it has not stood for long enough.

    Args:
        past: The readings before.
        channel: Which one.
        value: What it shows.
        agility: What motors' torques accelerate it by (m,).
        dt: Of a step [s].
    """
    count, end = past.still(channel, value), len(past.torques)
    unanswered = ceil(ANSWER / dt - 1e-9) if count < LONG else 0
    since = past.torques[end - count : end - unanswered]
    if count < LEAST or not since:
        return 0.0
    return float(np.ptp(np.array(since) @ agility))


def countered(past: ReadingHistory, channel: int, value: float, agility: Array) -> bool:
    """Whether what the observer added went against the torques while a channel stood still.

    An observer that is wrong for another reason adds something else: correlations of -0.03 to 0.01
    have been seen, and -0.43 to -0.98 of encoders that were stuck.

    Args:
        past: The readings before.
        channel: Which one.
        value: What it shows.
        agility: What motors' torques accelerate it by (m,).
    """
    count = past.still(channel, value)
    given = np.array(past.torques[-count:]) @ agility
    added = np.array([pull[channel] for pull in past.pulls[-count:]])
    given, added = given - given.mean(), added - added.mean()
    return bool(given @ added < -AGAINST * np.sqrt((given @ given) * (added @ added)))


def pulled(past: ReadingHistory, channel: int, value: float) -> float:
    """The same of what the observer added to the model's acceleration."""
    count = past.still(channel, value)
    return float(np.ptp([pull[channel] for pull in past.pulls[-count:]])) if count else 0.0


def unmoved(past: ReadingHistory, channel: int, value: float, limits: Limits, dt: float) -> bool:
    """Whether a reading stands still under torques that friction does not explain.

    Args:
        past: The readings before.
        channel: Which one.
        value: What it shows.
        limits: What is believed.
        dt: Of a step [s].
    """
    agility, most = limits.agility[channel], DRIVEN * limits.rub[channel]
    return bool(
        driven(past, channel, value, agility, dt) > most
        and pulled(past, channel, value) > most
        and countered(past, channel, value, agility)
    )


def cut_short(past: ReadingHistory, channel: int, value: float, limits: Limits, dt: float) -> bool:
    """Whether a reading came to its value faster than friction stops a rotor.

    Args:
        past: The readings before.
        channel: Which one stands still.
        value: What it shows.
        limits: What is believed.
        dt: Of a step [s].
    """
    first = len(past.rows) - past.still(channel, value) - 1
    if first < 0:
        return False
    step = abs(value - float(past.rows[first][channel]))
    return step > SUDDENLY * float(limits.rub[channel]) * dt * dt


def more_than_load(past: ReadingHistory, channel: int, value: float, limits: Limits) -> bool:
    """Whether ``beyond_load`` is more than a doubt; so it is where friction is unknown."""
    rub, agility = float(limits.rub[channel]), limits.agility[channel]
    if rub == np.inf:
        return True
    return beyond_load(past, channel, value, agility, rub, limits.arm) > DOUBT * rub


# Torques that no motor has overflow: nothing explains them.
@np.errstate(over="ignore", invalid="ignore")
def taken_up(past: ReadingHistory, limits: Limits) -> bool:
    """Whether a load that an arm takes up, or sets down, while it stands is all that changed.

    Its weight p(t) = (m, m c), on links at the ends of the arm, may change as it likes. But the
    torques of all motors change with it, in the posture q by

        B^+ Y(q, 0, 0) p(t)

    beside what the model needs for the little that the joints move, ``RESTED`` levels of friction
    at most. The most likely p of each instant (deviations ``HEAVY``, and one level of each motor
    for the rest) leaves no motor's torque changed by more than one level, and the part
    ``ROUGHLY`` of that need, as encoders show an acceleration badly. Torques are ``averaged``.

    Args:
        past: The readings before.
        limits: What is believed.
    """
    model, motors = limits.arm, len(limits.arm.motor_names)
    agility, rub = limits.agility[:motors], limits.rub[:motors]
    if np.any(rub == np.inf):
        return False
    motion = joint_motion(past, model, len(past.rows))
    if motion is None:
        return False
    some, q, v, a = motion
    levels = agility / rub[:, None]
    along = levels @ model.motor_map.inverse
    needed = inverse_dynamics(model, q, v, a) @ along.T
    need = np.ptp(needed, axis=0).max()
    if need > RESTED:
        return False
    none = np.zeros(model.n)
    ends = columns_at_ends(model, WEIGHT)
    weight = along @ regressor(model, q.mean(axis=0), none, none)[:, ends]
    weight *= np.tile(HEAVY[:WEIGHT], len(ends) // WEIGHT)
    left = averaged(np.array(past.torques))[some] @ levels.T - needed
    unknown = weight.T @ weight + np.eye(len(ends))
    left -= left @ weight @ np.linalg.solve(unknown, weight.T)
    return bool(np.ptp(left, axis=0).max() <= 1.0 + ROUGHLY * need)


def averaged(rows: Array) -> Array:
    """Means of rows (k, m) over ``ASIDE`` to both sides, fewer at the ends."""
    sums = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    places = np.arange(len(rows))
    first, last = np.maximum(places - ASIDE, 0), np.minimum(places + ASIDE + 1, len(rows))
    return np.asarray((sums[last] - sums[first]) / (last - first)[:, None])


def columns_at_ends(model: GearedModel, each: int = len(HEAVY)) -> list[int]:
    """The first columns of each link at an end of the arm in the regressor."""
    parents = model.tree.parent
    bodies = enumerate(columns_of(model).bodies)
    return [first + k for b, first in bodies if b not in parents for k in range(each)]


def beyond_load(
    past: ReadingHistory,
    channel: int,
    value: float,
    agility: Array,
    rub: float,
    model: GearedModel,
) -> float:
    """The lesser of ``driven`` and ``pulled`` without what a load explains.

    A load p (m, m c, I) on a link at an end of the arm, that only the controller knows, changes
    torque and estimated force alike, each by a multiple of

        g' Y(q, v, a) p less its mean,

    g what forces on the joints accelerate the channel by, with the motion of the other joints as
    their encoders show it. The most likely such load is taken out, of the torque less what the
    model needs for that motion, and of the force: as if loads had the deviations ``HEAVY``, and
    the rest that of friction.

    Args:
        past: The readings before.
        channel: Which one stands still.
        value: What it shows.
        agility: What motors' torques accelerate it by (m,).
        rub: What friction does.
        model: The arm.
    """
    count = past.still(channel, value)
    motion = joint_motion(past, model, count, (channel, value))
    if motion is None:
        return 0.0
    some, q, v, a = motion
    ends = columns_at_ends(model)
    along = agility @ model.motor_map.inverse
    loads = np.einsum("n,knc->kc", along, regressor(model, q, v, a)[:, :, ends])
    given = (
        np.array(past.torques[-count:])[some] @ agility - inverse_dynamics(model, q, v, a) @ along
    )
    added = np.array([pull[channel] for pull in past.pulls[-count:]])[some]
    left, loads = (x - x.mean(axis=0) for x in (np.column_stack([given, added]), loads))
    loads *= np.tile(HEAVY, len(ends) // len(HEAVY)) / rub
    left -= loads @ np.linalg.solve(loads.T @ loads + np.eye(len(ends)), loads.T @ left)
    return float(np.ptp(left, axis=0).min())


def joint_motion(
    past: ReadingHistory,
    model: GearedModel,
    count: int,
    standing: tuple[int, float] | None = None,
) -> tuple[IntArray, Array, Array, Array] | None:
    """Position, velocity, acceleration (k, n) of the joints over the newest instants, and which.

    None where an encoder has shown nothing in that time, or what no arm does.

    Args:
        past: The readings before.
        model: The arm.
        count: Of the instants.
        standing: A channel that stands still, and what it shows.
    """
    if count < LEAST:
        return None
    times, motors = np.array(past.times[-count:]), len(model.motor_names)
    rows = np.array([row[:motors] for row in past.rows[-count:]])
    if standing is not None:
        rows[:, standing[0]] = standing[1]
    here = np.isfinite(rows)
    if not here.all():
        if not here.any(axis=0).all():
            return None
        for column, there in zip(rows.T, here.T, strict=True):
            column[~there] = np.interp(times[~there], times[there], column[there])
    if np.abs(rows).max() > SHOWN:
        return None
    scale = 2.0 / (times[-1] - times[0])
    s = scale * (times - times[0]) - 1.0
    degree = min(DEGREE, count // 4)
    fitted = legendre.legfit(s, rows @ model.motor_map.inverse, degree)
    some = np.unique(np.linspace(0, count - 1, min(count, INSTANTS)).astype(np.int64))
    at = s[some]
    q, v, a = (
        np.ascontiguousarray(scale**k * legendre.legval(at, legendre.legder(fitted, k)).T)
        for k in range(3)
    )
    return some, q, v, a
