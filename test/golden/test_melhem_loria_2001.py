"""Melhem 2001 on the elbow with three elastic joints: the 45 coordinates, and what print omits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import geared_dynamics as gd
from elastic_arms import elbow, elbow_drives, joined, state
from naive.elastic import ElasticTwin
from naive.measure import error, holds

# With joint rates up to this, the torque that eq. (32) misses exceeds 0.64 N m.
RATE = 2.33  # [rad/s]
LINKS = ("link_1", "link_2", "link_3")
ROTORS = ("rotor_1", "rotor_2", "rotor_3")
PARTS = (("p", LINKS), ("p", ROTORS), ("omega", LINKS), ("carrier", ROTORS), ("spin", ROTORS))


@pytest.fixture(scope="module")
def arm() -> gd.GearedModel:
    return elbow(damping=2.0)


@pytest.fixture(scope="module")
def states(arm: gd.GearedModel) -> list[np.ndarray]:
    """q, theta, v, vtheta of 500 states, the shafts close to the joints."""
    random = np.random.default_rng(0)
    q, near = random.uniform(-3, 3, (500, 3)), 0.01 * random.normal(size=(500, 3))
    v, slip = random.uniform(-RATE, RATE, (500, 3)), 0.1 * random.normal(size=(500, 3))
    return [q, q + near, v, v + slip]


def test_order_of_the_coordinates(arm: gd.GearedModel) -> None:
    """nu of (8)-(9): links' and rotors' centres, links' rates, nu_2, nu_3; 15 n of them."""
    expected = tuple(f"{one}.{part}.{c}" for part, names in PARTS for one in names for c in "xyz")
    assert gd.cartesian.coordinate_names(arm) == expected
    assert len(expected) == 45


def test_the_order_is_not_the_files() -> None:
    """A file that lists its rotors otherwise gives the same 45 coordinates."""
    drives = elbow_drives()
    drives["wheels"] = dict(reversed(drives["wheels"].items()))
    shuffled = gd.load_model(elbow().records.robot.source, drives)
    assert shuffled.wheel_names == ROTORS[::-1]
    assert gd.cartesian.coordinate_names(shuffled) == gd.cartesian.coordinate_names(elbow())
    q, theta, v, vtheta = state(elbow(), 0, 2)
    found, expected = (
        gd.cartesian.dynamics(model, gd.State(q, v, theta, vtheta))
        for model in (shuffled, elbow())
    )
    assert_allclose(found.jacobian, expected.jacobian, rtol=0, atol=1e-13)
    assert_allclose(found.velocity, expected.velocity, rtol=0, atol=1e-12)
    assert_allclose(found.motors, expected.motors)


def test_inertia(arm: gd.GearedModel) -> None:
    """(10), (11): M_1 block diagonal, M_2 diagonal and in four places; semidefinite."""
    q, theta, v, vtheta = state(arm, 0, 2)
    M = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta)).inertia
    assert not M.flags.writeable
    assert_allclose(np.diag(M)[:18], np.repeat([6.0, 10.0, 5.0, 0.8, 0.5, 0.5], 3))
    assert_allclose(M[18:21, 18:21], np.diag([0.035, 0.022, 0.031]), rtol=0, atol=1e-15)
    M2 = np.diag([2.0e-4, 2.0e-4, 2.4e-4, 0.8e-4, 0.8e-4, 1.2e-4, 0.8e-4, 0.8e-4, 1.2e-4])
    for rows in (slice(27, 36), slice(36, 45)):
        for columns in (slice(27, 36), slice(36, 45)):
            assert_allclose(M[rows, columns], M2)
    M1 = np.kron(np.eye(9), np.ones((3, 3))) > 0
    assert not np.any(M[:27, :27][~M1])
    assert not np.any(M[:27, 27:])
    values = np.linalg.eigvalsh(M)
    assert np.sum(np.abs(values) < 1e-17) == 9


def test_jacobian_blocks(arm: gd.GearedModel, states: list[np.ndarray]) -> None:
    """(12): J_1 and J_2 of q alone, J_3 of theta alone and constant."""
    J = gd.cartesian.dynamics(arm, joined(*states)).jacobian
    assert J.shape == (500, 45, 6)
    assert not np.any(J[:, :36, 3:])
    assert not np.any(J[:, 36:, :3])
    J3 = np.zeros((9, 3))
    J3[[2, 5, 8], [0, 1, 2]] = 120, 100, 80
    assert_allclose(J[:, 36:, 3:], np.broadcast_to(J3, (500, 9, 3)))
    assert not np.any(J[:, 27:30])  # the base carries rotor 1


def test_mass_matrix(arm: gd.GearedModel, states: list[np.ndarray]) -> None:
    """(33): H = J'MJ, H_2 strictly triangular, H_3 diagonal; the rigid arm's sum."""
    H = gd.cartesian.dynamics(arm, joined(*states)).mass_matrix
    expected = gd.elastic.mass_matrix(arm, states[0])
    scale = np.abs(expected).max()
    assert holds("Melhem 2001, H = J'MJ", error(H, expected), 1e-13)
    twin = ElasticTwin(*arm.records, arm.gravity)
    slow = twin.mass_matrix(np.r_[states[0][0], states[1][0]]).real
    assert_allclose(H[0], slow, rtol=0, atol=1e-13 * scale)
    assert np.abs(np.tril(H[:, :3, 3:])).max() < 1e-16
    ratios = np.array([120, 100, 80])
    H3 = np.diag(ratios**2 * [2.4e-4, 1.2e-4, 1.2e-4])
    assert_allclose(H[:, 3:, 3:], np.broadcast_to(H3, (500, 3, 3)), rtol=1e-14, atol=1e-15)
    S = np.vstack([np.eye(3), np.eye(3)])
    rigid = gd.mass_matrix(arm, states[0])
    assert_allclose(S.T @ H @ S, rigid, rtol=0, atol=1e-13 * scale)


