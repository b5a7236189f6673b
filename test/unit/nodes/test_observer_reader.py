"""Joint states of any fields read from their bytes, beside rclpy's own way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2 (the extra 'ros')")

from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from geared_dynamics.nodes.observer.reader import Reader

SIZES = [(p, v, e) for p in (0, 1) for v in (0, 1) for e in (0, 1)]


def state(names: list[str], sizes: tuple[int, int, int], seed: int = 0, frame: str = "") -> Any:
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=size).tolist() for size in sizes]
    message = JointState(name=names, position=values[0], velocity=values[1], effort=values[2])
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = 1_700_000_000 + seed, 5 + seed
    return message


def agrees(reader: Reader, message: Any) -> None:
    seen = reader.read(bytes(serialize_message(message)))
    assert seen.names == list(message.name)
    assert list(seen.position) == list(message.position)
    assert list(seen.effort) == list(message.effort)
    assert seen.stamp == message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("length", [1, 3, 4, 8])
@pytest.mark.parametrize("frame", ["", "arm"])
def test_every_alignment_and_field_is_read_as_rclpy_reads_it(
    sizes: tuple[int, int, int], count: int, length: int, frame: str
) -> None:
    reader = Reader()
    names = [f"{k}".ljust(length, "x") for k in range(count)]
    for seed in range(3):
        chosen = sizes[0] * count, sizes[1] * count, sizes[2] * count
        agrees(reader, state(names, chosen, seed, frame))
    assert reader._layout is not None, "the quick way was taken"


def test_names_and_sizes_may_change_at_any_time() -> None:
    reader, three = Reader(), ["a", "b", "c"]
    for seed, (names, sizes) in enumerate(
        [
            (three, (3, 3, 3)),
            (["a", "c", "b"], (3, 3, 3)),
            (three, (3, 0, 3)),
            (three, (3, 3, 0)),
            (three, (2, 4, 3)),
            ([], (0, 0, 0)),
            ([], (3, 0, 0)),
            (["gripper"], (1, 1, 1)),
            (three, (3, 0, 3)),
        ]
    ):
        agrees(reader, state(names, sizes, seed))


def test_what_is_cut_off_is_not_read_in_place() -> None:
    reader = Reader()
    data = bytes(serialize_message(state(["a", "b"], (2, 2, 2))))
    reader.read(data)
    with pytest.raises(Exception, match="deserial"):
        reader.read(data[:-9])
