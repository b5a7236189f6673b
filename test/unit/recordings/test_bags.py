"""Bags of all kinds give the same samples; damaged and foreign ones say what is wrong."""

from __future__ import annotations

import pickle
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.arrays import Array
from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings import mcap_records
from geared_dynamics.recordings.recording import Recording, open_recording
from geared_dynamics.recordings.samples import joined
from recorded_motions import (
    JOINT_STATE,
    chunked_mcap,
    messages,
    motion,
    nanoseconds,
    unclosed_mcap,
    write_sqlite,
    write_with_library,
)

NAMES = ("joint_1", "joint_2", "joint_3")
T, Q, V, A = motion(12.0, 1000.0)
DATA = messages(NAMES, T, Q, V, A)


def everything(recording: Recording) -> tuple[Array, ...]:
    """All samples of all pieces."""
    parts = [recording.reader.read(piece) for piece in range(recording.reader.pieces)]
    return tuple(np.concatenate([part[k] for part in parts]) for k in range(4))


def expect_all(recording: Recording) -> None:
    """The recording is the motion, to the last digit."""
    expected = (nanoseconds(T), Q, V, A)
    for found, values in zip(everything(recording), expected, strict=True):
        np.testing.assert_array_equal(found, values)
    assert recording.rate == 1000.0


@pytest.mark.parametrize("old", [False, True])
def test_both_schemas_of_sqlite(tmp_path: Path, old: bool) -> None:
    path = write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, DATA)}, old=old)
    expect_all(open_recording(path, NAMES))


@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
def test_bags_of_the_library(tmp_path: Path, storage: str) -> None:
    pytest.importorskip("rosbags", reason="needs geared_dynamics[analysis]")
    path = write_with_library(tmp_path / "bag", DATA, nanoseconds(T), storage=storage)
    expect_all(open_recording(path, NAMES))
    (file,) = [*path.glob("*.db3"), *path.glob("*.mcap")]
    expect_all(open_recording(file, NAMES))


@pytest.mark.parametrize("packed", ["", "zstd", "lz4"])
def test_an_mcap_that_was_never_closed_is_read_and_marked(tmp_path: Path, packed: str) -> None:
    pytest.importorskip("backports.zstd", reason="needs geared_dynamics[analysis]")
    pytest.importorskip("lz4.frame", reason="needs geared_dynamics[analysis]")
    path = unclosed_mcap(tmp_path / "bag.mcap", DATA, packed=packed)
    recording = open_recording(path, NAMES)
    expect_all(recording)
    assert "not closed or is cut off" in recording.reader.notes[0]


@pytest.mark.parametrize("packed", ["", "zstd", "lz4"])
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_an_mcap_that_is_cut_off_is_read_as_far_as_it_goes(
    tmp_path: Path, packed: str, part: float
) -> None:
    """In the first and in the second of its two chunks."""
    pytest.importorskip("lz4.frame", reason="needs geared_dynamics[analysis]")
    pytest.importorskip("backports.zstd", reason="needs geared_dynamics[analysis]")
    path = unclosed_mcap(tmp_path / "bag.mcap", DATA, packed=packed)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    recording = open_recording(path, NAMES)
    stamp, q, *_ = everything(recording)
    assert (part - 0.15) * len(T) < len(stamp) < (part + 0.1) * len(T)
    np.testing.assert_array_equal(q, Q[: len(stamp)])
    assert "cut off" in recording.reader.notes[0]


def test_an_mcap_of_which_nothing_is_left_says_so(tmp_path: Path) -> None:
    pytest.importorskip("lz4.frame", reason="needs geared_dynamics[analysis]")
    pytest.importorskip("backports.zstd", reason="needs geared_dynamics[analysis]")
    path = unclosed_mcap(tmp_path / "bag.mcap", DATA)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(RecordingError, match=r"cut off.*nothing in it can be read"):
        open_recording(path, NAMES)


def test_a_damaged_page_of_sqlite_costs_its_piece_only(tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, DATA)})
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(bytes(content))
    recording = open_recording(path, NAMES)
    parts = [recording.reader.read(piece) for piece in range(recording.reader.pieces)]
    assert sum(part.tally.lost for part in parts) == 1
    assert "cannot be read to the end" in joined(parts).tally.in_words()
    assert 0.3 * len(T) < sum(len(part.stamp) for part in parts) < len(T)


