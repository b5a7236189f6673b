"""The safety step at its edges: starts, times, limits by one digit, bits of the events."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety import commands
from geared_dynamics.control.safety import memory as event
from geared_dynamics.errors import ArrayError
from safety_rig import GRAVITY, Rig, policy, running

S = gd.control.safety
Event, Mode = S.Event, S.Mode


# -- events --------------------------------------------------------------------------------------


def test_every_event_has_a_bit_of_its_own() -> None:
    """Logs and recordings hold these numbers: none may change, none be shared."""
    names = """STALE_STATE STALE_REFERENCE NO_REFERENCE BAD_STATE BAD_COMMAND POSITION_LIMIT
        VELOCITY_LIMIT TRACKING_ERROR NAMES_MISSING TIME_JUMP COMPUTATION EMERGENCY_STOP
        NAMES_REORDERED POSITION_NEAR VELOCITY_NEAR COMMAND_LIMIT COMMAND_RATE
        RESUME_ERROR IMPOSSIBLE_STATE ENDING""".split()
    assert {name: int(Event[name]) for name in names} == {
        name: 1 << bit for bit, name in enumerate(names)
    }
    aliases = [name for name, member in Event.__members__.items() if member.name != name]
    assert aliases == []
    assert {name: getattr(event, name) for name in names} == {
        name: int(Event[name]) for name in names
    }
    assert len(Event.__members__) - ("NONE" in Event.__members__) >= len(names)


def test_which_events_stop_latch_and_pass() -> None:
    told = "BAD_STATE NAMES_MISSING NAMES_REORDERED POSITION_NEAR VELOCITY_NEAR COMMAND_LIMIT"
    told += " COMMAND_RATE RESUME_ERROR"
    idle = Event.STALE_REFERENCE | Event.NO_REFERENCE
    for name in told.split():
        assert not event.STOPPING & Event[name], name
    assert event.LATCHING == event.STOPPING & ~(idle | Event.STALE_STATE | Event.ENDING)
    for name in ("STALE_STATE", "IMPOSSIBLE_STATE", "ENDING"):
        assert event.STOPPING & Event[name], name
    assert idle == event.IDLE


def test_numbers_of_the_modes_stay() -> None:
    names = "WAITING RUNNING HOLDING RAMPING_TO_GRAVITY OPEN_LOOP RAMPING_TO_ZERO BRAKING".split()
    assert {mode.name: mode.value for mode in Mode} == {n: k for k, n in enumerate(names)}


# -- the start -----------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_arm_that_starts_beyond_a_limit_waits_for_a_reset(side: float) -> None:
    """Although the reference leads back: it was not looked at yet."""
    rig = Rig(policy())
    rig.q = np.array([side * 2.1, 0.4])
    rig.q_d = rig.q - np.array([side * 0.05, 0.0])
    found = rig.cycle()
    assert Event.POSITION_LIMIT in found.events
    assert found.mode is Mode.HOLDING
    rig.run(0.3)
    assert not rig.decision.running
    rig.cycle(acknowledged=True)
    rig.run(0.3)
    assert rig.decision.running


def test_start_remembers_nothing() -> None:
    nothing = (None,) * 8
    phase = (Mode.WAITING, 0.0, None, False, None, None, False, None, None)
    assert S.START == (nothing, phase, (0, 0, None, False), (None, 0.0))


@pytest.mark.parametrize("now", [math.nan, math.inf, -math.inf])
def test_a_time_that_is_not_finite_is_refused(now: float) -> None:
    rig = running()
    with pytest.raises(ArrayError, match=r"observation.now: is (nan|-?inf); give a finite time"):
        rig.cycle(now=now)
    assert rig.cycle().running  # the memory was left alone


# -- without joint states ------------------------------------------------------------------------


def blind_stop(v: Any, **options: Any) -> tuple[list[tuple[Any, Any, Any]], Rig, float]:
    """What ``nominal`` is asked for in a blind stop, the rig, and when the last state came."""
    rig = running(command=(1e3, 1e3), command_rate=(math.inf, math.inf), **options)
    rig.v = np.array(v)
    rig.cycle()
    stamp = rig.now
    asked: list[tuple[Any, Any, Any]] = []

    def nominal(q: Any, w: Any, a: Any) -> Any:
        asked.append((rig.now, q.copy(), w.copy(), a.copy()))
        return 7.0 * q + 3.0 * w + a

    for _ in range(400):
        rig.now += 0.001
        seen = S.Observation(
            now=rig.now, state_stamp=stamp, q=rig.q, v=rig.v, reference_stamp=rig.now,
            q_d=rig.q_d, clock=rig.now,
        )  # fmt: skip
        rig.memory, rig.decision = S.step(
            rig.policy, rig.memory, seen, None, rig.fallback, nominal
        )
    return asked, rig, stamp


def test_a_blind_stop_begins_where_the_arm_must_be() -> None:
    """q0 = q + v (since - stamp), then q0 + v t - v t^2 / (2 T): position, speed, deceleration."""
    v, length = np.array([0.8, -0.5]), 0.2
    asked, rig, stamp = blind_stop(v, open_loop_time=length, tracking=(math.inf, math.inf))
    begin = asked[0][0]
    assert begin - stamp == pytest.approx(rig.policy.state_timeout, abs=2e-3)
    start = rig.q + v * (begin - stamp)
    assert np.abs(start - rig.q).max() > 0.03  # a stale start would be seen
    for now, q, w, a in asked:
        t = now - begin
        np.testing.assert_allclose(q, start + v * t - v * t * t / (2 * length), atol=1e-12)
        np.testing.assert_allclose(w, v * (1 - t / length), atol=1e-12)
        np.testing.assert_allclose(a, -v / length, atol=1e-12)
    assert asked[-1][0] - begin == pytest.approx(length, abs=2e-3)
    # Then gravity where it came to rest, which is half the way that it would have gone.
    posture, q, w = rig.calls[-1]
    assert (q, w) == (None, None)
    np.testing.assert_allclose(posture, start + 0.5 * length * v, atol=1e-12)
    np.testing.assert_array_equal(rig.decision.command, GRAVITY)


def test_an_arm_at_rest_is_not_braked_blindly() -> None:
    asked, rig, _ = blind_stop([0.01, -0.02])  # not above hold_velocity
    assert asked == []
    assert rig.decision.mode is Mode.OPEN_LOOP
    np.testing.assert_array_equal(rig.calls[-1][0], rig.q)
    np.testing.assert_array_equal(rig.decision.command, GRAVITY)


def test_no_time_for_a_blind_stop_is_gravity_at_once() -> None:
    asked, rig, _ = blind_stop([0.8, -0.5], open_loop_time=0.0)
    assert asked == []
    np.testing.assert_array_equal(rig.decision.command, GRAVITY)


# -- holding -------------------------------------------------------------------------------------


def test_gravity_is_known_from_the_first_cycle_on_a_clock_that_begins_at_zero() -> None:
    rig = Rig(policy())
    rig.now = 0.0
    rig.cycle()
    assert rig.decision.running
    np.testing.assert_array_equal(rig.memory.gravity.command, GRAVITY)


def test_gravity_is_computed_again_just_when_it_is_due() -> None:
    """At the bound itself too, by the quick look and by the complete one."""
    for late, at in ((commands.REFRESH, commands.REFRESH), (math.nextafter(0.02, 0.0), 0.0)):
        rig = Rig(policy())
        rig.now = 0.0
        rig.cycle(0.0)
        rig.cycle(late)
        assert rig.decision.running
        assert rig.memory.gravity.refreshed == at


def test_an_arm_recovers_just_when_its_time_is_over() -> None:
    rig, step = Rig(policy(recovery_time=0.125)), 2.0**-10  # sums without rounding
    rig.now = 0.0
    for _ in range(50):
        rig.cycle(step)
    assert rig.decision.running
    assert rig.cycle(step, failed=True).mode is Mode.HOLDING
    ran = [rig.cycle(step, acknowledged=True).running for _ in range(130)]
    assert ran == 128 * [False] + 2 * [True]


def test_an_arm_just_as_slow_as_it_may_be_is_at_rest() -> None:
    rig = running(hold_velocity=0.02)
    rig.v = np.array([-0.02, 0.01])
    rig.cycle(failed=True)
    rig.run(0.05)
    assert rig.memory.phase.settled
    rig = running(hold_velocity=0.02)
    rig.v = np.array([-0.020001, 0.01])
    rig.cycle(failed=True)
    rig.run(0.05)
    assert not rig.memory.phase.settled


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_arm_that_was_led_back_is_stopped_when_it_goes_beyond_again(side: float) -> None:
    """Back is: within the tolerance of its range, on either side. 2.02 is not stopped."""
    rig = running(at=[side * 2.0, 0.4])
    rig.q = np.array([side * 2.1, 0.4])
    rig.q_d = rig.q - np.array([side * 0.05, 0.0])
    rig.cycle()
    rig.cycle(acknowledged=True)
    rig.run(0.3)
    assert (rig.decision.mode, rig.memory.phase.returning) == (Mode.RUNNING, True)
    rig.q_d = np.array([side * 1.97, 0.4])
    for where, returning in ((2.021, True), (2.01, False)):
        rig.q = np.array([side * where, 0.4])
        rig.cycle()
        assert (rig.decision.mode, rig.memory.phase.returning) == (Mode.RUNNING, returning)
    rig.q = np.array([side * 2.1, 0.4])
    found = rig.cycle()  # the reference leads back still, but this is another excursion
    assert (found.mode, bool(found.events & Event.POSITION_LIMIT)) == (Mode.HOLDING, True)


def test_a_fallback_that_fails_in_a_stop_is_told_and_latched() -> None:
    rig = running()
    rig.cycle(emergency_stop=True)
    assert not rig.decision.events & Event.COMPUTATION
    rig.broken = True
    found = rig.cycle(emergency_stop=True)
    assert found.found & Event.COMPUTATION
    assert found.latched & Event.COMPUTATION
    assert isinstance(found.error, gd.GearedDynamicsError)
    rig.run(0.1, emergency_stop=True)
    np.testing.assert_array_equal(rig.decision.command, GRAVITY)


def test_a_fade_ends_at_its_target_to_the_last_digit() -> None:
    origin, target = np.array([1e16, -3.0]), np.array([1.0, 0.1])
    np.testing.assert_array_equal(commands.faded(origin, target, 1.0), target)
    np.testing.assert_array_equal(commands.faded(None, target, 0.3), target)
    np.testing.assert_allclose(commands.faded(np.zeros(2), target, 0.25), 0.25 * target)


SIZES = {
    "command_rate": (1.0,),
    "tracking": (1.0, 1.0, 1.0),
    "continuous": (True,),
    "upper": (2.0,),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_policy_needs_a_number_for_each(name: str) -> None:
    entries = f"has {len(SIZES[name])} entries; give 2"
    with pytest.raises(ArrayError, match=f"policy.{name}: {entries}"):
        policy(**{name: SIZES[name]})


# -- found by other seeds ------------------------------------------------------------------------


def test_a_stop_pressed_before_the_first_state_counts() -> None:
    rig = Rig(policy())
    first = rig.cycle(fresh=False)
    assert (first.found, first.latched, first.mode) == (0, 0, Mode.WAITING)
    pressed = rig.cycle(fresh=False, emergency_stop=True)
    assert (pressed.command, pressed.mode) == (None, Mode.WAITING)
    assert pressed.found == pressed.latched == Event.EMERGENCY_STOP
    rig.run(0.3)  # released; states come
    assert rig.decision.mode is Mode.HOLDING
    assert rig.decision.latched == Event.EMERGENCY_STOP
    rig.cycle(acknowledged=True)
    rig.run(0.2)
    assert rig.decision.running


@pytest.mark.parametrize(
    ("facts", "one"),
    [
        ({"q_d": np.array([0.25, 0.0])}, Event.TRACKING_ERROR),
        ({"q": np.array([2.25, 0.0]), "q_d": np.array([2.25, 0.0])}, Event.POSITION_LIMIT),
        ({"q": np.array([-2.25, 0.0]), "q_d": np.array([-2.25, 0.0])}, Event.POSITION_LIMIT),
        ({"v": np.array([0.0, -5.0])}, Event.VELOCITY_LIMIT),
    ],
)
def test_what_is_just_allowed_is_no_event(facts: dict[str, Any], one: S.Event) -> None:
    """Thresholds that numbers hit exactly; one digit more is beyond."""
    rig = running(
        at=0.98 * facts.get("q", np.zeros(2)),
        tracking=(0.25, 0.25),
        position_tolerance=0.25,
        velocity=(4.0, 4.0),
        velocity_tolerance=0.25,
    )
    found = rig.cycle(**facts)
    assert (found.mode, found.events & one) == (Mode.RUNNING, 0)
    more = {name: np.nextafter(value, 10.0 * value) for name, value in facts.items()}
    found = rig.cycle(**more)
    assert (found.mode, found.events & event.STOPPING) == (Mode.HOLDING, one)


@pytest.mark.parametrize("bad", [np.zeros(3), np.array([np.nan, 0.0]), np.zeros((1, 2))])
def test_a_fallback_that_gives_no_command_is_not_sent(
    bad: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = running()
    monkeypatch.setattr(rig, "fallback", lambda *_: bad)
    rig.cycle(emergency_stop=True)
    found = rig.run(0.2, emergency_stop=True)
    assert found.found & Event.COMPUTATION
    assert isinstance(found.error, ArrayError)
    assert str(found.error).startswith("fallback: gives ")
    np.testing.assert_array_equal(found.command, GRAVITY)


def test_running_again_fades_in_from_what_was_held() -> None:
    rig = running(resume_time=0.2, command_rate=(math.inf, math.inf))
    rig.run(0.3, fresh=False)
    while not rig.cycle().running:
        assert rig.now < 20.0
    begin, wanted = rig.now, rig.wanted
    assert wanted is not None
    for _ in range(250):
        part = min((rig.now - begin) / 0.2, 1.0)
        expected = GRAVITY + part * (wanted - GRAVITY)
        np.testing.assert_allclose(rig.decision.command, expected, atol=1e-9)
        rig.cycle()
    np.testing.assert_array_equal(rig.decision.command, wanted)


ENDLESS = """<robot name="r"><link name="l0"/>{}</robot>"""
JOINT = (
    '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
    ' iyz="0"/></inertial></link><joint name="j{0}" type="{1}"><parent link="l{2}"/>'
    '<child link="l{0}"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1.5" effort="7" velocity="3"/></joint>'
)


def test_joints_that_turn_endlessly_have_no_range_in_a_preset() -> None:
    """Whatever the URDF says of them; the others keep theirs, and the user has the last word."""
    text = ENDLESS.format(JOINT.format(1, "revolute", 0) + JOINT.format(2, "continuous", 1))
    model = gd.load_model(text)
    found = S.default_policy(model)
    assert found.continuous == (False, True)
    assert (found.lower, found.upper) == ((-1.0, -math.inf), (1.5, math.inf))
    assert (found.velocity, found.command) == ((3.0, 3.0), (7.0, 7.0))
    found = S.default_policy(model, lower=-0.5, upper=[0.5, 0.7])
    assert (found.lower, found.upper) == ((-0.5, -0.5), (0.5, 0.7))


@pytest.mark.parametrize("name", ["rows", "severity", "tracked", "packed", "continuous", "speed"])
def test_only_options_of_a_policy_are_options_of_a_preset(name: str) -> None:
    model = gd.load_model(ENDLESS.format(JOINT.format(1, "revolute", 0)))
    with pytest.raises(gd.errors.UnknownNameError) as caught:
        S.default_policy(model, **{name: ()})
    assert name not in caught.value.remedy.partition("valid: ")[2].split(", ")


def test_only_an_arm_that_was_beyond_a_limit_is_led_back() -> None:
    """After another stop, an excursion with a reference that leads back stops the arm."""
    rig = running(at=[2.0, 0.4])
    rig.cycle(emergency_stop=True)
    rig.cycle(acknowledged=True)
    rig.run(0.3)
    assert (rig.decision.mode, rig.memory.phase.returning) == (Mode.RUNNING, False)
    rig.q = np.array([2.1, 0.4])
    rig.q_d = rig.q - np.array([0.05, 0.0])
    assert Event.POSITION_LIMIT in rig.cycle().events
    assert rig.decision.mode is Mode.HOLDING


def test_an_arm_that_runs_untracked_is_not_told_of_its_distance() -> None:
    rig = running(at=[1.9, 0.4], tracking=(math.inf, math.inf))
    rig.q_d = rig.q + np.array([0.5, 0.0])
    rig.q = np.array([1.99, 0.4])  # so near a limit that all is looked at
    assert rig.cycle().events == Event.POSITION_NEAR


def test_without_a_model_the_error_says_so() -> None:
    rig = running()
    rig.model = False
    found = rig.cycle(emergency_stop=True)
    assert isinstance(found.error, gd.errors.ModelError)
    assert found.error.finding == "no model is loaded, so no holding command can be computed"


def test_only_what_is_near_its_limit_is_told() -> None:
    rig = running()
    assert rig.cycle(v=np.array([2.8, 0.0])).events == Event.VELOCITY_NEAR
    rig = running(at=[1.96, 0.4])
    assert rig.cycle().events == Event.POSITION_NEAR


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_what_is_just_not_near_is_not_told_beside_what_is(side: float) -> None:
    """Bounds that numbers hit exactly, while another joint has all of them looked at."""
    options: dict[str, Any] = {"position_margin": 0.25, "velocity_near": 0.5}
    rig = running(at=[side * 1.75, 0.4], **options)
    assert rig.cycle(v=np.array([0.0, 2.5])).events == Event.VELOCITY_NEAR
    rig = running(at=[side * 1.875, 0.4], **options)
    assert rig.cycle(v=np.array([0.0, side * 2.0])).events == Event.POSITION_NEAR
