"""One thing is built at a time, beside the loop."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from geared_dynamics.runtime.model_source import Builder


def waited(builder: Builder[Any]) -> Any:
    """The result, when its thread has ended."""
    while builder.busy:
        thread = builder._thread
        if thread is not None:
            thread.join(10.0)
        found = builder.taken()
        if found is not None:
            return found
    return None


def test_a_result_is_there_once() -> None:
    builder: Builder[int] = Builder()
    assert builder.taken() is None
    builder.start(lambda: 7)
    assert waited(builder) == 7
    assert builder.taken() is None
    assert not builder.busy


def test_what_comes_meanwhile_replaces_what_is_built() -> None:
    builder: Builder[int] = Builder()
    go = threading.Event()
    builder.start(lambda: 1 if go.wait(10.0) else 0)
    assert builder.taken() is None
    builder.start(lambda: 2)
    builder.start(lambda: 3)
    go.set()
    assert waited(builder) == 3


def test_an_error_is_raised_where_the_result_is_taken() -> None:
    builder: Builder[int] = Builder()

    def fail() -> int:
        raise ValueError("wrong")

    builder.start(fail)
    with pytest.raises(ValueError, match="wrong"):
        waited(builder)
    assert not builder.busy
