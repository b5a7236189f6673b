"""Manutec r3, DFVLR model 2, against the published routine r3m2si (see data/SOURCE.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import geared_dynamics as gd
from geared_dynamics.model.model import GearedModel
from naive.drives import ratios_scaled
from naive.lagrangian import LagrangianTwin
from naive.measure import holds

# r3m2si is an O(n) recursion in double precision; its numbers are kept with 16 digits.
RELATIVE = 1e-13
# What a wrong model has to miss the routine by, to show that the comparison can fail.
NEGATIVE = 1e-4


@dataclass(frozen=True)
class State:
    """A row of the table."""

    load: float
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    tau: NDArray[np.float64]
    a: NDArray[np.float64]


def states() -> Iterator[State]:
    """The table."""
    path = Path(__file__).parent / "data" / "manutec_r3m2si.csv"
    for row in np.loadtxt(path, delimiter=",", skiprows=1):
        yield State(float(row[0]), *row[1:].reshape(4, 3))


@pytest.fixture(scope="module")
def arm(published: Callable[[str], GearedModel]) -> GearedModel:
    """The robot without load."""
    return published("manutec_r3")


def with_load(model: GearedModel, mass: float) -> GearedModel:
    """A point mass at the end of arm 3."""
    return model.with_payload(mass, (0, 0, 0), np.zeros((3, 3)), link="load")


def worst(model: GearedModel) -> float:
    """Largest relative error of the joint accelerations over the table."""
    errors = []
    for state in states():
        a = gd.forward_dynamics(with_load(model, state.load), state.q, state.v, state.tau)
        errors.append(np.abs(a - state.a).max() / np.abs(state.a).max())
    return float(max(errors))


def test_forward_dynamics_is_r3m2si(arm: GearedModel) -> None:
    assert holds("Manutec r3, accelerations against r3m2si", worst(arm), RELATIVE)


def test_inverse_dynamics_is_r3m2si(arm: GearedModel) -> None:
    for state in states():
        tau = gd.inverse_dynamics(with_load(arm, state.load), state.q, state.v, state.a)
        assert np.abs(tau - state.tau).max() < RELATIVE * np.abs(state.tau).max()


@pytest.mark.parametrize("coupling", ["none", "diagonal"])
def test_r3m2si_needs_the_complete_model(arm: GearedModel, coupling: str) -> None:
    assert worst(arm.with_coupling(coupling)) > NEGATIVE


@pytest.mark.parametrize("joint", [0, 1, 2])
def test_a_ratio_one_percent_off_fails(arm: GearedModel, joint: int) -> None:
    assert worst(ratios_scaled(arm, joint, 1.01)) > NEGATIVE


def test_explicit_rotors_give_the_same(arm: GearedModel) -> None:
    twin = LagrangianTwin(*arm.records, arm.gravity)
    for state in states():
        M = twin.mass_matrix(state.q)
        bias = twin.inverse_dynamics(state.q, state.v, np.zeros(3))
        assert np.abs(gd.mass_matrix(arm, state.q) - M).max() < RELATIVE * np.abs(M).max()
        found = gd.bias_forces(arm, state.q, state.v)
        assert np.abs(found - bias).max() < RELATIVE * np.abs(bias).max()


def test_motors_turn_as_published(arm: GearedModel) -> None:
    """Motor torque times the signed ratio, for each of the three motors."""
    np.testing.assert_array_equal(arm.structure_matrix, np.diag([-105.0, 210.0, 60.0]))
