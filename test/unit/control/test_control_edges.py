"""Arguments, gains and limits of control: what the other files' arms do not reach."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from control_arms import balancers
from driven_arms import driven_arm
from geared_dynamics.control import outputs, terms
from geared_dynamics.errors import ArrayError, GearedDynamicsError

control = gd.control
URDF = Path(__file__).parents[3] / "urdf"

VECTORS: dict[str, Any] = {
    "whole numbers": np.array([1, 2]),
    "single precision": np.array([1.0, 2.0], np.float32),
    "big-endian": np.array([1.0, 2.0], ">f8"),
    "a list": [1, 2.0],
    "a view": np.array([1.0, 0.0, 2.0])[::2],
}


@pytest.mark.parametrize("case", VECTORS)
def test_numbers_of_any_kind_become_float64(case: str) -> None:
    found = terms.vector("q", VECTORS[case], 2)
    assert found.dtype is np.dtype(np.float64)
    assert found.tolist() == [1.0, 2.0]


def test_what_is_good_already_is_not_copied() -> None:
    given = np.array([1.0, 2.0])
    assert terms.vector("q", given, 2) is given


@pytest.mark.parametrize("missing", ["resistance", "torque_constant"])
def test_voltages_need_both_constants(missing: str) -> None:
    gone = {"resistance", "inductance", missing}  # a resistance needs the other
    model = driven_arm(2, **dict.fromkeys(gone))
    with pytest.raises(
        GearedDynamicsError, match=rf"{missing}: is not given for .*, and motor_voltage"
    ):
        control.controller(model, command_type="motor_voltage")


def test_currents_need_no_resistance() -> None:
    model = driven_arm(2, resistance=None, inductance=None)
    control.controller(model, command_type="motor_current")


def test_gains_of_forces_bound_the_integral_as_those_of_accelerations() -> None:
    """Every one of them times the joint's inertia."""
    model = driven_arm(2)
    q = np.linspace(-0.5, 0.7, model.n)
    given = control.gains_from_bandwidth(5.0, 0.7, integral=0.2, integral_limit=3.0)
    found = control.torque_gains(model, given, q)
    inertia = np.diag(gd.mass_matrix(model, q))
    each = given.for_joints(model.n)
    for name in ("kp", "kv", "ki", "integral_limit"):
        np.testing.assert_allclose(getattr(found, name), inertia * getattr(each, name), rtol=1e-12)
    assert found.kind == "torque"
    with pytest.raises(ArrayError, match="have kind 'torque'"):
        control.torque_gains(model, found, q)


def test_a_prepared_controller_has_run_every_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nothing is compiled in the first cycle."""
    warmed: list[Any] = []
    module = sys.modules["geared_dynamics.control.rigid_controller"]
    monkeypatch.setattr(module, "warm", lambda made, _: warmed.append(made))
    made = control.controller(driven_arm(2))
    assert warmed == [made]


def test_the_largest_mass_that_an_arm_holds() -> None:
    """Of a pendulum: limit / (g reach), wherever on the link; with its own weight left out."""
    urdf = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="3"/>
        <origin xyz="0.2 0 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
        </inertial></link><joint name="j" type="revolute"><parent link="base"/>
        <child link="arm"/><axis xyz="0 1 0"/><limit lower="-3.14159265" upper="3.14159265"
        effort="20" velocity="1"/></joint></robot>"""
    model = gd.load_model(urdf)
    for reach in (0.5, 2.0):
        found = outputs.holdable_mass(model, (reach, 0.0, 0.0), "arm")
        assert found == pytest.approx(20.0 / (9.81 * reach), rel=2e-3)
    assert outputs.holdable_mass(model, (0.0, 0.3, 0.0), "arm") == np.inf  # along the axis
    both = outputs.holdable_mass(model, (0.3, 0.0, -0.4), "arm")
    assert both == pytest.approx(20.0 / (9.81 * 0.5), rel=2e-3)


