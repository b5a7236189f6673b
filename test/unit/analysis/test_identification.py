"""Identification recovers what a simulated arm is made of, and says how well."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from exact_arms import exact_arm, exact_order, model_of
from geared_dynamics.analysis.identification import Identified, identify
from geared_dynamics.analysis.identification_equations import drive_gains_from_load, equations
from geared_dynamics.analysis.identification_results import payload, with_inertial, written
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.least_squares import solve
from geared_dynamics.analysis.parameter_columns import (
    base_columns,
    column_names,
    columns,
    lone_joints,
    matching,
    prior,
)
from geared_dynamics.analysis.physical import bare_links, pseudo_inertia
from geared_dynamics.description.yaml_files import read_data, yaml_text
from geared_dynamics.errors import ModelError, RecordingError, UnknownNameError
from geared_dynamics.model.inertia import parameters_of
from geared_dynamics.recordings.motions import Meaning
from geared_dynamics.recordings.recording import Recording, recording_from_arrays
from naive.exact_rank import PRIME, residue
from naive.exact_rank import regressor as exact_regressor
from naive.exact_rank import selection as exact_columns
from recorded_motions import ROBOTS, elbow, motion, torques, truth

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
BASE = base_columns(MODEL)
X = truth(MODEL)
T, Q, V, A = motion(40.0, 200.0)
TAU = torques(MODEL, X, Q, V, A)
NOISE = 1.0  # [N m]
SETTINGS = Settings(holdout=0.25)
TX40 = gd.load_model(ROBOTS / "tx40.urdf", ROBOTS / "tx40.drivetrain.yaml")


def recording(
    tau: np.ndarray = TAU, noise: float = 0.0, jitter: float = 0.0, seed: int = 0
) -> Recording:
    """Record the motion with noise in torques and positions."""
    random = np.random.default_rng(seed)
    q = Q + random.normal(size=Q.shape) * jitter
    return recording_from_arrays(T, q, tau + random.normal(size=TAU.shape) * noise)


def within(found: Identified, times: float = 3.0) -> np.ndarray:
    """Which parameters are as near to the truth as they say."""
    expected = found.base.combinations @ X
    return np.abs(found.x - expected) <= times * found.sigma


def test_base_columns_are_columns_of_the_torque() -> None:
    for model in (MODEL, TX40):
        base, random = base_columns(model), np.random.default_rng(1)
        x = random.normal(size=len(prior(model)))
        q, v, a = random.normal(size=(3, 30, model.n))
        Y = columns(model, q, v, a)
        assert Y.shape[-1] == len(column_names(model)) == len(x)
        found = Y[..., list(base.selection)] @ (base.combinations @ x)
        np.testing.assert_allclose(found, Y @ x, rtol=0, atol=1e-8 * np.abs(Y @ x).max())


@pytest.mark.parametrize("seed", range(20))
def test_base_columns_do_not_depend_on_the_ratios(seed: int) -> None:
    """Ratios up to 1e8, against exact elimination; signs of rates are numbers of their own."""
    joints, wheels = exact_arm(seed, 8.0)
    names = [k for k, wheel in enumerate(wheels) if any(wheel.ratios)]
    model = model_of(joints, wheels, names[:1])
    order, draw = exact_order(model), random.Random(seed)
    n, A, gravity = model.n, wheels[names[0]].ratios, [0, 0, residue(Fraction(-981, 100))]
    lone, alone = lone_joints(model), sum(map(bool, A)) == 1
    rows = []
    while len(rows) < 3 * len(column_names(model)):
        q, v, a, sign = ([draw.randrange(PRIME) for _ in range(n)] for _ in range(4))
        rate, other = sum(residue(A[j]) * v[j] for j in range(n)), draw.randrange(PRIME)
        rigid = exact_regressor(joints, wheels, (q, v, a), gravity)
        for i in range(n):
            row = [rigid[i][k] for k in order]
            for j in range(n):
                row += [v[j], sign[j], 1] if i == j else [0, 0, 0]
            row += [a[j] if i == j else 0 for j in lone]
            own = residue(abs(A[i])) * sign[i] if alone else residue(A[i]) * other
            rows.append([x % PRIME for x in (*row, residue(A[i]) * rate, own)])
    exact = exact_columns(rows, range(len(rows[0])))
    assert list(base_columns(model).selection) == exact


def test_columns_of_the_files_parameters_are_the_models_torque() -> None:
    q, v, a = np.random.default_rng(2).normal(size=(3, 20, 6))
    found = columns(TX40, q, v, a) @ prior(TX40)
    A = TX40.structure_matrix
    expected = gd.inverse_dynamics(TX40, q, v, a)
    viscous, coulomb, offset = TX40.friction
    expected += viscous * v + coulomb * np.sign(v) + offset
    rate, laws = v @ A[:, 5], TX40.motors.friction
    own = laws.viscous[0] * rate + laws.coulomb[0, 0] * np.sign(rate)
    np.testing.assert_allclose(found, expected + np.outer(own, A[:, 5]), rtol=1e-9, atol=1e-9)


def test_a_motor_of_two_joints_keeps_its_friction() -> None:
    names = base_columns(TX40).names
    assert "motor_6.viscous" in names
    assert "joint_6.viscous" in names
    assert "joint_1.viscous + 1024 motor_1.viscous" in names
    assert [TX40.joint_names[j] for j in lone_joints(TX40)] == ["joint_6"]
    assert lone_joints(MODEL) == []


def test_noise_free_truth_is_found() -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    found = identify(MODEL, [recording()], SETTINGS)
    expected = BASE.combinations @ X
    scale = np.maximum(np.abs(expected), 0.01)
    inertial = np.array(["coulomb" not in name and "offset" not in name for name in BASE.names])
    assert (np.abs(found.x - expected) / scale)[inertial].max() < 0.05
    assert (100 * found.residual[1] / found.rms < 2.0).all()  # what reversals leave
    assert found.physical is not None
    assert (found.physical.least > -1e-9).all()


@pytest.mark.parametrize("seconds", [10.0, 20.0])
def test_torques_without_any_noise_or_friction_have_physical_parameters(seconds: float) -> None:
    """Residuals of 1e-4 of the torque: weights, and the solver's numbers, get large."""
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    t, q, v, a = motion(seconds, 200.0)
    tau = gd.inverse_dynamics(MODEL, q, v, a)
    found = identify(MODEL, [recording_from_arrays(t, q, tau)], Settings(holdout=0.0))
    assert found.physical is not None
    assert (100 * found.residual[:3] / found.rms < 0.1).all()
    assert found.notes == ()


