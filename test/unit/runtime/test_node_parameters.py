"""Parameters as a frozen dataclass: what follows from a field."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.observer_settings import ObserverParameters
from geared_dynamics.runtime.parameters import (
    NodeParameters,
    ParameterGroup,
    PerJoint,
    SignPerMotor,
    row,
)
from geared_dynamics.runtime.plant_node_settings import PlantParameters


@dataclass(frozen=True, kw_only=True, eq=False)
class Gains(ParameterGroup):
    p: PerJoint = row(1.0, "of a joint", 0.0, former="old.<joint>.{}")
    common: int = row(2, "of all", -1, 9, when="start")


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameters(NodeParameters):
    mode: Literal["a", "b"] = row("b", "which one", weakest=("a",))
    gains: Gains
    sign: SignPerMotor = row(1, "of a motor", -1, 1, name="motors.<motor>.sign")
    names: tuple[str, ...] = row([], "any")
    limit: float = row(math.nan, "none", weaker="model")


def test_rows_follow_from_the_fields() -> None:
    found = {entry.name: entry for entry in Parameters.rows()}
    assert list(found) == ["mode", "gains.<joint>.p", "gains.common", "motors.<motor>.sign",
                           "names", "limit"]  # fmt: skip
    mode, p, common = found["mode"], found["gains.<joint>.p"], found["gains.common"]
    assert (mode.kind, mode.choices, mode.reserved) == (
        "string",
        ("a", "b"),
        "a at the start only",
    )
    assert (p.kind, p.low, p.high, p.former) == ("double", 0.0, math.inf, "old.<joint>.p")
    assert (common.kind, common.when, common.default) == ("int", "start", 2)
    assert found["motors.<motor>.sign"].kind == "int"
    assert found["names"].kind == "strings"


def test_values_become_fields_and_those_of_each_joint_an_array() -> None:
    given = Parameters.of(
        {"gains.y.p": 3.0, "motors.m.sign": -1, "names": ["n"], "foreign": 1}, ["x", "y"], ["m"]
    )
    assert given.gains.p.tolist() == [1.0, 3.0]
    assert (given.sign.tolist(), given.names, given.gains.common) == ([-1.0], ("n",), 2)
    assert "foreign" not in given.values
    with pytest.raises(ValueError, match="read-only"):
        given.gains.p[0] = 7.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        given.mode = "a"  # type: ignore[misc]
    assert Parameters.of({}).gains.p.shape == (0,)


def test_what_was_set_since_is_known_by_name() -> None:
    before = Parameters.of({}, ["x"], [])
    after = before.replaced({"gains.x.p": 2.0})
    assert after.changed(before) == {"gains.x.p"}
    assert before.replaced({}).changed(before) == set()  # NaN included
    assert (after.gains.p.tolist(), before.gains.p.tolist()) == ([2.0], [1.0])


@pytest.mark.parametrize("kind", [FeedforwardParameters, ObserverParameters, PlantParameters])
def test_every_field_holds_its_default(kind: type[NodeParameters]) -> None:
    """What a reader sees is what ROS shows, for each parameter and each joint."""
    joints, motors = ("a", "b"), ("m", "k")
    given = kind.of({}, joints, motors)
    ignored = {entry.name for entry in kind.without_effect}
    for entry in kind.rows():
        if entry.name in ignored:
            continue
        *groups, last = [part for part in entry.name.split(".") if part != entry.each]
        owner = given
        for group in groups:
            owner = getattr(owner, group)
        value = getattr(owner, last)
        if entry.each:
            np.testing.assert_array_equal(value, [entry.default] * 2)
        else:
            np.testing.assert_array_equal(value, entry.default)
