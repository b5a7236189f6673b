"""The safety step's quick look decides as the complete one, whatever happens to the arm."""

from __future__ import annotations

import importlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.control.safety import memory as values
from geared_dynamics.control.safety.memory import STOPPING
from geared_dynamics.control.safety.step import nominal_step
from safety_rig import LIMIT, RATE, Rig, policy, running, step

S = gd.control.safety


def test_the_quick_look_decides_all_cycles_of_a_running_arm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = running()

    def never(*_: object) -> None:
        raise AssertionError("the complete look was asked")

    monkeypatch.setattr("safety_rig.step", S.step)
    room = importlib.import_module("geared_dynamics.control.safety.step")
    monkeypatch.setattr(room, "full_step", never)
    rig.run(0.1)
    assert rig.decision.running
    with pytest.raises(AssertionError, match="was asked"):
        rig.cycle(q=np.array([1.99, 0.4]))


def observed(rig: Rig, **facts: object) -> S.Observation:
    """The facts of a healthy next cycle, but for some."""
    now = rig.now + 0.001
    given_facts = {"now": now, "state_stamp": now, "q": rig.q, "v": rig.v}
    given_facts |= {"reference_stamp": now, "q_d": rig.q_d, "clock": now}
    return S.Observation(**(given_facts | facts))  # type: ignore[arg-type]


ARM = running()
ENDS = st.sampled_from([0.0, 1.0, -1.0])
NEXT = st.sampled_from([-1, 0, 1])


def moved(value: float, steps: int) -> float:
    """The next number above or below, or the same."""
    return float(np.nextafter(value, steps * math.inf)) if steps else value


EDGES = {
    "q": [(0, -1.95), (0, 1.95), (1, 1e11)],
    "v": [(0, 2.7), (0, -2.7), (1, 3.6)],
    "q_d": [(0, 0.3 + 0.1), (0, 0.3 - 0.1), (1, 0.4 + 0.1), (1, 0.4 + 0.1 + 8 * math.pi)],
}


@pytest.mark.parametrize(
    ("row", "joint", "edge"), [(r, *edge) for r, edges in EDGES.items() for edge in edges]
)
@settings(max_examples=9)
@given(steps=st.integers(-4, 4))
def test_edges_are_where_they_are(row: str, joint: int, edge: float, steps: int) -> None:
    value = np.array(getattr(observed(ARM), row))
    value[joint] = edge
    for _ in range(abs(steps)):
        value[joint] = moved(value[joint], int(math.copysign(1, steps)))
    step(ARM.policy, ARM.memory, observed(ARM, **{row: value}), ARM.wanted, ARM.fallback)


@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("steps", [-1, 0, 1])
@pytest.mark.parametrize("limit", ["magnitude", "rate"])
def test_edges_of_commands(joint: int, sign: float, steps: int, limit: str) -> None:
    rig = running(command_rate=(math.inf, math.inf)) if limit == "magnitude" else ARM
    seen = observed(rig)
    wanted = np.array(rig.memory.recent.sent)
    reach = RATE[joint] * (seen.now - rig.now)
    edge = sign * LIMIT[joint] if limit == "magnitude" else wanted[joint] + sign * reach
    wanted[joint] = moved(edge, steps)
    _, found = step(rig.policy, rig.memory, seen, wanted, rig.fallback)
    inside = steps * sign <= 0
    assert bool(found.found) is not inside  # type: ignore[attr-defined]


STAMPS = [(None, None), (5.0, None), (None, 5.0), (5.0, 5.0), (5.0, 4.9), (5.0, 5.002)]


@pytest.mark.parametrize(("before", "stamp"), STAMPS)
@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_edges_of_ways(before: float | None, stamp: float | None, joint: int, sign: float) -> None:
    """By stamps where they go on, 5 ms of slack; else by arrivals, which are 1 ms apart, 25 ms."""
    rig = running(tracking=(math.inf, math.inf))
    rig.cycle(sampled=before)
    span = 0.002 + 0.005 if (before, stamp) == (5.0, 5.002) else 0.001 + 0.025
    way = sign * 2.0 * rig.policy.velocity[joint] * span
    for part, possible in ((1.0 - 1e-9, True), (1.0 + 1e-9, False)):
        q = rig.q.copy()
        q[joint] += part * way
        seen = observed(rig, q=q, sampled=stamp)
        quick = nominal_step(rig.policy, rig.memory, seen, rig.wanted, rig.fallback)
        _, found = step(rig.policy, rig.memory, seen, rig.wanted, rig.fallback)
        assert (quick is not None) is possible
        assert bool(found.found & S.Event.IMPOSSIBLE_STATE) is not possible


@pytest.mark.parametrize("doubted", [True, False])
def test_what_only_the_complete_look_judges(doubted: bool) -> None:
    """States in doubt; the same state again, whose numbers the caller has overwritten."""
    rig = running()
    assert rig.memory.recent.track is not None
    if doubted:
        recent = rig.memory.recent
        track = recent.track._replace(doubted=rig.now)
        rig.memory = rig.memory._replace(recent=recent._replace(track=track))
        seen, event = observed(rig), S.Event.IMPOSSIBLE_STATE
    else:
        seen, event = observed(rig, state_stamp=rig.now, q=rig.q + 0.01), S.Event.NONE
    memory, found = step(rig.policy, rig.memory, seen, rig.wanted, rig.fallback)
    assert found.found & STOPPING == event
    assert memory.recent.track.arrived == (seen.state_stamp if doubted else rig.now)
    np.testing.assert_array_equal(memory.recent.track.q, rig.q)


