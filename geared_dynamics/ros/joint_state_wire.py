"""Messages made once and written in place; joint states and commands as they are on the wire.

Turning a ``JointState`` into Python objects and back costs as much as a law. What does not
change from message to message, the names, is compared as bytes; the numbers are read and
written in place. The layout is not taken for granted: it is found, or checked, with rclpy's
own (de)serialisation, and where it does not fit that is used for every message.

What a message's first two bytes say of its encoding counts for every message: with another one
the same bytes are other numbers, or none.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory as TrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from geared_dynamics.arrays import Array
from geared_dynamics.errors import DamagedMessageError
from geared_dynamics.recordings import joint_state_codec
from geared_dynamics.recordings.joint_state_codec import NotJointStateError
from geared_dynamics.runtime.observer_estimates import Level

# -- Messages to values and back. Those of the loop are made once and written in place ------------


SECOND = joint_state_codec.SECOND  # [ns]
# Of what only the newest counts, from whoever sends it, reliably or not.
NEWEST_BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
POINT = ("positions", "velocities", "accelerations", "effort")


def seconds(stamp: Time | Duration) -> float:
    """A stamp or duration in seconds."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def nanoseconds(stamp: Time | Duration) -> int:
    """A stamp or duration in nanoseconds, exactly."""
    return int(stamp.sec) * SECOND + int(stamp.nanosec)


def doubles(message: Any, field: str, count: int) -> Array:
    """Give a message's field so many zeros and return its memory, to write to.

    Whether a message keeps the array that it is given or copies it depends on its checking of
    fields (ROS_PYTHON_CHECK_FIELDS): the memory is that of what it holds afterwards.
    """
    setattr(message, field, array("d", bytes(8 * count)))
    return np.frombuffer(getattr(message, field))


class NamedState:
    """``JointState`` with names; only the fields asked for are filled."""

    def __init__(self, names: Sequence[str], fields: Sequence[str] = ("effort",)) -> None:
        """Make the message for these joints."""
        self.message = JointState(name=list(names))
        self.values = {field: doubles(self.message, field, len(names)) for field in fields}

    def stamp(self, now: int) -> None:
        """Write the time [ns]."""
        stamp = self.message.header.stamp
        stamp.sec, stamp.nanosec = divmod(now, SECOND)

    def filled(self, now: int, *rows: Any) -> JointState:
        """The message of a time [ns] with its fields' values (n,), in their order."""
        for values, row in zip(self.values.values(), rows, strict=True):
            values[:] = row
        self.stamp(now)
        return self.message


class NamedWrench:
    """A ``WrenchStamped`` of forces alone, filled again and again."""

    def __init__(self, frame: str) -> None:
        """Make the message, in a frame's axes."""
        self._message = WrenchStamped()
        self._message.header.frame_id = frame

    def filled(self, stamp: int, force: Array) -> WrenchStamped:
        """The message with a force (3,) [N] at a time [ns]."""
        time, target = self._message.header.stamp, self._message.wrench.force
        time.sec, time.nanosec = divmod(stamp, SECOND)
        target.x, target.y, target.z = force.tolist()
        return self._message


