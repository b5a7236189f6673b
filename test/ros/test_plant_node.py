"""The plant node over DDS: both paces, its services, and what it refuses."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from feedforward_rig import JOINTS, POSTURE, URDF, elbow
from plant_rig import PLANT, RATE, PlantRig, position, stamp
from ros_harness import Graph, Processes

PERIOD = 1.0 / RATE
BRISK = URDF.with_name("brisk6.urdf")
DRIVES = URDF.with_name("brisk6.drivetrain.yaml")


@pytest.fixture
def rig(graph: Graph, processes: Processes) -> PlantRig:
    return PlantRig(graph, processes)


def gravity() -> np.ndarray:
    return gd.gravity_forces(elbow(), POSTURE)


def test_lock_step_waits_for_the_command_of_its_time(rig: PlantRig) -> None:
    """Time goes on by a period for each command, and for no command of another time."""
    rig.start_plant(pace="lock_step", start_time=5.0)
    first = rig.next_state()
    assert stamp(first) == 5.0
    np.testing.assert_allclose(first.position, POSTURE, atol=1e-12)
    again = rig.next_state()  # nobody answers: the same again
    assert stamp(again) == 5.0
    rig.graph.wait_for_subscribers(rig.named)
    rig.named.publish(rig.command(first, gravity()))
    second = rig.next_state(lambda state: stamp(state) > 5.0)
    assert stamp(second) == pytest.approx(5.0 + PERIOD, abs=1e-9)
    seen = rig.states.count
    rig.named.publish(rig.command(first, gravity()))  # of an earlier time
    rig.graph.until(lambda: rig.states.count >= seen + 3, "states sent again")
    assert stamp(rig.states.last) == pytest.approx(5.0 + PERIOD, abs=1e-9)


def test_lock_step_gives_what_the_plant_gives(rig: PlantRig) -> None:
    """The same commands, by the library and over DDS: the same motion to the last digit."""
    rig.start_plant(pace="lock_step")
    twin = gd.simulation.Plant(elbow(), command="effort", engine="equations")
    twin.reset(POSTURE)
    state = rig.next_state()
    rig.graph.wait_for_subscribers(rig.named)
    for k in range(20):
        effort = gravity() + np.array([3.0, -2.0, 1.0]) * np.sin(0.3 * k)
        before = stamp(state)
        rig.named.publish(rig.command(state, effort))
        state = rig.next_state(lambda found, before=before: stamp(found) > before)  # type: ignore[misc]
        twin.step(effort, PERIOD)
        np.testing.assert_array_equal(state.position, twin.read().joint_state(twin.model).q)
        np.testing.assert_array_equal(state.velocity, twin.read().joint_state(twin.model).v)


def test_names_in_another_order(rig: PlantRig) -> None:
    rig.start_plant(pace="lock_step")
    twin = gd.simulation.Plant(elbow(), command="effort", engine="equations")
    twin.reset(POSTURE)
    state = rig.next_state()
    rig.graph.wait_for_subscribers(rig.named)
    effort = np.array([5.0, -20.0, 9.0])
    rig.named.publish(rig.command(state, effort[::-1], names=JOINTS[::-1]))
    after = rig.next_state(lambda found: stamp(found) > stamp(state))
    twin.step(effort, PERIOD)
    np.testing.assert_array_equal(after.position, twin.read().joint_state(twin.model).q)


def test_real_time_stands_still_until_the_first_command(rig: PlantRig) -> None:
    from std_msgs.msg import Float64MultiArray

    rig.start_plant()
    states = [rig.next_state() for _ in range(3)]
    assert stamp(states[0]) < stamp(states[1]) < stamp(states[2])
    np.testing.assert_array_equal(states[2].position, states[0].position)  # its brakes are closed
    rig.graph.wait_for_subscribers(rig.flat)
    rig.flat.publish(Float64MultiArray(data=[0.0] * 3))
    fallen = rig.next_state(lambda state: abs(state.position[1] - POSTURE[1]) > 0.01)
    assert stamp(fallen) > stamp(states[2])


def test_motor_states_have_the_motors_names(rig: PlantRig) -> None:
    from sensor_msgs.msg import JointState

    rig.start_plant()
    found = rig.graph.wait_for_message("/motor_states", JointState)
    model = elbow()
    assert tuple(found.name) == model.motor_names
    np.testing.assert_allclose(found.position, gd.motor_angles(model, POSTURE), atol=1e-9)


def test_pause_and_reset(rig: PlantRig) -> None:
    from std_msgs.msg import Float64MultiArray

    rig.start_plant()
    rig.graph.wait_for_subscribers(rig.flat)
    rig.flat.publish(Float64MultiArray(data=[0.0] * 3))
    rig.next_state(lambda state: abs(state.position[1] - POSTURE[1]) > 0.01)
    rig.switch("pause", True)
    one, other = rig.next_state(), rig.next_state()
    np.testing.assert_array_equal(one.position, other.position)
    rig.reset()
    rig.next_state(lambda state: np.array_equal(state.position, POSTURE))
    rig.switch("pause", False)
    rig.next_state(lambda state: abs(state.position[1] - POSTURE[1]) > 0.01)


def test_payload_pulls_at_the_arm(rig: PlantRig) -> None:
    """With gravity's force of the bare arm it stays, with a load it sinks, without it stays."""
    from std_msgs.msg import Float64MultiArray

    rig.start_plant(payload__mass=10.0)
    rig.graph.wait_for_subscribers(rig.flat)
    hold = Float64MultiArray(data=gravity().tolist())
    rig.flat.publish(hold)
    before = rig.next_state()
    assert rig.switch("attach_payload", True).startswith("carrying 10 kg, ")
    sunk = rig.next_state(lambda state: np.abs(position(state) - position(before)).max() > 0.02)
    assert np.abs(np.array(sunk.velocity)).max() > 0.0
    assert rig.switch("attach_payload", False) == "carrying nothing"


