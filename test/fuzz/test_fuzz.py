"""A short run of every fuzzer, what once failed again, and faults that the fuzzers must find."""

from __future__ import annotations

import ctypes
import itertools
from pathlib import Path

import numpy as np
import pytest

from fuzz import KEPT
from fuzz.arrays import PAGE, guarded
from fuzz.files import Files
from fuzz.fuzzers import FUZZERS
from fuzz.guards import Fuzzer, bounded, search

SHORT = {"arrays": 600, "descriptions": 60, "trajectories": 300, "recordings": 150,
         "messages": 60, "histories": 60, "begun": 40, "commands": 25}  # fmt: skip
LONG = {"arrays": 100_000, "descriptions": 20_000, "trajectories": 20_000, "recordings": 20_000,
        "messages": 10_000, "histories": 17_000, "begun": 10_000, "commands": 5_000}  # fmt: skip


@pytest.mark.parametrize("name", FUZZERS)
def test_a_short_run(name: str) -> None:
    fuzzer = FUZZERS[name]
    for seed in range(SHORT[name]):
        bounded(fuzzer, fuzzer.case(seed))


@pytest.mark.validate
@pytest.mark.parametrize("name", FUZZERS)
def test_a_long_run(name: str, tmp_path: Path) -> None:
    words, failures = search(FUZZERS[name], 10**6, LONG[name], tmp_path, lambda: False)
    assert not failures, failures[:5]
    assert sum(words.values()) == LONG[name]


@pytest.mark.parametrize(
    "path", sorted(KEPT.glob("*/*.case")), ids=lambda p: f"{p.parent.name}-{p.name}"
)
def test_what_failed_once(path: Path) -> None:
    if path.parent.name not in FUZZERS:
        pytest.skip(f"the fuzzer of {path.parent.name} needs packages that are not installed")
    bounded(FUZZERS[path.parent.name], path.read_bytes())


def broken(case: bytes) -> str:
    """Fail at the seeds of the test below."""
    if case == b"3":
        raise KeyError("three")
    if case == b"5":
        beyond = guarded(np.zeros(4))
        ctypes.string_at(beyond.ctypes.data, beyond.nbytes + 1)
    return "good"


def test_a_wrong_exception_and_a_read_beyond_the_end_are_found(tmp_path: Path) -> None:
    """The negative control: the fifth reads one byte too many, which ends the process."""
    fuzzer = Fuzzer(lambda seed: str(seed).encode(), broken)
    words, failures = search(fuzzer, 0, 8, tmp_path, lambda: False)
    assert words == {"good": 6, "failed": 1, "crashed": 1}
    assert [failure.case for failure in failures] == [b"3", b"5"]
    assert "KeyError" in failures[0].what
    assert "signal 11" in failures[1].what


def test_good_files_are_read_before_the_time_of_a_case_counts(tmp_path: Path) -> None:
    """Else the first case pays for the kernels, and where they are not kept each one does."""
    good, read = {"a.urdf": b"a", "b.urdf": b"b", "c.yaml": b"c"}, []
    files = Files(lambda: good, lambda name, path: read.append((name, path.read_bytes())))
    search(Fuzzer(files.case, lambda _: "good"), 0, 2, tmp_path, lambda: False)
    assert sorted(read) == [("b.urdf", b"b"), ("c.yaml", b"c")]


def test_a_guarded_array_lies_at_the_edge() -> None:
    for shape, front in itertools.product([(3,), (2, 5), (700,)], [True, False]):
        found = guarded(np.arange(np.prod(shape)).reshape(shape), front=front)
        begin = found.ctypes.data
        assert (begin if front else begin + found.nbytes) % PAGE == 0
        np.testing.assert_array_equal(found.ravel(), np.arange(found.size))