def test_a_file_of_sqlite_that_is_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, DATA)})
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    recording = open_recording(path, NAMES)
    assert "cut off" in recording.reader.notes[0]
    stamp, q, *_ = everything(recording)
    assert 0.3 * len(T) < len(stamp) < 0.6 * len(T)
    np.testing.assert_array_equal(q, Q[stamp // 1_000_000])


def test_files_of_a_folder_follow_their_numbers(tmp_path: Path) -> None:
    for k in range(12):
        part = {"/joint_states": (JOINT_STATE, DATA[k * 1000 : (k + 1) * 1000])}
        write_sqlite(tmp_path / f"bag_{k}.db3", part)
    expect_all(open_recording(tmp_path, NAMES))


def test_spans_with_context_cover_everything_once(tmp_path: Path) -> None:
    t, q, v, a = motion(80.0, 1000.0)
    part = {"/joint_states": (JOINT_STATE, messages(NAMES, t, q, v, a))}
    recording = open_recording(write_sqlite(tmp_path / "bag.db3", part), NAMES)
    assert recording.spans == 2
    spans = [recording.read(k, 100) for k in range(recording.spans)]
    core = np.concatenate([span.samples.stamp[span.core] for span in spans])
    np.testing.assert_array_equal(core, nanoseconds(t))
    assert (~spans[0].core).sum() >= 100
    assert (~spans[1].core).sum() >= 100
    for span in spans:
        assert (np.diff(span.samples.stamp) > 0).all()


def test_joints_in_any_order_among_other_devices(tmp_path: Path) -> None:
    turned = messages(("x", *NAMES[::-1]), T, *(np.c_[T, x[:, ::-1]] for x in (Q, V, A)))
    gripper = messages(("finger",), T, Q[:, :1], None, None)
    both = [m for pair in zip(turned, gripper, strict=True) for m in pair]
    topics = {
        "/lidar": ("sensor_msgs/msg/LaserScan", [b"\0"] * 100),
        "/joint_states": (JOINT_STATE, both),
    }
    recording = open_recording(write_sqlite(tmp_path / "bag.db3", topics), NAMES)
    expect_all(recording)
    parts = [recording.reader.read(piece) for piece in range(recording.reader.pieces)]
    assert sum(part.tally.foreign for part in parts) == len(T)


def test_header_without_stamps_takes_the_receiving_time(tmp_path: Path) -> None:
    data = messages(NAMES, np.zeros(len(T)), Q, V, A)
    path = write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, data)})
    np.testing.assert_array_equal(everything(open_recording(path, NAMES))[0], np.arange(len(T)))


def test_renamed_joints(tmp_path: Path) -> None:
    data = messages(("a", "b", "c"), T, Q, V, A)
    path = write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, data)})
    expect_all(open_recording(path, NAMES, rename=dict(zip(NAMES, "abc", strict=True))))


