"""A serialised ``JointState`` for each level, whose numbers are written in place."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from geared_dynamics.arrays import Array
from geared_dynamics.nodes.common.messages import SECOND
from geared_dynamics.nodes.common.wire import HEAD, STAMP
from geared_dynamics.nodes.observer.values import Level


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
