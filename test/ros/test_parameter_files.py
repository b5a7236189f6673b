"""Parameter files: empty lists, and what ``ros2 param dump`` writes, loaded back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from feedforward_rig import DRIVETRAIN, URDF
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.observer_settings import ObserverParameters
from geared_dynamics.runtime.parameters import NodeParameters
from geared_dynamics.runtime.plant_node_settings import PlantParameters
from observer_node_arm import drives
from ros_harness import Graph, Process, Processes


class Kind(NamedTuple):
    """One of our nodes: where its program and its schema are."""

    name: str
    module: str
    room: str


NODES = (
    Kind("feedforward_node", "feedforward_node", "feedforward"),
    Kind("elastic_observer_node", "elastic_observer_node", "observer"),
    Kind("plant_node", "plant_node", "plant"),
)
PARAMETERS: dict[str, type[NodeParameters]] = {
    "feedforward": FeedforwardParameters,
    "observer": ObserverParameters,
    "plant": PlantParameters,
}
EACH = pytest.mark.parametrize("kind", NODES, ids=lambda kind: kind.room)


def start(processes: Processes, kind: Kind, file: Path) -> Process:
    """Start a node with a parameter file."""
    module = f"geared_dynamics.ros.{kind.module}"
    return processes.start("-m", module, "--ros-args", "--params-file", file)


def ready(graph: Graph, kind: Kind, process: Process) -> None:
    """Wait until the node has its model."""
    graph.until(lambda: f"{kind.name}]: " in process.output, "a first line of the log")
    if kind.room == "plant":
        graph.until(lambda: "plant: " in process.output, "the plant")
    else:
        graph.wait_for_state(f"/{kind.name}", "active")


def written(path: Path, node: str, values: dict[str, Any]) -> Path:
    """Write a parameter file as ``ros2 param dump`` does."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *groups, last = name.split(".")
        place = nested
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    text = yaml.dump({node: {"ros__parameters": nested}}, default_flow_style=False)
    path.write_text(text, encoding="utf-8")
    return path


def dumped(graph: Graph, node: str) -> dict[str, Any]:
    """All parameters of a running node."""
    from rcl_interfaces.srv import ListParameters

    names = graph.call(f"{node}/list_parameters", ListParameters).result.names
    return graph.get_parameters(node, sorted(names))


def robot(kind: Kind, folder: Path) -> dict[str, Any]:
    """Parameters without which a node has no model."""
    file = DRIVETRAIN
    if kind.room == "observer":
        file = folder / "springs.yaml"
        file.write_text(drives(), encoding="utf-8")
    return {"urdf_path": str(URDF), "drivetrain": str(file)} | (
        {"engine": "equations", "paused": True} if kind.room == "plant" else {}
    )


@EACH
def test_no_parameter_is_a_group_as_well(kind: Kind) -> None:
    """A YAML file has room for a value or for a group under a name, not for both."""
    schema = PARAMETERS[kind.room].rows()
    names = [entry.name for entry in schema]
    groups = {name[:k] for name in names for k in range(len(name)) if name[k] == "."}
    assert not groups & set(names)


def test_the_former_name_of_a_parameter_is_taken(
    processes: Processes, graph: Graph, tmp_path: Path
) -> None:
    kind = NODES[1]
    values = robot(kind, tmp_path) | {"joints.joint_1.link_encoder_noise": 1e-4}
    process = start(processes, kind, written(tmp_path / "old.yaml", "/**", values))
    ready(graph, kind, process)
    name = "sensors.joint_1.link_encoder_noise"
    assert graph.get_parameters(f"/{kind.name}", [name]) == {name: 1e-4}
    assert f"is now called '{name}'" in process.output
    assert "has no effect" not in process.output


@EACH
def test_a_dump_can_be_loaded_back(
    processes: Processes, graph: Graph, tmp_path: Path, kind: Kind
) -> None:
    """All of a node's parameters, written as ``ros2 param dump`` does: the same after a start."""
    first = start(processes, kind, written(tmp_path / "first.yaml", "/**", robot(kind, tmp_path)))
    ready(graph, kind, first)
    before = dumped(graph, f"/{kind.name}")
    assert [] in before.values()
    assert first.stop() == 0
    graph.until(lambda: kind.name not in graph.node.get_node_names(), "the node to be gone")
    node = f"/{kind.name}"
    again = start(processes, kind, written(tmp_path / "dump.yaml", node, before))
    ready(graph, kind, again)
    after = dumped(graph, node)
    assert repr(after) == repr(before)  # NaN equals itself there
    assert "has no effect" not in again.output


@EACH
def test_each_empty_list_is_the_default(
    processes: Processes, graph: Graph, tmp_path: Path, kind: Kind
) -> None:
    """Each parameter whose default is an empty list takes one from a file."""
    schema = PARAMETERS[kind.room].rows()
    lists = {entry.name: [] for entry in schema if entry.default == []}
    assert "joints" in lists
    file = written(tmp_path / "empty.yaml", "/**", robot(kind, tmp_path) | lists)
    process = start(processes, kind, file)
    ready(graph, kind, process)
    assert "[ERROR]" not in process.output


@EACH
def test_an_empty_list_in_the_place_of_something_else_is_refused(
    processes: Processes, graph: Graph, tmp_path: Path, kind: Kind
) -> None:
    wrong = robot(kind, tmp_path) | {"gravity": [], "urdf_path": []}
    process = start(processes, kind, written(tmp_path / "wrong.yaml", "/**", wrong))
    graph.until(lambda: "urdf_path: is []; give a text" in process.output, "the reason")
    process.ending = True
    assert "Traceback" not in process.output
