"""What a new description changes of an arm."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import geared_dynamics as gd
from geared_dynamics.runtime.model_source import changes, summary

URDF = Path(__file__).resolve().parents[3] / "urdf"
ELBOW = (URDF / "elbow.urdf").read_text("utf-8")
DRIVES = (URDF / "elbow.drivetrain.yaml").read_text("utf-8")


def model(urdf: str = ELBOW, drives: str = DRIVES) -> gd.GearedModel:
    return gd.load_model(urdf, drives)


def scaled(key: str, factor: float, text: str = ELBOW) -> str:
    """A URDF with each value of an attribute multiplied."""
    return re.sub(rf'\b{key}="([-\d.e]+)"', lambda m: f'{key}="{factor * float(m[1]):.9g}"', text)


def test_the_same_is_the_same() -> None:
    assert changes(model(), model()) == []
    renamed = ELBOW.replace('<robot name="elbow"', '<robot name="another"') + "<!-- words -->"
    assert changes(model(), model(renamed)) == []


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("ixx", "inertia of link_"),
        ("effort", "effort limit of joint_1 (100, now"),
        ("velocity", "velocity limit of joint_1 (4, now"),
        ("lower", "lower limit of joint_1 (-2.9, now"),
        ("upper", "upper limit of joint_1 (2.9, now"),
    ],
)
def test_one_percent_is_the_border(key: str, words: str) -> None:
    """Of position limits: one percent of the range."""
    tight = 1.0 if key not in ("lower", "upper") else 1.5
    assert changes(model(), model(scaled(key, 1.0 + 0.005 * tight))) == []
    found = summary(changes(model(), model(scaled(key, 1.0 + 0.03 * tight))))
    assert words in found, found


def test_masses() -> None:
    def heavier(factor: float) -> gd.GearedModel:
        pattern = r'mass value="([\d.]+)"'
        value = lambda m: f'mass value="{factor * float(m[1])}"'  # noqa: E731
        return model(re.sub(pattern, value, ELBOW))

    assert changes(model(), heavier(1.005)) == []
    assert "mass of link_1" in summary(changes(model(), heavier(1.02)))
    assert "and" in summary(changes(model(), heavier(1000.0)))


def test_a_limit_that_vanishes_and_one_that_appears() -> None:
    free = model(ELBOW.replace('effort="90"', 'effort="0"'))
    assert summary(changes(model(), free)) == "effort limit of joint_2 (90, now inf)"
    assert summary(changes(free, model())) == "effort limit of joint_2 (inf, now 90)"


def test_lengths_and_axes() -> None:
    origin = re.search(r'<joint name="joint_3".*?<origin xyz="([^"]+)"', ELBOW, re.DOTALL)
    assert origin is not None
    longer = " ".join(str(1.1 * float(x)) for x in origin[1].split())
    found = changes(model(), model(ELBOW.replace(f'xyz="{origin[1]}"', f'xyz="{longer}"')))
    assert any("position" in one for one in found), found


def test_gear_ratios_and_motors() -> None:
    assert "100" in DRIVES
    found = changes(model(), model(drives=DRIVES.replace("100", "105")))
    assert any("gear ratios" in one for one in found), found


@pytest.mark.parametrize("name", ["brisk6", "kr300", "manutec_r3", "puma560", "tx40"])
def test_robots_do_not_differ_from_themselves(name: str) -> None:
    drives = URDF / f"{name}.drivetrain.yaml"
    arm = [gd.load_model(URDF / f"{name}.urdf", drives if drives.exists() else None)
           for _ in range(2)]  # fmt: skip
    assert changes(*arm) == []


def test_a_joint_that_turns_without_end_is_another() -> None:
    """Also where limits are the same: its errors are taken the short way round."""
    plain = re.sub(r"<limit[^>]*/>", "", ELBOW)
    found = changes(model(plain), model(plain.replace('type="revolute"', 'type="continuous"')))
    assert found == ["tree: joint types"]