def test_an_arm_that_is_left_is_braked_from_the_first_cycle_on() -> None:
    rig = running()
    found = rig.cycle(leaving="gravity")
    assert (found.mode, found.found & STOPPING) == (S.Mode.BRAKING, S.Event.ENDING)


@pytest.mark.parametrize(("part", "inside"), [(0.99, True), (1.2, False)])
def test_a_long_pause_lets_a_command_change_no_more(part: float, inside: bool) -> None:
    """Joint states may be missing for longer than the 0.1 s for which a rate counts at most."""
    rig = running(state_timeout=0.3, command=(1e3, 1e3))
    now = rig.now + 0.15
    seen = observed(rig, now=now, state_stamp=now, reference_stamp=now, clock=now)
    wanted = rig.memory.recent.sent + part * 0.1 * RATE
    _, found = step(rig.policy, rig.memory, seen, wanted, rig.fallback)
    assert (found.found == 0) is inside
    np.testing.assert_allclose(found.command - rig.memory.recent.sent, min(part, 1.0) * 0.1 * RATE)


@pytest.mark.parametrize("late", [-1e-9, 1e-9])
@pytest.mark.parametrize("by_stamp", [True, False])
def test_edges_of_pauses(by_stamp: bool, late: float) -> None:
    rig = running(velocity=(math.inf, math.inf))
    rig.cycle(sampled=5.0)
    pause = rig.policy.state_timeout + late
    now = rig.now + (0.001 if by_stamp else pause)
    times = {"now": now, "state_stamp": now, "reference_stamp": now, "clock": now}
    seen = observed(rig, sampled=5.0 + (pause if by_stamp else 0.001), **times)
    quick = nominal_step(rig.policy, rig.memory, seen, rig.wanted, rig.fallback)
    _, found = step(rig.policy, rig.memory, seen, rig.wanted, rig.fallback)
    assert (quick is None) is (late > 0.0)
    assert bool(found.found & S.Event.STALE_STATE) is (late > 0.0)


@pytest.mark.parametrize("row", ["q", "v", "q_d", "wanted"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e308, -1e308])
def test_numbers_that_are_none(row: str, bad: float) -> None:
    for joint in (0, 1):
        facts = {"q": ARM.q, "v": ARM.v, "q_d": ARM.q_d, "wanted": ARM.wanted}
        wrong = np.array(facts[row])
        wrong[joint] = bad
        wanted = wrong if row == "wanted" else ARM.wanted
        seen = observed(ARM) if row == "wanted" else observed(ARM, **{row: wrong})
        step(ARM.policy, ARM.memory, seen, wanted, ARM.fallback)


@pytest.mark.parametrize("row", ["q", "v", "q_d"])
def test_arrays_of_other_kinds(row: str) -> None:
    given_row = np.array(getattr(observed(ARM), row))
    others = (
        given_row.astype(">f8"),
        np.repeat(given_row, 2)[::2],
        given_row[None].view(np.ndarray)[0],
    )
    for other in others:
        step(ARM.policy, ARM.memory, observed(ARM, **{row: other}), ARM.wanted, ARM.fallback)


def test_what_is_kept_is_the_memorys_own() -> None:
    """The caller may fill its arrays again."""
    facts = {"q": ARM.q.copy(), "v": ARM.v.copy()}
    wanted = ARM.wanted.copy()  # type: ignore[union-attr]
    made = nominal_step(ARM.policy, ARM.memory, observed(ARM, **facts), wanted, ARM.fallback)
    assert made is not None
    memory, decision = made
    assert (type(memory), type(memory.recent.track)) == (S.SafetyMemory, values.StateTrack)
    assert type(decision) is S.Decision
    recent = memory.recent
    kept = (recent.q, recent.v, recent.sent, decision.command, recent.track.q)
    for mine, theirs in itertools.product(kept, (*facts.values(), wanted)):
        assert not np.shares_memory(mine, theirs)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["lower", "upper", "velocity", "command", "tracking"])
def test_a_limit_that_the_quick_look_did_not_know_would_show(name: str) -> None:
    """Negative control: with one limit packed wrongly the two looks differ somewhere."""
    tight = {
        "lower": (0.3, -math.inf), "upper": (0.3, math.inf), "velocity": (1e-9, 4.0),
        "command": (1.0, 15.0), "tracking": (1e-9, 0.3),
    }  # fmt: skip
    rules = policy(**{name: tight[name]})
    object.__setattr__(rules, "packed", ARM.policy.packed)
    seen = observed(ARM, v=np.array([0.01, 0.0]), q_d=ARM.q + 0.01)
    with pytest.raises(AssertionError):
        step(rules, ARM.memory, seen, ARM.wanted, ARM.fallback)
