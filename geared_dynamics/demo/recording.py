"""The bag of a demo as arrays."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.reading.bag import open_bag
from geared_dynamics.analysis.reading.container import Container
from geared_dynamics.analysis.reading.joints import joint_samples
from geared_dynamics.arrays import Array
from geared_dynamics.demo.control import WAYS
from geared_dynamics.errors import GearedDynamicsError

STATES, MOTORS = "joint_states", "motor_states"
TRAJECTORY = "feedforward_node/joint_trajectory"
SECOND = 1_000_000_000  # [ns]
ENCAPSULATION, STAMP = 4, struct.Struct("<iI")  # bytes before header.stamp, and that


class Series(NamedTuple):
    """One topic's ``JointState`` messages.

    Attributes:
        times: Stamps [s], from the motion's start (k,).
        position: (k, n); likewise the others.
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
        joints: Topic joint_states.
        motors: Topic motor_states.
    """

    joints: Series
    motors: Series


def read(bag: Path, joints: Sequence[str], motors: Sequence[str]) -> dict[str, Track]:
    """Read the runs by name.

    Args:
        bag: Folder of the bag.
        joints: Names in the order of the columns.
        motors: Likewise.

    Raises:
        GearedDynamicsError: if a run is not in it.
    """
    container = open_bag(bag)
    there = {topic.name for topic in container.topics()}
    wanted = [f"/{way.name}/{topic}" for way in WAYS for topic in (STATES, MOTORS, TRAJECTORY)]
    if empty := [topic for topic in wanted if topic not in there]:
        finding = f"has nothing on {', '.join(empty)}"
        raise GearedDynamicsError(str(bag), finding, "run the demo again")
    found = {}
    for way in WAYS:
        sent = container.read(f"/{way.name}/{TRAJECTORY}", 0).messages[0]
        seconds, rest = STAMP.unpack_from(sent, ENCAPSULATION)
        begin = SECOND * seconds + rest
        states = series(container, f"/{way.name}/{STATES}", joints, begin)
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
    parts = [joint_samples(container.read(topic, piece), tuple(names)) for piece in pieces]
    columns = (
        np.concatenate([getattr(part, field) for part in parts])
        for field in ("stamp", "position", "velocity", "effort")
    )
    stamps, position, velocity, effort = columns
    return Series(1e-9 * (stamps - begin), position, velocity, effort)
