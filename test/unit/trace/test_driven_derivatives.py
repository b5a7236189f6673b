"""Derivatives of motor commands, elastic arms and by parameters, against dual numbers."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import balancers
from driven_arms import JOINT, MOTOR, driven_arm
from dual_numbers import dual_run
from elastic_arms import URDF, elastic_arm, elbow, elbow_drives, state
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.equations import packed_springs
from geared_dynamics.dynamics.packing import columns_of, packed, packed_balancers
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.kernels import drive, elastic
from geared_dynamics.kernels import drive_layout as at
from random_robots import random_robot, random_state
from traced_arms import any_arm, difference

EXACT = 1e-13


# -- motor commands -------------------------------------------------------------------------------


def check_commands(model: gd.GearedModel, seed: int) -> None:
    """Compare all derivatives of an arm's commands with those by dual numbers."""
    motion = random_state(model.n, seed)
    n, m = model.n, len(model.motor_names)
    constants = [packed(model), packed_drives(model), packed_balancers(model)]
    values, slopes = dual_run(drive.motor_commands, constants, list(motion), at.RESULT_ROWS * m)
    found = gd.motor_commands_derivatives(model, *motion)
    assert difference(found.commands._values.ravel(), values) <= EXACT
    for name, row in (("torque", at.TORQUE), ("current", at.CURRENT), ("voltage", at.VOLTAGE)):
        for k, key in enumerate("qva"):
            expected = slopes[row * m : (row + 1) * m, k * n : (k + 1) * n]
            assert difference(getattr(found, f"d{name}_d{key}"), expected) <= EXACT, (name, key)


@pytest.mark.parametrize("seed", range(5))
def test_commands_have_the_derivatives_of_dual_numbers(seed: int) -> None:
    model = driven_arm(seed, joints=2 + seed % 3)
    if seed % 2:
        model = driven_arm(seed, joints=model.n, balancers=balancers(model))
    check_commands(model, seed)


@pytest.mark.parametrize("kind", ["coil", "gas"])
def test_commands_of_a_balanced_arm_have_the_derivatives_of_dual_numbers(kind: str) -> None:
    """Its line elements have no force where the anchors meet, or the gas is used up."""
    arm = driven_arm(3, joints=3)
    coil = {"stiffness": 3e3, "length": 0.2}
    gas = {"area": 1.5e-3, "pressure": 1.5e6, "volume": 4e-3, "length": 0.9, "action": "pull"}
    places = ([0.4, 0.1, -0.7], [-0.1, 0.2, 0.1])
    anchors = [
        {"link": link, "position": place}
        for link, place in zip(arm.body_names[:2], places, strict=True)
    ]
    element = {kind: {"coil": coil, "gas": gas}[kind], "anchors": anchors}
    model = driven_arm(3, joints=3, balancers={"line": element})
    for seed in range(4):
        check_commands(model, seed)


@pytest.mark.validate
def test_commands_of_many_arms_have_the_derivatives_of_dual_numbers() -> None:
    for seed in range(5, 105):
        check_commands(driven_arm(seed, joints=1 + seed % 6), seed)


def test_other_friction_has_other_derivatives() -> None:
    motion = random_state(3, 4)
    friction = copy.deepcopy(MOTOR["friction"])
    friction["viscous"] *= 1.01
    one, other = (
        gd.motor_commands_derivatives(driven_arm(4, joints=3, **options), *motion)
        for options in ({}, {"friction": friction})
    )
    assert difference(other.dtorque_dv, one.dtorque_dv) > 1e4 * EXACT
    assert difference(other.dtorque_da, one.dtorque_da) <= EXACT


def test_a_payload_has_derivatives_of_its_own() -> None:
    model, motion = driven_arm(4, joints=3), random_state(3, 4)
    bare = gd.motor_commands_derivatives(model, *motion)
    loaded = model.with_payload(1.5, (0.1, 0.0, 0.2), link=model.body_names[-1])
    for arm in (loaded, gd.compiled(loaded)):
        check_commands(arm, 4)
        slopes = gd.motor_commands_derivatives(arm, *motion)
        assert difference(slopes.dtorque_da, bare.dtorque_da) > 1e4 * EXACT
    springs = elastic_arm(3, 3)
    check_elastic(springs, 3)
    check_elastic(springs.with_payload(1.5, (0.1, 0.0, 0.2), link=springs.body_names[-1]), 3)


