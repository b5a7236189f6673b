"""What all observers have in common: protocol, estimate, the way ahead; each has its own step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen
from geared_dynamics.checks import warn_former
from geared_dynamics.dynamics.elastic.equations import joint_torque, spring_matrix
from geared_dynamics.dynamics.elastic.motors import motor_speeds
from geared_dynamics.dynamics.state import Measurement, State
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.contacts import on_joints
from geared_dynamics.observers.health import Health, with_sensors_restored
from geared_dynamics.observers.readings import (
    ObservedArm,
    ObserverGains,
    observed_arm,
    refuse_mean,
    refuse_other,
)
from geared_dynamics.observers.standing import largest

# -- One protocol of observers: a frozen value made for one arm, its state a value beside it ------


class ObserverState(Protocol):
    """State of any of the observers, a value."""

    @property
    def mean(self) -> Array:
        """q, theta, v, vtheta, and of some the unaccounted force on q and theta."""

    @property
    def health(self) -> Health:
        """Whether it is valid."""

    @property
    def innovation(self) -> Array:
        """Readings less their predictions in the last step (c,), or the motors' alone (m,)."""

    @property
    def ratio(self) -> float:
        """Twice the share of instants with innovations above their median, 1 to 2."""

    @property
    def consistent(self) -> bool:
        """Whether its innovations are as small as expected."""

    @property
    def friction_stands(self) -> BoolArray | None:
        """Which friction laws stand (e,), joints' and then rotors'; None with a covariance."""

    @property
    def gains_type(self) -> type:
        """Of the gains that its observer has."""


S = TypeVar("S")
M = TypeVar("M", bound="ModelObserver[Any]")


class Deviations(NamedTuple):
    """Standard deviations of an observer with a covariance.

    Attributes:
        innovation: Of the readings less their predictions (c,).
        q: Of the joint position (n,).
        v: Of the joint velocity (n,).
        external: Of the external force (n,) [N m or N].
        friction: Part of that which friction at rest leaves open (n,).
    """

    innovation: Array
    q: Array
    v: Array
    external: Array
    friction: Array


class Observer(Protocol[S]):
    """An observer of one arm: a frozen value; its state is a value that it takes and returns.

    Made by ``kalman_observer``, ``nonlinear_observer`` and ``redundant_observer``.
    """

    @property
    def model(self) -> GearedModel:
        """The arm."""

    @property
    def gains(self) -> ObserverGains:
        """The tuning."""

    def start(self, measurement: Measurement, *, q: ArrayLike | None = None) -> S:
        """State from the first readings, of an arm at rest.

        Args:
            measurement: The first readings; all motors' encoders must be among them.
            q: Joint position (n,), where it is known better.
        """

    def step(
        self, state: S, measurement: Measurement, dt: float, *, known: ArrayLike | None = None
    ) -> S:
        """State after dt with new readings.

        Args:
            state: Before.
            measurement: The readings at the end of the step, the torques over it.
            dt: Since the readings before [s].
            known: Force on the joints that is known in addition (n,) [N m or N].
        """

    def estimate(self, state: S) -> Estimate:
        """The state in the user's quantities."""

    def extrapolate(self, state: S, torques: Sequence[tuple[float, Array]]) -> S | None:
        """The state after known torques have acted, without readings; None where it diverges."""

    def restore_sensors(self, state: S) -> S:
        """The state in which lost sensors on the links count again, if they are plausible."""

    def deviations(self, state: S) -> Deviations | None:
        """Standard deviations by the covariance; None of an observer without."""

    def force_covariance(self, state: S) -> Array | None:
        """Covariance of the external force (n, n); None of an observer that estimates none."""

    def with_model(self, model: GearedModel) -> Observer[S]:
        """The same tuning for a model of the same springs, such as one with a payload."""


@dataclass(frozen=True, eq=False)
class ModelObserver(Frozen, Generic[S]):
    """What the observers with a mean and gains share.

    Attributes:
        arm: The arm they follow, packed.
        gains: The tuning.
    """

    arm: ObservedArm
    gains: Any

    @property
    def model(self) -> GearedModel:
        """The arm."""
        return self.arm.model

    def estimate(self, state: S) -> Estimate:
        """The state in the user's quantities."""
        return estimate(self.arm.model, cast("ObserverState", state))

    def extrapolate(self, state: S, torques: Sequence[tuple[float, Array]]) -> S | None:
        """The state after known torques have acted, without readings; None where it diverges.

        Only the mean moves. The unaccounted force of the Kalman filter goes on as it is. What else
        the state holds (innovation, covariance, health) is that of its last readings.

        Args:
            state: Of this observer.
            torques: How long [s] which torque of the motors (m,) [N m] acts, one after the other.
        """
        before: Any = state
        mean = moved_mean(self.arm, before.mean, torques)
        return None if mean is None else cast("S", before._replace(mean=mean))

    def ahead(self, state: S, torques: Sequence[tuple[float, Array]]) -> S | None:
        """Former name of ``extrapolate``."""
        warn_former("Observer.ahead", "extrapolate")
        return self.extrapolate(state, torques)

    def restore_sensors(self, state: S) -> S:
        """The state in which lost sensors on the links count again, if they are plausible."""
        before: Any = state
        health = with_sensors_restored(before.health, self.gains.limits)
        return cast("S", before._replace(health=health))

    def deviations(self, state: S) -> Deviations | None:
        """Standard deviations by the covariance: None, there is none."""
        return None

    def force_covariance(self, state: S) -> Array | None:
        """Covariance of the external force (n, n): None, it is not estimated."""
        return None

    def with_model(self: M, model: GearedModel) -> M:
        """The same tuning for a model of the same springs, such as one with a payload."""
        refuse_other(model, self.gains, type(self.gains))
        return replace(self, arm=observed_arm(model))