def test_a_voltage_plant_refuses_other_commands(rig: PlantRig) -> None:
    motors = [f"motor_{k + 1}" for k in range(6)]
    plant = rig.start_plant(
        command="motor_voltage", pace="lock_step", urdf_path=str(BRISK), drivetrain=str(DRIVES)
    )
    state = rig.next_state()
    rig.graph.wait_for_subscribers(rig.named)
    for names, label, numbers, said in (
        (motors, "motor_torque", [1.0] * 6, "is of kind motor_torque, and this plant takes"),
        (JOINTS, "", [1.0] * 3, "send motor_voltage for the motors"),
        (motors, "", [1.0] * 5, "has 5 numbers for 6 names"),
        (motors, "", [1.0, float("nan"), 0.0, 0.0, 0.0, 0.0], "not finite for motor_2"),
    ):
        message = rig.command(state, numbers, names=names, label=label)
        rig.graph.publish_until(
            rig.named, message, lambda said=said: said in plant.output, repr(said)
        )
        assert stamp(rig.next_state()) == stamp(state)
    rig.named.publish(rig.command(state, [0.0] * 6, names=motors, label="motor_voltage"))
    rig.next_state(lambda found: stamp(found) > stamp(state))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"drivetrain": ""}, "motors: the section is missing"),
        ({"timestep": 0.5, "urdf_path": str(BRISK), "drivetrain": str(DRIVES),
          "command": "motor_voltage"}, "is not stable"),
        ({"rate": "fast"}, "parameters: rate: is 'fast'"),
        ({"command": "torques"}, "motor_torque"),
        ({"initial__joint_1": "up"}, "initial.joint_1"),
        ({"urdf_path": "/nowhere.urdf"}, "nowhere.urdf"),
        ({"command": "motor_voltage"}, "resistance"),
    ],
)  # fmt: skip
def test_what_cannot_be_simulated_is_refused(
    rig: PlantRig, given: dict[str, Any], said: str
) -> None:
    plant = rig.start_plant(**given)
    assert plant.wait(30.0) == 2, plant.report()
    assert said in plant.output, plant.report()
    assert "Traceback" not in plant.output, plant.report()


