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
from geared_dynamics.observers.kalman import KalmanObserver, KalmanState, kalman_observer
from geared_dynamics.observers.kalman_gains import KalmanGains, kalman_gains
from geared_dynamics.observers.momentum import (
    MomentumObserver,
    MomentumState,
    Moving,
    momentum_observer,
    momentum_start,
    momentum_step,
)
from geared_dynamics.observers.nonlinear import (
    NonlinearGains,
    NonlinearObserver,
    NonlinearState,
    nonlinear_gains,
    nonlinear_observer,
)
from geared_dynamics.observers.observer import (
    Deviations,
    Estimate,
    Observer,
    ObserverState,
    estimate,
    former,
)
from geared_dynamics.observers.payload_estimate import (
    Payload,
    PayloadState,
    payload_estimate,
    payload_start,
    payload_step,
)
from geared_dynamics.observers.redundant_observer import (
    RedundantObserver,
    RedundantState,
    redundant_observer,
    redundant_start,
)

# Former names of the observers' methods, for one release.
kalman_start = former(kalman_observer, KalmanObserver.start)
kalman_step = former(kalman_observer, KalmanObserver.step)
nonlinear_start = former(nonlinear_observer, NonlinearObserver.start)
nonlinear_step = former(nonlinear_observer, NonlinearObserver.step)
redundant_step = former(redundant_observer, RedundantObserver.step)

__all__ = [
    "AlarmState",
    "ContactWrench",
    "Deviations",
    "Estimate",
    "Fault",
    "Health",
    "KalmanGains",
    "KalmanObserver",
    "KalmanState",
    "Limits",
    "MomentumObserver",
    "MomentumState",
    "Moving",
    "NonlinearGains",
    "NonlinearObserver",
    "NonlinearState",
    "Observer",
    "ObserverState",
    "Payload",
    "PayloadState",
    "RedundantObserver",
    "RedundantState",
    "alarm",
    "alarm_start",
    "alarm_step",
    "contact_wrench",
    "contraction",
    "estimate",
    "kalman_gains",
    "kalman_observer",
    "kalman_start",
    "kalman_step",
    "momentum_observer",
    "momentum_start",
    "momentum_step",
    "nonlinear_gains",
    "nonlinear_observer",
    "nonlinear_start",
    "nonlinear_step",
    "payload_estimate",
    "payload_start",
    "payload_step",
    "redundant_observer",
    "redundant_start",
    "redundant_step",
]