def test_what_is_missing_is_noted_and_the_rest_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsolved(*_: object) -> None:
        raise ModelError("physical_parameters", "the solver found none", "check the files")

    place = "geared_dynamics.analysis.identification.physical_parameters"
    monkeypatch.setattr(place, unsolved)
    tau = TAU.copy()
    tau[3000:3100] = np.nan
    found = identify(MODEL, [recording(tau)], SETTINGS)
    assert found.physical is None
    assert (100 * found.residual[1] / found.rms < 2.0).all()
    left_out, unphysical = found.notes
    assert "left out: 100 samples with NaN" in left_out
    assert unphysical.startswith("partial: no physical parameters: ")


def test_noisy_truth_is_within_its_deviations() -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    found = identify(MODEL, [recording(noise=NOISE, jitter=1e-5)], SETTINGS)
    assert within(found).all()
    assert (found.sigma > 0.0).all()
    wrong = identify(MODEL, [recording(1.1 * TAU, NOISE)], SETTINGS, physical=False)
    assert not within(wrong).all()  # control


@pytest.mark.validate
def test_truth_is_within_three_deviations_in_95_percent_of_200_runs() -> None:
    inside = []
    for run in range(200):
        found = identify(
            MODEL, [recording(noise=NOISE, jitter=1e-5, seed=run)], SETTINGS, physical=False
        )
        inside.append(within(found, 3.0))
    assert np.mean(inside, axis=0).min() >= 0.95


def test_weights_follow_the_joints_noise() -> None:
    random = np.random.default_rng(3)
    q, v, a = random.normal(size=(3, 500, 3))
    Y = columns(MODEL, q, v, a)[..., list(BASE.selection)]
    expected = BASE.combinations @ X
    used, errors = np.ones((500, 3), bool), []
    for _ in range(3):
        tau = Y @ expected + random.normal(size=(500, 3)) * [0.1, 1.0, 10.0]
        both = [solve(Y, tau, used, weighted=w) for w in (True, False)]
        errors.append(
            [np.linalg.norm((s.x - expected) / both[0].covariance.diagonal() ** 0.5) for s in both]
        )
        np.testing.assert_allclose(both[0].sigma, [0.1, 1.0, 10.0], rtol=0.2)
    weighted, plain = np.mean(errors, axis=0)
    assert weighted < 0.6 * plain


def test_robust_weights_bear_outliers() -> None:
    random = np.random.default_rng(4)
    tau = TAU + random.normal(size=TAU.shape)
    tau[2000:2400] += 60.0  # two seconds of contact
    plain, robust = (
        identify(MODEL, [recording(tau)], Settings(holdout=0.0), robust=r, physical=False)
        for r in (False, True)
    )
    expected, sigma = BASE.combinations @ X, plain.sigma
    errors = [np.linalg.norm((found.x - expected) / sigma) for found in (plain, robust)]
    assert errors[1] < 0.5 * errors[0]


