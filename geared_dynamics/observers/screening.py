"""Which readings to use in a step: each is judged by its own history (``smoothness``).

All that go on as they should pass at once, in arrays; the others are examined one by one.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, IntArray
from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.observers import stillness
from geared_dynamics.observers.health import (
    BEHIND,
    FLOOR,
    Fault,
    Health,
    Limits,
    commanded,
    held,
    parts,
)
from geared_dynamics.observers.readings import Sizes, inputs
from geared_dynamics.observers.smoothness import KEPT, ORDER, PROVEN, extended, leap

FORGET = 0.01  # Within this time the prediction must move on for a reading to be stuck [s].
RECENT = 0.03  # How rough a reading is, is remembered for that [s],
ROUGH = 3.0  # and it may be so many times as rough.
STILL = 3  # So many readings of before must be the same, too, for one to be stuck.
SHARE = 0.5  # Where fewer than LONG are, no other may have more than that part of its surprise.
DOUBTED = 1.5 * BEHIND  # Deviations that a doubted reading (``stillness``) has at least.
STALE = 0.6  # of ``floor``: so far off its history a reading that stays the same is an old one.
CALM = 0.6  # of ``floor``: so rough noise alone is
SHORT = 6.0  # A pause is so short that the cubic over it is off by no more than so many times.
GROWN = 1.5  # A leap that goes on by so much of itself in the next instant was a motion.
LATER = (0.2, 0.5)  # Of a leap that is noticed in its second instant, 1/3 was in its first.


class ScreenedReadings(NamedTuple):
    """Readings of a step.

    Attributes:
        row: As they came, NaN where missing (c,).
        same: Whether they are what they were (c,).
        stuck: Whether the prediction moved on meanwhile (c,).
        off: How far off their own history (c,), NaN where they have none.
        most: How far they may be (c,).
        apart: How far from their predictions (c,), unsigned.
        wide: How far that may be (c,).
        time: Of the step's end [s].
        dt: Its length [s].
    """

    row: Array
    same: BoolArray
    stuck: BoolArray
    off: Array
    most: Array
    apart: Array
    wide: Array
    time: float
    dt: float


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
        health: Before, with the torques of this step.
        limits: What is accepted.
        readings: As they came (c,).
        predicted: What they should be (c,).
        moved: By how much the prediction changed them in this step (c,).
        deviation: Standard deviation of their difference (c,).
        dt: Since the readings before [s].
    """
    here = np.isfinite(readings) & limits.enabled
    row = np.where(here, readings, np.nan)
    same = readings == health.reading
    # What a prediction is always off by (friction at rest) must not add up for ever.
    travel = np.where(same, exp(-dt / FORGET) * health.travel + moved, 0.0)
    apart, kept, before = np.abs(row - predicted), exp(-dt / RECENT), health
    surprise, unproven = np.fmax(kept * health.surprise, apart / deviation), health.unproven
    if health.faults & Fault.COMMAND:
        unproven, travel = np.full(len(row), KEPT), 0.0 * travel
    elif unproven is not PROVEN:
        unproven = np.where(surprise > BEHIND, KEPT, np.maximum(unproven - 1, 0))
        travel = np.where(unproven, 0.0, travel)
        unproven = unproven if unproven.any() else PROVEN
    stuck, past, time = np.abs(travel) > limits.stuck, health.past, health.age + dt
    most = limits.floor + (0.5 * dt * dt) * limits.sudden
    if past.even(dt):
        off, untrue = past.residual(row, health.tau_m, limits.agility, dt)
        most += untrue
    else:
        past, off = past.paused(), np.full(len(row), np.nan)
    if health.faults & Fault.COMMAND:  # a torque that is guessed
        most += (dt * dt) * (np.abs(limits.agility) @ np.abs(health.tau_m))
    most, size = np.maximum(most, ROUGH * health.rough), np.abs(off)
    fine = (size <= np.where(same, STALE * limits.floor, most)) & ~stuck
    rough = kept * health.rough
    doubt = stillness.doubted(past, row, same, limits.agility, limits.rub, dt)
    if doubt.any():
        surprise = np.where(doubt, np.fmax(surprise, DOUBTED), surprise)
    health = health._replace(travel=travel, unproven=unproven, off=off, age=time)
    if before.age < limits.settle:
        flags = np.where(here, 0, int(Fault.MISSING))
        rough = np.fmax(rough, size)
        past = past.after(time, row, surprise, health.tau_m, health.pull)
        health = health._replace(faults=health.faults | Fault.SETTLING, past=past, rough=rough)
        return counted(health, limits, row, flags, surprise, dt)
    odd = same & (before.surprise > BEHIND)
    if not health.doubtful and (fine | ~limits.enabled).all() and not odd.any():
        past = past.after(time, row, surprise, health.tau_m, health.pull)
        rough = np.fmax(rough, size)
        return health._replace(past=past, rough=rough, reading=readings, surprise=surprise), here
    rough = np.fmax(rough, np.where(fine, size, 0.0))
    step = ScreenedReadings(row, same, stuck, off, most, apart, limits.gate * deviation, time, dt)
    one = Examination(health._replace(past=past, rough=rough), before, limits, step)
    return counted(one.health(surprise), limits, row, one.flags, surprise, dt)


