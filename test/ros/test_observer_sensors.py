"""The observer node's sensors over DDS: on links and springs, late, and counting backwards."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from observer_rig import PERIOD, ObserverRig, compile_kernels, message_of
from ros_harness import Graph, Processes

LATE = 2  # periods
OFFSET = 0.1  # of the encoder on the link [rad]


@pytest.fixture
def rig(processes: Processes, graph: Graph, tmp_path: Path) -> ObserverRig:
    compile_kernels()
    return ObserverRig(graph, processes, tmp_path)


class Beside:
    """Publishes a sensor of a link just before each joint state.

    Attributes:
        sign: Of what it shows.
    """

    def __init__(self, rig: ObserverRig, topic: str, field: str, joint: int) -> None:
        from sensor_msgs.msg import JointState

        self.rig, self.field, self.joint, self.sign = rig, field, joint, -1.0
        self.publisher = rig.graph.publisher(topic, JointState)

    def shown(self) -> float:
        """The number: the joint's position by an encoder that counts backwards, or the torque."""
        plant = self.rig.plant
        if self.field == "effort":
            return float(-self.sign * plant.spring[self.joint])
        return float(self.sign * plant.q[self.joint] + OFFSET)

    def __call__(self, message: Any) -> Any:
        name = self.rig.plant.model.joint_names[self.joint]
        stamp = self.rig.zero + round(self.rig.plant.time * 10**9)
        self.publisher.publish(message_of([name], stamp, **{self.field: [self.shown()]}))
        return message


def part(rig: ObserverRig, label: str) -> np.ndarray:
    """Numbers of ``~/quality`` under a label."""
    message = rig.inboxes["quality"].last
    begin = 0
    for dim in message.layout.dim:
        if dim.label == label:
            return np.array(message.data[begin : begin + dim.size])
        begin += dim.size
    raise AssertionError(label)


@pytest.mark.parametrize(
    ("topic", "field", "joint", "place", "given"),
    [
        (
            "/link_states",
            "position",
            0,
            3,  # behind three motors
            {
                "sensors__joint_1__link_encoder_noise": 2e-5,
                "sensors__joint_1__link_encoder_sign": -1,
                "sensors__joint_1__link_encoder_offset": OFFSET,
            },
        ),
        ("/joint_torques", "effort", 1, 7, {"sensors__joint_2__torque_sensor_noise": 0.05}),
    ],
    ids=["link encoder", "torque sensor"],
)
def test_a_sensor_behind_the_spring(
    rig: ObserverRig, topic: str, field: str, joint: int, place: int, given: dict[str, Any]
) -> None:
    rig.change = beside = Beside(rig, topic, field, joint)
    rig.start(**given)
    rig.until_valid()
    rig.graph.wait_for_subscribers(beside.publisher)

    def used() -> bool:
        box = rig.inboxes["quality"]
        return box.count > 0 and bool(np.isfinite(part(rig, "innovation")[place]))

    rig.until(used, "a reading of the sensor")
    for _ in range(50):
        rig.cycle()
    assert rig.level() == ""
    assert rig.off() < 5e-5
    expected = 10.0 * part(rig, "innovation_deviation")[place]
    assert abs(part(rig, "innovation")[place]) < expected
    beside.sign = 1.0  # as if the sign were wrong
    rig.until(lambda: rig.level() in ("degraded", "inconsistent"), "the wrong sign to show")
    for _ in range(50):
        rig.cycle()
    assert rig.level() != "", "and it stays so"


def late_and_backwards(rig: ObserverRig) -> Any:
    """Motor 1 is shown as it was LATE periods ago, motor 2 with the other sign."""
    past: deque[float] = deque(maxlen=LATE + 1)

    def change(message: Any) -> Any:
        past.append(message.position[0])
        message.position[0] = past[0]
        message.position[1] = -message.position[1]
        return message

    return change


def test_delay_and_sign_of_encoders(rig: ObserverRig) -> None:
    rig.change = late_and_backwards(rig)
    delay = LATE * PERIOD
    rig.start(motors__motor_1__encoder_delay=delay, motors__motor_2__encoder_sign=-1)
    rig.until_valid()
    for _ in range(50):
        rig.cycle()
    errors, untold = [], []
    for _ in range(150):
        rig.cycle()
        assert rig.level() == ""
        errors.append(rig.off())
        untold.append(delay * abs(rig.plant.v[0]))
    assert max(untold) > 1e-3, "the arm moves"
    assert max(errors) < max(untold) / 10.0


def test_a_sign_that_nobody_told_is_not_believed(rig: ObserverRig) -> None:
    """Negative control: an encoder that counts backwards looks like a force that is not there."""
    rig.change = late_and_backwards(rig)
    rig.start()
    rig.graph.wait_for_subscribers(rig.states)
    rig.until(lambda: rig.link.header.frame_id in ("inconsistent", "bridged"), "the doubt", 300)
    assert rig.off() > 0.1
