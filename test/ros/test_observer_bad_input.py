"""Each bad input, provoked over DDS: flagged, bridged for a while, then no numbers at all."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from observer_rig import NAN, ObserverRig, compile_kernels
from ros_harness import Graph, Processes, ros_environment

# Both observers share the node's handling of bad input; their own is tested without ROS.
KINDS = ["kalman", pytest.param("nonlinear", marks=pytest.mark.validate)]


@pytest.fixture(scope="module", params=KINDS)
def running(
    ros_domain: int, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[ObserverRig]:
    """One node for the whole module, with estimates that are good."""
    compile_kernels()
    folder = tmp_path_factory.mktemp("observer")
    processes = Processes(ros_environment(ros_domain, folder / "ros_log"), folder)
    graph = Graph(ros_domain, processes)
    try:
        rig = ObserverRig(graph, processes, folder)
        rig.start(observer=request.param, diagnostics_rate=10.0)
        yield rig
    finally:
        graph.close()
        print(processes.report())
        processes.clear()


@pytest.fixture
def rig(running: ObserverRig) -> ObserverRig:
    """The node with good estimates, whatever a test before has done."""
    from std_srvs.srv import Trigger

    running.change = None
    running.graph.call(f"{running.node}/reset", Trigger)
    running.until_valid()
    for _ in range(50):
        running.cycle()
    return running


def sent_until(rig: ObserverRig, level: str, most: int = 400) -> list[Any]:
    """Estimates that answered joint states until one has a level."""
    found = []
    for _ in range(most):
        found.append(rig.cycle())
        if rig.level() == level:
            return found
    raise AssertionError(f"never {level!r}.\n{rig.processes.report()}")


def check_bridge(rig: ObserverRig, words: str) -> None:
    """First flagged with numbers that are right, then flagged without any."""
    found = sent_until(rig, "invalid")
    before, after = found[:-1], found[-1]
    flags = [message.header.frame_id for message in before]
    first = flags.index("bridged")
    assert not any(flags[:first])  # not yet noticed
    assert all(flags[first:])
    for message in before[first:]:
        assert np.isfinite(message.position).all()
    assert np.isnan(after.position).all()
    assert np.isnan(after.velocity).all()
    rig.until_said(words)
    boxes = rig.inboxes
    for name in ("motor_state", "torque_estimate", "external_torque"):
        rig.graph.until(lambda name=name: boxes[name].last.header.frame_id == "invalid", name)
        assert np.isnan(boxes[name].last.effort).all()


def without(name: str) -> Any:
    """A change that leaves one motor out of the message."""

    def change(message: Any) -> Any:
        keep = [k for k, one in enumerate(message.name) if one != name]
        for field in ("position", "effort"):
            setattr(message, field, array("d", [getattr(message, field)[k] for k in keep]))
        message.name = [message.name[k] for k in keep]
        return message

    return change


def put(field: str, motor: int, value: float, *, add: bool = False) -> Any:
    """A change of one number."""

    def change(message: Any) -> Any:
        numbers = getattr(message, field)
        numbers[motor] = numbers[motor] + value if add else value
        return message

    return change


def test_nan_of_an_encoder(rig: ObserverRig) -> None:
    rig.change = put("position", 1, NAN)
    check_bridge(rig, "motor_2: missing")
    rig.change = None
    rig.until_valid()
    assert rig.off() < 5e-4


def test_infinity_of_an_encoder(rig: ObserverRig) -> None:
    rig.change = put("position", 0, float("inf"))
    check_bridge(rig, "motor_1: missing")


def test_a_motor_that_vanishes(rig: ObserverRig) -> None:
    rig.change = without("motor_2")
    found = sent_until(rig, "invalid")
    assert any(message.header.frame_id == "bridged" for message in found)
    rig.until_said("joint_states lacks motor_2")
    rig.change = None
    rig.until_valid()


def test_a_motor_that_is_named_twice(rig: ObserverRig) -> None:
    """Its reading is refused, and nobody guesses which entry is right."""

    def twice(message: Any) -> Any:
        message.name = [*message.name, "motor_2"]
        message.position = array("d", [*message.position, 99.0])
        message.effort = array("d", [*message.effort, 0.0])
        return message

    rig.change = twice
    check_bridge(rig, "motor_2: missing")
    rig.until_said("joint_states names motor_2 more than once; publish it once")


def test_an_encoder_jumps(rig: ObserverRig) -> None:
    """It is not used while it is away, before somebody says so; back where it was it is."""
    rig.change = put("position", 0, 5.0, add=True)
    check_bridge(rig, "motor_1: jump")
    for _ in range(100):
        assert rig.cycle().header.frame_id == "invalid"
    rig.until_said("an encoder jumped: check it, then call ~/reset")
    rig.change = None
    rig.until_valid()
    assert rig.off() < 1e-3


def test_an_encoder_that_jumps_back_is_bridged(rig: ObserverRig) -> None:
    rig.change = put("position", 0, 5.0, add=True)
    for _ in range(10):
        assert rig.cycle().header.frame_id == "bridged"
    assert rig.off() < 2e-2
    rig.change = None
    rig.until(lambda: rig.level() == "", "good estimates", 50)
    assert rig.off() < 1e-3


def test_a_stuck_encoder(rig: ObserverRig) -> None:
    shown = rig.plant.phi[0]
    rig.change = put("position", 0, float(shown))
    check_bridge(rig, "stuck")
    for _ in range(150):
        assert rig.cycle().header.frame_id == "invalid"


def test_nan_of_a_torque(rig: ObserverRig) -> None:
    rig.change = put("effort", 2, NAN)
    check_bridge(rig, "the motors' torques are missing")
    rig.change = None
    rig.until_valid()


def test_stamps_that_stand_still(rig: ObserverRig) -> None:
    """The interval is zero: flagged, and invalid once that has lasted."""
    stamp = rig.link.header.stamp

    def change(message: Any) -> Any:
        message.header.stamp = stamp
        return message

    rig.change = change
    first = rig.cycle()
    assert first.header.frame_id == "bridged"
    sent_until(rig, "invalid", 4000)
    assert np.isnan(rig.link.position).all()
    rig.until_said("a stamp is not later than the last")
    rig.until_said("stamps stand still")


def test_a_gap_of_a_second(rig: ObserverRig) -> None:
    """In the stamps alone: the first one after it is invalid; then the observer starts again."""
    rig.zero += 1_000_000_000
    assert rig.cycle().header.frame_id == "invalid"
    assert np.isnan(rig.link.position).all()
    rig.until_said("gap")
    rig.until_valid()
    for _ in range(50):
        rig.cycle()
    assert rig.off() < 5e-4


def test_joint_states_that_end(rig: ObserverRig) -> None:
    """Without any message from the robot subscribers are told, and go on being told."""
    box = rig.inboxes["link_state"]
    rig.graph.until(lambda: box.last.header.frame_id == "invalid", "the end")
    assert np.isnan(box.last.position).all()
    seen = box.count
    rig.graph.until(lambda: box.count > seen + 3, "more messages")
    rig.until_said("joint states have stopped")
    rig.until_valid()


def test_stamps_that_begin_anew(rig: ObserverRig) -> None:
    """A recording that is played again."""
    rig.zero -= 500_000_000
    try:
        sent_until(rig, "invalid", 5)
        rig.until_valid()
    finally:
        rig.zero += 500_000_000


def test_sizes_that_do_not_fit(rig: ObserverRig) -> None:
    def change(message: Any) -> Any:
        message.position = message.position[:2]
        return message

    rig.change = change
    sent_until(rig, "invalid")
    rig.until_said("3 names and 2 positions")


def test_joints_of_another_device_are_none_of_ours(rig: ObserverRig) -> None:
    from observer_rig import message_of

    seen = rig.inboxes["link_state"].count
    for k in range(20):
        rig.states.publish(message_of(["gripper"], 10**9 + k, position=[0.0], effort=[0.0]))
    rig.cycle()
    assert rig.inboxes["link_state"].count == seen + 1
    assert rig.level() == ""


def test_the_diagnostics_tell(rig: ObserverRig) -> None:
    from diagnostic_msgs.msg import DiagnosticArray

    told = rig.graph.listen("/diagnostics", DiagnosticArray)
    rig.change = put("position", 1, NAN)
    sent_until(rig, "invalid")
    entry = last_entry(rig, told, "a motor's encoder is missing")
    assert entry.level == b"\x02"
    values = {item.key: item.value for item in entry.values}
    assert values["level"] == "invalid"
    assert int(values["lost estimates"]) >= 1


def last_entry(rig: ObserverRig, told: Any, words: str) -> Any:
    """The newest entry about the observer with a text, which is waited for."""
    found: list[Any] = []

    def there() -> bool:
        entries = [s for m in told.messages for s in m.status if s.name.endswith(": observer")]
        found[:] = [entry for entry in entries if entry.message == words][-1:]
        return bool(found)

    rig.until(there, words)
    return found[0]
