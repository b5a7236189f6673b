"""Readers of one robot's samples, in pieces: from the right topic of a bag, or from arrays."""

from __future__ import annotations

import difflib
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import (
    LONGEST_WORD,
    GearedDynamicsWarning,
    RecordingError,
    quoted,
    shortened,
)
from geared_dynamics.recordings.container import JOINT_STATE, PIECE, Container, Raw, spread
from geared_dynamics.recordings.joint_state_codec import MessageTable, tables
from geared_dynamics.recordings.samples import Samples, Tally

# -- Which of a message's joints are the robot's --------------------------------------------------


LATEST = 2**62  # [ns] of a stamp, so that differences of two are numbers as well
NAMED = 64  # joints that an error names
COMPARED = 1000  # names that a missing one is compared with


class DecodedMessages(NamedTuple):
    """Messages as tables, how many are damaged, when each was received, lost parts of the file."""

    tables: list[MessageTable]
    damaged: int
    received: list[int]
    lost: int

    @property
    def names(self) -> dict[str, None]:
        """Names of all joints in them, in order, each once."""
        return dict.fromkeys(name for table in self.tables for name in table.layout.names)


def decoded(raw: Raw) -> DecodedMessages:
    """Decode serialised JointState messages."""
    return DecodedMessages(*tables(raw.messages), raw.received, raw.lost)


def joint_samples(messages: DecodedMessages, names: tuple[str, ...]) -> Samples:
    """Pick the robot's joints by name.

    Args:
        messages: Of one topic.
        names: The joints, as the messages call them, in the model's order.
    """
    n, count = len(names), len(messages.received)
    stamp = np.clip(np.array(messages.received, np.int64), -LATEST, LATEST)
    values = np.full((3, count, n), np.nan)
    there = np.zeros(count, bool)
    damaged, foreign, partial = messages.damaged, 0, 0
    for table in messages.tables:
        known = [name for name in names if name in table.layout.names]
        if any(table.layout.names.count(name) > 1 for name in known):  # which one is meant?
            damaged += len(table.place)
            continue
        if len(known) < n:
            foreign += len(table.place) * (not known)
            partial += len(table.place) * bool(known)
            continue
        there[table.place] = True
        if table.stamp.any():  # a header without stamps: when the message came
            stamp[table.place] = table.stamp
        columns = [table.layout.names.index(name) for name in names]
        rows = slice(None) if len(table.place) == count else table.place  # in order, each once
        for k, part in enumerate(table.lists):
            values[k, rows] = picked(table, part, columns)
    tally = Tally(foreign, partial, damaged, messages.lost)
    position, velocity, effort = values if there.all() else values[:, there]
    return Samples(stamp[there], position, velocity, effort, tally)


def picked(table: MessageTable, part: Array, columns: list[int]) -> Array:
    """Columns of a list (k, n); NaN where the messages leave the list out."""
    if part.shape[1] != len(table.layout.names):
        return np.full((len(part), len(columns)), np.nan)
    return part if columns == list(range(part.shape[1])) else part[:, columns]


