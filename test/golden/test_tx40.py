"""Stäubli TX40: published numbers, and a real recording of its motors (data/tx40).

Recording and values: figaroh-plus, examples/staubli_TX40 (Apache-2.0); residuals and
friction as the data's SOURCE.txt names them, from an independent program.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from naive.drives import ratios_scaled, with_spin

RATE = 5000.0  # [Hz]
CUTOFF = 100.0  # [Hz]
FACTOR = (10, 10)  # of the decimation, in two steps
ENDS = 500  # samples left out at either end, where the filters start
SLOW = (0.050, 0.050, 0.075, 0.072, 0.056, 0.122)  # [rad/s]; the source's 1 % of top speed

# Joint-side error of each joint's torque [% of its rms], and its rms [N m].
NAMED = np.array([4.5, 4.5, 7.6, 7.2, 10.5, 8.8])
NAMED_RMS = np.array([1.6, 1.5, 1.0, 0.46, 0.96, 0.49])
NAMED_IN_JOINT_SPACE = np.array([51.0, 30.0])  # joints 5 and 6
# SOURCE.txt leaves open the filters' orders, the ends and the grid. Percentage points.
SLACK, SLACK_IN_JOINT_SPACE = 0.25, 1.0
# Printed to two figures.
SLACK_RMS = 0.05  # [N m]

VISCOUS = np.array([8.06, 5.58, 1.97, 1.11, 1.85, 0.64])  # [N m s/rad], motors included
COULOMB = np.array([7.10, 8.10, 6.33, 2.48, 3.04, 0.30])  # [N m], motor 6 left out
MOTOR_6 = {"viscous": 0.614, "coulomb": 1.99, "inertia": 0.0094}  # joint side
REFLECTED = np.array([0.0966, 0.0317, 0.0469])  # [kg m^2], joints 3 to 5
# Four times the standard deviation that the source gives for the smallest of them.
FRICTION_SLACK = 0.05

GEARS = np.array([32, 32, 45, -48, 45, 32])
PUBLISHED_REFLECTED = np.array([0.362, 0.362, 0.0988, 0.0313, 0.0468, 0.0105])
PUBLISHED_VISCOUS = np.array([8.05, 5.53, 1.97, 1.11, 1.86, 0.65])  # [N m s/rad], motor 6 in
PUBLISHED_COULOMB = np.array([7.14, 8.26, 6.34, 2.48, 3.03, 0.282])  # [N m], motor 6 not in
PUBLISHED_MOTOR_6 = (0.616, 1.95)  # the same two of motor 6, on q5' + q6', joint side
DH = [(0, 0, 0.32, 0), (0, -0.5, 0, 0), (0.225, 0, 0.035, 0)]  # a, alpha / pi, d, theta / pi
DH += [(0, 0.5, 0.225, 0), (0, -0.5, 0, 0), (0, 0.5, 0, 1)]
EXACT = 1e-12  # rounding of a handful of products of numbers of order one


class Recording(NamedTuple):
    """Joint motion and joint-side torque at full rate (samples, 6)."""

    q: Array
    v: Array
    a: Array
    tau: Array


class Fit(NamedTuple):
    """A fit's parameters by name, and per joint its error [%] and rms error [N m]."""

    values: dict[str, float]
    error: Array
    rms: Array


@pytest.fixture(scope="module")
def arm(published: Callable[[str], GearedModel]) -> GearedModel:
    """The published robot."""
    return published("tx40")


@pytest.fixture(scope="module")
def recording(arm: GearedModel, shared_data: Path) -> Recording:
    """The motors' angles and torques, brought to the joints: phi = A' q, tau = A tau_m."""
    signal = pytest.importorskip("scipy.signal")
    read = {"delimiter": ",", "skiprows": 1}
    phi = np.loadtxt(shared_data / "tx40" / "pos_read_data.csv", **read)
    tau_m = np.loadtxt(shared_data / "tx40" / "curr_data.csv", **read)
    A = arm.structure_matrix
    q = np.linalg.solve(A.T, phi.T).T
    q[:, 1] -= np.pi / 2
    q[:, 2] += np.pi / 2
    q = signal.filtfilt(*signal.butter(4, 2 * CUTOFF / RATE), q, axis=0)
    v = np.gradient(q, 1 / RATE, axis=0)
    a = np.gradient(v, 1 / RATE, axis=0)
    inner = slice(ENDS, -ENDS)
    return Recording(q[inner], v[inner], a[inner], (tau_m @ A.T)[inner])


@pytest.fixture(scope="module")
def coupled(arm: GearedModel, recording: Recording) -> Fit:
    """Rotor 6 turns with joints 5 and 6, and so does its friction."""
    return fitted(arm, recording)


@pytest.fixture(scope="module")
def in_joint_space(arm: GearedModel, recording: Recording) -> Fit:
    """The same with motor 6 kept in joint 6: inertia and friction at the joints."""
    spin = arm.Gamma.copy()
    spin[5, 4] = 0.0
    return fitted(with_spin(arm, spin), recording)


