"""Drive gains from a known load: what cannot be those of a drive is refused."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from elbow_run import MODEL, TAU, A, Q, T, V
from geared_dynamics.analysis.identification_equations import (
    Equations,
    drive_gains_from_load,
    equations,
    null_vector,
)
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.errors import RecordingError
from geared_dynamics.model.inertia import parameters_of
from geared_dynamics.recordings.motions import Meaning
from geared_dynamics.recordings.recording import recording_from_arrays

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")


def current_equations(gains: np.ndarray, mass: float = 4.0, seed: int = 0) -> Equations:
    """Equations of motor currents with these gains, without and with a load at link 3."""
    random, runs = np.random.default_rng(seed), []
    heavy = MODEL.with_payload(mass, (0.05, -0.02, 0.1), link=MODEL.body_names[-1])
    extra = gd.inverse_dynamics(heavy, Q, V, A) - gd.inverse_dynamics(MODEL, Q, V, A)
    for tau in (TAU, TAU + extra):
        current = gd.motor_torques(MODEL, tau) / gains + random.normal(size=TAU.shape) * 0.02
        runs.append(recording_from_arrays(T, Q, current))
    return equations(MODEL, runs, Settings(Meaning("motor_torque"), holdout=0.0))


IMPOSSIBLE = {
    "sign": ((0.07, -0.05, 0.09), 4.0, None, r"motor_2 is not positive \(-0\.0[45]"),
    "unit": (
        (0.07, 0.05, 0.09),
        4.0,
        (70.0, 50.0, 90.0),
        r"motor_1 is 0\.001 times the file's 70",
    ),
    "one": (
        (0.07, 0.05, 0.09),
        4.0,
        (0.07, np.nan, 2.0),
        r"^drive gains: motor_3 is 0\.045 times",
    ),
    "a load of nothing": ((0.07, 0.05, 0.09), 1e-6, None, "motor_1 is not determined"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_drive_gains_are_refused(case: str) -> None:
    gains, mass, expected, words = IMPOSSIBLE[case]
    found = current_equations(np.array(gains), mass)
    load = parameters_of(mass, (0.05, -0.02, 0.1), np.zeros((3, 3)))
    usual = None if expected is None else np.array(expected)
    with pytest.raises(RecordingError, match=words):
        drive_gains_from_load(MODEL, found, found.run == 1, load, "link_3", expected=usual)


def test_gains_near_the_files_are_not_refused() -> None:
    """Within a factor of ten; a control of the cases above."""
    gains = np.array([0.07, 0.05, 0.09])
    found = current_equations(gains)
    load = parameters_of(4.0, (0.05, -0.02, 0.1), np.zeros((3, 3)))
    for factor in (0.15, 1.0, 7.0):
        result = drive_gains_from_load(
            MODEL, found, found.run == 1, load, "link_3", expected=factor * gains
        )
        np.testing.assert_allclose(result.gains, gains, rtol=0.05)


def test_gains_that_exact_data_do_not_determine() -> None:
    """Without noise nothing is uncertain but what the rows leave open."""
    random = np.random.default_rng(0)
    rows, x = random.normal(size=(200, 4)), np.array([1.0, 2.0, -1.0])
    rows[:, 3] = -rows[:, :3] @ x
    value, sigma = null_vector(rows)
    np.testing.assert_allclose(value, x, rtol=1e-9)
    assert (sigma < 1e-6).all()
    rows[:, 2] = 0.5 * rows[:, 1]  # of columns 1 and 2 only the sum is known
    rows[:, 3] = -rows[:, :3] @ x
    _, sigma = null_vector(rows)
    assert sigma[0] < 1e-6
    assert np.isinf(sigma[1:]).all()
