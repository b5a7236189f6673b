"""A bag: one file, or a folder of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings import mcap_file, sqlite_file
from geared_dynamics.recordings.container import (
    PLACE_OF_SCHEMA,
    ZSTANDARD,
    Container,
    is_folder,
    open_folder,
    regular_file,
)

# -- Some of many pieces, spread over all of them -------------------------------------------------


def spread(count: int, most: int) -> list[int]:
    """Numbers of at most ``most`` of ``count`` pieces, with the first and the last one."""
    places = np.linspace(0, max(count - 1, 0), min(count, most))
    return [int(place) for place in np.unique(places.round())]


# -- A bag: one file, or a folder of them ---------------------------------------------------------


def open_bag(path: Path) -> Container:
    """Open a bag's file or folder.

    Raises:
        RecordingError: If there is none, or it is not a bag.
    """
    if is_folder(path):
        return open_folder(path, open_bag)
    with regular_file(path, "copy it into a file: a bag is read in parts") as stream:
        start = stream.read(16)
    if start.startswith(mcap_file.MAGIC):
        return mcap_file.McapFile(path)
    if start.startswith(sqlite_file.MAGIC):
        return sqlite_file.SqliteFile(path)
    if start.startswith(ZSTANDARD):
        raise RecordingError(str(path), "is compressed as a whole", f"run: zstd -d {path.name}")
    finding = "is empty" if not start else "is neither an SQLite nor an MCAP file"
    raise RecordingError(str(path), finding, PLACE_OF_SCHEMA)