def test_batches_of_commands_are_their_states() -> None:
    model = driven_arm(2, joints=3)
    q, v, a = random_state(3, 1, batch=(2, 3))
    whole = gd.motor_commands_derivatives(model, q[0, 0], v, a)
    one = gd.motor_commands_derivatives(model, q[0, 0], v[1, 2], a[1, 2])
    assert whole.dtorque_dq.shape == (2, 3, 3, 3)
    for name in ("dtorque_dq", "dcurrent_dv", "dvoltage_da"):
        assert difference(getattr(whole, name)[1, 2], getattr(one, name)) <= EXACT
    assert pickle.loads(pickle.dumps(model))._forms.tapes == {}


SMOOTH = {"viscous": 2e-5, "coulomb": 0.02, "smoothing": 0.5}
KINKED = {
    "levels that differ": (
        {"friction": {**SMOOTH, "coulomb": [0.02, 0.03]}},
        "no derivative by v",
    ),
    "a loss": (
        {"friction": SMOOTH, "efficiency": {"driving": 0.85, "backdriving": 0.7}},
        "no derivative by v",
    ),
}


@pytest.mark.parametrize(("options", "finding"), KINKED.values(), ids=KINKED)
def test_a_kink_is_refused_at_its_state_only(
    options: dict[str, Any], finding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(JOINT, "friction", {"viscous": 0.3, "coulomb": 0.8, "smoothing": 0.01})
    model = driven_arm(1, joints=2, **{"efficiency": None, **options})
    q, v, a = random_state(2, 0, batch=(4,))
    gd.motor_commands_derivatives(model, q, v, a)
    v[2] = 0.0
    with pytest.raises(ArrayError, match=rf"v of state 2.*motor 'motor_0' has {finding}"):
        gd.motor_commands_derivatives(model, q, v, a)


def test_smooth_friction_has_derivatives_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JOINT, "friction", {"viscous": 0.3, "coulomb": 0.8, "smoothing": 0.01})
    model = driven_arm(1, joints=2, efficiency=None, friction=SMOOTH)
    q, _, a = random_state(2, 0)
    slopes = gd.motor_commands_derivatives(model, q, np.zeros(2), a).dtorque_dv
    step = 1e-7 * np.eye(2)
    differences = [
        (gd.motor_commands(model, q, x, a).torque - gd.motor_commands(model, q, -x, a).torque)
        / 2e-7
        for x in step
    ]
    assert difference(slopes, np.transpose(differences)) <= 1e-7


def test_missing_constants_and_motors_are_refused() -> None:
    model = driven_arm(1, joints=2, torque_constant=None, resistance=None, inductance=None)
    found = gd.motor_commands_derivatives(model, *random_state(2, 0))
    assert np.isfinite(found.dtorque_da).all()
    with pytest.raises(ModelError, match="torque_constant"):
        _ = found.dcurrent_dq
    with pytest.raises(ModelError, match="motors"):
        gd.motor_commands_derivatives(any_arm(2), *random_state(any_arm(2).n, 0))
    with pytest.raises(ArrayError, match="v: has shape"):
        gd.motor_commands_derivatives(model, [0, 0], [0], [0, 0])


# -- elastic arms ---------------------------------------------------------------------------------