def test_instruments_take_the_bias_of_noisy_positions_away() -> None:
    """Noise in the columns makes least squares too small; another record's is another."""
    random = np.random.default_rng(6)
    q, v, a = random.normal(size=(3, 4000, 3))
    selection = list(BASE.selection)
    expected = BASE.combinations @ X
    clean = columns(MODEL, q, v, a)[..., selection]
    tau = clean @ expected + random.normal(size=(4000, 3))
    noisy, other = (
        columns(MODEL, q, v, a + random.normal(size=a.shape))[..., selection] for _ in range(2)
    )
    used = np.ones((4000, 3), bool)
    direct = solve(noisy, tau, used, weighted=False)
    helped = solve(noisy, tau, used, weighted=False, instruments=other)
    off = [
        np.abs((found.x - expected) / np.sqrt(found.covariance.diagonal())).max()
        for found in (direct, helped)
    ]
    assert off[0] > 20.0
    assert off[1] < 3.0


def test_instruments_of_recordings() -> None:
    runs = [recording(noise=NOISE, jitter=1e-4, seed=k) for k in (1, 2)]
    found = identify(MODEL, runs[:1], SETTINGS, instruments=runs[1:], physical=False)
    assert within(found).all()
    short = recording_from_arrays(T[:4000], Q[:4000], TAU[:4000])
    with pytest.raises(RecordingError, match="same stamps"):
        identify(MODEL, runs[:1], SETTINGS, instruments=[short], physical=False)


def test_known_parameters_are_taken_from_the_files() -> None:
    tau = torques(MODEL, X, Q, V, A)
    found = identify(MODEL, [recording(tau, NOISE)], SETTINGS, known=["link_*"])
    assert found.physical is None
    assert not any("link_" in name for name in found.base.names)
    values, sigma = found.column_values, found.column_sigma
    for r, name in enumerate(MODEL.wheel_names):
        assert abs(values[f"{name}.J"] - MODEL.J[r]) < 3 * sigma[f"{name}.J"]
        assert sigma[f"{name}.J"] < 0.2 * MODEL.J[r]
    with pytest.raises(UnknownNameError, match="no parameter 'elbow"):
        matching(column_names(MODEL), ["elbow*"])


def test_validation_on_another_recording_and_on_the_end() -> None:
    runs = [recording(noise=NOISE, seed=k) for k in (1, 2)]
    for options in ({}, {"validate": runs[1:]}):
        found = identify(MODEL, runs[:1], SETTINGS, physical=False, **options)
        np.testing.assert_allclose(found.residual[3], found.residual[1], rtol=0.5)
    other = [recording(1.2 * TAU, NOISE)]
    worse = identify(MODEL, runs[:1], SETTINGS, validate=other, physical=False)
    assert (worse.residual[3] > 3 * worse.residual[1]).all()  # control


def test_a_joint_that_stands_still_is_named() -> None:
    q = Q.copy()
    q[:, 1] = 0.3
    still = recording_from_arrays(T, q, TAU)
    with pytest.raises(RecordingError, match="joint_2 hardly move"):
        equations(MODEL, [still])


def test_physical_parameters_are_bodies_even_if_the_base_ones_are_not() -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    short = recording_from_arrays(T[:1600], Q[:1600], TAU[:1600] + noise_of(15.0)[:1600])
    found = identify(MODEL, [short], Settings(holdout=0.0))
    assert found.physical is not None
    for body in bare_links(MODEL, found.physical.x):
        P = pseudo_inertia(body)
        assert np.linalg.eigvalsh(P)[0] >= -1e-9 * np.trace(P)
    names = np.array(found.equations.names)
    one_sided = [
        k for k, name in enumerate(names) if name.endswith((".J", ".viscous", ".coulomb"))
    ]
    assert (found.physical.x[one_sided] >= 0.0).all()
    # The best base parameters beat it in residual, or it would not be the best: joints by their
    # weights together, for one alone may gain at another's cost.
    best, full = ((found.residual[k] / found.residual[1]) ** 2 @ fitted(found) for k in (1, 2))
    assert best * (1 - 1e-6) <= full < 1.2 * best


def fitted(found: Identified) -> np.ndarray:
    """Equations of each joint (n,), all of them fitted."""
    return np.asarray(found.equations.used.sum(axis=0))


def noise_of(size: float) -> np.ndarray:
    """Torque noise along the motion."""
    return np.random.default_rng(9).normal(size=TAU.shape) * size