def test_missing_torque(arm: gd.GearedModel, states: list[np.ndarray]) -> None:
    """(27), (28), (32) without N miss 0.64 N m within 2.33 rad/s; no energy shows it."""
    found = gd.cartesian.dynamics(arm, joined(*states))
    missing = found.projected(found.forces.gyroscopic)
    assert 0.64 < np.abs(missing).max() < 0.70
    wrong = np.linalg.solve(found.mass_matrix, missing[..., None])[..., 0]
    assert np.abs(wrong).max() > 1.4  # [rad/s^2]
    power = np.sum(missing * np.concatenate(states[2:], axis=-1), axis=-1)
    assert np.abs(power).max() < 1e-14
    C = gd.elastic.coriolis_matrix(arm, joined(*states))
    force = (C @ np.concatenate(states[2:], axis=-1)[..., None])[..., 0]
    printed = found.projected(found.drift @ found.inertia)
    assert np.abs(force - printed).max() > 0.6
    assert_allclose(force, printed + missing, rtol=0, atol=1e-13 * np.abs(force).max())


def test_accelerations(arm: gd.GearedModel, states: list[np.ndarray]) -> None:
    tau_m = np.random.default_rng(1).normal(size=(500, 3))
    found = gd.cartesian.accelerations(arm, joined(*states), tau_m)
    expected = np.concatenate(gd.elastic.forward_dynamics(arm, joined(*states), tau_m), axis=-1)
    both = np.concatenate([found.a, found.atheta], axis=-1)
    assert holds("Melhem 2001, accelerations", error(both, expected), 1e-11)


def test_an_uneven_rotor_would_depend_on_its_angle(arm: gd.GearedModel) -> None:
    """Assumption 1 is not enough: Iyy = 0.7 Ixx leaves theta in H_1, up to 2.4e-5 kg m^2."""
    q, theta, v, vtheta = state(arm, 3, 2)
    angles = np.random.default_rng(0).uniform(-3, 3, (200, 3))
    found = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta), frame_angles=angles)
    assert np.ptp(found.mass_matrix, axis=0).max() < 1e-14
    M = found.inertia.copy()
    uneven = np.array([28, 31, 34])  # the rotors' second axes in nu_2
    for one in (uneven, uneven + 9):
        for other in (uneven, uneven + 9):
            M[one, other] *= 0.7
    H = found._replace(inertia=M).mass_matrix
    change = np.ptp(H[:, :3, :3], axis=0).max()
    assert 1.8e-5 < change < 0.3 * 0.8e-4


def test_truncated_model_of_remark_4(arm: gd.GearedModel, states: list[np.ndarray]) -> None:
    """Without nu_2 it is spong_truncated: the rotors' tensors leave H_1 as well."""
    found = gd.cartesian.dynamics(arm, joined(*states))
    M = found.inertia.copy()
    M[27:36], M[:, 27:36] = 0.0, 0.0
    expected = gd.elastic.mass_matrix(arm.with_elasticity("spong_truncated"), states[0])
    H = found._replace(inertia=M).mass_matrix
    assert_allclose(H, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_constant_left_inverse(arm: gd.GearedModel, states: list[np.ndarray]) -> None:
    """Fact 3: q'_i = e_i . omega_i - e_i . omega_(i-1), theta'_i = spin_i / ratio_i."""
    L = gd.cartesian.left_inverse(arm)
    J = gd.cartesian.dynamics(arm, joined(*states)).jacobian
    assert_allclose(L @ J, np.broadcast_to(np.eye(6), (500, 6, 6)), rtol=0, atol=1e-14)
    expected = np.zeros((6, 45))
    expected[0, 19] = 1.0  # z_0 is y of link 1
    expected[1, [23, 20]] = 1.0, -1.0  # z of link 2 and of link 1
    expected[2, [26, 23]] = 1.0, -1.0
    expected[[3, 4, 5], [38, 41, 44]] = 1 / 120, 1 / 100, 1 / 80
    assert_allclose(L, expected, rtol=0, atol=1e-15)


def test_properties(arm: gd.GearedModel, states: list[np.ndarray]) -> None:
    """P1-P3 of the elbow: what is found at 500 postures, and what holds for all."""
    found = gd.cartesian.properties(arm, states[0])
    assert (found.redundant, found.coordinates) == (45, 6)
    assert (found.rank, found.link_rank, found.shaft_rank) == (6, 3, 3)
    assert found.least_norm == pytest.approx(120.0, rel=1e-12)  # of J_3
    assert found.largest_norm == pytest.approx(120.0, rel=1e-12)
    assert found.shaft_inverse == pytest.approx(1 / 80, rel=1e-12)
    assert 1.5 < found.link_inverse < found.inverse_bound == pytest.approx(np.sqrt(3))
    assert found.norm_bound == pytest.approx(175.53, abs=0.01)
    assert 110 < found.lipschitz < found.lipschitz_bound == pytest.approx(151.02, abs=0.01)
    rigid = gd.cartesian.properties(arm, states[0], rigid=True)
    assert (rigid.rank, rigid.shaft_rank, rigid.shaft_inverse) == (3, 0, 0.0)
