"""The safety step's quick look at a cycle in which nothing happens: nearly every one.

One compiled call and a dozen comparisons decide that an arm that runs goes on, that no event is
to be told and no limit cuts the command. What is not so, or cannot be told at once, is left to
the complete look, which alone has a reaction to anything. Both decide alike in every bit, which
a test compares over whole histories.
"""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array
from geared_dynamics.control.safety.commands import REFRESH, static
from geared_dynamics.control.safety.events import Mode
from geared_dynamics.control.safety.limits import LONGEST
from geared_dynamics.control.safety.newest import ARRIVAL, SLACK
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.control.safety.values import (
    Decision,
    Fallback,
    Observation,
    SafetyMemory,
    StateTrack,
)

RUNNING = Mode.RUNNING
# Makes a named tuple of all its values by position, in a third of the time of its own class.
made = tuple.__new__


def undisturbed(
    policy: Policy,
    memory: SafetyMemory,
    seen: Observation,
    wanted: Array | None,
    fallback: Fallback | None,
) -> tuple[SafetyMemory, Decision] | None:
    """The next memory and what to send, where the arm runs and nothing is wrong; else None.

    Args:
        policy: Thresholds and limits.
        memory: Of the cycle before.
        seen: The facts of this cycle.
        wanted: Command of the law.
        fallback: The command that holds a posture, for gravity's at times.
    """
    (mode, since, before, clock, latched, _, clear, _, _, _, _, last_good, posture,
     settled, sent, origin, gravity, refreshed, _, resumed, track, _, _) = memory  # fmt: skip
    (now, stamp, q, v, heard, q_d, time, missing, reordered, failed, stop, _, sampled, leaving,
     _) = seen  # fmt: skip
    if mode is not RUNNING or latched or missing or reordered or failed or stop:
        return None
    if leaving is not None or track is None or last_good is None:
        return None
    last, arrived, taken, doubted = track
    if doubted is not None:
        return None
    if before is None or clock is None or time is None or sent is None:
        return None
    if stamp is None or q is None or v is None or wanted is None:
        return None
    age, silence = now - stamp, policy.state_timeout
    if not (before <= now < math.inf and -silence <= age <= silence):
        return None
    if stamp == arrived or stamp - last_good > silence:
        return None
    # As ``newest.elapsed``: its call, and those of ``min`` and ``max``, would cost as much again.
    if sampled is not None and taken is not None and sampled > taken:
        span = sampled - taken
        if span > silence:
            return None
        span += SLACK
    else:
        span = stamp - arrived + ARRIVAL if stamp > arrived else ARRIVAL
    if not clock <= time <= clock + policy.time_jump:
        return None
    if policy.needs_reference:
        silence = policy.reference_timeout
        if heard is None or not -silence <= now - heard <= silence:
            return None
    if resumed is not None and now - resumed < policy.resume_time:
        return None  # fading in
    command = np.empty(len(policy.command))
    dt = now - before
    if dt > LONGEST:
        dt = LONGEST
    try:
        if kernels.nominal_command(policy.packed, q, v, q if q_d is None else q_d, wanted, sent,
                                   last, dt, span, command):  # fmt: skip
            return None
    except kernels.NOT_TAKEN:
        return None  # arrays of another kind
    clear = now if clear is None else clear
    # Copies, as in the complete look: the caller may overwrite its arrays in every cycle.
    q = q.copy()
    kept = made(SafetyMemory, (
        RUNNING, since, now, time, 0, 0, clear, False, False, q, v.copy(), stamp, posture, settled,
        command, origin, gravity, refreshed, now, resumed,
        made(StateTrack, (q, stamp, sampled, None)), None, None,
    ))  # fmt: skip
    if gravity is None or now - refreshed >= REFRESH:
        try:
            kept = kept._replace(static=static(policy, kept, fallback), refreshed=now)
        except (
            Exception
        ):  # whatever a model may raise: the complete look meets it again, and tells
            return None
    return kept, made(Decision, (command, RUNNING, 0, 0, None))
