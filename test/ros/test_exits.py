"""Every exit of the feedforward node: the arm is braked to rest, whatever ends the node."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from exit_arm import Arm
from feedforward_rig import POSTURE, Rig, elbow
from ros_harness import Graph, Processes

GOAL = [1.4, 0.9, 0.6]
LIMITS = np.array([100.0, 90.0, 50.0])
MODES = {"stream": {}, "computed_torque": {"mode": "computed_torque"}}


def moving(graph: Graph, processes: Processes, **parameters: Any) -> Arm:
    """An arm in the midst of a fast motion, its node's services found."""
    arm = Arm(Rig(graph, processes))
    arm.rig.start(**{"safety__state_timeout": 0.5, **parameters})
    arm.until(lambda: arm.rig.said("holding: no reference"), "the node")
    transitions(arm)
    arm.rig.go([(0.8, GOAL, [0.0] * 3, [0.0] * 3)])
    arm.until(lambda: arm.speed > 1.0 and arm.running, "its speed")
    arm.mark()
    return arm


def transitions(arm: Arm) -> Any:
    """The client of the node's transitions; found while the arm's joint states go on."""
    from lifecycle_msgs.srv import ChangeState

    client = arm.rig.graph.client(f"{arm.rig.node}/change_state", ChangeState)
    arm.until(client.service_is_ready, "the service of transitions")
    return client


def at_rest(arm: Arm) -> None:
    """The arm rests near where it was, and what was sent last is gravity's command there."""
    assert arm.speed < 0.05, arm.speed
    assert arm.way < 0.2 * arm.fastest, (arm.way, arm.fastest)
    sent = np.array(arm.rig.commands.last.data)
    np.testing.assert_allclose(sent, gd.gravity_forces(elbow(), arm.q), atol=0.3)


def within_rates(arm: Arm) -> None:
    """No command of the arm's history is beyond a limit, or changed faster than in 20 ms."""
    sent = np.array([message.data for message in arm.rig.commands.messages])
    assert (np.abs(sent) <= LIMITS + 1e-9).all()
    assert (np.abs(np.diff(sent, axis=0)) <= 0.1 * LIMITS / 0.02 + 1e-9).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_motion(
    graph: Graph, processes: Processes, mode: str, number: signal.Signals
) -> None:
    arm = moving(graph, processes, **MODES[mode])
    begin = time.monotonic()
    arm.rig.process.signal(number)  # type: ignore[union-attr]
    arm.until(lambda: not arm.rig.process.running, "its end")  # type: ignore[union-attr]
    assert time.monotonic() - begin < 4.0
    assert arm.rig.process.returncode == 0  # type: ignore[union-attr]
    at_rest(arm)
    within_rates(arm)


@pytest.mark.parametrize("mode", MODES)
def test_joint_states_end_with_the_signal(graph: Graph, processes: Processes, mode: str) -> None:
    """As where driver and node get the same Ctrl-C: braked open loop, by the model."""
    from sensor_msgs.msg import JointState

    topic = "/feedforward_node/joint_commands"
    stamped = graph.listen(topic, JointState, qos=1000)
    arm = moving(graph, processes, publish_joint_commands=True, **MODES[mode])
    arm.fall_silent()
    arm.rig.process.signal(signal.SIGINT)  # type: ignore[union-attr]
    arm.until(lambda: not arm.rig.process.running, "its end")  # type: ignore[union-attr]
    # Of the others, whose queue is short, a test that was kept waiting may have lost some.
    arm.until(lambda: stamped.count >= arm.rig.commands.count, "all that it has sent")
    arm.replay(stamped.messages)
    assert arm.speed < 0.15 * arm.fastest
    assert arm.way < 0.25 * arm.fastest
    within_rates(arm)


@pytest.mark.parametrize("transition", ["deactivate", "active_shutdown"])
def test_a_transition_in_motion(graph: Graph, processes: Processes, transition: str) -> None:
    """It is answered when the arm rests; until then the node reads, answers and refuses."""
    from lifecycle_msgs.srv import ChangeState

    arm = moving(graph, processes)
    rig = arm.rig
    client = transitions(arm)
    number = {"deactivate": 4, "active_shutdown": 7}[transition]
    request = ChangeState.Request()
    request.transition.id = number
    future, again = client.call_async(request), client.call_async(request)
    arm.until(lambda: rig.said("braking: the node ends"), "braking")
    arm.mark()  # not what it went while the request was on its way
    rig.go([(1.0, GOAL)])
    arm.until(again.done, "the refusal of another one")
    assert not again.result().success
    assert not future.done()
    arm.until(
        lambda: rig.said("trajectory refused: node: is stopping"), "the refusal of a trajectory"
    )
    arm.until(future.done, "the answer")
    assert future.result().success
    at_rest(arm)
    within_rates(arm)
    seen = rig.commands.count
    assert graph.state(rig.node) == ("inactive" if number == 4 else "finalized")
    assert rig.commands.count == seen


def test_a_second_signal_ends_it_at_once(graph: Graph, processes: Processes) -> None:
    """By gravity's command as soon as the rate allows; the way there is not left out."""
    arm = moving(graph, processes, safety__stop_time=1.5)
    process = arm.rig.process
    assert process is not None
    process.signal(signal.SIGINT)
    arm.until(lambda: arm.rig.said("braking: the node ends"), "braking")
    process.signal(signal.SIGINT)
    arm.until(lambda: not process.running, "its end")
    assert arm.speed > 0.1, "not braked to the end"
    gravity = gd.gravity_forces(elbow(), np.array(arm.path))

    def held() -> bool:
        """The last command is on its way still when the process is gone."""
        sent = np.array(arm.rig.commands.last.data)
        return bool(np.abs(gravity - sent).max(axis=1).min() < 0.5)

    arm.rig.graph.until(held, "gravity's command where the arm was")
    within_rates(arm)


