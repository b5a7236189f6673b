"""What is wrong with an observer's readings, whether it is valid, and whether it is consistent."""

from __future__ import annotations

from enum import IntFlag
from math import ceil, exp, pi, sqrt
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray, real
from geared_dynamics.errors import ArrayError, shown
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.pole_assignment import DEPTH
from geared_dynamics.observers.smoothness import EMPTY, KEPT, ReadingHistory

# -- Which readings to use, and for how long to go on without them --------------------------------
#
# A reading is left out where it is missing, where it does not go on from its own history
# (``JUMP``, see ``smoothness``), and where it stays the same while it, or the prediction, moves on
# (``STUCK``). Prediction bridges what is left out for a stated time; then the reading is lost, and
# if it is one of a motor's encoder the whole estimate is held, invalid, until the observer is
# started again.
#
# How far a reading is from its prediction does not matter: a prediction lags behind a push. An
# encoder that leapt is smooth again at once, but wrong by what it leapt, for good; it is used
# again only when its leaps add up to nothing. A leap that goes on, in the next instant, by more
# than half of itself was a motion: a sudden force on a rotor without a spring, or one at a low
# rate.


BEHIND = 6.0  # Deviations by which a prediction that does not lag behind is off at most.
FLOOR = 50.0  # Standard deviations of a reading that are no leap; its noise makes 8.4 of it.
SHORTEST = 1e-6  # A step's length below this is none: two stamps of one instant [s].


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
        jump: Farthest from its prediction a reading may be (c,), in its unit, as long as it has
            no history of its own; with a wider covariance ``gate`` standard deviations.
        floor: So far a reading may be off its own history (c,), in its unit, and
        sudden: by an acceleration of so much that begins at once (c,), its unit / s^2.
        agility: What motors' torques accelerate the readings by (c, m), its unit / s^2 / N m.
        rub: What a resting rotor's friction hides of its acceleration (c,), its unit / s^2;
            infinite where the model does not say (``stillness``).
        carried: What forces on the joints, carried to resting rotors, accelerate the readings
            by (c, n), its unit / s^2 / N m.
        arm: Whose links a load may hang on that the observer does not know (``stillness``).
        stuck: How far the prediction may move while the reading stays the same (c,).
        gate: See ``jump``.
        hold: For how long prediction bridges [s].
        longest: Longest step of the prediction; longer ones are divided [s].
        settle: For how long after the start all readings are used [s].
    """

    enabled: BoolArray
    required: BoolArray
    jump: Array
    floor: Array
    sudden: Array
    agility: Array
    rub: Array
    carried: Array
    arm: GearedModel
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
        silent: For how long each reading has been left out (c,) [s]; 0 while it is used.
        travel: How far the prediction moved since the reading changed (c,).
        unproven: For how many instants each prediction must still be right (c,), or a single 0,
            since the start, or since a torque was missing, to be a reason to call one stuck.
        past: The last readings.
        off: How far each was off its own history (c,), NaN where it had none.
        rough: The same of late (c,): the farthest, forgotten exponentially.
        away: What the leaps add up to of those that leapt (c,); 0 of others.
        unsure: Readings since a pause, of those for which these do not yet show whether they
            leapt in it (c,); 0 of others.
        doubtful: Whether any reading was left out in the last step.
        surprise: How many deviations each was off its prediction of late (c,): the farthest,
            forgotten exponentially.
        pull: What the observer added to the model's acceleration of the readings (c,), by its
            estimated external force, as ``Limits.carried`` says, and by its correction.
        tau_m: The last known torque of the motors (m,) [N m].
        uncommanded: For how long it has been missing [s].
        age: Since the start [s].
    """

    valid: bool
    faults: Fault
    channels: IntArray
    reading: Array
    silent: Array
    travel: Array
    unproven: IntArray
    past: ReadingHistory
    off: Array
    rough: Array
    away: Array
    unsure: IntArray
    doubtful: bool
    surprise: Array
    pull: Array
    tau_m: Array
    uncommanded: float
    age: float

    @property
    def behind(self) -> bool:
        """Whether the estimate lags behind its readings, by more than its deviations say.

        So it is after a push, until it has followed: the links may be off by more than in
        proportion, because the motors feel them late.
        """
        return bool(np.any(self.surprise > BEHIND))


