"""Numbers and names in tables of ``from_dh`` and ``from_rodrigues``: what lies at each border."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from geared_dynamics.description.table_values import direction, finite, inertia, name_of, vector3
from geared_dynamics.errors import DescriptionError

SOLID = np.diag([0.1, 0.2, 0.3])


def skewed(part: float) -> np.ndarray:
    """A tensor whose products differ by a part of its largest moment."""
    products = np.zeros((3, 3))
    products[0, 1] = 0.3 * part
    return SOLID + products


@pytest.mark.parametrize("tensor", [None, np.zeros((3, 3)), -np.zeros((3, 3))])
def test_a_link_of_nothing_has_no_inertia(tensor: Any) -> None:
    assert inertia(0.0, (1.0, 2.0, 3.0), tensor, "row") is None


def test_a_link_has_an_inertia_with_a_mass_or_with_a_tensor() -> None:
    """A tensor without mass: what turns there, while its mass is counted elsewhere."""
    heavy = inertia(1e-9, (0, 0, 0), None, "row")
    assert heavy is not None
    assert (heavy.mass, heavy.tensor) == (1e-9, ((0.0,) * 3,) * 3)
    for tensor in (SOLID, np.diag([0.0, 0.0, 1e-12]), skewed(0.9e-9)):
        turning = inertia(0, (0, 0, 0), tensor, "row")
        assert turning is not None
        assert turning.mass == 0.0
        np.testing.assert_array_equal(turning.tensor, tensor)


# What is called, place, words.
CASES: dict[str, tuple[Callable[[], object], str, str]] = {
    "negative mass": (lambda: inertia(-1e-9, (0, 0, 0), None, "r"), "r.mass", "is negative"),
    "tensor not symmetric": (
        lambda: inertia(1.0, (0, 0, 0), skewed(1.1e-9), "r"),
        r"r.tensor[0][1]",
        "not symmetric",
    ),
    "last product": (
        lambda: inertia(1.0, (0, 0, 0), SOLID + np.eye(3, k=1)[[0, 1, 2]] * [0, 0, 0.1], "r"),
        r"r.tensor[1][2]",
        "not symmetric",
    ),
    "negative moment": (
        lambda: inertia(1.0, (0, 0, 0), np.diag([0, 0, -1e-12]), "r"),
        r"r.tensor[2][2]",
        "is negative",
    ),
    "two rows": (lambda: inertia(1.0, (0, 0, 0), SOLID[:2], "r"), "r.tensor", "3 x 3 matrix"),
    "a row of two": (
        lambda: inertia(1.0, (0, 0, 0), SOLID[:, :2], "r"),
        r"r.tensor[0]",
        "three numbers",
    ),
    "centre of two": (lambda: inertia(1.0, (0, 0), None, "r"), "r.com", "three numbers"),
    "text": (lambda: finite("1", "x"), "x", "expected a number"),
    "NaN": (lambda: finite(np.nan, "x"), "x", "nan is not a finite number"),
    "too large": (lambda: finite(-1.1e30, "x"), "x", "too large a number"),
    "last of three": (lambda: vector3((0, 0, np.inf), "x"), "x[2]", "inf is not a finite"),
    "no direction": (lambda: direction((0, 9.9e-10, 0), "x"), "x", "the axis is zero"),
    "number as a name": (lambda: name_of(1, "n"), "n", "expected text, found int"),
    "blank": (lambda: name_of(" ", "n"), "n", "the name is empty"),
    "blank before": (lambda: name_of(" a", "n"), "n", "not a name that a URDF can hold"),
    "blank behind": (lambda: name_of("a ", "n"), "n", "not a name that a URDF can hold"),
    "control": (lambda: name_of("a\x07b", "n"), "n", "not a name that a URDF can hold"),
    "half of a pair": (lambda: name_of("a\ud83d", "n"), "n", "not a name that a URDF can hold"),
    "expression": (lambda: name_of("${x}", "n"), "n", "not a name that a URDF can hold"),
    "substitution": (lambda: name_of("$(find x)", "n"), "n", "not a name that a URDF can hold"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str) -> None:
    call, place, words = CASES[case]
    with pytest.raises(DescriptionError, match=words) as caught:
        call()
    assert caught.value.place == place


def test_taken() -> None:
    assert finite(np.float32(0.5), "x") == 0.5
    assert finite(-1e30, "x") == -1e30
    assert vector3(np.array([1, 2, 3]), "x") == (1.0, 2.0, 3.0)
    assert direction((0, 1.1e-9, 0), "x") == (0.0, 1.0, 0.0)
    for name in ("a", "a b", "\u00e4", "$x", "{x}", "a$b"):
        assert name_of(name, "n") == name
