"""Figures of a demo: how well each way has tracked, and what it has asked of the motors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.demo.control import WAYS, Way
from geared_dynamics.demo.load import motor_load
from geared_dynamics.demo.motion import Motion
from geared_dynamics.demo.recording import Track
from geared_dynamics.model import GearedModel
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    checked,
    follow,
    sample,
    state,
)

FULL = 0.999  # part of a limit that counts as at the limit


class Outcome(NamedTuple):
    """What came of one way.

    Attributes:
        way: The way.
        times: [s] (k,).
        error: q_d - q (k, n) [rad or m].
        torque: Motor torques (k, m) [N m].
        torque_part: Of their limits (k, m).
        voltage_part: Likewise of the voltages.
    """

    way: Way
    times: Array
    error: Array
    torque: Array
    torque_part: Array
    voltage_part: Array

    @property
    def rms(self) -> float:
        """Of the error over all joints and times [rad or m]."""
        return float(np.sqrt(np.mean(self.error**2)))

    @property
    def rms_by_joint(self) -> Array:
        """(n,) [rad or m]."""
        return np.asarray(np.sqrt(np.mean(self.error**2, axis=0)))

    @property
    def peak(self) -> float:
        """Largest error [rad or m]."""
        return float(np.abs(self.error).max())


class Saturation(NamedTuple):
    """How near a limit came.

    Attributes:
        peak: Largest part of it.
        time: Part of the time in which a motor was at it.
    """

    peak: float
    time: float


def saturation(part: Array) -> Saturation:
    """Of parts of limits (k, m)."""
    return Saturation(float(part.max()), float(np.mean((part >= FULL).any(axis=1))))


def outcomes(
    model: GearedModel, motion: Motion, tracks: Mapping[str, Track]
) -> tuple[Outcome, ...]:
    """Figures of all ways.

    Args:
        model: Geared model.
        motion: The waypoints that were sent.
        tracks: What was recorded, by name.
    """
    return tuple(outcome(model, motion, way, tracks[way.name]) for way in WAYS)


def outcome(model: GearedModel, motion: Motion, way: Way, track: Track) -> Outcome:
    """Figures of one way."""
    seen, motors = track.joints, track.motors
    error = reference(motion, seen.times) - seen.position
    load = motor_load(model, motors.effort, motors.velocity)
    return Outcome(way, seen.times, error, motors.effort, load.torque, load.voltage)


def reference(motion: Motion, times: Array) -> Array:
    """Position of the reference (k, n): between waypoints quintic, as the node has it."""
    names = tuple(f"joint {k}" for k in range(motion.q.shape[1]))
    points = [Point(*row, effort=None) for row in zip(*motion, strict=True)]
    rules = Rules(joints=names)
    waypoints = checked(JointTrajectory(names, points, start=0.0), rules, 0.0)
    path = follow(waypoints, state(motion.q[0]), 0.0, rules)
    return np.array([sample(path, float(t)).q for t in times])


def advantage(found: tuple[Outcome, ...]) -> float:
    """RMS error with the armature model over that with the complete one."""
    by_name = {one.way.name: one for one in found}
    return by_name["armature"].rms / by_name["complete"].rms
