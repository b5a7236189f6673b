"""Joint states as they are on the wire: positions and efforts, whichever fields there are.

As ``nodes/common/wire.py``, but a message without velocities, or without efforts, is read as
quickly: sensors on motors often send positions only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from geared_dynamics.nodes.common.wire import (
    AFTER_STAMP,
    COUNT,
    HEAD,
    LITTLE,
    SECOND,
    STAMP,
    aligned,
)

FIELDS = ("position", "velocity", "effort")


class Shown(NamedTuple):
    """A joint state, as far as the observer needs it.

    Attributes:
        names: Of joints or motors.
        position: Numbers; as many or not.
        effort: Likewise.
        stamp: [ns].
    """

    names: list[str]
    position: Any
    effort: Any
    stamp: int


class Layout(NamedTuple):
    """Where the numbers are in messages that begin alike.

    Attributes:
        prefix: Frame and names, as bytes.
        names: The names.
        counts: Offset of each field's number of values, and that number as bytes.
        position: Offset of the positions, and how many.
        effort: Offset of the efforts, and how many.
        end: Bytes that a message has at least.
    """

    prefix: bytes
    names: list[str]
    counts: tuple[tuple[int, bytes], ...]
    position: tuple[int, int]
    effort: tuple[int, int]
    end: int

    def fits(self, data: bytes) -> bool:
        """Whether a message is laid out so."""
        if len(data) < self.end or not data.startswith(self.prefix, AFTER_STAMP):
            return False
        for offset, number in self.counts:
            if not data.startswith(number, offset):
                return False
        return True


class Reader:
    """Reads serialised joint states."""

    def __init__(self) -> None:
        """Begin without having seen one."""
        self._layout: Layout | None = None

    def read(self, data: bytes) -> Shown:
        """Return what a serialised message holds.

        Args:
            data: As a raw subscription gives it.
        """
        at = self._layout
        if at is None or not at.fits(data):
            return self._learn(data)
        sec, nanosec = STAMP.unpack_from(data, HEAD)
        position = np.frombuffer(data, np.float64, at.position[1], at.position[0])
        effort = np.frombuffer(data, np.float64, at.effort[1], at.effort[0])
        return Shown(at.names, position, effort, sec * SECOND + nanosec)

    def _learn(self, data: bytes) -> Shown:
        """Read slowly, and see whether the next one can be read quickly."""
        message = deserialize_message(data, JointState)
        stamp = message.header.stamp
        self._layout = layout_of(data, message)
        when = int(stamp.sec) * SECOND + int(stamp.nanosec)
        return Shown(list(message.name), message.position, message.effort, when)


def layout_of(data: bytes, message: Any) -> Layout | None:
    """The layout of messages with these names and sizes, None where it is another than expected.

    Args:
        data: A serialised message.
        message: The same, read by rclpy.
    """
    if data[:2] != LITTLE or not message.name:
        return None
    end = aligned(AFTER_STAMP + 4 + len(message.header.frame_id.encode()) + 1, 4) + 4
    for name in message.name:
        end = aligned(end, 4) + 4 + len(name.encode()) + 1
    prefix, counts, places = data[AFTER_STAMP:end], [], {}
    for field in FIELDS:
        values = getattr(message, field)
        counts.append((aligned(end, 4), COUNT.pack(len(values))))
        end = aligned(end, 4) + 4
        start = aligned(end, 8) if len(values) else 0
        end = start + 8 * len(values) if len(values) else end
        places[field] = start, len(values)
        if data[start : start + 8 * len(values)] != values.tobytes():
            return None
    made = Layout(
        prefix, list(message.name), tuple(counts), places["position"], places["effort"], end
    )
    return made if made.fits(data) else None
