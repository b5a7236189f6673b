"""The observer of ``nonlinear`` in the redundant Cartesian coordinates of Melhem 2001.

    nu = J(x) x'                                   velocities of every link and wheel
    M nu' + N(nu) + v + s = Q + reaction           constant inertia; N is gyroscopic
    x' = L nu                                      constant left inverse, L J = 1
    nu += J G_v (measured - shown),  x += G_x (measured - shown)

The state holds x and nu. N is what the paper's print omits (errata, docs/cartesian.md): without
it the observer would follow another arm. Corrections move within the constraints, so that nu
stays J(x) L nu; they and their convergence are those of ``nonlinear``. A step takes some
milliseconds: it is for study, not for control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen
from geared_dynamics.dynamics import cartesian, elastic
from geared_dynamics.dynamics.state import Measurement, State
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import Fault, Health, held
from geared_dynamics.observers.nonlinear import (
    NonlinearGains,
    NonlinearObserver,
    NonlinearState,
    corrected,
    nonlinear_observer,
)
from geared_dynamics.observers.observer import Estimate, estimate
from geared_dynamics.observers.readings import ObservedArm, readings, refuse_state
from geared_dynamics.observers.screening import prepared
from geared_dynamics.observers.standing import StandingStep, predicted


class RedundantState(NamedTuple):
    """State of the observer in redundant coordinates, a value.

    Attributes:
        x: q and theta (N,).
        nu: Velocities of links and wheels, in the order of ``cartesian.coordinate_names``.
        inner: What it shares with the nonlinear observer; its mean is (x, L nu).
    """

    x: Array
    nu: Array
    inner: NonlinearState

    @property
    def health(self) -> Health:
        """Faults, and what else is known of the inputs."""
        return self.inner.health

    @property
    def mean(self) -> Array:
        """q, theta, v, vtheta (2 N,)."""
        return self.inner.mean

    @property
    def innovation(self) -> Array:
        """Readings of the motors' encoders less their predictions (m,) [rad]."""
        return self.inner.innovation

    @property
    def friction_stands(self) -> BoolArray:
        """Which friction laws stand (e,)."""
        return self.inner.standing

    @property
    def gains_type(self) -> type[NonlinearGains]:
        """Of the gains that its observer has."""
        return NonlinearGains

    @property
    def ratio(self) -> float:
        """Twice the share of instants with innovations above their median, 1 to 2."""
        return self.inner.ratio

    @property
    def consistent(self) -> bool:
        """Whether its innovations are as small as the encoders' noise says."""
        return self.inner.consistent


@dataclass(frozen=True, eq=False)
class RedundantObserver(Frozen):
    """The nonlinear observer of one arm in redundant coordinates; by ``redundant_observer``.

    Attributes:
        observer: The nonlinear one.
    """

    observer: NonlinearObserver

    @property
    def model(self) -> GearedModel:
        """The arm."""
        return self.observer.model

    @property
    def gains(self) -> NonlinearGains:
        """The tuning, of the nonlinear observer."""
        return self.observer.gains

    def start(self, measurement: Measurement, *, q: ArrayLike | None = None) -> RedundantState:
        """State from the first readings, as of the nonlinear observer."""
        return redundant_start(self.model, self.observer.start(measurement, q=q))

    def step(
        self,
        state: RedundantState,
        measurement: Measurement,
        dt: float,
        *,
        known: ArrayLike | None = None,
    ) -> RedundantState:
        """State after dt with new readings of the motors' encoders, as ``Observer.step``."""
        arm, gains, model = self.observer.arm, self.observer.gains, self.observer.arm.model
        refuse_state(
            state, RedundantState, "redundant_observer(...).start", 2 * gains.sizes.coordinates
        )
        sizes, inner = gains.sizes, state.inner
        ready = prepared(sizes, gains.limits, inner.health, measurement, dt, known)
        if isinstance(ready, Health):
            return state._replace(inner=inner._replace(health=ready))
        health, tau, count = ready
        y = readings(sizes, measurement)[: sizes.motors] - gains.zeros
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                mean, steps = predicted_motion(arm, state, health, tau, count, dt)
                new = corrected(model, gains, inner, mean, steps, health, y, dt)
                return embedded(model, new) if new.health.valid else state._replace(inner=new)
        except (ArrayError, np.linalg.LinAlgError):  # of a state far outside
            diverged = held(health, health.faults | Fault.DIVERGED)
            return state._replace(inner=inner._replace(health=diverged))

    def estimate(self, state: RedundantState) -> Estimate:
        """The state in the user's quantities."""
        return estimate(self.model, state)

    def extrapolate(
        self, state: RedundantState, torques: Sequence[tuple[float, Array]]
    ) -> RedundantState | None:
        """The state after known torques have acted, without readings; None where it diverges."""
        moved = self.observer.extrapolate(state.inner, torques)
        return None if moved is None else embedded(self.model, moved)

    def restore_sensors(self, state: RedundantState) -> RedundantState:
        """The state itself: it has no sensors on the links."""
        return state

    def deviations(self, state: RedundantState) -> None:
        """It has no covariance."""

    def force_covariance(self, state: RedundantState) -> None:
        """It estimates no external force."""

    def with_model(self, model: GearedModel) -> RedundantObserver:
        """The same tuning for a model of the same springs, such as one with a payload."""
        return RedundantObserver(self.observer.with_model(model))


