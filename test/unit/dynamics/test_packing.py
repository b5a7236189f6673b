"""What models hand on to those derived from them, and what they must not."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import geared_dynamics as gd
from random_robots import random_robot

Q, V, A = np.random.default_rng(0).normal(size=(3, 6))
TENSOR = np.diag([0.02, 0.03, 0.04])


def figures(model: gd.GearedModel) -> np.ndarray:
    """Numbers that depend on all that the kernels are given."""
    frame = [*model.wheel_names, *model.body_names][0]
    return np.concatenate(
        [
            gd.inverse_dynamics(model, Q, V, A),
            gd.forward_dynamics(model, Q, V, A),
            gd.jacobian(model, Q, frame).ravel(),
            gd.regressor(model, Q, V, A).ravel(),
        ]
    )


DERIVED: dict[str, Callable[[gd.GearedModel], gd.GearedModel]] = {
    "payload": lambda m: m.with_payload(2.0, (0.1, 0.0, 0.2), TENSOR, link=m.body_names[-1]),
    "two payloads": lambda m: m.with_payload(2.0, link=m.body_names[-1]).with_payload(
        1.0, (0.0, 0.1, 0.0), TENSOR, link=m.body_names[0]
    ),
    "no coupling": lambda m: m.with_coupling("none"),
    "diagonal": lambda m: m.with_coupling("diagonal"),
    "deep copy": copy.deepcopy,
    "pickle": lambda m: pickle.loads(pickle.dumps(m)),
}


@pytest.mark.parametrize("derive", DERIVED.values(), ids=DERIVED)
@pytest.mark.parametrize("seed", range(3))
def test_derived_before_or_after_use(
    derive: Callable[[gd.GearedModel], gd.GearedModel], seed: int
) -> None:
    """What the original has kept for the kernels does not show in what is derived from it."""
    case = random_robot(seed)
    fresh, used = case.load(), case.load()
    original = figures(used)
    np.testing.assert_array_equal(figures(derive(used)), figures(derive(fresh)))
    np.testing.assert_array_equal(figures(used), original)


def test_payload_acts() -> None:
    """The negative control: figures differ with a load."""
    model = random_robot(0).load()
    loaded = DERIVED["payload"](model)
    assert np.abs(figures(loaded) - figures(model)).max() > 1e-3
