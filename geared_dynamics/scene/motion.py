"""Motions to be shown: positions of all that moves, and torques, at even times."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from geared_dynamics.actuation.motor_commands import motor_commands
from geared_dynamics.arrays import Array, Frozen
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.scene.shapes import wheel_angles

PERIOD = 6.0  # after which the swing repeats [s]
FRAMES = 30.0  # per second of a page
MOST = 3000  # frames of a page
SWING = 0.7, 0.12  # most of a joint that turns [rad], that slides [m]
PART = 0.4  # of the range between a joint's limits
LEAN = 0.25  # of it, where a joint's motion has its middle: arms look better bent
# Turns per second of the fastest wheel as it is shown: faster ones seem to stand or turn back.
SEEN = 1.5
PACES = tuple(1.0 / (m * 10.0**k) for k in range(6) for m in (1, 2, 5))


@dataclass(frozen=True, eq=False)
class ArmMotion(Frozen):
    """A motion at k even times.

    Attributes:
        title: What it is.
        torques: Where the torques come from.
        time: [s] from 0 (k,).
        q: Joint position (k, n) [rad or m].
        v: Joint velocity (k, n).
        joint_torque: Joint force (k, n) [N m or N]; NaN where it is not known.
        motor_torque: (k, m) [N m]; NaN where it is not known.
        theta: Motor side of the springs (k, n_e), where they are known.
    """

    title: str
    torques: str
    time: Array
    q: Array
    v: Array
    joint_torque: Array
    motor_torque: Array
    theta: Array | None = None

    @property
    def length(self) -> float:
        """How long it takes [s]."""
        return float(self.time[-1])


def swing(model: GearedModel) -> ArmMotion:
    """All joints back and forth within their limits, with computed torques; it repeats."""
    time = np.linspace(0.0, PERIOD, round(PERIOD * FRAMES) + 1)
    middle, amplitude = swings(model)
    k = np.arange(model.n)
    beat = 2.0 * np.pi * (1 + k % 2) / PERIOD
    angle = beat * time[:, None] + 1.3 * k
    q = middle + amplitude * np.sin(angle)
    v, a = amplitude * beat * np.cos(angle), -amplitude * beat**2 * np.sin(angle)
    return computed(model, "back and forth within the limits", time, q, v, a)


def swings(model: GearedModel) -> tuple[Array, Array]:
    """Middle and amplitude of each joint's motion (n,), within its limits."""
    lower, upper = model.limits.lower, model.limits.upper
    middle, amplitude = np.zeros(model.n), np.where(model.prismatic, SWING[1], SWING[0])
    for d in np.flatnonzero(np.isfinite(upper - lower)):
        most, half = amplitude[d], 0.5 * (upper[d] - lower[d])
        middle[d] = 0.5 * (upper[d] + lower[d]) + LEAN * min(half, 2.0 * most)
        amplitude[d] = min(most, PART * half)
    return middle, amplitude


def computed(
    model: GearedModel, title: str, time: Array, q: Array, v: Array, a: Array
) -> ArmMotion:
    """A motion with the torques that the complete model computes for it.

    Args:
        model: Geared model.
        title: What it is.
        time: Even times (k,) [s].
        q: Joint position (k, n).
        v: Joint velocity (k, n).
        a: Joint acceleration (k, n).
    """
    shown = np.arange(0, len(time), max(1, round(1.0 / (FRAMES * (time[1] - time[0])))))
    time, q, v, a = time[shown], q[shown], v[shown], a[shown]
    words = "computed by the complete model"
    torque = inverse_dynamics(model, q, v, a)
    try:
        motors = motor_commands(model, q, v, a).torque
    except GearedDynamicsError as error:
        motors = np.full((len(time), len(model.motor_names)), np.nan)
        if model.motor_names:
            words += f"; of motors not ({error.finding})"
    return ArmMotion(title, words, time, q, v, torque, motors)


def resampled(motion: ArmMotion) -> ArmMotion:
    """The same at no more frames per second, and no more frames, than a page shows."""
    count = min(max(2, round(motion.length * FRAMES) + 1), MOST)
    time = np.linspace(0.0, motion.length, count)

    def at(rows: Array) -> Array:
        """Columns at the new times."""
        columns = [np.interp(time, motion.time, column) for column in rows.T]
        return np.stack(columns, axis=-1) if columns else np.zeros((count, 0))

    return replace(
        motion,
        time=time,
        q=at(motion.q),
        v=at(motion.v),
        joint_torque=at(motion.joint_torque),
        motor_torque=at(motion.motor_torque),
        theta=None if motion.theta is None else at(motion.theta),
    )


def wheel_speeds(model: GearedModel, motion: ArmMotion) -> Array:
    """Speed of each wheel relative to its carrier (k, w) [rad/s]."""
    if motion.theta is None:
        return np.asarray(motion.v @ model.Gamma.T)
    angles = wheel_angles(model, motion.q, motion.theta)
    return np.asarray(np.gradient(angles, motion.time, axis=0))


def pace(model: GearedModel, motion: ArmMotion) -> float:
    """How much slower than they are all wheels are shown: 1, 1/2, 1/5, 1/10 and so on."""
    speeds = wheel_speeds(model, motion)
    fastest = float(np.abs(speeds).max(initial=0.0)) / (2.0 * np.pi)
    return next((step for step in PACES if step * fastest <= SEEN), PACES[-1])
