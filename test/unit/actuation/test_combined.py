"""Linear actuators on an arm: Vukobratovic 2002, eq. (20.74)-(20.82)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.actuation.linear_actuators import CombinedSystem
from geared_dynamics.arrays import readonly
from motor_data import JOINT, LINEAR_JOINT, ROTOR, state, with_motors
from naive.measure import error, holds

SAME = 1e-9


def system(arm: gd.GearedModel, inductance: float) -> CombinedSystem:
    """The arm with its own DC motors as linear actuators."""
    model = with_motors(arm, inductance=inductance, joint=LINEAR_JOINT)
    return gd.combine_actuators(model, {n: gd.dc_actuator(model, n) for n in model.motor_names})


@pytest.mark.parametrize("inductance", [0.0, 1.5e-3])
@pytest.mark.parametrize("coupling", ["complete", "diagonal"])
def test_same_motion_as_the_driven_model(
    tx40: gd.GearedModel, coupling: str, inductance: float
) -> None:
    combined = system(tx40.with_coupling(coupling), inductance)
    model = combined.model
    q, v, current, u = state(model, 1, 4)
    x = combined.state(q, v)
    if inductance:
        x = x.copy()
        x[2::3] = current
    np.testing.assert_allclose(combined.joints(x), (q, v), rtol=1e-13, atol=1e-13)
    found = combined.rates(x, 24.0 * u)
    a, slope = gd.driven_rates(model, q, v, current, 24.0 * u)
    assert holds(
        "linear actuators, acceleration", error(combined.acceleration(x, 24 * u), a), SAME
    )
    order = combined.actuators[0].order
    np.testing.assert_allclose(found[::order], v @ model.structure_matrix, rtol=1e-12)
    assert error(found[1::order], a @ model.structure_matrix) < SAME
    if inductance:
        assert error(found[2::order], slope) < SAME


def test_paper_equations(elbow: gd.GearedModel) -> None:
    """(20.80) to (20.82) for direct drives; D_hat as printed is another matrix."""
    model = replace(elbow, wheels=replace(elbow.wheels, spin=readonly(np.eye(3))))
    combined = system(model, 1.5e-3)
    q, v, current = state(model, 2)
    x = combined.state(q, v)
    x[2::3] = current
    C, F, D, T = combined.C, combined.F, combined.D, combined.T
    H = gd.mass_matrix(combined.model, q) - np.diag(combined.model.J)
    h = gd.bias_forces(combined.model, q, v) + gd.friction_forces(combined.model, v)
    inverse = np.linalg.inv(np.eye(3) - H @ T @ F)
    drift = C @ x + F @ inverse @ (H @ T @ C @ x + h)
    gain = D + F @ inverse @ H @ T @ D
    found = combined.terms(x)
    assert error(found.drift, drift) < 1e-12
    assert error(found.input, gain) < 1e-12
    with pytest.raises(ValueError, match="could not be broadcast"):
        D + inverse @ H @ T @ D  # (20.82) as printed: N x n plus n x n


def test_inputs_saturate(elbow: gd.GearedModel) -> None:
    combined = system(elbow, 0.0)
    limited = gd.combine_actuators(
        combined.model,
        {
            name: replace(actuator, limit=10.0)
            for name, actuator in zip(combined.model.motor_names, combined.actuators, strict=True)
        },
    )
    x = combined.state(*state(elbow, 3, 2))
    big, held = np.array([30.0, -30.0, 5.0]), np.array([10.0, -10.0, 5.0])
    np.testing.assert_array_equal(limited.rates(x, big), combined.rates(x, held))


def test_external_force(elbow: gd.GearedModel) -> None:
    combined = system(elbow, 0.0)
    q, v, u, external = state(elbow, 4, 4)
    x = combined.state(q, v)
    a = gd.driven_acceleration(combined.model, q, v, u, external=external)
    found = combined.rates(x, u, external)[1::2]
    assert error(found, a @ elbow.structure_matrix) < SAME


GOOD: dict[str, Any] = {
    "C": [[0, 1], [0, -2]],
    "f": [0, -10],
    "d": [0, 3],
    "angle": [1, 0],
    "speed": [0, 1],
}
BAD = {
    "not square": ({"C": [[0, 1, 0], [0, -2, 0]]}, "C: has shape"),
    "not numbers": ({"C": "x"}, "C: is not an array of real numbers"),
    "not finite": ({"d": [0, np.nan]}, r"d\[1\]: is nan"),
    "too long": ({"f": [0, -10, 0]}, "f: has shape"),
    "speed is not the rate": (
        {"speed": [0, 2]},
        "speed: does not equal the time derivative of the angle",
    ),
    "input moves the angle": (
        {"d": [1, 3]},
        "speed: does not equal the time derivative of the angle",
    ),
    "no inertia": ({"f": [0, 0]}, "f: leaves the motor shaft without inertia"),
    "negative inertia": ({"f": [0, 1]}, "f: leaves the motor shaft without inertia"),
    "limit": ({"limit": 0.0}, "limit: is 0;"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_actuators(name: str) -> None:
    change, message = BAD[name]
    with pytest.raises(gd.GearedDynamicsError, match=message):
        gd.LinearActuator(**{**GOOD, **change})


def test_actuators_that_do_not_fit(elbow: gd.GearedModel) -> None:
    combined = system(elbow, 0.0)
    model, names = combined.model, elbow.motor_names
    good = dict(zip(names, combined.actuators, strict=True))
    for actuators, message in (
        ({**good, "arm": good[names[0]]}, "there is no motor 'arm'"),
        ({names[0]: good[names[0]]}, "there is no actuator for motor"),
        ({**good, names[1]: gd.LinearActuator(**GOOD)}, "has inertia 0.1, its wheel"),
    ):
        with pytest.raises(gd.GearedDynamicsError, match=message):
            gd.combine_actuators(model, actuators)
    with pytest.raises(gd.GearedDynamicsError, match=r"friction\.load"):
        gd.combine_actuators(with_motors(elbow, joint=JOINT), good)
    with pytest.raises(gd.GearedDynamicsError, match="efficiency"):
        gd.combine_actuators(with_motors(elbow, efficiency=(0.9, 0.8)), good)
    with pytest.raises(gd.GearedDynamicsError, match="not only viscous"):
        gd.dc_actuator(with_motors(elbow, rotor=ROTOR), names[0])
    with pytest.raises(gd.GearedDynamicsError, match="x: has shape"):
        combined.rates(np.zeros(5), np.zeros(3))
