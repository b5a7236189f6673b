"""The redundant Cartesian model against the minimal one: random trees, skew and coupled rotors."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import geared_dynamics as gd
from elastic_arms import elastic_arm, state
from naive.measure import derivative
from random_robots import random_robot, random_state

URDF = Path(__file__).parents[2] / "urdf"
EXACT = 1e-12  # of the largest element: two ways of adding the same products
ACCELERATION = 1e-11  # the same through the condition of H
STEP = 1e-4  # [s], in which the fastest frame turns by a few hundredths of a radian
SLOPE = 1e-9  # of differences: rounding over the step
ROBOTS = sorted(file.stem for file in URDF.glob("*.urdf"))

ARMS = {
    "all elastic": elastic_arm(0),
    "some elastic": elastic_arm(1, 6, share=0.4),
    "branched, sliding": elastic_arm(2, 6, share=0.6, branched=True, prismatic=True),
    "one joint": elastic_arm(3, 1),
    "one rotor each": elastic_arm(4, 6, coupled=False, extra=False),
    "many joints": elastic_arm(5, 11, share=0.8, branched=True),
    "massless links": elastic_arm(6, 5, massless=True, share=0.7),
}


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = EXACT) -> None:
    """Compare by the largest element."""
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.fixture(params=ARMS.values(), ids=ARMS, scope="module")
def arm(request: pytest.FixtureRequest) -> gd.GearedModel:
    """Arms of every kind."""
    return request.param


@pytest.mark.parametrize("seed", range(3))
def test_equations_of_motion(arm: gd.GearedModel, seed: int) -> None:
    q, theta, v, vtheta = state(arm, seed, 2)
    found = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta))
    close(found.mass_matrix, gd.elastic.mass_matrix(arm, q))
    close(found.bias_forces, gd.elastic.bias_forces(arm, gd.State(q, v, vtheta=vtheta)))
    close(
        found.projected(found.forces.springs),
        -gd.elastic.spring_forces(arm, gd.State(q, v, theta, vtheta)),
    )
    close(found.jacobian.T @ found.motors, gd.elastic.structure_matrix(arm))
    energy = 0.5 * found.velocity @ found.inertia @ found.velocity
    close(energy, gd.elastic.kinetic_energy(arm, gd.State(q, v, vtheta=vtheta)))
    power = found.velocity @ found.forces.gyroscopic
    assert abs(power) < EXACT * np.abs(found.velocity * found.forces.gyroscopic).sum()


@pytest.mark.parametrize("seed", range(5))
def test_accelerations(arm: gd.GearedModel, seed: int) -> None:
    q, theta, v, vtheta = state(arm, seed, 2)
    random = np.random.default_rng(seed)
    tau_m, tau = random.normal(size=(2, arm.n))
    f_ext = random.normal(size=(len(arm.body_names), 6))
    found = gd.cartesian.accelerations(arm, gd.State(q, v, theta, vtheta), tau_m, f_ext, tau=tau)
    expected = gd.elastic.forward_dynamics(
        arm, gd.State(q, v, theta, vtheta), tau_m, f_ext, tau=tau
    )
    close(np.r_[found.a, found.atheta], np.concatenate(expected), ACCELERATION)
    jacobian = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta)).jacobian
    assert np.abs(jacobian.T @ found.reaction).max() < 1e-10 * (
        np.abs(jacobian).T @ np.abs(found.reaction)
    ).max(initial=1.0)


@pytest.mark.parametrize("seed", range(3))
def test_rigid_joints(arm: gd.GearedModel, seed: int) -> None:
    """None for theta: the same arm with theta = q."""
    q, _, v, _ = state(arm, seed, 2)
    random = np.random.default_rng(seed)
    tau_m, f_ext = random.normal(size=arm.n), random.normal(size=(len(arm.body_names), 6))
    rigid = gd.cartesian.dynamics(arm, gd.State(q, v))
    close(rigid.mass_matrix, gd.mass_matrix(arm, q))
    close(rigid.bias_forces, gd.bias_forces(arm, q, v))
    found = gd.cartesian.accelerations(arm, gd.State(q, v), tau_m, f_ext)
    expected = gd.forward_dynamics(arm, q, v, arm.structure_matrix @ tau_m, f_ext)
    close(found.a, expected, ACCELERATION)
    assert found.atheta.shape == (0,)


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_of_the_package(name: str) -> None:
    drives = URDF / f"{name}.drivetrain.yaml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gd.GearedDynamicsWarning)
        robot = gd.load_model(URDF / f"{name}.urdf", drives)
    q, v, tau = random_state(robot.n, 1, batch=(20,))
    found = gd.cartesian.accelerations(robot, gd.State(q, v), tau=10 * tau)
    close(found.a, gd.forward_dynamics(robot, q, v, 10 * tau), ACCELERATION)
    close(gd.cartesian.dynamics(robot, gd.State(q, v)).mass_matrix, gd.mass_matrix(robot, q))


def test_without_wheels() -> None:
    case = random_robot(3, joints=4, wheels=0)
    q, v, tau = random_state(4, 1)
    arm = gd.load_model(case.urdf, gravity=case.gravity)
    found = gd.cartesian.accelerations(arm, gd.State(q, v), tau=tau)
    assert found.nu.shape == (6 * len(arm.body_names),)
    close(found.a, gd.forward_dynamics(arm, q, v, tau), ACCELERATION)


@pytest.mark.parametrize("seed", range(3))
def test_jacobian_is_of_the_frames(arm: gd.GearedModel, seed: int) -> None:
    """Angular rows of links and linear rows of wheels are those of the functions for frames."""
    q, _, v, _ = state(arm, seed, 2)
    names = gd.cartesian.coordinate_names(arm)
    found = gd.cartesian.dynamics(arm, gd.State(q, v))
    for wheel in arm.wheel_names:
        at = names.index(f"{wheel}.p.x")
        close(found.jacobian[at : at + 3] + 1, gd.jacobian(arm, q, wheel)[:3] + 1)
        close(found.drift[at : at + 3] + 1, gd.jacobian_drift(arm, q, v, wheel)[:3] + 1)
    for link in arm.body_names:
        at, turn = names.index(f"{link}.omega.x"), gd.pose(arm, q, link)[:3, :3]
        close(turn @ found.jacobian[at : at + 3] + 1, gd.jacobian(arm, q, link)[3:] + 1)
        alpha = turn @ found.drift[at : at + 3]  # omega x omega = 0
        close(alpha + 1, gd.jacobian_drift(arm, q, v, link)[3:] + 1)


@pytest.mark.parametrize("seed", range(2))
def test_jacobian_rate_is_the_derivative(arm: gd.GearedModel, seed: int) -> None:
    q, theta, v, vtheta = state(arm, seed, 2)

    def jacobian(t: float) -> np.ndarray:
        return gd.cartesian.dynamics(
            arm, gd.State(q + t * v, v, theta + t * vtheta, vtheta)
        ).jacobian

    rate = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta)).jacobian_rate
    close(derivative(jacobian, STEP), rate, SLOPE)


@pytest.mark.parametrize("seed", range(3))
def test_the_frames_of_the_wheels_do_not_matter(arm: gd.GearedModel, seed: int) -> None:
    """Any angle and any rate of a rotor's frame: neither H nor forces nor motion change."""
    q, theta, v, vtheta = state(arm, seed, 2)
    random = np.random.default_rng(seed)
    count = len(arm.wheel_names)
    own = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta))
    other = gd.cartesian.dynamics(arm, gd.State(q, v, theta + 0.3, vtheta))  # theta turns them too
    angles, rates = random.uniform(-3, 3, count), random.uniform(-9, 9, count)
    spun = [
        gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta), frame_angles=angles),
        gd.cartesian.dynamics(
            arm, gd.State(q, v, theta, vtheta), frame_angles=angles, frame_rates=rates
        ),
        gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta), frame_rates=0 * rates),
        other,
    ]
    for found in spun:
        carried = np.any(arm.wheels.carrier >= 0)
        assert not carried or np.abs(found.jacobian_rate - own.jacobian_rate).max() > 1e-3
        close(found.mass_matrix, own.mass_matrix)
        close(found.bias_forces, own.bias_forces)


