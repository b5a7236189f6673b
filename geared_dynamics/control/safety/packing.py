"""A policy's limits as one array, for the quick look of ``calm``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, readonly

if TYPE_CHECKING:
    from geared_dynamics.control.safety.policy import Policy


def packed_limits(policy: Policy) -> Array:
    """The policy as the kernel reads it (see ``kernels.calm_layout``).

    An error is something to tell where it exceeds ``tracking`` or ``resume_error``, and where
    no joint has a tolerance nobody looks at it. The kernel is compiled here, so that no cycle
    waits for it.
    """
    kernels.nominal_command  # noqa: B018
    errors = [min(e, policy.resume_error) if policy.tracked else math.inf for e in policy.tracking]
    joints = [
        (*near, error, float(endless), *bounds)
        for near, error, endless, bounds in zip(
            policy.rows, errors, policy.continuous, policy.bounds, strict=True
        )
    ]
    commands = zip(policy.command, policy.command_rate, strict=True)
    flat = [number for rows in (joints, commands) for row in rows for number in row]
    return readonly([float(len(joints)), float(len(policy.command)), *flat])
