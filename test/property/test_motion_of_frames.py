"""Poses, Jacobians, external forces and payloads of any link or wheel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.description.robot_records import (
    InertiaRecord,
    JointRecord,
    LinkRecord,
    RobotRecord,
)
from geared_dynamics.model.model import GearedModel
from naive.drives import turning_joints, with_spin
from naive.lagrangian import LagrangianTwin
from naive.measure import derivative, error, examples
from random_robots import RobotCase, random_robot, random_state, robots

# Products of O(n) rotations, relative to the largest element or to one metre.
ROUNDING = 1e-12
# Eighth-order differences with step 3e-3 of functions that turn at up to 10 rad/s.
DIFFERENCED = 1e-9
# What a force or a payload that is 1 % off must cost in the same measure.
NEGATIVE = 1e-6

SEEDS = st.integers(0, 2**20)


def twin_of(model: GearedModel) -> LagrangianTwin:
    """The same arm as explicit bodies."""
    return LagrangianTwin(*model.records, model.gravity)


def homogeneous(rotation: Array, position: Array) -> Array:
    """The pose as one matrix (4, 4)."""
    return np.vstack([np.column_stack([rotation, position]), [0, 0, 0, 1]])


@examples(30)
@given(case=robots(), seed=SEEDS)
def test_links_are_where_the_twin_puts_them(case: RobotCase, seed: int) -> None:
    model, q = case.load(), random_state(case.n, seed)[0]
    twin = twin_of(model)
    for link in (link.name for link in model.records.robot.links):
        rotation, position, linear, angular = twin.link_pose(q, link)
        assert error(gd.pose(model, q, link), homogeneous(rotation, position)) < ROUNDING
        jacobian = np.vstack([linear, angular])
        assert error(gd.jacobian(model, q, link), jacobian, 1.0) < ROUNDING


@examples(30)
@given(case=robots(), seed=SEEDS)
def test_wheels_are_where_the_twin_puts_them(case: RobotCase, seed: int) -> None:
    """Centre and Jacobian with the wheel's own spin; the axis, its angle being left out."""
    model, q = case.load(), random_state(case.n, seed)[0]
    twin = twin_of(model)
    bodies = {body.name: body for body in twin.bodies}
    for wheel in model.records.drivetrain.wheels:
        _, position, linear, angular = twin.body_pose(q, bodies[wheel.name])
        pose = gd.pose(model, q, wheel.name)
        assert error(pose[:3, 3], position, 1.0) < ROUNDING
        assert error(pose[:3, :3] @ pose[:3, :3].T, np.eye(3)) < ROUNDING
        jacobian = np.vstack([linear, angular])
        assert error(gd.jacobian(model, q, wheel.name), jacobian, 1.0) < ROUNDING


@examples(30)
@given(case=robots(), seed=SEEDS)
def test_jacobian_and_drift_are_derivatives(case: RobotCase, seed: int) -> None:
    model, (q, v, _) = case.load(), random_state(case.n, seed)
    for frame in [*model.body_names, *model.wheel_names]:
        moved = derivative(lambda t, f=frame: gd.pose(model, q + t * v, f)[:3, 3])
        speed = gd.jacobian(model, q, frame)[:3] @ v
        assert error(moved, speed, 1.0) < DIFFERENCED
        changed = derivative(lambda t, f=frame: gd.jacobian(model, q + t * v, f))
        drift = gd.jacobian_drift(model, q, v, frame)
        assert error(drift, changed @ v, gd.jacobian(model, q, frame)) < DIFFERENCED


def test_a_wheel_with_a_ratio_one_percent_off_moves_otherwise() -> None:
    model, (q, v, _) = random_robot(2).load(), random_state(6, 2)
    for wheel in model.wheel_names:
        wrong = with_spin(model, 1.01 * model.Gamma)
        jacobians = (gd.jacobian(m, q, wheel) for m in (wrong, model))
        assert error(*jacobians) > NEGATIVE
        carrier = model.wheels.carrier[model.wheel_names.index(wheel)]
        if turning_joints(model, int(carrier)) > 0:
            drifts = (gd.jacobian_drift(m, q, v, wheel) for m in (wrong, model))
            assert error(*drifts) > NEGATIVE


