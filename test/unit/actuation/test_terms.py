"""What the drives add to the equations of motion, against other ways to say it."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm, state
from geared_dynamics.actuation.friction_elements import drive_terms
from geared_dynamics.simulation.integrators import phi
from naive.measure import error


@pytest.mark.parametrize("coupling", ["complete", "diagonal", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_rotors_turn_with_their_carriers(seed: int, coupling: str) -> None:
    """beta = J (s' + e . alpha) with alpha from the carrier's Jacobian."""
    model = driven_arm(seed).with_coupling(coupling)
    q, v, a = state(model, seed)
    rotors = drive_terms(model, q, v, v, None).rotors
    J = model.J[model.motor_wheel] if coupling != "none" else np.zeros(model.n)
    wanted = model.structure_matrix.T @ a
    for r, wheel in enumerate(model.motor_wheel):
        body = model.wheels.carrier[wheel]
        if coupling == "complete" and body >= 0:
            link = model.body_names[body]
            alpha = gd.jacobian(model, q, link)[3:] @ a + gd.jacobian_drift(model, q, v, link)[3:]
            wanted[r] += gd.pose(model, q, link)[:3, :3] @ model.wheels.axis[wheel] @ alpha
    assert error(rotors.rows @ a + rotors.drift, J * wanted) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_base_and_slope_are_the_friction_of_control(seed: int) -> None:
    """Of the joints against ``friction_forces``, of the rotors against ``motor_commands``."""
    model = driven_arm(seed)
    q, v, a = state(model, seed)
    v = v * 10.0 ** np.linspace(-4, 1, model.n)
    terms = drive_terms(model, q, v, v, None)
    load = 30.0 * a
    wanted = gd.friction_forces(model, v, q, load)
    assert error(terms.joint_base + terms.joint_slope * np.abs(load), wanted) < 1e-13
    commands = gd.motor_commands(model, q, v, a)
    friction = commands.torque - commands.shaft_torque
    pressed = terms.rotor_slope * np.abs(commands.transmitted_torque)
    assert error(terms.rotor_base + pressed, friction) < 1e-10
    np.testing.assert_allclose(terms.turn, np.tanh(commands.speed / 0.5), rtol=1e-12)


def test_exact_friction_has_a_sign() -> None:
    """Far from rest it is the smooth one; the way decides, not the rate; within the band none."""
    model = driven_arm(1)
    q, v, _ = state(model, 1)
    smooth, exact = (drive_terms(model, q, 5 * v, 5 * v, band) for band in (None, 1e-9))
    assert error(exact.joint_base, smooth.joint_base) < 1e-12
    assert error(exact.rotor_base, smooth.rotor_base) < 1e-12
    np.testing.assert_array_equal(drive_terms(model, q, v, -v, 1e-9).turn, -exact.turn)
    still = drive_terms(model, q, v, v, 1e9)
    for zero in (still.turn, still.joint_slope, still.rotor_slope):
        np.testing.assert_array_equal(zero, 0.0)


@pytest.mark.parametrize("x", [-1e9, -40.0, -1.0, -0.9999999, -0.5, -1e-3, -1e-12, 0.0])
def test_phi(x: float) -> None:
    """phi_k = sum x^j / (j + k)!, exactly; far below zero by the recursion."""
    found = phi(np.array([x]))[:, 0]
    if x >= -40.0:
        exact = Fraction(x)
        for k in range(4):
            terms = (exact**j / factorial(j + k) for j in range(200 if x < -1 else 30))
            assert found[k] == pytest.approx(float(sum(terms)), rel=1e-14, abs=1e-300)
    else:
        np.testing.assert_allclose(found, [0, -1 / x, -1 / x, -0.5 / x], rtol=1e-8)
