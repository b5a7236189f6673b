"""Mutated joint states: read as rclpy reads them, or refused where rclpy refuses them.

One reader sees whole messages and mutated ones in turn, as on a graph: what it has learnt from
one decides how it reads the next.
"""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from geared_dynamics.ros.joint_state_wire import FIELDS, StateReader

SECOND = 1_000_000_000
COUNTS = (0, 1, 2, 3, 5, 6, 7, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1)
BYTES = (0x00, 0x01, 0x7F, 0x80, 0xC3, 0xFF)
DIFFERENT = ("read, refused by rclpy", "other numbers", "refused, read by rclpy")
NAMES = (
    ["joint_1", "joint_2", "joint_3"],
    ["a"],
    ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "w1", "w2", "w3"],
    ["ä", "bb", "ccc", "dddd"],
)


def whole(rng: np.random.Generator) -> bytes:
    """A serialised message that nothing has happened to."""
    names = NAMES[rng.integers(len(NAMES))]
    sizes = [len(names) * int(rng.random() < share) for share in (0.95, 0.8, 0.4)]
    fields = {name: rng.normal(size=k).tolist() for name, k in zip(FIELDS, sizes, strict=True)}
    message = JointState(name=names, **fields)
    message.header.frame_id = ("", "a", "base_link")[rng.integers(3)]
    message.header.stamp.sec = int(rng.integers(-(2**31), 2**31))
    message.header.stamp.nanosec = int(rng.integers(2**32))
    return bytes(serialize_message(message))


def mutated(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """What was done to a message, and the result."""
    kind = ("header", "bit", "byte", "count", "cut", "longer", "gap", "twice", "head")[
        rng.integers(9)
    ]
    found, size = bytearray(data), len(data)
    at = int(rng.integers(size))
    if kind == "header":
        found[int(rng.integers(2))] = (
            int(rng.integers(16)) if rng.random() < 0.8 else BYTES[at % 6]
        )
    elif kind == "head":
        found[:4] = bytes((0, int(rng.integers(12)), *rng.integers(256, size=2)))
    elif kind == "bit":
        found[at] ^= 1 << int(rng.integers(8))
    elif kind == "byte":
        found[at] = BYTES[rng.integers(len(BYTES))]
    elif kind == "count":
        at = 4 + 4 * int(rng.integers((size - 4) // 4))
        found[at : at + 4] = struct.pack("<I", COUNTS[rng.integers(len(COUNTS))])[: size - at]
    elif kind == "cut":
        del found[at:]
    elif kind == "longer":
        found += rng.bytes(int(rng.integers(1, 40)))
    elif kind == "gap":
        del found[at : at + int(rng.integers(1, 9))]
    else:
        found[at:at] = found[at : at + int(rng.integers(1, 9))]
    return kind, bytes(found)


def by_rclpy(data: bytes) -> tuple[Any, ...] | None:
    """Names, bytes of the fields, stamp as rclpy reads them; None where it refuses."""
    try:
        message = deserialize_message(data, JointState)
    except Exception:
        return None
    stamp = message.header.stamp
    fields = (getattr(message, field).tobytes() for field in FIELDS)
    return list(message.name), *fields, stamp.sec * SECOND + stamp.nanosec


def by_reader(reader: StateReader, data: bytes) -> tuple[Any, ...] | None:
    """The same as the nodes read them."""
    try:
        seen = reader.read(data)
    except Exception:
        return None
    fields = (np.asarray(getattr(seen, field)).tobytes() for field in FIELDS)
    return list(seen.names), *fields, seen.stamp


def differences(count: int, seed: int) -> Counter[str]:
    """How many mutated messages were read otherwise than by rclpy, by what was wrong."""
    rng, reader, found = np.random.default_rng(seed), StateReader(), Counter[str]()
    data = whole(rng)
    for k in range(count):
        if k % 50 == 0:
            data = whole(rng)
        if k % 3 == 0:
            assert by_reader(reader, data) == by_rclpy(data), "a whole message"
        _, changed = mutated(data, rng)
        expected, given = by_rclpy(changed), by_reader(reader, changed)
        if expected == given:
            found["agrees"] += 1
            found["refused"] += expected is None
        elif expected is None:
            found["read, refused by rclpy"] += 1
        elif given is not None:
            found["other numbers"] += 1
        else:
            found["refused, read by rclpy"] += 1
    return found


def run(case: bytes) -> str:
    """A hundred mutated messages, one reader; ``AssertionError`` where rclpy reads otherwise."""
    found = differences(100, int(case))
    wrong = {kind: found[kind] for kind in DIFFERENT if found[kind]}
    assert not wrong, wrong
    return "agrees"
