"""A node that is still preparing ends at once when it is told to."""

from __future__ import annotations

import signal

import pytest

from feedforward_rig import DRIVETRAIN, URDF
from ros_harness import Graph, Processes

# A node whose preparing never ends, as that of one with an empty cache seems to.
PROGRAM = """
import sys
from geared_dynamics.runtime import model_source
from geared_dynamics.ros.feedforward_node import main

def load(*_):
    print("preparing", flush=True)
    while True:
        pass

model_source.load = load
sys.exit(main(["feedforward_node", "--ros-args", *sys.argv[1:]]))
"""

# One whose import never ends, as on a slow disk.
IMPORTING = """
import sys
from importlib import import_module

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "geared_dynamics.ros." + sys.argv[1].removesuffix("_node"):
            print("importing", flush=True)
            while True:
                pass

sys.meta_path.insert(0, Slow())
program = import_module("geared_dynamics.ros." + sys.argv[1])
sys.exit(program.main(sys.argv[1:]))
"""
NODES = ("feedforward_node", "elastic_observer_node", "plant_node")


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_while_it_is_imported(
    processes: Processes, graph: Graph, number: signal.Signals, node: str
) -> None:
    process = processes.start("-c", IMPORTING, node, name=node)
    graph.until(lambda: "importing" in process.output, "its import")
    process.signal(number)
    assert process.wait() == 0
    assert "Traceback" not in process.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_while_it_starts(
    processes: Processes, graph: Graph, number: signal.Signals
) -> None:
    process = processes.start("-c", PROGRAM, "-p", "urdf_path:=none.urdf", name="starting")
    graph.until(lambda: "preparing" in process.output, "its preparation")
    process.signal(number)
    assert process.wait() == 0
    assert "Traceback" not in process.output


def test_it_ends_while_a_service_configures_it(processes: Processes, graph: Graph) -> None:
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState

    process = processes.start("-c", PROGRAM, "-p", "autostart:=false", name="configured")
    client = graph.node.create_client(ChangeState, "/feedforward_node/change_state")
    assert client.wait_for_service(60.0)
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_CONFIGURE))
    client.call_async(request)
    graph.until(lambda: "preparing" in process.output, "its preparation")
    process.signal(signal.SIGTERM)
    assert process.wait() == 0


@pytest.mark.parametrize("node", NODES)
def test_it_leaves_the_graph_when_it_ends(processes: Processes, graph: Graph, node: str) -> None:
    """At once, and not when the middleware misses it, after twenty seconds."""
    robot = ["-p", f"urdf_path:={URDF}", "-p", f"drivetrain:={DRIVETRAIN}"]
    process = processes.start("-m", f"geared_dynamics.ros.{node}", "--ros-args", *robot)
    graph.until(lambda: node in graph.node.get_node_names(), "the node")
    graph.until(lambda: f"[{node}]: " in process.output, "its first line")
    assert process.stop() == 0
    graph.until(lambda: node not in graph.node.get_node_names(), "its leave", 10.0)