def test_an_unknown_motor_is_refused_and_nothing_changes(rig: PlantRig) -> None:
    rig.start_plant()
    result = rig.graph.set_parameters(PLANT, {"faults.motors": ["motor_9"]})
    assert not result.successful
    assert "there is no motor 'motor_9'" in result.reason
    rig.switch("freeze_encoders", True)


def test_a_motion_that_leaves_all_bounds_ends_it_with_a_line(rig: PlantRig) -> None:
    from std_msgs.msg import Float64MultiArray

    plant = rig.start_plant(saturate=False)
    rig.graph.wait_for_subscribers(rig.flat)
    rig.flat.publish(Float64MultiArray(data=[1e12] * 3))  # refused
    rig.flat.publish(Float64MultiArray(data=[9e8] * 3))
    assert plant.wait(30.0) == 2, plant.report()
    assert "diverges" in plant.output, plant.report()
    assert "Traceback" not in plant.output, plant.report()


def test_it_ends_with_ctrl_c(rig: PlantRig) -> None:
    plant = rig.start_plant()
    rig.next_state()
    assert plant.stop() == 0


def test_the_urdf_limits_are_end_stops(rig: PlantRig) -> None:
    """Pushed on for seconds, a joint stands at its limit; without stops it turns on."""
    upper = 2.9  # of joint_1
    state = pushed(rig, None)
    while stamp(state) < 3.0:
        assert state.position[0] < upper + 1e-3
        state = pushed(rig, state)
    assert state.position[0] == pytest.approx(upper, abs=1e-3)
    assert abs(state.velocity[0]) < 1e-6


def test_without_end_stops_it_turns_on(rig: PlantRig) -> None:
    state = pushed(rig, None, end_stops=False)
    while state.position[0] < 4.0:
        state = pushed(rig, state)


def pushed(rig: PlantRig, state: Any, **given: Any) -> Any:
    """The state after one in which joint_1 is pushed; starts the plant before the first."""
    if state is None:
        rig.start_plant(pace="lock_step", **given)
        state = rig.next_state()
        rig.graph.wait_for_subscribers(rig.named)
    rig.named.publish(rig.command(state, gravity() + np.array([60.0, 0.0, 0.0])))
    return rig.next_state(lambda found: stamp(found) > stamp(state))


def test_after_a_stall_and_a_reset_no_stamp_lies_in_the_future(rig: PlantRig) -> None:
    """A state is sent when it is measured: its stamp is at most the time at which it arrives."""
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    arrived: list[tuple[float, float]] = []
    clock = rig.graph.node.get_clock()
    rig.graph.node.create_subscription(
        JointState,
        "/joint_states",
        lambda state: arrived.append((1e-9 * clock.now().nanoseconds, stamp(state))),
        10,
    )
    plant = rig.start_plant()
    rig.next_state()
    rig.graph.wait_for_subscribers(rig.flat)
    rig.flat.publish(Float64MultiArray(data=gravity().tolist()))

    def early() -> float:
        """How far the stamps of the next quarter of a second are ahead [s]."""
        arrived.clear()
        rig.graph.until(lambda: len(arrived) > RATE / 4, "joint states")
        return max(stamped - came for came, stamped in arrived)

    assert early() < 0.0
    plant.signal(signal.SIGSTOP)
    begin = time.monotonic()
    rig.graph.until(lambda: time.monotonic() > begin + 0.3, "a stall of 0.3 s")
    plant.signal(signal.SIGCONT)
    rig.until_said(plant, "behind the wall clock")
    assert early() < 0.0
    for _ in range(3):  # at any time between two states
        rig.reset()
        assert early() < 0.0
