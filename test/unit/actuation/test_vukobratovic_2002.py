"""Vukobratovic 2002, section 20.3, equation by equation, against energies; print where it errs.

The arm is the planar one of naive.dc_arm with currents as states; ``RIGHT`` gives what the
paper's equations say, misprints corrected, ``PRINTED`` what stands in print and must fail.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from motor_data import state
from naive import dc_arm
from naive.measure import error

N, J, R, L, K, B = (
    np.array(values)
    for values in (
        dc_arm.RATIO,
        dc_arm.ROTOR,
        dc_arm.RESISTANCE,
        dc_arm.INDUCTANCE,
        dc_arm.K,
        dc_arm.VISCOUS,
    )
)
MODEL = gd.load_model(dc_arm.urdf(), dc_arm.drivetrain(), gravity=(0, -dc_arm.GRAVITY, 0))
EXACT = 1e-12


class Case:
    """A random state, its exact motion, and the paper's terms."""

    def __init__(self, seed: int) -> None:
        """Draw a state."""
        self.q, self.v, self.current, u = state(MODEL, seed, 4)
        self.u = 24.0 * u
        self.a = dc_arm.acceleration(self.q, self.v, self.current)
        self.di = dc_arm.current_rate(self.v, self.current, self.u)
        steady = dc_arm.steady_current(self.v, self.u)
        self.steady_a = dc_arm.acceleration(self.q, self.v, steady)
        self.M, self.h = gd.mass_matrix(MODEL, self.q), gd.bias_forces(MODEL, self.q, self.v)
        # What the links get from a shaft: M without the rotors' own spin.
        self.load = ((self.M - np.diag(J * N**2)) @ self.a + self.h) / N
        self.steady_load = ((self.M - np.diag(J * N**2)) @ self.steady_a + self.h) / N

    def matrices(self, j: int, lagging: bool) -> tuple[Array, Array, Array]:
        """C_j, f_j, d_j of (20.65) or (20.67)."""
        if lagging:
            C = [[0, 1, 0], [0, -B[j] / J[j], K[j] / J[j]], [0, -K[j] / L[j], -R[j] / L[j]]]
            return np.array(C), np.array([0, -1 / J[j], 0]), np.array([0, 0, 1 / L[j]])
        C = [[0, 1], [0, -(K[j] ** 2) / (R[j] * J[j]) - B[j] / J[j]]]
        return np.array(C), np.array([0, -1 / J[j]]), np.array([0, K[j] / (R[j] * J[j])])


def motor_rates(case: Case, lagging: bool, first_row: float = 1.0) -> Array:
    """(20.64) of both motors."""
    rows = []
    load = case.load if lagging else case.steady_load
    for j in range(2):
        C, f, d = case.matrices(j, lagging)
        C[0, 1] = first_row
        x = np.array([N[j] * case.q[j], N[j] * case.v[j], case.current[j]])[: len(f)]
        rows.append(C @ x + f * load[j] + d * case.u[j])
    return np.concatenate(rows)


def expected_rates(case: Case, lagging: bool) -> Array:
    """The same from the energies."""
    a = case.a if lagging else case.steady_a
    columns = [N * case.v, N * a, case.di][: 3 if lagging else 2]
    return np.stack(columns, axis=1).ravel()


def torque(case: Case) -> Array:
    """Joint torque of the arm with its rotors' spin: what the motors' torques give."""
    return dc_arm.torques_on_joints(case.current, case.v)


Pair = Callable[[Case], tuple[Array, Array]]
RIGHT: dict[str, Pair] = {
    "20.62": lambda c: (J * N * c.a, K * c.current - B * N * c.v - c.load),
    "20.63": lambda c: (c.u, R * c.current + L * c.di + K * N * c.v),
    "20.65": lambda c: (motor_rates(c, True), expected_rates(c, True)),
    "20.67": lambda c: (motor_rates(c, False), expected_rates(c, False)),
    "20.70": lambda c: (
        J * N * c.steady_a,
        K / R * c.u - (K * K / R + B) * N * c.v - c.steady_load,
    ),
    "20.71": lambda c: (
        c.M @ c.steady_a + c.h + (K * K / R + B) * N**2 * c.v,
        N * K / R * c.u,
    ),
    "20.75": lambda c: (np.linalg.solve(c.M, torque(c) - c.h), c.a),
    "20.77": lambda c: (
        -np.linalg.solve(c.M, c.h) + np.linalg.inv(c.M) @ torque(c),
        c.a,
    ),
}
BARE = MODEL.with_coupling("none")
PRINTED: dict[str, Pair] = {
    "20.67": lambda c: (motor_rates(c, False, 0.0), expected_rates(c, False)),
    "20.73": lambda c: (
        (gd.mass_matrix(BARE, c.q) + np.diag(J * N**2)) @ c.steady_a
        + c.h
        + (K * K / R + B) * N**2 * c.v,
        N * K / R * c.u,
    ),
    "20.77": lambda c: (
        -np.linalg.solve(c.M, c.h) - np.linalg.inv(c.M) @ torque(c),
        c.a,
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("equation", RIGHT)
def test_equation(equation: str, seed: int) -> None:
    found, expected = RIGHT[equation](Case(seed))
    assert error(found, expected) < EXACT


@pytest.mark.parametrize("equation", PRINTED)
def test_printed_equation_fails(equation: str) -> None:
    found, expected = PRINTED[equation](Case(0))
    assert error(found, expected) > 1e-3


def test_printed_actuator_is_refused() -> None:
    """(20.67) as printed: the angle's rate is not the speed."""
    C, f, d = Case(0).matrices(0, False)
    C[0, 1] = 0.0
    with pytest.raises(
        gd.GearedDynamicsError, match="speed: does not equal the time derivative of the angle"
    ):
        gd.LinearActuator(C, f, d, [1, 0], [0, 1])
