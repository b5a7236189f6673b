"""Which of a message's joints are the robot's."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

import numpy as np

from geared_dynamics.analysis.reading.cdr import Table, tables
from geared_dynamics.analysis.reading.container import Raw
from geared_dynamics.analysis.reading.problems import LONGEST_WORD, RecordingError, quoted
from geared_dynamics.analysis.reading.samples import Samples, Tally
from geared_dynamics.arrays import Array

LATEST = 2**62  # [ns] of a stamp, so that differences of two are numbers as well
NAMED = 64  # joints that an error names
COMPARED = 1000  # names that a missing one is compared with


def joint_samples(raw: Raw, names: tuple[str, ...]) -> Samples:
    """Decode messages and pick the robot's joints by name.

    Args:
        raw: Serialised JointState messages.
        names: The joints, as the messages call them, in the model's order.
    """
    n, count = len(names), len(raw.messages)
    stamp = np.clip(np.array(raw.received, np.int64), -LATEST, LATEST)
    values = np.full((3, count, n), np.nan)
    there = np.zeros(count, bool)
    found, damaged = tables(raw.messages)
    foreign = partial = 0
    for table in found:
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
        for k, part in enumerate(table.lists):
            values[k][table.place] = picked(table, part, columns)
    tally = Tally(foreign, partial, damaged, raw.lost)
    position, velocity, effort = values[:, there]
    return Samples(stamp[there], position, velocity, effort, tally)


def picked(table: Table, part: Array, columns: list[int]) -> Array:
    """Columns of a list (k, n); NaN where the messages leave the list out."""
    if part.shape[1] != len(table.layout.names):
        return np.full((len(part), len(columns)), np.nan)
    return part[:, columns]


def names_seen(raw: Raw) -> tuple[str, ...]:
    """Names of all joints in these messages."""
    found, _ = tables(raw.messages)
    return tuple(dict.fromkeys(name for table in found for name in table.layout.names))


def renamed(joints: Sequence[str], given: Mapping[str, str]) -> tuple[str, ...]:
    """The joints, as a recording calls them.

    Raises:
        RecordingError: If there is no such joint.
    """
    for joint in given:
        if joint not in joints:
            remedy = f"the robot's joints are {', '.join(joints)}"
            raise RecordingError("--rename", f"the robot has no joint {joint!r}", remedy)
    return tuple(given.get(joint, joint) for joint in joints)


def matched(
    joints: Sequence[str], seen: Sequence[str], given: dict[str, str], place: str
) -> tuple[str, ...]:
    """What a recording calls the robot's joints.

    Args:
        joints: The model's joints.
        seen: Names in the recording.
        given: Names in the recording by joint, where they differ.
        place: The recording and its topic, for the error's text.

    Raises:
        RecordingError: If a joint is not there.
    """
    wanted, known = renamed(joints, given), set(seen)
    missing = [name for name in wanted if name not in known]
    if not missing:
        return wanted
    finding = f"has no joint {', '.join(missing)}; it has {quoted(seen, NAMED) or 'none'}"
    if len(missing) == len(wanted):
        finding += ", so it may be of another robot"
    compared = [name for name in seen[:COMPARED] if len(name) <= LONGEST_WORD]
    near = [(joint, *difflib.get_close_matches(joint, compared, 1)) for joint in joints]
    pairs = [pair for pair in near if len(pair) == 2]
    if len(compared) == len(seen) == len(joints) == len(missing):
        pairs = list(zip(joints, seen, strict=True))
    distinct = len({pair[1] for pair in pairs}) == len(pairs)
    example = " ".join("=".join(pair) for pair in pairs) if pairs and distinct else "JOINT=NAME"
    remedy = f"name them (--rename {example}), or choose joints of the robot with --joints"
    raise RecordingError(place, finding, remedy)
