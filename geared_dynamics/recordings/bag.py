"""``open_bag``: the format of a bag's file or folder, found by its first bytes; the URDF in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from geared_dynamics.description.yaml_loader import load_yaml
from geared_dynamics.errors import DescriptionError, RecordingError, quoted, shortened, unreadable
from geared_dynamics.files import NamedBytes, decode, read_file
from geared_dynamics.recordings import mcap_file, sqlite_file
from geared_dynamics.recordings.container import (
    NOTED,
    ZSTANDARD,
    Container,
    Raw,
    Topic,
    is_file,
    regular_file,
)

# -- A bag: one file, or a folder of them ---------------------------------------------------------


WHAT_TO_GIVE = "give a bag's folder, a .db3, .mcap or .csv file"


def open_bag(path: Path) -> Container:
    """Open a bag's file or folder.

    Raises:
        RecordingError: If there is none, or it is not a bag.
    """
    if is_folder(path):
        return open_folder(path)
    with regular_file(path, "copy it into a file: a bag is read in parts") as stream:
        start = stream.read(16)
    if start.startswith(mcap_file.MAGIC):
        return mcap_file.McapFile(path)
    if start.startswith(sqlite_file.MAGIC):
        return sqlite_file.SqliteFile(path)
    if start.startswith(ZSTANDARD):
        raise RecordingError(str(path), "is compressed as a whole", f"run: zstd -d {path.name}")
    finding = "is empty" if not start else "is neither an SQLite nor an MCAP file"
    raise RecordingError(str(path), finding, WHAT_TO_GIVE)


def stored_bytes(place: str) -> int:
    """Bytes of a recording's file, or of all in its folder; 0 where they cannot be read."""
    try:
        path = Path(place)
        files = path.iterdir() if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files if file.is_file())
    except (OSError, ValueError):  # opening it says why
        return 0


# -- A bag's folder: files that follow each other, some of which may be lost ----------------------


METADATA = "metadata.yaml"
METADATA_SIZE = 2**22  # bytes: it names every file of a bag
TABLES = (".csv", ".txt", ".tsv")
PACKED = ".zstd"
ENDINGS = (".db3", ".mcap", ".db3" + PACKED, ".mcap" + PACKED)
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


def open_folder(path: Path) -> Container:
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
            files.append(open_bag(path / name))
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


def left_out(path: Path, name: str) -> str:
    """Note about a file that is not there, or only compressed."""
    packed = f"{name}{PACKED}"
    if is_file(path / packed):
        return f"{path / packed} is compressed and left out (zstd -d {packed})"
    return f"{path / shortened(name)} belongs to this bag, but is not there"


def files_of(path: Path) -> tuple[list[str], list[str]]:
    """Names of a bag's files in order, as they are without compression, and notes."""
    present = [
        item.name for item in entries(path) if item.name.endswith(ENDINGS) and is_file(item)
    ]
    there = sorted({name.removesuffix(PACKED) for name in present}, key=number_in_name)
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
    return RecordingError(str(path), finding, WHAT_TO_GIVE)


def number_in_name(name: str) -> tuple[int, str]:
    """Order of a bag's files: bag_2 comes before bag_10."""
    numbers = re.findall(r"\d+", Path(name).stem)
    return (int(numbers[-1]) if numbers else -1, name)


# -- The robot's URDF from a recording: what it has of the topic robot_description ----------------


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
        finding = f"has several robots: {quoted(topics, NOTED)}"
        raise RecordingError(bag.path, finding, REMEDY)
    urdf = NamedBytes(first_text(bag, topics[0]))
    urdf.name = f"{bag.path}, {topics[0]}"
    return urdf


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
