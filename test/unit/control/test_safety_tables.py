"""Numbers of docs/safety.md, and which values a policy takes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety import commands, detection
from geared_dynamics.control.safety import commands as limits
from geared_dynamics.control.safety import commands as stopping
from geared_dynamics.control.safety import memory as values
from geared_dynamics.control.safety import policy as policies
from geared_dynamics.control.safety.policy import SWING
from geared_dynamics.control.safety.step import nominal_step
from geared_dynamics.errors import ArrayError, UnknownNameError
from safety_rig import Rig, policy, running

S = gd.control.safety
INF = math.inf

DEFAULTS: dict[str, Any] = {
    "needs_reference": True,
    "state_timeout": 0.05, "reference_timeout": INF, "position_margin": 0.05,
    "position_tolerance": 0.02, "velocity_near": 0.9, "velocity_tolerance": 0.1,
    "time_jump": 1.0, "open_loop_time": 0.2, "open_loop_end": "gravity", "ramp_time": 0.5,
    "hold_velocity": 0.02, "settle_time": 1.0, "recovery_time": 0.1, "resume_time": 0.2,
    "resume_error": 0.1, "stop_time": 0.2,
}  # fmt: skip


def test_defaults_are_those_of_the_document() -> None:
    rules = S.Policy((0.0,), (1.0,), (INF,), (INF,), (INF,), (INF,), (False,))
    assert {name: getattr(rules, name) for name in DEFAULTS} == DEFAULTS


def test_constants_are_those_of_the_document() -> None:
    assert (policies.FACTOR, policies.FASTEST, policies.USUAL) == (2.0, 1000.0, 20.0)
    assert (detection.SLACK, detection.ARRIVAL) == (0.005, 0.025)
    assert (commands.REFRESH, commands.DWELL, limits.LONGEST_STEP, SWING) == (
        0.02,
        0.02,
        0.1,
        0.02,
    )
    assert (stopping.SOFT, stopping.LONGEST, stopping.LONG) == (0.1, 1.8, 0.2)
    assert (stopping.SHORT, stopping.REST * DEFAULTS["hold_velocity"]) == (0.02, 0.002)


def test_nothing_is_observed_that_is_not_said() -> None:
    seen = S.Observation(1.0, None, None, None)
    assert seen[4:] == (None, None, None, False, False, False, False, False, None, None, False)
    assert S.Decision(None, S.Mode.WAITING, 0, 0).error is None
    assert values.StateTrack(np.zeros(1), 1.0, None).doubted is None


# -- policies ------------------------------------------------------------------------------------

ABOVE_ZERO = "state_timeout reference_timeout time_jump ramp_time resume_error stop_time".split()
FROM_ZERO = """position_margin position_tolerance velocity_near velocity_tolerance open_loop_time
    hold_velocity settle_time recovery_time resume_time""".split()
NO_NUMBERS = (math.nan, -INF, True, "1.0", None)


@pytest.mark.parametrize("name", ABOVE_ZERO + FROM_ZERO)
def test_which_numbers_a_policy_takes(name: str) -> None:
    above = name in ABOVE_ZERO
    endless = name in {"reference_timeout", "time_jump", "resume_error"}
    good = [5e-324, 0.5, 3, *([] if above else [0.0, 0]), *([INF] if endless else [])]
    for value in good:
        assert getattr(policy(**{name: value}), name) == value
    remedy = "give a time above zero" if above else "give a number from zero"
    for bad in (*NO_NUMBERS, -5e-324, *([0.0] if above else []), *([] if endless else [INF])):
        with pytest.raises(ArrayError) as caught:
            policy(**{name: bad})
        assert (caught.value.place, caught.value.finding) == (f"policy.{name}", f"is {bad!r}")
        assert caught.value.remedy == remedy


@pytest.mark.parametrize("name", ["velocity", "command", "command_rate", "tracking"])
def test_limits_are_above_zero(name: str) -> None:
    assert getattr(policy(**{name: (5e-324, INF)}), name) == (5e-324, INF)
    for bad in (0.0, -1.0, math.nan):
        with pytest.raises(ArrayError, match=f"policy.{name}: is .*; give numbers above zero"):
            policy(**{name: (1.0, bad)})


def test_limits_may_meet_and_not_cross() -> None:
    assert policy(lower=(1.0, -INF), upper=(1.0, INF)).lower == (1.0, -INF)
    with pytest.raises(
        ArrayError, match=r"policy\.lower: is .*; give each lower limit below its upper one"
    ):
        policy(lower=(math.nextafter(1.0, 2.0), -INF), upper=(1.0, INF))


@pytest.mark.parametrize("name", [n for n in S.Policy.__dataclass_fields__ if n[:3] == "on_"])
def test_a_reaction_is_one_of_three(name: str) -> None:
    for good in ("hold", "ramp_to_gravity", "zero"):
        assert getattr(policy(**{name: good}), name) == good
    for bad in ("stop", None, ["hold"]):
        with pytest.raises(UnknownNameError) as caught:
            policy(**{name: bad})
        assert (caught.value.place, caught.value.finding) == (
            f"policy.{name}", f"there is no reaction {bad!r}",
        )  # fmt: skip
        assert "ramp_to_gravity" in caught.value.remedy


def test_the_end_of_a_blind_arm_is_one_of_two() -> None:
    with pytest.raises(UnknownNameError) as caught:
        policy(open_loop_end="fall")
    assert caught.value.place == "policy.open_loop_end"
    assert caught.value.finding == "there is no end 'fall'"
    assert "gravity" in caught.value.remedy


def test_policies_are_compared_and_shown_by_what_was_given() -> None:
    one, other = policy(), policy()
    assert one == other
    assert hash(one) == hash(other)
    assert one != policy(tracking=(0.3, 0.31))
    for name in ("rows", "severity", "bounds", "tracked", "packed"):
        assert f"{name}=" not in repr(one)
        with pytest.raises(TypeError, match=name):
            policy(**{name: ()})


# -- presets -------------------------------------------------------------------------------------

LINK = (
    '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
    ' iyz="0"/></inertial></link><joint name="j{0}" type="{1}"><parent link="l{2}"/>'
    '<child link="l{0}"/><axis xyz="0 0 1"/>{3}</joint>'
)


def arm(*joints: tuple[str, str]) -> gd.GearedModel:
    """A chain of joints, of a type and with a ``limit`` each."""
    parts = [LINK.format(k + 1, kind, k, limit) for k, (kind, limit) in enumerate(joints)]
    return gd.load_model(f'<robot name="r"><link name="l0"/>{"".join(parts)}</robot>')


def test_what_a_description_does_not_limit_is_not_limited() -> None:
    """Zero is how writers of URDFs say so, for effort and speed."""
    limit = '<limit lower="-1" upper="2" effort="0" velocity="0"/>'
    found = S.default_policy(arm(("continuous", ""), ("revolute", limit)))
    assert (found.lower, found.upper) == ((-INF, -1.0), (INF, 2.0))
    assert found.velocity == found.command == found.command_rate == found.tracking == (INF, INF)
    assert found.continuous == (True, False)


def test_a_command_goes_from_zero_to_its_limit_in_20_ms() -> None:
    limit = '<limit lower="-1" upper="2" effort="{}" velocity="3"/>'
    model = arm(("revolute", limit.format(8)), ("prismatic", limit.format(0)))
    assert S.default_policy(model).command_rate == (400.0, INF)
    assert S.default_policy(model, command=[6.0, 5.0]).command_rate == (300.0, 250.0)
    assert S.default_policy(model, command=6.0, command_rate=9.0).command_rate == (9.0, 9.0)


def test_what_is_no_preset_is_refused_by_name() -> None:
    model = arm(("continuous", ""))
    with pytest.raises(gd.GearedDynamicsError, match=r"^model"):
        S.default_policy("arm.urdf")  # type: ignore[arg-type]
    places = {
        "command_type": (
            {"command_type": "motor_power"},
            "command_type",
            "there is no command type 'motor_power'",
        ),
        "option": ({"time_out": 1.0}, "policy", "there is no option 'time_out'"),
        "continuous": ({"continuous": (True,)}, "policy", "there is no option 'continuous'"),
    }
    for options, place, finding in places.values():
        with pytest.raises(UnknownNameError) as caught:
            S.default_policy(model, **options)
        assert (caught.value.place, caught.value.finding) == (place, finding)
    for option, finding in (("much", "is not an array"), (np.eye(3), r"has shape \(3, 3\)")):
        with pytest.raises(ArrayError, match=f"policy.tracking: {finding}"):
            S.default_policy(model, tracking=option)


# -- what the quick look decides by itself -------------------------------------------------------

TICK = 1 / 1024


def exact(**options: Any) -> Rig:
    """An arm that runs, with times that are binary fractions."""
    times = {"state_timeout": 1 / 16, "reference_timeout": 1 / 4, "time_jump": 1 / 2,
             "resume_time": 1 / 8, "command_rate": (INF, INF)}  # fmt: skip
    rig = Rig(policy(**(times | options)))
    for _ in range(40):
        rig.cycle(TICK, sampled=rig.now)
    assert rig.decision.running
    return rig


# Facts just on their edge, each by itself: seconds after the last cycle's, or of this one.
EDGES: dict[str, dict[str, float]] = {
    "no time since the last cycle": {"now": 0.0, "stamp": TICK},
    "a state just not too old": {"now": 1 / 16 + TICK, "stamp": TICK},
    "a state just not too early, and not too late after the last": {"now": 0.0, "stamp": 1 / 16},
    "stamps just not too far apart": {"sampled": 1 / 16},
    "the same stamp": {"sampled": 0.0},
    "a clock that stands still": {"clock": 0.0},
    "a clock that just does not jump": {"clock": 1 / 2},
    "a reference just not too old": {"heard": -1 / 4},
    "a reference just not too early": {"heard": 1 / 4},
}


@pytest.mark.parametrize("case", EDGES)
@pytest.mark.parametrize("beyond", [False, True])
def test_what_is_just_right_is_decided_quickly(case: str, beyond: bool) -> None:
    """And what is just beyond is not, but for what cannot be."""
    rig, edge = exact(), EDGES[case]
    more = 2.0**-20 if beyond else 0.0
    now = rig.now + edge.get("now", TICK)
    stamp = rig.now + edge.get("stamp", now - rig.now)
    recent = rig.memory.recent
    heard, clock, sampled = now, recent.clock + TICK, recent.track.sampled + TICK
    if "stamp" in edge:
        stamp += math.copysign(more, stamp - now)
    if "sampled" in edge:
        sampled = rig.memory.recent.track.sampled + edge["sampled"] + more
    if "clock" in edge:
        clock = rig.memory.recent.clock + edge["clock"] + (more if edge["clock"] else -more)
    if "heard" in edge:
        heard = now + edge["heard"] + math.copysign(more, edge["heard"])
    seen = S.Observation(now, stamp, rig.q, rig.v, heard, rig.q_d, clock, sampled=sampled)
    quick = nominal_step(rig.policy, rig.memory, seen, rig.wanted, rig.fallback)
    harmless = case in {"no time since the last cycle", "the same stamp"}
    assert (quick is None) is (beyond and not harmless)


def test_a_faded_arm_is_decided_quickly_again() -> None:
    rig = exact()
    rig.cycle(TICK, failed=True, sampled=rig.now)
    rig.cycle(TICK, acknowledged=True, sampled=rig.now)
    while not rig.cycle(TICK, sampled=rig.now).running:
        assert rig.now < 11.0
    begin = rig.now
    while rig.now < begin + 1 / 8 - TICK:
        rig.cycle(TICK, sampled=rig.now)
    for late, slow in ((-TICK / 2, True), (0.0, False)):
        now = begin + 1 / 8 + late
        seen = S.Observation(now, now, rig.q, rig.v, now, rig.q_d, now)
        quick = nominal_step(rig.policy, rig.memory, seen, rig.wanted, rig.fallback)
        assert (quick is None) is slow


# -- single cases that chance seldom meets -------------------------------------------------------


def test_near_a_limit_too_an_unknown_reference_starts_nothing() -> None:
    """Being told that a limit is near does not answer how far the reference is."""
    rig = running((1.96, 0.4))
    rig.run(0.3, fresh=False)
    rig.run(0.5, q_d=None)
    assert S.Event.POSITION_NEAR in rig.decision.events
    assert S.Event.RESUME_ERROR in rig.decision.events
    assert rig.decision.mode is S.Mode.HOLDING
    assert rig.cycle().running


def test_the_steady_clock_may_go_back_before_there_is_a_state() -> None:
    rig = Rig(policy())
    rig.cycle(fresh=False)
    found = rig.cycle(-3.0, fresh=False)
    assert (found.command, found.mode, found.events) == (None, S.Mode.WAITING, S.Event.TIME_JUMP)
    assert rig.cycle().running


def test_a_way_that_overflows_is_impossible() -> None:
    """Of a joint that turns endlessly too."""
    rig = running()
    for sign in (1.0, -1.0):
        found = rig.cycle(q=np.array([0.3, sign * 1.5e308]))
        assert S.Event.IMPOSSIBLE_STATE in found.events


def test_states_are_in_doubt_after_an_impossible_one() -> None:
    rig = running()
    assert not detection.in_doubt(None)
    assert not detection.in_doubt(rig.memory.recent.track)
    rig.cycle(v=np.array([0.0, 9.0]))
    assert detection.in_doubt(rig.memory.recent.track)
    rig.run(0.06)
    assert not detection.in_doubt(rig.memory.recent.track)


def test_an_arm_that_is_not_left_after_all_is_held_and_runs_again() -> None:
    rig = running()
    rig.v = np.array([0.5, 0.0])
    assert rig.cycle(leaving="gravity").mode is S.Mode.BRAKING
    first = rig.memory.phase.leaving
    assert rig.cycle().mode is S.Mode.HOLDING
    assert rig.memory.phase.leaving is None
    rig.v = np.zeros(2)
    rig.run(0.2)
    assert rig.decision.running
    rig.cycle(leaving="gravity")
    assert rig.memory.phase.leaving == rig.now > first  # its time begins again


@pytest.mark.parametrize("leaving", ["gravity", "zero"])
def test_a_stop_does_not_end_in_a_command_that_is_none(leaving: str) -> None:
    """Where the fallback gives NaN, the gravity of before is sent, and the error stated."""
    rig = running()
    rig.cycle(leaving=leaving)
    gravity = rig.memory.gravity.command
    rig.fallback = lambda *_: np.array([math.nan, 1.0])  # type: ignore[method-assign]
    found = rig.run(0.3, leaving=leaving)
    assert (found.mode, bool(found.found & S.Event.COMPUTATION)) == (S.Mode.BRAKING, True)
    np.testing.assert_array_equal(found.command, gravity)
    assert np.isfinite(rig.memory.gravity.command).all()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_all_joints_near_or_beyond_at_once_are_seen(side: float) -> None:
    """Not only one of them."""
    ends = {"lower": (-2.0, -2.0), "upper": (2.0, 2.0), "continuous": (False, False)}
    rig = running((1.94, 1.94), **ends, command_rate=(INF, INF))
    rig.q, rig.q_d = side * rig.q, side * rig.q_d
    memory = rig.memory._replace(recent=rig.memory.recent._replace(track=None))
    for facts, event in (
        ({"v": side * np.array([2.9, 3.9])}, S.Event.VELOCITY_NEAR),
        ({"v": side * np.array([3.4, 4.5])}, S.Event.VELOCITY_NEAR | S.Event.VELOCITY_LIMIT),
        ({"q": side * np.array([1.99, 1.99])}, S.Event.POSITION_NEAR),
        ({"q": side * np.array([2.1, 2.1])}, S.Event.POSITION_NEAR | S.Event.POSITION_LIMIT),
    ):
        rig.memory = memory
        rig.q_d = facts.get("q", rig.q)
        assert rig.cycle(**facts).events == event


def test_an_arm_on_the_edge_of_its_tolerance_is_back() -> None:
    rules = policy(position_tolerance=0.25)
    for edge in (2.25, -2.25):
        assert detection.within(rules, np.array([edge, 9.0]))
        assert not detection.within(rules, np.array([np.nextafter(edge, 2.0 * edge), 9.0]))