def bad_bags(folder: Path) -> dict[str, tuple[Path, dict, tuple[str, ...]]]:
    """By name: a bag, how it is opened, and what its error must say."""
    folder.mkdir(exist_ok=True)

    def bag(name: str, topics: dict[str, tuple[str, list[bytes]]]) -> Path:
        return write_sqlite(folder / f"{name}.db3", topics)

    def states(name: str, *arrays: Array | None, names: tuple[str, ...] = NAMES) -> Path:
        data = messages(names, T[:100], *arrays)
        return bag(name, {"/joint_states": (JOINT_STATE, data)})

    short = (Q[:100], V[:100], A[:100])
    nothing, words = folder / "empty.db3", folder / "words.db3"
    nothing.write_bytes(b"")
    words.write_text("this is no bag")
    broken = folder / "broken.db3"
    broken.write_bytes(states("whole", *short).read_bytes()[:5000])
    hollow = folder / "hollow"
    hollow.mkdir(exist_ok=True)
    good = states("good", *short)
    two = np.c_[Q, Q][:100]
    return {
        "missing": (folder / "nowhere.db3", {}, ("nowhere.db3", "No such file")),
        "empty": (nothing, {}, ("is empty", ".mcap")),
        "text": (words, {}, ("neither an SQLite nor an MCAP",)),
        "broken": (broken, {}, ("cannot be read as a bag", ".recover")),
        "empty folder": (hollow, {}, ("holds no .db3", "nothing")),
        "wrong topic": (good, {"topic": "/states"}, ("no topic '/states'", "/joint_states")),
        "no states": (
            bag("scan", {"/scan": ("sensor_msgs/msg/LaserScan", [b"\0"])}),
            {},
            ("no topic of type", "/scan (sensor_msgs/msg/LaserScan)"),
        ),
        "wrong type": (
            bag("other", {"/scan": ("sensor_msgs/msg/LaserScan", [b"\0"])}),
            {"topic": "/scan"},
            ("is of type sensor_msgs/msg/LaserScan",),
        ),
        "another robot": (
            states("panda", two, None, two, names=tuple(f"fer_joint{k}" for k in range(1, 7))),
            {},
            ("no joint joint_1, joint_2, joint_3", "fer_joint1", "another robot", "--rename"),
        ),
        "another robot with other joints": (
            states("four", *(np.c_[x, x][:, :4] for x in short), names=("a1", "a2", "a3", "a4")),
            {},
            ("it has a1, a2, a3, a4", "--rename JOINT=NAME"),
        ),
        "a prefix": (
            states("left", *short, names=tuple(f"left_joint_{k}" for k in (1, 2, 3))),
            {},
            ("no joint joint_1, joint_2, joint_3", "--rename-prefix left_"),
        ),
        "a prefix, joints in another order": (
            states("right", *short, names=tuple(f"right_joint_{k}" for k in (2, 3, 1))),
            {},
            ("no joint joint_1, joint_2, joint_3", "--rename-prefix right_"),
        ),
        "one other name": (
            states("near", *short, names=("joint_1", "joint2", "joint_3")),
            {},
            ("no joint joint_2", "joint2", "joint_2=joint2"),
        ),
        "no effort": (states("quiet", Q[:100], V[:100], None), {}, ("no efforts", "--topic")),
        "NaN effort": (
            states("nan", Q[:100], V[:100], np.nan * A[:100]),
            {},
            ("no efforts (empty or NaN)", "--topic"),
        ),
        "no position": (states("still", None, V[:100], A[:100]), {}, ("no positions",)),
        "no message": (
            bag("none", {"/joint_states": (JOINT_STATE, [])}),
            {},
            ("holds no messages",),
        ),
        "wrong rename": (good, {"rename": {"elbow": "x"}}, ("no joint 'elbow'", "joint_1")),
    }


CASES = [
    "missing", "empty", "text", "broken", "empty folder", "wrong topic", "no states", "wrong type",
    "another robot", "another robot with other joints", "one other name", "no effort",
    "NaN effort", "no position", "no message", "wrong rename", "a prefix",
    "a prefix, joints in another order",
]  # fmt: skip


def test_every_bad_bag_is_opened(tmp_path: Path) -> None:
    assert set(bad_bags(tmp_path / "bags")) == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_bad_bags_say_what_was_found_and_what_to_do(tmp_path: Path, case: str) -> None:
    path, options, words = bad_bags(tmp_path / "bags")[case]
    with pytest.raises(RecordingError) as caught:
        open_recording(path, NAMES, **options)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy


def test_runs_of_messages_are_those_one_by_one() -> None:
    """Messages of two channels and several sizes, in runs short and long."""
    random = np.random.default_rng(0)
    records, expected, borders, stamp = b"", [], [], 0
    for run in (1, 2, 40, 3, 1, 500, 1, 1, 33, 97):
        channel, size = int(random.integers(2)), int(random.integers(1, 4)) * 8
        for _ in range(run):
            stamp += 1
            body = mcap_records.HEAD_OF_MESSAGE.pack(channel, 0, stamp, 0) + random.bytes(size)
            records += mcap_records.RECORD.pack(mcap_records.MESSAGE, len(body)) + body
            expected.append((channel, stamp, body[-size:]))
            borders.append(len(records))
        records += mcap_records.RECORD.pack(mcap_records.CHANNEL, 3) + b"abc"
    found, skip = [], mcap_records.RECORD.size + mcap_records.HEAD_OF_MESSAGE.size
    for at, step, count in mcap_records.runs(records):
        received = mcap_records.stamps(records, at, step, count)
        for k in range(count):
            start = at + k * step
            channel, *_ = mcap_records.HEAD_OF_MESSAGE.unpack_from(
                records, start + mcap_records.RECORD.size
            )
            found.append((channel, received[k], records[start + skip : start + step]))
    assert found == expected
    for cut in range(len(records) - 700, len(records)):
        messages, received, damaged = mcap_records.messages_of(records[:cut], {0, 1})
        assert [*zip(received, messages, strict=True)] == [x[1:] for x in expected][
            : len(messages)
        ]
        assert damaged == (cut not in borders)
        assert cut - borders[len(messages) - 1] < 200


