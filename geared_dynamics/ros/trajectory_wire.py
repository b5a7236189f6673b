"""Serialised trajectories, read into arrays and written from them.

rclpy makes an object of each point and of each list in it: 65 ms for 5000 points, in one call that
nothing can interrupt. Here points laid out alike, which those of a planner are, take a look at
all of them at once; others are read one by one.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory as Message

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.errors import DamagedMessageError
from geared_dynamics.recordings.joint_state_codec import aligned
from geared_dynamics.ros.joint_state_wire import (
    AFTER_STAMP,
    LITTLE,
    POINT,
    SECOND,
    nanoseconds,
    whole,
)
from geared_dynamics.trajectory import JointTrajectory, PointArrays, TrajectoryError

TOPIC = "joint_trajectory"
MOST_POINTS = 20_000  # a bound of memory and time: with six joints 23 MB
READ = 3  # of these fields; effort is replaced by the model's, whatever it holds
WORD = struct.Struct("<I")
DURATION = struct.Struct("<iI")


class Received(NamedTuple):
    """A trajectory as it came.

    Attributes:
        joint_names: m joints.
        points: Their points, without effort.
        stamp: Of its header [ns]; 0: to begin at once.
        header: The header.
    """

    joint_names: list[str]
    points: PointArrays
    stamp: int
    header: Any


def trajectory_of(received: Received, zero: int) -> JointTrajectory:
    """A trajectory with its start counted from a time zero [ns]."""
    start = 1e-9 * (received.stamp - zero) if received.stamp else None
    return JointTrajectory(received.joint_names, received.points, start)


def read_trajectory(data: bytes) -> Received:
    """Read a serialised trajectory.

    Args:
        data: As a raw subscription gives it.

    Raises:
        DamagedMessageError: where rclpy cannot read it.
        TrajectoryError: for too many points, and for points of other joints.
    """
    if data[:2] != LITTLE:  # rclpy reads others too, and hands out zeros for what is not there
        raise damaged(data, f"its encoding is {data[:2].hex()}")
    try:
        at = end_of_names(data)
        (count,) = WORD.unpack_from(data, at)
    except struct.error:
        raise damaged(data, "its joint names are cut off") from None
    head = whole(data[:at] + bytes(4), Message, TOPIC)
    names = list(head.joint_names)
    if count > MOST_POINTS:
        remedy = f"send at most {MOST_POINTS} points, or several trajectories in a row"
        raise TrajectoryError("points", f"there are {count}", remedy)
    points = read_points(data, at + 4, count, len(names))
    return Received(names, points, nanoseconds(head.header.stamp), head.header)


def damaged(data: bytes, why: str) -> DamagedMessageError:
    """The error of a message."""
    finding = f"a message of {len(data)} bytes cannot be read ({why})"
    return DamagedMessageError(TOPIC, finding, "check the publishers of this topic")


def end_of_names(data: bytes) -> int:
    """Where the number of points stands, behind the frame and the joints' names."""
    at = AFTER_STAMP
    (size,) = WORD.unpack_from(data, at)
    at = aligned(at + 4 + size, 4)
    (count,) = WORD.unpack_from(data, at)
    at += 4
    for _ in range(count):
        at = aligned(at, 4)
        (size,) = WORD.unpack_from(data, at)
        at += 4 + size
    return aligned(at, 4)


def read_points(data: bytes, at: int, count: int, joints: int) -> PointArrays:
    """Read the points that begin at an offset.

    Args:
        data: The message.
        at: Offset of the first point.
        count: How many there are.
        joints: How many numbers a field has where it is given.
    """
    times, given = np.zeros(count), np.zeros((len(POINT), count), dtype=np.bool_)
    values = np.zeros((len(POINT), count, joints))
    k, end = 0, at
    try:
        while k < count:
            begin = end
            end = _one(data, begin, k, joints, (times, values, given))
            k += 1
            # The first point may lie between two multiples of eight; those behind it lie alike.
            if 1 < k < count and k < 4:
                alike = _alike(data, begin, end, count - k + 1, joints)
                if alike is not None:
                    times[k - 1 :], values[:READ, k - 1 :], given[:READ, k - 1 :] = alike
                    break
    except struct.error:
        raise damaged(data, f"point {k} of {count} is cut off") from None
    return PointArrays(times, values, given)


