"""The observer node over DDS: what it sends while all is well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from observer_rig import ObserverRig, compile_kernels, stamp_of
from ros_harness import Graph, Processes


@pytest.fixture
def rig(processes: Processes, graph: Graph, tmp_path: Path) -> ObserverRig:
    compile_kernels()
    return ObserverRig(graph, processes, tmp_path)


@pytest.mark.parametrize("observer", ["kalman", "nonlinear"])
def test_all_topics_tell_the_motion(rig: ObserverRig, observer: str) -> None:
    rig.start(observer=observer, contact__frame="tip", contact__moment=False)
    rig.until_valid()
    for _ in range(150):
        rig.cycle()
    assert rig.level() == ""
    assert list(rig.link.name) == list(rig.plant.model.joint_names)
    assert rig.off() < 5e-5
    np.testing.assert_allclose(rig.link.velocity, rig.plant.v, atol=0.05)
    assert len(rig.link.effort) == 0
    for name in ("motor_state", "torque_estimate", "external_torque", "quality"):
        rig.until(lambda name=name: rig.inboxes[name].count > 0, name, 200)
    rig.cycle()
    plant, boxes = rig.plant, rig.inboxes
    rig.graph.until(
        lambda: (
            boxes["motor_state"].last.header.stamp == rig.link.header.stamp
            and boxes["torque_estimate"].last.header.stamp == rig.link.header.stamp
            and boxes["external_torque"].last.header.stamp == rig.link.header.stamp
        ),
        "all of one instant",
    )
    motors, springs = boxes["motor_state"].last, boxes["torque_estimate"].last
    assert list(motors.name) == list(plant.model.motor_names)
    np.testing.assert_allclose(motors.position, plant.phi, atol=1e-3)
    np.testing.assert_allclose(motors.effort, plant.tau_m, rtol=1e-9)
    assert list(springs.name) == ["joint_1", "joint_2"]
    np.testing.assert_allclose(springs.effort, plant.spring, atol=0.5)
    twist = plant.z[3:5] - plant.q[:2]
    np.testing.assert_allclose(springs.position, twist, atol=5e-5)
    external = np.array(boxes["external_torque"].last.effort)
    if observer == "nonlinear":  # it knows none: never a zero that is no estimate
        assert np.isnan(external).all()
        return
    assert np.abs(external).max() < 2.0
    rig.until(lambda: boxes["contact_wrench"].count > 0, "the contact", 200)
    contact = boxes["contact_wrench"].last
    assert contact.header.frame_id == "tip"
    assert np.abs(six(contact)[:3]).max() < 2.0
    assert not six(contact)[3:].any()
    check_quality(boxes["quality"].last)


def six(message: Any) -> np.ndarray:
    """Force and moment of a ``WrenchStamped``."""
    force, torque = message.wrench.force, message.wrench.torque
    return np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])


def test_a_contact_in_the_axes_of_its_frame_that_ends_with_the_estimate(rig: ObserverRig) -> None:
    """Its value; no wrench stands when a motor, all joint states or the node fall silent."""
    import geared_dynamics as gd
    from geared_dynamics.dynamics.frames import pose

    rig.start(contact__frame="tip", contact__moment=False, contact__rate=1000.0)
    rig.until_valid()
    force, plant, box = np.array([0.5, -1.0, 0.8]), rig.plant, rig.inboxes["contact_wrench"]

    def pushed(message: Any) -> Any:
        turn = pose(plant.model, plant.q, "tip")[:3, :3]
        plant.push = gd.jacobian(plant.model, plant.q, "tip")[:3].T @ turn @ force
        return message

    rig.change = pushed

    def told() -> bool:
        return bool(box.count) and bool(np.abs(six(box.last)[:3] - force).max() < 0.4)

    def gone() -> bool:
        return bool(np.isnan(six(box.last)).all())

    rig.until(told, "the force")

    def blind(message: Any) -> Any:
        message.position[1] = float("nan")
        return pushed(message)

    rig.change = blind
    rig.until(gone, "no wrench while a motor's reading is missing", 20)
    assert rig.level() == "bridged"
    rig.change = pushed
    rig.until(told, "the force again")
    rig.graph.until(gone, "no wrench without joint states")
    rig.until(told, "the force once more")
    assert rig.graph.change_state(rig.node, "deactivate")
    rig.graph.until(gone, "no wrench of an inactive node")


def check_quality(message: Any) -> None:
    """Its labels cover its numbers; a filter that fits says so."""
    sizes = {dim.label: dim.size for dim in message.layout.dim}
    assert sum(sizes.values()) == len(message.data)
    head = dict(zip(list(sizes)[:4], message.data, strict=False))
    assert head["level"] == 0.0
    assert 0.0 < head["nis_ratio"] <= head["nis_ratio_limit"]


def test_a_push_is_seen_as_external_torque(rig: ObserverRig) -> None:
    rig.start()
    rig.until_valid()
    push = np.array([0.0, 6.0, 0.0])
    rig.plant.push = push
    box = rig.inboxes["external_torque"]
    rig.until(lambda: bool(box.count) and abs(box.last.effort[1] - 6.0) < 0.5, "the push", 400)
    others = np.array(box.last.effort)[[0, 2]]
    assert np.abs(others).max() < 1.0


def test_a_stall_of_the_machine_is_bridged(rig: ObserverRig) -> None:
    """While nothing is sent the node goes on by itself; then its answers are as good as before."""
    rig.start(max_extrapolation=1.0)  # the longest: a machine may stall twice
    rig.until_valid()
    for _ in range(50):
        rig.cycle()
    box = rig.inboxes["link_state"]
    rig.graph.until(lambda: box.last.header.frame_id == "bridged", "a bridge")
    assert rig.level() == ""
    assert rig.off() < 5e-5
    rig.cycle()
    assert rig.off() < 5e-5


class Simulated:
    """The simulated clock of the arm's time, sent before each joint state."""

    def __init__(self, rig: ObserverRig) -> None:
        from rosgraph_msgs.msg import Clock

        self.rig, self.publisher = rig, rig.graph.publisher("/clock", Clock)

    def __call__(self, message: Any) -> Any:
        from rosgraph_msgs.msg import Clock

        clock = Clock()
        clock.clock = message.header.stamp
        self.publisher.publish(clock)
        return message