def check_elastic(model: gd.GearedModel, seed: int) -> None:
    """Compare the forward derivatives with dual numbers, the inverse ones with H and the law."""
    q, theta, v, vtheta, a, atheta = state(model, seed)
    now = gd.State(q, v, theta, vtheta)
    n, size = model.n, model.with_springs().n
    tau_m = np.random.default_rng(seed).normal(size=len(model.motor_names))
    tau = np.random.default_rng(seed + 1).normal(size=n)
    constants = [packed(model.with_springs()), packed_springs(model), np.empty(0)]
    inputs = [q, theta, v, vtheta, tau_m, tau]
    values, slopes = dual_run(elastic.elastic_forward_dynamics, constants, inputs, size)
    H = gd.elastic.mass_matrix(model, q)
    allowed = EXACT * max(1.0, np.linalg.cond(H) / 1e3)
    found = gd.elastic.forward_dynamics_derivatives(model, now, tau_m, tau=tau)
    assert difference(found.a, values) <= allowed
    ends = np.cumsum([size, size, len(tau_m)])
    blocks = np.split(slopes, ends, axis=1)
    for got, expected in zip(found[1:], blocks, strict=True):
        assert difference(got, expected) <= allowed
    inverse = gd.elastic.inverse_dynamics_derivatives(model, now, a, atheta)
    force = gd.elastic.inverse_dynamics(model, now, a, atheta)
    assert difference(inverse.tau, np.concatenate(force)) <= EXACT
    assert difference(inverse.dtau_da, H) <= EXACT
    at_rest = gd.elastic.inverse_dynamics_derivatives(model, now, found.a[:n], found.a[n:])
    assert difference(H @ blocks[0], -at_rest.dtau_dx) <= allowed
    assert difference(H @ blocks[1], -at_rest.dtau_drate) <= allowed


@pytest.mark.parametrize("seed", range(5))
def test_elastic_derivatives_are_those_of_dual_numbers(seed: int) -> None:
    check_elastic(elastic_arm(seed, 2 + seed % 3, share=0.6, belts=seed % 2), seed)


@pytest.mark.parametrize("kind", ["uncoupled", "spong_truncated"])
def test_reduced_elastic_arms_have_derivatives_too(kind: Any) -> None:
    check_elastic(elastic_arm(3, 3).with_elasticity(kind), 3)


@pytest.mark.validate
def test_derivatives_of_many_elastic_arms() -> None:
    for seed in range(5, 65):
        check_elastic(elastic_arm(seed, 2 + seed % 5, share=0.7, belts=seed % 3), seed)


def test_elastic_batches_are_their_states_and_fill_results() -> None:
    model = elbow(damping=2.0)
    states = [np.array(x) for x in zip(*(state(model, seed) for seed in range(4)), strict=True)]
    q, theta, v, vtheta, a, atheta = states
    now = gd.State(q, v, theta, vtheta)
    tau_m = a[0]
    forward = gd.elastic.forward_dynamics_derivatives(model, now, tau_m)
    inverse = gd.elastic.inverse_dynamics_derivatives(model, now, a, atheta)
    first = gd.State(q[2], v[2], theta[2], vtheta[2])
    for whole, one in (
        (forward, gd.elastic.forward_dynamics_derivatives(model, first, tau_m)),
        (inverse, gd.elastic.inverse_dynamics_derivatives(model, first, a[2], atheta[2])),
    ):
        for block, part in zip(whole, one, strict=True):
            assert difference(block[2], part) <= 1e-12
    kept = [x.copy() for x in forward]
    for block in forward:
        block[...] = np.nan
    result = gd.elastic.forward_dynamics_derivatives(model, now, tau_m, out=forward)
    assert result is forward
    assert all(np.array_equal(x, y) for x, y in zip(result, kept, strict=True))
    with pytest.raises(ArrayError, match="out: is a ElasticForwardDerivatives"):
        gd.elastic.inverse_dynamics_derivatives(model, now, a, atheta, out=forward)  # type: ignore[arg-type]
    with pytest.raises(ArrayError, match=r"out\.a: has shape \(4, 6\)"):
        gd.elastic.forward_dynamics_derivatives(model, first, tau_m, out=forward)


