"""An observer node in its own process and the arm around it, for test/ros."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from feedforward_rig import SECOND, text
from observer_node_arm import URDF, Plant, drives, ready
from ros_harness import Graph, Inbox, Process, Processes

NAN = float("nan")
TOPICS = ("link_state", "motor_state", "torque_estimate", "external_torque")
RETRIES = 60  # joint states that may get lost in a row
ANSWER = 0.25  # [s] after which one counts as lost: sooner than estimates without one are invalid
PERIOD = 0.002  # of the simulated joint states [s]


@functools.cache
def compile_kernels() -> None:
    """Compile here what the node needs, into the cache that it shares."""
    from geared_dynamics.runtime.rehearsal import rehearse_observer

    for observer in ("kalman", "nonlinear"):
        rehearse_observer(ready(feedback="motor", observer=observer))


def message_of(names: Any, stamp: int, **fields: Any) -> Any:
    """A ``JointState``."""
    from sensor_msgs.msg import JointState

    found = JointState(name=list(names))
    for field, value in fields.items():
        setattr(found, field, array("d", np.asarray(value, float).tolist()))
    found.header.stamp.sec, found.header.stamp.nanosec = divmod(stamp, SECOND)
    return found


def stamp_of(message: Any) -> int:
    """Stamp of a message's header [ns]."""
    return int(message.header.stamp.sec * SECOND + message.header.stamp.nanosec)


class ObserverRig:
    """One observer node and its arm; joint states go on by PERIOD with each one sent.

    Attributes:
        plant: The arm.
        effort: Whether its torques are in the joint states.
        change: What happens to a joint state before it is sent; None for it is not.
    """

    node = "/elastic_observer_node"
    program = ("-m", "geared_dynamics.ros.elastic_observer_node")  # or a script that changes it

    def __init__(self, graph: Graph, processes: Processes, folder: Path) -> None:
        from geometry_msgs.msg import WrenchStamped
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        self.graph, self.processes = graph, processes
        self.drives = folder / "arm.drivetrain.yaml"
        self.drives.write_text(drives(), encoding="utf-8")
        self.plant = Plant()
        self.zero = SECOND  # stamp of the plant's time zero [ns]
        self.effort = True
        self.change: Callable[[Any], Any] | None = None
        self.process: Process | None = None
        self.states = graph.publisher("/joint_states", JointState)
        self.inboxes: dict[str, Inbox] = {
            name: graph.listen(f"{self.node}/{name}", JointState) for name in TOPICS
        }
        self.inboxes["contact_wrench"] = graph.listen(f"{self.node}/contact_wrench", WrenchStamped)
        self.inboxes["quality"] = graph.listen(f"{self.node}/quality", Float64MultiArray)
        self.truth: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def start(self, *remapped: str, **parameters: Any) -> Process:
        """Start the node, topics ``from:=to``, parameters; ``__`` in a name stands for a dot."""
        given: dict[str, Any] = {
            "urdf_path": URDF,
            "drivetrain": self.drives,
            "feedback": "motor",
            "torque_source": "effort",
            "torque_kind": "motor_torque",
            "update_rate": 1.0 / PERIOD,
            "encoder_noise": 2e-5,
            "max_extrapolation": 0.5,  # a test run may be kept waiting by others
        }
        given |= {name.replace("__", "."): value for name, value in parameters.items()}
        words = [f"{name}:={text(value)}" for name, value in given.items()]
        options = [part for word in words for part in ("-p", word)]
        topics = [part for rule in remapped for part in ("-r", rule)]
        ros = ["--ros-args", *topics, *options]
        self.process = self.processes.start(*self.program, *ros, name="elastic_observer_node")
        return self.process

    @property
    def link(self) -> Any:
        """The newest estimate of the links that answers a joint state.

        Where a machine stalls the node goes on by prediction, with stamps of its own.
        """
        box = self.inboxes["link_state"]
        answers = (m for m in reversed(box.messages) if stamp_of(m) in self.truth)
        return next(answers, None) or box.last

    def answer(self, seen: int, stamp: int) -> Any:
        """The estimate with a stamp [ns] among those after the first ``seen``, or None."""
        box = self.inboxes["link_state"]
        new = islice(reversed(box.messages), box.count - seen)
        return next((message for message in new if stamp_of(message) == stamp), None)

    def send(self, torque: np.ndarray | None = None) -> Any:
        """Let the arm move on and publish what its encoders show; that, or None.

        Args:
            torque: Of the motors (m,); if not given, along a motion of its own.
        """
        self.plant.step(torque, dt=PERIOD)
        stamp = self.zero + round(self.plant.time * SECOND)
        self.truth[stamp] = self.plant.q.copy(), self.plant.v.copy()
        names = self.plant.model.motor_names
        effort = self.plant.tau_m if self.effort else np.full(3, NAN)
        message = message_of(names, stamp, position=self.plant.phi, effort=effort)
        message = self.change(message) if self.change is not None else message
        if message is not None:
            self.states.publish(message)
        return message

    def cycle(self) -> Any:
        """Send a joint state and return the estimate that answers it.

        Joint states go by best effort: one that a loaded machine loses is followed by the next.
        """
        inbox = self.inboxes["link_state"]
        for left in reversed(range(RETRIES + 1)):
            seen, stamp = inbox.count, stamp_of(self.send())
            try:
                return self.graph.until(
                    lambda seen=seen, stamp=stamp: self.answer(seen, stamp), "an estimate", ANSWER
                )
            except AssertionError:
                if not left:
                    raise
        return None

    def until(self, condition: Callable[[], bool], what: str, most: int = 1500) -> None:
        """Send joint states, each answered, until a condition holds."""
        for _ in range(most):
            self.cycle()
            if condition():
                return
        raise AssertionError(f"{most} joint states in vain for {what}.\n{self.processes.report()}")

    def until_valid(self) -> None:
        """Wait until estimates are good; the first joint states may be lost to discovery."""
        self.graph.wait_for_subscribers(self.states)
        inbox = self.inboxes["link_state"]
        for _ in range(2000):
            seen, sent = inbox.count, self.send()
            for _ in range(20):
                self.graph.spin_once(0.002)
                answer = None if sent is None else self.answer(seen, stamp_of(sent))
                if answer is not None:
                    break
            if answer is not None and answer.header.frame_id == "":
                return
        raise AssertionError(f"no valid estimate.\n{self.processes.report()}")

    def level(self) -> str:
        """What the newest estimate says of itself."""
        return str(self.link.header.frame_id)

    def off(self) -> float:
        """Largest error of the newest estimate of the links' positions [rad]."""
        link = self.link
        return float(np.abs(np.array(link.position) - self.truth[stamp_of(link)][0]).max())

    def until_said(self, words: str) -> None:
        """Wait for a text in the log."""
        process = self.process
        assert process is not None
        self.graph.until(lambda: words in process.output, f"the log line {words!r}", 10.0)
