"""What wheels add, and when they add nothing (design: M_locked + G'JG + G'JZ + Z'JG)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array, readonly
from geared_dynamics.model.model import GearedModel
from naive.drives import one_ratio_scaled, ratios_scaled
from naive.measure import error, examples
from random_robots import RobotCase, random_robot, random_state, robots

# Sums of rounded terms in another order, relative to the largest element.
ROUNDING = 1e-12
# Equal but for the one rounding of an addition per element.
ONE_ADDITION = 1e-15
# What a ratio that is 1 % off must cost in the same measure.
NEGATIVE = 1e-9

SEEDS = st.integers(0, 2**20)


class Terms(NamedTuple):
    """Everything that depends on the wheels' spin, and gravity, which must not."""

    M: Array
    C: Array
    g: Array


def terms(model: GearedModel, q: Array, v: Array) -> Terms:
    """M, C, g of a state."""
    C = gd.coriolis_matrix(model, q, v)
    return Terms(gd.mass_matrix(model, q), C, gd.gravity_forces(model, q))


def carrier_rates(model: GearedModel, q: Array) -> Array:
    """Z (w, n): the carriers' own angular rates about the wheels' axes."""
    rows = np.zeros_like(model.Gamma)
    for r, (carrier, axis) in enumerate(zip(model.wheels.carrier, model.wheels.axis, strict=True)):
        if carrier >= 0:
            link = model.body_names[carrier]
            rotation = gd.pose(model, q, link)[:3, :3]
            rows[r] = (rotation @ axis) @ gd.jacobian(model, q, link)[3:]
    return rows


def with_inertia(model: GearedModel, inertia: Any) -> GearedModel:
    """The model with other axial inertias of the wheels, and the same locked links."""
    return replace(model, wheels=replace(model.wheels, inertia=readonly(inertia)))


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_mass_matrix_is_locked_reflected_and_interaction(case: RobotCase, seed: int) -> None:
    model, (q, _, _) = case.load(), random_state(case.n, seed)
    M, locked = (gd.mass_matrix(m, q) for m in (model, model.with_coupling("none")))
    interaction = model.Gamma.T @ (model.J[:, None] * carrier_rates(model, q))
    expected = locked + model.reflected_inertia + interaction + interaction.T
    assert error(M, expected) < ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_a_ratio_one_percent_off_fails(seed: int) -> None:
    model, (q, v, _) = random_robot(seed, wheels=10).load(), random_state(6, seed)
    wrong = terms(one_ratio_scaled(model, 1.01), q, v)
    right = terms(model, q, v)
    assert error(wrong.M, right.M) > NEGATIVE
    assert error(wrong.C, right.C) > NEGATIVE
    np.testing.assert_array_equal(wrong.g, right.g)


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_no_axial_inertia_is_the_locked_arm_to_the_last_digit(case: RobotCase, seed: int) -> None:
    model, (q, v, a) = case.load(), random_state(case.n, seed)
    still = with_inertia(model, np.zeros_like(model.J))
    locked = model.with_coupling("none")
    for one, other in zip(terms(still, q, v), terms(locked, q, v), strict=True):
        np.testing.assert_array_equal(one, other)
    tau = gd.inverse_dynamics(still, q, v, a)
    np.testing.assert_array_equal(tau, gd.inverse_dynamics(locked, q, v, a))


@examples(40)
@given(case=robots(included=True), seed=SEEDS)
def test_locked_wheels_of_the_links_are_the_plain_robot_to_the_last_digit(
    case: RobotCase, seed: int
) -> None:
    """Wheels that the links contain already, without spin: the URDF alone."""
    model = gd.load_model(case.urdf, case.contained(), gravity=case.gravity)
    model = model.with_coupling("none")
    plain = gd.load_model(case.urdf, gravity=case.gravity)
    q, v, _ = random_state(case.n, seed)
    for one, other in zip(terms(model, q, v), terms(plain, q, v), strict=True):
        np.testing.assert_array_equal(one, other)


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_diagonal_coupling_is_an_armature(case: RobotCase, seed: int) -> None:
    model, (q, v, _) = case.load(), random_state(case.n, seed)
    diagonal = terms(model.with_coupling("diagonal"), q, v)
    locked = terms(model.with_coupling("none"), q, v)
    armature = np.diag(np.diag(model.reflected_inertia))
    assert error(diagonal.M, locked.M + armature) < ROUNDING
    np.testing.assert_array_equal(diagonal.C, locked.C)
    np.testing.assert_array_equal(diagonal.g, locked.g)


def on_the_base(case: RobotCase) -> GearedModel:
    """The robot with all its wheels in the root link."""
    drive = {**case.drivetrain, "wheels": {}}
    for name, wheel in case.drivetrain["wheels"].items():
        drive["wheels"][name] = {**wheel, "carrier": "base"}
    return gd.load_model(case.urdf, drive, gravity=case.gravity)


