"""Extended Kalman filter of an elastic arm, in square roots, with what the model misses.

    x' = velocity
    H x'' = A tau_m + springs + tau + d - friction - C x' - g + noise
    d'  = noise

d (N,) is the force on x that is not modelled, a random walk. On the joints it is the external
force, and what the model has wrong there. On the motor side of the springs it is zero, unless a
sensor on the links tells both apart; it then takes up wrong stiffness and friction.

Friction of what stands still is any number within its level (``stiction``). It changes no gain
and no estimate, but the covariance: the errors that it makes are carried on beside it.

Prediction and linearisation: ``kernels/observer*.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike, BoolArray, readonly
from geared_dynamics.dynamics.arguments import one_state
from geared_dynamics.dynamics.elastic.equations import structure_matrix
from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels.observer_layout import GROUPS
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import (
    Fault,
    Health,
    commanded,
    healthy,
    held,
    parts,
    updated_ratio,
)
from geared_dynamics.observers.kalman_gains import KalmanGains, kalman_gains, positive
from geared_dynamics.observers.observer import Deviations, ModelObserver, fitted
from geared_dynamics.observers.readings import ObservedArm, at_rest, inputs, readings, refuse_state
from geared_dynamics.observers.screening import FORGET, screened
from geared_dynamics.observers.standing import in_motion, no_rows, passing

NONE = readonly(np.zeros(0))
STANDS = np.zeros(1, bool)  # where no friction is stated
ASTRAY = 1.0  # standard deviations
# Times the deviation by friction at rest where a motor moves: the rows follow the slope of a
# smooth sign, and what is torn off goes beyond it.
TORN = 1.25


class KalmanState(NamedTuple):
    """A filter's state, a value.

    Attributes:
        mean: q, theta, v, vtheta, unaccounted force on q and theta (k,).
        root: U, by rows (k k,): U' U is the covariance that makes the gains.
        innovation: Readings less their predictions in the last step (c,); NaN where missing.
        deviation: Their standard deviations (c,), to which friction at rest counts half: it is
            bounded.
        nis: Normalised innovation squared of the last step.
        used: How many readings that sums over.
        ratio: Twice the share of instants within the window in which nis was above its median:
            1 if model and tuning are right, 2 at most (``health.updated_ratio``).
        health: Faults, and what else is known of the inputs.
        consistent: Whether chance explains the ratio.
        friction: What friction at rest leaves open, in rows of one standard deviation (e k,).
        ringing: How fast a joint vibrates while its motor is at rest (n,) [rad/s].
        wake: Deviations (k,) by friction at rest, the largest of late: they fade exponentially.
    """

    mean: Array
    root: Array
    innovation: Array
    deviation: Array
    nis: float
    used: int
    ratio: float
    health: Health
    consistent: bool = True
    friction: Array = NONE
    ringing: Array = NONE
    wake: Array = NONE

    @property
    def friction_stands(self) -> None:
        """Friction at rest is part of the covariance."""

    @property
    def gains_type(self) -> type[KalmanGains]:
        """Of the gains that its observer has."""
        return KalmanGains

    @property
    def covariance(self) -> Array:
        """P (k, k) of the mean, with what friction at rest leaves open."""
        rows = self.rows
        return np.asarray(rows.T @ rows)

    @property
    def deviations(self) -> Array:
        """Standard deviations (k,) of the mean."""
        rows = self.rows
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", rows, rows)))

    @property
    def friction_deviations(self) -> Array:
        """Part of ``deviations`` (k,) that friction at rest leaves open; zero where none rests."""
        k = len(self.mean)
        open_ = self.rows[k:]
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", open_, open_)))

    @property
    def rows(self) -> Array:
        """Rows (r, k) whose squares sum up to the covariance.

        A link may vibrate unseen where its motor is at rest, as far as friction holds that: its
        velocity is as uncertain as its position times the frequency. What a motor that moved off
        leaves behind swings as it dies out, in an unknown phase: its deviation does not
        pass through zero with the rows, but is what they were of late (``wake``).
        """
        k, n = len(self.mean), len(self.ringing)
        U = self.root.reshape(k, k)
        if not self.friction.size:
            return U
        open_ = self.friction.reshape(-1, k)
        unseen = np.zeros((len(open_) // GROUPS, k))
        unseen[:, k // 3 : k // 3 + n] = self.ringing * open_[: len(unseen), :n]
        left = self.wake**2 - np.einsum("ij,ij->j", open_, open_)
        swinging = np.diag(np.sqrt(np.maximum(left, 0.0)))
        return np.concatenate([U, open_, unseen, swinging])


@dataclass(frozen=True, eq=False)
class KalmanObserver(ModelObserver[KalmanState]):
    """The Kalman filter of one arm; made by ``kalman_observer``."""

    gains: KalmanGains

    def start(
        self,
        measurement: Measurement,
        *,
        q: ArrayLike | None = None,
        twist: float = 0.05,
        speed: float = 1.0,
        force: ArrayLike | None = None,
    ) -> KalmanState:
        """State from the first readings: at rest, springs holding the weight, links as they show.

        Args:
            measurement: The first readings; all motors' encoders must be among them.
            q: Joint position (n,), where it is known better.
            twist: Standard deviation of the joints' positions [rad or m].
            speed: Of all velocities, at the joints.
            force: Of the external force (n,) [N m or N]; if not given, what the walk reaches in
                a second.

        Raises:
            ArrayError: where a motor's encoder is missing.
        """
        gains, sizes = self.gains, self.gains.sizes
        y, (tau_m, _) = readings(sizes, measurement), inputs(sizes, measurement)
        if not np.all(np.isfinite(y[: sizes.motors])):
            raise ArrayError("motor_angle", "is missing", "start when all encoders have readings")
        x = at_rest(self.arm.model, y[: sizes.motors])
        link = y[sizes.motors : sizes.motors + sizes.n]
        x[: sizes.n] = np.where(np.isfinite(link), link, x[: sizes.n])
        if q is not None:
            x[: sizes.n] = one_state("q", q, sizes.n)
        N, n = sizes.coordinates, sizes.n
        mean = np.concatenate([x, np.zeros(2 * N)])
        missed = gains.walk.copy()
        if force is not None:
            missed[:n] = positive("force", force, n, zero=True)
        turned = np.full(N, positive("twist", twist, 1, zero=True)[0])
        fast = np.full(N, positive("speed", speed, 1, zero=True)[0])
        deviations = np.concatenate([turned, fast, missed])
        zero = np.zeros(sizes.readings)
        health = healthy(y - gains.offsets, tau_m)
        root = np.diag(deviations).ravel()
        return KalmanState(
            mean,
            root,
            zero,
            zero,
            nis=0.0,
            used=0,
            ratio=1.0,
            health=health,
            friction=no_rows(gains.stiction, sizes.state),
            ringing=gains.ringing,
            wake=np.zeros(sizes.state),
        )

    def step(
        self,
        state: KalmanState,
        measurement: Measurement,
        dt: float,
        *,
        known: ArrayLike | None = None,
    ) -> KalmanState:
        """State after dt with new readings.

        Args:
            state: Before.
            measurement: The readings at the end of the step, the torques over it.
            dt: Since the readings before [s].
            known: Force on the joints that is known in addition (n,) [N m or N]; zero if not
                given.

        Returns:
            The state; with ``health.faults`` for what was wrong, ``health.valid`` False once the
            estimate is held. A bad reading is no error: it is flagged and bridged.
        """
        arm, gains = self.arm, self.gains
        sizes, limits = gains.sizes, gains.limits
        refuse_state(state, KalmanState, "kalman_observer(...).start", sizes.state)
        y, (tau_m, tau) = readings(sizes, measurement), inputs(sizes, measurement, known)
        fault, count = parts(dt, limits)
        if not state.health.valid:
            return state._replace(health=held(state.health, fault))
        if fault == Fault.INTERVAL:
            return state._replace(health=state.health._replace(faults=fault))
        health, going = commanded(state.health, limits, tau_m, dt)
        if fault or not going:
            return state._replace(health=held(health, health.faults | fault))
        if Fault.COMMAND in health.faults:
            gains = doubtful(arm.model, gains, health.tau_m)
        motors = gains.noise[: sizes.motors]
        moving = in_motion(state.health.past, motors) if gains.stiction.size else STANDS
        predicted = predict(arm, gains, state, health.tau_m, tau, dt, count, moving)
        if predicted is None:
            return state._replace(health=held(health, health.faults | Fault.DIVERGED))
        mean, factor, shown, spread = predicted
        deviation = np.sqrt(spread + gains.tuning[-sizes.readings :])
        moved = shown - gains.rows @ state.mean
        value = y - gains.offsets
        before = health
        health, used = screened(before, limits, value, shown, moved, deviation, dt)
        if Fault.STUCK in health.faults and gains.stiction.size:
            wider = astray(gains, factor) * (before.silent == 0.0)  # what was stuck stays so
            limits = limits._replace(stuck=limits.stuck + wider)
            health, used = screened(before, limits, value, shown, moved, deviation, dt)
        innovation = value - shown
        if not health.valid:
            return state._replace(health=health, innovation=innovation, deviation=deviation)
        k = sizes.state
        out, end = np.empty(k + len(factor) + 1), k + k * k
        forms = arm.forms[:2]
        chosen = used.astype(np.float64)
        taken = np.where(used, value, 0.0)
        if kernels.observer_update(*forms, gains.tuning, mean, factor, taken, chosen, out) != 0:
            return state._replace(health=held(health, health.faults | Fault.DIVERGED))
        nis, number = float(out[-1]), int(np.count_nonzero(used))
        ratio = updated_ratio(state.ratio, nis, number, dt / gains.window)
        fits = ratio <= gains.most
        friction, N = out[end:-1], sizes.coordinates
        pull = limits.carried @ out[2 * N : 2 * N + sizes.n]
        pull += gains.rows[:, :N] @ (out[N : 2 * N] - mean[N : 2 * N]) / dt
        health = health._replace(pull=pull)
        wake = faded(gains, state.wake, friction.reshape(-1, k), dt, moving)
        return KalmanState(
            out[:k], out[k:end], innovation, deviation, nis, number, ratio, health, fits,
            friction, gains.ringing, wake,
        )  # fmt: skip

    def deviations(self, state: KalmanState) -> Deviations:
        """Standard deviations of the innovations, the links and the external force."""
        sizes, every, friction = self.arm.sizes, state.deviations, state.friction_deviations
        n, N = sizes.n, sizes.coordinates
        force = slice(2 * N, 2 * N + n)
        rates = every[N : N + n]
        return Deviations(state.deviation, every[:n], rates, every[force], friction[force])

    def force_covariance(self, state: KalmanState) -> Array:
        """Covariance of the external force (n, n)."""
        first = 2 * self.arm.sizes.coordinates
        rows = state.rows[:, first : first + self.arm.sizes.n]
        return np.asarray(rows.T @ rows)


def kalman_observer(
    model: GearedModel, *, gains: KalmanGains | None = None, **tuning: Any
) -> KalmanObserver:
    """Return the Kalman filter of an arm.

    Args:
        model: Geared model with elastic joints.
        gains: Its gains; made by ``kalman_gains(model, **tuning)`` where they are not given.
        tuning: Arguments of ``kalman_gains``: resolution=..., bandwidth=... and so on.

    Raises:
        ArrayError: where the gains are of another arm or another observer.
    """
    return KalmanObserver(*fitted(model, gains, KalmanGains, kalman_gains, tuning))


def faded(gains: KalmanGains, wake: Array, open_: Array, dt: float, moving: BoolArray) -> Array:
    """The largest deviations of late (k,) of rows (e, k); they fade as the filter's errors do."""
    if not len(open_):
        return wake
    now = np.sqrt(np.einsum("ij,ij->j", open_, open_))
    if moving[-1]:
        now *= TORN
    return np.asarray(np.maximum(now, exp(-gains.fade * dt) * wake))