def test_a_frame_that_turns_otherwise_needs_its_own_gyroscopic_terms() -> None:
    """Negative control: N of one frame with J_dot of another is wrong."""
    arm = ARMS["all elastic"]
    q, theta, v, vtheta = state(arm, 0, 2)
    own = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta))
    rates = np.full(len(arm.wheel_names), 100.0)
    other = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta), frame_rates=rates)
    mixed = other._replace(forces=own.forces)
    assert np.abs(mixed.bias_forces - own.bias_forces).max() > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_without_gyroscopic_terms_it_is_wrong(arm: gd.GearedModel, seed: int) -> None:
    """Negative control: C = J'M J_dot alone, as Melhem 2001 has it."""
    q, theta, v, vtheta = state(arm, seed, 2)
    found = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta))
    missing = found.projected(found.forces.gyroscopic)
    some = np.abs(missing).max() > 1e-4
    # One body that turns about a fixed axis has none.
    assert some or sum(not slides for slides in arm.tree.prismatic) < 2


def test_a_ratio_one_percent_off_fails() -> None:
    wrong, right = elastic_arm(0, ratio=1.01), ARMS["all elastic"]
    q, theta, v, vtheta = state(right, 0, 2)
    found = gd.cartesian.accelerations(wrong, gd.State(q, v, theta, vtheta), v)
    expected = gd.elastic.forward_dynamics(right, gd.State(q, v, theta, vtheta), v)
    with pytest.raises(AssertionError):
        close(np.r_[found.a, found.atheta], np.concatenate(expected), 1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_constant_left_inverse_of_revolute_arms(seed: int) -> None:
    arm = elastic_arm(seed, 5, share=0.6, branched=seed % 2 == 1, prismatic=False)
    L = gd.cartesian.left_inverse(arm)
    rigid = gd.cartesian.left_inverse(arm, rigid=True)
    for row in range(3):
        q, theta, v, vtheta = state(arm, row, 2)
        found = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta))
        assert_allclose(L @ found.jacobian, np.eye(len(L)), rtol=0, atol=1e-13)
        assert_allclose(L @ found.velocity, np.r_[v, vtheta], rtol=0, atol=1e-12)
        J = gd.cartesian.dynamics(arm, gd.State(q, v)).jacobian
        assert_allclose(rigid @ J, np.eye(arm.n), rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_properties_hold(seed: int) -> None:
    """Found bounds lie within the ones for all postures, and both hold for the matrices."""
    arm = elastic_arm(seed, 4, share=0.6, prismatic=False, branched=seed % 2 == 1)
    postures = np.random.default_rng(seed).uniform(-3, 3, (40, arm.n))
    found = gd.cartesian.properties(arm, postures)
    k = arm.n + arm.elasticity.joint.size
    assert (found.rank, found.link_rank, found.shaft_rank) == (k, arm.n, k - arm.n)
    assert 1 / found.inverse_bound <= found.least_norm <= found.largest_norm <= found.norm_bound
    assert found.lipschitz <= found.lipschitz_bound < np.inf
    q, theta, v, vtheta = state(arm, seed, 2)
    _, _, w, wtheta = state(arm, seed + 1, 2)
    here = gd.cartesian.properties(arm, q)
    one, other = (
        gd.cartesian.dynamics(arm, gd.State(q, *rates))
        for rates in ((v, theta, vtheta), (w, theta, wtheta))
    )
    values = np.linalg.svd(one.jacobian, compute_uv=False)
    assert here.largest_norm == pytest.approx(values[0], rel=1e-12)
    assert 1 / values[-1] <= here.inverse_bound * (1 + 1e-12)
    gap, step = one.jacobian_rate - other.jacobian_rate, np.r_[v - w, vtheta - wtheta]
    assert np.linalg.norm(gap) <= here.lipschitz * np.linalg.norm(step) * (1 + 1e-12)
    h = 1e-7
    near = gd.cartesian.dynamics(arm, gd.State(q + h * v, v, theta + h * vtheta, vtheta))
    slope = (np.linalg.pinv(near.jacobian) - np.linalg.pinv(one.jacobian)) / h
    rate = np.linalg.norm(np.r_[v, vtheta])
    assert np.linalg.norm(slope) <= here.inverse_lipschitz_bound * rate


def test_the_lipschitz_constant_is_reached() -> None:
    """Some direction of the rates has it: none can be smaller."""
    arm = ARMS["some elastic"]
    q, theta, _, _ = state(arm, 0, 2)
    k = arm.n + theta.size
    rates = np.eye(k)
    slopes = gd.cartesian.dynamics(arm, gd.State(q, rates[:, : arm.n], theta, rates[:, arm.n :]))
    _, values, directions = np.linalg.svd(slopes.jacobian_rate.reshape(k, -1).T)
    worst = directions[0]
    found = gd.cartesian.dynamics(arm, gd.State(q, worst[: arm.n], theta, worst[arm.n :]))
    lipschitz = gd.cartesian.properties(arm, q).lipschitz
    assert np.linalg.norm(found.jacobian_rate) == pytest.approx(lipschitz, rel=1e-12)
    assert values[0] == pytest.approx(lipschitz, rel=1e-12)
