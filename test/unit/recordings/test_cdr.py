"""JointState from its bytes, against the bag library's own decoder."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geared_dynamics.recordings.joint_state_codec import (
    LONGEST,
    NotJointStateError,
    layout_of,
    serialised,
    tables,
)

LISTS = ("position", "velocity", "effort")


def library_messages(little: bool, frame: str, names: list[str], count: int) -> tuple[list, list]:
    """Messages of the bag library, and their bytes."""
    typesys = pytest.importorskip("rosbags.typesys", reason="needs geared_dynamics[analysis]")
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    kinds, random = store.types, np.random.default_rng(len(names))
    time, header = kinds["builtin_interfaces/msg/Time"], kinds["std_msgs/msg/Header"]
    state = kinds["sensor_msgs/msg/JointState"]
    made = [
        state(header(time(k, 7 * k), frame), names, *random.normal(size=(3, len(names))))
        for k in range(count)
    ]
    data = [
        bytes(store.serialize_cdr(m, "sensor_msgs/msg/JointState", little_endian=little))
        for m in made
    ]
    return made, data


@pytest.mark.parametrize("little", [True, False])
@pytest.mark.parametrize("frame", ["", "base", "world_3"])
@pytest.mark.parametrize(
    "names", [["a"], ["j1", "joint_22", "ab"], ["x" * k for k in range(1, 8)]]
)
def test_numbers_are_the_librarys(little: bool, frame: str, names: list[str]) -> None:
    made, data = library_messages(little, frame, names, 20)
    (found,), damaged = tables(data)
    assert damaged == 0
    assert found.layout.names == tuple(names)
    np.testing.assert_array_equal(found.stamp, [k * 10**9 + 7 * k for k in range(20)])
    for values, kind in zip(found.lists, LISTS, strict=True):
        np.testing.assert_array_equal(values, [getattr(m, kind) for m in made])


@pytest.mark.parametrize("left_out", [(), (1,), (2,), (1, 2), (0, 1, 2)])
def test_our_bytes_are_read_by_the_library(left_out: tuple[int, ...]) -> None:
    typesys = pytest.importorskip("rosbags.typesys", reason="needs geared_dynamics[analysis]")
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    values = np.random.default_rng(0).normal(size=(3, 5, 4))
    lists = tuple(None if k in left_out else values[k] for k in range(3))
    stamp = np.array([0, 1, 10**9, 2 * 10**9 + 5, 10**18])
    names = ["a", "bcd", "efghi", "j"]
    for k, data in enumerate(serialised(stamp, names, lists)):
        message = store.deserialize_cdr(data, "sensor_msgs/msg/JointState")
        assert message.name == names
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == stamp[k]
        for i, kind in enumerate(LISTS):
            expected = [] if i in left_out else values[i, k]
            np.testing.assert_array_equal(getattr(message, kind), expected)


# Bytes that rclpy on Fast DDS returns for messages with some of the three lists.
SERIALISED = {
    ("a", "b"): {(1, 1, 1): 108, (1, 0, 0): 76, (1, 1, 0): 92, (0, 0, 0): 60, (1, 0, 1): 92},
    ("joint_1",): {(1, 1, 1): 84, (1, 0, 0): 68, (1, 1, 0): 76, (0, 0, 0): 60, (1, 0, 1): 76},
    ("abc",): {(1, 1, 1): 76, (1, 0, 0): 60, (1, 1, 0): 68, (0, 0, 0): 52, (1, 0, 1): 68},
}


@pytest.mark.parametrize(
    ("names", "there", "length"),
    [(names, *row) for names, rows in SERIALISED.items() for row in rows.items()],
)
def test_only_what_fast_dds_reserves_behind_a_message_is_padding(
    names: tuple[str, ...], there: tuple[int, ...], length: int
) -> None:
    values = np.arange(3.0 * len(names)).reshape(3, 1, -1)
    lists = tuple(values[k] if here else None for k, here in enumerate(there))
    (data,) = serialised(np.array([7]), list(names), lists)
    more = length - len(data)
    assert 0 <= more <= 12
    assert layout_of(data + b"\x77" * more).lists == layout_of(data).lists
    for wrong in {4, 8, 12, 16, 20} - {more}:
        with pytest.raises(NotJointStateError, match="longer"):
            layout_of(data + bytes(wrong))


@pytest.mark.parametrize("frame", ["", "a", "base", "base_link"])
def test_messages_that_rclpy_serialises_are_read(frame: str) -> None:
    serialization = pytest.importorskip("rclpy.serialization", reason="needs ROS 2")
    kinds = pytest.importorskip("sensor_msgs.msg", reason="needs ROS 2")
    for count in range(1, 4):
        names = [f"joint_{'x' * k}" for k in range(count)]
        for there in np.ndindex(2, 2, 2):
            lists = [[float(k)] * (count * here) for k, here in enumerate(there, 1)]
            message = kinds.JointState(
                name=names, position=lists[0], velocity=lists[1], effort=lists[2]
            )
            message.header.frame_id = frame
            (found,), damaged = tables([bytes(serialization.serialize_message(message))] * 3)
            assert damaged == 0
            assert found.layout.names == tuple(names)
            assert [x.tolist() for x in found.lists] == [[own] * 3 for own in lists]


def test_layouts_are_told_apart_and_damage_is_counted() -> None:
    values = np.arange(12.0).reshape(3, 4)
    one = serialised(np.arange(3), list("abcd"), (values, values, values))
    other = serialised(np.arange(3), list("abce"), (values, values, values))  # same length
    short = serialised(np.arange(3), list("ab"), (values[:, :2], None, None))
    mixed = [one[0], b"", other[0], short[0], one[1], b"\0\1\0\0nonsense", other[1], one[2][:-9]]
    found, damaged = tables(mixed)
    assert damaged == 3
    names = {"".join(table.layout.names): table.place.tolist() for table in found}
    assert names == {"abcd": [0, 4], "abce": [2, 6], "ab": [3]}


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        layout = layout_of(data)
    except NotJointStateError:
        return
    assert layout.length == len(data)


@given(st.integers(0, 300), st.integers(0, 255))
def test_a_changed_byte_does_no_harm(at: int, value: int) -> None:
    values = np.ones((1, 5))
    data = bytearray(serialised(np.array([5]), list("abcde"), (values, values, values))[0])
    data[at % len(data)] = value
    found, damaged = tables([bytes(data)])
    assert len(found) + damaged == 1


def state_of(frame: bytes, *names: bytes) -> bytes:
    """A JointState whose texts are written as they are, lengths counted, without lists."""
    data = b"\0\1\0\0" + struct.pack("<iI", 1, 2)
    for text in (frame, len(names), *names):
        data += bytes(-(len(data) - 4) % 4)
        if isinstance(text, int):
            data += struct.pack("<I", text)
        else:
            data += struct.pack("<I", len(text)) + text
    data += bytes(-(len(data) - 4) % 4)
    return data + struct.pack("<III", 0, 0, 0)


def test_texts_of_a_message() -> None:
    """CDR counts the zero byte at a text's end: an empty one has length 1, none has 0."""
    assert layout_of(state_of(b"\0", b"a\0", b"\xc3\xa4\0")).names == ("a", "\u00e4")
    assert layout_of(state_of(b"\0", b"\0")).names == ("",)
    longest = b"x" * (LONGEST - 1) + b"\0"
    assert layout_of(state_of(b"\0", longest)).names == ("x" * (LONGEST - 1),)
    for texts in ((b"", b"a\0"), (b"\0", b""), (b"\0", b"x" + longest), (b"x" + longest,)):
        with pytest.raises(NotJointStateError, match="it contains a string that is too long"):
            layout_of(state_of(*texts))
    with pytest.raises(NotJointStateError, match="its joint names are not UTF-8"):
        layout_of(state_of(b"\0", b"\xff\0"))
    for end in range(len(state_of(b"base\0", b"a\0"))):
        with pytest.raises(NotJointStateError):
            layout_of(state_of(b"base\0", b"a\0")[:end])


@pytest.mark.parametrize(("count", "taken"), [(LONGEST, True), (LONGEST + 1, False)])
def test_lists_of_a_message(count: int, taken: bool) -> None:
    values = np.zeros((1, count))
    (data,) = serialised(np.array([1]), ["a"], (values, None, None))
    if taken:
        assert layout_of(data).lists[0][1] == count
    else:
        with pytest.raises(NotJointStateError, match="it contains an array that is too long"):
            layout_of(data)
