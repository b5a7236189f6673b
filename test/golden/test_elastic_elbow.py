"""The elbow with three elastic joints against a symbolic Lagrangian of its bodies."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from numpy.typing import NDArray

import geared_dynamics as gd
from elastic_arms import STIFFNESS, URDF, elbow, elbow_drives, joined
from geared_dynamics.model.model import GearedModel
from naive.measure import holds
from naive.symbolic import DHRow, Equations, RigidBody, derive, exact, exact_matrix, exact_slopes

# Relative to the largest element, the oracle being exact to the last digit.
RELATIVE = 1e-12
ACCELERATION = 1e-11  # the same through the condition of H and the springs' large forces
DAMPING = 2.5  # [N m s/rad]
LINKS = ("link_1", "link_2", "link_3")
STATES = np.random.default_rng(8).uniform(-3, 3, (4, 7, 3))


@pytest.fixture(scope="module")
def arm() -> GearedModel:
    """The published robot with springs."""
    return elbow(damping=DAMPING)


@pytest.fixture(scope="module")
def derived(arm: GearedModel) -> Equations:
    """Lagrange's equations in (q, theta) of three links and three rotors."""
    rows = [DHRow(0, 1, 0, 0), DHRow(exact(0.45), 0, 1, 0), DHRow(exact(0.4), 0, 1, 0)]
    bodies = []
    for number, name in enumerate(LINKS, start=1):
        body = next(link.inertia for link in arm.records.robot.links if link.name == name)
        assert body is not None
        tensor = exact_matrix(body.tensor)
        bodies.append(RigidBody(number, exact(body.mass), exact_matrix(body.com), tensor))
    for i, (wheel, ratio) in enumerate(
        zip(arm.records.drivetrain.wheels, (120, 100, 80), strict=True)
    ):
        axis = exact_matrix(wheel.axis)
        along = axis * axis.T
        tensor = exact(wheel.axial) * along + exact(wheel.transverse) * (sp.eye(3) - along)
        com = exact_matrix(wheel.position)
        bodies.append(RigidBody(i, exact(wheel.mass), com, tensor, axis, 3 + i, ratio))
    return derive(rows, bodies, exact_matrix([0, 0, -9.81]), shafts=3)


def error(found: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Largest error over the largest element."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def acceleration(derived: Equations, state: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve Lagrange's equations with the springs."""
    q, theta, v, vtheta, tau_m = state[:5]
    x, rate = np.r_[q, theta], np.r_[v, vtheta]
    te = np.array(STIFFNESS) * (theta - q) + DAMPING * (vtheta - v)
    force = np.r_[te, np.array([120, 100, 80]) * tau_m - te]
    bias = derived.coriolis_matrix(x, rate) @ rate + derived.gravity_forces(x)
    return np.linalg.solve(derived.mass_matrix(x), force - bias)


def test_equations(arm: GearedModel, derived: Equations) -> None:
    errors = []
    for q, theta, v, vtheta in STATES[:, :4]:
        x, rate = np.r_[q, theta], np.r_[v, vtheta]
        C, g = derived.coriolis_matrix(x, rate), derived.gravity_forces(x)
        found = gd.elastic.coriolis_matrix(arm, gd.State(q, v, vtheta=vtheta))
        errors.append(
            [
                error(gd.elastic.mass_matrix(arm, q), derived.mass_matrix(x)),
                error(found, C),
                error(gd.elastic.bias_forces(arm, gd.State(q, 0 * v, vtheta=0 * v)), g),
                error(gd.elastic.bias_forces(arm, gd.State(q, v, vtheta=vtheta)), C @ rate + g),
            ]
        )
    names = ("mass matrix", "Coriolis matrix", "gravity forces", "bias forces")
    for name, largest in zip(names, np.max(errors, axis=0), strict=True):
        assert holds(f"elastic elbow, symbolic Lagrangian, {name}", largest, RELATIVE)


def test_acceleration(arm: GearedModel, derived: Equations) -> None:
    largest = 0.0
    for state in STATES:
        found = np.concatenate(gd.elastic.forward_dynamics(arm, joined(*state[:4]), state[4]))
        largest = max(largest, error(found, acceleration(derived, state)))
    assert holds("elastic elbow, symbolic Lagrangian, acceleration", largest, ACCELERATION)


def test_derivatives(arm: GearedModel, derived: Equations) -> None:
    """Those of the symbolic equations, and of the springs by hand."""
    P = np.hstack([-np.eye(3), np.eye(3)])
    K, D = (P.T @ np.diag(c) @ P for c in (np.array(STIFFNESS), np.full(3, DAMPING)))
    for q, theta, v, vtheta, a, atheta, tau_m in STATES[:2]:
        now = joined(q, theta, v, vtheta)
        x, rate, change = np.r_[q, theta], np.r_[v, vtheta], np.r_[a, atheta]
        assert derived.force is not None
        by_x, by_rate, H = exact_slopes(derived.force, [x, rate, change])
        found = gd.elastic.inverse_dynamics_derivatives(arm, now, a, atheta)
        for block, expected in zip(found[1:], (by_x + K, by_rate + D, H), strict=True):
            assert error(block, expected) <= RELATIVE
        forward = gd.elastic.forward_dynamics_derivatives(arm, now, tau_m)
        by_x, by_rate, H = exact_slopes(derived.force, [x, rate, forward.a])
        A = np.vstack([np.zeros((3, 3)), np.diag([120, 100, 80])])
        sides = (-by_x - K, -by_rate - D, A, np.eye(6)[:, :3])
        for block, right in zip(forward[1:], sides, strict=True):
            assert error(block, np.linalg.solve(H, right)) <= ACCELERATION


def test_one_percent_of_a_ratio_shows(derived: Equations) -> None:
    """Negative control: rotor 3 one per cent faster."""
    drives = elbow_drives(DAMPING)
    drives["spins"][2]["ratio"] *= 1.01
    wrong = gd.load_model(URDF / "elbow.urdf", drives)
    found = np.concatenate(
        gd.elastic.forward_dynamics(wrong, joined(*STATES[0, :4]), STATES[0, 4])
    )
    assert error(found, acceleration(derived, STATES[0])) > 1e-6
    x = np.r_[STATES[0, 0], STATES[0, 1]]
    matrix = gd.elastic.mass_matrix(wrong, STATES[0, 0])
    assert error(matrix, derived.mass_matrix(x)) > 1e-4


def test_coupling_is_strictly_triangular(arm: GearedModel) -> None:
    """Each motor before its joint in a serial arm: theta_j meets joints before j only."""
    for q in STATES[:, 0]:
        S = gd.elastic.mass_matrix(arm, q)[:3, 3:]
        assert np.abs(np.tril(S)).max() == 0.0
        assert np.abs(np.triu(S, 1)).max() > 1e-3
