"""How the benchmark ends, and figures of the observer's steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.apps import latency_run as benchmark
from geared_dynamics.apps.processes import _interrupt
from geared_dynamics.errors import GearedDynamicsError


def test_a_signal_ends_the_benchmark_as_ctrl_c_does() -> None:
    with pytest.raises(KeyboardInterrupt):
        _interrupt(15, None)


def test_figures_of_the_steps_are_those_of_the_last_cycles(tmp_path: Path) -> None:
    """In microseconds, from nanoseconds; earlier ones are of the warming up."""
    path = tmp_path / "steps.npy"
    np.save(path, np.concatenate([np.full(50, 1e9), 1e3 * np.arange(101.0)]))
    found = benchmark._steps(path, 101)
    assert (found.p50, found.p99) == (pytest.approx(50.0), pytest.approx(99.0))
    np.save(path, np.empty(0))
    with pytest.raises(GearedDynamicsError, match="the observer made no step"):
        benchmark._steps(path, 101)