def test_a_hangup_comes_twice(graph: Graph, processes: Processes) -> None:
    """From the shell and from the system: no second signal."""
    arm = moving(graph, processes)
    process = arm.rig.process
    assert process is not None
    for _ in range(2):
        process.signal(signal.SIGHUP)
    arm.until(lambda: not process.running, "its end")
    at_rest(arm)


def test_zero_stays_zero(graph: Graph, processes: Processes) -> None:
    """After an emergency stop with zero torque no exit brings gravity back."""
    from std_srvs.srv import SetBool

    arm = moving(graph, processes, safety__on_emergency_stop="zero", safety__ramp_time=0.05)
    rig = arm.rig
    client = graph.wait_for_service(f"{rig.node}/emergency_stop", SetBool)
    client.call_async(SetBool.Request(data=True))
    arm.until(lambda: not np.any(rig.commands.last.data), "zero")
    assert graph.change_state(rig.node, "deactivate")
    rig.process.signal(signal.SIGINT)  # type: ignore[union-attr]
    arm.until(lambda: not rig.process.running, "its end")  # type: ignore[union-attr]
    for _ in range(50):
        graph.spin_once(0.002)  # what it has sent
    assert not np.any(rig.commands.last.data)


def test_limits_hold_at_the_end(graph: Graph, processes: Processes) -> None:
    """A joint that may get 2 N m gets no more, though gravity's command is 6."""
    arm = Arm(Rig(graph, processes))
    arm.rig.start(joint_limits__joint_2__max_effort=2.0)
    arm.until(lambda: arm.rig.said("holding: no reference"), "the node")
    arm.silent = True
    arm.rig.process.signal(signal.SIGINT)  # type: ignore[union-attr]
    arm.until(lambda: not arm.rig.process.running, "its end")  # type: ignore[union-attr]
    assert abs(gd.gravity_forces(elbow(), POSTURE)[1]) > 3.0
    sent = np.array([message.data for message in arm.rig.commands.messages])
    assert np.abs(sent[:, 1]).max() <= 2.0


def test_a_stall_of_the_process(graph: Graph, processes: Processes) -> None:
    """Stopped for longer than the time-out: found, whichever event comes first afterwards."""
    arm = Arm(Rig(graph, processes))
    rig = arm.rig
    rig.start(safety__state_timeout=0.2)
    arm.until(lambda: rig.said("holding: no reference"), "the node")
    for _ in range(4):
        since = rig.log_length
        rig.go([(30.0, GOAL, [0.0] * 3, [0.0] * 3)])
        arm.until(lambda s=since: "running" in rig.process.output[s:], "its motion")
        since, begin = rig.log_length, time.monotonic()
        rig.process.signal(signal.SIGSTOP)
        rig.process.ending = False
        arm.until(lambda t=begin: time.monotonic() > t + 0.5, "the stall")
        rig.process.signal(signal.SIGCONT)
        rig.process.ending = False
        arm.until(lambda s=since: "stale state" in rig.process.output[s:], "the event")
    within_rates(arm)


def test_two_drivers_on_one_topic(graph: Graph, processes: Processes) -> None:
    """Half a radian apart: not bang-bang between the limits, but named and held."""
    from feedforward_rig import JOINTS, joint_state

    arm = Arm(Rig(graph, processes))
    rig = arm.rig
    rig.start(mode="computed_torque", bandwidth=20.0)
    arm.until(lambda: rig.said("holding: no reference"), "the node")
    rig.go([(30.0, POSTURE, [0.0] * 3, [0.0] * 3)])
    arm.until(lambda: arm.running, "its motion")
    seen, since = rig.commands.count, rig.log_length
    other = [POSTURE[0] + 0.5, *POSTURE[1:]]

    def named() -> bool:
        rig.states.publish(joint_state(JOINTS, other, stamp=time.time_ns()))
        return "open_loop: impossible state" in rig.process.output[since:]

    arm.until(named, "the event")
    arm.until(lambda: named() and rig.commands.count > seen + 100, "commands")
    fresh = [message.data for message in list(rig.commands.messages)[seen:]]
    off = np.abs(np.array(fresh) - gd.gravity_forces(elbow(), POSTURE)).max()
    assert off < 5.0, "no feedback of two postures"
    since = rig.log_length
    rig.go([(1.0, POSTURE)])
    arm.until(lambda: named() or "trajectory refused" in rig.process.output[since:], "a refusal")


def test_a_speed_of_1e300(graph: Graph, processes: Processes) -> None:
    from feedforward_rig import JOINTS, joint_state

    arm = Arm(Rig(graph, processes))
    rig = arm.rig
    rig.start()
    arm.until(lambda: rig.said("holding: no reference"), "the node")
    rig.go([(30.0, POSTURE, [0.0] * 3, [0.0] * 3)])
    arm.until(lambda: arm.running, "its motion")
    wild = joint_state(JOINTS, POSTURE, [0.0, 1e300, 0.0], stamp=time.time_ns())
    rig.states.publish(wild)
    arm.until(lambda: rig.said("impossible state"), "the event")
    since = rig.log_length
    arm.until(lambda: "holding" in rig.process.output[since:], "the hold afterwards")
