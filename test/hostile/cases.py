"""What a case is, the good motion in all of them, and its JointStates byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recorded_motions import JOINT_STATE, motion, nanoseconds, write_sqlite

NAMES = ("joint_1", "joint_2", "joint_3")
TOPIC = "/joint_states"
T, Q, V, A = motion(0.3, 1000.0)
T = T + 1.0
STAMP = nanoseconds(T)
COUNT = len(T)
# The values that every length, count and offset of a format is given.
LENGTHS = (0, 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**64 - 1)
LENGTHS_32 = (0, 1, 2**31 - 1, 2**31, 2**32 - 1)

Make = Callable[[Path], Path]
Count = int | tuple[int, int] | None


class Case(NamedTuple):
    """A file, or a folder of files, and what opening it must give.

    Attributes:
        reason: What is wrong with it, and why it may do harm.
        make: Writes it into a folder and returns what is to be opened.
        count: Samples of the good motion that are read, or least and most; None: it is refused.
        says: Pattern that the error, or what is reported of the damage, has; empty: nothing is.
        odd: Samples that are read and are none of the good motion, which the file may hold.
        heavy: Whether it runs with the long proofs only.
        nobody: Whether another user opens it.
        options: Of ``open_recording``.
    """

    reason: str
    make: Make
    count: Count
    says: str = ""
    odd: int = 0
    heavy: bool = False
    nobody: bool = False
    options: dict[str, object] = {}  # noqa: RUF012 - never written to


Cases = dict[str, Case]


def of_bytes(name: str, content: bytes) -> Make:
    """A file with this content."""

    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content)
        return path

    return make


def aligned(data: bytes, size: int) -> bytes:
    """Pad to a multiple of a size, counted from behind the encapsulation."""
    return data + bytes(-(len(data) - 4) % size)


def joint_state(
    k: int,
    *,
    names: Sequence[bytes] = tuple(name.encode() + b"\0" for name in NAMES),
    lists: Sequence[Sequence[float]] | None = None,
    order: str = "<",
    head: bytes | None = None,
    count: int | None = None,
    sizes: dict[int, int] | None = None,
    lengths: dict[int, int] | None = None,
    frame: bytes = b"\0",
    seconds: int | None = None,
    nanoseconds: int | None = None,
    tail: bytes = b"",
) -> bytes:
    """A serialised JointState of sample k, with lies where they are given.

    Args:
        k: Number of the sample.
        names: Joints, each with its closing zero.
        lists: Positions, velocities, efforts.
        order: ``<`` or ``>``.
        head: Encapsulation.
        count: Stated number of names.
        sizes: Stated number of values, by list.
        lengths: Stated length of a name, by its number.
        frame: The frame's name with its closing zero.
        seconds: Of the stamp.
        nanoseconds: Of the stamp.
        tail: Bytes behind the message.
    """
    sizes, lengths = sizes or {}, lengths or {}
    when = (
        int(STAMP[k] // 10**9) if seconds is None else seconds,
        int(STAMP[k] % 10**9) if nanoseconds is None else nanoseconds,
    )
    data = head if head is not None else (b"\0\1\0\0" if order == "<" else b"\0\0\0\0")
    data += struct.pack(order + "iI", *when)
    data += struct.pack(order + "I", len(frame)) + frame
    data = aligned(data, 4) + struct.pack(order + "I", len(names) if count is None else count)
    for i, name in enumerate(names):
        data = aligned(data, 4) + struct.pack(order + "I", lengths.get(i, len(name))) + name
    for i, values in enumerate((Q[k], V[k], A[k]) if lists is None else lists):
        data = aligned(data, 4) + struct.pack(order + "I", sizes.get(i, len(values)))
        if len(values):
            data = aligned(data, 8) + struct.pack(f"{order}{len(values)}d", *values)
    return data + tail


DATA = [joint_state(k) for k in range(COUNT)]


def bag_of(data: Sequence[bytes], name: str = "bag.db3") -> Make:
    """A bag of SQLite with these messages."""
    return lambda folder: write_sqlite(folder / name, {TOPIC: (JOINT_STATE, list(data))})


def agreement(stamp: np.ndarray, *values: np.ndarray) -> tuple[int, int]:
    """Number of samples that are those of the good motion, and of others.

    What is not finite is left out of every result, so it contradicts nothing.
    """
    place = np.clip(np.searchsorted(STAMP, stamp), 0, COUNT - 1)
    good = STAMP[place] == stamp
    for found, true in zip(values, (Q, V, A), strict=True):
        good &= ((found == true[place]) | ~np.isfinite(found)).all(axis=1)
    return int(good.sum()), int((~good).sum())
