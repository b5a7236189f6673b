"""The benchmark command for real, briefly: its figures are not judged here."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from ros_harness import Graph, Processes

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ("-m", "geared_dynamics.apps.cli.main", "loop-benchmark")
BRIEF = ("--rate", "100", "--warmup", "0.1")


def nodes(graph: Graph) -> set[str]:
    return {name for name in graph.node.get_node_names() if name != "test"}


def test_the_bare_node_against_itself(ros_domain: int, processes: Processes) -> None:
    options = ("--node", "echo", "--duration", "1", "--json", "--domain", str(ros_domain))
    command = processes.start(*COMMAND, *BRIEF, *options, name="benchmark")
    assert command.wait(60.0) == 0, command.report()
    text = command.output
    data = json.loads(text[text.index("{") : text.rindex("}") + 1])
    for node in data["nodes"].values():
        trip = node["round_trip_us"]
        assert trip["cycles"] == 100
        assert trip["lost"] < 100
        assert 0.0 < trip["p50"] <= trip["p99"] <= trip["longest"]
    assert data["executor"] in {"EventsExecutor", "SingleThreadedExecutor"}


def test_the_feedforward_node_with_a_robot_of_ones_own(
    ros_domain: int, processes: Processes
) -> None:
    robot = [str(ROOT / "urdf" / f"elbow.{kind}") for kind in ("urdf", "drivetrain.yaml")]
    options = ("--duration", "1", "--domain", str(ros_domain))
    command = processes.start(*COMMAND, *robot, *BRIEF, *options, name="benchmark")
    assert command.wait(240.0) == 0, command.report()  # kernels may have to be compiled
    rows = dict(re.findall(r"^ (\S.*?)  +(\d[\d.]*) ", command.output, re.MULTILINE))
    assert 0.0 < float(rows["p50"]) <= float(rows["p99"])
    assert float(rows["lost"]) < 100
    assert 0.0 < float(rows["one cycle in the process, median [us]"])


def test_the_feedforward_node_with_a_goal(ros_domain: int, processes: Processes) -> None:
    """The goal is followed to the end with feedback, else the driver says so and fails."""
    pytest.importorskip("control_msgs", reason="control_msgs is not installed (from ROS)")
    robot = [str(ROOT / "urdf" / f"elbow.{kind}") for kind in ("urdf", "drivetrain.yaml")]
    options = ("--goal", "--duration", "1", "--json", "--domain", str(ros_domain))
    command = processes.start(*COMMAND, *robot, *BRIEF, *options, name="benchmark")
    assert command.wait(240.0) == 0, command.report()
    text = command.output
    data = json.loads(text[text.index("{") : text.rindex("}") + 1])
    assert data["nodes"]["measured"]["round_trip_us"]["lost"] < 100
    assert data["compute_us"] > 0.0


def test_the_observer_node_and_its_step(ros_domain: int, processes: Processes) -> None:
    options = ("--node", "observer", "--duration", "1", "--json", "--domain", str(ros_domain))
    brief = ("--rate", "500", "--warmup", "0.1")
    command = processes.start(*COMMAND, *brief, *options, name="benchmark")
    assert command.wait(240.0) == 0, command.report()
    text = command.output
    data = json.loads(text[text.index("{") : text.rindex("}") + 1])
    trip = data["nodes"]["measured"]["round_trip_us"]
    assert trip["cycles"] == 500
    assert trip["lost"] < 500
    assert 0.0 < trip["p50"] <= trip["p99"] <= trip["longest"]
    assert 0.0 < data["step_us"]["p50"] <= data["step_us"]["p99"]
    assert 0.0 < data["step_in_the_process_us"] < data["compute_us"]


def test_a_wrong_robot_is_refused(ros_domain: int, processes: Processes, tmp_path: Path) -> None:
    file = tmp_path / "no_drives.yaml"
    file.write_text("version: 2\n", encoding="utf-8")
    command = processes.start(
        *COMMAND, ROOT / "urdf" / "elbow.urdf", file, *BRIEF, name="benchmark"
    )
    assert command.wait() == 2
    assert "version" in command.output


def test_ctrl_c_leaves_no_process_behind(
    ros_domain: int, processes: Processes, graph: Graph
) -> None:
    options = ("--node", "echo", "--duration", "600", "--domain", str(ros_domain))
    command = processes.start(*COMMAND, *BRIEF, *options, name="benchmark")
    graph.until(lambda: len(nodes(graph)) == 2, "both echo nodes and the driver")
    command.signal(signal.SIGINT)
    assert command.wait(30.0) == 130, command.report()
    graph.until(lambda: not nodes(graph), "all nodes to have left the graph")


@pytest.mark.parametrize(
    "wrong",
    [
        ("--rate", "0"),
        ("--rate", "1e3"),
        ("--duration", "nan"),
        ("--duration", "-1"),
        ("--domain", "102"),
    ],
)
def test_wrong_numbers_are_refused(processes: Processes, wrong: tuple[str, str]) -> None:
    command = processes.start(*COMMAND, *wrong, name="benchmark")
    assert command.wait() == 2
    assert wrong[1] in command.output
