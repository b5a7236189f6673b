"""Solved gear trains against the rolling of their bodies, power, and Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model import build_model
from geared_dynamics.model.gears import resolve
from geared_dynamics.model.model import GearedModel
from naive.measure import examples
from naive.shafts import with_independent_motors
from random_gears import GearCase, Roll, gear_trains, random_gears
from random_robots import random_state

# A sum of a few rounded products of angular velocities, relative to the fastest wheel's.
ROUNDING = 1e-11
# What a number of teeth that is 1 % off must cost in the same measure.
NEGATIVE = 1e-4

SEEDS = st.integers(0, 2**20)


def angular(model: GearedModel, q: Array, v: Array, frame: str) -> Array:
    """Angular velocity of a link or wheel in root axes (3,) [rad/s]."""
    return np.asarray(gd.jacobian(model, q, frame)[3:] @ v)


def world(model: GearedModel, q: Array, axis: Any) -> Array:
    """A direction fixed in a frame, in root axes."""
    frame, direction = axis
    return np.asarray(gd.pose(model, q, frame)[:3, :3] @ np.array(direction))


def sides(model: GearedModel, roll: Roll, q: Array, v: Array) -> tuple[float, float]:
    """The two sides of a rolling condition, speeds times sizes, from the bodies' motion."""
    arm = angular(model, q, v, roll.arm)
    directions = [world(model, q, axis) for axis in roll.axes]
    speeds = [
        (angular(model, q, v, member) - arm) @ direction * size
        for member, direction, size in zip(roll.members, directions, roll.sizes, strict=True)
    ]
    sign = roll.sign
    if sign is None:
        sign = round(directions[0] @ directions[1]) * (-1 if roll.kind == "external" else 1)
    return speeds[0], sign * speeds[1]


def slip(model: GearedModel, rolls: tuple[Roll, ...], q: Array, v: Array) -> float:
    """Largest violation of the rolling conditions, relative to the fastest body and size."""
    bodies = [np.abs(angular(model, q, v, frame)).max() for frame in model.frames]
    fastest = max(1.0, *bodies, np.abs(model.Gamma @ v).max(initial=0.0))
    found = [0.0]
    for roll in rolls:
        one, other = sides(model, roll, q, v)
        found.append(abs(one - other) / (fastest * max(roll.sizes)))
    return max(found)


def pitch_point_slip(model: GearedModel, roll: Roll, q: Array, v: Array) -> float:
    """Relative velocity of the two wheels' material points at the pitch point [m/s]."""
    (a, b), (size_a, size_b) = roll.members, roll.sizes
    centres = [gd.pose(model, q, name)[:3, 3] for name in (a, b)]
    axis = world(model, q, roll.axes[0])
    between = centres[1] - centres[0]
    outward = between - (between @ axis) * axis
    assert np.linalg.norm(outward) == pytest.approx(roll.module * (size_a + size_b))
    pitch = centres[0] + outward * size_a / (size_a + size_b)
    velocities = []
    for name, centre in zip((a, b), centres, strict=True):
        twist = gd.jacobian(model, q, name) @ v
        velocities.append(twist[:3] + np.cross(twist[3:], pitch - centre))
    return float(np.linalg.norm(velocities[0] - velocities[1]))


@examples(60)
@given(case=gear_trains(), seed=SEEDS)
def test_wheels_roll_on_each_other(case: GearCase, seed: int) -> None:
    """Gamma from the meshes is Gamma from the rolling conditions, at any posture."""
    model = case.load()
    q, v, _ = random_state(model.n, seed)
    assert slip(model, case.rolls, q, v) < ROUNDING


@examples(60)
@given(case=gear_trains(stages=0, harmonics=0), seed=SEEDS)
def test_pitch_points_have_one_velocity(case: GearCase, seed: int) -> None:
    model = case.load()
    q, v, _ = random_state(model.n, seed)
    speed = max(np.abs(model.Gamma @ v).max(initial=1), 1.0)
    for roll in case.rolls:
        if roll.module:
            assert pitch_point_slip(model, roll, q, v) < ROUNDING * speed


