"""Facts that other rooms ask the model for: limits of joints, their types, the motor map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety.policy import default_policy
from geared_dynamics.model.inertia import central_tensor, moved, parameters_of

URDF = Path(__file__).parents[3] / "urdf"
JOINT = """
  <joint name="{name}" type="{kind}">
    <parent link="{parent}"/><child link="{name}_link"/><axis xyz="0 0 1"/>
    {inside}
  </joint>
  <link name="{name}_link"><inertial><mass value="1"/><origin xyz="0.1 0 0.2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def arm(**joints: tuple[str, str]) -> str:
    """URDF of a chain of joints, by name their kind and what stands inside."""
    text, parent = '<robot name="arm"><link name="base"/>', "base"
    for name, (kind, inside) in joints.items():
        text += JOINT.format(name=name, kind=kind, parent=parent, inside=inside)
        parent = f"{name}_link"
    return text + "</robot>"


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [
        ("revolute", "", (-np.inf, np.inf, np.inf, np.inf)),
        ("revolute", 'lower="-1" upper="2" effort="30" velocity="4"', (-1.0, 2.0, 4.0, 30.0)),
        ("revolute", 'lower="-1" upper="2" effort="0" velocity="0"', (-1.0, 2.0, np.inf, np.inf)),
        ("prismatic", 'upper="2" effort="1e6" velocity="1e16"', (-np.inf, 2.0, np.inf, np.inf)),
        ("revolute", 'lower="-1e6" upper="1e9" effort="1" velocity="999999"',
         (-np.inf, np.inf, 999999.0, 1.0)),
        ("continuous", 'lower="-1" upper="2" effort="30" velocity="4"',
         (-np.inf, np.inf, 4.0, 30.0)),
        ("revolute", 'lower="0" upper="0" effort="30" velocity="4"', (0.0, 0.0, 4.0, 30.0)),
    ],
)  # fmt: skip
def test_one_rule_says_what_is_no_limit(
    kind: str, limit: str, expected: tuple[float, ...]
) -> None:
    element = f"<limit {limit}/>" if limit else ""
    model = gd.load_model(arm(j=(kind, element)))
    limits = model.limits
    found = (limits.lower, limits.upper, limits.velocity, limits.effort)
    assert tuple(float(x[0]) for x in found) == expected
    policy = default_policy(model)
    assert (policy.lower[0], policy.upper[0], policy.velocity[0]) == expected[:3]
    assert policy.command == expected[3:]
    assert limits.bounded.tolist() == [np.isfinite(expected[0]) and expected[0] < expected[1]]


def test_limits_of_mimic_joints_are_the_bodies() -> None:
    """A coordinate has the limits of its own joint; a body those of the joint that moves it."""
    limit = '<limit lower="-{0}" upper="{0}" effort="9" velocity="9"/>'
    model = gd.load_model(
        arm(
            lead=("revolute", limit.format(1)),
            follower=("prismatic", limit.format(2) + '<mimic joint="lead" multiplier="-3"/>'),
            last=("continuous", limit.format(5)),
        )
    )
    assert model.joint_names == ("lead", "last")
    assert model.joint_types == ("revolute", "continuous")
    assert model.tree.joints == ("lead", "follower", "last")
    assert model.tree.joint_types == ("revolute", "prismatic", "continuous")
    np.testing.assert_array_equal(model.own_bodies, [0, 2])
    np.testing.assert_array_equal(model.limits.upper, [1.0, np.inf])
    np.testing.assert_array_equal(model.tree.limits.upper, [1.0, 2.0, np.inf])
    np.testing.assert_array_equal(model.continuous, [False, True])
    np.testing.assert_array_equal(model.prismatic, [False, False])
    assert model.force_units == ("N m", "N m")
    assert (model.root, model.fixed_joints) == ("base", ())


def test_frozen_joints_are_fixed_and_have_no_limits() -> None:
    limit = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'
    text = arm(a=("revolute", limit), b=("prismatic", limit), c=("revolute", limit))
    model = gd.load_model(text, lock={"a": 0.5})
    assert model.fixed_joints == ("a",)
    assert model.joint_types == ("prismatic", "revolute")
    assert model.force_units == ("N", "N m")
    assert len(model.limits.upper) == 2


