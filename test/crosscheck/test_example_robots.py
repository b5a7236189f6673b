"""Every robot of example-robot-data, with made-up wheels on every joint, against Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import geared_dynamics as gd
from crosscheck.example_robots import (
    IMMOBILE,
    UNREADABLE,
    example_files,
    is_arm,
    made_up_drivetrain,
)
from geared_dynamics.analysis.crosscheck import CrossCheck, cross_check
from long_cases import cases

pytest.importorskip("pinocchio")

FILES = example_files()
ROBOTS = [name for name in FILES if name not in (*UNREADABLE, *IMMOBILE)]
ARMS = [name for name in ROBOTS if is_arm(name)]
OTHERS = [name for name in ROBOTS if not is_arm(name)]

pytestmark = pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")


def check(path: Path, *, states: int) -> CrossCheck:
    """Load a robot with made-up wheels and compare it with Pinocchio."""
    urdf = path.read_text(encoding="utf-8")
    model = gd.load_model(str(path), made_up_drivetrain(urdf))
    return cross_check(model, states=states, urdf=urdf)


@pytest.mark.filterwarnings("ignore::geared_dynamics.errors.GearedDynamicsWarning")
@pytest.mark.parametrize("name", ARMS)
def test_arms_agree(name: str) -> None:
    result = check(FILES[name], states=10)
    assert result.passed, result.verdict


@pytest.mark.filterwarnings("ignore::geared_dynamics.errors.GearedDynamicsWarning")
@pytest.mark.parametrize("name", cases(OTHERS[::3], OTHERS[1::3] + OTHERS[2::3]))
def test_other_robots_taken_as_fixed_base_agree(name: str) -> None:
    result = check(FILES[name], states=4)
    assert result.passed, result.verdict


@pytest.mark.filterwarnings("ignore::geared_dynamics.errors.GearedDynamicsWarning")
@pytest.mark.parametrize("name", ARMS[:: max(1, len(ARMS) // 6)])
def test_a_ratio_changed_by_one_percent_fails(name: str) -> None:
    urdf = FILES[name].read_text(encoding="utf-8")
    model = gd.load_model(urdf, made_up_drivetrain(urdf))
    first, *rest = model.records.drivetrain.spins
    changed = tuple((joint, 1.01 * value) for joint, value in first.coefficients)
    other = replace(model.records.drivetrain, spins=(replace(first, coefficients=changed), *rest))
    assert not cross_check(model, states=3, urdf=urdf, drivetrain=other).passed


@pytest.mark.parametrize(
    ("name", "reason"), [item for item in (UNREADABLE | IMMOBILE).items() if item[0] in FILES]
)
def test_files_that_make_no_arm_are_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=reason):
        gd.load_model(str(FILES[name]))


def test_the_list_of_files_is_complete() -> None:
    wanted = ("ur3_robot", "ur5_robot", "ur10_robot", "panda", "kinova", "xarm7", "z1.urdf")
    wanted += ("so100", "so101", "talos_left_arm", "baxter")
    for part in wanted:
        assert any(part in name for name in ARMS), part
    assert len(set(UNREADABLE) & set(FILES)) >= 2
    assert len(FILES) >= 60
