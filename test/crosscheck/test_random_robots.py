"""Random robots against Pinocchio's spanning tree, in which every wheel is a body."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import geared_dynamics as gd
from geared_dynamics.analysis.crosscheck import cross_check
from geared_dynamics.analysis.pinocchio_tree import spanning_tree
from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model.model import GearedModel
from random_robots import RobotCase, random_robot, robots

pytest.importorskip("pinocchio")

# One robot of every kind, and two beyond the size at which forward dynamics changes method.
PLAIN = [
    random_robot(1, joints=1, wheels=1),
    random_robot(2, joints=6, mimics=2, fixed=2, wheels=9),
    random_robot(3, joints=7, mimics=2, fixed=2, wheels=9, branched=True, massless=True),
    random_robot(4, joints=13, wheels=13),
    random_robot(5, joints=20, mimics=3, fixed=2, wheels=25, branched=True),
    random_robot(6, joints=5, wheels=0, branched=True),
]


def perturbed(model: GearedModel, factor: float = 1.01) -> DrivetrainRecord:
    """The drivetrain with the ratios of its heaviest wheel (in J ratio^2) changed."""
    heaviest = int(np.argmax(model.J * np.square(model.Gamma).sum(axis=1)))
    name = model.wheel_names[heaviest]
    spins = tuple(
        replace(spin, coefficients=tuple((j, factor * c) for j, c in spin.coefficients))
        if spin.wheel == name
        else spin
        for spin in model.records.drivetrain.spins
    )
    return replace(model.records.drivetrain, spins=spins)


@given(robots())
def test_every_function_agrees(case: RobotCase) -> None:
    result = cross_check(case.load(), states=4, urdf=case.urdf)
    assert result.passed, result.verdict


@pytest.mark.parametrize("case", PLAIN, ids=repr)
def test_robots_of_every_kind_agree(case: RobotCase) -> None:
    result = cross_check(case.load(), states=20, urdf=case.urdf)
    assert result.passed, result.verdict


@pytest.mark.parametrize("case", PLAIN, ids=repr)
def test_urdf_written_from_the_record_agrees(case: RobotCase) -> None:
    result = cross_check(case.load(), states=4)
    assert result.passed, result.verdict


@given(robots(wheels=4))
def test_a_ratio_changed_by_one_percent_fails(case: RobotCase) -> None:
    model = case.load()
    result = cross_check(model, states=4, urdf=case.urdf, drivetrain=perturbed(model))
    failed = {quantity.name for quantity in result.quantities if not quantity.passed}
    assert {"mass matrix", "inverse dynamics", "kinetic energy", "wheel Jacobians"} <= failed


@pytest.mark.parametrize("coupling", ["none", "diagonal"])
def test_an_approximate_model_fails(coupling: str) -> None:
    model = random_robot(2, joints=6, wheels=9).load()
    result = cross_check(model.with_coupling(coupling), states=4)  # type: ignore[arg-type]
    assert not result.passed
    assert result.verdict.startswith("FAIL: differs from Pinocchio by ")


def test_joints_moved_by_one_percent_in_the_users_urdf_fail() -> None:
    case = random_robot(2, joints=6, wheels=3)

    def moved(match: re.Match[str]) -> str:
        return f"{match[1]}{1.01 * float(match[2])!r}"

    other = re.sub(r'(<joint [^>]*><origin xyz=")(\S+)', moved, case.urdf)
    assert not cross_check(case.load(), states=4, urdf=other).passed


def test_every_wheel_is_a_body_of_the_reference() -> None:
    case = random_robot(8, joints=4, wheels=5)
    ref = spanning_tree(case.load(), urdf=case.urdf)
    assert ref.G.shape == (4 + 5, 4)
    assert set(ref.wheel_joint) == {f"wheel_{k}" for k in range(5)}


def test_frozen_joints_fall_back_to_the_written_urdf() -> None:
    case = random_robot(9, joints=6, fixed=1, wheels=0, branched=True)
    kept, locked = list(case.joint_names[:3]), case.joint_names[4]
    model = gd.load_model(case.urdf, joints=kept, lock={locked: 0.4}, gravity=case.gravity)
    result = cross_check(model, states=4, urdf=case.urdf)
    assert result.passed, result.verdict


def test_urdf_that_pinocchio_refuses_is_our_error() -> None:
    model = random_robot(1, joints=1, wheels=0).load()
    with pytest.raises(ModelError, match="Pinocchio cannot read this URDF"):
        cross_check(model, urdf="<robot/>")
