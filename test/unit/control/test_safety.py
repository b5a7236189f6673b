"""Every row of the table in docs/safety.md: detection, reaction, end."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm
from safety_rig import GRAVITY, LIMIT, RATE, Rig, policy, running

S = gd.control.safety
Event, Mode = S.Event, S.Mode
NAN = np.array([np.nan, 0.0])
# What breaks one cycle, the event, the option that says the reaction.
LATCHED = {
    "bad command": ({"wanted": NAN}, Event.BAD_COMMAND, "on_bad_command"),
    "wrong size": ({"wanted": np.zeros(3)}, Event.BAD_COMMAND, "on_bad_command"),
    "beyond range": (
        {"q": np.array([2.1, 0.4]), "q_d": np.array([2.2, 0.4])},
        Event.POSITION_LIMIT,
        "on_position_limit",
    ),
    "too fast": ({"v": np.array([0.0, 4.5])}, Event.VELOCITY_LIMIT, "on_velocity_limit"),
    "off track": ({"q_d": np.array([0.7, 0.4])}, Event.TRACKING_ERROR, "on_tracking_error"),
    "clock back": ({"clock": 9.0}, Event.TIME_JUMP, "on_time_jump"),
    "clock forward": ({"clock": 99.0}, Event.TIME_JUMP, "on_time_jump"),
    "law raises": ({"failed": True, "wanted": None}, Event.COMPUTATION, "on_computation"),
    "stop": ({"emergency_stop": True}, Event.EMERGENCY_STOP, "on_emergency_stop"),
    "a leap": (
        {"q": np.array([0.9, 0.4]), "q_d": np.array([0.9, 0.4])},
        Event.IMPOSSIBLE_STATE,
        "on_impossible_state",
    ),
    "a speed": ({"v": np.array([0.0, 1e300])}, Event.IMPOSSIBLE_STATE, "on_impossible_state"),
}
NEAR = (1.98, 0.4)  # a limit: what lies beyond is reached in a cycle
MODES = {
    "hold": Mode.HOLDING,
    "ramp_to_gravity": Mode.RAMPING_TO_GRAVITY,
    "zero": Mode.RAMPING_TO_ZERO,
}


def test_nothing_is_sent_before_the_first_state() -> None:
    rig = Rig(policy())
    rig.cycle(fresh=False)
    assert (rig.decision.command, rig.decision.mode) == (None, Mode.WAITING)
    rig.cycle(q=NAN, v=rig.v)
    assert rig.decision.command is None
    rig.cycle(names_missing=True, q=None, v=None)
    assert rig.decision.command is None
    rig.cycle()
    np.testing.assert_array_equal(rig.decision.command, rig.wanted)


@pytest.mark.parametrize("reaction", MODES)
@pytest.mark.parametrize("case", LATCHED)
def test_latched_events(case: str, reaction: str) -> None:
    facts, event, option = LATCHED[case]
    rig = running(NEAR if case == "beyond range" else None, **{option: reaction})
    found = rig.cycle(**facts)
    assert event in found.events
    doubted = event is Event.IMPOSSIBLE_STATE and reaction != "zero"  # no feedback is possible yet
    assert found.mode is (Mode.OPEN_LOOP if doubted else MODES[reaction])
    # It is over, but waits for somebody.
    rig.run(2.0)
    assert rig.decision.mode is MODES[reaction]
    assert event in Event(rig.decision.latched)
    end = np.zeros(2) if reaction == "zero" else GRAVITY
    np.testing.assert_allclose(rig.decision.command, end, atol=1e-12)
    # Acknowledged in the midst of it: does not count.
    rig.cycle(**{**facts, "acknowledged": True, "clock": None})
    if event is not Event.TIME_JUMP:
        rig.run(0.5)
        assert not rig.decision.running
    rig.cycle(acknowledged=True)
    rig.run(0.5)
    assert rig.decision.running
    assert rig.decision.latched == 0
    np.testing.assert_allclose(rig.decision.command, rig.wanted)


def test_an_acknowledgement_does_not_outlive_the_next_event() -> None:
    rig = running()
    rig.cycle(failed=True)
    rig.cycle(acknowledged=True)
    rig.run(0.05)
    rig.cycle(failed=True)  # again, before the arm was released
    rig.run(1.0)
    assert not rig.decision.running


def test_a_reset_counts_while_there_is_no_reference() -> None:
    rig = running()
    rig.cycle(failed=True)
    rig.run(0.2, heard=False)
    assert Event.COMPUTATION in Event(rig.decision.latched)
    rig.cycle(heard=False, acknowledged=True)
    rig.run(0.2, heard=False)
    assert rig.decision.latched == 0
    assert rig.decision.mode is Mode.HOLDING
    rig.run(0.2, heard=False, emergency_stop=True, acknowledged=True)
    assert rig.decision.latched, "acknowledged while it is pressed: does not count"


def test_a_released_stop_alone_does_not_start_the_arm() -> None:
    rig = running()
    rig.run(0.1, emergency_stop=True)
    rig.run(1.0)
    assert not rig.decision.running
    rig.cycle(acknowledged=True)
    rig.run(0.2)
    assert rig.decision.running


def test_stale_state_is_gravity_at_the_last_posture() -> None:
    rig = running()
    rig.run(0.045, fresh=False, wanted=None)
    assert rig.decision.running  # within the time-out the last command stays
    np.testing.assert_array_equal(rig.decision.command, rig.wanted)
    rig.run(0.05, fresh=False, wanted=None)
    assert rig.decision.mode is Mode.OPEN_LOOP
    assert Event.STALE_STATE in rig.decision.events
    np.testing.assert_array_equal(rig.decision.command, GRAVITY)
    assert rig.calls[-1][1:] == (None, None)  # no feedback
    np.testing.assert_array_equal(rig.calls[-1][0], rig.q)
    rig.run(5.0, fresh=False, wanted=None)
    np.testing.assert_array_equal(rig.decision.command, GRAVITY)


def test_stale_state_fades_to_zero_where_that_is_configured() -> None:
    rig = running(open_loop_end="zero", open_loop_time=0.2, ramp_time=0.5)
    rig.run(0.05 + 0.19, fresh=False)
    np.testing.assert_array_equal(rig.decision.command, GRAVITY)
    rig.run(0.26, fresh=False)
    np.testing.assert_allclose(rig.decision.command, 0.5 * GRAVITY, atol=0.1)
    rig.run(0.3, fresh=False)
    assert not rig.decision.command.any()


def test_states_that_come_again_are_held_and_then_followed() -> None:
    rig = running()
    rig.run(0.3, fresh=False)
    rig.cycle()
    assert rig.decision.mode is Mode.HOLDING
    rig.run(0.05)
    assert rig.decision.mode is Mode.HOLDING  # recovery_time
    rig.run(0.06)
    assert rig.decision.running
    rig.run(0.3)
    np.testing.assert_allclose(rig.decision.command, rig.wanted)


def test_an_arm_away_from_its_reference_does_not_run_again() -> None:
    rig = running(tracking=(np.inf, np.inf))
    rig.run(0.3, fresh=False)
    rig.q_d = rig.q + np.array([0.2, 0.0])
    rig.run(1.0)
    assert rig.decision.mode is Mode.HOLDING
    assert Event.RESUME_ERROR in rig.decision.events
    rig.q_d = rig.q + np.array([0.0, 4 * np.pi])  # the second joint turns endlessly
    rig.cycle()
    assert rig.decision.running


@pytest.mark.parametrize("facts", [{"q": NAN}, {"names_missing": True, "q": None, "v": None}])
def test_a_state_that_cannot_be_used_counts_as_none(facts: dict) -> None:
    rig = running()
    found = rig.cycle(**facts, wanted=NAN, failed=True)
    assert found.running  # one bad message: the state before is in force
    np.testing.assert_array_equal(found.command, rig.wanted)
    assert found.events & (Event.BAD_STATE | Event.NAMES_MISSING)
    rig.run(0.06, **facts)
    assert rig.decision.mode is Mode.OPEN_LOOP
    rig.run(0.2)
    assert rig.decision.running


def test_reordered_names_are_told() -> None:
    rig = running()
    found = rig.cycle(names_reordered=True)
    assert found.running
    assert Event.NAMES_REORDERED in found.events


@pytest.mark.parametrize("reaction", MODES)
def test_stale_reference(reaction: str) -> None:
    rig = running(on_stale_reference=reaction)
    rig.run(0.25, heard=False)
    assert rig.decision.mode is MODES[reaction]
    assert Event.STALE_REFERENCE in rig.decision.events
    rig.cycle()
    assert rig.decision.running  # at once: nothing was wrong with the arm


def test_without_a_reference_the_arm_is_held() -> None:
    rig = Rig(policy())
    rig.run(0.1, heard=False, q_d=None)
    assert rig.decision.mode is Mode.HOLDING
    np.testing.assert_allclose(rig.decision.command, GRAVITY)
    rig.cycle()
    assert rig.decision.running


def test_a_position_of_the_reference_that_is_not_known_stops_nothing_and_starts_nothing() -> None:
    rig = running()
    assert rig.cycle(q_d=None).running
    rig.run(0.3, fresh=False)
    rig.run(0.5, q_d=None)
    assert rig.decision.mode is Mode.HOLDING
    assert rig.cycle().running


def test_near_limits_are_told() -> None:
    rig = running((1.9, 0.4))
    found = rig.cycle(q=np.array([1.99, 0.4]), v=np.array([0.0, 3.9]), q_d=np.array([1.99, 0.4]))
    assert found.running
    assert found.events == Event.POSITION_NEAR | Event.VELOCITY_NEAR


def test_beyond_a_limit_only_the_way_back_is_open() -> None:
    rig = running(NEAR)
    rig.q = np.array([2.1, 0.4])
    rig.q_d = rig.q + np.array([0.05, 0.0])
    rig.cycle()
    rig.cycle(acknowledged=True)
    rig.run(0.5)
    assert not rig.decision.running  # the reference leads outward


def test_an_arm_beyond_a_limit_is_led_back_after_a_reset() -> None:
    rig = running(NEAR)
    rig.q = np.array([2.1, 0.4])
    rig.q_d = rig.q - np.array([0.05, 0.0])
    rig.cycle()
    assert rig.decision.mode is Mode.HOLDING
    rig.run(0.3)
    assert not rig.decision.running
    rig.cycle(acknowledged=True)
    rig.run(0.3)
    assert rig.decision.running
    rig.q_d = rig.q + np.array([0.05, 0.0])
    assert rig.cycle().mode is Mode.HOLDING


def test_commands_and_their_rates_are_clamped() -> None:
    rig = running()
    rig.wanted = np.array([100.0, -100.0])
    found = rig.cycle()
    assert Event.COMMAND_RATE in found.events
    np.testing.assert_allclose(found.command, [6.0 + 0.4, -2.0 - 0.3])
    rig.run(0.2)
    np.testing.assert_allclose(rig.decision.command, LIMIT * [1, -1])
    assert Event.COMMAND_LIMIT in rig.decision.events
    slow = running(command_rate=tuple(0.1 * RATE))
    slow.wanted = np.array([100.0, -100.0])
    slow.run(1.0)
    np.testing.assert_allclose(slow.decision.command, LIMIT * [1, -1])
    slow.cycle(dt=3.0, clock=None)  # a long pause does not make a large step
    np.testing.assert_allclose(slow.decision.command, (LIMIT - 0.01 * RATE) * [1, -1])


def test_hold_brakes_first_and_stays_where_the_arm_came_to_rest() -> None:
    rig = running(command_rate=(np.inf, np.inf))
    rig.v = np.array([1.0, 0.0])
    rig.cycle(failed=True)
    np.testing.assert_allclose(rig.decision.command, GRAVITY - rig.v)  # damping, no spring
    rig.q = rig.q + 0.1
    rig.cycle()
    np.testing.assert_allclose(rig.decision.command, GRAVITY - rig.v)
    rig.v = np.zeros(2)
    rig.run(0.03)
    rig.q = rig.q + 0.1
    rig.cycle()
    np.testing.assert_allclose(rig.decision.command, GRAVITY - 1.0)  # the spring now


def test_hold_of_an_arm_that_creeps_is_settled_after_a_time() -> None:
    rig = running(settle_time=0.3)
    rig.v = np.array([0.1, 0.0])
    rig.cycle(failed=True)
    rig.run(0.35)
    assert rig.memory.phase.settled


def test_a_fallback_that_raises_leaves_gravity_as_it_was() -> None:
    rig = running()
    rig.broken = True
    rig.cycle(failed=True)
    rig.run(0.2)
    np.testing.assert_allclose(rig.decision.command, GRAVITY)
    assert isinstance(rig.decision.error, gd.GearedDynamicsError)
    assert Event.COMPUTATION in rig.decision.events


def test_a_model_that_is_lost_does_not_drop_the_arm() -> None:
    rig = running()
    rig.model = False
    rig.run(2.0, failed=True, wanted=None)
    np.testing.assert_allclose(rig.decision.command, GRAVITY)


def test_a_law_that_stops_computing_is_noticed() -> None:
    """States and references come, commands do not: the last one is not kept."""
    rig = running()
    rig.run(0.04, wanted=None)
    assert rig.decision.running
    rig.run(0.1, wanted=None)
    assert rig.decision.mode is Mode.HOLDING
    assert Event.COMPUTATION in rig.decision.events


def test_the_steady_clock_going_back_does_no_harm() -> None:
    rig = running()
    rig.cycle(dt=-5.0)
    assert rig.decision.mode is Mode.HOLDING
    assert Event.TIME_JUMP in rig.decision.events
    np.testing.assert_allclose(rig.decision.command, rig.wanted)  # no time, no change
    rig.run(0.5)
    np.testing.assert_allclose(rig.decision.command, GRAVITY)


def test_the_callers_arrays_may_change_afterwards() -> None:
    rig = running()
    rig.q[:] = np.nan
    rig.run(0.1)
    assert np.isfinite(rig.memory.recent.q).all()
    np.testing.assert_allclose(rig.decision.command, GRAVITY)


BAD = {
    "state_timeout": 0.0,
    "ramp_time": -1.0,
    "recovery_time": float("nan"),
    "velocity_near": "fast",
    "open_loop_end": "fall",
    "on_emergency_stop": "panic",
    "command": (1.0, -1.0),
    "velocity": (1.0,),
    "lower": (3.0, 0.0),
    "tracking": (0.0, 1.0),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_policies_are_refused_by_name(name: str) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=name if name != "lower" else "lower"):
        policy(**{name: BAD[name]})


def test_policy_of_a_model(root) -> None:
    model = gd.load_model(root / "urdf/elbow.urdf", root / "urdf/elbow.drivetrain.yaml")
    found = S.default_policy(model, command_rate=1000.0, on_stale_reference="ramp_to_gravity")
    assert found.command == (100.0, 90.0, 50.0)
    assert found.velocity == (4.0, 5.0, 6.0)
    assert (found.lower[0], found.upper[1]) == (-2.9, 2.6)
    assert found.command_rate == (1000.0,) * 3
    assert found.on_stale_reference == "ramp_to_gravity"


BAD_OPTIONS = {
    "side": {"command_type": "motor_power"},
    "name": {"state_time_out": 0.1},
    "text": {"command": "much"},
    "matrix": {"tracking": np.eye(3)},
    "length": {"velocity": [1.0, 2.0]},
    "reaction": {"on_tracking_error": "stop"},
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options_of_a_policy_are_refused(case: str, root) -> None:
    model = gd.load_model(root / "urdf/elbow.urdf", root / "urdf/elbow.drivetrain.yaml")
    with pytest.raises(gd.GearedDynamicsError):
        S.default_policy(model, **BAD_OPTIONS[case])


def test_limits_of_the_motors_side() -> None:
    limits = {"voltage": 48.0, "current": 15.0, "torque": 0.6}
    model = driven_arm(2, limits=limits)
    wanted = {"motor_voltage": 48.0, "motor_current": 10.0, "motor_torque": 0.6}
    for side, value in wanted.items():  # k_t is 0.06
        assert S.default_policy(model, side).command == pytest.approx((value,) * 4)
    together = np.abs(model.structure_matrix).sum(axis=1) * 0.6
    effort = model.limits.effort
    found = S.default_policy(model, "joint_torque").command
    np.testing.assert_allclose(found, np.minimum(together, effort))
