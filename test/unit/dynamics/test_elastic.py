"""Elastic joints: sides, reduced models, friction, batches, outputs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import geared_dynamics as gd
from driven_arms import MOTOR
from elastic_arms import URDF, elastic_arm, elbow, elbow_drives, joined, state

EXACT = 1e-13


def test_frozen_joint_has_no_spring() -> None:
    model = gd.load_model(URDF / "elbow.urdf", elbow_drives(), lock={"joint_2": 0.3})
    assert model.elasticity.joint.tolist() == [0, 1]
    assert gd.elastic.mass_matrix(model, [0.1, 0.2]).shape == (4, 4)


def test_wheel_on_the_link_side_follows_the_joint() -> None:
    """It adds to M_link what it would have added to B."""
    drives = elbow_drives()
    wheel = {**copy.deepcopy(drives["wheels"]["rotor_2"]), "side": "link"}
    drives["wheels"]["idler"] = wheel
    drives["spins"].append({"wheel": "idler", "joint": "joint_2", "ratio": 30})
    q = np.array([0.2, -0.4, 0.9])
    on_link = gd.elastic.mass_matrix(gd.load_model(URDF / "elbow.urdf", drives), q)
    wheel["side"] = "motor"
    on_motor = gd.elastic.mass_matrix(gd.load_model(URDF / "elbow.urdf", drives), q)
    moved = on_link - on_motor
    axial = wheel["inertia"]["axial"]
    assert moved[1, 1] == pytest.approx(30**2 * axial, rel=1e-11)
    assert moved[4, 4] == pytest.approx(-(30**2) * axial, rel=1e-11)
    assert moved[0, 1] == pytest.approx(-moved[0, 4], rel=1e-11)
    assert np.abs(moved[0, 1]) > 1e-4


def test_wheel_of_a_rigid_and_an_elastic_joint_has_both_entries() -> None:
    drives = elbow_drives()
    del drives["joints"]["joint_2"]
    drives["spins"][2] = {"wheel": "rotor_3", "coefficients": {"joint_2": -7, "joint_3": 80}}
    model = gd.load_model(URDF / "elbow.urdf", drives)
    assert_array_equal(model.elasticity.link_spin[2], [0, -7, 0])
    assert_array_equal(model.elasticity.shaft_spin[2], [0, 80])
    speeds = gd.elastic.motor_speeds(
        model, gd.State([0.0] * 3, [1.0, 2.0, 3.0], vtheta=[4.0, 5.0])
    )
    assert_allclose(speeds, [480, 200, 5 * 80 - 14], rtol=EXACT)


def test_encoders_see_the_shafts() -> None:
    drives = elbow_drives()
    drives["joints"]["joint_3"]["offset"] = 0.25
    model = gd.load_model(URDF / "elbow.urdf", drives)
    phi = gd.elastic.motor_angles(model, gd.State([9.0] * 3, [0.0] * 3, [0.1, 0.2, 0.3]))
    assert_allclose(phi, [12, 20, 80 * 0.05], rtol=1e-12)


def test_uncoupled_has_no_interaction() -> None:
    model = elastic_arm(1, 6, share=0.4)
    n = model.n
    q = state(model, 0)[0]
    whole = gd.elastic.mass_matrix(model, q)
    plain = gd.elastic.mass_matrix(model.with_elasticity("uncoupled"), q)
    assert np.abs(whole[:n, n:]).max() > 1e-3
    assert np.all(plain[:n, n:] == 0.0)
    assert np.all(plain[n:, :n] == 0.0)
    assert_allclose(plain[:n, :n], whole[:n, :n], rtol=0, atol=1e-13 * np.abs(whole).max())
    assert_allclose(plain[n:, n:], whole[n:, n:], rtol=1e-13)


def test_spong_truncated_drops_the_rotors_tensors() -> None:
    """Each carrier turns a point of mass: M_link lacks Jo' I Jo of every rotor."""
    model, q = elbow(), np.array([0.2, -0.4, 0.9])
    whole = gd.elastic.mass_matrix(model.with_elasticity("uncoupled"), q)
    truncated = gd.elastic.mass_matrix(model.with_elasticity("spong_truncated"), q)
    share = np.zeros((3, 3))
    for wheel in model.records.drivetrain.wheels:
        # A frame of the carrier: the wheel's own would spin.
        rotation = gd.pose(model, q, wheel.carrier)[:3, :3]
        angular = rotation.T @ gd.jacobian(model, q, wheel.carrier)[3:]
        along = np.outer(wheel.axis, wheel.axis)
        tensor = wheel.axial * along + wheel.transverse * (np.eye(3) - along)
        share += angular.T @ tensor @ angular
    assert np.abs(share).max() > 1e-4
    assert_allclose(whole[:3, :3] - truncated[:3, :3], share, rtol=0, atol=1e-14)
    assert_array_equal(truncated[3:], whole[3:])
    gravity = gd.elastic.bias_forces(
        model.with_elasticity("spong_truncated"), gd.State(q, [0] * 3, vtheta=[0] * 3)
    )
    assert_allclose(gravity[:3], gd.gravity_forces(model, q), rtol=1e-13)