def fitted(model: GearedModel, data: Recording) -> Fit:
    """Weighted least squares for base parameters, friction and offsets."""
    names, Y = columns(model, data)
    moving = np.abs(decimated(data.v)) > SLOW
    Y, tau = decimated(Y), decimated(data.tau)
    rows = [Y[moving[:, j], j] for j in range(model.n)]
    right = [tau[moving[:, j], j] for j in range(model.n)]
    found = solved(rows, right, np.ones(model.n))
    deviation = residual_rms(rows, right, found)
    found = solved(rows, right, deviation)
    rms = residual_rms(rows, right, found)
    size = [np.sqrt(np.mean(t**2)) for t in right]
    return Fit(dict(zip(names, found, strict=True)), 100 * rms / size, rms)


def columns(model: GearedModel, data: Recording) -> tuple[list[str], Array]:
    """Columns that the motion can tell apart, with names: Y (samples, 6, columns).

    A motor's friction acts through A: A diag(phi') and A diag(sign phi'), phi' = A' v.
    Where a motor serves one joint this is that joint's friction and stays out.
    """
    kept = [*gd.base_parameters(model).selection]
    all_names = gd.parameter_names(model, friction=True, offset=True)
    kept += range(len(gd.parameters(model)), len(all_names))
    Y = gd.regressor(model, data.q, data.v, data.a, friction=True, offset=True)
    A = model.structure_matrix
    shared = np.flatnonzero(np.count_nonzero(A, axis=0) > 1)
    rate = data.v @ A
    parts, names = [Y[..., kept]], [all_names[k] for k in kept]
    for kind, factor in (("viscous", rate), ("coulomb", np.sign(rate))):
        parts.append((A * factor[:, None, :])[..., shared])
        names += [f"{model.motor_names[k]}.{kind}" for k in shared]
    return names, np.concatenate(parts, axis=-1)


def decimated(values: Array) -> Array:
    """Every hundredth sample, after a filter without delay."""
    signal = pytest.importorskip("scipy.signal")
    for factor in FACTOR:
        values = signal.decimate(values, factor, axis=0, zero_phase=True)
    return values


def solved(rows: list[Array], right: list[Array], deviation: Array) -> Array:
    """Least squares with each joint's equations divided by its standard deviation."""
    Y = np.vstack([y / s for y, s in zip(rows, deviation, strict=True)])
    tau = np.concatenate([t / s for t, s in zip(right, deviation, strict=True)])
    scale = np.linalg.norm(Y, axis=0)
    return np.linalg.lstsq(Y / scale, tau, rcond=None)[0] / scale


def residual_rms(rows: list[Array], right: list[Array], found: Array) -> Array:
    """Root mean square of each joint's residual [N m]."""
    pairs = zip(rows, right, strict=True)
    return np.array([np.sqrt(np.mean((y @ found - t) ** 2)) for y, t in pairs])


def test_geometry_is_the_published_table(arm: GearedModel) -> None:
    rows = [
        {"a": a, "alpha": np.pi * alpha, "d": d, "theta": np.pi * theta, "mass": 1.0}
        for a, alpha, d, theta in DH
    ]
    table = gd.from_dh(rows, convention="modified", drivetrain=rotors_of_inertia(1.0))
    q = np.random.default_rng(1).uniform(-3, 3, (20, 6))
    for link in arm.body_names:
        np.testing.assert_allclose(gd.pose(arm, q, link), gd.pose(table, q, link), atol=EXACT)


def rotors_of_inertia(axial: float) -> dict[str, object]:
    """A wheel for each joint, so that a table of frames makes an arm."""
    wheel = {"carrier": "base", "axis": [0, 0, 1], "mass": 0, "inertia": {"axial": axial}}
    spins = [{"wheel": f"r{i}", "joint": f"joint_{i}", "ratio": 1} for i in range(1, 7)]
    return {"version": 1, "wheels": {f"r{i}": wheel for i in range(1, 7)}, "spins": spins}


def test_links_are_the_sources(arm: GearedModel, shared_data: Path) -> None:
    """Without the rotors, the arm of the published URDF (whose angles have 11 digits)."""
    drives = Path(arm.drivetrain.source)  # link 6 of the source has no inertia about its joint
    source = gd.load_model(shared_data / "tx40" / "tx40_mdh_modified.urdf", drives)
    state = np.random.default_rng(2).uniform(-3, 3, (3, 20, 6))
    found = gd.inverse_dynamics(arm.with_coupling("none"), *state)
    expected = gd.inverse_dynamics(source.with_coupling("none"), *state)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_drives_are_the_published_ones(arm: GearedModel) -> None:
    """q_m = R q with R = diag(N) but R[6, 5] = N_6; A = R', Ia the diagonal of R' J R."""
    R = np.diag(GEARS)
    R[5, 4] = GEARS[5]
    np.testing.assert_array_equal(arm.structure_matrix, R.T)
    reflected = arm.reflected_inertia
    np.testing.assert_allclose(reflected.diagonal(), PUBLISHED_REFLECTED, rtol=1e-5)
    assert reflected[4, 5] == pytest.approx(PUBLISHED_REFLECTED[5], rel=1e-5)


