"""What is safe to send: a pure step between the law and the robot; docs/safety.md."""

from geared_dynamics.control.safety.events import Event, Mode
from geared_dynamics.control.safety.policy import Policy
from geared_dynamics.control.safety.presets import default_policy
from geared_dynamics.control.safety.step import step
from geared_dynamics.control.safety.stopping import finished
from geared_dynamics.control.safety.values import (
    START,
    Brake,
    Decision,
    Observation,
    SafetyMemory,
)

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
