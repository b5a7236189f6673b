"""When an observer that was lost may start again, and whether the motors rest."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.checks import is_finite
from geared_dynamics.observers import Fault, Health, Limits
from geared_dynamics.observers.screening import screened
from geared_dynamics.observers.stillness import LONG

# -- When an observer whose estimate became invalid may start again by itself ---------------------


class Loss(NamedTuple):
    """What an estimate was lost by.

    Attributes:
        faults: Of the last step.
        jumped: Motors whose encoders jumped (m,) and have not jumped back: they are off by that.
        stuck: Motors whose encoders were stuck (m,).
        shown: What they showed then (m,) [rad].
        health: Of the readings, followed since then; None where they could not be.
        time: Of the last reading followed [s].
        stood: Which had shown the same for long when their trouble began (m,).
    """

    faults: Fault
    jumped: BoolArray
    stuck: BoolArray
    shown: Array
    health: Health | None = None
    time: float = 0.0
    stood: BoolArray | bool = False

    def after(self, limits: Limits, angles: Array, tau_m: Array, time: float) -> Loss:
        """The same after further readings: an encoder whose jumps add up to nothing is right.

        Readings are judged by their own history, so this needs no estimate. After a pause longer
        than ``hold`` nothing is known any more.

        Args:
            limits: Of the observer.
            angles: The motors', from the model's zeros (m,) [rad].
            tau_m: Their torques (m,) [N m], NaN where unknown.
            time: [s]
        """
        if self.health is None or not self.jumped.any():
            return self
        dt, m = time - self.time, len(angles)
        if not 0.0 < dt <= limits.hold:
            return self._replace(health=None)
        row = np.full(len(limits.enabled), np.nan)
        row[:m] = angles
        given = np.isfinite(tau_m)
        fault = Fault.NONE if given.all() else Fault.COMMAND
        known = np.where(given, tau_m, self.health.tau_m)
        nowhere = np.full(len(row), np.nan)  # there is no prediction
        before = self.health._replace(tau_m=known, faults=fault)
        health, _ = screened(before, limits, row, nowhere, 0.0 * row, nowhere, dt)
        away = self.jumped & (health.away[:m] != 0.0)
        return self._replace(jumped=away, health=health, time=time)


class Onset(NamedTuple):
    """How the present trouble of each motor's reading began.

    Attributes:
        first: Its first faults (m,); 0 where there is none.
        doubted: Whether its prediction was in doubt then (m,): a torque was missing, or joint
            states were.
        stood: Whether it had shown the same for long (m,).
    """

    first: IntArray
    doubted: BoolArray
    stood: BoolArray

    def after(self, health: Health, gap: bool) -> Onset:
        """The same after a step, ``gap``: after a while without joint states."""
        now = health.channels[: len(self.first)]
        fresh = (self.first == 0) & (now != 0)
        doubt = gap or Fault.COMMAND in health.faults
        past, shown = health.past, health.reading.tolist()
        still = [bool(new) and past.still(j, shown[j]) >= LONG for j, new in enumerate(fresh)]
        return Onset(
            np.where(now == 0, 0, np.where(fresh, now, self.first)),
            np.where(fresh, doubt, self.doubted),
            np.where(fresh, still, self.stood),
        )


def no_trouble(motors: int) -> Onset:
    """Where there is none yet."""
    return Onset(np.zeros(motors, np.int64), np.zeros(motors, bool), np.zeros(motors, bool))


def loss_of(health: Health, onset: Onset, shown: Array, time: float) -> Loss:
    """What happened; where a reading is far from a prediction in doubt it did not jump.

    Args:
        health: Of the estimate that is no longer valid.
        onset: Of the motors' readings.
        shown: The motors' angles in the last step (m,) [rad].
        time: Of that step [s].
    """
    lost = health.channels[: len(shown)] & Fault.LOST != 0
    jumped = lost & (onset.first == Fault.JUMP) & ~onset.doubted
    stuck = lost & (health.channels[: len(shown)] & Fault.STUCK != 0)
    return Loss(health.faults, jumped, stuck, shown, health, time, stuck & onset.stood)


def unheld(limits: Limits, torque: Array) -> BoolArray:
    """Which motors give more or less than rests within their friction (m,).

    Args:
        limits: Of the observer.
        torque: What they give beyond what holds the arm where it shows itself (m,) [N m].
    """
    m = len(torque)
    off = np.abs(limits.agility[:m] @ torque)
    return np.asarray(~np.isfinite(limits.rub[:m]) | ~(off <= limits.rub[:m]))


def obstacle(
    loss: Loss | None, shown: Array, *, auto: bool, doubted: BoolArray | bool = True
) -> str:
    """Why an observer cannot start from the motors' angles (m,); empty if it can.

    Args:
        loss: What the last estimate was lost by.
        shown: The motors' angles [rad].
        auto: Whether it may start by itself.
        doubted: Whose readings are not those of an arm that rests there (m,).
    """
    if not np.isfinite(shown).all():
        return "a motor's encoder is missing"
    if loss is None:
        return ""
    if not auto:
        return "waits for ~/reset"
    if loss.jumped.any():
        return "an encoder jumped: check it, then call ~/reset"
    same = loss.stuck & (shown == loss.shown)
    if np.any(same & (doubted | ~np.asarray(loss.stood))):
        return "an encoder is stuck"
    return ""


# -- Whether the motors rest, from their angles over a short while --------------------------------


WINDOW = 0.1  # [s]
SLOW = 0.01  # [rad/s or m/s], at the joints
MOST = 64  # samples of the window that are kept


class Rest:
    """Follows the motors' angles, as seen from the joints."""

    def __init__(self, turn: Array) -> None:
        """Begin without having seen any.

        Args:
            turn: Joints' positions by the motors' angles (n, m).
        """
        self._turn = turn
        self._seen: deque[tuple[float, Array]] = deque()

    def clear(self) -> None:
        """Begin again."""
        self._seen.clear()

    def add(self, time: float, shown: Array) -> None:
        """Note the motors' angles (m,); incomplete ones say nothing."""
        seen = self._seen
        if not is_finite(shown):
            return
        if seen and time - seen[-1][0] < WINDOW / MOST:
            return
        seen.append((time, shown))
        while len(seen) > 1 and time - seen[1][0] >= WINDOW:
            seen.popleft()

    @property
    def resting(self) -> bool:
        """Whether the motors were at rest over the window until the newest angles."""
        seen = self._seen
        if not seen or not WINDOW <= seen[-1][0] - seen[0][0] < 2.0 * WINDOW:
            return False
        angles = np.array([angle for _, angle in seen]) - seen[0][1]
        return bool(np.abs(angles @ self._turn.T).max() < SLOW * WINDOW)
