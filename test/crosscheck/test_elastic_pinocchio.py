"""Elastic arms against Pinocchio's trees in which every wheel is a body that turns freely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import geared_dynamics as gd
from elastic_arms import elastic_arm, joined, state
from geared_dynamics.analysis import pinocchio_reference
from geared_dynamics.analysis.pinocchio_tree import SpanningTree, spanning_tree
from naive.elastic import ElasticTwin
from naive.measure import holds

pin = pytest.importorskip("pinocchio")

AGREES = 1e-9  # of the largest acceleration: spins in the hundreds beside joint rates
MATRIX = 1e-11  # of the largest element


def free(model: gd.GearedModel, perturbed: float = 1.0) -> SpanningTree:
    """The tree, its rates by x = (q, theta): rows of wheels from the records alone."""
    tree = spanning_tree(model)
    twin = ElasticTwin(*model.records, model.gravity)
    G = np.hstack([tree.G, np.zeros((len(tree.G), twin.n - twin.links))])
    spins = {body.name: body.spin for body in twin.bodies}
    for name, joint in tree.wheel_joint.items():
        G[tree.tree.joints[joint].idx_v] = perturbed * spins[name]
    return replace(tree, G=G)


def articulated(
    model: gd.GearedModel, tree: SpanningTree, states: list[np.ndarray], tau_m: np.ndarray
) -> np.ndarray:
    """Acceleration of x by Pinocchio's articulated bodies, of a tree that is free."""
    q, theta, v, vtheta = states
    te = gd.elastic.joint_torque(model, gd.State(q, v, theta, vtheta))
    # G is square: the tree's own coordinates are the joints' and the rotors' angles.
    force = np.linalg.solve(tree.G.T, np.r_[te, ratios(model) * tau_m - te])
    x, rate = np.r_[q, theta], np.r_[v, vtheta]
    full = pin.aba(tree.tree, tree.data, tree.configuration(x), tree.G @ rate, force)
    return np.asarray(np.linalg.solve(tree.G, full))


def one_rotor_each(seed: int) -> gd.GearedModel:
    """Rotors skew and anywhere, one for each joint: the tree is free."""
    return elastic_arm(seed, 2 + seed % 6, coupled=False, extra=False, branched=seed % 2 == 1)


def test_three_forms_agree() -> None:
    """Ours, the Lagrangian twin and the Cartesian model against articulated bodies."""
    errors = []
    for seed in range(12):
        model = one_rotor_each(seed)
        states, tau_m = state(model, seed, 2), np.random.default_rng(seed).normal(size=model.n)
        q, theta, v, vtheta = states
        expected = articulated(model, free(model), states, tau_m)
        twin = ElasticTwin(*model.records, model.gravity)
        force = gd.elastic.structure_matrix(model) @ tau_m
        cartesian = gd.cartesian.accelerations(model, gd.State(q, v, theta, vtheta), tau_m)
        forms = (
            np.concatenate(
                gd.elastic.forward_dynamics(model, gd.State(q, v, theta, vtheta), tau_m)
            ),
            twin.forward_dynamics(np.r_[q, theta], np.r_[v, vtheta], force),
            np.r_[cartesian.a, cartesian.atheta],
        )
        errors.append([np.abs(a - expected).max() / np.abs(expected).max() for a in forms])
    names = ("elastic.forward_dynamics", "Lagrangian", "Cartesian")
    for name, largest in zip(names, np.max(errors, axis=0), strict=True):
        assert holds(f"12 random elastic arms, Pinocchio's ABA, {name}", largest, AGREES)


@pytest.mark.parametrize("seed", range(12))
def test_a_spin_one_percent_off_shows(seed: int) -> None:
    """Negative control."""
    model = one_rotor_each(seed)
    states, tau_m = state(model, seed, 2), np.random.default_rng(seed).normal(size=model.n)
    expected = articulated(model, free(model, 1.01), states, tau_m)
    found = np.concatenate(gd.elastic.forward_dynamics(model, joined(*states), tau_m))
    assert np.abs(found - expected).max() / np.abs(expected).max() > 1e3 * AGREES


def ratios(model: gd.GearedModel) -> np.ndarray:
    """Ratio of each motor to its own joint, from the records."""
    spins = {spin.wheel: dict(spin.coefficients) for spin in model.records.drivetrain.spins}
    motors = model.records.drivetrain.motors
    pairs = zip(motors, model.joint_names, strict=True)
    return np.array([spins[motor.wheel][name] for motor, name in pairs])


@pytest.mark.parametrize("seed", range(12))
def test_projected_tree(seed: int) -> None:
    """Coupled motors, idle wheels, wheels on the link side, rigid joints, mimics."""
    model = elastic_arm(20 + seed, 2 + seed % 6, share=0.5, branched=seed % 2 == 1, belts=seed % 3)
    tree = free(model)
    q, theta, v, vtheta, a, atheta = state(model, seed)
    x, rate, change = np.r_[q, theta], np.r_[v, vtheta], np.r_[a, atheta]
    H = pinocchio_reference.mass_matrix(tree, x)
    scale = np.abs(H).max()
    assert_allclose(gd.elastic.mass_matrix(model, q), H, rtol=0, atol=MATRIX * scale)
    bias = pinocchio_reference.bias_forces(tree, x, rate)
    found = gd.elastic.bias_forces(model, gd.State(q, v, vtheta=vtheta))
    assert_allclose(found, bias, rtol=0, atol=1e-9 * np.abs(bias).max())
    force = np.concatenate(
        gd.elastic.inverse_dynamics(model, gd.State(q, v, theta, vtheta), a, atheta)
    )
    force += gd.elastic.spring_forces(model, gd.State(q, v, theta, vtheta))
    expected = pinocchio_reference.inverse_dynamics(tree, x, rate, change)
    assert_allclose(force, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    energy = gd.elastic.kinetic_energy(model, gd.State(q, v, vtheta=vtheta))
    assert energy == pytest.approx(pinocchio_reference.kinetic_energy(tree, x, rate), rel=1e-11)
