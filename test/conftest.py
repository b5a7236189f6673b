"""Settings that all tests share: numba's cache, hypothesis, the reference data."""

from __future__ import annotations

import gc
import os
import signal
import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def kernel_cache() -> Path:
    """Return a cache folder that is new whenever a compiler changes.

    What is compiled is kept under a name with the digest of its sources
    (``kernels.compilation.source_digest``); versions of NumPy and Python are not in that name.
    """
    version = ".".join(map(str, sys.version_info[:3]))
    names = [f"{name}{metadata.version(name)}" for name in ("numba", "numpy")]
    return ROOT / ".numba_cache" / "-".join([f"python{version}", *names])


# Before anything imports NumPy: with a process for each processor, threads for each stand in line.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Before anything imports numba; subprocesses inherit it.
os.environ.setdefault("NUMBA_CACHE_DIR", str(kernel_cache()))

# A shell's background job begins with Ctrl-C ignored, and so would all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # the smoke tests that colcon runs do without
    pass
else:
    slow = [HealthCheck.too_slow]  # the first example compiles
    settings.register_profile(
        "ci",
        derandomize=True,
        deadline=None,
        max_examples=16,
        print_blob=True,
        suppress_health_check=slow,
    )
    # A second environment repeats the tests for its libraries' sake, not for the examples'.
    settings.register_profile(
        "brief", deadline=None, derandomize=True, max_examples=10, suppress_health_check=slow
    )
    settings.register_profile(
        "validate", deadline=None, max_examples=1000, print_blob=True, suppress_health_check=slow
    )
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_configure() -> None:
    """Collect no garbage while tests are collected: a million objects, all of which stay."""
    gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--again``, which `make unit` uses after a failure."""
    text = "with --last-failed: run tests between processes a second time, and no others"
    parser.addoption("--again", action="store_true", help=text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests between processes first, and let the garbage collector look at new objects only.

    Of several workers the first then runs the tests that wait for others most of their time, and
    the rest of them compute meanwhile.
    """
    items.sort(key=lambda item: "ros_domain" not in getattr(item, "fixturenames", ()))
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a second try to tests that no stalled machine makes fail.

    The nodes watch the clock: on a machine that stalls for longer than their limits they stop,
    as they should. A test that met such a stall gets a second try, alone and with its module's
    nodes started again.
    """
    if session.config.getoption("again"):
        names = [
            item.nodeid
            for item in session.items
            if "ros_domain" not in getattr(item, "fixturenames", ())
        ]
        if names:
            pytest.exit(f"failed, and has one try only: {', '.join(names)}", returncode=1)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the source tree."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of published reference data, which is no part of the repository."""
    folder = Path(os.environ.get("GEARED_DYNAMICS_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no reference data: ../shared/data (or GEARED_DYNAMICS_DATA) is not there")
    return folder