@examples(40)
@given(case=robots(included=False), seed=SEEDS)
def test_motors_on_the_base_add_exactly_their_reflected_inertia(
    case: RobotCase, seed: int
) -> None:
    model, (q, v, _) = on_the_base(case), random_state(case.n, seed)
    complete, locked = (terms(m, q, v) for m in (model, model.with_coupling("none")))
    assert error(complete.M, locked.M + model.reflected_inertia) < ONE_ADDITION
    np.testing.assert_array_equal(complete.C, locked.C)
    np.testing.assert_array_equal(complete.g, locked.g)


@pytest.mark.parametrize("coupling", ["diagonal", "complete"])
@pytest.mark.parametrize("seed", range(3))
def test_armature_with_a_ratio_one_percent_off_fails(seed: int, coupling: str) -> None:
    model, (q, v, _) = on_the_base(random_robot(seed, included=False)), random_state(6, seed)
    right = terms(model.with_coupling(coupling), q, v)
    strongest = int(model.reflected_inertia.diagonal().argmax())
    wrong = terms(ratios_scaled(model, strongest, 1.01).with_coupling(coupling), q, v)
    assert error(wrong.M, right.M) > NEGATIVE
    np.testing.assert_array_equal(wrong.C, right.C)


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_energy_of_spin_and_of_interaction(case: RobotCase, seed: int) -> None:
    """The last two terms of Sciavicco 1994, eq. 23."""
    model, (q, v, _) = case.load(), random_state(case.n, seed)
    found = gd.kinetic_energy_terms(model, q, v)
    spin, carried = model.Gamma @ v, carrier_rates(model, q) @ v
    assert error(found.spin, model.J @ spin**2 / 2) < ROUNDING
    # A carrier that turns across the wheel's axis contributes a rounded zero.
    scale = model.J @ np.abs(spin) * np.abs(v).sum()
    assert error(found.interaction, model.J @ (spin * carried), scale) < ROUNDING
    locked = gd.kinetic_energy(model.with_coupling("none"), q, v)
    assert error(found.translation + found.rotation, locked) < ROUNDING


def coaxial(case: RobotCase) -> GearedModel:
    """The robot with each wheel in the link before its joint, coaxial with it."""
    records = {joint.name: joint for joint in case.load().records.robot.joints}
    drive = {**case.drivetrain, "wheels": {}}
    for spin in case.drivetrain["spins"]:
        joint = records[next(iter(spin.get("coefficients", {spin.get("joint"): 0})))]
        wheel = dict(case.drivetrain["wheels"][spin["wheel"]])
        wheel["carrier"] = joint.parent
        wheel["axis"] = (np.array(joint.rotation) @ joint.axis).tolist()
        drive["wheels"][spin["wheel"]] = wheel
    return gd.load_model(case.urdf, drive, gravity=case.gravity)


def absorbed(model: GearedModel) -> GearedModel:
    """Armature model of coaxial rotors: I_j += N I zz', I_(j-1) -= N I zz', Ia = (N^2 - N) I."""
    parameters = model.tree.parameters.copy()
    inertia = np.zeros_like(model.J)
    driven = list(model.tree.dof)
    for r, (J, row) in enumerate(zip(model.J, model.Gamma, strict=True)):
        coordinate = int(np.abs(row).argmax())
        N, body = row[coordinate], driven.index(coordinate)
        inertia[r] = (N * N - N) * J / N**2
        parameters[body, 4:] += N * J * moments(model.tree.axis[body])
        if model.wheels.carrier[r] >= 0:
            parameters[model.wheels.carrier[r], 4:] -= N * J * moments(model.wheels.axis[r])
    tree = replace(model.tree, parameters=readonly(parameters))
    return with_inertia(replace(model, tree=tree), inertia).with_coupling("diagonal")


def moments(axis: Array) -> Array:
    """The six entries of zz'."""
    return np.outer(axis, axis)[np.triu_indices(3)]


REVOLUTE = robots(mimics=0, fixed=0, prismatic=False, included=False, coupled=False)


@examples(40)
@given(case=REVOLUTE, seed=SEEDS)
def test_absorption_of_coaxial_rotors(case: RobotCase, seed: int) -> None:
    model, (q, v, _) = coaxial(case), random_state(case.n, seed)
    M, C, g = terms(model, q, v)
    found = terms(absorbed(model), q, v)
    assert error(found.M, M) < ROUNDING
    assert error(found.C, C, M) < ROUNDING
    np.testing.assert_array_equal(found.g, g)


@pytest.mark.parametrize("seed", range(3))
def test_absorption_with_a_ratio_one_percent_off_fails(seed: int) -> None:
    case = random_robot(seed, prismatic=False, included=False, coupled=False, branched=True)
    model, (q, v, _) = coaxial(case), random_state(case.n, seed)
    coordinate = int(model.reflected_inertia.diagonal().argmax())
    wrong = terms(absorbed(ratios_scaled(model, coordinate, 1.01)), q, v)
    assert error(wrong.M, terms(model, q, v).M) > NEGATIVE
