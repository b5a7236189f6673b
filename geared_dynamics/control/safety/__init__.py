"""Safety monitor: a pure step between the law and the robot; docs/safety.md."""

from geared_dynamics.control.safety.commands import finished
from geared_dynamics.control.safety.memory import (
    START,
    Brake,
    Decision,
    Event,
    Mode,
    Observation,
    SafetyMemory,
)
from geared_dynamics.control.safety.policy import Policy, default_policy
from geared_dynamics.control.safety.step import step

__all__ = [
    "START",
    "Brake",
    "Decision",
    "Event",
    "Mode",
    "Observation",
    "Policy",
    "SafetyMemory",
    "default_policy",
    "finished",
    "step",
]
