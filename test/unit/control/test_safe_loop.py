"""Law, safety and a simulated arm together: what the reactions do to an arm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd

control, S = gd.control, gd.control.safety
DT = 1e-3
START, GOAL = [0.0, -0.5, 0.4], [0.8, 0.3, 1.2]


@pytest.fixture(scope="module")
def plant(root) -> gd.GearedModel:
    friction = {"friction": {"viscous": 2.0}}
    drives = {"version": 1, "joints": {f"joint_{k}": friction for k in (1, 2, 3)}}
    return gd.load_model(root / "urdf/elbow.urdf", drives)


class Loop:
    """The elbow in a rest-to-rest motion of a second."""

    def __init__(self, plant: gd.GearedModel, *, brakes: bool = True, **options: Any) -> None:
        self.brakes = brakes
        gains = control.gains_from_bandwidth(20.0)
        self.plant, self.made = plant, control.controller(plant, "computed_torque", gains=gains)
        given = {"lower": -np.inf, "upper": np.inf, "command_rate": 5000.0, "tracking": 0.2}
        self.policy = S.default_policy(plant, **(given | options))
        self.motion = gd.trajectory.rest_to_rest(START, GOAL, 1.0, continuous=2)
        self.q, self.v, self.now = np.array(START), np.zeros(3), 0.0
        self.memory, self.safety, self.stamp = self.made.start(), S.START, 0.0
        self.message = (self.q, self.v)
        self.decision: Any = None

    def run(self, seconds: float, *, seen: bool = True, **facts: Any) -> Any:
        for _ in range(round(seconds / DT)):
            self.now += DT
            path = self.motion.derivatives(min(self.now, 1.0), 2)
            wanted = None
            if seen:
                self.stamp, self.message = self.now, (self.q, self.v)
                state, reference = gd.State(self.q, self.v), control.Reference(*path)
                self.memory, out = self.made.step(self.memory, state, reference, DT)
                wanted = out.command
            observed = S.Observation(
                self.now, self.stamp, *self.message, self.now, path[0], self.now, **facts
            )
            self.safety, self.decision = S.step(
                self.policy,
                self.safety,
                observed,
                wanted,
                self.made.hold,
                self.made.open_loop if self.brakes else None,
            )
            tau = self.decision.command - gd.friction_forces(self.plant, self.v)
            self.v = self.v + DT * gd.forward_dynamics(self.plant, self.q, self.v, tau)
            self.q = self.q + DT * self.v
        return self.decision


def test_a_held_arm_does_not_fall_when_joint_states_stop(plant) -> None:
    loop = Loop(plant)
    loop.run(1.5)
    assert np.abs(loop.q - GOAL).max() < 1e-3
    before = loop.q
    loop.run(3.0, seen=False)
    assert loop.decision.mode is S.Mode.OPEN_LOOP
    # Nothing but viscous friction, and a posture that gravity drives away from.
    assert np.abs(loop.q - before).max() < 2e-2
    falls = Loop(plant, open_loop_end="zero", open_loop_time=0.0, ramp_time=0.1)
    falls.run(1.5)
    falls.run(3.0, seen=False)
    assert np.abs(falls.q - before).max() > 0.3  # what zero torque does


def test_an_arm_in_motion_is_braked_without_joint_states_and_held_after(plant) -> None:
    ways = []
    for brakes in (True, False):
        loop = Loop(plant, brakes=brakes)
        loop.run(0.5)
        where = loop.q
        assert np.abs(loop.v).max() > 1.0
        loop.run(0.4, seen=False)
        ways.append((np.abs(loop.q - where).max(), np.abs(loop.v).max()))
        loop.run(1.0)
        assert loop.decision.mode is S.Mode.HOLDING  # too far from its reference to go on
        assert S.Event.RESUME_ERROR in loop.decision.events
        assert np.abs(loop.v).max() < 1e-3
    # 1.5 rad/s for 0.05 s and then to rest in 0.2 s are 0.23 rad.
    assert ways[0][0] < 0.25 < 0.5 < ways[1][0]
    assert ways[0][1] < 0.05 < 1.0 < ways[1][1]


def test_what_brakes_is_the_model_and_an_arm_at_rest_gets_gravity(plant) -> None:
    loop = Loop(plant)
    loop.run(0.5)
    loop.run(0.101, seen=False)
    t, length = loop.now - loop.safety.phase.since, loop.policy.open_loop_time
    start = (
        loop.safety.recent.q
        + (loop.safety.phase.since - loop.safety.recent.stamp) * loop.safety.recent.v
    )
    v = loop.safety.recent.v
    where = start + v * (t - 0.5 * t * t / length)
    wanted = loop.made.open_loop(where, v * (1 - t / length), -v / length)
    assert loop.decision.mode is S.Mode.OPEN_LOOP
    np.testing.assert_allclose(loop.decision.command, wanted, rtol=1e-9)
    loop.run(0.3, seen=False)
    rest = gd.gravity_forces(plant, start + 0.5 * length * v)
    np.testing.assert_allclose(loop.decision.command, rest, rtol=1e-9, atol=1e-9)


# Way to rest over speed [s]: a hold brakes with K_v = 40 /s, a fade goes on for 0.5 s.
@pytest.mark.parametrize(("reaction", "longest"), [("hold", 0.06), ("ramp_to_gravity", 0.5)])
def test_a_stop_in_the_midst_of_a_motion_brings_the_arm_to_rest(
    plant, reaction: str, longest: float
) -> None:
    loop = Loop(plant, on_emergency_stop=reaction)
    loop.run(0.5)
    where, fast = loop.q, np.abs(loop.v).max()
    assert fast > 1.0
    loop.run(2.0, emergency_stop=True)
    assert np.abs(loop.v).max() < 1e-2
    way = np.abs(loop.q - where).max()
    assert way < longest * fast
    rest = loop.q
    loop.run(1.0, emergency_stop=True)
    assert np.abs(loop.q - rest).max() < 1e-2


def test_a_short_gap_costs_nothing(plant) -> None:
    """Thirty milliseconds without a state in the midst of a motion: it goes on."""
    loop = Loop(plant)
    loop.run(0.5)
    loop.run(0.03, seen=False)
    assert loop.run(0.001).running
    loop.run(1.0)
    assert loop.decision.running
    assert np.abs(loop.q - GOAL).max() < 1e-3