def test_a_simulation_that_pauses_loses_nothing(rig: ObserverRig) -> None:
    """Its clock stands, longer than ``max_extrapolation``; then estimates are good."""
    rig.start(use_sim_time=True, max_extrapolation=0.1)
    rig.change = simulated = Simulated(rig)
    rig.until_valid()
    rig.graph.wait_for_subscribers(simulated.publisher)
    for _ in range(100):
        rig.cycle()
    box, process = rig.inboxes["link_state"], rig.process
    seen = box.count
    try:  # the bridge, and its end, that there would be on the wall's clock
        rig.graph.until(lambda: box.count > seen, "an estimate in the pause", 1.0)
    except AssertionError:
        pass
    else:
        raise AssertionError(f"told in the pause: {box.last.header}")
    for _ in range(150):
        assert rig.cycle().header.frame_id == ""
        assert rig.off() < 5e-5
    stamps = [stamp_of(message) for message in box.messages]
    assert stamps == sorted(stamps), "none runs ahead and back"
    assert process is not None
    assert "overdue" not in process.output


def test_diagnostics_timing_and_services(rig: ObserverRig) -> None:
    from diagnostic_msgs.msg import DiagnosticArray
    from std_msgs.msg import Float64MultiArray
    from std_srvs.srv import Trigger

    told = rig.graph.listen("/diagnostics", DiagnosticArray)
    timing = rig.graph.listen(f"{rig.node}/timing", Float64MultiArray)
    rig.start(diagnostics_rate=10.0)
    rig.until_valid()

    def entry() -> Any:
        entries = [s for m in told.messages for s in m.status if s.name.endswith(": observer")]
        return entries[-1] if entries else None

    rig.until(lambda: entry() is not None and entry().message == "estimates are valid", "a report")
    values = {item.key: item.value for item in entry().values}
    assert entry().level == b"\x00"
    assert values["level"] == "good"
    assert values["starts"] == "1"
    assert float(values["innovation motor_1 [rad]"]) == pytest.approx(0.0, abs=1e-3)
    rig.until(lambda: timing.count > 0, "timing")
    answer = rig.graph.call(f"{rig.node}/reset", Trigger)
    assert answer.success
    rig.cycle()
    assert rig.level() == "invalid"
    rig.until(lambda: rig.level() == "", "estimates after a reset")


