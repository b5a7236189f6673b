"""Which readings to believe, and for how long to go on without them.

A reading is left out where it is missing, where it is farther from its prediction than a motion
can bring it (``JUMP``), and where it stays the same while the prediction moves on (``STUCK``).
Prediction bridges what is left out for a stated time; then the reading is lost, and if it is
one of a motor's encoder the whole estimate is held, invalid, until the observer starts anew.

A jump is also what leaps at once, from where it was as predicted to where no sudden force brings
it: beyond ``gate`` standard deviations and ``floor`` + ``sudden`` t^2 / 2, t since it was believed
last, and beyond ten times the differences of the last instants (a push grows through a
spring with t^4, uneven stamps make uneven readings). A force that was harder still goes on to move
the reading: one whose difference grows by half within the next instants is believed again. One
that stays where it leapt must leap back.
"""

from __future__ import annotations

from enum import IntFlag
from math import ceil, exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray, real
from geared_dynamics.errors import ArrayError

FORGET = 0.01  # Within this time the prediction must move on for a reading to be stuck [s].
SHORTEST = 1e-6  # A step's length below this is none: two stamps of one instant [s].
GROWTH = 10.0  # From one instant to the next a difference that is no leap grows by no more.
RECENT = 0.03  # So long differences are remembered for that [s].
DECIDE, INSTANTS = 0.005, 3  # So long [s], or so many instants, a leap may turn out a motion.


class Fault(IntFlag):
    """What is wrong with a reading, or with a step.

    MISSING, JUMP, STUCK, LOST are of a reading; the others of a step. INTERVAL: dt is not a time
    of a microsecond or more; nothing was done. GAP: dt is longer than what prediction may
    bridge. COMMAND: a motor's torque is missing; the last one was used. HELD: the estimate is
    held and invalid. SETTLING: so soon after the start readings are not judged. DIVERGED: the
    prediction left all bounds.
    """

    NONE = 0
    MISSING = 1
    JUMP = 2
    STUCK = 4
    LOST = 8
    INTERVAL = 16
    GAP = 32
    COMMAND = 64
    HELD = 128
    SETTLING = 256
    DIVERGED = 512


class Limits(NamedTuple):
    """What is believed, and how long prediction bridges.

    Attributes:
        enabled: Which readings are used at all (c,).
        required: Without which the estimate is invalid (c,): the motors' encoders.
        jump: Farthest from its prediction a reading may be (c,), in its unit; with a wider
            covariance ``gate`` standard deviations.
        floor: So far from it a reading may leap at once (c,), in its unit, at most ``jump``, and
        sudden: by an acceleration of so much that nobody foresaw (c,), its unit / s^2.
        stuck: How far the prediction may move while the reading stays the same (c,).
        gate: See ``jump``.
        hold: For how long prediction bridges [s].
        longest: Longest step of the prediction; longer ones are divided [s].
        settle: For how long after the start all readings are believed [s].
    """

    enabled: BoolArray
    required: BoolArray
    jump: Array
    floor: Array
    sudden: Array
    stuck: Array
    gate: float
    hold: float
    longest: float
    settle: float


class Health(NamedTuple):
    """What the observer knows of its inputs.

    Attributes:
        valid: Whether the estimate may be used.
        faults: Of the last step, all together.
        channels: Faults of each reading in the last step (c,).
        reading: The last readings (c,).
        silent: Since when each reading has been left out (c,) [s].
        travel: How far the prediction moved since the reading changed (c,).
        apart: How far believed readings were from their predictions of late (c,): the farthest,
            forgotten exponentially.
        away: Reading less prediction when it leapt, of those that leapt away and not back (c,);
            0 of others.
        tau_m: The last known torque of the motors (m,) [N m].
        uncommanded: Since when it has been missing [s].
        age: Since the start [s].
    """

    valid: bool
    faults: Fault
    channels: IntArray
    reading: Array
    silent: Array
    travel: Array
    apart: Array
    away: Array
    tau_m: Array
    uncommanded: float
    age: float


def healthy(readings: Array, tau_m: Array) -> Health:
    """Health at the start."""
    zero = np.zeros(len(readings))
    torque = np.where(np.isfinite(tau_m), tau_m, 0.0)
    channels = np.zeros(len(readings), np.int64)
    return Health(True, Fault.NONE, channels, readings, zero, zero, zero, zero, torque, 0.0, 0.0)


def parts(dt: float, limits: Limits) -> tuple[Fault, int]:
    """What is wrong with a step's length, and in how many steps to predict it.

    Raises:
        ArrayError: where it is no number at all.
    """
    try:
        dt = real(dt)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError("dt", f"is {dt!r}", "give a time [s]") from None
    if not dt >= SHORTEST or dt == np.inf:
        return Fault.INTERVAL, 0
    if dt > limits.hold:
        return Fault.GAP, 0
    return Fault.NONE, max(1, ceil(dt / limits.longest - 1e-9))


