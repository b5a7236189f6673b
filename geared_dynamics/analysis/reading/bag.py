"""A bag: one file, or a folder of files that follow each other."""

from __future__ import annotations

import re
from pathlib import Path

from geared_dynamics.analysis.reading import mcap_file, sqlite_file
from geared_dynamics.analysis.reading.container import Container, Raw, Topic
from geared_dynamics.analysis.reading.problems import RecordingError

PLACE_OF_SCHEMA = "give a bag's folder, a .db3, .mcap or .csv file"


class Folder:
    """Files of one bag, in the order of their numbers."""

    def __init__(self, path: Path, files: list[Container]) -> None:
        """Join files."""
        self.path, self.files = str(path), files
        self.notes = tuple(note for file in files for note in file.notes)

    def topics(self) -> tuple[Topic, ...]:
        """Topics of any of the files."""
        return tuple(dict.fromkeys(topic for file in self.files for topic in file.topics()))

    def pieces(self, topic: str) -> int:
        """Pieces of all files together."""
        return sum(self._pieces(file, topic) for file in self.files)

    def read(self, topic: str, piece: int) -> Raw:
        """Messages of one piece."""
        for file in self.files:
            count = self._pieces(file, topic)
            if piece < count:
                return file.read(topic, piece)
            piece -= count
        return Raw([], [])

    @staticmethod
    def _pieces(file: Container, topic: str) -> int:
        has = any(known.name == topic for known in file.topics())
        return file.pieces(topic) if has else 0


def open_bag(path: Path) -> Container:
    """Open a bag's file or folder.

    Raises:
        RecordingError: If there is none, or it is not a bag.
    """
    if path.is_dir():
        return open_folder(path)
    try:
        with path.open("rb") as stream:
            start = stream.read(16)
    except OSError as error:
        raise RecordingError(
            str(path), f"cannot be read ({error.strerror})", "check the path"
        ) from None
    if start.startswith(mcap_file.MAGIC):
        return mcap_file.McapFile(path)
    if start.startswith(sqlite_file.MAGIC):
        return sqlite_file.SqliteFile(path)
    if start.startswith(sqlite_file.ZSTANDARD):
        raise RecordingError(str(path), "is compressed as a whole", f"run: zstd -d {path.name}")
    finding = "is empty" if not start else "is neither an SQLite nor an MCAP file"
    raise RecordingError(str(path), finding, PLACE_OF_SCHEMA)


def open_folder(path: Path) -> Container:
    """Open a bag's folder."""
    found = sorted((*path.glob("*.db3"), *path.glob("*.mcap")), key=number_in_name)
    if found:
        files = [open_bag(file) for file in found]
        return files[0] if len(files) == 1 else Folder(path, files)
    packed = sorted(path.glob("*.zstd"))
    if packed:
        finding = f"holds compressed files only ({packed[0].name})"
        raise RecordingError(str(path), finding, f"run in it: zstd -d {packed[0].name}")
    there = ", ".join(sorted(item.name for item in path.iterdir())[:5]) or "nothing"
    raise RecordingError(
        str(path), f"holds no .db3 and no .mcap file, but {there}", PLACE_OF_SCHEMA
    )


def number_in_name(file: Path) -> tuple[int, str]:
    """Order of a bag's files: bag_2 comes before bag_10."""
    numbers = re.findall(r"\d+", file.stem)
    return (int(numbers[-1]) if numbers else -1, file.name)