def test_what_sqlite_keeps_in_place_of_a_message_is_damaged(tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, DATA)})
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA ignore_check_constraints = ON")
        base.execute("UPDATE messages SET data = 7 WHERE id = 1000")
        base.execute("UPDATE messages SET data = 'text' WHERE id = 2000")
        base.execute("UPDATE messages SET timestamp = 'text' WHERE id = 3000")
        base.execute(
            "INSERT INTO topics VALUES(2, CAST(X'2FE0FF' AS TEXT), 'a/msg/B', '', '', '')"
        )
    base.close()
    recording = open_recording(path, NAMES)
    parts = [recording.reader.read(piece) for piece in range(recording.reader.pieces)]
    tally = joined(parts).tally
    assert tally.damaged == 2
    stamp = np.concatenate([part.stamp for part in parts])
    np.testing.assert_array_equal(stamp, np.delete(nanoseconds(T), [999, 1999]))


def test_times_of_receiving_beyond_all_sense(tmp_path: Path) -> None:
    data = messages(NAMES, T[:100], Q[:100], V[:100], A[:100])
    late = [(k + (2**63 if k > 50 else 0), message) for k, message in enumerate(data)]
    path = chunked_mcap(tmp_path / "run.mcap", {"/joint_states": late}, 10)
    samples = open_recording(path, NAMES).reader.read(0)
    np.testing.assert_array_equal(samples.stamp, nanoseconds(T[:100]))  # the headers' count


def test_degrees_and_renamed_joints_of_a_bag(tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, DATA)})
    samples = open_recording(path, NAMES, degrees=NAMES[:2]).reader.read(0)
    scale = np.array([np.pi / 180, np.pi / 180, 1.0])
    np.testing.assert_allclose(samples.position, Q[: len(samples.stamp)] * scale, rtol=1e-15)
    np.testing.assert_allclose(samples.velocity, V[: len(samples.stamp)] * scale, rtol=1e-15)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"columns": {"effort": "x"}}, "--columns"),
        ({"rate": 100.0}, "--rate"),
        ({"time_unit": "ms"}, "--time-unit"),
    ],
)
def test_options_of_tables_are_refused_for_bags(tmp_path: Path, options: dict, name: str) -> None:
    path = write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, DATA[:100])})
    with pytest.raises(RecordingError, match=f"{name}: does not apply to a bag.*leave it out"):
        open_recording(path, NAMES, **options)


def test_joints_and_efforts_that_begin_late_are_found(tmp_path: Path) -> None:
    other = messages(("finger",), T[:9000], Q[:9000, :1], V[:9000, :1], A[:9000, :1])
    path = write_sqlite(
        tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, other + DATA[9000:])}
    )
    recording = open_recording(path, NAMES)
    assert recording.period == 1_000_000
    parts = [recording.reader.read(piece) for piece in range(recording.reader.pieces)]
    assert joined(parts).tally.foreign == 9000
    np.testing.assert_array_equal(joined(parts).position, Q[9000:])


def test_a_file_that_is_gone_later_is_told(tmp_path: Path) -> None:
    for path in (
        write_sqlite(tmp_path / "bag.db3", {"/joint_states": (JOINT_STATE, DATA[:100])}),
        chunked_mcap(tmp_path / "bag.mcap", {"/j": [(k, m) for k, m in enumerate(DATA[:100])]}, 9),
    ):
        recording = pickle.loads(pickle.dumps(open_recording(path, NAMES)))  # as workers get it
        path.unlink()
        with pytest.raises(RecordingError, match=r"cannot be opened again.*the same path"):
            recording.reader.read(0)


@pytest.mark.parametrize("kind", ["db3", "mcap", "csv"])
def test_a_relative_path_holds_in_another_folder(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(f"bag.{kind}")
    if kind == "db3":
        write_sqlite(path, {"/joint_states": (JOINT_STATE, DATA[:100])})
    elif kind == "mcap":
        chunked_mcap(path, {"/j": [(k, m) for k, m in enumerate(DATA[:100])]}, 9)
    else:
        columns = ["time", *(f"{what}_{k}" for what in ("q", "tau") for k in (1, 2, 3))]
        rows = np.column_stack([T, Q, A])[:100]
        np.savetxt(path, rows, delimiter=",", header=",".join(columns), comments="")
    recording = open_recording(path, NAMES)
    assert recording.path == str(path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(recording.reader.read(0).stamp) == 100
