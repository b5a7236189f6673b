"""Each test module has its own ROS domain, each test its own processes and its own node."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from feedforward_rig import Rig, compile_kernels
from ros_harness import Graph, Processes, ros_environment
from ros_harness.domain import own_domain
from ros_harness.processes import watch_the_clock

HERE = Path(__file__).resolve().parent
HAS_ROS = importlib.util.find_spec("rclpy") is not None

# Read when a message's module is first imported, so before any test does that.
os.environ.setdefault("ROS_PYTHON_CHECK_FIELDS", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs rclpy where it is not installed."""
    skip = pytest.mark.skip(reason="rclpy is not installed (the extra 'ros', or a ROS 2 system)")
    for item in items:
        between_processes = "ros_domain" in getattr(item, "fixturenames", ())
        if item.path.is_relative_to(HERE) and between_processes and not HAS_ROS:
            item.add_marker(skip)


@pytest.fixture(scope="module")
def ros_domain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A ROS domain of the module's own; the test's process joins it as well."""
    with own_domain() as domain, pytest.MonkeyPatch.context() as patch:
        for name, value in ros_environment(domain, tmp_path_factory.mktemp("ros_log")).items():
            if name not in {"PYTHONPATH", "PYTHONUNBUFFERED"}:
                patch.setenv(name, value)
        watch_the_clock()
        yield domain
        watch_the_clock(False)


@pytest.fixture
def processes(ros_domain: int, tmp_path: Path) -> Iterator[Processes]:
    """Start processes with ``processes.start("-m", module, ...)``; they end with the test."""
    folder = tmp_path / "processes"
    folder.mkdir()
    running = Processes(ros_environment(ros_domain, tmp_path / "ros_log"), folder)
    try:
        yield running
    finally:
        print(running.report())  # pytest shows it where the test has failed
        running.clear()


@pytest.fixture
def graph(ros_domain: int, processes: Processes) -> Iterator[Graph]:
    """The test's own node."""
    graph = Graph(ros_domain, processes)
    yield graph
    graph.close()


@pytest.fixture(scope="module")
def rig(ros_domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A feedforward node's surroundings that a whole module shares; it starts the node."""
    compile_kernels()
    folder = tmp_path_factory.mktemp("rig")
    running = Processes(ros_environment(ros_domain, folder / "ros_log"), folder)
    graph = Graph(ros_domain, running)
    try:
        yield Rig(graph, running)
    finally:
        graph.close()
        print(running.report())
        running.clear()