def trajectory_message(
    header: Any, names: Sequence[str], times: Array, rows: Sequence[Array]
) -> TrajectoryMessage:
    """A trajectory from arrays.

    Args:
        header: That of the trajectory it was made from.
        names: Joints (n,).
        times: From the start (k,) [s].
        rows: Positions, velocities, accelerations, effort (k, n) each, as many as there are.
    """
    message = TrajectoryMessage(header=header, joint_names=list(names))
    stamps = np.round(times * SECOND).astype(np.int64).tolist()
    for stamp, *numbers in zip(stamps, *rows, strict=True):
        point = JointTrajectoryPoint()
        for field, values in zip(POINT, numbers, strict=False):
            setattr(point, field, array("d", values.tobytes()))
        point.time_from_start = Duration(sec=stamp // SECOND, nanosec=stamp % SECOND)
        message.points.append(point)
    return message


# -- Joint states and commands as they are on the wire, without a Python object for each field ----


STAMP = struct.Struct("<iI")
BEGIN = struct.Struct("<HxxiI")  # encoding, options that plain CDR does not use, stamp
COUNT = struct.Struct("<I")
LITTLE = b"\x00\x01"  # plain CDR, least significant byte first
PLAIN = int.from_bytes(LITTLE, "little")  # the same as BEGIN reads it
HEAD = joint_state_codec.HEADER  # bytes before the message
AFTER_STAMP = HEAD + STAMP.size
FIELDS = ("position", "velocity", "effort")


class WireState(NamedTuple):
    """A joint state, as it is on the wire.

    Attributes:
        names: Of joints or motors.
        position: As many numbers, or not.
        velocity: As many numbers, or empty.
        effort: As many numbers, or empty.
        stamp: [ns].
    """

    names: list[str]
    position: Any
    velocity: Any
    effort: Any
    stamp: int


class WireLayout(NamedTuple):
    """Where the numbers are in messages that begin alike.

    Attributes:
        prefix: Frame, names and number of positions, as bytes.
        names: The names.
        counts: Offset of the other fields' numbers of values, and these as bytes.
        position: Offset of the positions, and how many.
        velocity: Offset of the velocities, and how many.
        effort: Offset of the efforts, and how many.
        end: Bytes that a message has at least.
    """

    prefix: bytes
    names: list[str]
    counts: tuple[tuple[int, bytes], ...]
    position: tuple[int, int]
    velocity: tuple[int, int]
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


class StateReader:
    """Reads serialised joint states, whichever fields they have."""

    def __init__(self) -> None:
        """Begin without having seen one."""
        self._layout: WireLayout | None = None

    def read(self, data: bytes) -> WireState:
        """Return what a serialised message holds.

        Args:
            data: As a raw subscription gives it.

        Raises:
            DamagedMessageError: where rclpy cannot read it.
        """
        at = self._layout
        if at is None or not at.fits(data):
            return self._learn(data)
        encoding, sec, nanosec = BEGIN.unpack_from(data)
        if encoding != PLAIN:
            return self._learn(data)
        position = np.frombuffer(data, np.float64, at.position[1], at.position[0])
        velocity = np.frombuffer(data, np.float64, at.velocity[1], at.velocity[0])
        effort = np.frombuffer(data, np.float64, at.effort[1], at.effort[0])
        return WireState(at.names, position, velocity, effort, sec * SECOND + nanosec)

    def _learn(self, data: bytes) -> WireState:
        """Read slowly, and see whether the next one can be read quickly."""
        message = whole(data, JointState, "joint_states")
        stamp = message.header.stamp
        self._layout = layout_of(data, message)
        when = int(stamp.sec) * SECOND + int(stamp.nanosec)
        names = list(message.name)
        return WireState(names, message.position, message.velocity, message.effort, when)


def whole(data: bytes, kind: Any, topic: str) -> Any:
    """Return a serialised message as rclpy reads it.

    Args:
        data: As a raw subscription gives it.
        kind: Its type.
        topic: Where it came, for the error.

    Raises:
        DamagedMessageError: where rclpy cannot read it.
    """
    try:
        return deserialize_message(data, kind)
    except Exception as error:  # rclpy raises several kinds, and says no more than this
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        finding = f"a message of {len(data)} bytes cannot be read ({reason[:100]})"
        raise DamagedMessageError(topic, finding, "check the publishers of this topic") from None


def layout_of(data: bytes, message: Any) -> WireLayout | None:
    """The layout of messages with these names and sizes, None where it is another than expected.

    Args:
        data: A serialised message.
        message: The same, read by rclpy.
    """
    try:
        found = joint_state_codec.layout_of(data)
    except NotJointStateError:
        return None
    if data[:2] != LITTLE or not found.names or list(found.names) != list(message.name):
        return None
    for field, (start, count) in zip(FIELDS, found.lists, strict=True):
        if data[start : start + 8 * count] != getattr(message, field).tobytes():
            return None
    counts = [(at, data[at : at + COUNT.size]) for at in found.counts]
    (first, number), *others = counts
    start, count = found.lists[-1]
    end, prefix = start + 8 * count, data[AFTER_STAMP:first] + number
    position, velocity, effort = found.lists
    names = list(found.names)
    made = WireLayout(prefix, names, tuple(others), position, velocity, effort, end)
    return made if made.fits(data) else None


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
        # rclpy appends bytes after empty lists, which readers of recordings refuse.
        end = found + 8 * count
        if deserialize_message(bytes(self._data[:end]), type(message)) == message:
            del self._data[end:]
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


# -- A serialised ``JointState`` for each level, whose numbers are written in place ---------------


class Fields:
    """The message of one topic."""

    def __init__(self, names: Sequence[str], fields: Sequence[str]) -> None:
        """Serialise the message once for each level, and find its fields.

        Args:
            names: Joints or motors (k,), not none.
            fields: Those of ``position``, ``velocity``, ``effort`` that are sent.
        """
        self._made = {level: laid_out(names, fields, level.frame) for level in Level}

    def serialised(self, level: Level, stamp: int, values: Mapping[str, Array | None]) -> bytes:
        """The message, to publish.

        Args:
            level: Whether the numbers may be trusted.
            stamp: Of its header [ns].
            values: By field (k,); NaN is sent for a field that is not given or None.
        """
        data, views = self._made[level]
        STAMP.pack_into(data, HEAD, *divmod(stamp, SECOND))
        for field, view in views.items():
            value = values.get(field)
            view[:] = np.nan if value is None else value
        return bytes(data)


def laid_out(
    names: Sequence[str], fields: Sequence[str], frame: str
) -> tuple[bytearray, dict[str, Array]]:
    """A serialised message, and its fields in it."""
    message, marks = JointState(name=list(names)), {}
    message.header.frame_id = frame
    for k, field in enumerate(fields, start=1):
        marks[field] = (np.arange(len(names)) + 1.0) * np.pi * 10.0**k
        setattr(message, field, array("d", marks[field].tobytes()))
    data = bytearray(serialize_message(message))
    views = {}
    for field, mark in marks.items():
        found = data.find(mark.tobytes())
        if found < 0:
            raise ValueError(f"JointState.{field} is not in its serialised form")
        views[field] = np.frombuffer(data, np.float64, len(names), found)
    return data, views
