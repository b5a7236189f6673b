"""Each piece of a recording is decoded once, and read where it is, however often it is needed."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.analysis import Settings, analyze, identify
from geared_dynamics.recordings import joint_topics, recording, samples, spans
from geared_dynamics.recordings.container import PIECE
from geared_dynamics.recordings.motions import Meaning
from geared_dynamics.recordings.recording import Recording, open_recording
from geared_dynamics.recordings.samples import Samples
from recorded_motions import JOINT_STATE, elbow, messages, motion, torques, truth, write_sqlite

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
RATE, SECONDS = 250.0, 400.0  # 100 000 samples: 25 pieces, two spans
T, Q, V, A = motion(SECONDS, RATE)
TAU = torques(MODEL, truth(MODEL), Q, V, A)


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A motion of the arm."""
    both = messages(MODEL.joint_names, T, Q, V, TAU)
    return write_sqlite(tmp_path_factory.mktemp("bag") / "run.db3", {"/j": (JOINT_STATE, both)})


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often each message is decoded."""
    seen: Counter[int] = Counter()
    whole = joint_topics.tables

    def tables(data: list[bytes]) -> object:
        seen.update(hash(message) for message in data)
        return whole(data)

    monkeypatch.setattr(joint_topics, "tables", tables)
    return seen


@pytest.mark.parametrize("what", ["analyze", "identify"])
def test_each_message_is_decoded_once(
    bag: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = counted(monkeypatch)
    opened = open_recording(bag, MODEL.joint_names)
    if what == "analyze":
        analyze(MODEL, opened)
    else:
        identify(MODEL, [opened], Settings(keep=4.0), physical=False)
    assert len(seen) == len(T)
    assert set(seen.values()) == {1}


def test_a_span_is_cleaned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    whole = samples.clean

    def clean(part: Samples, *args: object, **options: object) -> object:
        sizes.append(len(part.stamp))
        return whole(part, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(spans, "clean", clean)
    few = slice(0, 40_000)
    one = recording.recording_from_arrays(T[few], Q[few], TAU[few])
    analyze(MODEL, one)
    assert [size for size in sizes if size > PIECE] == [40_000]  # the band is found in pieces


def in_turn(opened: Recording, numbers: list[int]) -> list[np.ndarray]:
    """Positions of some pieces, in this order."""
    return [opened.piece[k].position for k in numbers]


def test_little_room_changes_nothing_but_the_number_of_readings(
    bag: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = analyze(MODEL, open_recording(bag, MODEL.joint_names), bandwidth_hz=20.0)
    monkeypatch.setattr(recording, "ROOM", 3 * opened_piece(bag).size)
    opened = open_recording(bag, MODEL.joint_names)
    found = analyze(MODEL, opened, bandwidth_hz=20.0)
    for one, two in zip(found.totals, expected.totals, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(found.delays, expected.delays)
    assert len(opened.piece.kept) <= 3
    order = [0, 5, 2, 24, 0, 1]
    for one, two in zip(in_turn(opened, order), order, strict=True):
        np.testing.assert_array_equal(one, opened.reader.read(two).position)


class Interrupted(spans.MotionReader):
    """A reader that another thread uses at the moment at which it has cleaned a span."""

    other: int | None = None

    def __setattr__(self, name: str, value: object) -> None:
        """Keep a value; then read the other span, once."""
        super().__setattr__(name, value)
        if name == "_last" and self.other is not None:
            span, self.other = self.other, None
            self.cleaned(span, 100)


def test_threads_may_share_a_reader(bag: Path) -> None:
    """As the threads of a worker of a cluster do: each gets the span that it asked for."""
    reader = Interrupted(MODEL, open_recording(bag, MODEL.joint_names), Meaning())
    alone = [sum(len(x.core) for x in reader.cleaned(span, 100).stretches) for span in (0, 1)]
    assert alone[0] > alone[1]
    reader.other = 1
    assert sum(len(x.core) for x in reader.cleaned(0, 100).stretches) == alone[0]


def opened_piece(bag: Path) -> Samples:
    """A piece of the recording."""
    return open_recording(bag, MODEL.joint_names).piece[0]


def test_another_process_gets_the_recording_without_its_pieces(bag: Path) -> None:
    opened = open_recording(bag, MODEL.joint_names)
    again = pickle.loads(pickle.dumps(opened))
    assert opened.piece.kept
    assert not again.piece.kept
    assert len(pickle.dumps(opened)) < 10_000
    np.testing.assert_array_equal(again.piece[3].position, opened.reader.read(3).position)
