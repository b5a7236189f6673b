"""What cannot be read or compared, in one table: place, finding and remedy of each refusal."""

from __future__ import annotations

import struct
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from elastic_arms import elbow as elastic_elbow
from elbow_run import MODEL, Q, T
from geared_dynamics.analysis import compare
from geared_dynamics.analysis.identification_equations import (
    drive_gains_from_load,
    refuse_unmeasured,
)
from geared_dynamics.analysis.observer_tuning import stretches
from geared_dynamics.errors import GearedDynamicsError, MissingPackageError, extra
from geared_dynamics.recordings import bag_writer, container, mcap_file
from geared_dynamics.recordings.bag import open_bag, recorded_description, tables_in
from geared_dynamics.recordings.joint_state_codec import LONGEST, NotJointStateError, layout_of
from geared_dynamics.recordings.joint_topics import ArrayReader, SeriesReader
from geared_dynamics.recordings.mcap_records import decompressed
from geared_dynamics.recordings.motions import Meaning
from geared_dynamics.recordings.recording import is_table, open_recording, recording_from_arrays
from geared_dynamics.recordings.spans import MotionReader, refuse_silent
from recorded_motions import JOINT_STATE, motion, write_sqlite

NAMES = ("a", "b", "c")
ZSTANDARD = container.ZSTANDARD


def with_content(folder: Path, name: str, data: bytes) -> Path:
    """A file of these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


def compressed_messages(folder: Path) -> object:
    """A bag whose messages are compressed one by one."""
    path = write_sqlite(folder / "bag.db3", {"/j": (JOINT_STATE, [ZSTANDARD + bytes(40)] * 3)})
    return open_recording(path, NAMES)


def gains_of_joint_torques() -> object:
    """Drive gains where the efforts are no motor's."""
    none = SimpleNamespace(effort=np.zeros((2, 0)))
    loaded = np.array([True, False])
    return drive_gains_from_load(MODEL, none, loaded, np.zeros(10))  # type: ignore[arg-type]


def without_stretches() -> object:
    """Two samples: the filter needs three."""
    arm = elastic_elbow(2.0)
    short = recording_from_arrays([0.0, 1e-3], np.zeros((2, 3)), np.ones((2, 3)))
    return stretches(arm, short, Meaning(), 1.0)


CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "meaning": (
        lambda _: Meaning("torque"),
        "effort: unknown meaning 'torque'; give one of joint_torque",
    ),  # type: ignore[arg-type]
    "arrays of a row": (
        lambda _: recording_from_arrays(T, Q[:, 0], Q[:, 0]),
        r"\(k,\), positions and efforts \(k, n\)",
    ),
    "efforts of fewer": (lambda _: recording_from_arrays(T, Q, Q[:-1]), "recording_from_arrays"),
    "velocities of fewer": (
        lambda _: recording_from_arrays(T, Q, Q, Q[:, :2]),
        "recording_from_arrays",
    ),
    "times of fewer": (lambda _: recording_from_arrays(T[1:], Q, Q), "recording_from_arrays"),
    "whole file compressed": (
        lambda f: open_bag(with_content(f, "b.db3.zstd", ZSTANDARD + bytes(20))),
        "run: zstd -d b.db3.zstd",
    ),
    "empty": (lambda f: open_bag(with_content(f, "b.db3", b"")), "is empty"),
    "no bag": (
        lambda f: open_bag(with_content(f, "b.db3", b"text of mine")),
        "neither an SQLite nor an MCAP",
    ),
    "messages compressed": (
        compressed_messages,
        "has messages compressed one by one; decompress it",
    ),
    "no MCAP": (
        lambda f: mcap_file.McapFile(with_content(f, "x.mcap", b"\x89MCAP1" + bytes(20))),
        "does not begin as an MCAP file does",
    ),
    "compression": (
        lambda _: decompressed("brotli", b"x", "x.mcap", 1),
        "compressed as 'brotli'; convert",
    ),
    "robot of a table": (
        lambda f: recorded_description(f / "t.CSV"),
        "is a table and holds no robot",
    ),
    "gains": (lambda _: gains_of_joint_torques(), "the efforts are joint torques"),
    "no stretch": (lambda _: without_stretches(), "contains no gap-free interval"),
}


def tables(folder: Path) -> object:
    """Tables of two recordings in one folder."""
    for name in ("walk_0.csv", "walk_1.csv", "swing_0.csv"):
        with_content(folder, name, b"time,a\n0,1\n")
    return tables_in(folder)


