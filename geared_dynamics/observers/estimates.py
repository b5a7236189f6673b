"""What an observer's state says in the user's quantities."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.elastic.motors import motor_speeds
from geared_dynamics.dynamics.elastic.springs import joint_torque
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import Health
from geared_dynamics.observers.kalman import KalmanState
from geared_dynamics.observers.kalman_gains import KalmanGains

# Above this many standard deviations of its own the smoothed innovation is not chance.
CHANCE = 4.0


class Estimate(NamedTuple):
    """An estimate of an elastic arm's motion and forces.

    Attributes:
        q: Joint position, behind the spring (n,) [rad or m].
        v: Joint velocity (n,).
        theta: Position of the shafts before the springs (n_e,), joint side.
        vtheta: Velocity of the shafts (n_e,).
        motor_speed: Speed of the rotors in their carriers (m,) [rad/s], motor side.
        torsion: theta less what it is at rest, theta - E q (n_e,).
        joint_torque: Torque of the springs on the links (n_e,) [N m or N].
        external: External force on the joints (n,) [N m or N]; zero of the observers that do not
            estimate it.
        shaft_force: Force on the shafts before the springs that nobody accounts for (n_e,), joint
            side; zero without a sensor on the links.
        valid: Whether it may be used at all.
        consistent: Whether the innovations are as small as the covariance says; True of the
            observers without one.
    """

    q: Array
    v: Array
    theta: Array
    vtheta: Array
    motor_speed: Array
    torsion: Array
    joint_torque: Array
    external: Array
    shaft_force: Array
    valid: bool
    consistent: bool


class Observed(Protocol):
    """State of any of the observers."""

    @property
    def mean(self) -> Array:
        """q, theta, v, vtheta, and of some the unaccounted force."""

    @property
    def health(self) -> Health:
        """Whether it is valid."""


def estimate(model: GearedModel, state: Observed, gains: KalmanGains | None = None) -> Estimate:
    """Estimate from an observer's state.

    Args:
        model: Geared model with elastic joints.
        state: Of any of the observers.
        gains: Of the Kalman filter, for the consistency.
    """
    n, N = model.n, model.n + model.elasticity.count
    q, theta, v, vtheta, force = np.split(state.mean, [n, N, N + n, 2 * N])
    force = force if force.size else np.zeros(N)
    consistent = True
    if isinstance(state, KalmanState) and gains is not None:
        consistent = state.ratio <= most(state, gains)
    return Estimate(
        q=q,
        v=v,
        theta=theta,
        vtheta=vtheta,
        motor_speed=motor_speeds(model, v, vtheta),
        torsion=np.asarray(theta - model.elasticity.rigid @ q),
        joint_torque=joint_torque(model, q, theta, v, vtheta),
        external=force[:n],
        shaft_force=force[n:],
        valid=state.health.valid,
        consistent=consistent,
    )


def most(state: KalmanState, gains: KalmanGains) -> float:
    """Largest smoothed normalised innovation squared that chance explains.

    Smoothed over w samples of u readings, chi squared / u has the variance 2 / u / (2 w).
    """
    samples = max(gains.window * gains.rate, 1.0) * max(state.used, 1)
    return float(1.0 + CHANCE / np.sqrt(samples))
