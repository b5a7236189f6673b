"""What is no array at all, or hides numbers: refused by an error of ours, cold and warm."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd

ROOT = Path(__file__).parents[3]
URDF = ROOT / "urdf"
STATE = np.array([0.1, 0.2, 0.3])
LOADS = np.ones((3, 6))


@pytest.fixture(scope="module")
def elbow() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


NO_ARRAYS: dict[str, Any] = {
    "empty list": [],
    "empty set": set(),
    "nested list": [[]],
    "tuple": ([],),
    "list of sets": [set()],
    "dict": {"q": 1.0},
    "text": "0 0 0",
    "bytes": b"123",
    "texts": ["0", "0", "0"],
    "object": object(),
    "function": abs,
    "masked": np.ma.array(STATE, mask=[False, True, False]),
    "masked rows": [STATE, np.ma.array(STATE, mask=[False, True, False])],
    "masked number": [0.1, np.ma.masked, 0.3],
}
Call = Callable[[gd.GearedModel, Any], object]
# By function and argument: the call with that argument wrong, and its name in the error.
CALLS: dict[str, tuple[Call, str]] = {
    "inverse_dynamics q": (lambda m, x: gd.inverse_dynamics(m, x, STATE, STATE), "q"),
    "inverse_dynamics v": (lambda m, x: gd.inverse_dynamics(m, STATE, x, STATE), "v"),
    "inverse_dynamics a": (lambda m, x: gd.inverse_dynamics(m, STATE, STATE, x), "a"),
    "loaded v": (lambda m, x: gd.inverse_dynamics(m, STATE, x, STATE, LOADS), "v"),
    "loaded f_ext": (lambda m, x: gd.inverse_dynamics(m, STATE, STATE, STATE, x), "f_ext"),
    "forward_dynamics tau": (lambda m, x: gd.forward_dynamics(m, STATE, STATE, x), "tau"),
    "forward f_ext": (lambda m, x: gd.forward_dynamics(m, STATE, STATE, STATE, x), "f_ext"),
    "mass_matrix q": (gd.mass_matrix, "q"),
    "coriolis_matrix v": (lambda m, x: gd.coriolis_matrix(m, STATE, x), "v"),
    "bias_forces v": (lambda m, x: gd.bias_forces(m, STATE, x), "v"),
    "regressor a": (lambda m, x: gd.regressor(m, STATE, STATE, x), "a"),
    "kinetic_energy v": (lambda m, x: gd.kinetic_energy(m, STATE, x), "v"),
    "jacobian_drift v": (lambda m, x: gd.jacobian_drift(m, STATE, x, "tip"), "v"),
    "friction_forces tau": (lambda m, x: gd.friction_forces(m, STATE, STATE, x), "tau"),
    "motor_commands v": (lambda m, x: gd.motor_commands(m, STATE, x, STATE), "v"),
    "motor_commands jerk": (
        lambda m, x: gd.motor_commands(m, STATE, STATE, STATE, jerk=x),
        "jerk",
    ),
    "motor_torques tau": (gd.motor_torques, "tau"),
}


@pytest.mark.parametrize("value", NO_ARRAYS.values(), ids=NO_ARRAYS)
@pytest.mark.parametrize(("call", "name"), CALLS.values(), ids=CALLS)
def test_no_array_is_refused(elbow: gd.GearedModel, call: Call, name: str, value: Any) -> None:
    for _ in ("cold", "warm"):
        with pytest.raises(gd.GearedDynamicsError, match=f"^{name}: ") as caught:
            call(elbow, value)
        assert caught.value.remedy


SUBCLASSES: dict[str, Callable[[np.ndarray], Any]] = {
    "masked nowhere": np.ma.array,
    "memory map": lambda x: x.view(np.memmap),
    "record array": lambda x: x.view(np.recarray),
    "masked list": lambda x: [np.ma.array(x), x],
}


@pytest.mark.parametrize("kind", SUBCLASSES)
def test_subclasses_are_read_as_arrays(elbow: gd.GearedModel, kind: str) -> None:
    given = SUBCLASSES[kind](STATE)
    plain = np.asarray(given)
    for _ in ("cold", "warm"):
        for result, expected in (
            (gd.mass_matrix(elbow, given), gd.mass_matrix(elbow, plain)),
            (
                gd.inverse_dynamics(elbow, given, given, given),
                gd.inverse_dynamics(elbow, plain, plain, plain),
            ),
        ):
            assert type(result) is np.ndarray
            np.testing.assert_array_equal(result, expected)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_matrix_is_a_batch_of_rows(elbow: gd.GearedModel) -> None:
    row = np.matrix(STATE)
    expected = gd.mass_matrix(elbow, STATE)
    np.testing.assert_array_equal(gd.mass_matrix(elbow, row), expected[None])
    out = np.matrix(np.zeros((3, 3)))
    assert gd.mass_matrix(elbow, STATE, out=out) is out  # type: ignore[comparison-overlap]
    np.testing.assert_array_equal(np.asarray(out), expected)


COLD = """
import sys
import numpy as np
import geared_dynamics as gd
model = gd.load_model(sys.argv[1])
q = np.ma.array([0.1, 0.2, 0.3], mask=[False, eval(sys.argv[2]), False])
try:
    print(gd.inverse_dynamics(model, q, q, q).shape)
except gd.GearedDynamicsError as error:
    print(error)
"""


@pytest.mark.parametrize(("mask", "printed"), [("False", "(3,)"), ("True", "q: has masked")])
def test_first_array_of_a_process_may_be_masked(mask: str, printed: str) -> None:
    """numba has not seen an array of that kind yet, and would not take it."""
    done = subprocess.run(
        [sys.executable, "-c", COLD, str(URDF / "elbow.urdf"), mask],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(printed)


def takes_a_model(name: str) -> bool:
    """Whether a public name is a function of a model."""
    thing = getattr(gd, name)
    return inspect.isroutine(thing) and next(iter(inspect.signature(thing).parameters)) == "model"


@pytest.mark.parametrize("name", [name for name in gd.__all__ if takes_a_model(name)])
def test_no_model_is_refused(name: str) -> None:
    function = getattr(gd, name)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    others = [STATE for parameter in parameters if parameter.default is parameter.empty]
    for wrong in (None, 5, "elbow", STATE, object()):
        with pytest.raises(gd.GearedDynamicsError, match=r"model: is a .*load_model"):
            function(wrong, *others)
