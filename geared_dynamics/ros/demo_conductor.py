"""The demo's reference and recorder."""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from geared_dynamics.control.safety import Mode
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.files import new_files
from geared_dynamics.recordings.bag_writer import Bag
from geared_dynamics.recordings.container import JOINT_STATE
from geared_dynamics.ros.joint_state_wire import SECOND, trajectory_message
from geared_dynamics.ros.process import make_executor, run_task
from geared_dynamics.runtime.process_tasks import DemoTask, Run, read_demo_task, step_line

# -- Records topics as they come over DDS: bytes, not looked at but for their time ----------------


TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
DEEP = QoSProfile(depth=10_000)
STAMP = struct.Struct("<iI")  # header.stamp behind the four bytes that say how it is encoded


class Recorded(NamedTuple):
    """One message.

    Attributes:
        topic: Where it came from.
        stamp: Its time [ns].
        data: It, in CDR.
        kind: Its type.
    """

    topic: str
    stamp: int
    data: bytes
    kind: str = JOINT_STATE


class Recorder:
    """Listens to topics with ``JointState`` messages.

    Attributes:
        newest: Stamp of the newest message by topic [ns].
        heard: Number of messages by topic.
        same: How often the newest message by topic has come in a row.
    """

    def __init__(self, node: Node, topics: list[str]) -> None:
        """Subscribe."""
        self.newest = dict.fromkeys(topics, 0)
        self.heard = dict.fromkeys(topics, 0)
        self.same = dict.fromkeys(topics, 0)
        self._last = dict.fromkeys(topics, b"")
        self._rows: list[Recorded] | None = None
        for topic in topics:
            node.create_subscription(JointState, topic, self._taker(topic), DEEP, raw=True)

    def _taker(self, topic: str) -> Any:
        def take(data: bytes) -> None:
            seconds, rest = STAMP.unpack_from(data, 4)
            stamp = seconds * SECOND + rest
            self.heard[topic] += 1
            self.same[topic] = self.same[topic] + 1 if data == self._last[topic] else 1
            self._last[topic] = data
            fresh, self.newest[topic] = stamp > self.newest[topic], stamp
            if self._rows is not None and fresh:  # a state may be sent twice
                self._rows.append(Recorded(topic, stamp, data))

        return take

    def begin(self) -> None:
        """Keep what comes from now on."""
        self._rows = []
        for topic in self.newest:
            self.newest[topic] = 0

    def end(self) -> list[Recorded]:
        """Stop, and return what came."""
        rows, self._rows = self._rows or [], None
        return rows


def write_bag(path: Path, runs: dict[str, list[Recorded]]) -> None:
    """Write all runs into one bag, each below its name.

    Args:
        path: Folder to be made.
        runs: Messages by name of the run.
    """
    rows = [row._replace(topic=f"/{name}{row.topic}") for name in runs for row in runs[name]]
    rows.sort(key=lambda row: row.stamp)
    kinds = {row.topic: row.kind for row in rows}
    with new_files(path, parents=True) as (draft,), Bag(draft, kinds) as bag:
        for row in rows:
            bag.write(row.topic, row.stamp, row.data)


# -- The demo's reference publisher: for each run switches, trajectory, start, recording ----------
#
# A process of its own; it says on standard output how far it is, in lines of JSON.


PLANT, NODE = "/plant_node", "/feedforward_node"
STATES, COMMANDS, REFERENCE = "/joint_states", f"{NODE}/joint_commands", f"{NODE}/reference"
MOTORS = "/motor_states"
TOPICS = [STATES, MOTORS, COMMANDS, REFERENCE]
LINKS = "/link_states"  # of arms with springs
PATIENCE = 60.0  # [s] of silence after which something is wrong
SETTLED = 5  # joint states after a reset, the same commands before a motion
LEAD = {True: 0.1, False: 1.0}  # [s] from a trajectory's sending to its start, by lock_step


