"""Wrenches on the bodies: what is refused, by both directions of the dynamics."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd

URDF = Path(__file__).parents[3] / "urdf"
STATE = np.array([0.3, -0.2, 0.7])
WRENCHES = np.arange(18.0).reshape(3, 6)
RAGGED = [[1.0] * 6, [1.0] * 5, [1.0] * 6]
HUGE = np.full((3, 6), 1e308)
DIRECTIONS = (gd.inverse_dynamics, gd.forward_dynamics)
Dynamics = Callable[..., Any]


@pytest.fixture(scope="module")
def elbow() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


def broken(index: tuple[int, int], value: float) -> Any:
    """Wrenches with one bad number."""
    wrenches = WRENCHES.copy()
    wrenches[index] = value
    return wrenches


# Third argument (a or tau), f_ext, out; words in the error.
REFUSED = {
    "ragged": (STATE, RAGGED, None, ["f_ext", "real numbers", "3, 6"]),
    "text": (STATE, "push", None, ["f_ext", "real numbers"]),
    "shape": (STATE, np.ones((2, 6)), None, ["f_ext", "(2, 6)", "3, 6"]),
    "NaN": (STATE, broken((1, 2), np.nan), None, ["f_ext[1, 2]", "nan"]),
    "infinity": (STATE, broken((2, 0), np.inf), None, ["f_ext[2, 0]", "inf"]),
    "overflow": (STATE, HUGE, None, ["f_ext", "overflows"]),
    "states": (np.ones((2, 3)), np.ones((5, 3, 6)), None, ["f_ext", "broadcast", "(2, 3)"]),
    "out's shape": (STATE, np.ones((5, 3, 6)), np.empty(3), ["out", "(3,)", "(5, 3)"]),
    "out is a list": (STATE, WRENCHES, [0.0] * 3, ["out", "list"]),
    "NaN beside": (np.array([0, 0, np.nan]), WRENCHES, None, ["[2]", "nan"]),
}


@pytest.mark.parametrize("function", DIRECTIONS)
@pytest.mark.parametrize(("third", "f_ext", "out", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(
    elbow: gd.GearedModel, function: Dynamics, third: Any, f_ext: Any, out: Any, words: list[str]
) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        function(elbow, STATE, STATE, third, f_ext, out=out)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("function", DIRECTIONS)
@pytest.mark.parametrize("position", range(4))
def test_output_apart_from_every_input(
    elbow: gd.GearedModel, function: Dynamics, position: int
) -> None:
    arguments = [STATE.copy(), STATE.copy(), STATE.copy(), WRENCHES.copy()]
    out = arguments[position].reshape(-1)[:3]
    before = [x.copy() for x in arguments]
    with pytest.raises(gd.GearedDynamicsError, match="out: shares memory with"):
        function(elbow, *arguments, out=out)
    for x, old in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(x, old)


def test_sum_of_large_numbers_is_checked(elbow: gd.GearedModel) -> None:
    """Each side finite, the sum not."""
    push = np.zeros((3, 6))
    push[0, 3:] = 5e307  # about the first joint, whichever way it lies
    tau = 1.7e308 * np.sign(gd.external_forces(elbow, STATE, push))
    with pytest.raises(gd.GearedDynamicsError, match="overflows"):
        gd.forward_dynamics(elbow, STATE, STATE, tau, push)


def test_both_directions_undo_each_other(elbow: gd.GearedModel) -> None:
    tau = gd.inverse_dynamics(elbow, STATE, STATE, STATE, WRENCHES, out=np.empty(3))
    a = gd.forward_dynamics(elbow, STATE, STATE, tau, WRENCHES.tolist(), out=np.empty(3))
    np.testing.assert_allclose(a, STATE, rtol=1e-10)
    bare = gd.inverse_dynamics(elbow, STATE, STATE, STATE)
    np.testing.assert_allclose(bare - tau, gd.external_forces(elbow, STATE, WRENCHES))