def fitted(
    model: GearedModel,
    gains: Any,
    kind: type,
    make: Callable[..., Any],
    tuning: Mapping[str, Any],
) -> tuple[ObservedArm, Any]:
    """The arm, packed, and gains for it: those that are given, or made from keywords."""
    if gains is not None and tuning:
        finding = f"are given in addition to {', '.join(tuning)}"
        raise ArrayError("gains", finding, "give either gains, or the settings they follow from")
    if gains is None:
        gains = make(model, **tuning)
    refuse_other(model, gains, kind)
    return observed_arm(model), gains


# -- What an observer's state says in the user's quantities ---------------------------------------


class Estimate(NamedTuple):
    """An estimate of an elastic arm's motion and forces.

    Attributes:
        q: Joint position, link side of the springs (n,) [rad or m].
        v: Joint velocity (n,).
        theta: Position of the motor side of the springs (n_e,), joint side.
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


def estimate(
    model: GearedModel, state: ObserverState, gains: ObserverGains | None = None
) -> Estimate:
    """Estimate from an observer's state, as ``observer.estimate(state)``.

    Args:
        model: Geared model with elastic joints.
        state: Of any of the observers.
        gains: Its gains, to refuse those of another arm; the state needs none.
    """
    if gains is not None:
        refuse_other(model, gains, state.gains_type)
    n, N = model.n, model.n + model.elasticity.count
    refuse_mean(state.mean, (2 * N, 3 * N), "the observer's start")
    q, theta, v, vtheta, force = np.split(state.mean, [n, N, N + n, 2 * N])
    motion = State(q, v, theta, vtheta)
    force = force if force.size else np.zeros(N)
    standing, known = state.friction_stands, slice(2 * N, 2 * N + n)
    deviation = friction = np.full(3 * N, np.nan)
    if standing is None:
        covered: Any = state
        deviation, friction = covered.deviations, covered.friction_deviations
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
        q_deviation=deviation[:n] if standing is None else hidden(model, standing),
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
    n = model.n
    levels = np.zeros(n), np.zeros(len(model.motor_names))
    parts = (joints, standing[: joints.count]), (rotors, standing[joints.count :])
    for level, (laws, still) in zip(levels, parts, strict=True):
        np.add.at(level, laws.index, still * np.abs(laws.multiplier) * largest(laws))
    force = on_joints(model, *levels)
    K = np.diag(spring_matrix(model, model.elasticity.stiffness))[:n]
    found = np.full(n, np.nan)
    np.divide(force, K, out=found, where=(force > 0.0) & (K > 0.0))
    return found


# -- From an estimate of a little while ago to one of now: for encoders that are read late --------


LONGEST = 0.005  # of one step of the prediction [s]


def moved_mean(
    arm: ObservedArm, mean: Array, torques: Sequence[tuple[float, Array]]
) -> Array | None:
    """A state's mean (2N,) or (3N,) after torques, as ``extrapolate``; None if it diverges."""
    N, k = arm.sizes.coordinates, arm.sizes.state
    whole = np.zeros(k)
    whole[: len(mean)] = mean
    out = np.empty(k + N + 8 * N * N)
    nothing = np.zeros(arm.sizes.n)
    for span, tau_m in torques:
        count = ceil(span / LONGEST - 1e-9)
        for _ in range(count):
            given = np.concatenate([tau_m, arm.known_force(nothing, whole), [span / count]])
            if kernels.observer_transition(*arm.forms, whole, given, out) != 0:
                return None
            whole[: 2 * N] = out[: 2 * N]
    return whole[: len(mean)]


# -- Former functions of each observer, for one release -------------------------------------------


def former(make: Callable[..., Any], method: Callable[..., Any]) -> Any:
    """A function (model, gains, ...) that makes the observer and calls a method of it."""
    name = method.__name__

    def call(model: GearedModel, gains: Any, *args: Any, **named: Any) -> Any:
        if gains is None:
            raise ArrayError("gains", "are missing", f"make the observer with {make.__name__}")
        return getattr(make(model, gains=gains), name)(*args, **named)

    own = list(inspect.signature(call).parameters.values())[:2]
    signature = inspect.signature(method)
    rest = list(signature.parameters.values())[1:]
    setattr(call, "__signature__", signature.replace(parameters=own + rest))  # noqa: B010
    call.__name__ = call.__qualname__ = make.__name__.replace("observer", name)
    call.__doc__ = f"Former form of ``{name}``, for one release. See ``{make.__name__}``."
    return call
