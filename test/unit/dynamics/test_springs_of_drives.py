"""Springs of elastic arms by hand: masses in a row, passive joints, backlash, belts, modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose, assert_array_equal

import geared_dynamics as gd
from elastic_arms import URDF, elbow, elbow_drives

EXACT = 1e-13

# A block on a rail, driven through a spring, with a second one that follows it.
SLIDER = """
<robot name="slider"><link name="base"/>
<link name="block"><inertial><mass value="4"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="tail"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="x" type="prismatic"><parent link="base"/><child link="block"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
<joint name="y" type="prismatic"><parent link="block"/><child link="tail"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/>{}</joint></robot>
"""
DRIVES = """
version: 1
wheels: {r: {carrier: base, axis: [1, 0, 0], mass: 0.1, inertia: {axial: 2.0e-4}}}
spins: [{wheel: r, joint: x, ratio: 100}]
motors: {m: {wheel: r}}
joints: {x: {stiffness: 900, damping: 6}}
"""
REFLECTED = 2.0  # [kg] 2e-4 * 100^2


def slider(mimic: str = "", **joints: Any) -> gd.GearedModel:
    """The rail, with other entries of ``joints``."""
    drives = yaml.safe_load(DRIVES)
    drives["joints"] |= joints
    return gd.load_model(SLIDER.format(mimic), drives)


def locked_slider(**x: Any) -> gd.GearedModel:
    """The block alone, 5 kg."""
    drives = yaml.safe_load(DRIVES)
    drives["joints"]["x"] |= x
    return gd.load_model(SLIDER.format(""), drives, joints=["x"])


def test_two_masses_on_a_spring() -> None:
    model = locked_slider()
    assert_allclose(gd.elastic.mass_matrix(model, [0.1]), np.diag([5, REFLECTED]), rtol=EXACT)
    te = gd.elastic.joint_torque(model, gd.State([0.1], [0.2], [0.15], [0.5]))
    assert_allclose(te, [900 * 0.05 + 6 * 0.3], rtol=EXACT)
    a, atheta = gd.elastic.forward_dynamics(model, gd.State([0.1], [0.2], [0.15], [0.5]), [0.7])
    assert_allclose(a, te / 5, rtol=EXACT)
    assert_allclose(atheta, (70 - te) / REFLECTED, rtol=EXACT)
    energy = gd.elastic.potential_energy(model, gd.State([0.1], [0.0], [0.15]))
    assert energy == pytest.approx(0.5 * 900 * 0.05**2, rel=EXACT)


def test_modes_of_two_masses() -> None:
    found = gd.elastic.modes(locked_slider(), [0.0])
    omega = np.sqrt(900 * (1 / 5 + 1 / REFLECTED))
    assert_allclose(found.frequency, [0, omega], rtol=EXACT)
    assert_allclose(found.hertz, [0, omega / (2 * np.pi)], rtol=EXACT)
    zeta = 6 * (1 / 5 + 1 / REFLECTED) / (2 * omega)
    assert_allclose(found.damping_ratio, [0, zeta], rtol=EXACT)
    rigid, counter = found.shapes.T
    assert rigid[0] == pytest.approx(rigid[1], rel=1e-9)
    assert 5 * counter[0] == pytest.approx(-REFLECTED * counter[1], rel=1e-9)
    held = gd.elastic.modes(locked_slider(), [0.0], rotors="held")
    assert_allclose(held.frequency, [np.sqrt(900 / 5)], rtol=EXACT)
    assert held.shapes[1] == 0.0
    pole = gd.elastic.poles(locked_slider(), [0.0], rotors="held")
    assert_allclose(pole.real, [-6 / 10, -6 / 10], rtol=EXACT)
    assert_allclose(np.abs(pole) ** 2, [180, 180], rtol=1e-12)


def test_shapes_solve_the_problem_and_are_scaled() -> None:
    model, q = elbow(damping=3.0), np.array([0.2, -0.4, 0.9])
    found = gd.elastic.modes(model, q)
    H = gd.elastic.mass_matrix(model, q)
    K = np.block([[1, -1], [-1, 1]]).repeat(3, 0).repeat(3, 1) * np.tile(np.eye(3), (2, 2))
    K = K * np.tile(model.elasticity.stiffness, 2)
    residual = K @ found.shapes - H @ found.shapes * found.squares
    assert np.abs(residual).max() < 1e-9 * np.abs(K).max()
    assert_allclose(found.shapes.T @ H @ found.shapes, np.eye(6), atol=1e-11)
    poles = gd.elastic.poles(model, q)
    fastest = poles[np.argmax(poles.imag)]
    assert abs(fastest) == pytest.approx(found.frequency[-1], rel=1e-3)
    assert -fastest.real / abs(fastest) == pytest.approx(found.damping_ratio[-1], rel=1e-2)


def test_gravity_makes_an_upright_arm_fall_over() -> None:
    q = np.array([0.0, np.pi / 2, 0.0])
    assert gd.elastic.modes(elbow(), q, gravity=True).squares[0] < 0.0
    assert gd.elastic.modes(elbow(), q, gravity=True).frequency[0] == 0.0
    assert np.all(gd.elastic.modes(elbow(), q).squares >= 0.0)


def test_passive_joint_is_a_spring_between_its_links() -> None:
    model = slider(y={"passive": True, "stiffness": 50, "damping": 2, "rest": 0.3})
    assert gd.elastic.mass_matrix(model, [0, 0]).shape == (3, 3)
    state = gd.State([0.1, 0.5], [0.0, 0.4], [0.1], [0.0])
    force = gd.elastic.spring_forces(model, state)
    assert_allclose(force, [0, -50 * 0.2 - 2 * 0.4, 0], rtol=EXACT)
    assert_array_equal(gd.elastic.joint_torque(model, state), [0.0])
    a, _ = gd.elastic.forward_dynamics(model, state, [0.0])
    # The tail accelerates by its spring alone: 1 kg (a_x + a_y), 5 kg in all stays put.
    assert a[0] + a[1] == pytest.approx(force[1], rel=EXACT)
    assert 4 * a[0] == pytest.approx(-force[1], rel=EXACT)
    assert gd.elastic.potential_energy(model, state) == pytest.approx(25 * 0.2**2)
    tau, shaft = gd.elastic.inverse_dynamics(model, state, a, [0.0])
    assert_allclose(tau, 0, atol=1e-12)
    assert_allclose(gd.elastic.motor_torques(model, tau, shaft), [0.0], atol=1e-14)


def test_soft_base_without_elastic_drives() -> None:
    """A passive joint is enough; theta is empty then, in batches as well."""
    drives = yaml.safe_load(DRIVES) | {"joints": {"y": {"passive": True, "stiffness": 50}}}
    model = gd.load_model(SLIDER.format(""), drives)
    q = np.array([[0.1, 0.5], [0.0, 0.0]])
    a, atheta = gd.elastic.forward_dynamics(
        model, gd.State(q, 0 * q, np.zeros((2, 0)), np.zeros(0)), [1.0]
    )
    expected = gd.forward_dynamics(model, q, 0 * q, np.array([[100, -25.0], [100, 0]]))
    assert_allclose(a, expected, rtol=EXACT)
    assert atheta.shape == (2, 0)


@pytest.mark.parametrize(
    ("stretch", "rate", "expected"),
    [
        (0.0, 1.0, 0.0),
        (0.009, 1.0, 0.0),
        (0.03, 0.5, 900 * 0.02 + 6 * 0.5),
        (-0.03, 0.5, -900 * 0.02 + 6 * 0.5),
        (0.011, -0.5, 0.0),  # leaving the stop: the damper does not hold it back
    ],
)
def test_backlash(stretch: float, rate: float, expected: float) -> None:
    model = locked_slider(backlash=0.02)
    te = gd.elastic.joint_torque(model, gd.State([0.2], [0.0], [0.2 + stretch], [rate]))
    assert_allclose(te, [expected], rtol=1e-12)
    energy = gd.elastic.potential_energy(model, gd.State([0.2], [0.0], [0.2 + stretch]))
    beyond = max(abs(stretch) - 0.01, 0.0)
    assert energy == pytest.approx(450 * beyond**2, rel=1e-12)


def test_spring_of_a_mimic_joint_acts_on_its_leader() -> None:
    model = slider('<mimic joint="x" multiplier="-2" offset="0.3"/>', y={"stiffness": 10})
    assert model.n == 1
    te = gd.elastic.joint_torque(model, gd.State([0.1], [0.0], [0.15], [0.0]))
    assert_allclose(te, [(900 + 4 * 10) * 0.05], rtol=EXACT)


def test_passive_joint_with_an_elastic_mimic_is_refused() -> None:
    drives = yaml.safe_load(DRIVES) | {"motors": {}}
    drives["joints"] = {"x": {"passive": True, "stiffness": 3}, "y": {"stiffness": 2}}
    with pytest.raises(
        gd.GearedDynamicsError, match=r"joints\.x\.passive: .* mimics in the same way"
    ):
        gd.load_model(SLIDER.format('<mimic joint="x" multiplier="-2"/>'), drives)


def test_stages_in_series() -> None:
    """Rotor, belt, pulley, stiff gear, spring of the joint, block: three masses in a row."""
    drives = yaml.safe_load(DRIVES)
    pulley = {**drives["wheels"]["r"], "inertia": {"axial": 1e-3}}
    drives["wheels"]["p"] = pulley
    drives["spins"].append({"wheel": "p", "joint": "x", "ratio": -50})
    drives["springs"] = {"belt": {"between": ["r", "p"], "stiffness": 0.3, "damping": 0.01}}
    model = gd.load_model(SLIDER.format(""), drives, joints=["x"])
    assert model.elasticity.names == ("x.theta", "belt.theta")
    H = gd.elastic.mass_matrix(model, [0.0])
    assert_allclose(H, np.diag([5.0, 50**2 * 1e-3, 2e-4]), rtol=EXACT)
    q, theta, still = [0.1], [0.11, 10.6], [0.0, 0.0]
    pull = 0.3 * (10.6 + 2 * (-50 * 0.11))  # the rotor turns -2 times the pulley
    te = gd.elastic.joint_torque(model, gd.State(q, [0.0], theta, still))
    assert_allclose(te, [900 * 0.01, pull], rtol=1e-12)
    force = gd.elastic.spring_forces(model, gd.State(q, [0.0], theta, still))
    assert_allclose(force, [9.0, pull * 100 - 9.0, -pull], rtol=1e-12)
    a, atheta = gd.elastic.forward_dynamics(model, gd.State(q, [0.0], theta, still), [0.2])
    assert_allclose(a, [9.0 / 5], rtol=1e-12)
    assert_allclose(atheta, [(pull * 100 - 9) / 2.5, (0.2 - pull) / 2e-4], rtol=1e-11)
    assert_allclose(gd.elastic.motor_angles(model, gd.State(q, still, theta)), [10.6], rtol=EXACT)
    tau, shaft = gd.elastic.inverse_dynamics(model, gd.State(q, [0.0], theta, still), a, atheta)
    assert_allclose(gd.elastic.motor_torques(model, tau, shaft), [0.2], rtol=1e-11)


def test_belt_past_another_joint_has_a_full_stiffness() -> None:
    """The rotor turns with joints 2 and 3; its spring alone ties all three together."""
    drives = elbow_drives()
    drives["joints"] = {}
    drives["spins"][2] = {"wheel": "rotor_3", "coefficients": {"joint_2": -40, "joint_3": 80}}
    drives["wheels"]["pulley"] = {**drives["wheels"]["rotor_3"], "inertia": {"axial": 1e-4}}
    spin = {"wheel": "pulley", "coefficients": {"joint_2": -20, "joint_3": 40}}
    drives["spins"].append(spin)
    drives["springs"] = {"belt": {"between": ["rotor_3", "pulley"], "stiffness": 2.0}}
    model = gd.load_model(URDF / "elbow.urdf", drives)
    force = gd.elastic.spring_forces(model, gd.State([0.0, 0.3, 0.2], [0.0] * 3, [5.0], [0.0]))
    pull = 2.0 * (5.0 + 40 * 0.3 - 80 * 0.2)
    assert_allclose(force, [0.0, -40 * pull, 80 * pull, -pull], rtol=1e-12)
    found = gd.elastic.modes(model, [0.1, 0.2, 0.3])
    assert np.sum(found.squares > 0.0) == 1
    frozen = gd.load_model(URDF / "elbow.urdf", drives, joints=["joint_1", "joint_2"])
    assert gd.elastic.mass_matrix(frozen, [0.1, 0.2]).shape == (3, 3)
    still = gd.load_model(URDF / "elbow.urdf", drives, joints=["joint_1"])
    assert still.elasticity.count == 0
