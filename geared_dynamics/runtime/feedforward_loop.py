"""The feedforward node's cycle, without ROS: joint state in, command out; time is an argument.

The only place with memory between cycles. What a cycle reads and the user can change is
``FeedforwardSetup``, exchanged as a whole between two cycles.
"""

from __future__ import annotations

import math

from geared_dynamics import kernels
from geared_dynamics.arrays import Array
from geared_dynamics.control import Memory, Output, Reference, safety
from geared_dynamics.control.safety import Decision, Mode, Observation, SafetyMemory
from geared_dynamics.control.safety import memory as event
from geared_dynamics.control.safety.detection import in_doubt
from geared_dynamics.control.safety.memory import Leaving
from geared_dynamics.runtime.acceptance import CheckedRoute, limits_of, routed, started
from geared_dynamics.runtime.contact_force import ContactForce
from geared_dynamics.runtime.feedforward_settings import FeedforwardSetup
from geared_dynamics.runtime.loop_time import EvenClock, FeedforwardCounters, Pace
from geared_dynamics.trajectory import (
    JointTrajectory,
    SampleBuffer,
    TrajectoryError,
    derivatives,
    sample_into,
    state,
)
from geared_dynamics.trajectory import ReferenceMotion as Motion

SMOOTHING = 0.02  # part of a new period in the mean
INSTANT = 2  # derivatives of q that a reference at an instant has
LONGEST = 0.1  # [s] between joint states that still counts as a period
made, RUNNING = tuple.__new__, Mode.RUNNING  # as of the safety step: by position, looked up once


