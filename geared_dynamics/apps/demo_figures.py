"""Figures of a demo: how well each way has tracked, and what it has asked of the motors."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.apps.demo_motion import DemoMotion, motor_load
from geared_dynamics.apps.demo_plan import WAYS, Way, ways_of
from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.bag import open_bag
from geared_dynamics.recordings.container import Container
from geared_dynamics.recordings.joint_topics import decoded, joint_samples
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    checked,
    follow,
    sample,
    state,
)

# -- The bag of a demo as arrays ------------------------------------------------------------------


STATES, LINKS, MOTORS = "joint_states", "link_states", "motor_states"
TRAJECTORY = "feedforward_node/joint_trajectory"
SECOND = 1_000_000_000  # [ns]
ENCAPSULATION, STAMP = 4, struct.Struct("<iI")  # bytes before header.stamp, and that


class Series(NamedTuple):
    """One topic's ``JointState`` messages.

    Attributes:
        times: Stamps [s], from the motion's start (k,).
        position: (k, n), as all others.
        velocity: (k, n).
        effort: (k, n).
    """

    times: Array
    position: Array
    velocity: Array
    effort: Array


class Track(NamedTuple):
    """One run.

    Attributes:
        joints: Topic joint_states; of arms with springs link_states, which has no effort.
        motors: Topic motor_states.
    """

    joints: Series
    motors: Series


def read(
    bag: Path, joints: Sequence[str], motors: Sequence[str], ways: Sequence[Way] = WAYS
) -> dict[str, Track]:
    """Read the runs by name.

    Args:
        bag: Folder of the bag.
        joints: Names in the order of the columns.
        motors: Names of the motors in the order of the columns.
        ways: What was run.

    Raises:
        GearedDynamicsError: if a run is not in it.
    """
    container = open_bag(bag)
    there = {topic.name for topic in container.topics()}
    shown = STATES if ways[0].springs is None else LINKS
    wanted = [f"/{way.name}/{topic}" for way in ways for topic in (shown, MOTORS, TRAJECTORY)]
    if empty := [topic for topic in wanted if topic not in there]:
        finding = f"has nothing on {', '.join(empty)}"
        raise GearedDynamicsError(str(bag), finding, "run the demo again")
    found = {}
    for way in ways:
        sent = container.read(f"/{way.name}/{TRAJECTORY}", 0).messages[0]
        seconds, rest = STAMP.unpack_from(sent, ENCAPSULATION)
        begin = SECOND * seconds + rest
        states = series(container, f"/{way.name}/{shown}", joints, begin)
        rotors = series(container, f"/{way.name}/{MOTORS}", motors, begin)
        found[way.name] = Track(states, rotors)
    return found


def series(container: Container, topic: str, names: Sequence[str], begin: int) -> Series:
    """Arrays of a topic's messages.

    Args:
        container: The bag.
        topic: One of its topics.
        names: Order of the columns.
        begin: Stamp from which time counts [ns].
    """
    pieces = range(container.pieces(topic))
    parts = [
        joint_samples(decoded(container.read(topic, piece)), tuple(names)) for piece in pieces
    ]
    columns = (
        np.concatenate([getattr(part, field) for part in parts])
        for field in ("stamp", "position", "velocity", "effort")
    )
    stamps, position, velocity, effort = columns
    return Series(1e-9 * (stamps - begin), position, velocity, effort)


# -- Figures of a demo: how well each way has tracked, and what it has asked of the motors --------


FULL = 0.999  # part of a limit that counts as at the limit


class Outcome(NamedTuple):
    """What came of one way.

    Attributes:
        way: The way.
        times: [s] (k,).
        error: q_d - q (k, n) [rad or m].
        torque: Motor torques (k, m) [N m].
        torque_part: Of their limits (k, m).
        voltage_part: Voltages as a part of their limits (k, m).
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
    model: GearedModel, motion: DemoMotion, tracks: Mapping[str, Track]
) -> tuple[Outcome, ...]:
    """Figures of all ways.

    Args:
        model: Geared model.
        motion: The waypoints that were sent.
        tracks: What was recorded, by name.
    """
    return tuple(outcome(model, motion, way, tracks[way.name]) for way in ways_of(model))


def outcome(model: GearedModel, motion: DemoMotion, way: Way, track: Track) -> Outcome:
    """Figures of one way."""
    seen, motors = track.joints, track.motors
    error = reference(motion, seen.times) - seen.position
    load = motor_load(model, motors.effort, motors.velocity)
    return Outcome(way, seen.times, error, motors.effort, load.torque, load.voltage)


def reference(motion: DemoMotion, times: Array) -> Array:
    """Position of the reference (k, n): between waypoints quintic, as the node has it."""
    names = tuple(f"joint {k}" for k in range(motion.q.shape[1]))
    points = [Point(*row, effort=None) for row in zip(*motion, strict=True)]
    rules = Rules(joints=names)
    waypoints = checked(JointTrajectory(names, points, start=0.0), rules, 0.0)
    path = follow(waypoints, state(motion.q[0]), 0.0, rules)
    return np.array([sample(path, float(t)).q for t in times])


def advantage(found: tuple[Outcome, ...]) -> float:
    """RMS error with the simpler model over that with the complete one, which are the last two."""
    return found[-2].rms / found[-1].rms
