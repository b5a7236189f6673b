"""``sensor_msgs/msg/JointState`` serialised, many messages at a time (plain CDR)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from geared_dynamics.arrays import Array, IntArray


def serialised(
    stamp: IntArray, names: Sequence[str], lists: tuple[Array | None, Array | None, Array | None]
) -> list[bytes]:
    """Serialise messages that share their names.

    Args:
        stamp: Header stamps (k,) [ns].
        names: Joints.
        lists: Positions, velocities, efforts (k, n) each; None is left empty.
    """
    head = struct.pack("<I", 1) + b"\0"  # an empty frame_id
    head = padded(head, 4, 8) + struct.pack("<I", len(names))
    for name in names:
        text = name.encode() + b"\0"
        head = padded(head, 4, 8) + struct.pack("<I", len(text)) + text
    count = len(stamp)
    seconds = np.stack([stamp // 10**9, stamp % 10**9], axis=1).astype("<u4")
    parts = [constant(b"\0\1\0\0", count), bytes_of(seconds)]
    at = 8 + len(head)
    parts.append(constant(head, count))
    for values in lists:
        size = 0 if values is None else values.shape[1]
        lead = b"\0" * (-at % 4) + struct.pack("<I", size)
        if size:
            lead += b"\0" * (-(at + len(lead)) % 8)
        parts.append(constant(lead, count))
        at += len(lead) + 8 * size
        if values is not None:
            parts.append(bytes_of(values.astype("<f8")))
    table = np.ascontiguousarray(np.hstack(parts))
    length = table.shape[1]
    data = table.tobytes()
    return [data[k * length : (k + 1) * length] for k in range(count)]


def padded(text: bytes, size: int, before: int) -> bytes:
    """Fill up to a multiple of ``size``, with ``before`` bytes ahead of the text."""
    return text + b"\0" * (-(before + len(text)) % size)


def constant(text: bytes, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """The same bytes in each message."""
    return np.broadcast_to(np.frombuffer(text, np.uint8), (count, len(text)))


def bytes_of(
    values: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Bytes of numbers (k, ...), a row per message."""
    flat = np.ascontiguousarray(values)
    return flat.view(np.uint8).reshape(len(flat), -1)
