"""Recordings for the tests: motions of the elbow arm, and bags of them in all formats."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy as np

import geared_dynamics as gd
from geared_dynamics.analysis.parameter_columns import column_names, columns, prior
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.model.model import GearedModel
from geared_dynamics.recordings.joint_state_codec import serialised

ROBOTS = Path(__file__).parents[1] / "urdf"
JOINT_STATE = "sensor_msgs/msg/JointState"
NEW = "INSERT INTO topics VALUES(?, ?, ?, 'cdr', '', 'RIHS01_0')"
OLD = "INSERT INTO topics VALUES(?, ?, ?, 'cdr', '')"


def elbow() -> GearedModel:
    """The arm of all these motions."""
    return gd.load_model(ROBOTS / "elbow.urdf", ROBOTS / "elbow.drivetrain.yaml")


def motion(seconds: float, rate: float, *, n: int = 3, seed: int = 5) -> tuple[Array, ...]:
    """Times (k,) and a smooth motion up to 0.6 Hz: q, v, a (k, n), exact."""
    t, random = np.arange(int(seconds * rate)) / rate, np.random.default_rng(seed)
    w = 0.2 * np.pi * np.arange(1, 7)[:, None, None]
    A, B = random.normal(size=(2, 6, 1, n)) * 0.5 / np.arange(1, 7)[:, None, None]
    s, c = np.sin(w * t[:, None]), np.cos(w * t[:, None])
    q, v = (A * s + B * c).sum(0), (w * (A * c - B * s)).sum(0)
    return t, q, v, -(w**2 * (A * s + B * c)).sum(0)


def truth(model: GearedModel) -> Array:
    """Parameters of all columns: the model's, with joint friction."""
    x, names = prior(model), column_names(model)
    for k, joint in enumerate(model.joint_names):
        for key, value in (("viscous", 4.0 + k), ("coulomb", 3.0 - 0.5 * k), ("offset", 0.3)):
            x[names.index(f"{joint}.{key}")] = value
    return x


def torques(model: GearedModel, x: Array, q: Array, v: Array, a: Array) -> Array:
    """Joint torques of parameters along a motion (k, n)."""
    return np.asarray(columns(model, q, v, a) @ x)


def nanoseconds(t: Array) -> IntArray:
    """Times as stamps."""
    return np.rint(t * 1e9).astype(np.int64)


def messages(names: Any, t: Array, q: Array, v: Array | None, tau: Array | None) -> list[bytes]:
    """Serialised JointStates."""
    return serialised(nanoseconds(t), names, (q, v, tau))


def string(text: bytes) -> bytes:
    """A serialised std_msgs/msg/String."""
    return b"\0\1\0\0" + struct.pack("<I", len(text) + 1) + text + b"\0"


def write_sqlite(
    path: Path, topics: dict[str, tuple[str, list[bytes]]], *, old: bool = False
) -> Path:
    """Write a bag's file as rosbag2 does, messages of the topics in turn."""
    more = "" if old else ", type_description_hash TEXT NOT NULL"
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA synchronous = OFF")  # to wait for the disk takes longer than the rest
        base.executescript(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,"
            f" serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL{more});"
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,"
            " timestamp INTEGER NOT NULL, data BLOB NOT NULL);"
        )
        for number, (name, (kind, _)) in enumerate(topics.items(), 1):
            base.execute(OLD if old else NEW, (number, name, kind))
        longest = max(len(data) for _, data in topics.values())
        for k in range(longest):
            for number, (_, data) in enumerate(topics.values(), 1):
                if k < len(data):
                    row = (number, k, data[k])
                    base.execute(
                        "INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)", row
                    )
    base.close()
    return path


def write_with_library(
    path: Path, data: list[bytes], stamps: IntArray, *, storage: str, packed: str = ""
) -> Path:
    """Write a bag's folder with the bag library."""
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    writer = Writer(path, version=9, storage_plugin=StoragePlugin[storage])
    if packed:
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat[packed])
    store = get_typestore(Stores.ROS2_JAZZY)
    with writer:
        topic = writer.add_connection("/joint_states", JOINT_STATE, typestore=store)
        for stamp, message in zip(stamps.tolist(), data, strict=True):
            writer.write(topic, stamp, message)
    return path


def unclosed_mcap(path: Path, data: list[bytes], *, packed: str = "") -> Path:
    """Write an MCAP file whose writer died: two chunks, no summary, no end."""
    import lz4.frame
    from backports import zstd

    def text(word: str) -> bytes:
        return struct.pack("<I", len(word)) + word.encode()

    def record(kind: int, content: bytes) -> bytes:
        return struct.pack("<BQ", kind, len(content)) + content

    schema = struct.pack("<H", 1) + text(JOINT_STATE) + text("ros2msg") + struct.pack("<I", 0)
    channel = struct.pack("<HH", 1, 1) + text("/joint_states") + text("cdr") + struct.pack("<I", 0)
    body = [record(3, schema) + record(4, channel), b""]
    for k, message in enumerate(data):
        head = struct.pack("<HIQQ", 1, k, k, k)
        body[2 * k // len(data)] += record(5, head + message)
    out = b"\x89MCAP0\r\n" + record(1, text("ros2") + text("test"))
    squeeze = {"": bytes, "zstd": zstd.compress, "lz4": lz4.frame.compress}[packed]
    for part in body:
        records = squeeze(part)
        head = struct.pack("<QQQI", 0, len(data), len(part), 0) + text(packed)
        out += record(6, head + struct.pack("<Q", len(records)) + records)
    path.write_bytes(out)
    return path


def chunked_mcap(
    path: Path,
    topics: dict[str, list[tuple[int, bytes]]],
    per_chunk: int,
    *,
    index: bool = True,
    closed: bool = True,
) -> Path:
    """Write an MCAP file with so many messages in each chunk.

    Args:
        path: The file.
        topics: Times of receiving [ns] and JointStates by topic.
        per_chunk: Messages of all topics in a chunk.
        index: Whether an index follows each chunk.
        closed: Whether the file has an end.
    """

    def text(word: str) -> bytes:
        return struct.pack("<I", len(word)) + word.encode()

    def record(kind: int, content: bytes) -> bytes:
        return struct.pack("<BQ", kind, len(content)) + content

    known = record(3, struct.pack("<H", 1) + text(JOINT_STATE) + text("ros2msg") + bytes(4))
    for number, name in enumerate(topics, 1):
        head = struct.pack("<HH", number, 1)
        known += record(4, head + text(name) + text("cdr") + bytes(4))
    every = [
        (when, number, data)
        for number, messages_ in enumerate(topics.values(), 1)
        for when, data in messages_
    ]
    every.sort(key=lambda message: message[:2])
    out = [b"\x89MCAP0\r\n" + record(1, text("ros2") + text("test"))]
    for k in range(0, len(every), per_chunk):
        some = every[k : k + per_chunk]
        body = known if k == 0 else b""
        places: dict[int, bytes] = {}
        for when, number, data in some:
            entry = struct.pack("<QQ", when, len(body))
            places[number] = places.get(number, b"") + entry
            body += record(5, struct.pack("<HIQQ", number, k, when, when) + data)
        head = struct.pack("<QQQI", 0, 0, len(body), 0) + text("")
        out.append(record(6, head + struct.pack("<Q", len(body)) + body))
        if index:
            out += [
                record(7, struct.pack("<HI", number, len(entries)) + entries)
                for number, entries in places.items()
            ]
    if closed:
        out += [record(15, bytes(4)), known, record(2, bytes(20)), b"\x89MCAP0\r\n"]
    path.write_bytes(b"".join(out))
    return path