def test_shafts_behind_springs_have_no_limits() -> None:
    model = gd.load_model(URDF / "wave6.urdf", URDF / "wave6.drivetrain.yaml")
    wide = model.with_springs()
    n = model.n
    assert set(wide.joint_types[n:]) == {"shaft"}
    assert wide.joint_types[:n] == model.joint_types
    assert np.isinf(wide.limits.upper[n:]).all()
    assert np.isinf(wide.limits.velocity[n:]).all()
    np.testing.assert_array_equal(wide.limits.upper[:n], model.limits.upper)
    assert not wide.continuous[n:].any()


def test_frozen_joints_that_motors_would_move() -> None:
    """A belt that passes a joint turns its motor with that joint as well."""
    wheel = {"carrier": "base", "axis": [0, 0, 1], "mass": 0.0, "inertia": {"axial": 1e-4}}
    drives = {
        "version": 1,
        "wheels": {"first": wheel, "second": wheel},
        "spins": [
            {"wheel": "first", "joint": "a", "ratio": 30},
            {"wheel": "second", "coefficients": {"a": 20, "b": 20}},
        ],
        "motors": {"first": {"wheel": "first"}, "second": {"wheel": "second"}},
    }
    text = arm(a=("revolute", ""), b=("revolute", ""))
    whole = gd.load_model(text, drives).motors
    assert (whole.held, whole.ends) == (((), ()), ("a", "b"))
    behind = gd.load_model(text, drives, lock={"a": 0.3}).motors
    assert (behind.held, behind.ends) == ((("a",), ("a",)), ("a", "b"))
    before = gd.load_model(text, drives, lock={"b": 0.3}).motors
    assert (before.held, before.ends) == (((), ("b",)), ("a", "b"))


def test_parameters_moved_by_nothing_stay() -> None:
    """The short way for frames that coincide, against frames that nearly do."""
    random = np.random.default_rng(3)
    own = parameters_of(2.0, random.normal(size=3), np.diag([0.1, 0.2, 0.25]))
    still = moved(own, np.eye(3), np.zeros(3))
    np.testing.assert_array_equal(still, own)
    assert still is not own
    np.testing.assert_allclose(moved(own, np.eye(3), np.full(3, 1e-12)), own, atol=1e-10)
    turn = np.diag([1.0, -1.0, -1.0])  # negative control: a turn alone is one
    assert np.abs(moved(own, turn, np.zeros(3)) - own).max() > 0.1
    assert np.abs(moved(own, np.eye(3), np.full(3, 0.1)) - own).max() > 0.1


def test_the_tensor_about_the_centre_of_mass_is_the_bodys_own() -> None:
    """By the parallel axes, written out; a body without mass has its moments as they are."""
    own, place = np.diag([0.3, 0.4, 0.5]), np.array([0.4, -0.3, 0.2])
    x, y, z = place
    steiner = np.array(
        [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z],
         [-x * z, -y * z, x * x + y * y]]
    )  # fmt: skip
    origin = own + 2.5 * steiner
    entries = (*origin[0], *origin[1, 1:], origin[2, 2])
    np.testing.assert_allclose(
        central_tensor(np.array([2.5, *2.5 * place, *entries])), own, atol=1e-15
    )
    massless = np.array([0.0, 0.0, 0.0, 0.0, *entries])
    np.testing.assert_array_equal(central_tensor(massless), origin)


def test_linear_friction_is_the_friction_that_slides() -> None:
    """b v + c sign(v) + offset, of levels that differ by direction, a mimic joint's among them."""
    mimic = '<mimic joint="lead" multiplier="-3"/>'
    friction = {
        "lead": {"viscous": 0.5, "coulomb": [2.0, 1.5], "offset": 0.25},
        "follower": {"viscous": 0.1, "coulomb": [0.4, 0.7], "offset": -0.05},
    }
    model = gd.load_model(
        arm(lead=("continuous", ""), follower=("continuous", mimic), last=("continuous", "")),
        {"version": 1, "joints": {name: {"friction": one} for name, one in friction.items()}},
    )
    viscous, coulomb, offset = model.friction
    for speed in (-50.0, -20.0, 20.0, 50.0):  # far beyond what is smoothed
        v = np.array([speed, -speed])
        linear = viscous * v + coulomb * np.sign(v) + offset
        np.testing.assert_allclose(gd.friction_forces(model, v), linear, rtol=1e-9)
    assert (model.friction[:, 1] == 0.0).all()
