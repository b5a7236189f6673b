"""Base parameters: what is refused, and that they explain the arm at any state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from random_robots import random_robot

ROUNDING = 1e-9


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return random_robot(1, joints=3, wheels=2).load()


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "negative seed": ({"seed": -1}, ["seed", "-1", "whole number"]),
    "fraction": ({"seed": 1.5}, ["seed", "1.5"]),
    "no seed": ({"seed": None}, ["seed", "None"]),
    "text seed": ({"seed": "one"}, ["seed", "'one'"]),
    "unknown name": ({"zero": ["link_9.m"]}, ["zero", "link_9.m", "valid"]),
    "number": ({"zero": 3}, ["zero", "3", "list"]),
    "text": ({"zero": "link_1.m"}, ["zero", "link_1.m", "list"]),
    "none": ({"zero": None}, ["zero", "None", "list"]),
    "numbers": ({"zero": [1, 2]}, ["zero", "1", "valid"]),
    "arrays": ({"zero": [np.zeros(2)]}, ["zero", "valid"]),
}


@pytest.mark.parametrize(("options", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(model: gd.GearedModel, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.base_parameters(model, **options)
    for word in words:
        assert word in str(caught.value)


def test_nothing_left_is_refused(model: gd.GearedModel) -> None:
    with pytest.raises(gd.GearedDynamicsError, match="zero: leaves nothing"):
        gd.base_parameters(model, zero=gd.parameter_names(model))


def test_names_may_come_one_by_one(model: gd.GearedModel) -> None:
    names = gd.parameter_names(model)[:5]
    listed = gd.base_parameters(model, zero=names)
    drawn = gd.base_parameters(model, zero=(name for name in names))  # type: ignore[arg-type]
    assert drawn.names == listed.names


@pytest.mark.parametrize("seed", range(4))
def test_combinations_explain_the_motion(seed: int) -> None:
    """Y[:, selection] (K pi) = Y pi at states of another seed, and any seed finds the same."""
    model = random_robot(seed, joints=4, mimics=seed % 2).load()
    base, other = gd.base_parameters(model), gd.base_parameters(model, seed=np.int64(7))
    assert base.selection == other.selection
    pi = np.random.default_rng(seed).normal(size=len(gd.parameter_names(model)))
    q, v, a = np.random.default_rng(seed).normal(size=(3, 20, model.n))
    Y = gd.regressor(model, q, v, a)
    expected = Y @ pi
    found = Y[..., list(base.selection)] @ (base.combinations @ pi)
    assert np.abs(found - expected).max() < ROUNDING * np.abs(expected).max()
