"""The observer node's cycle, without ROS: joint states to estimates; time is an argument."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.checks import is_finite
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.observers import Fault, Health, ObserverState
from geared_dynamics.observers.observer import LONGEST
from geared_dynamics.runtime.observer_estimates import (
    Level,
    Loss,
    ObserverOutput,
    Rest,
    Sensed,
    load_of_motors,
    loss_of,
    no_trouble,
    obstacle,
    unheld,
)
from geared_dynamics.runtime.observer_settings import ObserverSetup
from geared_dynamics.runtime.sample_times import EvenStamps, LinkSensorBuffer, PastReadings

BACK = 0.1  # [s] by which stamps go back when a recording begins again
QUIET, QUIET_SHARE = 2.5, 0.4  # periods, and part of ``hold``, until a joint state is overdue


class ObserverCounters:
    """How often things happened since the node was activated."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.starts = self.losses = self.bridged = self.invalid = 0


class Torque(NamedTuple):
    """The motors' torque of a step (m,) [N m], NaN where unknown; whether it is only assumed."""

    value: Array
    assumed: bool


class ObserverLoop:
    """An observer between joint states.

    Attributes:
        setup: Model, gains, sensors.
        state: The observer's, None while it does not run.
        output: Of the last cycle.
        loss: What the last estimate was lost by; None if a reset has cleared it.
        counters: See there.
    """

    def __init__(self, setup: ObserverSetup) -> None:
        """Begin without having read anything."""
        self.setup = setup
        self.counters = ObserverCounters()
        self.loss: Loss | None = None
        model, period = setup.model, setup.period
        self._past = past = PastReadings(setup.delays, period)
        self._links = LinkSensorBuffer(model.n, past.delay, period, setup.hold)
        self._sensors = LinkSensorBuffer(model.elasticity.count, past.delay, period, setup.hold)
        self._even = EvenStamps(period)
        self._rest = Rest(model.motor_map.inverse.T)
        self._missing = np.full(len(model.motor_names), np.nan)
        self._unmoved = self._missing  # angles of encoders that were stuck, and rest since then
        self._resets = False
        self._forget()
        self.output = self._invalid(Fault.NONE, "no joint state yet")

    def _forget(self) -> None:
        """Let go of the estimate and all that it needs."""
        self.state: ObserverState | None = None
        self._past.clear()
        self._rest.clear()
        self._links.clear()
        self._sensors.clear()
        self._stamp: float | None = None  # of the newest joint state that was used [s]
        self._time: float | None = None  # its time [s]
        self._shown = self._missing  # the motors' angles in it [rad]
        self._heard = 0.0  # when it came [s], steady
        self._came = 0.0  # when any joint state came, also with an old stamp [s], steady
        self._started = 0.0  # time at which the observer started [s]
        self._torque = Torque(self._missing, False)
        self._onset = no_trouble(len(self._missing))
        self._troubled = False  # whether a motor's reading is in trouble

    def exchange(self, setup: ObserverSetup) -> None:
        """Go on with another model or other gains of the same arm."""
        self.setup = setup

    def reset(self) -> None:
        """Start again from the next joint state, whatever was the matter."""
        self.loss, self._unmoved = None, self._missing
        self._forget()
        self.output = self._invalid(Fault.NONE, "starts again")

    # -- each joint state --------------------------------------------------------------------

    def cycle(self, now: float, sensed: Sensed) -> ObserverOutput:
        """Estimate with a joint state.

        Args:
            now: When it came [s], steady.
            sensed: The joint state, and what belongs to it.
        """
        setup, stamp, last = self.setup, self._stamp, self._time
        if stamp is not None and sensed.time < stamp - BACK:
            self._break_off(Fault.INTERVAL)
            self._forget()
            self._even.restart()
            stamp = None
        if stamp is not None and sensed.time <= stamp:
            self.output = self._repeated(now)
            return self.output
        time = self._even.sampled(sensed.time) if setup.even else sensed.time
        shown = setup.angles(sensed.positions)
        self._rest.add(time, shown)
        torque = self._torque_of(sensed)
        self._past.add(time, shown, torque.value)
        if sensed.links is not None or sensed.sensors is not None:
            self._take_link_sensors(sensed, time)
        self._stamp, self._time, self._shown, self._torque = sensed.time, time, shown, torque
        self._heard = self._came = now
        if self.state is None:
            self.output = self._start(time, shown)
        else:
            assert last is not None
            self.output = self._step(last, time, shown)
        return self.output

    def _take_link_sensors(self, sensed: Sensed, time: float) -> None:
        """Note what sensors on the links have shown; the joint state's own stamp is its time."""
        setup = self.setup
        if sensed.links is not None and abs(sensed.links_time - sensed.time) <= setup.hold:
            when = time if sensed.links_time == sensed.time else sensed.links_time
            self._links.add(when - setup.link_delays, setup.link(sensed.links))
        if sensed.sensors is not None:
            when = time if sensed.sensors_time is None else sensed.sensors_time
            if when == sensed.time or abs(when - sensed.time) > setup.hold:
                when = time
            shown = setup.at_springs(sensed.sensors)
            self._sensors.add(np.full(len(shown), when), shown)

    def _torque_of(self, sensed: Sensed) -> Torque:
        """The motors' torque since the joint state before."""
        setup = self.setup
        if sensed.torques is not None:
            found = setup.torques(sensed.torques)
            if is_finite(found):
                return Torque(found, False)
        if setup.rest_torque == "unknown" or not self._rest.resting:
            return Torque(self._missing if sensed.torques is None else found, False)
        if setup.rest_torque == "zero":
            return Torque(np.zeros(len(self._missing)), True)
        model = setup.model
        if self.state is not None:
            q = self.state.mean[: model.n]
        else:
            q = model.motor_map.coordinates(setup.angles(sensed.positions))
        return Torque(setup.holding(load_of_motors(model, q)), True)

    def _start(self, time: float, shown: Array) -> ObserverOutput:
        """Start the observer, if nothing is in its way."""
        setup, past = self.setup, self._past
        if self.loss is not None and not past.delay:
            angles = shown - setup.model.motor_zeros
            self.loss = self.loss.after(
                setup.observer.gains.limits, angles, self._torque.value, time
            )
        why = obstacle(self.loss, shown, auto=setup.auto, doubted=self._doubted(shown))
        if why:
            return self._invalid(self.loss.faults if self.loss else Fault.MISSING, why)
        if not np.isfinite(self._torque.value).all():
            return self._invalid(Fault.COMMAND, "the motors' torques are not known")
        if not past.spans:
            return self._invalid(Fault.SETTLING, "starts")
        angles = past.aligned()
        if not np.isfinite(angles).all():
            return self._invalid(Fault.MISSING, "a motor's encoder is missing")
        measurement = Measurement(angles, self._torque.value)
        self.state = setup.observer.start(measurement)
        if self.loss is not None and self.loss.stuck.any():
            same = self.loss.stuck & (shown == self.loss.shown)
            self._unmoved = np.where(same, self.state.health.reading[: len(same)], np.nan)
        self.loss, self._started = None, time
        self.counters.starts += 1
        return self._invalid(Fault.SETTLING, "settles")

    def _doubted(self, shown: Array) -> BoolArray | bool:
        """Which motors (m,) are not held by torque and friction where they show themselves."""
        setup, loss = self.setup, self.loss
        if loss is None or not np.any(loss.stood) or not self._rest.resting:
            return True
        q = setup.model.motor_map.coordinates(shown)
        held = setup.holding(load_of_motors(setup.model, q))
        return unheld(setup.observer.gains.limits, self._torque.value - held)

    def _step(self, last: float, time: float, shown: Array) -> ObserverOutput:
        setup, past, before = self.setup, self._past, self.state
        assert before is not None
        late = past.delay
        torque = past.torque(last - late, time - late)
        gap = time - last > QUIET * setup.period
        if gap:  # what acted in between is not known
            torque = self._missing
        measurement = Measurement(
            past.aligned(),
            torque,
            self._on_links(time - late, before) if self._links.fresh else None,
            self._behind_springs(time - late, before) if self._sensors.fresh else None,
        )
        state = setup.observer.step(before, measurement, time - last)
        if state.health.faults or self._troubled:
            self._onset = self._onset.after(state.health, gap)
            self._troubled = bool(self._onset.first.any())
            if not state.health.valid:
                return self._lost(state)
            state = setup.observer.restore_sensors(state)
        self.state = state
        if late:
            moved = self._extrapolated(state, past.since(time - late, LONGEST))
            if moved is None:
                return self._lost(state, Fault.DIVERGED)
            return self._output_of(time, moved)
        return self._output_of(time, state)

    def _on_links(self, time: float, state: ObserverState) -> Array | None:
        """Positions of the joints (n,) by their encoders, the newest with estimated velocities."""
        first = self.setup.observer.gains.sizes.coordinates
        return self._links.at(time, state.mean[first : first + self.setup.model.n])

    def _behind_springs(self, time: float, state: ObserverState) -> Array | None:
        """Torques of the springs (n_e,) by their sensors."""
        setup = self.setup
        found = self._sensors.at(time)
        if found is None or not setup.compensated:
            return found
        return found + setup.at_springs(gravity_forces(setup.model, state.mean[: setup.model.n]))

    # -- without one -------------------------------------------------------------------------

    def silence(self, now: float) -> tuple[ObserverOutput, float] | None:
        """Estimate where a joint state is overdue, and its time [s]; None where none is.

        Args:
            now: Steady time [s].
        """
        if self._time is None:
            return (self.output, np.nan)
        since = now - self._came
        setup = self.setup
        if since <= max(QUIET * setup.period, QUIET_SHARE * setup.hold):
            return None
        time = self._time + since
        if since > setup.hold:
            self._break_off(Fault.GAP)
            self.output = self._invalid(Fault.GAP | Fault.HELD, "joint states have stopped")
            return self.output, time
        if self.state is None:
            return None
        late = self._past.delay
        spans = self._past.since(self._time - late, LONGEST) if late else []
        moved = self._extrapolated(self.state, [*spans, (since, self._torque.value)])
        if moved is None:
            return self._invalid(Fault.DIVERGED, "the prediction diverges"), time
        found = self._output_of(time, moved, Fault.MISSING, "joint states are overdue")
        return found, time

    def _extrapolated(
        self, state: ObserverState, torques: list[tuple[float, Array]]
    ) -> ObserverState | None:
        """The state after torques have acted, with the last known one where they are missing."""
        last = state.health.tau_m
        known = [(span, np.where(np.isfinite(tau), tau, last)) for span, tau in torques]
        return self.setup.observer.extrapolate(state, known)

    def _repeated(self, now: float) -> ObserverOutput:
        """The output for a stamp that was there already."""
        self._came = now
        if now - self._heard > self.setup.hold:
            self._break_off(Fault.INTERVAL)
        if self.state is None:
            return self._invalid(Fault.INTERVAL, "stamps stand still")
        old = self.output
        level = max(old.level, Level.BRIDGED)
        return old._replace(
            level=level,
            faults=old.faults | Fault.INTERVAL,
            why="a stamp is not later than the last",
        )

    # -- what is published ------------------------------------------------------------------------

    def _output_of(
        self, time: float, state: ObserverState, fault: Fault = Fault.NONE, why: str = ""
    ) -> ObserverOutput:
        """What a valid state says, once it has settled."""
        setup, health = self.setup, state.health
        faults: Fault = health.faults | fault
        if time - self._started < setup.settling:
            return self._invalid(faults | Fault.SETTLING, "settles")
        level, reason = self._judged(state)
        if fault:
            level, reason = Level.BRIDGED, why
        self.counters.bridged += level is Level.BRIDGED
        return ObserverOutput(level, faults, reason, setup, state, health.tau_m, self.state)

    def _judged(self, state: ObserverState) -> tuple[Level, str]:
        """How far to trust a valid state, and why."""
        setup, health = self.setup, state.health
        motors = len(setup.model.motor_names)
        channels = health.channels
        faulty = bool(health.faults)  # those of the readings are among them
        if faulty and channels[:motors].any():
            return Level.BRIDGED, self._named(channels[:motors], setup.model.motor_names)
        if faulty and Fault.COMMAND in health.faults:
            return Level.BRIDGED, "the motors' torques are missing"
        if self._torque.assumed:
            return Level.BRIDGED, "no torque is known: one that holds the arm at rest is assumed"
        if not state.consistent:
            return Level.INCONSISTENT, "the readings do not fit model and tuning"
        if faulty and np.any(channels[motors:] & ~int(Fault.MISSING)):
            return Level.DEGRADED, "a sensor on a link is left out"
        if self._unmoved is not self._missing and self._stands(health.reading[:motors]):
            return Level.DEGRADED, "an encoder that was stuck has not moved since"
        if health.behind:
            return Level.DEGRADED, "it lags behind a push, by more than its deviations say"
        return Level.GOOD, ""

    def _stands(self, reading: Array) -> bool:
        """Whether an encoder that was stuck, and is believed again, still shows the same."""
        if np.any(reading == self._unmoved):
            return True
        self._unmoved = self._missing
        return False

    @staticmethod
    def _named(channels: IntArray, names: tuple[str, ...]) -> str:
        """Motors whose readings are left out."""
        found = [
            f"{name}: {named(Fault(int(bits)))}"
            for name, bits in zip(names, channels, strict=True)
            if bits
        ]
        return "; ".join(found)

    def _lost(self, state: ObserverState, fault: Fault = Fault.NONE) -> ObserverOutput:
        """An estimate that is no longer valid."""
        text = self._named(state.health.channels[: len(self._shown)], self.setup.model.motor_names)
        faults = self._lose(state.health, fault)
        return self._invalid(faults, text or named(faults))

    def _break_off(self, fault: Fault) -> None:
        """Forget an estimate whose joint states do not go on, if there is one."""
        if self.state is not None:
            self._lose(self.state.health, fault)

    def _lose(self, health: Health, fault: Fault) -> Fault:
        """Forget the estimate; note by which faults it went, and return them."""
        assert self._time is not None
        faults: Fault = health.faults | fault
        self.loss = loss_of(health._replace(faults=faults), self._onset, self._shown, self._time)
        self.counters.losses += 1
        self._forget()
        return faults

    def _invalid(self, faults: Fault, why: str) -> ObserverOutput:
        self.counters.invalid += 1
        return ObserverOutput(
            Level.INVALID, faults, why, self.setup, None, self._missing, self.state
        )


def named(faults: Fault) -> str:
    """Faults in words."""
    found = [one.name.lower() for one in Fault if one and one in faults and one.name]
    return ", ".join(found) or "none"