def test_names_keep_the_rigid_functions_as_they_are() -> None:
    model, q = elbow(), [0.2, -0.4, 0.9]
    for name in ("complete", "uncoupled", "spong_truncated"):
        other = model.with_elasticity(name)  # type: ignore[arg-type]
        assert_array_equal(gd.mass_matrix(other, q), gd.mass_matrix(model, q))
    with pytest.raises(AttributeError):
        model.elastic_model = "uncoupled"  # type: ignore[misc]


def test_friction_on_either_side() -> None:
    drives = elbow_drives()
    for motor in drives["motors"].values():
        motor |= {"friction": copy.deepcopy(MOTOR["friction"])}
    drives["joints"]["joint_1"]["friction"] = {"viscous": 0.5}
    model = gd.load_model(URDF / "elbow.urdf", drives)
    v, vtheta = np.array([1.0, 2.0, 3.0]), np.array([1.5, -2.5, 0.0])
    state = gd.State(0 * v, v, 0 * v, vtheta)
    joints, rotors = gd.elastic.friction_forces(model, state)
    assert_array_equal(joints, gd.friction_forces(model, v))
    assert joints[0] == 0.5
    speed = gd.elastic.motor_speeds(model, state)
    ripple = 0.003 * np.sin(0.4) + 0.004
    viscous = 2e-5 * speed + [0.02, -0.03, 0.0]
    assert_allclose(rotors, viscous + ripple, rtol=1e-9)  # far beyond Stribeck's speed, or still
    _, loaded = gd.elastic.friction_forces(model, state, load=[1.0, 1.0, 1.0])
    assert_allclose(loaded - rotors, [0.01, -0.01, 0.0], rtol=1e-9)


def at(value: Any, index: tuple[int, ...]) -> Any:
    """One of many states, or one row of an array."""
    if isinstance(value, gd.State):
        return gd.State(*(None if part is None else part[index] for part in value))  # type: ignore[arg-type]
    return value[index]


@pytest.mark.parametrize("lead", [(4,), (2, 3), (0,)])
def test_batches_are_the_single_states(lead: tuple[int, ...]) -> None:
    model = elastic_arm(1, 6, share=0.5)
    count = model.elasticity.count
    random = np.random.default_rng(0)
    q, v, a, tau_m = random.normal(size=(4, *lead, model.n))
    theta, vtheta, atheta = random.normal(size=(3, *lead, count))
    state = gd.State(q, v, theta, vtheta)
    calls: dict[str, tuple[Any, ...]] = {
        "mass_matrix": (q,),
        "coriolis_matrix": (state,),
        "bias_forces": (state,),
        "joint_torque": (state,),
        "spring_forces": (state,),
        "forward_dynamics": (state, tau_m),
        "inverse_dynamics": (state, a, atheta),
        "kinetic_energy": (state,),
        "potential_energy": (state,),
        "motor_torques": (tau_m, theta),
        "motor_angles": (state,),
        "motor_speeds": (state,),
        "friction_forces": (state,),
    }
    for name, arguments in calls.items():
        function = getattr(gd.elastic, name)
        found = function(model, *arguments)
        for part in found if isinstance(found, tuple) else (found,):
            assert part.shape[: len(lead)] == lead, name
        for index in np.ndindex(lead):
            one = function(model, *(at(x, index) for x in arguments))
            pairs = zip(found, one, strict=True) if isinstance(found, tuple) else [(found, one)]
            for many, single in pairs:
                assert_allclose(many[index], single, rtol=1e-12, atol=1e-12, err_msg=name)