def healthy(readings: Array, tau_m: Array) -> Health:
    """Health at the start."""
    zero = np.zeros(len(readings))
    torque = np.where(np.isfinite(tau_m), tau_m, 0.0)
    none = np.zeros(len(readings), np.int64)
    past = EMPTY.after(0.0, np.where(np.isfinite(readings), readings, np.nan), zero, torque, zero)
    return Health(
        valid=True,
        faults=Fault.NONE,
        channels=none,
        reading=readings,
        silent=zero,
        travel=zero,
        unproven=np.full(len(readings), KEPT),
        past=past,
        off=zero,
        rough=zero,
        away=zero,
        unsure=none,
        doubtful=False,
        surprise=zero,
        pull=zero,
        tau_m=torque,
        uncommanded=0.0,
        age=0.0,
    )


def parts(dt: float, limits: Limits) -> tuple[Fault, int]:
    """What is wrong with a step's length, and in how many steps to predict it.

    Raises:
        ArrayError: where it is no number at all.
    """
    try:
        dt = dt if type(dt) is float else real(dt)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError("dt", f"is {shown(dt)}", "give a time [s]") from None
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


# -- Whether innovations are as large as they should be; one event does not spoil the judgement ---
#
# The normalised innovation squared of u readings is chi squared with u degrees of freedom where
# model and tuning are right: above its median in half of all instants. ``ratio`` is twice the
# share of instants above it, forgotten with a window. However large one push makes a few
# innovations, they count as a few instants; a model that is wrong all the time is above the
# median nearly always.


# Above this many standard deviations of its own the share is not chance.
CHANCE = 5.0


def median(used: int) -> float:
    """Median of chi squared with ``used`` degrees of freedom (Wilson and Hilferty 1931)."""
    return used * (1.0 - 2.0 / (9.0 * used)) ** 3


def updated_ratio(ratio: float, nis: float, used: int, part: float) -> float:
    """Twice the share of instants above the median, 1 to 2, after one more instant.

    It does not fall below 1: an arm at rest must not save up for what comes when it moves.

    Args:
        ratio: Before.
        nis: Normalised innovation squared of the instant.
        used: How many readings it sums over; 0 changes nothing.
        part: The instant's time as a part of the window.
    """
    if not used:
        return ratio
    return max(1.0, ratio + min(1.0, part) * (2.0 * (nis > median(used)) - ratio))


def most_by_chance(instants: float) -> float:
    """Largest ratio that chance explains, over so many instants in the window.

    The share of independent instants has the variance 1/4 / (2 instants) where it is forgotten
    exponentially; the ratio is twice as large.
    """
    return 1.0 + CHANCE / sqrt(2.0 * max(instants, 1.0))


def coloured(wanted: float) -> float:
    r"""Standard deviation of an innovation by that of its reading, at most.

    Of the nonlinear observer white noise \sigma on the encoders makes innovations of at most

        \sigma^2 mean over \omega of |(1 - e^{-i \omega}) / (1 - r e^{-i \omega})|^8, r = e^{-w dt}

    the variance of a chain of integrators with its four roots at r.

    Args:
        wanted: Decay of the error in a step, w dt.
    """
    turn = np.cos(np.linspace(0.0, pi, 2001))
    r = exp(-wanted)
    share = (2.0 - 2.0 * turn) / (1.0 + r * r - 2.0 * r * turn)
    return float(np.sqrt(np.mean(share**DEPTH)))


# -- Sensors on the links that come back ----------------------------------------------------------


def with_sensors_restored(health: Health, limits: Limits) -> Health:
    """Health in which lost readings that were there and plausible in the last step count again.

    The motors' encoders are not among them: without one the estimate was held, and the observer
    starts again. A reading that jumped and stays away from its prediction stays lost.

    Args:
        health: After a step.
        limits: What is believed.
    """
    back = (health.channels == Fault.LOST) & limits.enabled & ~limits.required
    if not back.any() or not health.valid:
        return health
    return health._replace(
        channels=np.where(back, 0, health.channels),
        silent=np.where(back, 0.0, health.silent),
    )
