"""Braking before the end: ways to rest on simulated arms, with joint states and without."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import geared_dynamics as gd
from long_cases import cases

control, S = gd.control, gd.control.safety
DT, EXIT = 1e-3, 0.5
START, GOAL = [0.0, -0.5, 0.4], [1.6, 0.6, 2.0]


class Stop(NamedTuple):
    """How an arm came to rest: way of the farthest joint, fastest speeds, length [s], events."""

    way: float
    before: float
    after: float
    seconds: float
    command: np.ndarray
    q: np.ndarray


@pytest.fixture(scope="module")
def plant(root) -> gd.GearedModel:
    friction = {"friction": {"viscous": 2.0}}
    drives = {"version": 1, "joints": {f"joint_{k}": friction for k in (1, 2, 3)}}
    return gd.load_model(root / "urdf/elbow.urdf", drives)


def stopped(
    plant: gd.GearedModel, law: str = "feedforward", *, seen: bool = True, every: int = 1,
    leaving: str = "gravity", made: Any = None, zero: bool = False, leave_at: float = EXIT,
    late: float = 0.0, **options: Any,
) -> Stop:  # fmt: skip
    """Leave an arm in the midst of a fast motion; without states it goes on by the model.

    ``late``: how long nothing is sent before that; without states the last one is as old.
    """
    gains = control.gains_from_bandwidth(10.0) if law == "computed_torque" else None
    made = made or control.controller(plant, law, gains=gains)
    policy = S.default_policy(plant, **({"lower": -np.inf, "upper": np.inf} | options))
    motion = gd.trajectory.rest_to_rest(START, GOAL, 1.0, continuous=2)
    paths = motion.derivatives(DT * np.arange(5000), 2)
    q, v, now, stamp = np.array(START), np.zeros(3), 0.0, 0.0
    law_memory, memory, tau = made.start(), S.START, np.zeros(3)
    message, before, begin = (q, v), 0.0, q
    most, rate = np.array(policy.command), np.array(policy.command_rate)
    for k in range(1, 5000):
        now += DT
        leave, quiet = now > leave_at + late, now > leave_at
        if leave and not before:
            before, begin = float(np.abs(v).max()), q
        if leave >= quiet and (k % every == 0 or (leave and k % 5 == 0)):
            path, wanted = paths[k], None
            if k % every == 0 and (seen or not quiet):
                stamp, message = now, (q, v)
                law_memory, out = made.step(
                    law_memory, gd.State(q, v), control.Reference(*path), DT * every
                )
                wanted = out.command
            heard, q_d = (None, None) if leave else (now, path[0])
            facts = S.Observation(now, stamp, *message, heard, q_d, now,
                                  emergency_stop=zero and leave,
                                  leaving=leaving if leave else None)  # fmt: skip
            sent, last = memory.recent.sent, memory.recent.now
            memory, found = S.step(policy, memory, facts, None if leave else wanted,
                                   made.hold, made.open_loop, made.brake)  # fmt: skip
            tau = found.command
            assert (np.abs(tau) <= most).all()
            if sent is not None:
                assert (np.abs(tau - sent) <= rate * (now - last) + 1e-9).all()
            if leave and S.finished(policy, memory, found.found):
                break
        force = tau - gd.friction_forces(plant, v)
        v = v + DT * gd.forward_dynamics(plant, q, v, force)
        q = q + DT * v
    way = float(np.abs(q - begin).max())
    return Stop(way, before, float(np.abs(v).max()), now - leave_at - late, tau, q)


@pytest.mark.parametrize("law", ["feedforward", "computed_torque"])
@pytest.mark.parametrize("every", [1, 5, 10, 20])
def test_with_joint_states(plant, law: str, every: int) -> None:
    found = stopped(plant, law, every=every)
    assert found.before > 2.5
    assert found.way < 0.13 * found.before
    assert found.after < 5e-3
    assert found.seconds < 1.0
    np.testing.assert_allclose(found.command, gd.gravity_forces(plant, found.q), atol=0.05)


@pytest.mark.parametrize("law", ["feedforward", "computed_torque"])
@pytest.mark.parametrize("every", [1, 10])
def test_without_joint_states(plant, law: str, every: int) -> None:
    found = stopped(plant, law, every=every, seen=False)
    assert found.way < 0.14 * found.before
    assert found.after < 0.03 * found.before
    assert found.seconds < 1.0


@pytest.mark.parametrize("leave_at", [0.2, 0.3, 0.7, 0.8])
@pytest.mark.parametrize("late", cases([0.01, 0.04, 0.1], [0.025, 0.06]))
def test_what_was_sent_last_goes_on_until_braking_begins(
    plant, leave_at: float, late: float
) -> None:
    """It accelerates the arm, or brakes it, between the last joint state and the first command.

    Before the time-out of joint states, and after it.
    """
    found = stopped(plant, seen=False, leave_at=leave_at, late=late)
    assert found.before > 0.5
    assert found.after < 0.05 * found.before


def test_coasting_would_show(plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: gravity alone."""
    monkeypatch.setattr(control.RigidController, "decelerate", lambda self, q, *_: self.hold(q))
    found = stopped(plant)
    assert found.way > 0.3 * found.before


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("limit", [60.0, 40.0, 30.0])
def test_limits_make_the_way_longer(plant, limit: float, seen: bool) -> None:
    """As hard as they allow; that they hold is asserted in each cycle."""
    found = stopped(plant, command=limit, seen=seen)
    assert found.way < 0.16 * found.before
    assert found.seconds < 2.0


