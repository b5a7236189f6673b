"""The three ways: the same gains, other switches."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from demo_robots import brisk6
from geared_dynamics.apps.demo_plan import (
    BANDWIDTH,
    ELASTIC_WAYS,
    FASTEST,
    WAYS,
    bandwidth_of,
    gains,
    switches,
    ways_of,
)
from geared_dynamics.files import robot_files
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.parameters import schema_of


def test_gains_are_critically_damped_for_the_largest_inertia() -> None:
    model, q = brisk6(), np.random.default_rng(1).normal(size=(30, 6))
    found = gains(model, q)
    inertia = np.diagonal(gd.mass_matrix(model, q), axis1=1, axis2=2).max(axis=0)
    for k, name in enumerate(model.joint_names):
        p, d = found[f"gains.{name}.p"], found[f"gains.{name}.d"]
        assert p == pytest.approx(BANDWIDTH**2 * inertia[k])
        assert d**2 == pytest.approx(4.0 * p * inertia[k])


def test_gains_are_lower_where_joints_together_have_little_inertia() -> None:
    """Two axes in one line, of which only the rotors hold them apart."""
    model = robot_on_one_axis(1e-6)
    q = np.zeros((3, 2))
    found = gains(model, q)
    M = gd.mass_matrix(model, q[0])
    D = np.diag([found[f"gains.{name}.d"] for name in model.joint_names])
    assert np.linalg.eigvals(np.linalg.solve(M, D)).real.max() == pytest.approx(FASTEST)
    assert bandwidth_of(found, model.joint_names[0]) < 0.9 * BANDWIDTH
    heavy = robot_on_one_axis(1e-2)
    assert bandwidth_of(gains(heavy, q), model.joint_names[1]) == pytest.approx(BANDWIDTH)


def robot_on_one_axis(rotor: float) -> gd.GearedModel:
    """An arm of two links that turn about the same axis, with gears of 1:80."""
    body = '<mass value="2"/><inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/>'
    links = "".join(
        f'<link name="l{k}"><inertial>{body.format(inertia)}</inertial></link>'
        f'<joint name="j{k}" type="continuous"><parent link="{parent}"/><child link="l{k}"/>'
        '<axis xyz="0 0 1"/></joint>'
        for k, parent, inertia in ((1, "base", 0.01), (2, "l1", 1.0))
    )
    wheels = "".join(
        f"  r{k}: {{carrier: {carrier}, axis: [0, 0, 1], position: [0, 0, 0], "
        f"inertia: {{axial: {rotor}}}, included_in_link: true}}\n"
        for k, carrier in ((1, "base"), (2, "l1"))
    )
    spins = "".join(f"  - {{wheel: r{k}, joint: j{k}, ratio: 80}}\n" for k in (1, 2))
    return gd.load_model(
        f'<robot name="a"><link name="base"/>{links}</robot>',
        f"version: 1\nwheels:\n{wheels}spins:\n{spins}",
    )


def test_ways_differ_in_what_they_feed_forward() -> None:
    none, armature, complete = (switches(way) for way in WAYS)
    assert not any(none.values())
    assert all(complete.values())
    assert [name for name in complete if not armature[name]] == ["use_rotor_coupling"]


def test_the_node_knows_the_parameters() -> None:
    model = brisk6()
    known = schema_of(FeedforwardParameters, model.joint_names, model.motor_names)
    assert set(gains(model, np.zeros((1, 6)))) <= set(known)
    assert set(switches(WAYS[0])) <= set(known)


def test_an_arm_with_springs_is_compared_with_itself_without() -> None:
    model, q = gd.load_model(*robot_files("wave6")), np.zeros((1, 6))
    assert ways_of(model) == ELASTIC_WAYS
    assert ways_of(brisk6()) == WAYS
    known = schema_of(FeedforwardParameters, model.joint_names, model.motor_names)
    found = [switches(way) for way in ELASTIC_WAYS]
    assert [one.pop("use_elasticity") for one in found] == [False, False, True]
    assert [all(one.values()) for one in found] == [False, True, True]
    assert set(switches(ELASTIC_WAYS[0])) <= set(known)
    # Behind gears of one joint each the feedback of both laws is the same.
    rigid, elastic = gains(model, q), gains(model, q, springs=True)
    assert elastic == pytest.approx(rigid)
