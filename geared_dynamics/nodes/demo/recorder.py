"""Records topics as they come over DDS: bytes, not looked at but for their time."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, NamedTuple

from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from geared_dynamics.bags import Bag
from geared_dynamics.files import new_files
from geared_dynamics.nodes.common.messages import SECOND

JOINT_STATE = "sensor_msgs/msg/JointState"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
DEEP = QoSProfile(depth=10_000)
STAMP = struct.Struct("<iI")  # header.stamp behind the four bytes that say how it is encoded


class Recorded(NamedTuple):
    """One message.

    Attributes:
        topic: Where it came from.
        stamp: Its time [ns].
        data: It, in CDR.
        kind: Its type.
    """

    topic: str
    stamp: int
    data: bytes
    kind: str = JOINT_STATE


class Recorder:
    """Listens to topics with ``JointState`` messages.

    Attributes:
        newest: Stamp of the newest message by topic [ns].
        heard: Number of messages by topic.
    """

    def __init__(self, node: Node, topics: list[str]) -> None:
        """Subscribe."""
        self.newest = dict.fromkeys(topics, 0)
        self.heard = dict.fromkeys(topics, 0)
        self._rows: list[Recorded] | None = None
        for topic in topics:
            node.create_subscription(JointState, topic, self._taker(topic), DEEP, raw=True)

    def _taker(self, topic: str) -> Any:
        def take(data: bytes) -> None:
            seconds, rest = STAMP.unpack_from(data, 4)
            stamp = seconds * SECOND + rest
            self.heard[topic] += 1
            fresh, self.newest[topic] = stamp > self.newest[topic], stamp
            if self._rows is not None and fresh:  # a state may be sent twice
                self._rows.append(Recorded(topic, stamp, data))

        return take

    def begin(self) -> None:
        """Keep what comes from now on."""
        self._rows = []
        for topic in self.newest:
            self.newest[topic] = 0

    def end(self) -> list[Recorded]:
        """Stop, and return what came."""
        rows, self._rows = self._rows or [], None
        return rows


def write_bag(path: Path, runs: dict[str, list[Recorded]]) -> None:
    """Write all runs into one bag, each below its name.

    Args:
        path: Folder to be made.
        runs: Messages by name of the run.
    """
    rows = [row._replace(topic=f"/{name}{row.topic}") for name in runs for row in runs[name]]
    rows.sort(key=lambda row: row.stamp)
    kinds = {row.topic: row.kind for row in rows}
    with new_files(path, parents=True) as (draft,), Bag(draft, kinds) as bag:
        for row in rows:
            bag.write(row.topic, row.stamp, row.data)
