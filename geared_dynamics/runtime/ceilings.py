"""How far parameters may widen limits while the node runs: no farther than its start allows.

A limit's ceiling is the wider of two: what the robot's description or the default gives, and the
value that the node was started with. Where the former is no limit at all, it is the latter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import Policy
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.feedforward_schema import SCHEMA
from geared_dynamics.runtime.feedforward_settings import LIMITS, ROUNDING, policy_of
from geared_dynamics.runtime.following import PATTERN
from geared_dynamics.runtime.parameters import RESTART, ParameterError, Values, expanded

# Fields of the policy, with the parameter that sets each; ``{}`` stands for the joint.
FIELDS = {field: f"joint_limits.{{}}.{name}" for field, name in LIMITS.items()} | {
    "command_rate": "safety.command_rate",
    "tracking": PATTERN,
    "reference_timeout": "cmd_timeout",
}
LIMITING = tuple(entry for entry in SCHEMA if entry.weaker == "model")


class Ceiling(NamedTuple):
    """The widest that limits may be.

    Attributes:
        usual: By description and defaults.
        start: By the values of the start.
    """

    usual: Policy
    start: Policy

    def of(self, field: str) -> Array:
        """A field's widest values (n,) or (m,).

        Args:
            field: Of the policy, in ``FIELDS``.
        """
        usual, start = (np.atleast_1d(getattr(policy, field)) for policy in self)
        wider = np.minimum if field == "lower" else np.maximum
        return np.where(np.isfinite(usual), wider(usual, start), start)


def ceiling_of(values: Values, start: Values, model: GearedModel) -> Ceiling:
    """The ceiling of a node's limits.

    Args:
        values: Its parameters.
        start: The values that it was started with, or defaults.
        model: The robot.

    Raises:
        ParameterError: for a value of the start that is beyond the description.
    """
    entries = expanded(LIMITING, model.joint_names, ())
    usual = {name: entry.default for name, entry in entries.items()}
    own = {name: start[name] for name in entries}
    return Ceiling(policy_of({**values, **usual}, model), policy_of({**values, **own}, model))


def refuse_wider_than_start(values: Values, start: Values, model: GearedModel) -> None:
    """Refuse parameters that widen a limit beyond its ceiling.

    Args:
        values: The parameters.
        start: The values that the node was started with, or defaults.
        model: The robot.

    Raises:
        ParameterError: naming the parameter and what it may be.
    """
    most, given = ceiling_of(values, start, model), policy_of(values, model)
    for field, pattern in FIELDS.items():
        limit, found = most.of(field), np.atleast_1d(getattr(given, field))
        sign = -1.0 if field == "lower" else 1.0
        slack = ROUNDING * np.where(np.isfinite(limit), np.abs(limit), 0.0)
        for k in np.flatnonzero(sign * found > sign * limit + slack):
            name = pattern.format(model.joint_names[k]) if "{}" in pattern else pattern
            allowed = f"{found[k]:g}" if np.isfinite(found[k]) else "any"
            side = "least" if field == "lower" else "most"
            finding = f"allows {allowed}, and while the node runs it is {limit[k]:g} at {side}"
            raise ParameterError(name, finding, RESTART)
