"""Observer protocol; Estimate."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple, Protocol

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.drive_packing import packed_drives
from geared_dynamics.dynamics.elastic.equations import joint_torque, packed_springs
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.elastic.motors import motor_speeds
from geared_dynamics.dynamics.friction_and_balancers import outside
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.dynamics.state import State
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.contacts import on_joints
from geared_dynamics.observers.health import Health
from geared_dynamics.observers.kalman import KalmanState
from geared_dynamics.observers.kalman_gains import KalmanGains
from geared_dynamics.observers.nonlinear import NonlinearGains, NonlinearState
from geared_dynamics.observers.readings import refuse_mean, refuse_other, sizes_of
from geared_dynamics.observers.redundant_observer import RedundantState
from geared_dynamics.observers.standing import largest

# -- What an observer's state says in the user's quantities ---------------------------------------


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
        shaft_force: Unmodelled force on the motor side of the springs (n_e,), joint
            side; zero without a sensor on the links.
        valid: Whether it may be used at all.
        consistent: Whether the innovations are as small as the covariance says, or, of the
            observers without one, the encoders' noise: where not, model or tuning is wrong,
            or a force acts that the observer does not estimate.
        behind: Whether it lags behind its readings at present, after a push that is faster than
            its bandwidth: it is then off by more than its deviations say.
        q_deviation: Standard deviation of the joint position (n,). Of the observers without
            covariance it is what friction at rest hides, its level over the stiffness, at joints
            whose rotor or link stands, and NaN elsewhere.
        external_deviation: That of the external force (n,) [N m or N]; NaN there too.
        resting: Joints at which friction at rest is most of that (n,): the force may be no
            contact at all, and a smaller one may hide. False of the observers without
            covariance.
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
    behind: bool
    q_deviation: Array
    external_deviation: Array
    resting: BoolArray


class Observed(Protocol):
    """State of any of the observers."""

    @property
    def mean(self) -> Array:
        """q, theta, v, vtheta, and of some the unaccounted force."""

    @property
    def health(self) -> Health:
        """Whether it is valid."""

    @property
    def consistent(self) -> bool:
        """Whether its innovations are as small as expected."""


def estimate(
    model: GearedModel, state: Observed, gains: KalmanGains | NonlinearGains | None = None
) -> Estimate:
    """Estimate from an observer's state.

    Args:
        model: Geared model with elastic joints.
        state: Of any of the observers.
        gains: Its gains, to refuse those of another arm; the state needs none.
    """
    if gains is not None:
        kalman = isinstance(state, KalmanState)
        kind, maker = (
            (KalmanGains, "kalman_gains") if kalman else (NonlinearGains, "nonlinear_gains")
        )
        refuse_other(model, gains, kind, maker)
    n, N = model.n, model.n + model.elasticity.count
    refuse_mean(state.mean, (2 * N, 3 * N), "the observer's start")
    q, theta, v, vtheta, force = np.split(state.mean, [n, N, N + n, 2 * N])
    motion = State(q, v, theta, vtheta)
    force = force if force.size else np.zeros(N)
    deviation = state.deviations if isinstance(state, KalmanState) else np.full(3 * N, np.nan)
    if isinstance(state, NonlinearState):
        deviation[:n] = hidden(model, state.standing)
    elif isinstance(state, RedundantState):
        deviation[:n] = hidden(model, state.inner.standing)
    friction = state.friction_deviations if isinstance(state, KalmanState) else np.zeros(3 * N)
    known = slice(2 * N, 2 * N + n)
    return Estimate(
        q=q,
        v=v,
        theta=theta,
        vtheta=vtheta,
        motor_speed=motor_speeds(model, motion),
        torsion=np.asarray(theta - model.elasticity.rigid @ q),
        joint_torque=joint_torque(model, motion),
        external=force[:n],
        shaft_force=force[n:],
        valid=state.health.valid,
        consistent=state.consistent,
        behind=state.health.behind,
        q_deviation=deviation[:n],
        external_deviation=deviation[known],
        resting=2.0 * friction[known] ** 2 > deviation[known] ** 2,
    )


def hidden(model: GearedModel, standing: BoolArray) -> Array:
    """How far friction of what stands may hold the links from where they seem (n,), NaN if none.

    Level on the joint by the stiffness of its springs: the observers that know of no external
    force take it for zero, and a link that is held within the band shows at no encoder.

    Args:
        model: Geared model with elastic joints.
        standing: Which laws stand, joints' and then rotors' (e,).
    """
    joints, rotors = model.joint_friction, model.motors.friction
    own, n = model.elasticity, model.n
    levels = np.zeros(n), np.zeros(len(model.motor_names))
    parts = (joints, standing[: joints.count]), (rotors, standing[joints.count :])
    for level, (laws, still) in zip(levels, parts, strict=True):
        np.add.at(level, laws.index, still * np.abs(laws.multiplier) * largest(laws))
    force = on_joints(model, *levels)
    K = np.diag((own.stretch.T * own.stiffness) @ own.stretch)[:n]
    found = np.full(n, np.nan)
    np.divide(force, K, out=found, where=(force > 0.0) & (K > 0.0))
    return found


def most(state: KalmanState | NonlinearState, gains: KalmanGains | NonlinearGains) -> float:
    """Largest ``ratio`` of a state that chance explains: 1 for none at all, 2 for any."""
    return gains.most


# -- From an estimate of a little while ago to one of now: for encoders that are read late --------


LONGEST = 0.005  # of one step of the prediction [s]

ObserverState = KalmanState | NonlinearState


def ahead(
    model: GearedModel, state: ObserverState, torques: Sequence[tuple[float, Array]]
) -> ObserverState | None:
    """The state after known torques have acted, without readings; None where it diverges.

    Only the mean moves. The unaccounted force of the Kalman filter goes on as it is. What else
    the state holds (innovation, covariance, health) is that of its last readings.

    Args:
        model: Geared model with elastic joints.
        state: Of an observer.
        torques: How long [s] which torque of the motors (m,) [N m] acts, one after the other.
    """
    sizes = sizes_of(model)
    N, k = sizes.coordinates, sizes.state
    arm, springs, drives = packed(extended(model)), packed_springs(model), packed_drives(model)
    whole = np.zeros(k)
    whole[: len(state.mean)] = state.mean
    out = np.empty(k + N + 8 * N * N)
    nothing = np.zeros(sizes.n)
    for span, tau_m in torques:
        count = ceil(span / LONGEST - 1e-9)
        for _ in range(count):
            given = np.concatenate([tau_m, outside(model, nothing, whole), [span / count]])
            if kernels.observer_transition(arm, springs, drives, whole, given, out) != 0:
                return None
            whole[: 2 * N] = out[: 2 * N]
    return state._replace(mean=whole[: len(state.mean)])
