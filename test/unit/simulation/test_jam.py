"""Gears that jam while the arm coasts: stopped by a plastic impact, and held."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import Q, V, planar

contact = gd.contact
LOCKING = {"driving": 0.4, "backdriving": -0.3}


def kinetic(model: gd.GearedModel, q: np.ndarray, v: np.ndarray) -> float:
    return float(gd.kinetic_energy(model, q, v))


def oracle(model: gd.GearedModel, q: np.ndarray, v: np.ndarray, motors: list[int]) -> np.ndarray:
    """The same by a saddle-point system: M dv = G\'P, G v+ = 0 with G the motors\' rows."""
    M, G = gd.mass_matrix(model, q), model.structure_matrix.T[motors]
    k = len(motors)
    whole = np.block([[M, -G.T], [G, np.zeros((k, k))]])
    return np.asarray(np.linalg.solve(whole, np.concatenate([M @ v, np.zeros(k)]))[: model.n])


def jammed() -> tuple[gd.GearedModel, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The planar arm with self-locking gears and a load that drives the first one back."""
    model = planar(efficiency=LOCKING)
    return model, Q, np.array([1.0, 2.0]), np.zeros(2), np.array([-80.0, 300.0])


def test_it_stops_and_holds() -> None:
    model, q, v, torque, load = jammed()
    with pytest.raises(gd.GearedDynamicsError, match=r"the gear jams.*gd\.contact\.jam"):
        gd.motion_from_torque(model, q, v, torque, external=load, mode="exact")
    found = contact.jam(model, q, v, torque, external=load)
    assert found.motors
    index = [model.motor_names.index(name) for name in found.motors]
    np.testing.assert_allclose(found.v, oracle(model, q, v, index), atol=1e-12)
    assert np.abs(model.structure_matrix.T[index] @ found.v).max() < 1e-11
    lost = kinetic(model, q, v) - kinetic(model, q, found.v)
    assert found.loss == pytest.approx(lost, rel=1e-12)
    assert lost > 0.0
    assert set(found.motors) <= set(found.after.motors)  # held afterwards
    assert np.abs(model.structure_matrix.T[index] @ found.after.a).max() < 1e-8


def test_what_does_not_jam_is_left_alone() -> None:
    model = planar(efficiency={"driving": 0.9, "backdriving": 0.8})
    found = contact.jam(model, Q, V, np.zeros(2), external=[0.0, -80.0])
    assert (found.motors, found.loss) == ((), 0.0)
    np.testing.assert_array_equal(found.v, V)
    assert not found.gear_impulse.any()


def test_bad_input_is_refused() -> None:
    model, q, v, torque, load = jammed()
    with pytest.raises(gd.GearedDynamicsError, match="v"):
        contact.jam(model, q, [np.nan, 0.0], torque, external=load)
    with pytest.raises(gd.GearedDynamicsError, match="torque"):
        contact.jam(model, q, v, [0.0], external=load)


@pytest.mark.parametrize("load", [(60.0, 0.0), (0.0, -300.0), (-150.0, 90.0), (80.0, -80.0)])
@pytest.mark.parametrize("kind", ["A", "B"])
def test_every_jam_is_resolved(kind: str, load: tuple[float, float]) -> None:
    """Coasting arms under many loads: a motion, or a stop that holds; never an error."""
    model, jams = planar(kind, efficiency=LOCKING), 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        q, v = random.uniform(-2, 2, 2), random.uniform(-2, 2, 2)
        found = contact.jam(model, q, v, np.zeros(2), external=load)
        jams += bool(found.motors)
        lost = kinetic(model, q, v) - kinetic(model, q, found.v)
        assert found.loss == pytest.approx(lost, abs=1e-12 * kinetic(model, q, v))
        assert np.isfinite(found.after.a).all()
    print(f"arm {kind}, load {load}: {jams} of 20 jam")
