"""One cycle of the feedforward node and its parts, at a rate: caches are cold, as on a robot.

Run: python benchmarks/cycle.py [rate [seconds]]

Needs rclpy. With real-time priority (``chrt -f 20 python ...``) other programs stay out of the
figures. A clock around a part adds a microsecond to it and to what it lies in: the whole is
measured without clocks, in turn with the parts.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import geared_dynamics as gd
from geared_dynamics.apps import latency_run
from geared_dynamics.runtime import latency_figures

ROUNDS = 3


def timed(function: Callable[..., Any], times: list[int]) -> Callable[..., Any]:
    """Return the function, whose times [ns] go to a list."""

    def call(*arguments: Any) -> Any:
        begin = time.perf_counter_ns()
        result = function(*arguments)
        times.append(time.perf_counter_ns() - begin)
        return result

    return call


def places() -> dict[str, tuple[Any, str]]:
    """Return where the parts of a cycle are found."""
    from geared_dynamics.ros import feedforward, feedforward_topics
    from geared_dynamics.runtime import feedforward_loop, joint_readings

    return {
        "respond, with all below": (feedforward.FeedforwardNode, "respond"),
        "JointMap.read": (joint_readings.JointMap, "read"),
        "Loop.cycle, with all below": (feedforward_loop.FeedforwardLoop, "cycle"),
        "sample_into, each of two": (feedforward_loop, "sample_into"),
        "the law": (gd.control.RigidController, "step"),
        "the safety step": (gd.control.safety, "step"),
        "Commands.send": (feedforward_topics.Commands, "send"),
    }


def with_clocks(measure: Callable[[], list[int]]) -> dict[str, list[int]]:
    """Return the parts' times [ns] while something is measured."""
    found = {name: (place, key, getattr(place, key)) for name, (place, key) in places().items()}
    times: dict[str, list[int]] = {name: [] for name in found}
    for name, (place, key, function) in found.items():
        setattr(place, key, timed(function, times[name]))
    try:
        measure()
    finally:
        for place, key, function in found.values():
            setattr(place, key, function)
    return times


def main() -> None:
    """Print medians and 99th percentiles [us]."""
    rate = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
    files = latency_figures.default_files()
    model = gd.load_model(*files)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= latency_run.environment(None, folder)
        import rclpy

        from geared_dynamics.ros.cycle_timing import measure
        from geared_dynamics.ros.feedforward import FeedforwardNode

        start = latency_figures.posture(model)
        options = latency_run.Options(model.joint_names, start, rate, seconds, 0.0, None)
        node_options = latency_run.feedforward(*files, "computed_torque", rate)
        task = latency_run.new_task(options, folder, "", node_options)
        rclpy.init(args=["cycle", *latency_run.ros_arguments(folder, "cycle", node_options)])
        node = FeedforwardNode()
        node.start()
        whole: list[int] = []
        parts: dict[str, list[int]] = {title: [] for title in places()}
        for _ in range(ROUNDS):
            whole += measure(node, task)
            for title, times in with_clocks(lambda: measure(node, task)).items():
                parts[title] += times
        node.destroy_node()
        rclpy.try_shutdown()
    for title, times in {"the whole cycle": whole, **parts}.items():
        median, late = np.percentile(np.array(times) / 1e3, [50, 99])
        print(f"{title:28} p50 {median:6.1f} us   p99 {late:6.1f} us")


if __name__ == "__main__":
    main()
