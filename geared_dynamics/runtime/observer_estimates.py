"""What a cycle of the observer node takes and gives; names, trust, a new start after a loss."""

from __future__ import annotations

import enum
from collections import deque
from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.command_type import command_names, is_of_motors
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.checks import is_finite
from geared_dynamics.dynamics.drives import balancer_forces
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import Estimate, Fault, Health, Limits, ObserverState
from geared_dynamics.observers.screening import screened
from geared_dynamics.observers.stillness import LONG
from geared_dynamics.runtime.observer_settings import ObserverParameters, ObserverSetup
from geared_dynamics.runtime.parameters import ParameterError

# -- What goes into a cycle of the observer node, and what comes out ------------------------------


class Level(enum.IntEnum):
    """How far an estimate may be trusted; the message's ``frame_id`` says it."""

    GOOD = 0
    DEGRADED = 1  # a link's sensor is left out, it lags behind a push, or an encoder was stuck
    INCONSISTENT = 2  # the readings are farther from their predictions than the tuning admits
    BRIDGED = 3  # predicted without a motor's reading, or with an assumed torque
    INVALID = 4  # nothing is known: all numbers are NaN

    @property
    def frame(self) -> str:
        """Text for the header: empty where all is well."""
        return "" if self is Level.GOOD else self.name.lower()


class Sensed(NamedTuple):
    """A joint state, and what other topics brought since the one before.

    Attributes:
        time: Its stamp [s], counted from any zero.
        positions: As they came (k,), NaN for missing ones.
        torques: Newest commands or efforts as they came (l,); None where there are none.
        links: Links' encoders as they came (n,), None for nothing new.
        links_time: Their stamp [s].
        sensors: Joint torque sensors as they came (n,), None for nothing new.
        sensors_time: Their stamp [s]; None: that of the joint state.
    """

    time: float
    positions: Array
    torques: Array | None
    links: Array | None = None
    links_time: float = 0.0
    sensors: Array | None = None
    sensors_time: float | None = None


class ObserverOutput(NamedTuple):
    """What is known after a cycle.

    Attributes:
        level: How far to trust it.
        faults: Of the last step.
        why: In words; empty where all is well.
        given: What the observer was prepared with.
        moved: The published state, at the time of the joint state; None where it is invalid.
        tau_m: The motors' torque used (m,) [N m].
        state: The observer's, of its last reading; None where there is none.
    """

    level: Level
    faults: Fault
    why: str
    given: ObserverSetup
    moved: ObserverState | None
    tau_m: Array
    state: ObserverState | None

    @property
    def estimate(self) -> Estimate | None:
        """The state in the user's quantities, counted when asked; None where it is invalid."""
        if self.moved is None:
            return None
        return self.given.observer.estimate(self.moved)


def load_of_motors(model: GearedModel, q: Array) -> Array:
    """Forces on the joints (n,) that the motors hold at rest: gravity less the balancers'."""
    found = gravity_forces(model, q)
    if model.balancers.names:
        found = found - balancer_forces(model, q)
    return found


# -- How good an estimate is, as numbers: the topic ``~/quality`` ---------------------------------


NONE = float("nan")


def labels(setup: ObserverSetup) -> list[tuple[str, int]]:
    """Names of the parts of ``~/quality`` in their order, and how many numbers each has."""
    sizes = setup.observer.gains.sizes
    return [
        ("level", 1),
        ("faults", 1),
        ("nis_ratio", 1),
        ("nis_ratio_limit", 1),
        ("innovation", sizes.readings),
        ("innovation_deviation", sizes.readings),
        ("reading_faults", sizes.readings),
        ("link_position_deviation", sizes.n),
        ("link_velocity_deviation", sizes.n),
        ("external_torque_deviation", sizes.n),
        ("external_torque_friction", sizes.n),
    ]


def quality_numbers(setup: ObserverSetup, output: ObserverOutput) -> Array:
    """The numbers of all parts; NaN for what the observer does not know."""
    state, gains = output.state, setup.observer.gains
    n, c = gains.sizes.n, gains.sizes.readings
    head = np.array([float(output.level), float(output.faults), NONE, NONE])
    innovation, deviation, faults = np.full(c, NONE), np.full(c, NONE), np.full(c, NONE)
    spread = np.full((4, n), NONE)
    if state is not None:
        faults[: len(state.health.channels)] = state.health.channels
        innovation[: len(state.innovation)] = state.innovation
        head[2:] = state.ratio, gains.most
        stated = setup.observer.deviations(state)
        if stated is not None:
            deviation, spread = stated.innovation, np.stack(stated[1:])
    return np.concatenate([head, innovation, deviation, faults, spread.ravel()])


# -- How a robot calls what it measures and what it is sent ---------------------------------------


def state_names(parameters: ObserverParameters, model: GearedModel) -> tuple[str, ...]:
    """What joint_states calls what it holds, in the model's order."""
    own = model.motor_names if parameters.feedback == "motor" else model.joint_names
    return given_names("state_names", parameters.state_names, own)


def torque_names(
    parameters: ObserverParameters, model: GearedModel
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What the source of torques calls them in its order, and their places in the model's order.

    As for the feedforward node, ``command_joints`` may have the model's names in another order,
    or other names in the order of ``joints``.
    """
    motors = is_of_motors(parameters.torque_kind)
    own = command_names(model, parameters.torque_kind)
    usual = parameters.joints if parameters.joints and not motors else own
    called = given_names("command_joints", parameters.command_joints, usual)
    ordered = called if set(called) == set(own) else usual
    return called, tuple(own.index(name) for name in ordered)


def given_names(name: str, chosen: tuple[str, ...], usual: tuple[str, ...]) -> tuple[str, ...]:
    """Names of a parameter, or the usual ones."""
    given = chosen or usual
    if len(set(given)) != len(given) or len(given) != len(usual):
        finding = f"has {len(given)} names, and there are {len(usual)}: {', '.join(usual)}"
        raise ParameterError(name, finding, "give each a name of its own")
    return given


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

    An encoder that was bridged until then counts as one that was the cause: whatever ended the
    estimate, its reading is not right again.

    Args:
        health: Of the estimate that is no longer valid.
        onset: Of the motors' readings.
        shown: The motors' angles in the last step (m,) [rad].
        time: Of that step [s].
    """
    channels = health.channels[: len(shown)]
    jumped = (channels != 0) & (onset.first == Fault.JUMP) & ~onset.doubted
    stuck = channels & Fault.STUCK != 0
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