def held(health: Health, faults: Fault) -> Health:
    """Health of an estimate that is held: no longer valid, with what else was wrong."""
    return health._replace(valid=False, faults=faults | Fault.HELD)


def commanded(health: Health, limits: Limits, tau_m: Array, dt: float) -> tuple[Health, bool]:
    """Fill missing torques with the last known ones; whether that may go on."""
    known = np.isfinite(tau_m)
    if known.all():
        return health._replace(tau_m=tau_m, uncommanded=0.0, faults=Fault.NONE), True
    torque, since = np.where(known, tau_m, health.tau_m), health.uncommanded + dt
    health = health._replace(tau_m=torque, uncommanded=since, faults=Fault.COMMAND)
    return health, since <= limits.hold


def screened(
    health: Health,
    limits: Limits,
    readings: Array,
    predicted: Array,
    moved: Array,
    deviation: Array,
    dt: float,
) -> tuple[Health, BoolArray]:
    """Health after a step, and which readings to use (c,).

    Args:
        health: Before.
        limits: What is believed.
        readings: As they came (c,).
        predicted: What they should be (c,).
        moved: By how much the prediction changed them in this step (c,).
        deviation: Standard deviation of their difference (c,).
        dt: Since the readings before [s].
    """
    here = np.isfinite(readings) & limits.enabled
    apart = np.where(here, readings - predicted, 0.0)
    # What a prediction is always off by (friction at rest) must not add up for ever.
    travel = exp(-dt / FORGET) * health.travel + moved
    travel = np.where(readings == health.reading, travel, 0.0)
    stuck = np.abs(travel) > limits.stuck
    off, jump, away = np.abs(apart), np.zeros(len(here), bool), health.away
    if np.count_nonzero(off > limits.floor) or np.count_nonzero(away):
        # One that stays the same does not leap: it may be stuck.
        leaps = here & (readings != health.reading)
        step = np.where(leaps, np.abs(readings - health.reading - moved), 0.0)
        jump, away = jumped(health, limits, apart, step, deviation, dt)
        jump &= here & ~stuck
        away = np.where(stuck, health.away, away)
        off = np.where(jump, 0.0, off)
    if health.age < limits.settle:
        jump, stuck = np.zeros((2, len(here)), bool)
        off, away = np.zeros((2, len(here)))
        health = health._replace(faults=health.faults | Fault.SETTLING)
    enabled = limits.enabled
    lost = health.channels & Fault.LOST != 0
    used = here & ~(jump | stuck | lost)
    silent = np.where(used, 0.0, health.silent + dt)
    lost |= enabled & (silent > limits.hold)
    used &= ~lost
    channels = enabled * (
        Fault.MISSING * ~here + Fault.JUMP * jump + Fault.STUCK * stuck + Fault.LOST * lost
    )
    faults = health.faults | Fault(int(np.bitwise_or.reduce(channels)))
    reading = np.where(here, readings, health.reading)
    health = health._replace(
        faults=faults,
        channels=channels,
        reading=reading,
        silent=silent,
        travel=travel,
        apart=np.maximum(exp(-dt / RECENT) * health.apart, off),
        away=away,
        age=health.age + dt,
    )
    if np.any(lost & limits.required):
        health = held(health, faults)
    return health, used


def jumped(
    health: Health, limits: Limits, apart: Array, step: Array, deviation: Array, dt: float
) -> tuple[BoolArray, Array]:
    """Which readings are where no motion brings them (c,), and how far those leapt (c,).

    Args:
        health: Before.
        limits: What is believed.
        apart: Readings less their predictions (c,); 0 where missing.
        step: How much that changed since the readings before (c,), unsigned.
        deviation: Standard deviation of ``apart`` (c,).
        dt: Since the readings before [s].
    """
    wide, off, before = limits.gate * deviation, np.abs(apart), health.away
    far = np.maximum(limits.jump, wide)
    since = health.silent + dt
    near = np.minimum(far, np.maximum(wide, limits.floor + 0.5 * limits.sudden * since * since))
    most = np.minimum(far, near + GROWTH * health.apart)
    known = before != 0.0
    leapt = step > 0.5 * np.where(known, np.abs(before), off)
    jump = (off > far) | (leapt & (off > most))
    # A constant acceleration makes four times the difference of it in the second instant.
    grown = (apart * before >= 1.5 * before * before) & (off <= 5.0 * np.abs(before))
    grown &= (np.abs(before) <= far) & (health.silent <= max(DECIDE, INSTANTS * dt))
    back = (leapt & (off <= most)) | grown
    # The longer a reading is left out, the wider the gate: one that leapt must leap back.
    jump = np.where(known, ~back, jump)
    return jump, np.where(jump, np.where(leapt, apart, before), 0.0)
