"""The observer node as the loop-benchmark's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.apps.latency_run import Options, efforts, elastic_puma, observer
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime.latency_figures import posture
from geared_dynamics.runtime.observer_settings import ObserverParameters
from geared_dynamics.runtime.process_tasks import RATE, TorqueTable, save

ob = gd.observers
ROOT = Path(__file__).resolve().parents[3]


def options(rate: int = 1000, joints: int = 6) -> Options:
    names = [f"joint_{k + 1}" for k in range(joints)]
    return Options(names, [0.0] * joints, rate, 1.0, 1.0, None)


def test_the_robot_that_comes_with_it_has_springs() -> None:
    urdf, text = elastic_puma()
    model = gd.load_model(urdf, text)
    assert model.elasticity.count == 6
    schema = {parameter.name: parameter for parameter in ObserverParameters.rows()}
    for rate in (5, 100, 4000):
        for name, value in observer(model, urdf, text, options(rate)).parameters.items():
            schema[name].checked(value)


def test_what_cannot_be_measured_is_refused() -> None:
    files = (ROOT / "urdf" / f"elbow.{kind}" for kind in ("urdf", "drivetrain.yaml"))
    elbow = gd.load_model(*files)
    with pytest.raises(GearedDynamicsError, match=r"no elastic joints.*stiffness"):
        observer(elbow, Path("a.urdf"), None, options())
    urdf, text = elastic_puma()
    model = gd.load_model(urdf, text)
    with pytest.raises(GearedDynamicsError, match="at least 5"):
        observer(model, urdf, text, options(4))


def test_the_torques_shown_are_those_of_the_motion() -> None:
    """The observer takes them and sees no force from outside; without them it does."""
    urdf, text = elastic_puma()
    model = gd.load_model(urdf, text)
    start = posture(model)
    table = efforts(model, options()._replace(start=start))
    gains = ob.kalman_gains(model, resolution=4.8e-5)
    found = []
    for shown in (table[0], np.zeros(6)):
        state = None
        angles = model.structure_matrix.T @ start + model.motor_zeros
        reading = gd.Measurement(angles, np.linalg.solve(model.structure_matrix, shown))
        for _ in range(300):
            state = (
                ob.kalman_start(model, gains, reading)
                if state is None
                else ob.kalman_step(model, gains, state, reading, 1e-3)
            )
        found.append(np.abs(ob.estimate(model, state, gains).external).max())
    assert found[0] < 2.0
    assert found[1] > 10.0 * found[0]


def test_a_table_goes_straight_from_row_to_row(tmp_path: Path) -> None:
    path = save(np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 5.0]]), tmp_path / "t.npy")
    table = TorqueTable(path, 2)
    np.testing.assert_allclose(table.at(0.25 / RATE), [0.5, 1.0])
    np.testing.assert_allclose(table.at(-1.0), [0.0, 1.0])
    np.testing.assert_allclose(table.at(9.0), [4.0, 5.0], atol=1e-4)
    np.testing.assert_array_equal(TorqueTable("", 3).at(1.0), np.zeros(3))
