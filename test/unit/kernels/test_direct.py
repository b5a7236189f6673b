"""Direct kernels answer as numba's dispatcher behind them, which gets what they do not take."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from geared_dynamics import kernels
from geared_dynamics.kernels import door, layout
from geared_dynamics.kernels.direct import direct

pytestmark = pytest.mark.skipif(bool(door.fault()), reason=door.fault())
N = 3


class Behind:
    """A direct kernel whose dispatcher only notes that it was asked."""

    def __init__(self) -> None:
        kernel: Any = kernels.segment_values
        self.asked, self.stats = 0, kernel.stats
        self.overloads, self.py_func = kernel.overloads, kernel.py_func
        self.kernel = direct(self, 1, 1)

    def __call__(self, *_arguments: Any, **_named: Any) -> str:
        self.asked += 1
        return "behind"


@pytest.fixture
def table() -> Any:
    return np.random.default_rng(3).normal(size=6 * 4 * N)


def dispatcher(name: str) -> Any:
    """What stands behind a kernel."""
    return getattr(kernels, name).__wrapped__


@pytest.mark.parametrize("name", kernels.DIRECT)
def test_kernels_of_a_cycle_are_direct(name: str) -> None:
    assert type(getattr(kernels, name)) is door.door_type()
    assert type(dispatcher(name)).__name__ == "CPUDispatcher"
    for key in ("py_func", "overloads", "stats"):
        assert getattr(getattr(kernels, name), key) == getattr(dispatcher(name), key)


def test_values_are_those_of_the_polynomials(table: Any) -> None:
    out, again, x = np.empty(4 * N), np.empty(4 * N), 0.37
    assert kernels.segment_values(table, x, out) == layout.OK
    assert dispatcher("segment_values")(table, x, again) == layout.OK
    assert out.tobytes() == again.tobytes()
    expected = x ** np.arange(6) @ table.reshape(6, -1)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-14)
    assert kernels.segment_values(table, 1.01 * x, out) == layout.OK
    assert np.abs(out - expected).max() > 1e-3


def test_a_status_is_returned(table: Any) -> None:
    assert kernels.segment_values(table, 0.5, np.empty(4 * N - 1)) == layout.WRONG_SHAPE
    assert kernels.segment_values(table, 0.5, table[: 4 * N]) == layout.OVERLAP


def test_plain_arguments_are_taken(table: Any) -> None:
    behind, out = Behind(), np.empty(4 * N)
    table.flags.writeable = False
    for number in (0.5, np.float64(0.5)):
        assert behind.kernel(table, number, out) == layout.OK
    assert behind.asked == 0


OTHERS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "an integer": lambda t, out: (t, 1, out),
    "a list": lambda t, out: (t.tolist(), 0.5, out),
    "single precision": lambda t, out: (t.astype(np.float32), 0.5, out),
    "strides": lambda t, out: (np.repeat(t, 2)[::2], 0.5, out),
    "a matrix": lambda t, out: (t.reshape(6, -1), 0.5, out),
    "a batch": lambda t, out: (t, 0.5, out.reshape(4, -1)),
    "a masked array": lambda t, out: (np.ma.array(t), 0.5, out),
    "a result of another kind": lambda t, out: (t, 0.5, out.astype(np.float32)),
    "one argument less": lambda t, out: (t, out),
    "one argument more": lambda t, out: (t, 0.5, 0.5, out),
    "nothing": lambda _t, _out: (),
    "None": lambda _t, out: (None, 0.5, out),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_arguments_go_to_the_dispatcher(case: str, table: Any) -> None:
    behind = Behind()
    assert behind.kernel(*OTHERS[case](table, np.empty(4 * N))) == "behind"
    assert behind.asked == 1


def test_keywords_and_results_that_are_read_only_go_to_the_dispatcher(table: Any) -> None:
    behind, out = Behind(), np.empty(4 * N)
    assert behind.kernel(table, 0.5, out=out) == "behind"
    out.flags.writeable = False
    assert behind.kernel(table, 0.5, out) == "behind"
    with pytest.raises(kernels.NOT_TAKEN):
        kernels.segment_values(table, 0.5, out)


def test_calls_keep_nothing(table: Any) -> None:
    behind, out, number = Behind(), np.empty(4 * N), 0.5
    held = [table, out, number, behind]

    def once() -> None:
        behind.kernel(table, number, out)
        behind.kernel(table, number, table[: 4 * N])
        behind.kernel(table, 1, out)

    once()
    gc.collect()
    counts = [sys.getrefcount(x) for x in held]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(10_000):
        once()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert [sys.getrefcount(x) for x in held] == counts
    assert grown < 20_000
