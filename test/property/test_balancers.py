"""Springs on random trees: the definition, the energy, the rate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from naive.lagrangian import LagrangianTwin
from naive.measure import derivative, error, examples
from naive.springs import spring_forces
from random_robots import RobotCase, random_robot, random_state, robots
from random_springs import random_springs, with_springs

# Two ways to sum O(n) rounded terms, relative to the largest force and spring.
ROUNDING = 1e-12
# Of the difference of eighth order.
DIFFERENCE = 1e-8
# What a stiffness and a pressure one per cent off must cost in the same measure.
NEGATIVE = 1e-4

SEEDS = st.integers(0, 2**20)
# Anchors stay this far apart [m], and the differences short beside it, at any speed drawn:
# near each other the forces are too curved.
KEPT_APART, SHORT = 0.05, 2e-4


def sprung(case: RobotCase, seed: int) -> GearedModel:
    """The random robot with random springs."""
    model = case.load()
    return with_springs(model, *random_springs(model, seed))


def size(model: GearedModel) -> float:
    """Largest force of a spring at the length where it is stated [N]."""
    springs: Any = model.records.drivetrain.balancers
    gas = [s.area * s.pressure for s in springs if hasattr(s, "pressure")]
    return max([50.0, *gas])


def energy_slope(model: GearedModel, q: Array) -> Array:
    """Difference quotient -dU/dq (n,)."""
    unit = np.eye(model.n)
    along = [derivative(lambda t, e=e: gd.balancer_energy(model, q + t * e), SHORT) for e in unit]
    return -np.array(along)


def nearest(model: GearedModel, q: Array) -> float:
    """Smallest distance of two anchors that belong together [m]."""
    given = model.balancers
    ends = []
    for k in range(len(given.kind)):
        points = []
        for body, point in zip(given.bodies[k], given.points[k], strict=True):
            place = gd.pose(model, q, model.body_names[body]) if body >= 0 else np.eye(4)
            points.append(place[:3, :3] @ point + place[:3, 3])
        ends.append(np.linalg.norm(points[1] - points[0]))
    return float(min(ends))


@examples(60)
@given(case=robots(), seed=SEEDS)
def test_forces_are_those_of_the_definition(case: RobotCase, seed: int) -> None:
    model, q = sprung(case, seed), random_state(case.n, seed)[0]
    twin = LagrangianTwin(*model.records)
    expected = spring_forces(twin, model.records.drivetrain.balancers, q)
    assert error(gd.balancer_forces(model, q), expected, size(model)) < ROUNDING


@examples(40)
@given(case=robots(max_joints=5), seed=SEEDS)
def test_force_is_the_slope_of_the_energy(case: RobotCase, seed: int) -> None:
    model, q = sprung(case, seed), random_state(case.n, seed)[0]
    assume(nearest(model, q) > KEPT_APART)
    slope = energy_slope(model, q)
    assert error(gd.balancer_forces(model, q), slope, size(model)) < DIFFERENCE


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_rate_is_the_change_along_the_motion(case: RobotCase, seed: int) -> None:
    model, (q, v, _) = sprung(case, seed), random_state(case.n, seed)
    assume(nearest(model, q) > KEPT_APART)
    change = derivative(lambda t: gd.balancer_forces(model, q + t * v), SHORT)
    rate = gd.balancer_force_rates(model, q, v)
    assert error(rate, change, size(model)) < DIFFERENCE


@pytest.mark.parametrize("seed", range(6))
def test_one_percent_off_fails(seed: int) -> None:
    """Any one spring changed: the force is no longer the definition's nor the energy's."""
    case = random_robot(seed, mimics=1, joints=4)
    model, (q, v, _) = sprung(case, seed), random_state(4, seed)
    twin = LagrangianTwin(*model.records)
    expected = spring_forces(twin, model.records.drivetrain.balancers, q)
    slope, rate = energy_slope(model, q), gd.balancer_force_rates(model, q, v)
    for k, spring in enumerate(model.records.drivetrain.balancers):
        more: Any = {"preload": spring.preload + 1.0}
        if getattr(spring, "kind", "") == "gas":
            more = {"pressure": 1.01 * spring.pressure}  # type: ignore[union-attr]
        others = list(model.records.drivetrain.balancers)
        others[k] = replace(spring, **more)
        wrong = with_springs(model, *others)
        assert error(gd.balancer_forces(wrong, q), expected, size(model)) > NEGATIVE
        assert error(gd.balancer_forces(wrong, q), slope, size(model)) > NEGATIVE
    assert error(gd.balancer_force_rates(model, q, 1.01 * v), rate) > NEGATIVE


@examples(20)
@given(case=robots(), seed=SEEDS)
def test_batch_is_single_to_the_last_digit(case: RobotCase, seed: int) -> None:
    model = sprung(case, seed)
    q, v, _ = random_state(case.n, seed, batch=(2, 3))
    forces, energies = gd.balancer_forces(model, q), gd.balancer_energy(model, q)
    rates = gd.balancer_force_rates(model, q, v)
    assert energies.shape == (2, 3)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(forces[index], gd.balancer_forces(model, q[index]))
        np.testing.assert_array_equal(energies[index], gd.balancer_energy(model, q[index]))
        np.testing.assert_array_equal(
            rates[index], gd.balancer_force_rates(model, q[index], v[index])
        )
