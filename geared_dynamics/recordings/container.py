"""A bag's folder: files that follow each other, some of which may be lost."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from geared_dynamics.description.yaml_loader import load_yaml
from geared_dynamics.errors import DescriptionError, RecordingError, shortened, unreadable
from geared_dynamics.files import decode, read_file

# -- Files of messages: what all kinds of them offer ----------------------------------------------


JOINT_STATE = "sensor_msgs/msg/JointState"
PIECE = 4096  # messages, about, that are read at a time
LONGEST_NAME = 4096  # characters of a topic's name or type; ROS takes 255
ENCODINGS = ("cdr", "")  # of messages that are read
ZSTANDARD = b"\x28\xb5\x2f\xfd"  # first bytes of what zstd compressed
ALIKE = 8  # messages that show whether all are compressed


class Topic(NamedTuple):
    """A topic's name and type."""

    name: str
    type: str

    @classmethod
    def of(cls, name: str, kind: str, encoding: str) -> Topic:
        """Return a topic whose type says how its messages are encoded, unless it is CDR."""
        return cls(name, kind if encoding in ENCODINGS else f"{kind}, encoded as {encoding}")


class Raw(NamedTuple):
    """Serialised messages, when they were received [ns], and parts of the file that were lost."""

    messages: list[bytes]
    received: list[int]
    lost: int = 0


class Container(Protocol):
    """A bag's file, or several that follow each other; it can be pickled."""

    @property
    def path(self) -> str:
        """The file or folder."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with it, though it can be read."""

    def topics(self) -> tuple[Topic, ...]:
        """Its topics."""

    def pieces(self, topic: str) -> int:
        """Number of pieces that a topic is read in."""

    def read(self, topic: str, piece: int) -> Raw:
        """Messages of one piece, in the file's order."""


@contextmanager
def regular_file(path: Path, remedy: str) -> Iterator[BinaryIO]:
    """Open a file for the first time; a pipe would be waited for without end.

    Args:
        path: The file.
        remedy: What to do where it is something else.

    Raises:
        RecordingError: If it cannot be opened, or is no regular file.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise RecordingError(str(path), "is not a regular file", remedy)
        stream = path.open("rb")
    except (OSError, ValueError) as error:  # ValueError: a zero in the path
        raise unreadable(path, error) from None
    with stream:
        yield stream


@contextmanager
def reopened(place: Path, path: str) -> Iterator[BinaryIO]:
    """Open a file that was opened before, perhaps on another machine.

    Raises:
        RecordingError: If it is not there any more.
    """
    try:
        stream = place.open("rb")
    except OSError as error:
        raise not_there(place, path, str(error.strerror)) from None
    with stream:
        yield stream


def not_there(place: Path, path: str, why: str) -> RecordingError:
    """The error of a file that cannot be opened again."""
    remedy = "leave it in place; workers of a cluster must see it under the same path"
    return RecordingError(path, f"cannot be opened again as {place} ({why})", remedy)


def refuse_packed(path: str, messages: Sequence[bytes]) -> None:
    """Raise if messages are compressed one by one; a single one that looks so is damaged."""
    if messages and all(data[:4] == ZSTANDARD for data in messages[:ALIKE]):
        remedy = "decompress it: ros2 bag convert, with compression_mode none"
        raise RecordingError(path, "has messages compressed one by one", remedy)


# -- A bag's folder: files that follow each other, some of which may be lost ----------------------


PLACE_OF_SCHEMA = "give a bag's folder, a .db3, .mcap or .csv file"
METADATA = "metadata.yaml"
METADATA_SIZE = 2**22  # bytes: it names every file of a bag
TABLES = (".csv", ".txt", ".tsv")
PACKED = ".zstd"
ENDINGS = (".db3", ".mcap", ".db3" + PACKED, ".mcap" + PACKED)
NOTED = 10  # files that notes name
SPLIT = re.compile(r"_(\d+)$")  # what ends the names of a bag's files


class Folder:
    """Files of one bag, in the order of their numbers."""

    def __init__(self, path: Path, files: list[Container], notes: list[str]) -> None:
        """Join files; ``notes`` are about those that are left out."""
        self.path, self.files = str(path), files
        self.notes = (*notes, *first_of([note for file in files for note in file.notes]))

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


def open_folder(path: Path, open_file: Callable[[Path], Container]) -> Container:
    """Open a bag's folder: the files that its metadata.yaml lists, or the splits of one bag.

    A file that is missing, still compressed or cannot be read is left out and noted.

    Raises:
        RecordingError: If there is no bag, more than one, or none of its files can be read.
    """
    names, notes = files_of(path)
    files: list[Container] = []
    problems: list[RecordingError] = []
    gone = {name for name in names if not is_file(path / name)}
    notes += first_of([left_out(path, name) for name in names if name in gone])
    for name in names:
        if name in gone:
            continue
        try:
            files.append(open_file(path / name))
        except RecordingError as error:
            problems.append(error)
    notes += first_of([f"{error.place} {error.finding}: it is left out" for error in problems])
    if problems and not files:
        raise problems[0]
    if not files:
        raise nothing_in(path, notes)
    if len(files) == 1 and not notes:
        return files[0]
    return Folder(path, files, notes)


def is_folder(path: Path) -> bool:
    """Return whether a path leads to a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def entries(path: Path) -> list[Path]:
    """What a folder holds.

    Raises:
        RecordingError: If it cannot be read.
    """
    try:
        return list(path.iterdir())
    except OSError as error:
        raise unreadable(path, error) from None