@examples(40)
@given(case=gear_trains(), seed=SEEDS)
def test_power_in_is_power_out(case: GearCase, seed: int) -> None:
    """(A tau_m).v = tau_m.phi_dot, the rates between rotor and housing taken from the bodies."""
    model = case.load()
    q, v, _ = random_state(model.n, seed)
    carrier = {wheel.name: wheel.carrier for wheel in model.records.drivetrain.wheels}
    names = [model.wheel_names[r] for r in model.motor_wheel]
    rates = np.array(
        [
            (angular(model, q, v, name) - angular(model, q, v, carrier[name]))
            @ gd.pose(model, q, name)[:3, 2]
            for name in names
        ]
    )
    torque = np.random.default_rng(seed).uniform(-1, 1, len(names))
    power = torque @ rates
    assert (model.structure_matrix @ torque) @ v == pytest.approx(
        power, abs=ROUNDING * (1 + np.abs(torque) @ np.abs(rates))
    )


@examples(15)
@given(case=gear_trains())
def test_pinocchio_agrees(case: GearCase) -> None:
    pytest.importorskip("pinocchio")
    from geared_dynamics.analysis.crosscheck import cross_check

    result = cross_check(case.load(), states=3)
    assert result.passed, result.verdict


def one_tooth_more(case: GearCase, k: int) -> GearCase:
    """The train with the k-th mesh's second member a tooth larger: 1 % or more."""
    meshes = list(case.drivetrain.meshes)
    one, other = meshes[k].sizes
    meshes[k] = replace(meshes[k], sizes=(one, other + 1))
    return replace(case, drivetrain=replace(case.drivetrain, meshes=tuple(meshes)))


@pytest.mark.parametrize("seed", range(6))
def test_one_tooth_more_slips(seed: int) -> None:
    case = random_gears(seed, joints=4, trains=2, stages=0, harmonics=0, screws=0)
    for k in range(len(case.drivetrain.meshes)):
        wrong = one_tooth_more(case, k).load()
        q, v, _ = random_state(wrong.n, seed)
        assert slip(wrong, case.rolls, q, v) > NEGATIVE


@pytest.mark.parametrize("seed", range(3))
def test_one_tooth_more_is_not_pinocchios_train(seed: int) -> None:
    pytest.importorskip("pinocchio")
    from geared_dynamics.analysis.crosscheck import cross_check

    case = random_gears(seed, joints=4, trains=2)
    wrong = one_tooth_more(case, len(case.drivetrain.meshes) - 1)
    other = resolve(wrong.robot, wrong.drivetrain)
    assert not cross_check(case.load(), states=3, drivetrain=other).passed


@examples(40)
@given(case=gear_trains(), seed=SEEDS)
def test_coaxial_carrier_changes_no_force(case: GearCase, seed: int) -> None:
    """Which of two coaxial links an idle wheel is said to ride on is a matter of words."""
    model = case.load()
    moved = other_carriers(case, model)
    q, v, a = random_state(model.n, seed)
    tau = gd.inverse_dynamics(model, q, v, a)
    found = gd.inverse_dynamics(moved, q, v, a)
    scale = np.abs(gd.mass_matrix(model, q)).max() * (1 + np.abs(v).max() ** 2 + np.abs(a).max())
    np.testing.assert_allclose(found, tau, rtol=0, atol=1e-11 * max(scale, np.abs(tau).max()))


def other_carriers(case: GearCase, model: GearedModel) -> GearedModel:
    """The robot with every wheel that is coaxial with its carrier's joint one link further in."""
    incoming = {joint.child: joint for joint in case.robot.joints}
    wheels, given_spins = [], {spin.wheel for spin in case.drivetrain.spins}
    for wheel in case.drivetrain.wheels:
        joint = incoming.get(wheel.carrier)
        coaxial = joint is not None and joint.kind in ("revolute", "continuous")
        if joint is None or not coaxial or wheel.name in given_spins:
            wheels.append(wheel)
            continue
        across = np.cross(wheel.axis, joint.axis), np.cross(wheel.position, joint.axis)
        if max(np.abs(across[0]).max(), np.abs(across[1]).max()) > 1e-9:
            wheels.append(wheel)
            continue
        R = np.array(joint.rotation)
        axis, position = R @ wheel.axis, R @ wheel.position + np.array(joint.position)
        wheels.append(
            replace(
                wheel,
                carrier=joint.parent,
                axis=tuple(axis.tolist()),
                position=tuple(position.tolist()),
            )
        )
    drivetrain = replace(case.drivetrain, wheels=tuple(wheels), motors=())
    return build_model(case.robot, drivetrain, gravity=model.gravity)


@examples(30)
@given(case=gear_trains())
def test_resolving_twice_changes_nothing(case: GearCase) -> None:
    drives = with_independent_motors(case.robot, case.drivetrain)
    once = resolve(case.robot, drives)
    assert resolve(case.robot, once) is once
    assert build_model(case.robot, once).records.drivetrain is once