def test_a_load_is_found_with_its_deviations() -> None:
    load = parameters_of(1.5, (0.05, -0.02, 0.1), np.diag([0.01, 0.012, 0.008]))
    tensor, link = np.diag([0.01, 0.012, 0.008]), MODEL.body_names[-1]
    heavy = MODEL.with_payload(1.5, (0.05, -0.02, 0.1), tensor, link=link)
    tau = TAU + gd.inverse_dynamics(heavy, Q, V, A) - gd.inverse_dynamics(MODEL, Q, V, A)
    both = equations(MODEL, [recording(noise=0.3), recording(tau, 0.3, seed=1)])
    found = payload(MODEL, both, both.run == 1, MODEL.body_names[-1])
    expected = found.combinations @ load
    assert (np.abs(found.values - expected) < 3 * found.sigma).all()
    assert (found.sigma < 0.3 * np.abs(expected)).sum() >= 3
    with pytest.raises(RecordingError, match="without the load"):
        payload(MODEL, both, both.run == 7, MODEL.body_names[-1])


def test_drive_gains_from_a_known_load() -> None:
    gains = np.array([0.07, 0.05, 0.09])
    com, tensor = (0.05, -0.02, 0.1), np.diag([0.01, 0.012, 0.008])
    heavy = MODEL.with_payload(4.0, com, tensor, link=MODEL.body_names[-1])
    extra = gd.inverse_dynamics(heavy, Q, V, A) - gd.inverse_dynamics(MODEL, Q, V, A)
    random = np.random.default_rng(0)
    runs = []
    for tau in (TAU, TAU + extra):
        current = gd.motor_torques(MODEL, tau) / gains + random.normal(size=TAU.shape) * 0.02
        runs.append(recording_from_arrays(T, Q, current))
    settings = Settings(Meaning("motor_torque"), holdout=0.0)
    found = equations(MODEL, runs, settings)
    load = parameters_of(4.0, com, tensor)
    result = drive_gains_from_load(MODEL, found, found.run == 1, load, MODEL.body_names[-1])
    np.testing.assert_allclose(result.gains, gains, rtol=0.05)
    np.testing.assert_array_less(np.abs(result.gains - gains), 3 * result.sigma)
    assert (result.sigma < 0.05 * gains).all()  # or anything would be within them
    with pytest.raises(RecordingError, match="with and without"):
        drive_gains_from_load(MODEL, found, found.run >= 0, load, MODEL.body_names[-1])


def test_files_written_back_give_the_identified_model(tmp_path: Path) -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    found = identify(MODEL, [recording(1.05 * TAU, NOISE)], SETTINGS)
    assert found.physical is not None
    urdf = (ROBOTS / "elbow.urdf").read_text("utf-8")
    data = read_data(ROBOTS / "elbow.drivetrain.yaml")[0]
    new = written(MODEL, found.physical.x, urdf, data)
    assert new.changes
    assert new.unwritten == ()  # its motors have entries and its wheels are all the file's
    file = tmp_path / "new.drivetrain.yaml"
    file.write_text(yaml_text(new.drivetrain, "from a test"), "utf-8")
    again = gd.load_model(new.urdf, file)
    expected = found.equations.Y @ found.physical.x
    written_torque = columns(again, Q[:50], V[:50], A[:50]) @ prior(again)
    direct = columns(MODEL, Q[:50], V[:50], A[:50]) @ found.physical.x
    np.testing.assert_allclose(written_torque, direct, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_only_the_inertial_of_a_link_changes() -> None:
    text = (
        '<robot><!-- <link name="a"><inertial/></link> --><link name="b"/>'
        "<link name='a'>\n<visual/><inertial>old</inertial><!-- <inertial>x</inertial> --></link>"
        '<link name="c"><visual/></link></robot>'
    )
    new = with_inertial(text, "a", "<inertial>new</inertial>")
    assert new == text.replace("<inertial>old</inertial>", "<inertial>new</inertial>")
    assert '<link name="b">\n    <i/>\n  </link>' in with_inertial(text, "b", "<i/>")
    assert '<link name="c">\n    <i/><visual/></link>' in with_inertial(text, "c", "<i/>")
    with pytest.raises(gd.GearedDynamicsError, match="no link 'd'"):
        with_inertial(text, "d", "<i/>")


def test_yaml_text_is_read_back() -> None:
    data = {
        "version": 1,
        "wheels": {"r 1": {"axis": [0, 0, 1.5e-7], "carrier": "on", "included_in_link": True}},
        "spins": [{"wheel": "r 1", "coefficients": {"joint_5": 1e-5, "yes": -80}}],
        "other": {"nothing": None, "text": "a: b # c"},
    }
    assert read_data(yaml_text(data, "two\nlines"))[0] == data