def test_friction_is_the_published_one(arm: GearedModel) -> None:
    """Viscous and Coulomb friction at the joints, motor 6's own included once."""
    A = arm.structure_matrix
    rotors, joints = arm.motors.friction, arm.joint_friction
    assert rotors.index.tolist() == [5]
    viscous = np.diag(joints.viscous) + (A[:, [5]] * rotors.viscous) @ A[:, [5]].T
    expected = np.diag(PUBLISHED_VISCOUS)
    expected[4, 5] = expected[5, 4] = PUBLISHED_MOTOR_6[0]
    np.testing.assert_allclose(viscous, expected, rtol=EXACT, atol=EXACT)
    np.testing.assert_array_equal(joints.coulomb[:, 0], PUBLISHED_COULOMB)
    np.testing.assert_allclose(A[4:, 5] * rotors.coulomb[0, 0], PUBLISHED_MOTOR_6[1], rtol=EXACT)


@pytest.mark.parametrize("joint", range(6))
def test_a_ratio_one_percent_off_shows(arm: GearedModel, joint: int) -> None:
    wrong = ratios_scaled(arm, joint, 1.01)
    found, given = wrong.reflected_inertia.diagonal(), PUBLISHED_REFLECTED
    assert abs(found[joint] / given[joint] - 1) > 0.02
    assert not np.array_equal(wrong.structure_matrix, arm.structure_matrix)


def test_measured_torques(coupled: Fit, in_joint_space: Fit) -> None:
    """With motor 6 on both joints every torque is met as named."""
    print(
        "\nfigure: TX40 joint   error %  named   rms N m  named    motor 6 in joint space %  named"
    )
    for j in range(6):
        named = f"{NAMED_IN_JOINT_SPACE[j - 4]:.0f}" if j > 3 else "-"
        print(
            f"figure: TX40 {j + 1:5}{coupled.error[j]:10.1f}{NAMED[j]:7.1f}{coupled.rms[j]:10.2f}"
            f"{NAMED_RMS[j]:7.2f}{in_joint_space.error[j]:28.1f}{named:>7}"
        )
    np.testing.assert_allclose(coupled.error, NAMED, atol=SLACK)
    np.testing.assert_allclose(coupled.rms, NAMED_RMS, atol=SLACK_RMS)


def test_joint_space_is_as_bad_as_named(coupled: Fit, in_joint_space: Fit) -> None:
    """The negative control: only joints 5 and 6 notice, and they do."""
    found = in_joint_space.error
    np.testing.assert_allclose(found[4:], NAMED_IN_JOINT_SPACE, atol=SLACK_IN_JOINT_SPACE)
    np.testing.assert_allclose(found[:4], coupled.error[:4], atol=SLACK)


def test_as_many_parameters_as_the_source_finds(coupled: Fit, shared_data: Path) -> None:
    rows = (shared_data / "tx40" / "TX40_bp_5.csv").read_text("utf-8").split("\n")
    assert len(coupled.values) == sum(bool(row) for row in rows) == 60


def test_identified_friction_and_rotors(coupled: Fit, arm: GearedModel) -> None:
    """Motor 6's share of joints 5 and 6 comes on top of their own."""
    values = coupled.values
    viscous = np.array([values[f"{joint}.viscous"] for joint in arm.joint_names])
    coulomb = np.array([values[f"{joint}.coulomb"] for joint in arm.joint_names])
    motor = GEARS[5] ** 2 * values["motor_6.viscous"], GEARS[5] * values["motor_6.coulomb"]
    viscous[4:] += motor[0]
    np.testing.assert_allclose(viscous, VISCOUS, atol=FRICTION_SLACK)
    np.testing.assert_allclose(coulomb, COULOMB, atol=FRICTION_SLACK)
    assert motor[0] == pytest.approx(MOTOR_6["viscous"], abs=FRICTION_SLACK)
    assert motor[1] == pytest.approx(MOTOR_6["coulomb"], abs=FRICTION_SLACK)
    J = np.array([values[f"rotor_{k}.J"] for k in (3, 4, 5, 6)])
    reflected = J * GEARS[2:] ** 2
    reflected[2] += reflected[3]  # what an armature model calls the inertia of drive 5
    np.testing.assert_allclose(reflected[:3], REFLECTED, rtol=0.06)  # the source's deviation
    assert reflected[3] == pytest.approx(MOTOR_6["inertia"], rel=0.26)  # likewise
