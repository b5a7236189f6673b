"""PUMA 560 against the torques of an independent program (see data/SOURCE.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import geared_dynamics as gd
from geared_dynamics.model.model import GearedModel
from naive.drives import ratios_scaled
from naive.measure import holds

HERE = Path(__file__).parent
EXTRACT = HERE / "data" / "puma560_rtb.csv"

# Of the largest torque in the table: its inputs and outputs have 12 digits.
OF_LARGEST_TORQUE = 1e-11
# Half a unit of the last printed digit of the textbook's answers.
PRINTED = 0.5e-5
# What a wrong model must miss the table by, in the same measure, to show that it can fail.
NEGATIVE = 1e-4

NOMINAL = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])
GRAVITY_LOAD = np.array([0, 31.63988, 6.03514, 0, 0.02825, 0])
DIAGONAL_WITH_MOTORS = np.array([3.65938, 4.41374, 0.93784, 0.19253, 0.17135, 0.1941])

Table = NDArray[np.void]


@pytest.fixture(scope="module")
def puma(published: Callable[[str], GearedModel]) -> GearedModel:
    """The robot with reflected rotor inertia only, as its source models it."""
    return published("puma560").with_coupling("diagonal")


@pytest.fixture(scope="module", params=["extract", "whole"])
def table(request: pytest.FixtureRequest) -> Table:
    """States and torques; the whole table is no part of this repository."""
    path = EXTRACT
    if request.param == "whole":
        path = request.getfixturevalue("shared_data") / "puma560_rtb" / "rne_reference.csv"
    return np.genfromtxt(path, delimiter=",", names=True)


def columns(table: Table, name: str) -> NDArray[np.float64]:
    """The six columns name1 to name6 (rows, 6)."""
    return np.column_stack([table[f"{name}{i}"] for i in range(1, 7)])


def motor_friction(model: GearedModel, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotors' friction at the joints: A (b s + c sign s), s = A' v, c by direction."""
    law = model.motors.friction
    speed = v @ model.structure_matrix
    coulomb = np.where(speed > 0.0, law.coulomb[:, 0], law.coulomb[:, 1])
    return (law.viscous * speed + coulomb * np.sign(speed)) @ model.structure_matrix.T


def worst(model: GearedModel, table: Table, published: str) -> float:
    """Largest torque error over the table, relative to its largest torque."""
    state = (columns(table, name) for name in ("q", "qd", "qdd"))
    expected = columns(table, published)
    tau = gd.inverse_dynamics(model, *state)
    return float(np.abs(tau - expected).max() / np.abs(expected).max())


def test_links_and_reflected_inertia(puma: GearedModel, table: Table) -> None:
    error = worst(puma, table, "tau_motors_nofric")
    name = f"PUMA 560, links and armature, {len(table)} states"
    assert holds(name, error, OF_LARGEST_TORQUE)


def test_links_only(puma: GearedModel, table: Table) -> None:
    error = worst(puma.with_coupling("none"), table, "tau_links_only")
    assert holds(f"PUMA 560, links only, {len(table)} states", error, OF_LARGEST_TORQUE)


def test_motor_friction(puma: GearedModel, table: Table) -> None:
    full, without = columns(table, "tau_full"), columns(table, "tau_motors_nofric")
    friction = motor_friction(puma, columns(table, "qd"))
    error = float(np.abs(friction - (full - without)).max() / np.abs(full).max())
    assert holds(f"PUMA 560, motor friction, {len(table)} states", error, OF_LARGEST_TORQUE)


@pytest.mark.parametrize("joint", range(6))
def test_friction_of_the_wrong_direction_fails(
    puma: GearedModel, table: Table, joint: int
) -> None:
    law = puma.motors.friction
    coulomb = law.coulomb.copy()
    coulomb[joint] = coulomb[joint, ::-1]
    motors = replace(puma.motors, friction=replace(law, coulomb=coulomb))
    v = columns(table, "qd")
    right, wrong = motor_friction(puma, v), motor_friction(replace(puma, motors=motors), v)
    assert np.abs(right - wrong).max() > NEGATIVE * np.abs(columns(table, "tau_full")).max()


@pytest.mark.parametrize("joint", range(6))
def test_a_ratio_one_percent_off_fails(puma: GearedModel, table: Table, joint: int) -> None:
    assert worst(ratios_scaled(puma, joint, 1.01), table, "tau_motors_nofric") > NEGATIVE


def test_the_complete_model_is_another_one(puma: GearedModel, table: Table) -> None:
    complete = puma.with_coupling("complete")
    assert worst(complete, table, "tau_motors_nofric") > NEGATIVE


def test_textbook_gravity_load(puma: GearedModel) -> None:
    np.testing.assert_allclose(gd.gravity_forces(puma, NOMINAL), GRAVITY_LOAD, atol=PRINTED)


def test_textbook_inertia_with_motors(puma: GearedModel) -> None:
    diagonal = np.diag(gd.mass_matrix(puma, NOMINAL))
    np.testing.assert_allclose(diagonal, DIAGONAL_WITH_MOTORS, atol=PRINTED)


def test_the_published_tensors_give_the_same_torques() -> None:
    """Links 2 and 3 as published, which no body can have; with link 3 alone they are others."""
    folder = HERE.parents[1] / "urdf"
    ours = (folder / "puma560.urdf").read_text("utf-8")
    link_2 = ('ixx="0.125" ixy="0" ixz="0" iyy="0.519"', 'ixx="0.13" ixy="0" ixz="0" iyy="0.524"')
    link_3 = ('iyz="0" izz="0.0175"', 'iyz="0" izz="0.0125"')
    half = ours.replace(*link_3).replace('ixx="0.071"', 'ixx="0.066"')
    published = half.replace(*link_2)
    with pytest.warns(gd.GearedDynamicsWarning, match=r"link_3.*triangle inequality"):
        models = [gd.load_model(text) for text in (published, half)]
    state = np.random.default_rng(560).uniform(-2.0, 2.0, (3, 50, 6))
    tau = gd.inverse_dynamics(gd.load_model(ours, strict=True), *state)
    same, other = (np.abs(gd.inverse_dynamics(m, *state) - tau).max() for m in models)
    assert same < 1e-13
    assert other > NEGATIVE