class FeedforwardLoop:
    """The cycle and what it remembers.

    Attributes:
        setup: What it reads; ``exchange`` gives it another between two cycles.
        motion: The reference, None for none.
        decision: Of the last cycle, None before the first.
        output: Of the law in the last cycle that computed one.
        error: What the law or the fallback raised last.
        q: Position of the last state that was used (n,), None before the first.
        v: Its velocity.
        stamp: When it came [s], steady.
        present: The reference at the time of the last cycle.
        emergency_stop: Whether it is pressed.
        acknowledged: Whether a reset was asked for since the last cycle.
        resting: Whether the motion is over for good: its end is kept for any time.
        counters: For diagnostics.
        clock: What ROS time does.
        pace: How fast time goes along the reference.
        contact: The contact force that is wanted.
        leaving: What to leave behind where the arm is brought to rest for good, else None.
        hurried: Whether to leave without braking any more.
        given_up: Whether a trajectory was dropped that came while the cause of a stop was still
            there; the one who tells of it sets it back.
    """

    def __init__(self, setup: FeedforwardSetup) -> None:
        """Begin without reference and state."""
        n = setup.bare.n
        self.setup = setup
        self.motion: Motion | None = None
        self.decision: Decision | None = None
        self.output: Output | None = None
        self.error: Exception | None = None
        self.q: Array | None = None
        self.v: Array | None = None
        self.stamp: float | None = None
        evaluate = kernels.segment_values  # by NumPy it takes six times as long
        self.present, self.ahead = SampleBuffer(n, evaluate), SampleBuffer(n, evaluate)
        self.emergency_stop = False
        self.acknowledged = False
        self.resting = False
        self.counters = FeedforwardCounters()
        self.given_up = False
        self.leaving: Leaving | None = None
        self.hurried = False
        self.period = setup.period
        self._heard: float | None = None
        self.clock = EvenClock()
        self.pace, self.contact = Pace(), ContactForce()
        self._memory: Memory = setup.control.start()
        self.exchange(setup)
        self._safety: SafetyMemory = safety.START

    # -- the cycle ---------------------------------------------------------------------------

    def cycle(
        self,
        now: float,
        clock: float,
        q: Array,
        v: Array,
        reordered: bool = False,
        sampled: float | None = None,
    ) -> Array | None:
        """A joint state has come: the command (n,) or (m,), None while there is none to send.

        Args:
            now: Steady time [s].
            clock: ROS time, counted as for ``accept`` [s]; NaN where it is not known.
            q: Joint position (n,), whatever it holds; not to be written to afterwards.
            v: Joint velocity (n,), whatever it holds.
            reordered: Whether its names came in another order than before.
            sampled: Its own stamp, on any clock [s]; None: it has none.
        """
        dt = 0.0 if self.stamp is None else now - self.stamp
        if 0.0 < dt < LONGEST:
            self.period += SMOOTHING * (dt - self.period) if self.period else dt
        self.q, self.v, self.stamp = q, v, now
        command, failed = self._law_command(now, clock, q, v, dt)
        following = self.motion is not None
        heard, q_d = (self._heard, self.present.q) if following else (None, None)
        time = self._safety_clock(now, clock, True)
        # All by position, since by name a cycle takes a twentieth longer: see the class.
        observed = made(Observation, (
            now, now, q, v, heard, q_d, time, False, reordered, failed,
            self.emergency_stop, self.acknowledged, sampled, self.leaving, self.hurried,
        ))  # fmt: skip
        return self._decide(observed, command)

    def unusable(self, now: float, clock: float, missing: bool) -> Array | None:
        """A joint state has come that holds nothing for us.

        Args:
            now: Steady time [s].
            clock: ROS time [s].
            missing: Whether a name is missing; else its sizes are wrong.
        """
        observed = self._without_state(now, clock)
        return self._decide(
            observed._replace(state_stamp=now, q=None, names_missing=missing), None
        )

    def silence(self, now: float, clock: float) -> Array | None:
        """No joint state has come for longer than it may take."""
        return self._decide(self._without_state(now, clock), None)

    def failing(self, now: float, clock: float, error: Exception) -> Array | None:
        """The node failed unexpectedly: the arm is held as after a law that raised.

        Args:
            now: Steady time [s].
            clock: ROS time [s].
            error: What was raised.
        """
        self.error = error
        # The newest state may be what it failed at: the safety step goes on with its own.
        observed = self._without_state(now, clock)
        return self._decide(observed._replace(state_stamp=None, failed=True), None)

    def remaining(self) -> Array | None:
        """What is left to send where the safety step fails too: gravity as computed last."""
        return self._safety.gravity.command

    @property
    def held(self) -> Array | None:
        """The posture at which the arm is held (n,); None where it is not."""
        phase = self._safety.phase
        return phase.posture if phase.mode is Mode.HOLDING else None

    @property
    def stale_after(self) -> float:
        """Age at which a joint state is stale [s]."""
        return self.setup.policy.state_timeout

    def reference_age(self, now: float) -> float:
        """Time since the reference went on last [s]; NaN without one."""
        return float("nan") if self.motion is None or self._heard is None else now - self._heard

    def _without_state(self, now: float, clock: float) -> Observation:
        following = self.motion is not None
        heard, q_d = (self._heard, self.present.q) if following else (None, None)
        time = self._safety_clock(now, clock)
        return Observation(now, self.stamp, self.q, self.v, heard, q_d, time,
                           emergency_stop=self.emergency_stop, acknowledged=self.acknowledged,
                           leaving=self.leaving, hurried=self.hurried)  # fmt: skip

    def _safety_clock(self, now: float, clock: float, fresh: bool = False) -> float:
        """The safety step's clock; a stop of ROS time counts while a motion is under way."""
        setup = self.setup
        moving = self.motion is not None and not self.present.finished
        jump, timeout = setup.policy.time_jump, setup.clock_timeout
        return self.clock.advance(now, clock, jump, timeout, fresh, moving)

    def _law_command(
        self, now: float, clock: float, q: Array, v: Array, dt: float
    ) -> tuple[Array | None, bool]:
        """Command of the law, and whether it failed."""
        motion = self.motion
        if motion is None or clock != clock:
            self.contact.drop()
            return None, False
        setup, present, ahead = self.setup, self.present, self.ahead
        control = setup.control
        later = clock + (setup.period or self.period)
        try:
            pace = self.pace
            if not pace.even:
                clock, later = pace.go(clock, later)
            sample_into(motion, clock, present)
            sample_into(motion, later, ahead)
            if self.resting or not present.finished:
                self._heard = now
            if not pace.even:
                pace.slow(present, ahead)
            reference = self._reference
            if reference is None:
                rows = derivatives(motion, later, control.derivatives_needed)
                reference = control.reference(present, ahead, pace.slow_rows(rows))
            dt = dt if dt > 0.0 else 0.0
            if self.contact.idle:
                memory, output = control.step(self._memory, control.state(q, v), reference, dt)
            else:
                parts = setup.contact, control, self._memory
                memory, output = self.contact.step(*parts, (q, v), reference, present, now, dt)
        except Exception as error:  # whatever a law may raise: the arm is held, the log tells
            self.error = error
            return None, True
        self._memory, self.output = memory, output
        return output.command, False

    def _decide(self, observed: Observation, command: Array | None) -> Array | None:
        """Put the law's command through the safety step."""
        setup, memory, control = self.setup, self._safety, self.setup.control
        brake = None if command is not None and self.leaving is None else control.brake
        self._safety, decision = safety.step(
            setup.policy, memory, observed, command, control.hold, control.open_loop, brake
        )
        self.acknowledged = False
        self.decision = decision
        sent, mode, detected, latched, _ = decision
        if detected or latched or mode is not RUNNING:
            self._count_events(decision, memory.latch.latched)
        return sent

    def _count_events(self, decision: Decision, before: int) -> None:
        """Count this cycle's events; forget what a law may not go on with.

        Args:
            decision: The decision.
            before: What was latched before it.
        """
        events, counters = decision.detected, self.counters
        counters.nan += bool(events & (event.BAD_STATE | event.BAD_COMMAND))
        counters.missing += bool(events & event.NAMES_MISSING)
        counters.failed += bool(events & event.COMPUTATION)
        counters.limited += bool(events & (event.COMMAND_LIMIT | event.COMMAND_RATE))
        if decision.error is not None:
            self.error = decision.error
        if not decision.running:
            self._memory = self._blank
            self.contact.drop()
        if self.motion is not None and (decision.latched & ~before or events & event.LATCHING):
            self.motion = None  # a stopped motion is not taken up again
            self.given_up = bool(before)
            counters.refused += self.given_up

    # -- what the user asks for --------------------------------------------------------------

    def accept(self, trajectory: JointTrajectory, now: float, clock: float) -> None:
        """Follow a trajectory from now on.

        Args:
            trajectory: As received, its start counted as ``clock``.
            now: Steady time [s].
            clock: ROS time [s].

        Raises:
            TrajectoryError: naming what is wrong with it; the reference before stays.
        """
        self.refuse(now)
        setup = self.setup
        self.begin(routed(trajectory, setup.rules, limits_of(setup.policy), clock), now, clock)

    def begin(self, route: CheckedRoute, now: float, clock: float) -> None:
        """Follow a trajectory that was checked before, perhaps beside the loop.

        Args:
            route: The trajectory.
            now: Steady time [s].
            clock: ROS time [s].

        Raises:
            TrajectoryError: as of ``accept``.
        """
        self.refuse(now)
        assert self.q is not None  # else refused
        assert self.v is not None
        old = self.motion
        if self.setup.continued and old is not None:
            sample_into(old, self.pace.time(clock), self.present)
            desired = self.present
            before = state(desired.q, desired.v, desired.a)
        else:
            before = state(self.q, self.pace.along(self.v))
        self.motion = started(route, before, clock)
        self.pace.begin(clock, resting=old is None)
        self._heard = now
        self.resting = False
        self.acknowledged = True

    @property
    def following(self) -> bool:
        """Whether the law's command of a motion is sent."""
        decision = self.decision
        return self.motion is not None and decision is not None and decision.running

    def refuse(self, now: float) -> None:
        """Raise where no trajectory can be begun now.

        Args:
            now: Steady time [s].
        """
        if self.leaving is not None:
            raise TrajectoryError("node", "is stopping", "activate it again first")
        if self.emergency_stop:
            remedy = "release ~/emergency_stop first"
            raise TrajectoryError("emergency stop", "is active", remedy)
        if self.q is None or self.v is None:
            finding = "no joint state has been received, so the start of the motion is unknown"
            raise TrajectoryError("joint_states", finding, "start the robot driver first")
        self._refuse_while_stopped(now)

    def _refuse_while_stopped(self, now: float) -> None:
        """A trajectory that could not be followed now is not begun in its middle later."""
        if self.clock.stopped:
            finding = f"ROS time has not advanced for {self.clock.standing:.1f} s"
            remedy = "resume /clock, or set use_sim_time to false on a real robot"
            raise TrajectoryError("clock", finding, remedy)
        events = 0 if self.decision is None else self.decision.detected
        if events & event.STALE_STATE and self.stamp is not None:
            finding = f"no valid message for {now - self.stamp:.2f} s"
            remedy = "start the robot driver, then send the trajectory again"
            raise TrajectoryError("joint_states", finding, remedy)
        if in_doubt(self._safety.recent.track):
            finding = "positions or velocities changed more than a joint can move"
            remedy = "let only one driver publish joint_states, then send it again"
            raise TrajectoryError("joint_states", finding, remedy)
        if events & event.VELOCITY_LIMIT:
            finding = "a joint exceeds its velocity limit"
            raise TrajectoryError("joint_states", finding, "send it again at standstill")

    def exchange(self, setup: FeedforwardSetup) -> None:
        """Go on with another model, other gains, switches or limits."""
        # What a cycle reads, and the reference that it fills if that is all the law needs.
        self.setup, control = setup, setup.control
        self._blank = control.start()
        self._reference: Reference | None = None
        if control.derivatives_needed <= INSTANT:
            self._reference = control.reference(self.present, self.ahead)

    def leave(self, what: Leaving) -> None:
        """Bring the arm to rest from the next cycle on, for good.

        Args:
            what: Whose command is left behind: gravity's, or zero.
        """
        self.motion = None
        self.leaving = what

    @property
    def left(self) -> bool:
        """Whether the last command of an arm that is left has been sent."""
        last = self.decision
        return last is None or safety.finished(self.setup.policy, self._safety, last.detected)

    @property
    def decided(self) -> float:
        """Steady time of the last cycle [s]; -inf before the first."""
        now = self._safety.recent.now
        return -math.inf if now is None else now