class Conductor:
    """Conducts the runs."""

    def __init__(self, task: DemoTask) -> None:
        """Join the graph."""
        self._task = task
        self._node = Node("reference_publisher", enable_rosout=False)
        self._executor = make_executor()
        self._executor.add_node(self._node)
        self._trajectories = self._node.create_publisher(
            JointTrajectory, f"{NODE}/joint_trajectory", 1
        )
        topics = [*TOPICS, LINKS] if task.springs else TOPICS
        self._recorder = Recorder(self._node, topics)
        self._points = trajectory_message(
            Header(), task.joints, np.array(task.times),
            [np.array(rows) for rows in (task.q, task.v, task.a, np.zeros_like(task.q))],
        )  # fmt: skip
        self._clients: dict[str, Any] = {}
        self._sent = 0
        self._said: dict[str, dict[str, str]] = {}  # the node's diagnostics by entry
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 1)

    def conduct(self) -> None:
        """Do all runs and write the bag."""
        tell("waiting", 0.0)
        self._call(f"{PLANT}/pause", SetBool, SetBool.Request(data=True))
        self._change(Transition.TRANSITION_CONFIGURE)
        found = {run.name: self._run(run) for run in self._task.runs}
        tell("writing", 0.0)
        write_bag(Path(self._task.bag), found)

    def _run(self, run: Run) -> list[Recorded]:
        tell(run.name, 0.0)
        self._prepare(run)
        self._call(f"{PLANT}/reset", Trigger, Trigger.Request())
        self._settle()
        self._change(Transition.TRANSITION_ACTIVATE)
        begin = self._start_motion()
        self._recorder.begin()
        self._call(f"{PLANT}/pause", SetBool, SetBool.Request(data=False))
        length = round(self._task.times[-1] * SECOND)
        self._follow(run.name, begin, begin + length)
        rows = self._recorder.end()
        self._call(f"{PLANT}/pause", SetBool, SetBool.Request(data=True))
        self._change(Transition.TRANSITION_DEACTIVATE)
        tell(run.name, 1.0)
        sent = serialize_message(self._points)
        first = Recorded(f"{NODE}/joint_trajectory", begin, sent, TRAJECTORY)
        return [first, *(row for row in rows if begin <= row.stamp <= begin + length)]

    def _prepare(self, run: Run) -> None:
        """Set the run's parameters; the kind of law is read when the node is configured."""
        if self._task.springs:
            self._change(Transition.TRANSITION_CLEANUP)
        self._set_parameters(run)
        if self._task.springs:
            self._change(Transition.TRANSITION_CONFIGURE)

    def _settle(self) -> None:
        """Let everybody hear of the new time, from which the node counts when it is activated."""
        heard = self._recorder.heard
        enough = heard[STATES] + SETTLED
        self._until(lambda: heard[STATES] >= enough, "joint states")

    def _start_motion(self) -> int:
        """Have the trajectory accepted while the arm is still; when it begins [ns]."""
        newest = self._recorder.newest
        newest[STATES] = 0
        self._until(lambda: newest[STATES] > 0, "joint states")
        self._until(self._trajectories.get_subscription_count, "the node to listen")
        lead = round(LEAD[self._task.lock_step] * SECOND)
        now = self._node.get_clock().now().nanoseconds
        begin = (newest[STATES] if self._task.lock_step else now) + lead
        self._points.header.stamp = Time(sec=begin // SECOND, nanosec=begin % SECOND)
        self._trajectories.publish(self._points)
        self._sent += 1
        self._until(self._follows, "the node to follow the trajectory")
        if self._task.lock_step:
            self._await_same_commands()
        return begin

    def _follows(self) -> bool:
        """Whether the node says that it has taken the last trajectory and follows it.

        A long one is prepared beside the loop. If time went on before, the motion would begin
        where the arm is by then, and the recording would depend on the machine.
        """
        accepted = int(self._said.get("trajectories", {}).get("accepted", "0"))
        mode = self._said.get("safety", {}).get("mode")
        return accepted >= self._sent and mode == Mode.RUNNING.name.lower()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            entry = status.name.rpartition(": ")[2]
            self._said[entry] = {pair.key: pair.value for pair in status.values}

    def _await_same_commands(self) -> None:
        """Let the command settle before time goes on: its rate is limited by the wall clock."""
        same = self._recorder.same
        same[COMMANDS] = 0
        self._until(lambda: same[COMMANDS] >= SETTLED, "commands that no longer change")

    def _follow(self, name: str, begin: int, end: int) -> None:
        newest, said = self._recorder.newest, 0.0
        while newest[STATES] < end:
            before = newest[STATES]
            self._until(lambda before=before: newest[STATES] != before, "joint states")  # type: ignore[misc]
            part = (newest[STATES] - begin) / (end - begin)
            if part > said + 0.01:
                said = part
                tell(name, min(part, 1.0))
        # Where this process had to wait, many messages of one topic are read before another's.
        measured = [topic for topic in newest if topic in (STATES, MOTORS, LINKS)]
        self._until(lambda: all(newest[topic] >= end for topic in measured), "the last states")

    # -- services ----------------------------------------------------------------------------

    def _set_parameters(self, run: Run) -> None:
        request = SetParametersAtomically.Request()
        request.parameters = [
            Parameter(key, value=value).to_parameter_msg() for key, value in run.parameters.items()
        ]
        result = self._call(f"{NODE}/set_parameters_atomically", SetParametersAtomically, request)
        if not result.result.successful:
            raise GearedDynamicsError(run.name, result.result.reason, "see the node's log")

    def _change(self, transition: int) -> None:
        request = ChangeState.Request()
        request.transition.id = transition
        if not self._call(f"{NODE}/change_state", ChangeState, request).success:
            finding = f"refuses the transition {transition}"
            raise GearedDynamicsError(NODE, finding, "see its log")

    def _call(self, name: str, kind: Any, request: Any) -> Any:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, name)
        client = self._clients[name]
        self._until(client.service_is_ready, f"the service {name}")
        future = client.call_async(request)
        self._until(future.done, f"an answer of {name}")
        answer = future.result()
        if not getattr(answer, "success", True):
            message = getattr(answer, "message", "refused")
            raise GearedDynamicsError(name, message, "see the log of its node")
        return answer

    def _until(self, condition: Callable[[], Any], what: str) -> None:
        """Spin until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                finding = f"waited {PATIENCE:g} s without result for {what}"
                raise GearedDynamicsError("demo", finding, "see the logs of the nodes")
            self._executor.spin_once(timeout_sec=0.05)


def tell(step: str, part: float) -> None:
    """Say how far we are."""
    print(step_line(step, part), flush=True)


def main() -> int:
    """Conduct the task in the file that the command line names."""
    task = read_demo_task(Path(sys.argv[1]))
    return run_task(lambda: Conductor(task).conduct())


if __name__ == "__main__":
    sys.exit(main())
