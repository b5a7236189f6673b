"""Whatever goes wrong in whatever order, what is sent out is safe."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import geared_dynamics as gd
from safety_rig import GRAVITY, LIMIT, RATE, Rig, policy

S = gd.control.safety
Event, Mode = S.Event, S.Mode
REACTIONS = st.sampled_from(["hold", "ramp_to_gravity", "zero"])
RANK = {"hold": 0, "ramp_to_gravity": 1, "zero": 2}
OPTION = {
    Event.STALE_REFERENCE: "on_stale_reference",
    Event.BAD_COMMAND: "on_bad_command",
    Event.POSITION_LIMIT: "on_position_limit",
    Event.VELOCITY_LIMIT: "on_velocity_limit",
    Event.TRACKING_ERROR: "on_tracking_error",
    Event.TIME_JUMP: "on_time_jump",
    Event.COMPUTATION: "on_computation",
    Event.EMERGENCY_STOP: "on_emergency_stop",
    Event.IMPOSSIBLE_STATE: "on_impossible_state",
}
ENDS = Event.STALE_STATE | Event.NO_REFERENCE | Event.ENDING
STOPPING = ENDS
for one in OPTION:
    STOPPING |= one
LATCHING = STOPPING & ~(ENDS | Event.STALE_REFERENCE)
# A reference that is missing or has ended keeps nobody from acknowledging the rest.
WRONG = STOPPING & ~(Event.NO_REFERENCE | Event.STALE_REFERENCE)
NUMBERS = st.sampled_from([0.0, 0.3, -1.0, 2.5, 300.0, math.nan, math.inf, 1e200])
PAIRS = st.tuples(NUMBERS, NUMBERS).map(np.array)


class Abuse(RuleBasedStateMachine):
    """An arm to which everything happens."""

    @initialize(
        options=st.fixed_dictionaries({name: REACTIONS for name in OPTION.values()}),
        end=st.sampled_from(["gravity", "zero"]),
    )
    def start(self, options: dict, end: str) -> None:
        self.options = options
        self.rig = Rig(policy(**options, open_loop_end=end))
        self.end = end
        self.stop = self.ack = self.broken = False
        self.before: S.Decision | None = None
        self.dt = 0.0
        self.clear: float | None = None
        self.acknowledged = False
        self.good: float | None = None
        self.leaving: str | None = None
        self.hurried = False

    def cycle(self, dt: float, **facts: object) -> None:
        self.before, self.dt = self.rig.decision, dt
        self.rig.broken = self.broken
        going = {"leaving": self.leaving, "hurried": self.hurried}
        self.rig.cycle(dt, emergency_stop=self.stop, acknowledged=self.ack, **going, **facts)
        found = Event(self.rig.decision.detected)
        usable = not found & (Event.BAD_STATE | Event.NAMES_MISSING | Event.IMPOSSIBLE_STATE)
        if facts.get("fresh", True) and usable:
            self.good = self.rig.now
        if self.before is not None and self.before.latched:
            self.check_release(found)
        if found & WRONG:  # what the fallback raised is among them
            self.clear, self.acknowledged = None, False
        else:
            self.clear = self.rig.now if self.clear is None else self.clear
            self.acknowledged |= self.ack
        self.ack = False

    def check_release(self, found: Event) -> None:
        """What was latched is so still, or all that releasing it needs was there."""
        if self.rig.decision.latched & self.before.latched == self.before.latched:
            return
        clear = self.rig.now if self.clear is None else self.clear
        broke = Event.COMPUTATION if self.rig.decision.error is not None else Event.NONE
        assert not found & WRONG & ~broke  # the fallback is called after the release
        assert self.rig.now - clear >= self.rig.policy.recovery_time
        assert self.acknowledged or self.ack

    @rule(cycles=st.sampled_from([1, 5, 30, 150]))
    def healthy(self, cycles: int) -> None:
        for _ in range(cycles):
            self.cycle(0.001)

    @rule(dt=st.sampled_from([0.0, 0.001, 0.03, 0.06, 0.4, 5.0]))
    def silence(self, dt: float) -> None:
        self.cycle(dt, fresh=False, wanted=None)

    @rule(dt=st.sampled_from([0.001, 0.15, 0.3]))
    def deaf(self, dt: float) -> None:
        self.cycle(dt, heard=False)

    @rule(wanted=st.none() | PAIRS, dt=st.sampled_from([0.001, 0.04]))
    def command(self, wanted: object, dt: float) -> None:
        self.cycle(dt, wanted=wanted)

    @rule(sign=st.sampled_from([1.0, -1.0]), cycles=st.integers(1, 5))
    def pull(self, sign: float, cycles: int) -> None:
        for _ in range(cycles):
            self.cycle(0.04, wanted=sign * np.array([300.0, 300.0]))

    @rule(q=st.none() | PAIRS, v=st.none() | PAIRS, wanted=PAIRS)
    def measured(self, q: object, v: object, wanted: object) -> None:
        self.cycle(0.001, q=q, v=v, wanted=wanted)

    @rule()
    def away(self) -> None:
        self.cycle(0.001, q_d=self.rig.q + 1.0)

    @rule(clock=NUMBERS)
    def reset_clock(self, clock: float) -> None:
        self.cycle(0.001, clock=clock)

    @rule(dt=st.sampled_from([-0.01, -7.0]))
    def steady_clock_back(self, dt: float) -> None:
        self.cycle(dt)
        self.clear = None if self.clear is None else self.rig.now

    @rule()
    def names(self) -> None:
        self.cycle(0.001, names_missing=True)

    @rule()
    def raises(self) -> None:
        self.cycle(0.001, failed=True, wanted=None)

    @rule(pressed=st.booleans())
    def press(self, pressed: bool) -> None:
        self.stop = pressed

    @rule(broken=st.booleans())
    def break_model(self, broken: bool) -> None:
        self.broken = broken

    @rule(what=st.sampled_from(["gravity", "zero"]), hurried=st.booleans())
    def leave(self, what: str, hurried: bool) -> None:
        self.leaving, self.hurried = what, hurried

    @rule()
    def acknowledge(self) -> None:
        self.ack = True

    @invariant()
    def sent_is_safe(self) -> None:
        found = self.rig.decision
        if found is None:
            return
        if found.command is None:
            assert found.mode is Mode.WAITING
            assert self.good is None
            return
        assert np.isfinite(found.command).all()
        assert (np.abs(found.command) <= LIMIT).all()
        assert Event(found.latched) & LATCHING == Event(found.latched)
        assert Event(found.found) & LATCHING & ~Event(found.latched) == Event.NONE
        if self.before is not None and self.before.command is not None:
            reach = RATE * min(max(self.dt, 0.0), 0.1)
            assert (np.abs(found.command - self.before.command) <= reach + 1e-9).all()

    @invariant()
    def reaction_is_the_documented_one(self) -> None:
        found = self.rig.decision
        if found is None or found.command is None:
            return
        # What the fallback raised in this cycle counts from the next one on.
        late = Event.COMPUTATION if found.error is not None else Event.NONE
        active = (Event(found.found) & STOPPING) | Event(found.latched)
        if late and self.rig.memory.phase.mode is not Mode.RUNNING:
            late = Event.NONE if self.options["on_computation"] == "hold" else late
        active_before = active & ~late
        allowed = {self.expected(active)} | ({self.expected(active_before)} if late else set())
        if not active_before:
            allowed |= {found.mode} if late or not active else set()
        assert found.mode in allowed
        if not active:
            self.calm_is_held_or_running(found)

    def expected(self, active: Event) -> Mode:
        """Mode by the table of docs/safety.md."""
        worst = max((RANK[self.options[OPTION[e]]] for e in OPTION if e in active), default=0)
        if worst == 2:
            return Mode.RAMPING_TO_ZERO
        old = self.good is None or self.rig.now - self.good > self.rig.policy.state_timeout
        if Event.ENDING in active:
            braking = self.before is not None and self.before.mode is Mode.BRAKING
            return Mode.BRAKING if braking or not old else Mode.OPEN_LOOP
        doubted = Event.IMPOSSIBLE_STATE in Event(self.rig.decision.detected)
        if old or doubted:
            return Mode.OPEN_LOOP
        return Mode.RAMPING_TO_GRAVITY if worst == 1 else Mode.HOLDING

    def calm_is_held_or_running(self, found: S.Decision) -> None:
        """With nothing wrong the arm runs, or is kept as it was until it may."""
        if found.mode is not Mode.RUNNING:
            assert found.mode is not Mode.OPEN_LOOP

    @invariant()
    def no_command_outlives_its_time(self) -> None:
        """Without a good state for longer than the time-out, the wanted command is gone."""
        if self.good is None or self.rig.decision.command is None:
            return
        if self.rig.now - self.good > self.rig.policy.state_timeout + 1e-9:
            assert self.rig.decision.mode in {Mode.OPEN_LOOP, Mode.RAMPING_TO_ZERO, Mode.BRAKING}

    def teardown(self) -> None:
        """Left alone without states, every arm ends in gravity's command, or zero if asked."""
        if getattr(self, "good", None) is None:
            return
        self.broken = False
        for _ in range(40):
            self.cycle(0.1, fresh=False, wanted=None)
        found = self.rig.decision
        rest = np.zeros(2) if self.end == "zero" else GRAVITY
        if found.mode is Mode.BRAKING:
            rest = np.zeros(2) if self.leaving == "zero" else GRAVITY
        if found.mode is Mode.RAMPING_TO_ZERO:
            rest = np.zeros(2)
        np.testing.assert_allclose(found.command, rest, atol=1e-9)


Abuse.TestCase.settings = settings(stateful_step_count=40)  # the profile says how many
TestAbuse = Abuse.TestCase
