"""Feedforward of elastic joints: by the slow twin, by its equations, by simulation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import geared_dynamics as gd
from elastic_arms import elastic_arm, elbow
from flat_arms import flat_arm, later, path
from naive.flatness import FlatTwin
from naive.measure import derivative, error, holds

TWIN = 1e-9  # two recursions, of which the slow one differentiates jets up to the tenth order
BALANCE = 1e-11  # of the largest force
SLOPE = 1e-7  # differences of eighth order
FOLLOWED = 1e-9  # [rad]: the solver's tolerance over the motion
NEGATIVE = 1e-5  # [rad]: what a ratio 1 % off must cost

ARMS = {
    "elbow": elbow(),
    "all elastic, coupled": flat_arm(0),
    "some elastic, coupled": flat_arm(1, 5, share=0.4),
    "one rotor each": flat_arm(2, 4, coupled=False),
    "branched, sliding": flat_arm(3, 5, share=0.7, branched=True, prismatic=True),
    "one joint": flat_arm(4, 1),
}


@pytest.fixture(params=ARMS.values(), ids=ARMS)
def arm(request: pytest.FixtureRequest) -> gd.GearedModel:
    """Arms of every kind."""
    return request.param


@pytest.mark.parametrize("seed", range(2))
def test_exact_is_substitution_from_the_last_joint(arm: gd.GearedModel, seed: int) -> None:
    given = path(arm, 2 * arm.elasticity.joint.size + 3, seed)
    twin = FlatTwin(*arm.records, arm.gravity)
    shafts, force = twin.shafts(given)
    found = gd.elastic.feedforward(arm, given, "exact")
    for rows, expected in zip((found.theta, found.vtheta, found.atheta), shafts, strict=True):
        assert error(rows, expected) < TWIN
    given_by_motors = twin.structure_matrix(arm.records.drivetrain) @ found.tau_m
    assert error(given_by_motors, force, np.abs(force).max()) < TWIN


@pytest.mark.parametrize("method", ["exact", "reduced", "expanded"])
def test_motion_satisfies_the_equations(arm: gd.GearedModel, method: str) -> None:
    """Forces balance; vtheta and atheta are the derivatives of theta along the path."""
    model = arm.with_elasticity("uncoupled") if method == "reduced" else arm
    order = 6 if method == "expanded" else None
    given = path(arm, 1 + gd.elastic.derivatives_needed(arm, method, order))

    def at(t: float) -> gd.elastic.Feedforward:
        return gd.elastic.feedforward(arm, later(given, t), method, order)

    found = at(0.0)
    now = gd.State(given[0], given[1], found.theta, found.vtheta)
    link, shaft = gd.elastic.inverse_dynamics(model, now, given[2], found.atheta)
    A = gd.elastic.structure_matrix(arm) @ found.tau_m
    still = np.zeros_like(found.theta)
    scale = np.abs(
        gd.elastic.joint_torque(arm, gd.State(given[0], 0 * given[0], found.theta, still))
    ).max()
    assert error(link, A[: arm.n], scale) < BALANCE
    assert error(shaft, A[arm.n :], scale) < BALANCE
    assert error(derivative(lambda t: at(t).theta), found.vtheta) < SLOPE
    assert error(derivative(lambda t: at(t).vtheta), found.atheta) < SLOPE


ANYWHERE = {
    "motors anywhere": elastic_arm(0, 4),
    "some elastic, mimics": elastic_arm(1, 5, share=0.4),
    "branched, sliding": elastic_arm(2, 5, share=0.6, branched=True, prismatic=True),
    "massless links": elastic_arm(6, 4, massless=True, share=0.7),
}


@pytest.mark.parametrize("arm", ANYWHERE.values(), ids=ANYWHERE)
def test_expansion_for_motors_anywhere_and_damped_springs(arm: gd.GearedModel) -> None:
    """Where S is not triangular the expansion still converges to a balance of forces."""
    order = 12
    given = path(arm, 2 * order + 3)
    given[4:] = 0.0
    found = gd.elastic.feedforward(arm, given, "expanded", order)
    now = gd.State(given[0], given[1], found.theta, found.vtheta)
    link, shaft = gd.elastic.inverse_dynamics(arm, now, given[2], found.atheta)
    A = gd.elastic.structure_matrix(arm) @ found.tau_m
    scale = np.abs(A).max()
    assert error(link, A[: arm.n], scale) < BALANCE
    assert error(shaft, A[arm.n :], scale) < BALANCE


def simulate(
    plant: gd.GearedModel, model: gd.GearedModel, method: Any, order: int | None = None
) -> float:
    """Largest |q - reference| [rad or m] of the plant under the model's feedforward alone."""
    n, shafts = plant.n, plant.elasticity.joint.size
    rows = gd.elastic.derivatives_needed(model, method, order)
    goal = 0.6 * np.cos(np.arange(n))
    reference = gd.trajectory.rest_to_rest(np.zeros(n), goal, 0.4, continuous=max(rows, 8))

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, theta, v, vtheta = np.split(y, np.cumsum([n, shafts, n]))
        ff = gd.elastic.feedforward(model, reference.derivatives(t, rows), method, order)
        a, atheta = gd.elastic.forward_dynamics(plant, gd.State(q, v, theta, vtheta), ff.tau_m)
        return np.concatenate([v, vtheta, a, atheta])

    given = reference.derivatives(0.0, rows)
    begin = gd.elastic.feedforward(model, given, method, order)
    y = np.concatenate([given[0], begin.theta, given[1], begin.vtheta])
    end = 0.8 * reference.end
    done = solve_ivp(rate, (0.0, end), y, method="DOP853", rtol=1e-10, atol=1e-12)
    assert done.success
    return float(np.abs(done.y[:n].T - reference.derivatives(done.t, 0)[:, 0]).max())


