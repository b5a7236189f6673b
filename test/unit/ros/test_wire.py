"""Serialised messages read and written in place, beside rclpy's own way."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2 (the extra 'ros')")

from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from geared_dynamics.ros.joint_state_wire import FIELDS, StateReader, Template


def state(names: list[str], frame: str = "", seed: int = 0, **sizes: int) -> Any:
    rng = np.random.default_rng(seed)
    lengths = {"position": len(names), "velocity": len(names), "effort": 0} | sizes
    fields = {name: rng.normal(size=size).tolist() for name, size in lengths.items()}
    message = JointState(name=names, **fields)
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = 1_700_000_000 + seed, 5 + seed
    return message


def agrees(reader: StateReader, message: Any) -> None:
    seen = reader.read(bytes(serialize_message(message)))
    assert seen.names == list(message.name)
    assert list(seen.position) == list(message.position)
    assert list(seen.velocity) == list(message.velocity)
    assert list(seen.effort) == list(message.effort)
    assert seen.stamp == message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


@pytest.mark.parametrize("sizes", list(product((0, 1), repeat=3)))
@pytest.mark.parametrize("frame", ["", "a", "base_link"])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 9])
def test_every_alignment_and_field_is_read_as_rclpy_reads_it(
    sizes: tuple[int, int, int], frame: str, count: int, length: int
) -> None:
    reader = StateReader()
    names = [f"{k}".ljust(length, "x") for k in range(count)]
    given = {field: some * count for field, some in zip(FIELDS, sizes, strict=True)}
    for seed in range(3):
        agrees(reader, state(names, frame, seed, **given))
    assert reader._layout is not None, "the quick way was taken"


def test_names_and_sizes_may_change_at_any_time() -> None:
    reader = StateReader()
    three = ["a", "b", "c"]
    for message in (
        state(three),
        state(["a", "c", "b"]),
        state(three, velocity=0),
        state(three, velocity=2),
        state(three, position=2),
        state(three, position=4, velocity=4),
        state(three, velocity=0, effort=3),
        state(three, position=2, velocity=4, effort=3),
        state([], position=3),
        state(three, "elsewhere"),
        state([]),
        state(["gripper"]),
        state(["ä", "b"]),
        state(three, seed=4),
    ):
        for _ in range(2):
            agrees(reader, message)


def test_what_is_cut_off_is_not_read_in_place() -> None:
    reader = StateReader()
    data = bytes(serialize_message(state(["a", "b"], effort=2)))
    reader.read(data)
    with pytest.raises(Exception, match="deserial"):
        reader.read(data[:-9])


def test_nan_is_read() -> None:
    reader = StateReader()
    message = state(["a", "b"])
    message.position[1] = np.nan
    for _ in range(2):
        seen = reader.read(bytes(serialize_message(message)))
        assert np.isnan(seen.position[1])


def test_commands_are_written_in_place() -> None:
    flat = Template(Float64MultiArray(data=[0.0] * 3), "data")
    named = Template(JointState(name=["a", "b", "c"], effort=[0.0] * 3), "effort")
    for values in ([0.0] * 3, [1.0, -2.5, 3e300]):
        flat.values[:] = named.values[:] = values
        one = deserialize_message(flat.serialised(7), Float64MultiArray)
        other = deserialize_message(named.serialised(3_000_000_004), JointState)
        assert list(one.data) == list(other.effort) == values
        assert other.name == ["a", "b", "c"]
        assert (other.header.stamp.sec, other.header.stamp.nanosec) == (3, 4)
