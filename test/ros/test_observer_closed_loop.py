"""The feedforward node closes its loop on the observer: an elastic arm that shows its motors only.

Plant, observer and feedforward node are three processes; the plant waits for each command, so
that the simulated time does not depend on how fast the machine is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import SECOND, text, trajectory
from observer_node_arm import URDF, Plant, arm, drives
from observer_rig import PERIOD, ObserverRig, compile_kernels
from ros_harness import Graph, Processes

GOAL = (0.8, 0.1, 0.2)
PARAMETERS = {
    "mode": "computed_torque",
    "law": "pd_plus_feedforward",
    "feedback": "joint",
    "output": "motor_torque",
    "use_sim_time": True,
    "update_rate": round(1.0 / PERIOD),
    "safety.state_timeout": 2.0,
}


class Choice(NamedTuple):
    """An arm and what its feedback is of.

    Attributes:
        topic: Of the observer, for the feedforward node.
        damping: Of the springs.
        feedback: As the gains are proved.
        fraction: Bandwidth over the lowest frequency.
    """

    topic: str
    damping: float
    feedback: Literal["joint", "mixed"]
    fraction: float


# Feedback of the links alone is stable only where it is slow and the springs are damped.
SLOW = Choice("link_state", 60.0, "joint", 0.05)
LIGHT = Choice("control_state", 5.0, "mixed", 0.4)


def gains(chosen: Choice) -> dict[str, float]:
    """Gains that are stable as this loop is sampled, each command a period late."""
    found = gd.control.gains_from_modes(
        arm(chosen.damping), np.zeros(3), chosen.fraction, 1.0, feedback=chosen.feedback,
        sample_time=PERIOD, delay=PERIOD,
    )  # fmt: skip
    p, d = (np.broadcast_to(x, 3) for x in (found.kp, found.kv))
    both = {"p": p, "d": d}
    return {
        f"gains.{name}.{key}": float(values[k])
        for key, values in both.items()
        for k, name in enumerate(arm().joint_names)
    }


class Loop:
    """The three of them."""

    def __init__(self, rig: ObserverRig, chosen: Choice = SLOW) -> None:
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from rosgraph_msgs.msg import Clock
        from std_msgs.msg import Float64MultiArray
        from trajectory_msgs.msg import JointTrajectory

        self.rig = rig
        node = "/feedforward_node"
        self.commands = rig.graph.listen(f"{node}/commands", Float64MultiArray)
        best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.clock = rig.graph.publisher("/clock", Clock, best_effort)
        self.goals = rig.graph.publisher(f"{node}/joint_trajectory", JointTrajectory)
        rig.effort = False
        rig.plant = Plant(damping=chosen.damping)
        rig.drives.write_text(drives(chosen.damping), encoding="utf-8")
        files = {"urdf_path": URDF, "drivetrain": rig.drives}
        values = PARAMETERS | files | gains(chosen)
        options = [part for k, v in values.items() for part in ("-p", f"{k}:={text(v)}")]
        remap = ["-r", f"joint_states:={rig.node}/{chosen.topic}"]
        module = "geared_dynamics.ros.feedforward_node"
        words = ["-m", module, "--ros-args", *remap, *options]
        self.process = rig.processes.start(*words, name="feedforward_node")

    def answered(self) -> bool:
        """Whether a command has come by the end of a cycle."""
        self.cycle(3)
        return self.commands.count > 0

    def cycle(self, longest: int = 40) -> None:
        """The clock, the motors' encoders, and the command for them, where one comes."""
        from rosgraph_msgs.msg import Clock

        rig, seen = self.rig, self.commands.count
        message = Clock()
        now = rig.zero + round((rig.plant.time + PERIOD) * SECOND)
        message.clock.sec, message.clock.nanosec = divmod(now, SECOND)
        self.clock.publish(message)
        torque = np.array(self.commands.last.data) if seen else rig.plant.tau_m  # brakes before
        rig.send(torque)
        for _ in range(longest):
            if self.commands.count > seen:
                return
            rig.graph.spin_once(0.005)


@pytest.mark.parametrize("chosen", [SLOW, LIGHT], ids=["slow", "light"])
def test_the_feedforward_node_runs_on_the_observer(
    processes: Processes, graph: Graph, tmp_path: Path, chosen: Choice
) -> None:
    compile_kernels()
    rig = ObserverRig(graph, processes, tmp_path)
    loop = Loop(rig, chosen)
    begin = rig.plant.q.copy()
    rig.start(
        "commands:=/feedforward_node/commands",
        torque_source="commands",
        torque_timeout=2.0,
        use_sim_time=True,
    )
    graph.until(lambda: "configured" in loop.process.output, "the feedforward node", 60.0)
    graph.wait_for_subscribers(rig.states)
    graph.wait_for_subscribers(loop.goals)
    graph.until(loop.answered, "the first command", 60.0)
    for _ in range(200):
        loop.cycle()
    assert np.abs(rig.plant.q - begin).max() < 1e-3, "held where it was"
    loop.goals.publish(trajectory(rig.plant.model.joint_names, [(1.0, GOAL, [0.0] * 3)]))
    worst, twist = 0.0, 0.0
    for _ in range(900):
        loop.cycle()
        if rig.level() != "invalid":
            worst = max(worst, rig.off())
            rigid = np.linalg.solve(rig.plant.model.structure_matrix.T, rig.plant.phi)
            twist = max(twist, float(np.abs(rigid - rig.plant.q).max()))
    assert rig.level() in ("", "inconsistent"), processes.report()
    np.testing.assert_allclose(rig.plant.q, GOAL, atol=5e-3)
    assert np.abs(rig.plant.v).max() < 0.02
    assert worst < twist / 3.0, "the observer knows the links better than the motors do"


def test_the_last_word_reaches_the_feedforward_node(
    processes: Processes, graph: Graph, tmp_path: Path
) -> None:
    """When the observer has nothing to say the feedforward node does as without joint states."""
    compile_kernels()
    rig = ObserverRig(graph, processes, tmp_path)
    loop = Loop(rig)
    rig.start(
        "commands:=/feedforward_node/commands",
        torque_source="commands",
        torque_timeout=2.0,
        max_extrapolation=0.3,
        use_sim_time=True,
    )
    graph.until(lambda: "configured" in loop.process.output, "the feedforward node", 60.0)
    graph.wait_for_subscribers(rig.states)
    graph.until(loop.answered, "the first command", 60.0)

    def blind(message: Any) -> Any:
        message.position[1] = float("nan")
        return message

    rig.change = blind
    output = loop.process

    def noticed() -> bool:
        loop.cycle(1)
        return "open_loop" in output.output

    graph.until(noticed, "the feedforward node to notice", 20.0)
    assert np.isnan(rig.link.position).all()
    assert all(np.isfinite(message.data).all() for message in loop.commands.messages)
