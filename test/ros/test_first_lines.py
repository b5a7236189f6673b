"""What a node logs before anything moves: what it waits for, where it listens and sends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from feedforward_rig import DRIVETRAIN, URDF
from geared_dynamics.model.derived import NO_ROTORS
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from observer_node_arm import drives
from ros_harness import Graph, Process, Processes

ROOT = Path(__file__).resolve().parents[2]
NODE, OBSERVER = "/arm/feedforward_node", "/arm/elastic_observer_node"
STATES = "joint_states:=/robot/states"


def start(processes: Processes, module: str, drivetrain: Path | str, *words: str) -> Process:
    """Start a node in a namespace, and do not configure it."""
    values = {"urdf_path": URDF, "drivetrain": drivetrain, "autostart": "false"}
    options = [part for name, value in values.items() for part in ("-p", f"{name}:={value}")]
    ros = ["--ros-args", "-r", "__ns:=/arm", "-r", STATES, *options, *words]
    return processes.start("-m", f"geared_dynamics.ros.{module}", *ros)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], f"trajectories with effort go to {NODE}/annotated_trajectory"),
        (
            ["-p", "annotate.topic:=/jtc/joint_trajectory"],
            "trajectories with effort go to /jtc/joint_trajectory",
        ),
        (
            ["-r", "~/annotated_trajectory:=/jtc/joint_trajectory"],
            "trajectories with effort go to /jtc/joint_trajectory",
        ),
        (
            ["-p", "mode:=stream", "-r", "~/commands:=/effort/commands"],
            "commands go to /effort/commands",
        ),
        (
            ["-p", "mode:=stream", "-p", "publish_joint_commands:=true"],
            f"commands go to {NODE}/commands, {NODE}/joint_commands",
        ),
        (["-p", "mode:=stream", "-p", "publish_commands:=false"], "commands go to no topic"),
    ],
)
def test_the_feedforward_node(
    processes: Processes, graph: Graph, words: list[str], said: str
) -> None:
    process = start(processes, "feedforward_node", DRIVETRAIN, *words)
    waits = f"unconfigured: waiting for the transition configure (ros2 lifecycle set {NODE}"
    graph.until(lambda: waits in process.output, "what it waits for")
    assert graph.change_state(NODE, "configure")
    listens = f"waiting for trajectories on {NODE}/joint_trajectory and joint states on"
    assert f"{listens} /robot/states; {said}\n" in process.output
    waits = f"inactive: waiting for the transition activate (ros2 lifecycle set {NODE}"
    assert waits in process.output


def test_what_is_not_known_of_the_rotors(processes: Processes, graph: Graph) -> None:
    """A user must not think that rotors are compensated that the files leave out."""
    process = start(processes, "feedforward_node", "''")
    graph.until(lambda: "waiting for the transition configure" in process.output, "its start")
    assert graph.change_state(NODE, "configure")
    assert NO_ROTORS in process.output


def test_the_observer_node(processes: Processes, graph: Graph, tmp_path: Path) -> None:
    file = tmp_path / "springs.yaml"
    file.write_text(drives(), encoding="utf-8")
    process = start(processes, "elastic_observer_node", file, "-r", "commands:=/effort/commands")
    waits = f"waiting for the transition configure (ros2 lifecycle set {OBSERVER}"
    graph.until(lambda: waits in process.output, "what it waits for")
    assert graph.change_state(OBSERVER, "configure")
    words = "waiting for joint states on /robot/states and torques on /effort/commands"
    assert f"{words}; estimates go to {OBSERVER}/link_state" in process.output


def test_the_default_mode_is_the_one_that_the_docs_recommend() -> None:
    (default,) = (entry.default for entry in FeedforwardParameters.rows() if entry.name == "mode")
    page = (ROOT / "docs" / "nodes.md").read_text("utf-8")
    (row,) = re.findall(r"^\| `(\w+)`.*the default, and the way to begin.*$", page, re.MULTILINE)
    assert row == default == "annotate"
