"""The topic of a bag that has the robot's joints."""

from __future__ import annotations

import warnings

from geared_dynamics.analysis.reading.container import JOINT_STATE, Container
from geared_dynamics.analysis.reading.joints import matched, names_seen
from geared_dynamics.analysis.reading.problems import RecordingError, quoted, shortened
from geared_dynamics.analysis.reading.readers import BagReader
from geared_dynamics.analysis.reading.spreading import spread
from geared_dynamics.errors import GearedDynamicsWarning

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
    found: list[BagReader] = []
    for name in names:
        place = f"{bag.path}, {name}"
        seen = joints_on(bag, name)
        try:
            if not seen:
                finding = "; ".join(["holds no messages", *bag.notes])
                raise RecordingError(place, finding, "record the arm in motion")
            names_there = matched(joints, seen, rename, place)
            found.append(BagReader(bag, name, names_there, units))
        except RecordingError as error:
            problems.append(error)
    if not found:
        raise problems[0]
    if len(found) > 1:
        others = quoted([reader.topic for reader in found[1:]], LISTED)
        text = f"{bag.path}: {found[0].topic} is read; {others} has these joints too (--topic)"
        warnings.warn(text, GearedDynamicsWarning, stacklevel=4)
    return found[0]


def joints_on(bag: Container, topic: str) -> tuple[str, ...]:
    """Names in messages of a topic, from pieces all over the recording."""
    seen: dict[str, None] = {}
    pieces = bag.pieces(topic)
    first = spread(pieces, PROBED)
    for piece in first:
        if len(seen) > MOST_NAMES:
            break
        seen |= dict.fromkeys(names_seen(bag.read(topic, piece)))
    for piece in range(pieces):  # none there: the messages may be in few places
        if seen:
            break
        if piece not in first:
            seen |= dict.fromkeys(names_seen(bag.read(topic, piece)))
    return tuple(seen)
