"""A plant node, and a feedforward node that moves it, for test/ros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from feedforward_rig import DRIVETRAIN, JOINTS, POSTURE, URDF, joint_state, text, trajectory
from ros_harness import Graph, Inbox, Process, Processes

PLANT, NODE = "/plant_node", "/feedforward_node"
MODULES = {
    PLANT: "geared_dynamics.ros.plant_node",
    NODE: "geared_dynamics.ros.feedforward_node",
}
RATE = 200.0
ROBOT = {"urdf_path": str(URDF), "drivetrain": str(DRIVETRAIN)}
START = {f"initial.{name}": q for name, q in zip(JOINTS, POSTURE, strict=True)}


class PlantRig:
    """The elbow arm on the graph of a test."""

    def __init__(self, graph: Graph, processes: Processes) -> None:
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray
        from trajectory_msgs.msg import JointTrajectory

        self.graph, self.processes = graph, processes
        self.states: Inbox = graph.listen("/joint_states", JointState)
        self.flat = graph.publisher(f"{PLANT}/commands", Float64MultiArray)
        self.named = graph.publisher(f"{PLANT}/joint_commands", JointState)
        self.goals = graph.publisher(f"{NODE}/joint_trajectory", JointTrajectory)
        self.plant: Process | None = None
        self.node: Process | None = None

    # -- processes ---------------------------------------------------------------------------

    def launch(self, name: str, remaps: dict[str, str], given: dict[str, Any]) -> Process:
        options = [part for key, value in given.items() if value is not None
                   for part in ("-p", f"{key}:={text(value)}")]  # fmt: skip
        links = [part for key, value in remaps.items() for part in ("-r", f"{key}:={value}")]
        return self.processes.start("-m", MODULES[name], "--ros-args", *options, *links)

    def start_plant(self, *, driven: bool = False, **given: Any) -> Process:
        """Start the plant; ``driven`` by the feedforward node."""
        values = ROBOT | START | {"engine": "equations", "rate": RATE} | dotted(given)
        links = {"~/joint_commands": f"{NODE}/joint_commands"} if driven else {}
        self.plant = self.launch(PLANT, links, values)
        return self.plant

    def start_node(self, **given: Any) -> Process:
        """Start a feedforward node that closes the loop."""
        values: dict[str, Any] = ROBOT | {
            "mode": "computed_torque",
            "update_rate": int(RATE),
            "publish_joint_commands": True,
            "safety.state_timeout": 1.0,
        }
        self.node = self.launch(NODE, {}, values | dotted(given))
        return self.node

    def until_said(self, process: Process | None, words: str, since: int = 0) -> None:
        """Wait for a line in a process's log."""
        assert process is not None
        self.graph.until(lambda: words in process.output[since:], f"the log line {words!r}")

    # -- talk --------------------------------------------------------------------------------

    def next_state(self, condition: Callable[[Any], bool] = lambda state: True) -> Any:
        """The first joint state from now on for which a condition holds."""
        from sensor_msgs.msg import JointState

        return self.graph.wait_for_message("/joint_states", JointState, condition)

    def switch(self, service: str, on: bool) -> str:
        """Call a SetBool service of the plant, which must accept."""
        answer = self.ask(service, on)
        assert answer.success, answer.message
        return str(answer.message)

    def ask(self, service: str, on: bool) -> Any:
        from std_srvs.srv import SetBool

        return self.graph.call(f"{PLANT}/{service}", SetBool, SetBool.Request(data=on))

    def reset(self) -> str:
        from std_srvs.srv import Trigger

        answer = self.graph.call(f"{PLANT}/reset", Trigger)
        assert answer.success, answer.message
        return str(answer.message)

    def move(self, goal: list[float], duration: float, start: float | None = None) -> None:
        """Send the node a trajectory that ends at a goal."""
        self.graph.wait_for_subscribers(self.goals)
        stamp = 0 if start is None else round(start * 1e9)
        self.goals.publish(trajectory(JOINTS, [(duration, goal, [0.0] * 3, [0.0] * 3)], stamp))

    def command(self, state: Any, effort: Any, **changes: Any) -> Any:
        """A command by name for the time of a state."""
        message = joint_state(changes.get("names", JOINTS), [])
        message.velocity = []
        message.effort = [float(x) for x in effort]
        message.header = state.header
        message.header.frame_id = changes.get("label", "")
        return message


def dotted(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters by name; ``__`` stands for a dot."""
    return {name.replace("__", "."): value for name, value in given.items()}


def stamp(state: Any) -> float:
    """A message's time [s]."""
    return float(state.header.stamp.sec) + 1e-9 * float(state.header.stamp.nanosec)


def position(state: Any) -> np.ndarray:
    """Joint position (n,) [rad]."""
    return np.array(state.position)