def test_inputs_broadcast_convert_and_stride() -> None:
    model = elbow()
    q, v, tau_m = np.random.default_rng(0).normal(size=(3, 5, 3))
    wide = np.random.default_rng(1).normal(size=(5, 6))
    a, atheta = gd.elastic.forward_dynamics(
        model, gd.State(q, v[0], wide[:, ::2], [0, 1, 2]), tau_m
    )
    expected = gd.elastic.forward_dynamics(
        model, gd.State(q[3], v[0], wide[3, ::2].copy(), np.array([0.0, 1.0, 2.0])), tau_m[3]
    )
    assert_allclose(a[3], expected[0], rtol=1e-12)
    assert_allclose(atheta[3], expected[1], rtol=1e-12)


def test_output_is_used_and_returned() -> None:
    model = elbow()
    x = np.random.default_rng(0).normal(size=(5, 3))
    out = np.empty(6)
    a, atheta = gd.elastic.forward_dynamics(model, joined(*x), x[4], out=out)
    assert a.base is out
    assert atheta.base is out
    assert_array_equal(out, np.concatenate(gd.elastic.forward_dynamics(model, joined(*x), x[4])))
    tau, shaft = gd.elastic.inverse_dynamics(model, joined(*x), a.copy(), atheta.copy(), out=out)
    assert tau.base is out
    assert_allclose(shaft, [120, 100, 80] * x[4], rtol=1e-8)
    matrix = np.empty((6, 6))
    assert gd.elastic.mass_matrix(model, x[0], out=matrix) is matrix
    assert (
        gd.elastic.coriolis_matrix(model, gd.State(x[0], x[1], vtheta=x[2]), out=matrix) is matrix
    )
    assert gd.elastic.bias_forces(model, gd.State(x[0], x[1], vtheta=x[2]), out=out) is out


def test_pickled_and_loaded_models_give_the_same() -> None:
    model = elbow()
    x = np.random.default_rng(0).normal(size=(5, 3))
    found = gd.elastic.forward_dynamics(model, joined(*x), x[4])
    again = gd.elastic.forward_dynamics(pickle.loads(pickle.dumps(model)), joined(*x), x[4])
    assert_array_equal(found[0], again[0])
    heavy = model.with_payload(2.0)
    gain = gd.elastic.mass_matrix(heavy, x[0]) - gd.elastic.mass_matrix(model, x[0])
    expected = gd.mass_matrix(heavy, x[0]) - gd.mass_matrix(model, x[0])
    assert_allclose(gain[:3, :3], expected, atol=1e-12)
    assert_allclose(gain[3:], 0.0, atol=0)
    assert not model.elasticity.stretch.flags.writeable


def test_coupling_holds_for_shafts_too() -> None:
    model, q = elastic_arm(1, 6, share=0.4), np.zeros(6)
    H = gd.elastic.mass_matrix(model.with_coupling("diagonal"), q)
    B = gd.elastic.mass_matrix(model, q)[6:, 6:]
    assert_allclose(H[6:, 6:], np.diag(np.diag(B)), rtol=1e-13)
    assert np.all(H[:6, 6:] == 0.0)
    x = [np.zeros(6), np.zeros(model.elasticity.count)] * 2
    with pytest.raises(gd.GearedDynamicsError, match="not positive definite"):
        gd.elastic.forward_dynamics(model.with_coupling("none"), joined(*x), np.zeros(6))


def test_the_arm_with_springs_as_coordinates_is_one_and_rigid() -> None:
    """It is made once, every rigid function takes it, and it has no springs left."""
    model = gd.load_model(URDF / "wave6.urdf", URDF / "wave6.drivetrain.yaml")
    arm = model.with_springs()
    assert arm is model.with_springs()
    assert arm is gd.elastic.with_springs(model)
    assert arm is not model.with_elasticity("uncoupled").with_springs()
    assert arm.elasticity.count == 0
    assert arm.joint_names == model.joint_names + model.elasticity.names
    q = np.linspace(-1.0, 1.0, model.n)
    x = np.concatenate([q, np.zeros(arm.n - model.n)])
    np.testing.assert_array_equal(gd.mass_matrix(arm, x), gd.elastic.mass_matrix(model, q))
    np.testing.assert_array_equal(arm.motor_map.A, gd.elastic.structure_matrix(model))
    diagonal = gd.mass_matrix(arm.with_coupling("diagonal"), x)
    assert np.abs(diagonal - gd.mass_matrix(arm, x)).max() > 1e-6
    loaded = gd.mass_matrix(model.with_payload(1.0).with_springs(), x)
    np.testing.assert_allclose(loaded, gd.elastic.mass_matrix(model.with_payload(1.0), q))
    assert np.abs(loaded - gd.mass_matrix(arm, x)).max() > 1e-3
    with pytest.raises(gd.GearedDynamicsError, match="no joint of this arm is elastic"):
        arm.with_springs()
