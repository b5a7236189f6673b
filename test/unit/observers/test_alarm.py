"""The alarm: what friction cannot pretend, and lasts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from observer_arms import DT
from simulated_arms import arm

ob = gd.observers


def test_alarm_allows_for_friction() -> None:
    model = arm(friction=True)
    v = np.array([0.0, 1.0, 0.0])
    quiet = ob.alarm(model, np.full(3, 0.9), v, v, floor=1.0)
    assert not quiet.any()
    loud = ob.alarm(model, np.array([1.2, 1.2, 9.0]), v, v, floor=1.0)
    np.testing.assert_array_equal(loud, [False, False, True])
    bare = ob.alarm(model, np.array([1.2, 1.2, 9.0]), v, v, floor=1.0, share=0.0)
    assert bare.all()


def test_what_is_at_rest_hides_its_whole_level() -> None:
    """Of joint 2, 1 N m at the joint and 0.01 N m at the rotor behind a ratio of 100."""
    model, still, moving = arm(friction=True), np.zeros(3), np.full(3, 0.5)
    force = np.array([0.0, 3.0, 0.0])
    assert not ob.alarm(model, force, still, still, floor=0.5).any()
    np.testing.assert_array_equal(
        ob.alarm(model, force, moving, moving, floor=0.5), [False, True, False]
    )
    assert ob.alarm(model, 2.0 * force, still, still, floor=0.5)[1], "twice the level is more"
    assert ob.alarm(model, force, still, still, floor=0.5, share=0.0)[1], "friction left out"


def test_what_friction_hid_fades_once_it_moves() -> None:
    """An estimate of 1.8 N m at rest is still there for a while when the joint moves off."""
    model, still, moving = arm(friction=True), np.zeros(3), np.full(3, 0.5)
    force, state, found = np.array([0.0, 1.8, 0.0]), ob.alarm_start(model), []
    for k in range(300):
        v = still if k < 100 else moving
        state = ob.alarm_step(model, state, force, v, v, DT, floor=0.5)
        found.append(bool(state.raised[1]))
    assert not any(found[:120])
    assert all(found[200:]), "but a force that stays is one"


def raised_by(forces: list[float], **how: Any) -> list[bool]:
    """Whether joint 2's alarm is raised after each instant of a force on it, floor 1 N m."""
    model, state, found = arm(), ob.alarm_start(arm()), []
    for force in forces:
        external = np.array([0.0, force, 0.0])
        still = np.zeros(3)
        state = ob.alarm_step(model, state, external, still, still, DT, floor=1.0, **how)
        assert not state.raised[[0, 2]].any()
        found.append(bool(state.raised[1]))
    return found


def test_a_force_must_last_to_raise_the_alarm() -> None:
    assert raised_by([2.0] * 10 + [0.5]) == [False] * 9 + [True, False]
    assert raised_by([-2.0] * 5, lasting=0.005) == [False] * 4 + [True]
    assert raised_by([0.5, -2.0, 2.0], lasting=0.0) == [False, True, True]


def test_a_ringing_force_raises_no_alarm() -> None:
    ringing = [5.0 * np.sin(2 * np.pi * 50.0 * k * DT) for k in range(200)]
    assert not any(raised_by(ringing))
    assert any(raised_by(ringing, lasting=0.005)), "negative control"
    assert not any(raised_by(([2.0] * 9 + [0.5]) * 5)), "an interruption starts the time again"


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_no_time_changes_no_alarm(dt: float) -> None:
    model, loud, still = arm(), np.full(3, 9.0), np.zeros(3)
    begun = ob.alarm_step(model, ob.alarm_start(model), loud, still, still, DT, floor=1.0)
    same = ob.alarm_step(model, begun, loud, still, still, dt, floor=1.0)
    np.testing.assert_array_equal(same.lasted, begun.lasted)


