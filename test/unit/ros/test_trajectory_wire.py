"""Serialised trajectories: read as rclpy reads them, or refused; written as rclpy writes them."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2 (the extra 'ros')")

from builtin_interfaces.msg import Duration
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from geared_dynamics.errors import DamagedMessageError
from geared_dynamics.ros.trajectory_wire import (
    MOST_POINTS,
    end_of_names,
    read_trajectory,
    serialised,
    trajectory_of,
)
from geared_dynamics.trajectory import TrajectoryError

NAMES = (["a"], ["joint_1", "joint_2"], ["joint_1", "bb", "cccc"], ["ä", "b", "c", "dddddd", "e"])
FIELDS = ("positions", "velocities", "accelerations", "effort")


def drawn(rng: np.random.Generator, alike: bool, count: int = 5) -> JointTrajectory:
    """A message; its points give the same fields, or not."""
    names = NAMES[rng.integers(len(NAMES))]
    header = Header(frame_id=("", "a", "base_link")[rng.integers(3)])
    header.stamp.sec, header.stamp.nanosec = int(rng.integers(2**31)), int(rng.integers(2**32))
    message = JointTrajectory(header=header, joint_names=names)
    given = rng.random(4) < 0.6
    for _ in range(count):
        given = given if alike else rng.random(4) < 0.6
        sizes = [len(names) * int(has) for has in given]
        if given[3] and rng.random() < 0.3:
            sizes[3] += 2  # effort is not read
        numbers = [rng.normal(size=size).tolist() for size in sizes]
        when = Duration(sec=int(rng.integers(-5, 2**31)), nanosec=int(rng.integers(2**32)))
        fields = dict(zip(FIELDS, numbers, strict=True))
        message.points.append(JointTrajectoryPoint(time_from_start=when, **fields))
    return message


def same(data: bytes) -> bool:
    """Whether both read the same; AssertionError where not."""
    whole = deserialize_message(data, JointTrajectory)
    found = read_trajectory(data)
    assert found.joint_names == list(whole.joint_names)
    assert found.header == whole.header
    assert len(found.points.times) == len(whole.points)
    for k, point in enumerate(whole.points):
        when = point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
        assert found.points.times[k] == when
        for row, field in enumerate(FIELDS[:3]):
            numbers = getattr(point, field)
            assert found.points.given[row, k] == bool(len(numbers))
            if len(numbers):
                np.testing.assert_array_equal(found.points.values[row, k], numbers)
    assert not found.points.given[3].any()
    return True


@pytest.mark.parametrize("alike", [True, False])
def test_it_is_read_as_rclpy_reads_it(alike: bool) -> None:
    rng = np.random.default_rng(int(alike))
    for count in (0, 1, 2, 3, 4, 9):
        for _ in range(60):
            assert same(bytes(serialize_message(drawn(rng, alike, count))))


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    found, at = bytearray(data), int(rng.integers(4, len(data)))
    kind = rng.integers(5)
    if kind == 0:
        found[at] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        return data[:at]
    elif kind == 2:
        at = 4 + (at - 4) // 4 * 4
        found[at : at + 4] = struct.pack("<I", [0, 1, 2, 3, 255, 2**31, 2**32 - 1][at % 7])
    elif kind == 3:
        found[at:at] = bytes(int(rng.integers(1, 9)))
    else:
        found[int(rng.integers(2))] = int(rng.integers(12))
    return bytes(found)


def outcome(data: bytes) -> str:
    """Whether a message is read as rclpy reads it, or refused."""
    try:
        read_trajectory(data)
    except TrajectoryError:  # a list of another length, or too many points
        return "other lists"
    except DamagedMessageError:
        # Also where rclpy hands out points of zeros behind lists that end beyond the message.
        return "refused"
    assert same(data)
    return "read"


def test_mutated_messages_are_read_as_rclpy_reads_them_or_refused() -> None:
    rng = np.random.default_rng(0)
    seen: Counter[str] = Counter()
    wholes = [bytes(serialize_message(drawn(rng, k % 2 == 0, 4))) for k in range(40)]
    for k in range(8000):
        data = mutated(wholes[k % 40], rng)
        kind = outcome(data)
        seen[kind] += 1
    assert min(seen[kind] for kind in ("read", "refused", "other lists")) > 50, seen


def test_a_bound_of_points() -> None:
    point = JointTrajectoryPoint(positions=[0.0])
    message = JointTrajectory(joint_names=["a"], points=[point] * MOST_POINTS)
    data = bytes(serialize_message(message))
    assert len(read_trajectory(data).points.times) == MOST_POINTS
    message.points.append(point)
    with pytest.raises(
        TrajectoryError, match=f"points: there are {MOST_POINTS + 1}; send at most"
    ):
        read_trajectory(bytes(serialize_message(message)))


def test_a_number_of_points_that_is_not_there_takes_no_memory() -> None:
    data = bytearray(serialize_message(JointTrajectory(joint_names=["a"])))
    at = end_of_names(bytes(data))
    data[at : at + 4] = struct.pack("<I", MOST_POINTS)
    with pytest.raises(DamagedMessageError, match=f"point 0 of {MOST_POINTS} is cut off"):
        read_trajectory(bytes(data))


def test_names_that_are_cut_off() -> None:
    """Wherever: in the stamp, in the frame, in a name, before the number of points."""
    data = bytes(serialize_message(JointTrajectory(joint_names=["a", "bc"])))
    for length in range(2, end_of_names(data) + 4):
        with pytest.raises(DamagedMessageError, match="its joint names are cut off"):
            read_trajectory(data[:length])
    assert read_trajectory(data).joint_names == ["a", "bc"]


def test_its_start_counts_from_a_given_time() -> None:
    message = JointTrajectory(joint_names=["a"], points=[JointTrajectoryPoint(positions=[0.0])])
    found = read_trajectory(bytes(serialize_message(message)))
    assert trajectory_of(found, 5).start is None
    message.header.stamp.sec = 7
    found = read_trajectory(bytes(serialize_message(message)))
    assert trajectory_of(found, 3_000_000_000).start == 4.0


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("frame", ["", "a", "base_link", "four"])
def test_it_is_written_as_rclpy_reads_it(names: list[str], frame: str) -> None:
    """With both alignments of the first point."""
    rng = np.random.default_rng(1)
    header = Header(frame_id=frame)
    header.stamp.sec = 12
    times = np.array([0.0, 0.1, 1.999999999, 3.5])
    rows: Any = rng.normal(size=(4, 4, len(names)))
    data = serialised(header, names, times, rows)
    message = deserialize_message(data, JointTrajectory)
    assert message.header == header
    assert list(message.joint_names) == names
    stamps = [(p.time_from_start.sec, p.time_from_start.nanosec) for p in message.points]
    assert stamps == [(0, 0), (0, 100_000_000), (1, 999_999_999), (3, 500_000_000)]
    for k, point in enumerate(message.points):
        for row, field in enumerate(FIELDS):
            np.testing.assert_array_equal(getattr(point, field), rows[row, k])
