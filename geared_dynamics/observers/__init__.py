"""Observers: model, state and measurement to estimates; state is a value, time an argument.

Which one when, equations and tuning: docs/observers.md.
"""

from geared_dynamics.dynamics.state import (
    Measurement as Measurement,  # its former place, for one release
)
from geared_dynamics.observers.contacts import (
    AlarmState,
    ContactWrench,
    alarm,
    alarm_start,
    alarm_step,
    contact_wrench,
)
from geared_dynamics.observers.contraction import contraction
from geared_dynamics.observers.health import Fault, Health, Limits
from geared_dynamics.observers.kalman import KalmanState, kalman_start, kalman_step
from geared_dynamics.observers.kalman_gains import KalmanGains, kalman_gains
from geared_dynamics.observers.momentum import (
    MomentumState,
    Moving,
    momentum_start,
    momentum_step,
)
from geared_dynamics.observers.nonlinear import (
    NonlinearGains,
    NonlinearState,
    nonlinear_gains,
    nonlinear_start,
    nonlinear_step,
)
from geared_dynamics.observers.observer import Estimate, estimate
from geared_dynamics.observers.payload_estimate import (
    Payload,
    PayloadState,
    payload_estimate,
    payload_start,
    payload_step,
)
from geared_dynamics.observers.redundant_observer import (
    RedundantState,
    redundant_start,
    redundant_step,
)

__all__ = [
    "AlarmState",
    "ContactWrench",
    "Estimate",
    "Fault",
    "Health",
    "KalmanGains",
    "KalmanState",
    "Limits",
    "MomentumState",
    "Moving",
    "NonlinearGains",
    "NonlinearState",
    "Payload",
    "PayloadState",
    "RedundantState",
    "alarm",
    "alarm_start",
    "alarm_step",
    "contact_wrench",
    "contraction",
    "estimate",
    "kalman_gains",
    "kalman_start",
    "kalman_step",
    "momentum_start",
    "momentum_step",
    "nonlinear_gains",
    "nonlinear_start",
    "nonlinear_step",
    "payload_estimate",
    "payload_start",
    "payload_step",
    "redundant_start",
    "redundant_step",
]
