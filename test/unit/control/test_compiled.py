"""Compiled laws are the laws in Python, and leave to those what they do not have."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import arms, sample
from geared_dynamics.errors import ArrayError
from random_robots import random_robot

control = gd.control
ARMS = arms()
LAWS = ("feedforward", "computed_torque", "pd_plus_feedforward")
RATES = ("reference", "measured")
TOLERANCE = 1e-12


def gains(model: gd.GearedModel, kind: str) -> control.Gains:
    each = np.linspace(10.0, 30.0, model.n)
    return control.Gains(each**2, 2.0 * each, kind=kind)  # type: ignore[arg-type]


def made(model: gd.GearedModel, law: str, kind: str = "acceleration", **options: Any) -> Any:
    given = None if law == "feedforward" else gains(model, kind)
    return control.controller(model, law, gains=given, **options)


def cycle(model: gd.GearedModel, seed: int = 0) -> tuple[gd.State, control.Reference]:
    """A state and a reference that differ, also by whole turns."""
    q, v, a = sample(model, seed)
    near = np.random.default_rng(seed).normal(scale=0.2, size=(2, model.n))
    return gd.State(q + near[0] + 7.0, v + near[1]), control.Reference(q, v, a)


def compiled_arms() -> list[str]:
    return [name for name, model in ARMS.items() if made(model, "feedforward").compiled]


@pytest.mark.parametrize("name", compiled_arms())
@pytest.mark.parametrize("law", LAWS)
def test_it_is_the_law_in_python(name: str, law: str) -> None:
    model = ARMS[name]
    kinds = ("acceleration", "torque") if law == "pd_plus_feedforward" else ("acceleration",)
    for kind, rate, seed in itertools.product(kinds, RATES, range(3)):
        law_made = made(model, law, kind, friction_rate=rate)
        assert law_made.compiled is not None
        state, reference = cycle(model, seed)
        memory = law_made.start()
        _, quick = law_made.step(memory, state, reference, 1e-3)
        _, slow = law_made.plain_step(memory, state, reference, 1e-3)
        size = np.abs(slow.command).max()
        np.testing.assert_allclose(quick.command, slow.command, rtol=0, atol=TOLERANCE * size)
        assert quick.exceeded.size == 0


@pytest.mark.parametrize("name", compiled_arms())
@pytest.mark.parametrize("law", LAWS)
def test_holding_is_that_of_python_in_every_bit(name: str, law: str) -> None:
    """With the gains of either kind or none, with a measured state and without."""
    model = ARMS[name]
    for kind, seed in itertools.product(("acceleration", "torque"), range(3)):
        if law == "computed_torque" and kind == "torque":
            continue
        law_made = made(model, law, kind)
        assert law_made.holding is not None
        state, reference = cycle(model, seed)
        for given in ((state.q, state.v), (None, None)):
            quick = law_made.hold(reference.q, *given)
            assert np.array_equal(quick, law_made.plain_hold(reference.q, *given))
        far = law_made.hold(reference.q + 0.01, state.q, state.v)
        held = law_made.hold(reference.q, state.q, state.v)
        assert np.array_equal(far, held) is (law == "feedforward")  # negative control


def test_holding_leaves_to_python_what_it_does_not_take() -> None:
    law = made(ARMS["complete"], "computed_torque")
    state, reference = cycle(ARMS["complete"])
    exact = law.hold(reference.q, state.q, state.v)
    assert np.array_equal(law.hold(reference.q.tolist(), state.q.tolist(), state.v), exact)
    for row, name in enumerate(("posture", "q", "v")):
        rows = [reference.q, state.q.copy(), state.v.copy()]
        rows[row] = rows[row].copy()
        rows[row][0] = math.nan
        with pytest.raises(ArrayError, match=rf"{name}\[0\]"):
            law.hold(*rows)
    with pytest.raises(ArrayError, match="hold: takes no State"):
        law.hold(reference.q, state)
    off = control.Terms(use_gravity_compensation=False)
    assert made(ARMS["complete"], "feedforward", terms=off).holding is None
    assert made(ARMS["balanced"], "feedforward").holding is None
    assert made(ARMS["complete"], "feedforward", command_type="motor_torque").holding is None


def test_gears_one_percent_off_are_seen() -> None:
    """Negative control: the comparison above tells two drivetrains apart."""
    model = ARMS["complete"]
    wrong = replace(model, wheels=replace(model.wheels, spin=1.01 * model.wheels.spin))
    state, reference = cycle(model)
    one, other = (made(arm, "computed_torque") for arm in (model, wrong))
    _, quick = one.step(one.start(), state, reference, 0.0)
    _, slow = other.plain_step(other.start(), state, reference, 0.0)
    assert (
        np.abs(quick.command - slow.command).max() > 1e3 * TOLERANCE * np.abs(slow.command).max()
    )


def test_continuous_joints_take_the_short_way() -> None:
    case = random_robot(6, joints=4, mimics=0, fixed=0, wheels=2)
    urdf = case.urdf.replace('type="revolute"', 'type="continuous"')
    model = gd.load_model(urdf, case.drivetrain, gravity=case.gravity)
    law = made(model, "pd_plus_feedforward", "torque")
    kinds = {joint.name: joint.kind for joint in model.records.robot.joints}
    endless = np.array([kinds[name] == "continuous" for name in model.joint_names])
    assert endless.any()
    assert law.compiled is not None
    still = np.zeros(model.n)
    found = []
    for turns in (0.0, 3.0):
        wanted = control.Reference(0.1 + turns * 2.0 * math.pi * endless, still, still)
        _, out = law.step(law.start(), gd.State(still, still), wanted, 0.0)
        found.append(out.command)
    np.testing.assert_allclose(*found, atol=1e-9 * np.abs(found[0]).max())


OFF = control.Terms(use_rotor_coupling=False)


@pytest.mark.parametrize(
    ("law", "options"),
    [
        ("computed_torque", {"command_type": "motor_torque"}),
        ("computed_torque", {"terms": OFF}),
        ("gravity_compensation", {}),
    ],
)
def test_the_rest_is_left_to_python(law: str, options: dict[str, Any]) -> None:
    given = gains(ARMS["complete"], "acceleration") if law == "computed_torque" else None
    assert control.controller(ARMS["complete"], law, gains=given, **options).compiled is None


def test_balancers_and_integrals_are_left_to_python() -> None:
    balanced = ARMS["balanced"]
    assert made(balanced, "computed_torque").compiled is None
    model = ARMS["complete"]
    integral = control.Gains(100.0, 20.0, 50.0)
    assert control.controller(model, "computed_torque", gains=integral).compiled is None


@pytest.mark.parametrize("name", compiled_arms())
def test_what_is_no_plain_array_is_taken_by_python(name: str) -> None:
    law = made(ARMS[name], "computed_torque")
    state, reference = cycle(ARMS[name])
    lists = gd.State(*(x.tolist() for x in state[:2]))
    _, found = law.step(law.start(), lists, reference, 0.0)
    _, wanted = law.plain_step(law.start(), state, reference, 0.0)
    assert np.array_equal(found.command, wanted.command)
    strided = gd.State(*(np.repeat(x, 2)[::2] for x in state[:2]))
    _, found = law.step(law.start(), strided, reference, 0.0)
    np.testing.assert_allclose(found.command, wanted.command, rtol=TOLERANCE)


@pytest.mark.parametrize("row", ["q", "v", "a"])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_errors_are_those_of_python(row: str, bad: float) -> None:
    law = made(ARMS["complete"], "computed_torque")
    state, reference = cycle(ARMS["complete"])
    wrong = getattr(reference, row).copy()
    wrong[1] = bad
    with pytest.raises(ArrayError, match=rf"reference.{row}\[1\]"):
        law.step(law.start(), state, reference._replace(**{row: wrong}), 0.0)
    with pytest.raises(ArrayError, match="reference"):
        law.step(law.start(), state, reference._replace(**{row: wrong[1:]}), 0.0)