def renamed(joints: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """The joints, as a recording calls them.

    Raises:
        RecordingError: If there is no such joint.
    """
    for joint in names:
        if joint not in joints:
            remedy = f"the robot's joints are {', '.join(joints)}"
            raise RecordingError("--rename", f"the robot has no joint {joint!r}", remedy)
    return tuple(names.get(joint, joint) for joint in joints)


def matched(
    joints: Sequence[str], seen: Sequence[str], names: dict[str, str], location: str
) -> tuple[str, ...]:
    """What a recording calls the robot's joints.

    Args:
        joints: The model's joints.
        seen: Names in the recording.
        names: Names in the recording by joint, where they differ.
        location: The recording and its topic, for the error's text.

    Raises:
        RecordingError: If a joint is not there.
    """
    recorded, known = renamed(joints, names), set(seen)
    missing = [name for name in recorded if name not in known]
    if not missing:
        return recorded
    finding = f"has no joint {', '.join(missing)}; it has {quoted(seen, NAMED) or 'none'}"
    if len(missing) == len(recorded):
        finding += ", so it may be of another robot"
    compared = [name for name in seen[:COMPARED] if len(name) <= LONGEST_WORD]
    near = [(joint, *difflib.get_close_matches(joint, compared, 1)) for joint in joints]
    pairs = [pair for pair in near if len(pair) == 2]
    if len(compared) == len(seen) == len(joints) == len(missing):
        pairs = list(zip(joints, seen, strict=True))
    prefixes = [name.removesuffix(joints[0]) for name in seen if name.endswith(joints[0])]
    for prefix in filter(None, prefixes):
        if all(prefix + joint in known for joint in joints):
            remedy = f"give their prefix: --rename-prefix {shlex.quote(prefix)}"
            raise RecordingError(location, finding, remedy)
    distinct = len({pair[1] for pair in pairs}) == len(pairs)
    example = " ".join("=".join(pair) for pair in pairs) if pairs and distinct else "JOINT=NAME"
    remedy = f"name them (--rename {example}), or choose joints of the robot with --joints"
    raise RecordingError(location, finding, remedy)


# -- Samples of one robot in pieces: from a bag's topic, or from arrays ---------------------------


class Reader(Protocol):
    """Samples of one robot in pieces; it can be pickled."""

    @property
    def path(self) -> str:
        """Where they come from."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with it, though it can be read."""

    @property
    def other(self) -> str:
        """What may hold what is missing here."""

    @property
    def pieces(self) -> int:
        """Number of pieces."""

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""


@dataclass(frozen=True)
class BagReader:
    """One topic of a bag.

    Attributes:
        container: The bag.
        topic: Its topic.
        names: The joints as its messages call them.
        units: What their positions and velocities are multiplied with; empty: nothing.
        probed: Pieces that were decoded to find the topic; each is handed out once.
    """

    container: Container
    topic: str
    names: tuple[str, ...]
    units: tuple[float, ...] = ()
    probed: dict[int, DecodedMessages] = field(default_factory=dict, repr=False)

    @property
    def path(self) -> str:
        """The bag."""
        return self.container.path

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with the bag."""
        return self.container.notes

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return self.container.pieces(self.topic)

    @property
    def other(self) -> str:
        """What may hold what is missing here."""
        return "choose another topic with --topic"

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        messages = self.probed.pop(piece, None)
        if messages is None:
            messages = decoded(self.container.read(self.topic, piece))
        samples = joint_samples(messages, self.names)
        if not self.units:
            return samples
        units = np.array(self.units)
        return samples._replace(
            position=samples.position * units, velocity=samples.velocity * units
        )


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """Samples that are in memory already."""

    samples: Samples
    path: str = "<arrays>"
    notes: tuple[str, ...] = ()
    other: str = "give other arrays"

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return -(-len(self.samples.stamp) // PIECE)

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        return self.samples.rows(slice(piece * PIECE, (piece + 1) * PIECE))


@dataclass(frozen=True, eq=False)
class SeriesReader:
    """Recordings that follow each other, read as one.

    Attributes:
        path: The folder that holds them.
        parts: Their readers, in order.
        lost: What is missing among them.
    """

    path: str
    parts: tuple[Reader, ...]
    lost: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with them."""
        return (*self.lost, *(note for part in self.parts for note in part.notes))

    @property
    def other(self) -> str:
        """What may hold what is missing here."""
        return self.parts[0].other

    @property
    def pieces(self) -> int:
        """Number of pieces of all together."""
        return sum(part.pieces for part in self.parts)

    def read(self, piece: int) -> Samples:
        """Samples of one piece."""
        for part in self.parts:
            if piece < part.pieces:
                return part.read(piece)
            piece -= part.pieces
        raise IndexError(piece)


# -- The topic of a bag that has the robot's joints -----------------------------------------------


PROBED = 16  # pieces in which names are looked for
MOST = 256  # topics that are looked into
LISTED = 20  # topics that an error names
MOST_NAMES = 10_000  # of joints on a topic that are looked at


def open_topic(
    bag: Container,
    joints: tuple[str, ...],
    topic: str | None,
    rename: dict[str, str],
    units: tuple[float, ...] = (),
) -> BagReader:
    """Find the topic that has the joints.

    Raises:
        RecordingError: If there is none.
    """
    there = bag.topics()
    words = [f"{shortened(known.name)} ({shortened(known.type)})" for known in there]
    listed = quoted(words, LISTED) or "none"
    if topic is not None:
        kinds = [known.type for known in there if known.name == topic]
        if not kinds:
            remedy = f"its topics are: {listed}"
            raise RecordingError(bag.path, f"has no topic {topic!r}", remedy)
        if kinds[0] != JOINT_STATE:
            remedy = f"give one of type {JOINT_STATE}; its topics are: {listed}"
            raise RecordingError(
                f"{bag.path}, {topic}", f"is of type {shortened(kinds[0])}", remedy
            )
    names = [known.name for known in there if known.type == JOINT_STATE]
    names = names if topic is None else [topic]
    if not names:
        remedy = f"record the joint states; its topics are: {listed}"
        finding = "; ".join([f"has no topic of type {JOINT_STATE}", *bag.notes])
        if not there:
            remedy = "nothing in it can be read; give another recording"
        raise RecordingError(bag.path, finding, remedy)
    if len(names) > MOST:
        finding = f"has {len(names)} topics of type {JOINT_STATE}"
        raise RecordingError(bag.path, finding, f"choose one with --topic; among them {names[0]}")
    problems: list[RecordingError] = []
    readers: list[BagReader] = []
    for name in names:
        location = f"{bag.path}, {name}"
        seen, probed = joints_on(bag, name)
        try:
            if not seen:
                finding = "; ".join(["holds no messages", *bag.notes])
                raise RecordingError(location, finding, "record the arm in motion")
            names_there = matched(joints, seen, rename, location)
            readers.append(BagReader(bag, name, names_there, units, {} if readers else probed))
        except RecordingError as error:
            problems.append(error)
    if not readers:
        raise problems[0]
    if len(readers) > 1:
        others = quoted([reader.topic for reader in readers[1:]], LISTED)
        text = f"{bag.path}: {readers[0].topic} is read; {others} has these joints too (--topic)"
        warnings.warn(text, GearedDynamicsWarning, stacklevel=4)
    return readers[0]


def joints_on(bag: Container, topic: str) -> tuple[tuple[str, ...], dict[int, DecodedMessages]]:
    """Names in messages of a topic, from pieces all over the recording, and these pieces."""
    seen: dict[str, None] = {}
    probed: dict[int, DecodedMessages] = {}
    pieces = bag.pieces(topic)
    first = spread(pieces, PROBED)
    for piece in first:
        if len(seen) > MOST_NAMES:
            break
        probed[piece] = decoded(bag.read(topic, piece))
        seen |= probed[piece].names
    for piece in range(pieces):  # none there: the messages may be in few places
        if seen:
            break
        if piece not in first:
            seen |= decoded(bag.read(topic, piece)).names
    return tuple(seen), probed
