"""What the system refuses is told; nothing is asked for by default."""

from __future__ import annotations

import gc
import os

import pytest

from geared_dynamics.ros import process


def test_nothing_is_asked_for_by_default() -> None:
    assert process.requested(0, [], False) == []


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no cores to choose here")
def test_refusals_are_told_and_survived() -> None:
    (line,) = process.requested(0, [4095], False)
    assert line.startswith("cpu_affinity [4095] was refused (")
    assert "the node runs without" in line


def test_refusals_of_priority_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(process, "schedule", refuse)
    monkeypatch.setattr(process, "lock_memory", refuse)
    lines = process.requested(40, [], True)
    assert [line.split(" was refused")[0] for line in lines] == [
        "thread_priority 40",
        "lock_memory",
    ]


def test_settling_takes_objects_out_of_the_collectors_sight() -> None:
    try:
        process.settle()
        assert gc.get_freeze_count() > 0
    finally:
        process.unsettle()
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize(("priority", "left"), [(40, 39), (2, 1), (1, 1)])
def test_a_thread_that_was_started_by_the_loop_lets_it_go_first(
    priority: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All calls are about the thread itself, 0."""
    policy, asked = [os.SCHED_FIFO], []
    system = {
        "sched_getscheduler": lambda pid: policy[0] if pid == 0 else os.SCHED_OTHER,
        "sched_getparam": lambda pid: os.sched_param(priority if pid == 0 else 99),
        "sched_setscheduler": lambda pid, kind, given: asked.append(
            (pid, kind, given.sched_priority)
        ),
    }
    for name, call in system.items():
        monkeypatch.setattr(os, name, call)
    process.step_back()
    assert asked == [(0, os.SCHED_FIFO, left)]
    policy[0] = os.SCHED_OTHER
    process.step_back()
    assert len(asked) == 1