def counted(
    health: Health, limits: Limits, row: Array, flags: IntArray, surprise: Array, dt: float
) -> tuple[Health, BoolArray]:
    """Health with each reading's faults and how long it has been left out; which to use (c,).

    Args:
        health: After the step, but for these.
        limits: What is accepted.
        row: The readings, NaN where missing (c,).
        flags: Faults of each in this step (c,).
        surprise: How many deviations each has been off its prediction of late (c,).
        dt: Since the readings before [s].
    """
    flags = limits.enabled * flags
    lost = health.channels & Fault.LOST != 0
    silent = np.where((flags == 0) & ~lost, 0.0, health.silent + dt)
    lost |= limits.enabled & (silent > limits.hold)
    channels = flags | Fault.LOST * lost
    used = limits.enabled & (channels == 0)
    health = health._replace(
        faults=health.faults | Fault(int(np.bitwise_or.reduce(channels))),
        channels=channels,
        reading=np.where(np.isfinite(row), row, health.reading),
        silent=silent,
        doubtful=bool(channels.any()),
        surprise=np.where(used, surprise, exp(-dt / RECENT) * health.surprise),
    )
    if np.any(lost & limits.required):
        health = held(health, health.faults)
    return health, used


class Examination:
    """The readings of a step, one by one.

    Attributes:
        flags: Their faults (c,).
    """

    def __init__(
        self, health: Health, before: Health, limits: Limits, step: ScreenedReadings
    ) -> None:
        """Examine them.

        Args:
            health: With the readings before.
            before: As the step before left it.
            limits: What is accepted.
            step: The readings.
        """
        self._health, self._before, self._limits, self._step = health, before, limits, step
        self._past, self._row = health.past, step.row.copy()
        self._away, self._unsure = health.away.copy(), health.unsure.copy()
        self._rough = health.rough.copy()
        self._taken_up: bool | None = None  # not asked yet
        self._unproven = np.broadcast_to(health.unproven, len(step.row))
        self.flags = np.zeros(len(step.row), np.int64)
        for channel in np.flatnonzero(limits.enabled).tolist():
            self.flags[channel] = int(self._judged(channel))

    def health(self, surprise: Array) -> Health:
        """Health with what was found, and the surprises of the step (c,)."""
        tau_m, pull = self._health.tau_m, self._health.pull
        past = self._past.after(self._step.time, self._row, surprise, tau_m, pull)
        return self._health._replace(
            past=past, rough=self._rough, away=self._away, unsure=self._unsure
        )

    def _judged(self, j: int) -> Fault:
        """What is wrong with a reading."""
        step, off = self._step, float(self._step.off[j])
        if step.row[j] != step.row[j]:
            self._forget(j)
            return Fault.MISSING
        if step.same[j] and self._away[j] == 0.0:
            fault = self._unchanged(j, off)
            if fault is not None:
                self._row[j] = np.nan
                self._unsure[j] += self._unsure[j] > 0
                return fault
        if off != off:
            return self._after_pause(j)
        if abs(off) > step.most[j]:
            return self._leapt(j, off) if self._away[j] == 0.0 else self._leapt_again(j, off)
        return self._fault(j)

    def _unchanged(self, j: int, off: float) -> Fault | None:
        """What a reading is that stayed the same; None: as good as any."""
        step, times = self._step, 1.0
        if self._health.channels[j] & Fault.STUCK:
            return Fault.STUCK
        if step.stuck[j] and self._stood(j):
            self._forget(j)
            return Fault.STUCK
        if self._unmoved(j):
            self._forget(j)
            return Fault.STUCK
        if self._unsure[j]:
            return Fault.MISSING
        if off != off:
            points = self._past.last(j)
            if len(points) < ORDER:
                return None
            value, times = extended(points, step.time)
            off = float(step.row[j]) - value
        if abs(off) <= STALE * self._limits.floor[j]:
            return None
        return Fault.STUCK if abs(off) > times * step.most[j] else Fault.NONE

    def _fault(self, j: int) -> Fault:
        """Whether a reading is away from where it was."""
        return Fault.NONE if self._away[j] == 0.0 else Fault.JUMP

    def _stood(self, j: int) -> bool:
        """Whether a reading stands still for longer than where a motion turns.

        A prediction that lags behind a push moves on while a rotor rests: one that was being
        pushed when it came to rest is not soon stuck, nor one beside others that are off more.
        Of one that has rested for long, or since the start, torques alone say it (``_unmoved``);
        one that friction may have stopped must be off by more than a load explains.
        """
        past, limits, value = self._past, self._limits, float(self._step.row[j])
        count = past.still(j, value)
        if count < STILL or count >= min(stillness.LONG, len(past.rows)):
            return False
        surprise = self._before.surprise.copy()
        most, surprise[j] = max(BEHIND, SHARE * surprise[j]), 0.0
        if past.surprises[-count][j] > BEHIND or np.any(surprise > most):
            return False
        cut_short = stillness.cut_short(past, j, value, limits, self._step.dt)
        return cut_short or self._more_than_load(j)

    def _unmoved(self, j: int) -> bool:
        """Whether a reading stands still for long, unexpectedly, in spite of its motors' torques.

        Torques that a load explains, the model's own or another, count for nothing, nor does a
        prediction that has not been right of late; friction bridges its own level.
        """
        rub, value = float(self._limits.rub[j]), float(self._step.row[j])
        if rub == np.inf or self._unproven[j] or self._before.surprise[j] <= BEHIND:
            return False
        still = stillness.unmoved(self._past, j, value, self._limits, self._step.dt)
        return still and self._more_than_load(j)

    def _more_than_load(self, j: int) -> bool:
        """Whether neither a load that is moved nor one that is taken up at rest explains it."""
        past, limits, value = self._past, self._limits, float(self._step.row[j])
        if self._taken_up is None:
            self._taken_up = stillness.taken_up(past, limits)
        return not self._taken_up and stillness.more_than_load(past, j, value, limits)

    def _forget(self, j: int) -> None:
        """What came since a pause shows nothing: it was followed by another."""
        if self._unsure[j]:
            self._past = self._past.without(j, int(self._unsure[j]))
            self._unsure[j] = 0

    def _near(self, j: int) -> float:
        """How far a reading may be from what is expected after a pause."""
        step, limits = self._step, self._limits
        since = float(self._health.silent[j]) + step.dt
        reach = float(limits.floor[j] + 0.5 * limits.sudden[j] * since * since)
        return max(float(step.wide[j]), min(float(limits.jump[j]), reach))

    def _leapt(self, j: int, off: float) -> Fault:
        """A reading that does not go on from its history."""
        past, before = self._past, float(self._before.off[j])
        if self._caught_up(j):
            self._past = past.without(j, ORDER)
            return Fault.NONE
        later = LATER[0] < -before / off < LATER[1]
        repeated = past.rows[-1][j] == past.rows[-2][j]
        # In a push what a motion is off hides the difference: no reading of it is only wrong once.
        calm = later and self._rough[j] <= CALM * self._limits.floor[j]
        if (calm or repeated) and self._leapt_back(j, off, 0.0 if repeated else before):
            self._past = past.without(j, 1)
            return Fault.NONE
        self._away[j] = -off / 3.0 if later else off
        self._past = past.shifted(j, float(self._away[j]), int(later))
        return Fault.JUMP

    def _caught_up(self, j: int) -> bool:
        """Whether it stood still for a while, unnoticed, and is where the prediction went."""
        travel, last = float(self._before.travel[j]), self._past.rows[-1][j]
        near = self._near(j)
        follows = abs(self._step.row[j] - last - travel) <= near < 2.0 * abs(travel)
        return bool(follows and self._step.apart[j] <= near)

    def _leapt_back(self, j: int, off: float, before: float) -> bool:
        """Whether only the reading before was wrong: e, - 4 e, 6 e, not s, - 3 s, 3 s.

        Args:
            j: Which reading.
            off: What it is off its history.
            before: What the one before was; 0 if that was an old one.
        """
        points = self._past.last(j, 1)
        if len(points) < ORDER or abs(off + 4.0 * before) > abs(off + 3.0 * before):
            return False
        value, _ = extended(points, self._step.time)
        return bool(
            abs(self._step.row[j] - value) <= (0.5 if before else 1.0) * self._step.most[j]
        )

    def _leapt_again(self, j: int, off: float) -> Fault:
        """A reading that is away and leaps: back, or on."""
        away = float(self._away[j])
        if self._before.off[j] == away and off / away >= GROWN:
            # It goes on as a motion does whose acceleration began at once.
            self._past = self._past.shifted(j, -away, 1)
            self._rough[j] = max(float(self._rough[j]), abs(away), abs(off - 3.0 * away))
            self._away[j] = 0.0
            return Fault.NONE
        self._past = self._past.shifted(j, off)
        back = abs(away + off) <= self._step.most[j]
        self._away[j] = 0.0 if back else away + off
        return self._fault(j)

    def _after_pause(self, j: int) -> Fault:
        """A reading without a history of its own right before it."""
        step, past, count = self._step, self._past, int(self._unsure[j])
        near, value = self._near(j), float(step.row[j])
        points = past.last(j, count)
        if count == 0 or len(points) < ORDER:
            self._unsure[j] = 0
            if len(points) < ORDER:  # at the start
                far = max(float(self._limits.jump[j]), float(step.wide[j]))
                return Fault.NONE if step.apart[j] <= far else Fault.JUMP
            if step.apart[j] <= near and self._away[j] == 0.0:
                return Fault.NONE
            expected, times = extended(points, step.time)
            most = max(near, times * float(step.most[j])) if times <= SHORT else near
            if abs(value - expected) <= most:
                return self._fault(j)
        begin = past.times[-count] if count else step.time
        after = [point for point in past.last(j) if point[0] >= begin] + [(step.time, value)]
        self._unsure[j] = count + 1
        if len(after) < ORDER:
            return Fault.MISSING
        self._unsure[j] = 0
        noise = float(self._limits.floor[j]) / FLOOR
        off, most = leap(points, after[-ORDER:], noise, float(step.most[j]))
        whole = float(self._away[j]) + off
        self._away[j] = whole if abs(whole) > most else 0.0
        return self._fault(j)


def prepared(
    sizes: Sizes,
    limits: Limits,
    health: Health,
    measurement: Measurement,
    dt: float,
    known: ArrayLike | None,
) -> tuple[Health, Array, int] | Health:
    """Health, known force and number of predictions of a step; health alone if there is none."""
    tau_m, tau = inputs(sizes, measurement, known)
    fault, count = parts(dt, limits)
    if not health.valid:
        return held(health, fault)
    if fault == Fault.INTERVAL:
        return health._replace(faults=fault)
    health, going = commanded(health, limits, tau_m, dt)
    if fault or not going:
        return held(health, health.faults | fault)
    return health, tau, count
