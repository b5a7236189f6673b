"""What an MCAP file says does not depend on how its writer cut it into chunks."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.analysis.compare import analyze
from geared_dynamics.recordings import mcap_file
from geared_dynamics.recordings.bag import open_bag
from geared_dynamics.recordings.recording import open_recording
from recorded_motions import chunked_mcap, elbow, messages, motion, nanoseconds, torques, truth

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
T, Q, V, A = motion(60.0, 200.0)
STAMP = nanoseconds(T)
DATA = messages(MODEL.joint_names, T, Q, V, torques(MODEL, truth(MODEL), Q, V, A))
ARM = list(zip(STAMP.tolist(), DATA, strict=True))
OTHERS = messages(("finger",), T[::3], Q[::3, :1], None, None)
CAMERA = list(zip((STAMP[::3] + 1).tolist(), OTHERS, strict=True))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, ...]:
    """Totals of the recording in one chunk."""
    path = chunked_mcap(tmp_path_factory.mktemp("whole") / "run.mcap", {"/arm": ARM}, len(ARM))
    return analyze(MODEL, open_recording(path, MODEL.joint_names)).totals


@pytest.mark.parametrize("per_chunk", [1, 4, 100, 4096, 5000])
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("index", [False, True])
def test_chunks_do_not_change_a_digit(
    tmp_path: Path, per_chunk: int, other: bool, index: bool, expected: tuple[np.ndarray, ...]
) -> None:
    topics = {"/camera": CAMERA, "/arm": ARM} if other else {"/arm": ARM}
    path = chunked_mcap(tmp_path / "run.mcap", topics, per_chunk, index=index)
    recording = open_recording(path, MODEL.joint_names)
    assert recording.period == 5_000_000
    assert recording.reader.pieces == 3
    found = analyze(MODEL, recording).totals
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("per_chunk", [1, 7, 4096])
def test_a_file_without_an_end_has_all_its_messages(tmp_path: Path, per_chunk: int) -> None:
    path = chunked_mcap(tmp_path / "run.mcap", {"/arm": ARM}, per_chunk, closed=False)
    recording = open_recording(path, MODEL.joint_names)
    parts = [recording.reader.read(k) for k in range(recording.reader.pieces)]
    np.testing.assert_array_equal(np.concatenate([part.stamp for part in parts]), STAMP)
    assert "not closed" in recording.reader.notes[0]


def test_chunks_of_other_topics_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = [(when + 10**12, data) for when, data in CAMERA]
    path = chunked_mcap(tmp_path / "run.mcap", {"/camera": late, "/arm": ARM}, 100)
    opened: list[int] = []
    whole = mcap_file.uncompressed
    monkeypatch.setattr(mcap_file, "uncompressed", lambda *args: opened.append(1) or whole(*args))
    bag = pickle.loads(pickle.dumps(open_bag(path)))  # as workers get it
    assert not opened  # the index says how many messages there are
    found = [
        message for k in range(bag.pieces("/arm")) for message in bag.read("/arm", k).messages
    ]
    assert found == DATA
    assert len(opened) < len(ARM) // 100 + 60  # few twice: where a piece ends within a block


def test_damaged_chunks_cost_their_messages_only(tmp_path: Path) -> None:
    path = chunked_mcap(tmp_path / "run.mcap", {"/arm": ARM}, 100)
    content = bytearray(path.read_bytes())
    place = content.index(DATA[5050][:200]) - 31  # the record of a message in the 51st chunk
    content[place + 1 : place + 9] = b"\xff" * 8  # its length
    path.write_bytes(bytes(content))
    recording = open_recording(path, MODEL.joint_names)
    parts = [recording.reader.read(k) for k in range(recording.reader.pieces)]
    stamp = np.concatenate([part.stamp for part in parts])
    np.testing.assert_array_equal(stamp, np.delete(STAMP, np.arange(5050, 5100)))