def test_the_end_of_a_springs_backlash_is_refused() -> None:
    model = elbow_with_backlash(0.02)
    q, zero = np.array([0.3, -0.5, 0.8]), np.zeros(3)
    inside, beyond = (q + np.array([0.0, play, 0.0]) for play in (0.01, 0.03))
    stiffness = []
    for theta in (inside, beyond):
        now = gd.State(q, zero, theta, zero)
        slopes = gd.elastic.inverse_dynamics_derivatives(model, now, zero, zero)
        stiffness.append(slopes.dtau_dx[4, 4])
    assert abs(stiffness[0]) <= 1e-9
    assert stiffness[1] == pytest.approx(7.0e3, rel=1e-12)
    exact = gd.State(zero, zero, np.array([0.0, model.elasticity.gap[1], 0.0]), zero)
    with pytest.raises(
        ArrayError, match=r"state\.theta: the spring between joint_2 .*backlash ends"
    ):
        gd.elastic.inverse_dynamics_derivatives(model, exact, zero, zero)


def elbow_with_backlash(gap: float) -> gd.GearedModel:
    """The elbow with elastic joints, with backlash in the second."""
    drives = elbow_drives(2.0)
    drives["joints"]["joint_2"]["backlash"] = 2.0 * gap
    return gd.load_model(URDF / "elbow.urdf", drives)


def test_rigid_arms_and_wrong_states_are_refused() -> None:
    model = elbow(damping=2.0)
    zero = np.zeros(3)
    with pytest.raises(ModelError, match="no joint of this arm is elastic"):
        gd.elastic.inverse_dynamics_derivatives(any_arm(1), gd.State(zero, zero), zero, zero)
    with pytest.raises(ArrayError, match="state"):
        gd.elastic.forward_dynamics_derivatives(model, zero, zero)  # type: ignore[arg-type]
    with pytest.raises(ArrayError, match=r"state\.theta"):
        gd.elastic.forward_dynamics_derivatives(model, gd.State(zero, zero), zero)
    now = gd.State(zero, zero, zero, zero)
    with pytest.raises(ArrayError, match="a: contains NaN"):
        gd.elastic.inverse_dynamics_derivatives(model, now, zero * np.nan, zero)


# -- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_by_parameters_are_those_of_changed_models(seed: int) -> None:
    model = random_robot(seed, joints=3, wheels=4, massless=False).load()
    motion = random_state(model.n, seed)
    found = gd.forward_dynamics_parameter_derivatives(model, *motion)
    assert np.array_equal(found.a, gd.forward_dynamics(model, *motion))
    names = gd.parameter_names(model)
    assert found.da_dpi.shape == (model.n, len(names))
    columns = columns_of(model)
    largest = np.abs(found.da_dpi).max()

    def slope(change: Any, size: float) -> np.ndarray:
        """Central difference along a change of the model."""
        up, down = (gd.forward_dynamics(change(s * size), *motion) for s in (1.0, -1.0))
        return np.asarray((up - down) / (2.0 * size))

    for body, first in enumerate(columns.bodies):
        for k in range(10):
            expected = slope(lambda step, b=body, k=k: moved_body(model, b, k, step), 1e-5)
            assert np.abs(found.da_dpi[:, first + k] - expected).max() <= 1e-6 * largest
    for wheel, column in enumerate(columns.wheels):
        expected = slope(lambda step, w=wheel: moved_wheel(model, w, step), 1e-9)
        assert np.abs(found.da_dpi[:, column] - expected).max() <= 1e-5 * largest


def moved_body(model: gd.GearedModel, body: int, place: int, step: float) -> gd.GearedModel:
    """The model with one of a body's parameters changed."""
    parameters = model.tree.parameters.copy()
    parameters[body, place] += step
    parameters.setflags(write=False)
    tree = dataclasses.replace(model.tree, parameters=parameters)
    return dataclasses.replace(model, tree=tree)


def moved_wheel(model: gd.GearedModel, wheel: int, step: float) -> gd.GearedModel:
    """The model with the inertia of a wheel about its axis changed."""
    inertia = model.wheels.inertia.copy()
    inertia[wheel] += step
    inertia.setflags(write=False)
    return dataclasses.replace(model, wheels=dataclasses.replace(model.wheels, inertia=inertia))


