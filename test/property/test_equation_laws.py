"""Laws that tie the rigid functions to each other, on random geared trees.

A law compares what two models say of one state. With the same model on both sides it
must hold; with one whose ratio is 1 % off it must break, or it would prove nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from naive.drives import one_ratio_scaled
from naive.measure import derivative, error, examples
from random_robots import RobotCase, random_robot, random_state, robots

# Sums of O(n) rounded terms, n < 20, relative to the largest term.
ROUNDING = 1e-13
# A solution of M a = b, as the error M (a - a') it leaves in b.
SOLVED = 1e-12
# Eighth-order differences with step 3e-3 of functions that turn at up to 10 rad/s.
DIFFERENCED = 1e-9
# A law must miss by this many times its tolerance with a wrong ratio, or it is no test.
MARGIN = 10.0

SEEDS = st.integers(0, 2**20)


class State(NamedTuple):
    """A random state."""

    q: Array
    v: Array
    a: Array


Measure = Callable[[GearedModel, GearedModel, State], float]


@dataclass(frozen=True)
class Law:
    """``measure`` is how far two models are from agreeing; at most ``tolerance``."""

    measure: Measure
    tolerance: float


def linear_in_parameters(one: GearedModel, other: GearedModel, at: State) -> float:
    """Y pi = tau."""
    Y, pi = gd.regressor(one, *at), gd.parameters(one)
    return error(Y @ pi, gd.inverse_dynamics(other, *at), np.abs(Y) @ np.abs(pi))


def round_trip(one: GearedModel, other: GearedModel, at: State) -> float:
    """FD(q, v, ID(q, v, a)) = a."""
    tau = gd.inverse_dynamics(one, *at)
    a = gd.forward_dynamics(other, at.q, at.v, tau)
    M = gd.mass_matrix(other, at.q)
    scale = np.abs(M) @ np.abs(at.a), gd.bias_forces(other, at.q, at.v)
    return error(M @ a, M @ at.a, np.concatenate(scale))


def affine_in_acceleration(one: GearedModel, other: GearedModel, at: State) -> float:
    """tau = M a + b."""
    expected = gd.mass_matrix(other, at.q) @ at.a + gd.bias_forces(other, at.q, at.v)
    return error(gd.inverse_dynamics(one, *at), expected, gd.bias_forces(one, at.q, at.v))


def bias_is_coriolis_and_gravity(one: GearedModel, other: GearedModel, at: State) -> float:
    """b = C v + g."""
    C, g = gd.coriolis_matrix(one, at.q, at.v), gd.gravity_forces(one, at.q)
    found = gd.bias_forces(other, at.q, at.v)
    return error(C @ at.v + g, found, np.abs(C) @ np.abs(at.v))


def skew(one: GearedModel, other: GearedModel, at: State) -> float:
    """C + C' = dM/dt, element by element: M' - 2C is skew and C has Christoffel's symmetry."""
    slope = derivative(lambda t: gd.mass_matrix(one, at.q + t * at.v))
    C = gd.coriolis_matrix(other, at.q, at.v)
    return error(C + C.T, slope, gd.mass_matrix(one, at.q))


def power(one: GearedModel, other: GearedModel, at: State) -> float:
    """d(T + U)/dt = v' tau along a path with this velocity and acceleration."""

    def energy(t: float) -> Array:
        q, v = at.q + t * at.v + t * t * at.a / 2, at.v + t * at.a
        return gd.kinetic_energy(one, q, v) + gd.potential_energy(one, q)

    tau = gd.inverse_dynamics(other, *at)
    return error(derivative(energy), at.v @ tau, np.abs(at.v) @ np.abs(tau))


def kinetic_energy(one: GearedModel, other: GearedModel, at: State) -> float:
    """T = v' M v / 2."""
    expected = at.v @ gd.mass_matrix(other, at.q) @ at.v / 2
    return error(gd.kinetic_energy(one, at.q, at.v), expected)


def energy_terms(one: GearedModel, other: GearedModel, at: State) -> float:
    """The four terms of Sciavicco 1994, eq. 23, add up to T."""
    terms = np.array(gd.kinetic_energy_terms(one, at.q, at.v))
    return error(terms.sum(), gd.kinetic_energy(other, at.q, at.v), terms)


LAWS = {
    law.measure.__name__: law
    for law in (
        Law(linear_in_parameters, ROUNDING),
        Law(round_trip, SOLVED),
        Law(affine_in_acceleration, ROUNDING),
        Law(bias_is_coriolis_and_gravity, ROUNDING),
        Law(skew, DIFFERENCED),
        Law(power, DIFFERENCED),
        Law(kinetic_energy, ROUNDING),
        Law(energy_terms, ROUNDING),
    )
}


@pytest.mark.parametrize("name", LAWS)
@examples(40)
@given(case=robots(), seed=SEEDS)
def test_law_holds(name: str, case: RobotCase, seed: int) -> None:
    model, law = case.load(), LAWS[name]
    assert law.measure(model, model, State(*random_state(case.n, seed))) < law.tolerance


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("seed", range(4))
def test_law_breaks_with_a_ratio_one_percent_off(name: str, seed: int) -> None:
    case = random_robot(seed, mimics=1, wheels=10)
    model, state = case.load(), State(*random_state(case.n, seed))
    wrong = one_ratio_scaled(model, 1.01)
    assert LAWS[name].measure(model, wrong, state) > MARGIN * LAWS[name].tolerance


@pytest.mark.parametrize("name", ["round_trip", "affine_in_acceleration"])
@pytest.mark.parametrize("joints", [12, 13, 17])
def test_law_holds_for_long_arms(name: str, joints: int) -> None:
    """Beyond twelve joints forward dynamics is another algorithm."""
    law = LAWS[name]
    for seed in range(4):
        case = random_robot(seed, joints=joints, mimics=2, wheels=20, branched=seed > 1)
        model, state = case.load(), State(*random_state(joints, seed))
        assert law.measure(model, model, state) < law.tolerance
        wrong = one_ratio_scaled(model, 1.01)
        assert law.measure(model, wrong, state) > MARGIN * law.tolerance


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_mass_matrix_is_symmetric_and_positive(case: RobotCase, seed: int) -> None:
    model = case.load()
    M = gd.mass_matrix(model, random_state(case.n, seed)[0])
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_gravity_forces_are_the_slope_of_potential_energy(case: RobotCase, seed: int) -> None:
    model = case.load()
    q = random_state(case.n, seed)[0]
    slope = [potential_slope(model, q, direction) for direction in np.eye(case.n)]
    scale = gd.potential_energy(model, q)
    assert error(gd.gravity_forces(model, q), np.array(slope), scale) < DIFFERENCED


def potential_slope(model: GearedModel, q: Array, direction: Array) -> Array:
    """dU along a direction of joint space."""
    return derivative(lambda t: gd.potential_energy(model, q + t * direction))
