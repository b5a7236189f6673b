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
changes neither p nor the surprise. After the start of an observer, and after torques were missing,
both are of its own errors: then a prediction says nothing before it has been right for as long as
readings are kept (``Health.unproven``).
"""

from __future__ import annotations

from math import ceil

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.elastic.equations import spring_matrix
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.smoothness import ReadingHistory

LEAST = 10  # instants for which a reading must have been the same
LONG = 30  # instants from which on the newest torques count, too
ANSWER = 4e-3  # that a rotor needs to answer a torque [s]: before LONG the last ones do not count
DRIVEN = 5.0  # times its friction: so much a torque may change at a rotor that stands
DOUBT = 2.5  # times its friction: if torque and estimated force change by more it is doubted
AGAINST = 0.35  # of the opposite: so far the estimated force goes against the torque
LAGS = (12, 24, 48)  # instants over which torques are compared first, which is fast
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