CASES |= {
    "two recordings of tables": (tables, r"tables of 2 recordings: swing\.csv, walk\.csv"),
    "no table": (lambda f: open_recording(f / "none.csv", NAMES), "cannot be read|is not there"),
    "efforts of zero": (
        lambda _: refuse_unmeasured(MODEL, np.array([True, False, True]), "bag"),
        r"zero in all samples of joint_2; record a source that measures them",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str, tmp_path: Path) -> None:
    call, words = CASES[case]
    with pytest.raises(GearedDynamicsError, match=words):
        call(tmp_path)


def joint_state(count: int) -> bytes:
    """The beginning of a message with this many names."""
    head = b"\x00\x01\x00\x00" + struct.pack("<iII", 1, 0, 1) + b"\x00" + bytes(3)
    return head + struct.pack("<I", count) + bytes(64)


def test_tables_of_one_recording_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for k in (10, 2, 1):
        with_content(tmp_path, f"run_{k}.csv", b"time,a\n0,1\n")
    assert [path.name for path in tables_in(tmp_path)] == ["run_1.csv", "run_2.csv", "run_10.csv"]
    assert is_table(tmp_path) is True
    assert is_table(tmp_path / "run_1.CSV") is True
    with_content(tmp_path, "bag.db3", b"")
    assert tables_in(tmp_path) == []
    assert is_table(tmp_path) is False
    assert is_table(tmp_path / "bag.db3") is False


@pytest.mark.parametrize("column", [0, 1])
def test_a_joint_without_a_number_in_the_whole_recording(column: int) -> None:
    q, tau = Q.copy(), np.ones_like(Q)
    (q, tau)[column][:, 1] = np.nan
    reader = MotionReader(MODEL, recording_from_arrays(T, q, tau), Meaning())
    what = ("positions", "efforts")[column]
    with pytest.raises(GearedDynamicsError, match=f"has no {what} of joint_2 .NaN in all samples"):
        refuse_silent(reader)
    refuse_silent(MotionReader(MODEL, recording_from_arrays(T, Q, np.ones_like(Q)), Meaning()))


def test_a_message_of_more_names_than_any_robot_has_joints() -> None:
    with pytest.raises(NotJointStateError, match="too many names"):
        layout_of(joint_state(LONGEST + 1))
    with pytest.raises(NotJointStateError) as caught:
        layout_of(joint_state(LONGEST))
    assert "too many" not in str(caught.value)


def test_pieces_of_a_series_are_those_of_its_parts() -> None:
    t, q, _, _ = motion(1.0, 100.0)
    parts = tuple(recording_from_arrays(t + k, q + k, q).reader for k in range(3))
    series = SeriesReader("folder", parts)
    assert isinstance(parts[0], ArrayReader)
    assert series.pieces == sum(part.pieces for part in parts)
    for k in range(3):
        np.testing.assert_array_equal(series.read(k).position, q + k)
    with pytest.raises(IndexError):
        series.read(3)


# -- what other programs lack --------------------------------------------------------------------


def test_a_package_that_is_not_there_and_one_that_lacks_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the absence of the package itself is answered with how to install it."""
    with pytest.raises(MissingPackageError, match=r"pip install 'not_a_package'"):
        extra("not_a_package.part", "report")
    (tmp_path / "half_there.py").write_text("import not_a_package_either\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_a_package_either"):
        extra("half_there", "report")


def test_a_bag_as_mcap_needs_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bag_writer, "has_library", lambda: False)
    with pytest.raises(MissingPackageError, match="rosbags"):
        bag_writer.Bag(tmp_path / "bag", {"/j": JOINT_STATE}, "mcap")
    assert not (tmp_path / "bag").exists()
    with bag_writer.Bag(tmp_path / "bag", {"/j": JOINT_STATE}) as bag:
        assert bag.storage == "sqlite3"


def squared(plan: int, span: int) -> int:
    """A task."""
    if span > plan:
        raise ValueError("too far")
    return span**2


class Cluster:
    """Stands for the workers of a Dask scheduler."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def Client(self, address: str, **_: Any) -> Cluster:
        if address == "nowhere":
            raise OSError("timed out")
        return self

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def scheduler_info(self, n_workers: int) -> dict[str, list[int]]:
        return {"workers": [0] * self.workers}

    def scatter(self, plan: object, broadcast: bool) -> object:
        return plan

    def submit(self, function: Any, *arguments: Any, pure: bool) -> Any:
        return SimpleNamespace(result=lambda: function(*arguments))


@pytest.mark.parametrize(
    ("workers", "address", "plan", "words"),
    [
        (2, "nowhere", 9, r"nowhere: no scheduler answers \(timed out\); start one"),
        (0, "tcp://here", 9, "has no workers; start some"),
        (2, "tcp://here", 3, r"a worker failed \(ValueError: too far\)"),
    ],
)
def test_a_cluster_that_fails(
    workers: int, address: str, plan: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "extra", lambda *_: Cluster(workers))
    with pytest.raises(GearedDynamicsError, match=words):
        list(compare.over_spans(squared, plan, 6, scheduler=address))


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_results_of_a_cluster_come_in_order(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "extra", lambda *_: Cluster(workers))
    found = list(compare.over_spans(squared, 9, 6, scheduler="tcp://here"))
    assert found == [k**2 for k in range(6)] == list(compare.over_spans(squared, 9, 6))


def test_a_worker_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does that takes more memory than there is."""

    def dying(*_: object) -> object:
        raise BrokenProcessPool("a process was killed")

    monkeypatch.setattr(compare, "in_order", dying)
    with pytest.raises(
        GearedDynamicsError, match="--jobs: a worker process died; give the machine"
    ):
        list(compare.in_processes(squared, 9, 6, 2))