def doubtful(model: GearedModel, gains: KalmanGains, tau_m: Array) -> KalmanGains:
    """Gains for a step whose torques are guessed: noise of the size of the guess.

    An unknown torque that keeps its value over the time ``hold`` has the density tau sqrt(hold).
    """
    k, c, N = gains.sizes.state, gains.sizes.readings, gains.sizes.coordinates
    tuning = gains.tuning.copy()
    guess = np.abs(structure_matrix(model)) @ np.abs(tau_m) * np.sqrt(gains.limits.hold)
    tuning[c * k : c * k + N] = np.hypot(tuning[c * k : c * k + N], guess)
    return replace(gains, tuning=tuning)


def predict(
    arm: ObservedArm,
    gains: KalmanGains,
    state: KalmanState,
    tau_m: Array,
    tau: Array,
    dt: float,
    count: int,
    moving: BoolArray,
) -> tuple[Array, Array, Array, Array] | None:
    """Mean, root with friction's rows, readings and their variances after dt; None if none."""
    k, c, part, age = gains.sizes.state, gains.sizes.readings, dt / count, state.health.age
    mean, factor = state.mean, np.concatenate([state.root, friction_rows(gains, state)])
    for number in range(1, count + 1):
        standing = passing(gains.stiction, gains.interval, age + number * part, part, moving)
        given = np.concatenate([tau_m, arm.known_force(tau, mean), [part], standing])
        out = np.empty(k + len(factor) + 2 * c)
        if kernels.observer_predict(*arm.forms, gains.tuning, mean, factor, given, out) != 0:
            return None
        mean, factor = out[:k], out[k : k + len(factor)]
    return mean, factor, out[-2 * c : -c], out[-c:]


def astray(gains: KalmanGains, factor: Array) -> Array:
    """How far friction at rest lets predicted readings travel that stand still (c,).

    What stands within friction looks like an encoder that is stuck, until the filter has
    dropped the speed that it had predicted.
    """
    k, N = gains.sizes.state, gains.sizes.coordinates
    rates = factor[k * k :].reshape(-1, k)[:, N : 2 * N] @ gains.rows[:, :N].T
    return np.asarray(ASTRAY * FORGET * np.sqrt(np.einsum("ij,ij->j", rates, rates)))


def friction_rows(gains: KalmanGains, state: KalmanState) -> Array:
    """The state's rows of friction at rest; new ones where its gains had other laws."""
    fresh = no_rows(gains.stiction, gains.sizes.state)
    return state.friction if len(state.friction) == len(fresh) else fresh
