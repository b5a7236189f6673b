"""The robot's URDF from a recording: what it has of the topic robot_description."""

from __future__ import annotations

from pathlib import Path

from geared_dynamics.analysis.reading.bag import open_bag
from geared_dynamics.analysis.reading.container import Container
from geared_dynamics.analysis.reading.folder import NAMED, TABLES, is_folder
from geared_dynamics.analysis.reading.problems import RecordingError, quoted
from geared_dynamics.description.source import NamedBytes

TEXT = "std_msgs/msg/String"
NAME = "robot_description"
REMEDY = "give the robot's file with --robot"


def recorded_description(path: str | Path) -> NamedBytes:
    """Return the URDF that a bag holds, the first one if it changed.

    Raises:
        RecordingError: If there is none, or more than one robot's.
    """
    if not is_folder(Path(path)) and Path(path).suffix.lower() in TABLES:
        raise RecordingError(str(path), "is a table and holds no robot", REMEDY)
    bag = open_bag(Path(path))
    topics = [topic.name for topic in bag.topics() if topic.type == TEXT]
    topics = [topic for topic in topics if topic.rpartition("/")[2] == NAME]
    if not topics:
        raise RecordingError(bag.path, f"has no topic {NAME} of type {TEXT}", REMEDY)
    if len(topics) > 1:
        finding = f"has several robots: {quoted(topics, NAMED)}"
        raise RecordingError(bag.path, finding, REMEDY)
    found = NamedBytes(first_text(bag, topics[0]))
    found.name = f"{bag.path}, {topics[0]}"
    return found


def first_text(bag: Container, topic: str) -> bytes:
    """Return the first String of a topic that is whole."""
    for piece in range(bag.pieces(topic)):
        for message in bag.read(topic, piece).messages:
            text = text_of(message)
            if text:
                return text
    raise RecordingError(f"{bag.path}, {topic}", "holds no whole message", REMEDY)


def text_of(message: bytes) -> bytes:
    """Return a serialised String's text, nothing if the message is damaged.

    CDR: four bytes, of which the second says the order; the length with the closing zero; text.
    """
    size = int.from_bytes(message[4:8], "little" if message[1:2] == b"\x01" else "big")
    text = message[8 : 8 + size]
    return text[:-1] if len(text) == size else b""
