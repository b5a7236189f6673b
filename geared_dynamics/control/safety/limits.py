"""Commands made to fit: magnitude and rate of change; those that cannot be sent at all."""

from __future__ import annotations

import math

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.arguments import finite
from geared_dynamics.control.safety import events as at
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.errors import ArrayError

LONGEST = 0.1  # [s] that a rate of change counts at most, however long nothing was sent


def limited(policy: Policy, command: Array, before: Array | None, dt: float) -> tuple[Array, int]:
    """The command within its limits and near enough to the one before, and what was cut.

    A limit that became smaller than the command before wins over the rate.

    Args:
        policy: The limits.
        command: Finite command (n,) or (m,).
        before: Command of the cycle before; None: the first one, which may be anything.
        dt: Time since then [s].
    """
    found, result = 0, []
    previous = [math.nan] * len(policy.command) if before is None else before.tolist()
    rows = zip(command.tolist(), previous, policy.command, policy.command_rate, strict=True)
    for value, last, most, rate in rows:
        reach = rate * dt  # NaN of an infinite rate in no time: no comparison with NaN holds
        if value > last + reach:
            value, found = last + reach, found | at.COMMAND_RATE
        elif value < last - reach:
            value, found = last - reach, found | at.COMMAND_RATE
        if value > most:
            value, found = most, found | at.COMMAND_LIMIT
        elif value < -most:
            value, found = -most, found | at.COMMAND_LIMIT
        result.append(value)
    return np.array(result), found


def faded(origin: Array | None, target: Array, part: float) -> Array:
    """(1 - part) origin + part target."""
    if origin is None or part >= 1.0:
        return target
    return np.asarray(origin + part * (target - origin))


def fraction(elapsed: float, duration: float) -> float:
    """Part of a fade that is over, 0 to 1."""
    if elapsed >= duration:
        return 1.0
    return max(elapsed, 0.0) / duration


def checked(policy: Policy, command: Array) -> Array:
    """Refuse a fallback's command that cannot be sent."""
    if command.shape == (len(policy.command),) and finite(command):
        return command
    raise ArrayError("fallback", f"gives {command.tolist()}", "give a controller of this arm")
