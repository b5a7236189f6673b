"""One cycle of the feedforward node and its parts, at a rate: caches are cold, as on a robot.

Run: python benchmarks/cycle.py [rate [seconds]]
     python benchmarks/cycle.py --goal [rate [seconds]]

With ``--goal``, a reference from the topic and an action goal by turns: the time until the command
is sent, which is the latency, and the whole cycle. It needs ``control_msgs``.

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
import rclpy

import geared_dynamics as gd
from geared_dynamics.apps import latency_run
from geared_dynamics.apps.processes import own_domain
from geared_dynamics.ros import feedforward, feedforward_topics, node_timing
from geared_dynamics.ros.feedforward import FeedforwardNode
from geared_dynamics.ros.node_timing import Swallow, cycle_times
from geared_dynamics.runtime import feedforward_loop, joint_readings, latency_figures
from geared_dynamics.runtime.process_tasks import LatencyTask

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


class Sender(Swallow):
    """Notes when a command was sent."""

    sent = 0

    def publish(self, message: Any) -> None:
        """Keep the message."""
        super().publish(message)
        Sender.sent = time.perf_counter_ns()


def until_sent(node: Any, task: LatencyTask) -> tuple[list[int], list[int]]:
    """Return times until the command and whole ones [ns]; the node's reference ends then."""
    answer = node.on_joint_state
    until: list[int] = []

    def on_joint_state(data: bytes) -> None:
        begin = time.perf_counter_ns()
        answer(data)
        until.append(Sender.sent - begin)

    node.on_joint_state = on_joint_state
    try:
        whole = cycle_times(node, task)
    finally:
        node.on_joint_state = answer
    node.references.drop()
    node.action.goals.active = node.loop.motion = None
    late = len(whole) // 3  # until a goal's start time the arm waits
    return until[-len(whole) :][late:], whole[late:]


def compare(node: Any, task: LatencyTask) -> dict[str, list[int]]:
    """Return times of cycles [ns] without and with a goal, by turns."""
    times: dict[str, list[int]] = {}
    for _ in range(2 * ROUNDS):
        for name, goal in (("topic", ""), ("goal", task.goal)):
            sent, whole = until_sent(node, task._replace(goal=goal))
            times.setdefault(f"{name}: until the command", []).extend(sent)
            times.setdefault(f"{name}: the whole cycle", []).extend(whole)
    return times


def parts(node: Any, task: LatencyTask) -> dict[str, list[int]]:
    """Return times of a cycle and of its parts [ns]."""
    times: dict[str, list[int]] = {title: [] for title in ("the whole cycle", *places())}
    for _ in range(ROUNDS):
        times["the whole cycle"] += cycle_times(node, task)
        for title, found in with_clocks(lambda: cycle_times(node, task)).items():
            times[title] += found
    return times


node_timing.Swallow = Sender  # type: ignore[misc]  # whose end is measured


def main() -> None:
    """Print medians and 99th percentiles [us]."""
    goal = "--goal" in sys.argv
    numbers = [float(word) for word in sys.argv[1:] if not word.startswith("--")]
    rate = int(numbers[0]) if numbers else 1000
    usual = 3.0 if goal else 2.0
    seconds = numbers[1] if len(numbers) > 1 else usual
    files = latency_figures.default_files()
    model = gd.load_model(*files)
    with tempfile.TemporaryDirectory() as name, own_domain() as domain:
        folder = Path(name)
        os.environ |= latency_run.environment(domain, folder)
        options = latency_run.Options(
            model.joint_names, latency_figures.posture(model), rate, seconds, 0.0, None
        )
        measured = latency_run.feedforward(*files, "computed_torque", rate, goal=goal)
        task = latency_run.new_task(options, folder, "", measured)
        rclpy.init(args=["cycle", *latency_run.ros_arguments(folder, "cycle", measured)])
        node = FeedforwardNode()
        node.start()
        task = task._replace(goal=f"{node.get_fully_qualified_name()}/follow_joint_trajectory")
        times = compare(node, task) if goal else parts(node, task._replace(goal=""))
        node.destroy_node()
        rclpy.try_shutdown()
    for title, found in times.items():
        median, late = np.percentile(np.array(found) / 1e3, [50, 99])
        print(f"{title:28} p50 {median:6.1f} us   p99 {late:6.1f} us")


if __name__ == "__main__":
    main()