def test_parameters_of_elastic_arms_and_batches() -> None:
    model = elastic_arm(2, 3)
    q, theta, v, vtheta = state(model, 2, rows=2)
    arm = model.with_springs()
    now = gd.State(q, v, theta, vtheta)
    tau_m = np.array([0.2, -0.1, 0.3])
    force = gd.elastic.structure_matrix(model) @ tau_m + gd.elastic.spring_forces(model, now)
    found = gd.forward_dynamics_parameter_derivatives(arm, now.x, now.rate, force)
    a = np.concatenate(gd.elastic.forward_dynamics(model, now, tau_m))
    assert difference(found.a, a) <= 1e-11
    many = gd.forward_dynamics_parameter_derivatives(
        arm, np.tile(now.x, (2, 1)), now.rate, np.stack([force, 2.0 * force])
    )
    assert difference(many.da_dpi[0], found.da_dpi) <= 1e-12
    again = gd.forward_dynamics_parameter_derivatives(arm, now.x, now.rate, 2.0 * force, out=found)
    assert again is found
    assert difference(found.da_dpi, many.da_dpi[1]) <= 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_commands_by_parameters_are_those_of_changed_models(seed: int) -> None:
    model = driven_arm(seed, joints=2 + seed)
    if seed == 1:
        model = driven_arm(seed, joints=model.n, balancers=balancers(model))
    motion = random_state(model.n, seed)
    found = gd.motor_commands_parameter_derivatives(model, *motion)
    assert difference(found.torque, gd.motor_commands(model, *motion).torque) <= EXACT
    columns = columns_of(model)
    largest = np.abs(found.dtorque_dpi).max()

    def slope(change: Any, size: float) -> np.ndarray:
        up, down = (gd.motor_commands(change(s * size), *motion).torque for s in (1.0, -1.0))
        return np.asarray((up - down) / (2.0 * size))

    for body, first in enumerate(columns.bodies):
        for k in range(10):
            expected = slope(lambda step, b=body, k=k: moved_body(model, b, k, step), 1e-5)
            assert np.abs(found.dtorque_dpi[:, first + k] - expected).max() <= 1e-6 * largest
    for wheel, column in enumerate(columns.wheels):
        expected = slope(lambda step, w=wheel: moved_wheel(model, w, step), 1e-9)
        assert np.abs(found.dtorque_dpi[:, column] - expected).max() <= 1e-5 * largest
    fast = gd.compiled(model, ["motor_commands_parameter_derivatives"], batches=True)
    many = [np.tile(x, (10, 1)) for x in motion]
    for got in (
        gd.motor_commands_parameter_derivatives(fast, *motion).dtorque_dpi,
        gd.motor_commands_parameter_derivatives(fast, *many).dtorque_dpi[7],
        gd.motor_commands_parameter_derivatives(fast, *many, out=None).dtorque_dpi[0],
    ):
        assert difference(got, found.dtorque_dpi) <= 1e-12


ONE_JOINT = (
    '<robot name="one"><link name="a"/><link name="b"><inertial><mass value="1"/>'
    '<origin xyz="0 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    '</inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
    '<axis xyz="0 0 1"/></joint></robot>'
)


def test_commands_by_parameters_are_refused_where_a_loss_begins() -> None:
    """Balanced: a first moment either way makes the gear lose something."""
    drives = {
        "version": 1,
        "wheels": {
            "r": {"carrier": "a", "axis": [0, 0, 1], "mass": 0.1, "inertia": {"axial": 1e-4}}
        },
        "spins": [{"wheel": "r", "joint": "j", "ratio": 20.0}],
        "motors": {"m": {"wheel": "r", "efficiency": {"driving": 0.8, "backdriving": 0.7}}},
    }
    model = gd.load_model(ONE_JOINT, drives, gravity=(0.0, -9.81, 0.0))
    found = gd.motor_commands_parameter_derivatives(model, [0.3], [1.0], [0.5])
    assert np.isfinite(found.dtorque_dpi).all()
    with pytest.raises(ArrayError, match=r"'m' has no derivative by the parameters"):
        gd.motor_commands_parameter_derivatives(model, [0.3], [1.0], [0.0])