@pytest.mark.parametrize("rate", [1000.0, 500.0, 200.0])
def test_so_do_rates(plant, rate: float) -> None:
    found = stopped(plant, command_rate=rate)
    assert found.way < 0.2 * found.before
    assert found.after < 5e-3


def test_zero_is_left_where_wanted_and_stays(plant) -> None:
    found = stopped(plant, leaving="zero")
    assert not found.command.any()
    assert found.way < 0.13 * found.before
    found = stopped(plant, zero=True, on_emergency_stop="zero", ramp_time=0.1)
    assert not found.command.any()


@pytest.mark.parametrize("side", ["motor_torque", "motor_current", "motor_voltage"])
def test_motor_commands_are_those_of_the_joint_forces(root, side: str) -> None:
    """Each side's command of a deceleration moves the arm as its joint torque does."""
    from driven_arms import driven_arm, state

    model = driven_arm(3)
    q, v, a = state(model, 5)
    joint = control.controller(model).brake.command(q, v, a, v)
    found = control.controller(model, command_type=side).brake.command(q, v, a, v)
    exact = getattr(gd.motor_commands(model, q, v, a), side.removeprefix("motor_"))
    np.testing.assert_allclose(found, exact, rtol=1e-6)
    rubbing = gd.friction_forces(model, v, q, gd.inverse_dynamics(model, q, v, a))
    np.testing.assert_allclose(joint, gd.inverse_dynamics(model, q, v, a) + rubbing, rtol=1e-6)


@pytest.mark.parametrize("feedback", ["motor", "joint"])
def test_elastic_arms(feedback: str) -> None:
    """The motors' torque of the stop; only what the motors do is fed back."""
    from elastic_arms import elbow

    arm = elbow(damping=1.0)
    made = control.elastic_controller(arm, "flatness", feedback=feedback)
    assert made.brake.closed is (feedback == "motor")
    q, v, a = np.array([0.3, 0.5, -0.4]), np.array([1.0, -0.5, 0.2]), np.array([-5.0, 2.5, -1.0])
    rows = np.zeros((made.derivatives_needed + 1, 3))
    rows[:3] = q, v, a
    exact = gd.elastic.motor_commands(arm, rows, "expanded").torque
    np.testing.assert_allclose(made.brake.command(q, v, a, v), exact, rtol=1e-9)
    np.testing.assert_allclose(made.open_loop(q, v, a), exact, rtol=1e-9)
    still = made.hold(q, None, None)
    none = np.zeros(3)
    np.testing.assert_allclose(made.brake.command(q, none, none, none), still, atol=1e-6)