def pulled(model: GearedModel, q: Array, f_ext: Array) -> Array:
    """Joint forces of forces and moments on the bodies, by their Jacobians (n,)."""
    total = np.zeros(model.n)
    for link, wrench in zip(model.body_names, f_ext, strict=True):
        rotation = gd.pose(model, q, link)[:3, :3]
        in_root = np.concatenate([rotation @ wrench[:3], rotation @ wrench[3:]])
        total += gd.jacobian(model, q, link).T @ in_root
    return total


@examples(30)
@given(case=robots(), seed=SEEDS)
def test_external_forces_act_through_the_jacobians(case: RobotCase, seed: int) -> None:
    """M a + C v + g = tau + sum of J' f."""
    model, (q, v, a) = case.load(), random_state(case.n, seed)
    f_ext = np.random.default_rng(seed).uniform(-5, 5, (len(model.body_names), 6))
    free, tau = gd.inverse_dynamics(model, q, v, a), gd.inverse_dynamics(model, q, v, a, f_ext)
    scale = np.abs(free).max() + np.abs(f_ext).sum()
    assert error(free - tau, pulled(model, q, f_ext), scale) < ROUNDING
    found = gd.forward_dynamics(model, q, v, tau, f_ext)
    M = gd.mass_matrix(model, q)
    assert error(M @ found, M @ a, scale) < ROUNDING


def test_a_force_one_percent_off_fails() -> None:
    model, (q, v, a) = random_robot(2).load(), random_state(6, 2)
    f_ext = np.random.default_rng(2).uniform(-5, 5, (len(model.body_names), 6))
    difference = gd.inverse_dynamics(model, q, v, a) - gd.inverse_dynamics(model, q, v, a, f_ext)
    assert error(difference, 1.01 * pulled(model, q, f_ext)) > NEGATIVE


def moving_links(model: GearedModel) -> list[str]:
    """Links that are not fixed to the root."""
    names = (link.name for link in model.records.robot.links)
    return [name for name in names if model.frame(name).body >= 0]


def welded(robot: RobotRecord, link: str, payload: InertiaRecord) -> RobotRecord:
    """The robot with a payload as one more link."""
    joint = JointRecord("weld", "fixed", link, "payload")
    links = (*robot.links, LinkRecord("payload", payload))
    return replace(robot, links=links, joints=(*robot.joints, joint))


@examples(30)
@given(case=robots(), seed=SEEDS, data=st.data())
def test_payload_is_one_more_body(case: RobotCase, seed: int, data: st.DataObject) -> None:
    model, (q, v, a) = case.load(), random_state(case.n, seed)
    link = data.draw(st.sampled_from(moving_links(model)))
    tensor = ((0.02, 0.001, -0.002), (0.001, 0.03, 0.003), (-0.002, 0.003, 0.025))
    payload = InertiaRecord(1.7, (0.1, -0.2, 0.3), tensor)
    loaded = model.with_payload(payload.mass, payload.com, payload.tensor, link=link)
    expected = LagrangianTwin(
        welded(model.records.robot, link, payload), model.records.drivetrain, model.gravity
    ).inverse_dynamics(q, v, a)
    scale = gd.mass_matrix(loaded, q) @ np.abs(a)
    assert error(gd.inverse_dynamics(loaded, q, v, a), expected, scale) < ROUNDING


@pytest.mark.parametrize("factor", [0.0, 1.01])
def test_another_payload_fails(factor: float) -> None:
    model, (q, v, a) = random_robot(2).load(), random_state(6, 2)
    link, com = model.body_names[-1], (0.1, -0.2, 0.3)
    loaded, other = (
        model.with_payload(mass, com, np.zeros((3, 3)), link=link) for mass in (2, 2 * factor)
    )
    right = gd.inverse_dynamics(loaded, q, v, a)
    assert error(gd.inverse_dynamics(other, q, v, a), right) > NEGATIVE