def test_the_lifecycle(rig: ObserverRig) -> None:
    rig.start(autostart=False)
    rig.graph.wait_for_state(rig.node, "unconfigured")
    for transition in ("configure", "activate"):
        assert rig.graph.change_state(rig.node, transition)
    rig.until_valid()
    assert rig.graph.change_state(rig.node, "deactivate")
    box = rig.inboxes["link_state"]
    rig.graph.until(lambda: box.last.header.frame_id == "invalid", "the last word")
    assert np.isnan(box.last.position).all()
    seen = box.count
    for _ in range(20):
        rig.send()
        rig.graph.spin_once()
    assert box.count == seen
    for transition in ("cleanup", "configure", "activate"):
        assert rig.graph.change_state(rig.node, transition)
    rig.until_valid()


def test_parameters_at_run_time(rig: ObserverRig) -> None:
    rig.start()
    rig.until_valid()
    assert rig.graph.set_parameters(
        rig.node, {"bandwidth": 20.0, "payload.mass": 0.001}
    ).successful
    refused = rig.graph.set_parameters(rig.node, {"bandwidth": -1.0})
    assert not refused.successful
    late = rig.graph.set_parameters(rig.node, {"max_extrapolation": 0.2})
    assert not late.successful
    assert "configured" in late.reason
    rig.cycle()
    assert rig.level() == ""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"drivetrain": ""}, "elastic"),
        ({"contact__frame": "hand"}, "hand"),
        ({"sensors__joint_3__torque_sensor_noise": 0.1}, "without a spring"),
        ({"max_extrapolation": 0.002}, "periods"),
        ({"motors__motor_1__encoder_sign": 0}, "encoder_sign"),
        ({"motors__motor_1__encoder_offset": float("nan")}, "motors.motor_1.encoder_offset"),
        ({"motors__motor_1__encoder_resolution": -1.0}, "motors.motor_1.encoder_resolution"),
        ({"command_joints": "[a, b]"}, "command_joints"),
        ({"observer": "nonlinear", "sensors__joint_1__link_encoder_noise": 1e-4}, "kalman"),
    ],
)
def test_what_makes_no_sense_is_refused(
    rig: ObserverRig, given: dict[str, Any], words: str
) -> None:
    """A line says what and why; the node stays up."""
    rig.start(**given)
    process = rig.process
    assert process is not None
    rig.graph.until(lambda: "cannot configure" in process.output, "the refusal")
    line = next(part for part in process.output.splitlines() if "cannot configure" in part)
    assert words in line
    assert rig.graph.state(rig.node) == "unconfigured"


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("-r", "__node:=1bad"),
        ("-p", "foo"),
        ("--params-file", "/nowhere/at_all.yaml"),
    ],
)
def test_wrong_arguments_end_the_process_with_a_line(
    processes: Processes, option: str, word: str
) -> None:
    module = "geared_dynamics.ros.elastic_observer_node"
    process = processes.start("-m", module, "--ros-args", option, word, name="observer")
    assert process.wait() == 2
    assert "Traceback" not in process.output
    assert "elastic_observer_node: " in process.output
    assert "correct the arguments after --ros-args" in process.output
