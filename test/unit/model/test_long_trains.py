"""Trains of hundreds of wheels: exact, and in a number of steps in proportion to their length."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from geared_dynamics.errors import ModelError
from geared_dynamics.model.gears import solve as module
from geared_dynamics.model.gears.solve import Equation, Row, Variable, exact, solve

LENGTH = 400
RATIO = Fraction(37, 10)
RATE = Variable("rate", "joint")


def train(start: str, order: str) -> tuple[list[Equation], list[Fraction]]:
    """Wheels w0, w1, ... each in mesh with the next, and all their radii, 17 digits each.

    Wheel w0 (``start`` "first") or the last one follows the joint, as a spin or a mesh says.
    """
    drawn = random.Random(1)
    radii = [exact(drawn.uniform(0.005, 0.05)) for _ in range(LENGTH)]
    meshes = [
        Equation({spin(k): radii[k], spin(k + 1): radii[k + 1]}, f"spins[{k + 1}]")
        for k in range(LENGTH - 1)
    ]
    if order == "reversed":
        meshes.reverse()
    if order == "shuffled":
        drawn.shuffle(meshes)
    if start == "first":
        given = Equation({spin(0): Fraction(1), RATE: -RATIO}, "spins[0]", is_spin=True)
        return [given, *meshes], radii
    driven = Equation({spin(LENGTH - 1): Fraction(1), RATE: -RATIO}, "spins[0]")
    return [*meshes, driven], radii


def spin(k: int) -> Variable:
    """Spin of a wheel."""
    return Variable("spin", f"w{k}")


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows have been summed, and of how many terms: counted as the solver runs."""
    counted = [0]
    plain = module.summed

    def counting(*parts: tuple[Fraction, Row]) -> Row:
        counted[0] += sum(len(part.form) for _, part in parts)
        return plain(*parts)

    monkeypatch.setattr(module, "summed", counting)
    return counted


@pytest.mark.parametrize("start", ["first", "last"])
@pytest.mark.parametrize("order", ["as it is", "reversed", "shuffled"])
def test_long_train(start: str, order: str, steps: list[int]) -> None:
    equations, radii = train(start, order)
    names = [f"w{k}" for k in range(LENGTH)]
    found = solve(equations, names, "file.yaml")
    driven = 0 if start == "first" else LENGTH - 1
    for k, name in enumerate(names):
        sign = 1 if (k - driven) % 2 == 0 else -1
        assert found[name] == {RATE: sign * RATIO * radii[driven] / radii[k]}
    assert steps[0] < (80 if order == "shuffled" else 20) * LENGTH


def test_what_is_one_too_many_in_a_long_train() -> None:
    """Named are the equations that it follows from, and no others."""
    equations, radii = train("last", "as it is")
    closing = Equation({spin(7): radii[7], spin(9): -radii[9]}, "spins[400]")
    names = [f"w{k}" for k in range(LENGTH)]
    with pytest.raises(ModelError) as caught:
        solve([*equations, closing], names, "file.yaml")
    message = str(caught.value)
    assert "spins[400]: over-determines wheels 'w7', 'w8', 'w9':" in message
    assert "it repeats what follows from spins[8], spins[9];" in message
