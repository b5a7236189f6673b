"""Safety events while a simulated arm moves over ROS 2 for minutes: there should be none.

Run: python benchmarks/safety_events.py [minutes [brisk6 | wave6 [lock_step | real_time]]]

The plant node and the feedforward node as ``geared-dynamics demo`` runs them, with the complete
model and the node's own tracking tolerance (wave6: as ``elastic.launch.py`` does, fed with its
motors); the demo's motion and motions from rest to rest at random, one after the other. Counted
are the node's log lines about modes other than running and waiting for a reference; exit code 1 if
there is one. In real time a machine that is too busy makes joint states stale.
"""

from __future__ import annotations

import os
import re
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import geared_dynamics as gd
from geared_dynamics.apps import demo_plan
from geared_dynamics.apps.cli import demo
from geared_dynamics.apps.demo_motion import DemoMotion, demanding
from geared_dynamics.apps.demo_plan import WAYS, switches
from geared_dynamics.apps.processes import Child, Children
from geared_dynamics.files import robot_files

ROOT = Path(__file__).resolve().parents[1]
PLANT, NODE = demo.PLANT, demo.NODE
SPARE = 1.0  # [s] until a motion is taken over, and after it
PATIENCE = 60.0  # [s] without a command after which something is wrong
STEP = 0.02  # [s] between the points of a random motion
SECOND, STAMP = (
    1_000_000_000,
    struct.Struct("<iI"),
)  # header.stamp behind the encoding's four bytes
EVENT = re.compile(r": (holding|open_loop|ramping_to_gravity|ramping_to_zero|braking): ([^;(]*)")
EXPECTED = "no reference"


def motions(model: gd.GearedModel, first: DemoMotion, rng: Any) -> Iterator[DemoMotion]:
    """The demo's motion, then others within its range, the demo's again, and so on."""
    low, high = first.q.min(axis=0), first.q.max(axis=0)
    fastest = 0.6 * np.abs(first.v).max(axis=0)
    here = first.q[-1]
    while True:
        yield first
        for goal in (*rng.uniform(low, high, (3, model.n)), first.q[0]):
            length = max(float((1.875 * np.abs(goal - here) / fastest).max()), 0.5)
            path = gd.trajectory.rest_to_rest(here, goal, length, continuous=2)
            times = np.append(np.arange(0.0, length, STEP), length)
            rows = np.array([path.derivatives(t, 2) for t in times])
            yield DemoMotion(times, rows[:, 0], rows[:, 1], rows[:, 2])
            here = goal
        here = first.q[-1]


def settings(
    robot: str, lock_step: bool
) -> tuple[gd.GearedModel, DemoMotion, dict[str, Any], dict[str, Any], str]:
    """Model, first motion, parameters of plant and node, and which topic feeds the node."""
    if robot != "wave6":
        made = demo_plan.make_plan(robot_files(robot), None)
        node = demo_plan.node_parameters(made, lock_step) | switches(WAYS[-1])
        node = {name: value for name, value in node.items() if "constraints." not in name}
        plant = demo_plan.plant_parameters(made, lock_step) | {"paused": False}
        return made.model, made.motion, plant, node, "joint_states"
    urdf, drives = (ROOT / "urdf" / f"{robot}.{kind}" for kind in ("urdf", "drivetrain.yaml"))
    model = gd.load_model(urdf, drives)
    first = demanding(model)
    begin = dict(zip(model.joint_names, first.q[0].tolist(), strict=True))
    files = {"urdf_path": str(urdf), "drivetrain": str(drives)}
    preset = yaml.safe_load((ROOT / "config" / "elastic_simulated.yaml").read_text("utf-8"))
    plant = files | {"engine": "equations", "encoder_counts": 131072}
    plant["pace"] = "lock_step" if lock_step else "real_time"
    plant |= {f"initial.{name}": q for name, q in begin.items()}
    node = files | preset["/**"]["ros__parameters"] | {"mode": "computed_torque"}
    node |= {"use_sim_time": True, "safety.state_timeout": 10.0} if lock_step else {}
    return model, first, plant, node, "motor_states"