@pytest.mark.parametrize("name", ["elbow", "some elastic, coupled"])
def test_the_arm_follows_open_loop(name: str) -> None:
    """Flatness: from matching initial conditions the torque alone makes the links follow."""
    arm = ARMS[name]
    assert holds(
        f"open loop, exact feedforward [rad], {name}", simulate(arm, arm, "exact"), FOLLOWED
    )


def test_what_the_approximations_cost() -> None:
    """The reduced model's residual error, and the expansion's, which falls with its order."""
    arm = ARMS["elbow"]
    exact = simulate(arm, arm, "exact")
    reduced = simulate(arm, arm, "reduced")
    first, second = (simulate(arm, arm, "expanded", k) for k in (1, 2))
    assert holds("open loop, reduced feedforward [rad], elbow", reduced, 1e-2)
    assert holds("open loop, expanded to order 1 [rad], elbow", first, 1e-3)
    assert holds("open loop, expanded to order 2 [rad], elbow", second, 1e-6)
    assert exact < 0.1 * second < 0.01 * first < 0.01 * reduced


def test_damped_springs_are_followed_by_the_expansion() -> None:
    """Also an expansion in D / K, here 1 ms; the exact solution of this is refused."""
    arm = elbow(damping=3.0)
    errors = [simulate(arm, arm, "expanded", k) for k in (1, 2, 3)]
    assert holds("open loop, D = 3, expanded to order 3 [rad], elbow", errors[2], 1e-5)
    assert errors[2] < 0.1 * errors[1] < 0.01 * errors[0]


def test_a_ratio_one_percent_off_does_not_follow() -> None:
    right, wrong = flat_arm(2, 2, coupled=False), flat_arm(2, 2, coupled=False, ratio=1.01)
    assert simulate(right, right, "exact") < FOLLOWED
    assert simulate(right, wrong, "exact") > NEGATIVE


@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_expansion_converges(damping: float) -> None:
    """Each order of the expansion brings theta and the torque nearer to the last."""
    arm = flat_arm(5, 4, damping=damping)
    given = path(arm, 17)
    last = gd.elastic.feedforward(arm, given, "expanded", 7)
    errors = [
        error(gd.elastic.feedforward(arm, given, "expanded", k).tau_m, last.tau_m)
        for k in range(1, 6)
    ]
    assert all(b < 0.2 * a or b < 1e-13 for a, b in pairwise(errors)), errors
    if not damping:
        exact = gd.elastic.feedforward(arm, given, "exact")
        assert error(last.tau_m, exact.tau_m) < BALANCE
