"""Joint states and commands as they are on the wire, without a Python object for each field.

Turning a ``JointState`` into Python objects and back costs as much as a law. What does not
change from message to message, the names, is compared as bytes; the numbers are read and
written in place. The layout is not taken for granted: it is found, or checked, with rclpy's
own (de)serialisation, and where it does not fit that is used for every message.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from geared_dynamics.arrays import Array

STAMP = struct.Struct("<iI")
COUNT = struct.Struct("<I")
LITTLE = b"\x00\x01"  # plain CDR, least significant byte first
HEAD = 4  # bytes before the message
AFTER_STAMP = HEAD + STAMP.size
SECOND = 1_000_000_000  # [ns]


class Seen(NamedTuple):
    """A joint state, as far as the loop needs it.

    Attributes:
        names: Of the joints.
        position: As many numbers, or not.
        velocity: Likewise.
        stamp: [ns].
    """

    names: list[str]
    position: Any
    velocity: Any
    stamp: int


class Layout(NamedTuple):
    """Where the numbers are in messages that begin alike.

    Attributes:
        prefix: Frame, names and number of positions, as bytes.
        names: The names.
        position: Offset of the positions.
        rates: Offset of the number of velocities.
        velocity: Offset of the velocities.
        number: That of the joints, as bytes.
    """

    prefix: bytes
    names: list[str]
    position: int
    rates: int
    velocity: int
    number: bytes


class StateReader:
    """Reads serialised joint states."""

    def __init__(self) -> None:
        """Begin without having seen one."""
        self._layout: Layout | None = None

    def read(self, data: bytes) -> Seen:
        """Return what a serialised message holds.

        Args:
            data: As a raw subscription gives it.
        """
        at = self._layout
        known = at is not None and data.startswith(at.prefix, AFTER_STAMP)
        if at is None or not known or not data.startswith(at.number, at.rates):
            return self._learn(data)
        sec, nanosec = STAMP.unpack_from(data, HEAD)
        count = len(at.names)
        position = np.frombuffer(data, np.float64, count, at.position)
        velocity = np.frombuffer(data, np.float64, count, at.velocity)
        return Seen(at.names, position, velocity, sec * SECOND + nanosec)

    def _learn(self, data: bytes) -> Seen:
        """Read slowly, and see whether the next one can be read quickly."""
        message = deserialize_message(data, JointState)
        stamp = message.header.stamp
        self._layout = layout_of(data, message)
        when = int(stamp.sec) * SECOND + int(stamp.nanosec)
        return Seen(list(message.name), message.position, message.velocity, when)


def layout_of(data: bytes, message: Any) -> Layout | None:
    """The layout of messages with these names, None where it is another than expected.

    Args:
        data: A serialised message.
        message: The same, read by rclpy.
    """
    names, n = list(message.name), len(message.name)
    sizes = (len(message.position), len(message.velocity))
    if data[:2] != LITTLE or n == 0 or sizes != (n, n):
        return None
    end = AFTER_STAMP + 4 + len(message.header.frame_id.encode()) + 1
    end = aligned(end, 4) + 4
    for name in names:
        end = aligned(end, 4) + 4 + len(name.encode()) + 1
    end = aligned(end, 4) + 4
    position = aligned(end, 8)
    rates = position + 8 * n
    velocity = aligned(rates + 4, 8)
    number = COUNT.pack(n)
    good = (
        data[end - 4 : end] == number
        and data[position:rates] == message.position.tobytes()
        and data[rates : rates + 4] == number
        and data[velocity : velocity + 8 * n] == message.velocity.tobytes()
    )
    return (
        Layout(data[AFTER_STAMP:end], names, position, rates, velocity, number) if good else None
    )


def aligned(offset: int, size: int) -> int:
    """The next offset at which a number of a size may begin, counted from behind the head."""
    return HEAD + -(-(offset - HEAD) // size) * size


class Template:
    """A serialised message whose numbers are written in place.

    Attributes:
        values: The numbers (n,).
    """

    def __init__(self, message: Any, field: str) -> None:
        """Serialise a message and find one field in it.

        Args:
            message: With its final sizes.
            field: Name of a field of doubles, not empty.
        """
        count = len(getattr(message, field))
        marks = np.arange(1.0, count + 1.0) * np.pi
        getattr(message, field)[:] = type(getattr(message, field))("d", marks.tobytes())
        self._data = bytearray(serialize_message(message))
        found = self._data.find(marks.tobytes())
        if found < 0:
            raise ValueError(f"{type(message).__name__}.{field} is not in its serialised form")
        self.values: Array = np.frombuffer(self._data, np.float64, count, found)
        self.values[:] = 0.0
        self._stamped = hasattr(message, "header")

    def serialised(self, stamp: int) -> bytes:
        """The message, to publish.

        Args:
            stamp: For its header, where it has one [ns].
        """
        if self._stamped:
            STAMP.pack_into(self._data, HEAD, *divmod(stamp, SECOND))
        return bytes(self._data)
