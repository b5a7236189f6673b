"""The bag of a demo as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.demo.control import WAYS
from geared_dynamics.errors import GearedDynamicsError

STATES, MOTORS = "joint_states", "motor_states"
TRAJECTORY = "feedforward_node/joint_trajectory"
FIELDS = ("position", "velocity", "effort")


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
    topics = (STATES, MOTORS, TRAJECTORY)
    rows = messages(bag, [f"/{way.name}/{topic}" for way in WAYS for topic in topics])
    found = {}
    for way in WAYS:
        states, rotors, sent = (rows[f"/{way.name}/{topic}"] for topic in topics)
        begin = sent[0].header.stamp
        found[way.name] = Track(series(states, joints, begin), series(rotors, motors, begin))
    return found


def messages(bag: Path, topics: Sequence[str]) -> dict[str, list[Any]]:
    """Messages by topic, at least one of each."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    found: dict[str, list[Any]] = {topic: [] for topic in topics}
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        chosen = [connection for connection in reader.connections if connection.topic in found]
        for connection, _, data in reader.messages(connections=chosen):
            found[connection.topic].append(reader.deserialize(data, connection.msgtype))
    empty = [topic for topic, rows in found.items() if not rows]
    if empty:
        finding = f"has nothing on {', '.join(empty)}"
        raise GearedDynamicsError(str(bag), finding, "run the demo again")
    return found


def series(rows: Sequence[Any], names: Sequence[str], begin: Any) -> Series:
    """Arrays of messages.

    Args:
        rows: Messages in the order of time.
        names: Order of the columns.
        begin: Stamp from which time counts.
    """
    index = [list(rows[0].name).index(name) for name in names]
    stamps = [row.header.stamp for row in rows]
    times = [s.sec - begin.sec + 1e-9 * (int(s.nanosec) - int(begin.nanosec)) for s in stamps]
    columns = [np.array([getattr(row, field) for row in rows])[:, index] for field in FIELDS]
    return Series(np.array(times), *columns)
