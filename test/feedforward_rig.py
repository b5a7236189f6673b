"""A feedforward node in its own process and the robot around it, for test/ros."""

from __future__ import annotations

import functools
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import geared_dynamics as gd
from ros_harness import Graph, Inbox, Process, Processes

ROOT = Path(__file__).resolve().parents[1]
URDF, DRIVETRAIN = ROOT / "urdf" / "elbow.urdf", ROOT / "urdf" / "elbow.drivetrain.yaml"
JOINTS = ["joint_1", "joint_2", "joint_3"]
POSTURE = [0.3, 0.5, -0.4]
SECOND = 1_000_000_000
PATIENT = 1.0  # [s] without joint states: a test run may be kept waiting by others
LEAD = 1e-3  # [s], update_rate 1000
SLEW = 4.0  # [rad/s] at which the robot goes where a test wants it
PERIOD = 4e-3  # [s] between joint states


def elbow(**options: Any) -> gd.GearedModel:
    """The arm of these tests."""
    return gd.load_model(URDF, DRIVETRAIN, **options)


@functools.cache
def compile_kernels() -> None:
    """Compile here what the node needs, into the cache that it shares: no deadline runs."""
    model = elbow()
    gains = gd.control.gains_from_bandwidth(1.0)
    for law in ("computed_torque", "pd_plus_feedforward"):
        gd.control.controller(model, law, gains=gains, command_type="motor_torque")


def duration(seconds: float) -> Any:
    """A time as messages have it."""
    from builtin_interfaces.msg import Duration

    whole, part = divmod(round(seconds * SECOND), SECOND)
    return Duration(sec=whole, nanosec=part)


def joint_state(
    names: Sequence[str], q: Sequence[float], v: Sequence[float] | None = None, stamp: int = 0
) -> Any:
    """A ``JointState``; at rest where no velocity is given."""
    from sensor_msgs.msg import JointState

    rate = [0.0] * len(q) if v is None else v
    message = JointState(name=list(names), position=array("d", q), velocity=array("d", rate))
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
    return message


def trajectory(names: Sequence[str], points: Sequence[tuple[Any, ...]], start: int = 0) -> Any:
    """A ``JointTrajectory`` of (time, positions, velocities, accelerations)."""
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    message = JointTrajectory(joint_names=list(names))
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(start, SECOND)
    for when, *rows in points:
        fields = zip(("positions", "velocities", "accelerations"), rows, strict=False)
        lists = {field: [float(x) for x in row] for field, row in fields}
        message.points.append(JointTrajectoryPoint(time_from_start=duration(when), **lists))
    return message