@pytest.mark.parametrize("dt", [0.02, 0.049, 0.051, 1.0, 1e6])
def test_one_instant_raises_no_alarm(dt: float) -> None:
    model, loud, still = arm(), np.full(3, 9.0), np.zeros(3)
    first = ob.alarm_step(model, ob.alarm_start(model), loud, still, still, dt, floor=1.0)
    assert not first.raised.any()


def test_after_a_gap_the_time_starts_anew() -> None:
    model, loud, still = arm(), np.full(3, 9.0), np.zeros(3)
    state = ob.alarm_start(model)
    for _ in range(9):
        state = ob.alarm_step(model, state, loud, still, still, DT, floor=1.0)
    gap = ob.alarm_step(model, state, loud, still, still, 1.0, floor=1.0)
    assert not gap.raised.any()
    np.testing.assert_array_equal(gap.lasted, 0.0)
    assert ob.alarm_step(model, state, loud, still, still, DT, floor=1.0).raised.all()
    longer = ob.alarm_step(model, state, loud, still, still, 1.0, floor=1.0, hold=2.0)
    assert longer.raised.all(), "negative control"


BAD = [
    ("floor", np.nan),
    ("floor", -1.0),
    ("floor", np.inf),
    ("floor", "a"),
    ("floor", [1.0, 2.0]),
    ("floor", [1.0, np.nan, 1.0]),
    ("share", np.nan),
    ("share", -5.0),
    ("share", [0.3, 0.3]),
    ("external", [np.nan, 0.0, 0.0]),
    ("external", np.zeros((2, 3))),
    ("v", [np.nan, 0.0, 0.0]),
    ("v", np.zeros((2, 3))),
    ("vtheta", "a"),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_what_would_silence_the_alarm_is_refused(name: str, value: Any) -> None:
    given: dict[str, Any] = {"external": [9.0] * 3, "v": [0.0] * 3, "vtheta": [0.0] * 3}
    given |= {"floor": 1.0, name: value}
    with pytest.raises(gd.GearedDynamicsError, match=name):
        ob.alarm(arm(), **given)
    with pytest.raises(gd.GearedDynamicsError, match=name):
        ob.alarm_step(arm(), ob.alarm_start(arm()), dt=DT, **given)


@pytest.mark.parametrize(
    ("name", "value"),
    [("lasting", -1.0), ("lasting", np.nan), ("dt", "a"), ("dt", None), ("hold", 0.0)],
)
def test_times_that_are_none_are_refused(name: str, value: Any) -> None:
    still = np.zeros(3)
    given: dict[str, Any] = {"dt": DT, name: value}
    with pytest.raises(gd.GearedDynamicsError, match=name):
        ob.alarm_step(arm(), ob.alarm_start(arm()), still, still, still, floor=1.0, **given)


def test_what_friction_elsewhere_leaves_open_is_no_contact() -> None:
    """A stated deviation raises the threshold in that instant; a larger force is still found."""
    model, still = arm(), np.zeros(3)
    state = ob.alarm_start(model)
    for size, friction, raised in ((4.0, 3.0, False), (8.0, 3.0, True), (4.0, 0.0, True)):
        for _ in range(12):
            state = ob.alarm_step(
                model, state, [size, 0, 0], still, still, DT, floor=1.0, friction=friction
            )
        assert state.raised[0] == raised
    with pytest.raises(gd.GearedDynamicsError, match="friction"):
        ob.alarm_step(model, state, still, still, still, DT, floor=1.0, friction=-1.0)


def test_a_force_as_large_as_its_threshold_is_none_beside_one_beyond() -> None:
    model, still = arm(), np.zeros(3)
    state = ob.alarm_step(
        model, ob.alarm_start(model), np.array([0.0, 1.0, 5.0]), still, still, DT,
        floor=1.0, share=0.0, lasting=0.0,
    )  # fmt: skip
    np.testing.assert_array_equal(state.raised, [False, False, True])