class Conductor:
    """Sends one motion after the other and waits for its end."""

    def __init__(self, joints: tuple[str, ...]) -> None:
        """Join the graph."""
        import rclpy
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import JointTrajectory

        from geared_dynamics.ros.process import make_executor

        rclpy.init(args=[])
        self.node = rclpy.create_node("conductor", enable_rosout=False)
        self.executor = make_executor()
        self.executor.add_node(self.node)
        self.joints, self.commands, self.newest = joints, 0, 0
        self.goals = self.node.create_publisher(JointTrajectory, f"/{NODE}/joint_trajectory", 1)
        topic = f"/{NODE}/joint_commands"
        self.node.create_subscription(JointState, topic, self._count, 10, raw=True)

    def _count(self, data: bytes) -> None:
        self.commands += 1
        seconds, rest = STAMP.unpack_from(data, 4)
        self.newest = seconds * SECOND + rest

    def wait(self, condition: Any, children: tuple[Child, ...]) -> None:
        """Handle what comes until a condition holds."""
        seen, end = self.commands, time.monotonic() + PATIENCE
        while not condition():
            self.executor.spin_once(timeout_sec=0.1)
            if self.commands != seen:
                seen, end = self.commands, time.monotonic() + PATIENCE
            if time.monotonic() > end:
                raise SystemExit(f"no command for {PATIENCE:g} s")
            for child in children:
                child.check()

    def send(self, motion: DemoMotion, children: tuple[Child, ...]) -> None:
        """Send a motion, which begins as it comes, and wait until it is over."""
        from std_msgs.msg import Header

        from geared_dynamics.ros.joint_state_wire import trajectory_message

        rows = [motion.q, motion.v, motion.a, np.zeros_like(motion.q)]
        message = trajectory_message(Header(), self.joints, motion.times, rows)
        end = self.newest + round((float(motion.times[-1]) + SPARE) * SECOND)
        self.goals.publish(message)
        self.wait(lambda: self.newest >= end, children)


def events(log: str) -> Counter[str]:
    """Modes and their events by number of log lines."""
    found = Counter(f"{mode}: {what.strip()}" for mode, what in EVENT.findall(log))
    return Counter({key: count for key, count in found.items() if EXPECTED not in key})


def started(
    children: Children, folder: Path, robot: str, lock_step: bool
) -> tuple[tuple[Child, ...], gd.GearedModel, DemoMotion]:
    """Start plant and node."""
    model, first, plant_values, node_values, states = settings(robot, lock_step)
    for name, values in ((PLANT, plant_values), (NODE, node_values | {"autostart": True})):
        demo.write_parameters(folder / f"{name}.yaml", name, values)
    plant = children.start(
        PLANT, "-m", f"{demo.NODES}.plant_node", "--ros-args",
        "--params-file", str(folder / f"{PLANT}.yaml"),
        "-r", f"~/joint_commands:=/{NODE}/joint_commands",
    )  # fmt: skip
    node = children.start(
        NODE, "-m", f"{demo.NODES}.feedforward_node", "--ros-args",
        "--params-file", str(folder / f"{NODE}.yaml"), "-r", f"joint_states:={states}",
    )  # fmt: skip
    return (plant, node), model, first


def main() -> int:
    """Run, and print what was counted."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    robot = sys.argv[2] if len(sys.argv) > 2 else "brisk6"
    lock_step = "real_time" not in sys.argv
    with tempfile.TemporaryDirectory(prefix="safety_events_") as name:
        folder = Path(name)
        environment = demo.graph(folder)
        os.environ |= environment
        with Children(environment, folder) as children:
            both, model, first = started(children, folder, robot, lock_step)
            conductor, sent = Conductor(model.joint_names), 0
            conductor.wait(lambda: conductor.commands > 1, both)
            conductor.wait(conductor.goals.get_subscription_count, both)
            begin, before = time.monotonic(), conductor.commands
            origin = conductor.newest
            for motion in motions(model, first, np.random.default_rng(1)):
                if time.monotonic() - begin > 60.0 * minutes:
                    break
                conductor.send(motion, both)
                sent += 1
            lasted, count = time.monotonic() - begin, conductor.commands - before
            moved = 1e-9 * (conductor.newest - origin)
            log = (folder / "1.log").read_text(encoding="utf-8")
    found = events(log)
    refused = len(re.findall(r"trajectory (refused|not followed)", log))
    pace = "lock step" if lock_step else "real time"
    print(f"{robot}, {pace}: {lasted:.0f} s, {moved:.0f} s of the arm's time, {sent} motions, "
          f"{count} commands, {refused} refused")  # fmt: skip
    print(*re.findall(r"trajectory (?:refused|not followed).*", log)[:3], sep="\n")
    print(f"IMPOSSIBLE_STATE: {sum(n for key, n in found.items() if 'impossible' in key)}")
    for key, number in found.most_common():
        print(f"{number:6d} {key}")
    print(f"events in all: {found.total()}")
    return 1 if found or refused else 0


if __name__ == "__main__":
    sys.exit(main())