def redundant_observer(
    model: GearedModel, *, gains: NonlinearGains | None = None, **tuning: Any
) -> RedundantObserver:
    """Return the observer in redundant coordinates. See ``nonlinear_observer`` for arguments."""
    return RedundantObserver(nonlinear_observer(model, gains=gains, **tuning))


def redundant_start(model: GearedModel, start: NonlinearState) -> RedundantState:
    """State from one of the nonlinear observer.

    Args:
        model: Geared model with elastic joints, complete.
        start: Where to begin.

    Raises:
        ModelError: where the left inverse does not exist (a revolute joint turns a sliding
            one), or the model is a reduced one.
    """
    cartesian.left_inverse(model)
    return embedded(model, start)


def predicted_motion(
    arm: ObservedArm, state: RedundantState, health: Health, tau: Array, count: int, dt: float
) -> tuple[Array, list[StandingStep]]:
    """The state (2N,) after dt without readings, and the parts of the step.

    Args:
        arm: The arm.
        state: Before it.
        health: With the torques of the motors.
        tau: Known force on the joints (n,).
        count: Parts in which it is predicted.
        dt: Length of all of them [s].

    Raises:
        ArrayError: where the state leaves the numbers that there are.
    """
    model, N = arm.model, arm.sizes.coordinates
    x, nu, L = state.x, state.nu, cartesian.left_inverse(arm.model)
    steps: list[StandingStep] = []
    for _ in range(count):
        rate = L @ nu
        mean = np.concatenate([x, rate])
        step = predicted(arm, mean, health.tau_m, tau, dt / count, state.inner.stay)
        if step is None:
            raise ArrayError("state", "diverges", "start the observer again")
        change = np.concatenate([rate, acceleration(arm, x, nu, L, health.tau_m, tau)])
        mean = mean + dt / count * step.phi @ change + step.lost
        x = mean[:N]
        steps.append(step)
        nu = jacobian(model, x, mean[N:]) @ mean[N:]
    return np.concatenate([x, L @ nu]), steps


def acceleration(
    arm: ObservedArm, x: Array, nu: Array, L: Array, tau_m: Array, tau: Array
) -> Array:
    """Acceleration of x (N,) by the redundant equations, with balancers and friction.

    Of the friction without what multiplies the sign of a rate: the step adds that.

    L nu' with nu' from M nu' + N + v + s = Q + reaction; the reaction keeps nu within J.
    """
    model, n = arm.model, arm.sizes.n
    rate = L @ nu
    state = State(x[:n], rate[:n], x[n:], rate[n:])
    losses, rotors = smooth_friction(model, state)
    along = arm.known_force(tau, x) - losses
    found = cartesian.accelerations(model, state, tau_m - rotors, tau=along)
    return np.concatenate([found.a, found.atheta])


def smooth_friction(model: GearedModel, state: State) -> tuple[Array, Array]:
    """Friction of joints (n,) and rotors (m,) without what multiplies the sign of a rate."""
    joints, rotors = np.zeros(model.n), np.zeros(len(model.motor_names))
    speed = elastic.motor_speeds(model, state)
    angle = elastic.motor_angles(model, state) - model.motor_zeros  # which the laws shift by
    for laws, rate, place, found in (
        (model.joint_friction, state.v, state.q, joints),
        (model.motors.friction, speed, angle, rotors),
    ):
        k = laws.multiplier
        position = k * place[laws.index] + laws.shift
        force = laws.viscous * k * rate[laws.index] + laws.offset
        for law, order, amplitude, phase in laws.ripple:
            force[int(law)] += amplitude * np.sin(order * position[int(law)] + phase)
        np.add.at(found, laws.index, k * force)
    return joints, rotors


def jacobian(model: GearedModel, x: Array, rate: Array) -> Array:
    """J(x) (15 n or so, N)."""
    n = model.n
    found = cartesian.dynamics(model, State(x[:n], rate[:n], x[n:], rate[n:]))
    return found.jacobian


def embedded(model: GearedModel, inner: NonlinearState) -> RedundantState:
    """State in redundant coordinates of a state in generalised ones."""
    N = len(inner.mean) // 2
    x, rate = inner.mean[:N], inner.mean[N:]
    return RedundantState(x, jacobian(model, x, rate) @ rate, inner)
