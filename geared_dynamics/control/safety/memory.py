"""Types of the safety step: its events, modes, observation, memory and decision."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Literal, NamedTuple

from geared_dynamics.arrays import Array

# -- What can go wrong, and in which mode the arm then is -----------------------------------------


Reaction = Literal["hold", "ramp_to_gravity", "zero"]
REACTIONS: tuple[Reaction, ...] = ("hold", "ramp_to_gravity", "zero")  # the later one wins
FORMER_REACTIONS = {"ramp_down": "ramp_to_gravity"}  # names of earlier releases


class Event(enum.IntFlag):
    """What can be wrong in a cycle; docs/safety.md has a row for each."""

    NONE = 0
    STALE_STATE = 1 << 0
    STALE_REFERENCE = 1 << 1
    NO_REFERENCE = 1 << 2
    BAD_STATE = 1 << 3
    BAD_COMMAND = 1 << 4
    POSITION_LIMIT = 1 << 5
    VELOCITY_LIMIT = 1 << 6
    TRACKING_ERROR = 1 << 7
    NAMES_MISSING = 1 << 8
    TIME_JUMP = 1 << 9
    COMPUTATION = 1 << 10
    EMERGENCY_STOP = 1 << 11
    # Reported only: the motion continues.
    NAMES_REORDERED = 1 << 12
    POSITION_NEAR = 1 << 13
    VELOCITY_NEAR = 1 << 14
    COMMAND_LIMIT = 1 << 15
    COMMAND_RATE = 1 << 16
    RESUME_ERROR = 1 << 17
    # Stop the motion as those above do.
    IMPOSSIBLE_STATE = 1 << 18
    ENDING = 1 << 19


class Mode(enum.IntEnum):
    """What the command is made of.

    ``WAITING``: nothing is sent, for no joint state has come yet. ``RUNNING``: the law's
    command. ``HOLDING``: gravity compensation and feedback about a fixed position.
    ``RAMPING_TO_GRAVITY``: the command ramps to gravity compensation with damping.
    ``OPEN_LOOP``: no valid joint state: braking by the model, then gravity compensation.
    ``RAMPING_TO_ZERO``: the command ramps to zero, where that is configured. ``BRAKING``: a
    stop, and then the final command: the node ends.
    """

    WAITING = 0
    RUNNING = 1
    HOLDING = 2
    RAMPING_TO_GRAVITY = 3
    OPEN_LOOP = 4
    RAMPING_TO_ZERO = 5
    BRAKING = 6
    # Names of earlier releases.
    RAMPING = 3
    BLIND = 4
    ZEROING = 5


# Plain integers: flags' own operators cost half a microsecond each.
STALE_STATE = int(Event.STALE_STATE)
STALE_REFERENCE = int(Event.STALE_REFERENCE)
NO_REFERENCE = int(Event.NO_REFERENCE)
BAD_STATE = int(Event.BAD_STATE)
BAD_COMMAND = int(Event.BAD_COMMAND)
POSITION_LIMIT = int(Event.POSITION_LIMIT)
VELOCITY_LIMIT = int(Event.VELOCITY_LIMIT)
TRACKING_ERROR = int(Event.TRACKING_ERROR)
NAMES_MISSING = int(Event.NAMES_MISSING)
TIME_JUMP = int(Event.TIME_JUMP)
COMPUTATION = int(Event.COMPUTATION)
EMERGENCY_STOP = int(Event.EMERGENCY_STOP)
NAMES_REORDERED = int(Event.NAMES_REORDERED)
POSITION_NEAR = int(Event.POSITION_NEAR)
VELOCITY_NEAR = int(Event.VELOCITY_NEAR)
COMMAND_LIMIT = int(Event.COMMAND_LIMIT)
COMMAND_RATE = int(Event.COMMAND_RATE)
RESUME_ERROR = int(Event.RESUME_ERROR)
IMPOSSIBLE_STATE = int(Event.IMPOSSIBLE_STATE)
ENDING = int(Event.ENDING)

# A joint state with one of these says nothing about the arm.
UNUSABLE = BAD_STATE | NAMES_MISSING | IMPOSSIBLE_STATE

# A cycle with one of these does not run. BAD_STATE and NAMES_MISSING leave the state before in
# force: they stop the arm when that becomes stale.
STOPPING = (
    STALE_STATE
    | STALE_REFERENCE
    | NO_REFERENCE
    | BAD_COMMAND
    | POSITION_LIMIT
    | VELOCITY_LIMIT
    | TRACKING_ERROR
    | TIME_JUMP
    | COMPUTATION
    | EMERGENCY_STOP
    | IMPOSSIBLE_STATE
    | ENDING
)
# These stay until somebody acknowledges them, by a reset or by a new reference.
LATCHING = (
    BAD_COMMAND
    | POSITION_LIMIT
    | VELOCITY_LIMIT
    | TRACKING_ERROR
    | TIME_JUMP
    | COMPUTATION
    | EMERGENCY_STOP
    | IMPOSSIBLE_STATE
)
# After these alone the arm runs again at once: nothing was wrong.
IDLE = STALE_REFERENCE | NO_REFERENCE


# -- What the safety step is given, what it remembers and what it decides -------------------------


# (posture, q, v) -> command that holds the posture (n,) or (m,); q, v None: by gravity alone.
Fallback = Callable[[Array, "Array | None", "Array | None"], Array]

# (q, v, a) -> command of that motion from the model alone.
OpenLoop = Callable[[Array, Array, Array], Array]

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
        v: Its velocity (n,), whatever it holds; None with missing names.
        reference_stamp: When the reference last advanced (``now`` for a trajectory that
            is known to its end); None: there is none.
        q_d: The reference's position (n,); None: not known in this cycle.
        clock: Time by which references go on (the node's ``EvenClock``, which follows ROS time
            without its pauses); None: no such.
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


class Recent(NamedTuple):
    """What each cycle leaves to the next; nominal ones leave nothing else.

    Attributes:
        now: Time of the cycle.
        clock: Its ``Observation.clock``.
        q: Last good position (n,), or None.
        v: Last good velocity (n,), or None.
        stamp: When it came.
        track: The newest joint state that could be read, or None.
        sent: Last command, or None.
        commanded: When the law's last command came.
    """

    now: float | None = None
    clock: float | None = None
    q: Array | None = None
    v: Array | None = None
    stamp: float | None = None
    track: StateTrack | None = None
    sent: Array | None = None
    commanded: float | None = None

    @property
    def good(self) -> tuple[Array, Array, float]:
        """The last good q, v and when they came: known in every mode but WAITING."""
        return self.q, self.v, self.stamp  # type: ignore[return-value]


class Phase(NamedTuple):
    """The mode, and what its commands are made of.

    Attributes:
        mode: Mode of the cycle.
        since: When the mode began.
        posture: What is held (n,), or None.
        settled: Whether the arm came to rest, so that the posture stays.
        origin: Command from which the present one is faded in.
        resumed: When running began again after a fault; None: no fade.
        returning: Whether the arm is on its way back from beyond a position limit.
        leaving: Since when the arm is brought to rest for good, or None.
        guess: Where it is expected meanwhile, or None.
    """

    mode: Mode = Mode.WAITING
    since: float = 0.0
    posture: Array | None = None
    settled: bool = False
    origin: Array | None = None
    resumed: float | None = None
    returning: bool = False
    leaving: float | None = None
    guess: Guess | None = None


class Latch(NamedTuple):
    """Events that keep the arm from running.

    Attributes:
        latched: Events that wait for an acknowledgement.
        interruption: Events of the present interruption, 0 while running.
        clear: Since when nothing has stopped the arm.
        acknowledged: Whether an acknowledgement came since then.
    """

    latched: int = 0
    interruption: int = 0
    clear: float | None = None
    acknowledged: bool = False


class Gravity(NamedTuple):
    """Gravity's command at a posture not long ago, for when nothing else can be computed.

    Attributes:
        command: (n,) or (m,), or None.
        refreshed: When it was computed.
    """

    command: Array | None = None
    refreshed: float = 0.0


class SafetyMemory(NamedTuple):
    """What one cycle leaves to the next, in groups; ``START`` before the first.

    Attributes:
        recent: Times, the last good state, the last command.
        phase: The mode and what its commands are made of.
        latch: What keeps the arm from running.
        gravity: Gravity's command.
    """

    recent: Recent = Recent()
    phase: Phase = Phase()
    latch: Latch = Latch()
    gravity: Gravity = Gravity()


START = SafetyMemory()


class Decision(NamedTuple):
    """What to do in this cycle.

    Attributes:
        command: What to send; None while waiting.
        mode: What it is made of.
        detected: Events of this cycle, ``Event`` as an integer.
        latched: Events that wait for an acknowledgement, as an integer.
        error: What the fallback raised, for the log; None if nothing.
    """

    command: Array | None
    mode: Mode
    detected: int
    latched: int
    error: Exception | None = None

    @property
    def events(self) -> Event:
        """Events of this cycle and those that wait for an acknowledgement."""
        return Event(self.detected | self.latched)

    @property
    def found(self) -> int:
        """Former name of ``detected``, for one release."""
        return self.detected

    @property
    def running(self) -> bool:
        """Whether the law's command is sent; reset the law's memory where not."""
        return self.mode is Mode.RUNNING
