"""Joint states that the feedforward node leaves without an answer while its payload changes.

Two runs, in turn, at 1 kHz over DDS: in one the payload is set ten times a second. Needs ROS 2.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import rclpy
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from geared_dynamics.ros.process import make_executor

ROOT = Path(__file__).resolve().parents[1]
ARM = ROOT / "urdf" / "puma560.urdf"
RATE, SECONDS, ROUNDS = 1000, 3, 4
NODE = "/feedforward_node"


class Driver:
    """Sends states, counts answers, sets payloads."""

    def __init__(self) -> None:
        """Join the graph."""
        self.node = rclpy.create_node("payload_benchmark")
        self.states = self.node.create_publisher(JointState, "joint_states", 1)
        topic = f"{NODE}/joint_commands"
        self.node.create_subscription(JointState, topic, self.receive, 1)
        service = f"{NODE}/set_parameters_atomically"
        self.client = self.node.create_client(SetParametersAtomically, service)
        self.executor = make_executor()
        self.executor.add_node(self.node)
        self.open: set[int] = set()
        names = [f"joint_{k + 1}" for k in range(6)]
        self.message = JointState(name=names, position=[0.2] * 6, velocity=[0.0] * 6)

    def receive(self, message: JointState) -> None:
        """Note an answer."""
        stamp = message.header.stamp
        self.open.discard(stamp.sec * 10**9 + stamp.nanosec)

    def send(self) -> None:
        """Publish a joint state."""
        now = time.time_ns()
        self.message.header.stamp.sec, self.message.header.stamp.nanosec = divmod(now, 10**9)
        self.open.add(now)
        self.states.publish(self.message)

    def load(self, mass: float) -> None:
        """Ask for another payload."""
        values = {"payload.mass": mass, "payload.center_of_mass": [0.0, 0.0, 0.1]}
        request = SetParametersAtomically.Request()
        request.parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
        self.client.call_async(request)

    def run(self, every: int) -> int:
        """Joint states without an answer; a payload with every so many of them, 0 for none."""
        self.open.clear()
        begin = time.monotonic()
        for cycle in range(RATE * SECONDS):
            self.send()
            if every and cycle % every == 0:
                self.load(1.0 + 1e-4 * cycle)
            while (left := begin + (cycle + 1) / RATE - time.monotonic()) > 0:
                self.executor.spin_once(timeout_sec=left)
        self.wait(0.2)
        return len(self.open)

    def wait(self, seconds: float) -> None:
        """Receive for a time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.executor.spin_once(timeout_sec=left)


def main() -> None:
    values = {
        "urdf_path": ARM,
        "drivetrain": ARM.with_suffix(".drivetrain.yaml"),
        "publish_joint_commands": True,
        "publish_commands": False,
    }
    options = [part for name, value in values.items() for part in ("-p", f"{name}:={value}")]
    module = "geared_dynamics.ros.feedforward_node"
    with subprocess.Popen([sys.executable, "-m", module, "--ros-args", *options]) as process:
        rclpy.init()
        driver = Driver()
        driver.client.wait_for_service(timeout_sec=60.0)
        while len(driver.open) < 1 or driver.run(0) == RATE * SECONDS:
            driver.send()
        counts: dict[int, int] = {0: 0, 100: 0}
        for _ in range(ROUNDS):
            for every in counts:
                counts[every] += driver.run(every)
        process.terminate()
    total = RATE * SECONDS * ROUNDS
    print(f"of {total} joint states without an answer: {counts[0]}")
    print(f"with {total // 100} changes of the payload: {counts[100]}")


if __name__ == "__main__":
    main()
