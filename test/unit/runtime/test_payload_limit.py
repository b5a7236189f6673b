"""Loads beyond what the limits hold."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.outputs import command_limits, extent, holdable_mass
from geared_dynamics.runtime.model_source import loaded, warm_up
from geared_dynamics.runtime.parameters import ParameterError
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
PENDULUM = """<robot name="pendulum"><link name="base"/><link name="rod"><inertial>
<mass value="1"/><origin xyz="0 0 -0.5"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-3.1" upper="3.1" effort="98.1" velocity="3"/></joint></robot>"""


def elbow(**options: object) -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml", **options)  # type: ignore[arg-type]


def given(mass: float, com: object = (0.0, 0.0, 0.0), ixx: float = 0.0, most: float = math.nan):  # type: ignore[no-untyped-def]
    return feedforward(
        payload__mass=mass, payload__center_of_mass=list(com),  # type: ignore[call-overload]
        payload__inertia=[ixx, 0.0, 0.0, ixx, 0.0, ixx], payload__max_mass=most,
    )  # fmt: skip


def test_a_pendulum_holds_what_its_lever_arm_says() -> None:
    """m g c = 98.1 N m; the origin of the rod lies on the hinge."""
    arm = gd.load_model(PENDULUM)
    assert holdable_mass(arm) == math.inf
    assert holdable_mass(arm, (0.0, 0.0, -2.0)) == pytest.approx(5.0, rel=1e-3)
    assert holdable_mass(arm, (0.5, 0.0, 0.0)) == pytest.approx(20.0, rel=1e-3)
    assert holdable_mass(gd.load_model(PENDULUM, gravity=(0, 0, 0)), (1.0, 0, 0)) == math.inf
    with pytest.raises(ParameterError, match=r"payload\.mass: is 11 kg, above the 10 kg that"):
        loaded(arm, given(11.0, (0.0, 0.0, -1.0)))


def test_no_posture_needs_more_than_the_limits_for_the_largest_load() -> None:
    """By postures of their own; half as much again is too much in one of them."""
    arm, com = elbow(), (0.05, 0.0, 0.1)
    most = holdable_mass(arm, com)
    q = np.random.default_rng(7).uniform([-2.9, -1.2, -2.6], [2.9, 2.6, 2.6], (4000, 3))
    weight = gd.gravity_forces(arm.with_payload(most, com), q) - gd.gravity_forces(arm, q)
    used = (np.abs(weight).max(axis=0) / command_limits(arm, "joint_torque")).max()
    assert 0.95 < used < 1.05


def test_loads_within_and_beyond() -> None:
    arm = elbow()
    most = holdable_mass(arm)
    assert loaded(arm, given(0.99 * most)) is not arm
    with pytest.raises(
        ParameterError, match=r"that the command lim.*with a larger payload\.max_mass"
    ):
        loaded(arm, given(1.01 * most))
    with pytest.raises(ParameterError, match=r"payload\.mass: is 15 kg, above"):
        loaded(arm, given(15.0, (0.6, 0.0, 0.0)))
    with pytest.raises(ParameterError, match=r"center_of_mass: is 2 m away from the link, bey"):
        loaded(arm, given(0.1, (0.0, 0.0, 2.0)))
    with pytest.raises(
        ParameterError, match=r"payload\.inertia: is larger than that of 1 kg at a distance"
    ):
        loaded(arm, given(1.0, ixx=1.01 * extent(arm) ** 2))
    assert loaded(arm, given(1.0, ixx=0.9 * extent(arm) ** 2)) is not arm


def test_a_mass_of_the_users_own() -> None:
    arm = elbow()
    most = holdable_mass(arm)
    with pytest.raises(ParameterError, match=r"above the 2 kg of payload.max_mass"):
        loaded(arm, given(2.1, most=2.0))
    assert loaded(arm, given(1.9 * most, most=2.0 * most)) is not arm
    with pytest.raises(ParameterError, match=r"payload\.mass: is"):
        loaded(arm, given(2.1 * most, most=2.0 * most))
    with pytest.raises(ParameterError, match=r"payload\.mass: is"):
        loaded(arm, given(1.9 * most, (1.0, 0.0, 0.0), most=2.0 * most))
    with pytest.raises(ParameterError, match=r"payload\.max_mass: is -1"):
        warm_up(arm, given(0.0, most=-1.0).payload)


def test_without_limits_there_is_no_bound() -> None:
    text = (URDF / "elbow.urdf").read_text("utf-8")
    for effort in ("100", "90", "50"):
        text = text.replace(f'effort="{effort}"', 'effort="0"')
    assert holdable_mass(gd.load_model(text, URDF / "elbow.drivetrain.yaml")) == math.inf