def _one(data: bytes, at: int, k: int, joints: int, out: tuple[Array, Array, BoolArray]) -> int:
    """Read point ``k`` at an offset; the offset behind it."""
    times, values, given = out
    for row, field in enumerate(POINT):
        at = aligned(at, 4)
        (size,) = WORD.unpack_from(data, at)
        at += 4
        if not size:
            continue
        at = aligned(at, 8)
        if at + 8 * size > len(data):
            raise struct.error
        if row < READ:
            if size != joints:
                finding = f"has {size} numbers for {joints} joints"
                remedy = "give one for each joint in joint_names, or none"
                raise TrajectoryError(f"point {k}, {field}", finding, remedy)
            values[row, k] = np.frombuffer(data, np.float64, size, at)
            given[row, k] = True
        at += 8 * size
    at = aligned(at, 4)
    seconds, rest = DURATION.unpack_from(data, at)
    times[k] = seconds + 1e-9 * rest
    return at + DURATION.size


def _alike(
    data: bytes, begin: int, end: int, count: int, joints: int
) -> tuple[Array, Array, BoolArray] | None:
    """Times, values (3, k, m) and what is given (3, k) of points laid out as the first.

    None where they are not: each number of a list says so.

    Args:
        data: The message.
        begin: Offset of the first of them.
        end: Offset behind it.
        count: How many there are.
        joints: How many numbers a field has where it is given.
    """
    stride = end - begin
    if begin + count * stride > len(data):
        return None
    places, sizes, at = [], [], begin
    for _ in POINT:
        at = aligned(at, 4)
        (size,) = WORD.unpack_from(data, at)
        places.append(at - begin)
        sizes.append(size)
        at = aligned(at + 4, 8) + 8 * size if size else at + 4
    shape = (count,)

    def column(offset: int, kind: str, numbers: int = 0) -> Any:
        if numbers:
            size = np.dtype(kind).itemsize
            return np.ndarray((count, numbers), kind, data, begin + offset, (stride, size))
        return np.ndarray(shape, kind, data, begin + offset, (stride,))

    for place, size in zip(places, sizes, strict=True):
        if (column(place, "<u4") != size).any():
            return None
    values, given = np.zeros((READ, count, joints)), np.zeros((READ, count), dtype=np.bool_)
    for row in range(READ):
        if sizes[row]:
            first = aligned(begin + places[row] + 4, 8) - begin
            values[row], given[row] = column(first, "<f8", joints), True
    tail = stride - DURATION.size
    times = column(tail, "<i4") + 1e-9 * column(tail + 4, "<u4")
    return times, values, given


def serialised(header: Any, names: Sequence[str], times: Array, rows: Sequence[Array]) -> bytes:
    """A serialised trajectory from arrays, to publish.

    Args:
        header: Its header.
        names: Joints (n,).
        times: From the start (k,) [s].
        rows: Positions, velocities, accelerations, effort (k, n) each.
    """
    count, n = len(times), len(names)
    head = bytes(serialize_message(Message(header=header, joint_names=list(names))))
    at = end_of_names(head)
    # Counted from behind the head of four bytes; a list's numbers stand at multiples of eight.
    block = np.dtype([("count", "<u4"), ("pad", "<u4"), ("values", "<f8", (n,))])
    point = np.dtype([*((field, block) for field in POINT), ("sec", "<i4"), ("nanosec", "<u4")])
    points = np.zeros(count, dtype=point)
    for field, row in zip(POINT, rows, strict=True):
        points[field]["count"], points[field]["values"] = n, row
    stamps = np.round(times * SECOND).astype(np.int64)
    points["sec"], points["nanosec"] = stamps // SECOND, stamps % SECOND
    body = points.tobytes()
    if aligned(at + 4, 8) != at + 4:  # the first count fills the gap, its padding is left out
        body = body[:4] + body[8:]
    return head[:at] + WORD.pack(count) + body