def is_file(path: Path) -> bool:
    """Return whether a path leads to a regular file: opening a pipe would wait for ever."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def left_out(path: Path, name: str) -> str:
    """Note about a file that is not there, or only compressed."""
    packed = f"{name}{PACKED}"
    if is_file(path / packed):
        return f"{path / packed} is compressed and left out (zstd -d {packed})"
    return f"{path / shortened(name)} belongs to this bag, but is not there"


def files_of(path: Path) -> tuple[list[str], list[str]]:
    """Names of a bag's files in order, as they are without compression, and notes."""
    found = [item.name for item in entries(path) if item.name.endswith(ENDINGS) and is_file(item)]
    there = sorted({name.removesuffix(PACKED) for name in found}, key=number_in_name)
    notes: list[str] = []
    listed = None
    if is_file(path / METADATA):
        try:
            listed, odd = listed_files(metadata(path / METADATA))
            notes += first_of(
                [f"{path / METADATA} lists {shortened(x)!r}, no file of a bag" for x in odd]
            )
        except DescriptionError as error:
            notes.append(f"{path / METADATA} cannot be read ({error.finding})")
        if listed:
            known = set(listed)
            others = [name for name in there if name not in known]
            texts = [f"{path / name} is not in {METADATA}: it is left out" for name in others]
            notes += first_of(texts)
            return listed, notes
    bags = sorted({SPLIT.sub("", Path(name).stem) + Path(name).suffix for name in there})
    if len(bags) > 1:
        finding = f"holds files of {len(bags)} bags: {', '.join(bags[:5])}"
        finding += ", ..." if len(bags) > 5 else ""
        remedy = "give the files one by one, or folders with one bag each"
        raise RecordingError(str(path), finding, remedy)
    notes += lost_splits(path, there)
    return there, notes


def lost_splits(path: Path, names: Sequence[str]) -> list[str]:
    """Notes about the numbers that are missing among files that are all numbered from 0."""
    matches = [SPLIT.search(Path(name).stem) for name in names]
    numbers = {int(match[1]) for match in matches if match}
    if len(numbers) != len(names) or len(names) < 2:
        return []
    count = max(numbers) + 1 - len(numbers)
    first = islice((k for k in range(max(numbers)) if k not in numbers), NOTED)
    notes = [f"{path} has no split {number}" for number in first]
    return notes if count <= NOTED else [*notes, f"and {count - NOTED} more"]


def first_of(notes: list[str]) -> list[str]:
    """The first notes, and how many there are more: a hostile file may make any number."""
    return notes if len(notes) <= NOTED else [*notes[:NOTED], f"and {len(notes) - NOTED} more"]


def metadata(path: Path) -> object:
    """Read what rosbag2 says of its bag.

    Raises:
        DescriptionError: If it is not YAML, or larger than any.
    """
    kind = "bag's metadata file"
    return load_yaml(decode(read_file(path, kind, METADATA_SIZE), str(path), kind), str(path))


def listed_files(data: object) -> tuple[list[str], list[str]]:
    """Names of files that a bag's metadata lists, each once; and those that are none."""
    information = data.get("rosbag2_bagfile_information") if isinstance(data, dict) else None
    paths = information.get("relative_file_paths") if isinstance(information, dict) else None
    named = [name for name in paths if isinstance(name, str)] if isinstance(paths, list) else []
    every = dict.fromkeys(name.removesuffix(PACKED) for name in named)
    plain = [name for name in every if name == Path(name).name and "\\" not in name]
    own = [name for name in plain if name.endswith(ENDINGS)]
    return own, sorted(set(every) - set(own))


def tables_in(path: Path) -> list[Path]:
    """Tables of a folder without a bag, in the order of their numbers; none of another place.

    Raises:
        RecordingError: If they are not the parts of one recording.
    """
    if not is_folder(path) or is_file(path / METADATA):
        return []
    items = [item for item in entries(path) if is_file(item)]
    tables = [item for item in items if item.suffix.lower() in TABLES]
    if not tables or any(item.name.endswith(ENDINGS) for item in items):
        return []
    whole = sorted({SPLIT.sub("", item.stem) + item.suffix for item in tables})
    if len(whole) > 1:
        finding = f"holds tables of {len(whole)} recordings: {', '.join(whole[:5])}"
        remedy = (
            "give the files one by one, or number those of one recording: run_0.csv, run_1.csv"
        )
        raise RecordingError(str(path), finding, remedy)
    return sorted(tables, key=lambda item: number_in_name(item.name))


def nothing_in(path: Path, notes: Sequence[str]) -> RecordingError:
    """The error of a folder without a file that can be read, with what was noted on the way."""
    names = sorted(item.name for item in entries(path))
    packed = [name for name in names if name.endswith(PACKED)]
    if packed:
        finding = f"holds compressed files only ({packed[0]})"
        return RecordingError(str(path), finding, f"run in it: zstd -d {packed[0]}")
    if any(name.endswith(ENDINGS) for name in names):
        finding = f"none of the files that {METADATA} lists is there: {'; '.join(notes)}"
        return RecordingError(str(path), finding, f"give one of its files, or correct {METADATA}")
    there = ", ".join(names[:5]) or "nothing"
    finding = f"holds no .db3 and no .mcap file, but {there}"
    return RecordingError(str(path), finding, PLACE_OF_SCHEMA)


def number_in_name(name: str) -> tuple[int, str]:
    """Order of a bag's files: bag_2 comes before bag_10."""
    numbers = re.findall(r"\d+", Path(name).stem)
    return (int(numbers[-1]) if numbers else -1, name)