class Rig:
    """One node and its robot, whose joint states the test publishes.

    Attributes:
        q: Where the robot is to be: it goes there as fast as its joints can.
        at: Where it is.
        names: In which order it says so.
        now: Simulated time [s]; None: no simulated clock.
        program: What Python starts: the node, or a script that changes it.
        creep: How far it goes on with each joint state [s]; a clock that stands still is a fault.
    """

    def __init__(self, graph: Graph, processes: Processes, space: str = "") -> None:
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray
        from trajectory_msgs.msg import JointTrajectory

        self.graph, self.processes, self.space = graph, processes, space
        self.node = f"{space}/feedforward_node"
        self.q, self.v, self.names = list(POSTURE), [0.0] * 3, list(JOINTS)
        self.at = list(POSTURE)
        self.now: float | None = None
        self.creep = 1e-9
        self.program: tuple[str, str] = ("-m", "geared_dynamics.ros.feedforward_node")
        self.process: Process | None = None
        self.states = graph.publisher(f"{space}/joint_states", JointState)
        self.goals = graph.publisher(f"{self.node}/joint_trajectory", JointTrajectory)
        self.commands: Inbox = graph.listen(f"{self.node}/commands", Float64MultiArray)
        self._clock: Any = None

    # -- the process -------------------------------------------------------------------------

    def start(self, **parameters: Any) -> Process:
        """Start the node with parameters; ``__`` in a name stands for a dot.

        One that still runs is ended first: a module's fixture that fails is set up again.
        """
        if self.process is not None and self.process.running:
            self.process.clear()
        given: dict[str, Any] = {"urdf_path": URDF, "drivetrain": DRIVETRAIN, "update_rate": 1000}
        given |= {"mode": "stream", "safety.state_timeout": PATIENT}
        given |= {name.replace("__", "."): value for name, value in parameters.items()}
        words = [f"{name}:={text(value)}" for name, value in given.items() if value is not None]
        options = [part for word in words for part in ("-p", word)]
        spaced = ["-r", f"__ns:={self.space}"] if self.space else []
        ros = ["--ros-args", *spaced, *options]
        self.process = self.processes.start(*self.program, *ros, name="feedforward_node")
        return self.process

    def said(self, words: str) -> bool:
        """Whether the node has logged a text."""
        assert self.process is not None
        return words in self.process.output

    def until_said(self, words: str, since: int = 0) -> None:
        """Wait for a text in the log, after a length of it."""
        process = self.process
        assert process is not None
        self.feed_until(lambda: words in process.output[since:], f"the log line {words!r}")

    def log_after(self, length: int) -> str:
        """What it has logged after a length of its log."""
        assert self.process is not None
        return self.process.output[length:]

    @property
    def log_length(self) -> int:
        """How much it has logged."""
        assert self.process is not None
        return len(self.process.output)

    # -- the robot ---------------------------------------------------------------------------

    def use_clock(self) -> None:
        """Simulate time from here on."""
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from rosgraph_msgs.msg import Clock

        best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        if self._clock is None:
            self._clock = self.graph.publisher("/clock", Clock, best_effort)
        self.now = 100.0

    def send(self) -> None:
        """Publish the time, where it is simulated, and the joint state."""
        from rosgraph_msgs.msg import Clock

        moving = self.move()
        if self.now is not None:
            self.now += PERIOD if moving else self.creep
            message = Clock()
            whole = round(self.now * SECOND)
            message.clock.sec, message.clock.nanosec = divmod(whole, SECOND)
            self._clock.publish(message)
        index = [JOINTS.index(name) if name in JOINTS else None for name in self.names]
        q = [0.0 if k is None or k >= len(self.at) else self.at[k] for k in index]
        v = [0.0 if k is None else self.v[k] for k in index]
        stamp = time.time_ns() if self.now is None else round(self.now * SECOND)
        self.states.publish(joint_state(self.names, q, v, stamp))

    def move(self) -> bool:
        """Go on towards ``q`` for a period; whether the robot was not there yet."""
        step, here = SLEW * PERIOD, self.at
        ways = [to - be for to, be in zip(self.q, here, strict=True)]
        moving = any(abs(way) > step for way in ways)
        # What is no number, or comes after such, is there at once: an encoder's fault.
        self.at = [
            be + max(-step, min(step, way)) if abs(way) < np.inf else to
            for to, be, way in zip(self.q, here, ways, strict=True)
        ]
        self.at = [
            to if abs(to - be) <= 1e-12 else be for to, be in zip(self.q, self.at, strict=True)
        ]
        return moving

    def until_there(self) -> None:
        """Wait until the robot is where it is to be."""
        self.feed_until(lambda: self.at == list(self.q), "the robot at its place")

    def until_known(self) -> None:
        """Wait until the node knows where the robot is and how fast, which it says."""
        from sensor_msgs.msg import JointState

        box = self.graph.listen(f"{self.node}/feedback", JointState)
        seen = box.count

        def known() -> bool:
            fresh = box.count > seen
            return fresh and [*box.last.position, *box.last.velocity] == [*self.q, *self.v]

        self.feed_until(known, "the node to know where the robot is")

    def place(self, q: Sequence[float]) -> None:
        """Be somewhere at once, as no robot can."""
        self.q, self.at = list(q), list(q)

    def feed_until(self, condition: Any, what: str, timeout: float = 6.0) -> Any:
        """Publish joint states every few milliseconds until a condition holds."""
        due = 0.0

        def met() -> Any:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + PERIOD
                self.send()
            return condition()

        return self.graph.until(met, what, timeout)

    def until_active(self) -> None:
        """Wait until the node answers joint states."""
        seen = self.commands.count
        self.feed_until(lambda: self.commands.count > seen, "the first command")

    def advance(self, t: float) -> None:
        """Let simulated time go on, by steps that are no jump, with a cycle after each."""
        assert self.now is not None
        while self.now < t:
            self.now = min(self.now + 0.5, t)
            self.until_active()

    def until_command(self, expected: Any, what: str, tolerance: float = 1e-6) -> None:
        """Wait for a command from now on."""
        seen = self.commands.count
        wanted = np.asarray(expected)

        def near() -> bool:
            fresh = self.commands.count > seen
            return fresh and np.abs(np.array(self.commands.last.data) - wanted).max() < tolerance

        try:
            self.feed_until(near, what)
        except AssertionError as error:
            last = list(self.commands.last.data) if self.commands.messages else None
            raise AssertionError(f"last command {last}, expected {wanted}. {error}") from error

    def go(self, points: Sequence[tuple[Any, ...]], start: float | None = None) -> None:
        """Send a trajectory."""
        self.graph.wait_for_subscribers(self.goals)
        stamp = 0 if start is None else round(start * SECOND)
        self.goals.publish(trajectory(JOINTS, points, stamp))

    # -- lifecycle ---------------------------------------------------------------------------

    def reconfigure(self, **parameters: Any) -> None:
        """Deactivate, clean up, set parameters, configure and activate again."""
        for transition in ("deactivate", "cleanup"):
            assert self.graph.change_state(self.node, transition), transition
        result = self.set(**parameters)
        assert result.successful, result.reason
        for transition in ("configure", "activate"):
            assert self.graph.change_state(self.node, transition), self.processes.report()

    def set(self, **parameters: Any) -> Any:
        """Set parameters in one step; ``__`` in a name stands for a dot."""
        values = {name.replace("__", "."): value for name, value in parameters.items()}
        return self.graph.set_parameters(self.node, values)


def text(value: Any) -> str:
    """A parameter on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    quoted = isinstance(value, (str, Path)) and not str(value).startswith("[")
    return f"'{value}'" if quoted else str(value)
