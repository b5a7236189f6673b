"""What the safety step is told, what it remembers and what it decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety.events import Event, Mode

# (posture, q, v) -> command that holds the posture (n,) or (m,); q, v None: by gravity alone.
Fallback = Callable[[Array, "Array | None", "Array | None"], Array]

# (q, v, a) -> command of that motion from the model alone.
Nominal = Callable[[Array, Array, Array], Array]

# What the node leaves behind when it ends.
Leaving = Literal["gravity", "zero"]


class Brake(NamedTuple):
    """How an arm is slowed down; ``controller.brake``.

    Attributes:
        command: (q, v, a, rate) -> command for the acceleration a (n,), with friction at rate.
        closed: Whether it may be fed with what is measured; else with what the model expects.
    """

    command: Callable[[Array, Array, Array, Array], Array]
    closed: bool


class Observation(NamedTuple):
    """Facts of a cycle; times in seconds on one steady clock, except ``clock``.

    Attributes:
        now: Time of this cycle.
        state_stamp: When the newest joint state came; None: there was none yet.
        q: Its position (n,), whatever it holds; None with missing names.
        v: Its velocity (n,), likewise.
        reference_stamp: When the reference was heard of last (``now`` for a trajectory that
            is known to its end); None: there is none.
        q_d: The reference's position (n,); None: not known in this cycle.
        clock: Time by which references are sampled (ROS time, simulated or not); None: no such.
        names_missing: A joint of ours is not in the newest joint state.
        names_reordered: Its names came in another order than before.
        failed: The law raised an error, or there is no model.
        emergency_stop: The emergency stop is pressed.
        acknowledged: A reset was asked for, or a new reference accepted, since the last cycle.
        sampled: The newest joint state's own stamp, on any clock [s]; None: it has none.
        leaving: What to leave behind: the arm is to be brought to rest for good; None: it is not.
        hurried: Whether to leave without braking any more.
    """

    now: float
    state_stamp: float | None
    q: Array | None
    v: Array | None
    reference_stamp: float | None = None
    q_d: Array | None = None
    clock: float | None = None
    names_missing: bool = False
    names_reordered: bool = False
    failed: bool = False
    emergency_stop: bool = False
    acknowledged: bool = False
    sampled: float | None = None
    leaving: Leaving | None = None
    hurried: bool = False


class StateTrack(NamedTuple):
    """The newest joint state that could be read, with which the next one is compared.

    Attributes:
        q: Its position (n,).
        arrived: When it came [s], steady.
        sampled: Its own stamp [s], or None.
        doubted: When the last impossible one came [s]; None: since then they are good again.
    """

    q: Array
    arrived: float
    sampled: float | None
    doubted: float | None = None


class Guess(NamedTuple):
    """The state that an arm is expected to have while it is braked.

    Attributes:
        q: Position (n,).
        v: Velocity (n,).
        at: When [s], steady.
        slow: Since when it has been slow [s]; None: it is not.
        measured: Whether this was measured.
    """

    q: Array
    v: Array
    at: float
    slow: float | None
    measured: bool


class SafetyMemory(NamedTuple):
    """What one cycle leaves to the next; ``START`` before the first.

    Attributes:
        mode: Mode of the cycle.
        since: When the mode began.
        now: Time of the cycle.
        clock: Its ``Observation.clock``.
        latched: Events that wait for an acknowledgement.
        seen: Events of the present interruption, 0 while running.
        clear: Since when nothing has stopped the arm.
        acknowledged: Whether an acknowledgement came since then.
        returning: Whether the arm is on its way back from beyond a position limit.
        q: Last good position (n,), or None.
        v: Last good velocity (n,), or None.
        stamp: When it came.
        posture: What is held (n,), or None.
        settled: Whether the arm came to rest, so that the posture stays.
        sent: Last command, or None.
        origin: Command from which the present one is faded in.
        static: Gravity's command at a posture not long ago, or None.
        refreshed: When that was computed.
        wanted: When the last wanted command came.
        resumed: When running began again after a fault; -inf: long ago.
        track: The newest joint state that could be read, or None.
        leaving: Since when the arm is brought to rest for good, or None.
        guess: Where it is expected meanwhile, or None.
    """

    mode: Mode = Mode.WAITING
    since: float = 0.0
    now: float | None = None
    clock: float | None = None
    latched: int = 0
    seen: int = 0
    clear: float | None = None
    acknowledged: bool = False
    returning: bool = False
    q: Array | None = None
    v: Array | None = None
    stamp: float | None = None
    posture: Array | None = None
    settled: bool = False
    sent: Array | None = None
    origin: Array | None = None
    static: Array | None = None
    refreshed: float = 0.0
    wanted: float | None = None
    resumed: float | None = None
    track: StateTrack | None = None
    leaving: float | None = None
    guess: Guess | None = None

    @property
    def good(self) -> tuple[Array, Array, float]:
        """The last good q, v and when they came: known in every mode but WAITING."""
        return self.q, self.v, self.stamp  # type: ignore[return-value]


START = SafetyMemory()


class Decision(NamedTuple):
    """What to do in this cycle.

    Attributes:
        command: What to send; None while waiting.
        mode: What it is made of.
        found: Events of this cycle, ``Event`` as an integer.
        latched: Events that wait for an acknowledgement, likewise.
        error: What the fallback raised, for the log; None if nothing.
    """

    command: Array | None
    mode: Mode
    found: int
    latched: int
    error: Exception | None = None

    @property
    def events(self) -> Event:
        """Events of this cycle and those that wait for an acknowledgement."""
        return Event(self.found | self.latched)

    @property
    def running(self) -> bool:
        """Whether the wanted command is sent; reset the law's memory where not."""
        return self.mode is Mode.RUNNING
