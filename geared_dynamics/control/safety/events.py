"""What can go wrong, and in which mode the arm then is."""

from __future__ import annotations

import enum
from typing import Literal

Reaction = Literal["hold", "ramp_down", "zero"]
REACTIONS: tuple[Reaction, ...] = ("hold", "ramp_down", "zero")  # the later one wins


class Event(enum.IntFlag):
    """What was found in a cycle; docs/safety.md has a row for each."""

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
    # Told only: the motion goes on.
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

    ``WAITING``: nothing is sent, for no joint state has come yet. ``RUNNING``: the wanted
    command. ``HOLDING``: gravity and feedback about a posture. ``RAMPING``: the same with
    damping only, faded in. ``BLIND``: a stop by the model alone, then gravity. ``ZEROING``: fading
    to zero, where that is configured. ``BRAKING``: a stop, and then what is left behind: the
    node ends.
    """

    WAITING = 0
    RUNNING = 1
    HOLDING = 2
    RAMPING = 3
    BLIND = 4
    ZEROING = 5
    BRAKING = 6


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