def test_a_load_weighs_at_its_links_origin_too() -> None:
    """A link half a metre out: 1 kg at its origin takes 4.9 N m, further out more."""
    urdf = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="3"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <link name="tip"/><joint name="j" type="revolute"><parent link="base"/>
        <child link="arm"/><axis xyz="0 1 0"/><limit lower="-3.14159265" upper="3.14159265"
        effort="20" velocity="1"/></joint><joint name="f" type="fixed"><parent link="arm"/>
        <child link="tip"/><origin xyz="0.5 0 0"/></joint></robot>"""
    model = gd.load_model(urdf)
    for beyond in (0.0, 0.3):
        found = outputs.holdable_mass(model, (beyond, 0.0, 0.0), "tip")
        assert found == pytest.approx(20.0 / (9.81 * (0.5 + beyond)), rel=2e-3)


def test_term_torques_take_friction_at_the_rate_that_the_law_takes() -> None:
    model = driven_arm(2)
    q, v, a = np.random.default_rng(3).normal(size=(3, model.n))
    state, reference = gd.State(q, v), control.Reference(q + 0.1, v - 0.4, a)
    for rate, seen in (("measured", v), ("reference", v - 0.4)):
        made = control.controller(
            model, "computed_torque", gains=control.Gains(9.0, 6.0), friction_rate=rate
        )
        found = made.term_torques(state, reference)
        wanted = control.term_torques(model, q, v, a, rate=seen)
        np.testing.assert_array_equal(found.friction, wanted.friction)
        at_reference = made.term_torques(None, reference)
        np.testing.assert_array_equal(
            at_reference.gravity, control.term_torques(model, *reference[:3]).gravity
        )


def test_friction_that_grows_with_the_load_sees_what_balancers_take() -> None:
    """A spring that carries part of the load takes off its part of the friction, too."""
    bare = driven_arm(4)
    balanced = driven_arm(4, balancers=balancers(bare))
    q, v, a = np.random.default_rng(5).normal(size=(3, bare.n))
    load = gd.inverse_dynamics(balanced, q, v, a) - gd.balancer_forces(balanced, q)
    wanted = gd.friction_forces(balanced, v, q, load)
    found = control.term_torques(balanced, q, v, a).friction
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert np.abs(found - control.term_torques(bare, q, v, a).friction).max() > 1e-6


@pytest.mark.parametrize(
    ("kind", "wound", "bare"),
    [("joint_torque", 2, 2), ("motor_torque", 2, 2), ("motor_current", 2, 2),
     ("motor_voltage", 3, 2)],
)  # fmt: skip
def test_the_jerk_is_needed_for_the_voltage_of_windings(kind: Any, wound: int, bare: int) -> None:
    """L di/dt alone needs it: not other commands, nor motors without inductance."""
    drives = yaml.safe_load((URDF / "brisk6.drivetrain.yaml").read_text("utf-8"))
    whole = gd.load_model(URDF / "brisk6.urdf", drives)
    for motor in drives["motors"].values():
        motor.pop("inductance")
    without = gd.load_model(URDF / "brisk6.urdf", drives)
    for model, needed in ((whole, wound), (without, bare)):
        assert gd.control.controller(model, command_type=kind).derivatives_needed == needed


def test_former_names_answer_for_one_release() -> None:
    model = driven_arm(2)
    made, still = control.controller(model), np.zeros(model.n)
    with pytest.warns(DeprecationWarning, match="open_loop"):
        np.testing.assert_array_equal(
            made.nominal(still, still, still),  # type: ignore[attr-defined]
            made.open_loop(still, still, still),
        )
    with pytest.warns(DeprecationWarning, match="ReferenceMotion"):
        assert gd.trajectory.Reference is gd.trajectory.ReferenceMotion
    assert control.safety.Decision(None, control.safety.Mode.WAITING, 3, 4).found == 3
