"""Bags of rosbag2: by the package ``rosbags`` where it is installed, else by SQLite alone.

``rosbags`` is not among ROS's packages. Without it a bag is written with the standard library, as
a ``.db3`` file of rosbag2's fourth schema and its ``metadata.yaml``.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from geared_dynamics.errors import MissingPackageError
from geared_dynamics.files import MARK

Storage = Literal["mcap", "sqlite3"]
VERSION = 9  # of rosbag2's metadata, from Jazzy on
WRITER = "writer"  # key of what says in the metadata that a bag is ours
SCHEMA = """
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(
  id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
  serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
  type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(
  id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,
  encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE messages(
  id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
  data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
INSERT INTO schema(schema_version, ros_distro) VALUES (4, '');
"""
TIMES = "SELECT count(*), coalesce(min(timestamp), 0), coalesce(max(timestamp), 0) FROM messages"


def has_library() -> bool:
    """Return whether ``rosbags`` is installed, for this Python."""
    try:
        importlib.import_module("rosbags.rosbag2")
    except ImportError:
        return False
    return True


def usual_storage() -> Storage:
    """Return the storage of a bag where none is given: MCAP, or SQLite without ``rosbags``."""
    return "mcap" if has_library() else "sqlite3"


class Bag:
    """A bag being written, complete when its context ends.

    Attributes:
        storage: In what it is kept.
    """

    def __init__(
        self, path: Path, topics: Mapping[str, str], storage: Storage | None = None
    ) -> None:
        """Make the bag.

        Args:
            path: Folder, which does not exist yet.
            topics: Types such as ``sensor_msgs/msg/JointState`` by topic.
            storage: In what it is kept; None: ``usual_storage``.

        Raises:
            MissingPackageError: MCAP is wanted, and ``rosbags`` is not installed.
        """
        self.storage = storage or usual_storage()
        if self.storage == "mcap" and not has_library():
            raise MissingPackageError("a bag as MCAP", "rosbags", "demo")
        kind = _Library if has_library() else _Sqlite
        with system_errors():
            self._writer: _Library | _Sqlite = kind(path, topics, self.storage)

    def write(self, topic: str, stamp: int, data: bytes) -> None:
        """Write a message.

        Args:
            topic: One of the bag's.
            stamp: Its time [ns].
            data: The message in CDR.
        """
        with system_errors():
            self._writer.write(topic, stamp, data)

    def close(self) -> None:
        """Complete the bag."""
        with system_errors():
            self._writer.close()

    def __enter__(self) -> Bag:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Complete the bag."""
        self.close()


@contextmanager
def system_errors() -> Iterator[None]:
    """Raise what SQLite says of the disk as an error of the system, as other files do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        number = errno.ENOSPC if "full" in str(error) else errno.EIO
        raise OSError(number, f"{os.strerror(number)} ({error})") from None


class _Library:
    """A bag by ``rosbags``, message definitions included."""

    def __init__(self, path: Path, topics: Mapping[str, str], storage: Storage) -> None:
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore

        store: Any = get_typestore(Stores.ROS2_JAZZY)
        self._writer: Any = Writer(
            path, version=VERSION, storage_plugin=StoragePlugin[storage.upper()]
        )
        self._writer.open()
        self._writer.set_custom_data(WRITER, MARK)
        self._topics = {
            topic: self._writer.add_connection(topic, kind, typestore=store)
            for topic, kind in topics.items()
        }

    def write(self, topic: str, stamp: int, data: bytes) -> None:
        self._writer.write(self._topics[topic], stamp, data)

    def close(self) -> None:
        self._writer.close()


class _Sqlite:
    """A bag by the standard library."""

    def __init__(self, path: Path, topics: Mapping[str, str], storage: Storage) -> None:
        path.mkdir()
        self._path, self._file, self._storage = path, path / f"{path.name}_0.db3", storage
        self._base = sqlite3.connect(self._file)
        self._base.executescript(SCHEMA)
        self._topics = {topic: k for k, topic in enumerate(topics, 1)}
        self._kinds = dict(topics)
        self._base.executemany(
            "INSERT INTO topics VALUES(?, ?, ?, 'cdr', '[]', '')",
            [(k, topic, topics[topic]) for topic, k in self._topics.items()],
        )

    def write(self, topic: str, stamp: int, data: bytes) -> None:
        self._base.execute(
            "INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)",
            (self._topics[topic], stamp, data),
        )

    def close(self) -> None:
        about = self._about()
        row = (VERSION, json.dumps(about))
        self._base.execute("INSERT INTO metadata(metadata_version, metadata) VALUES(?, ?)", row)
        self._base.commit()
        self._base.close()
        text = json.dumps({"rosbag2_bagfile_information": about}, indent=2)  # JSON is YAML
        (self._path / "metadata.yaml").write_text(text + "\n", encoding="utf-8")

    def _about(self) -> dict[str, Any]:
        """Return rosbag2's metadata."""
        count, first, last = self._base.execute(TIMES).fetchone()
        counts = dict(
            self._base.execute("SELECT topic_id, count(*) FROM messages GROUP BY topic_id")
        )
        span = {
            "starting_time": {"nanoseconds_since_epoch": first},
            "duration": {"nanoseconds": last - first},
            "message_count": count,
        }
        topics = [
            {
                "topic_metadata": {
                    "name": topic,
                    "type": self._kinds[topic],
                    "serialization_format": "cdr",
                    "offered_qos_profiles": [],
                    "type_description_hash": "",
                },
                "message_count": counts.get(k, 0),
            }
            for topic, k in self._topics.items()
        ]
        return {
            "version": VERSION,
            "storage_identifier": self._storage,
            "relative_file_paths": [self._file.name],
            **span,
            "topics_with_message_count": topics,
            "compression_format": "",
            "compression_mode": "",
            "files": [{"path": self._file.name, **span}],
            "custom_data": {WRITER: MARK},
            "ros_distro": "",
        }
