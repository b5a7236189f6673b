"""Drivetrain file -> records: the good cases, and what a path or a text is."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    FrictionRecord,
    JointDriveRecord,
    MotorRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.drivetrain_reader import read_drivetrain
from geared_dynamics.errors import DescriptionError

FULL = textwrap.dedent(
    """\
    version: 1
    wheels:
      rotor_2:
        carrier: link_1
        axis: [0, 2, 0]                # normalised
        position: [0.0, 0, 0.1]
        mass: 0.5
        inertia: {axial: 1.2e-4, transverse: 8e-5}
      rotor_5: {carrier: link_4, axis: [0, 0, -1], mass: 0, inertia: {axial: 1e-4}, side: link}
      inside: {carrier: base, axis: [1, 0, 0], inertia: {axial: 2}, included_in_link: true}
    spins:
      - {wheel: rotor_5, coefficients: {joint_5: 80, joint_6: -80}}
      - {wheel: rotor_2, joint: joint_2, ratio: -1E+2}
      - {wheel: inside, joint: joint_1, ratio: .5}
    motors:
      motor_b: {wheel: rotor_5}
      motor_a: {wheel: rotor_2}
    joints:
      joint_2: {stiffness: 1.0e4, damping: 2, friction: {viscous: 0.4, coulomb: 1.1}}
      joint_3: {stiffness: 1e3, offset: -0.1}
      joint_1: {friction: {coulomb: 0}}
    """
)


def test_everything_is_read_in_file_order() -> None:
    record = read_drivetrain(FULL)
    assert record.source == "<drivetrain text>"
    assert record.wheels == (
        WheelRecord("rotor_2", "link_1", (0, 1, 0), (0, 0, 0.1), 0.5, 1.2e-4, 8e-5),
        WheelRecord("rotor_5", "link_4", (0, 0, -1), (0, 0, 0), 0, 1e-4, 5e-5, side="link"),
        WheelRecord("inside", "base", (1, 0, 0), (0, 0, 0), 0, 2, 1, included_in_link=True),
    )
    assert record.spins == (
        SpinRecord("rotor_5", (("joint_5", 80.0), ("joint_6", -80.0)), "spins[0]"),
        SpinRecord("rotor_2", (("joint_2", -100.0),), "spins[1]"),
        SpinRecord("inside", (("joint_1", 0.5),), "spins[2]"),
    )
    assert record.motors == (MotorRecord("motor_b", "rotor_5"), MotorRecord("motor_a", "rotor_2"))
    assert record.joints == (
        JointDriveRecord("joint_2", 1e4, 2.0, FrictionRecord(0.4, 1.1)),
        JointDriveRecord("joint_3", 1e3, 0.0, None, -0.1),
        JointDriveRecord("joint_1", None, None, FrictionRecord(0.0, 0.0)),
    )


def test_numbers_are_floats() -> None:
    record = read_drivetrain(FULL)
    numbers = [*record.wheels[1].axis, record.wheels[1].mass, record.spins[0].coefficients[0][1]]
    assert [type(number) for number in numbers] == [float] * 5


def test_path_text_bytes_and_dict_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "arm.drivetrain.yaml"
    file.write_text("\ufeff" + FULL, encoding="utf-8")
    expected = read_drivetrain(FULL)
    for source in (file, str(file), FULL.encode(), "\ufeff" + FULL):
        record = read_drivetrain(source)
        assert record.wheels == expected.wheels
        assert record.spins == expected.spins
    assert read_drivetrain(file).source == str(file)


def test_one_line_of_text_in_braces() -> None:
    text = " {version: 1, joints: {j: {stiffness: 1e3}}}"
    assert read_drivetrain(text).joints == (JointDriveRecord("j", 1e3, 0.0),)


def test_none_is_a_robot_without_wheels() -> None:
    assert read_drivetrain(None) == DrivetrainRecord()


def test_a_dict_may_hold_numpy_values() -> None:
    wheel = {
        "carrier": "a",
        "axis": np.array([0, 3, 4]),
        "mass": np.float32(0.5),
        "inertia": {"axial": np.float64(2)},
        "included_in_link": np.bool_(True),
    }
    data = {
        "version": np.int64(1),
        "wheels": {"w": wheel},
        "spins": ({"wheel": "w", "joint": "j", "ratio": np.int64(3)},),
    }
    record = read_drivetrain(data)
    assert record.source == "<drivetrain dict>"
    assert record.wheels[0].axis == (0.0, 0.6, 0.8)
    assert record.wheels[0].included_in_link is True
    assert type(record.wheels[0].mass) is float


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e-4", 1e-4),
        ("1E4", 1e4),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("010", 10.0),
        ("0x10", 16.0),
        ("0o10", 8.0),
        ("1_000", None),
        ("1:30", None),
        ("'5'", None),
    ],
)
def test_numbers_are_those_of_yaml_1_2(written: str, value: float | None, refused) -> None:
    text = f"version: 1\njoints: {{j: {{stiffness: {written} }} }}"
    if value is None:
        refused(lambda: read_drivetrain(text), DescriptionError, "joints.j.stiffness", "number")
    else:
        assert read_drivetrain(text).joints[0].stiffness == value


@pytest.mark.parametrize("word", ["no", "on", "off", "yes", "y", "2024-01-01", "0b1", "1_0"])
def test_words_that_yaml_1_1_takes_for_something_else_are_names(word: str) -> None:
    text = f"version: 1\njoints:\n  {word}: {{stiffness: 1}}\n"
    assert read_drivetrain(text).joints[0].name == word


def test_aliases_of_ordinary_size_are_read() -> None:
    text = "version: 1\njoints:\n  a: &elastic {stiffness: 1e3}\n  b: *elastic\n"
    assert [joint.stiffness for joint in read_drivetrain(text).joints] == [1e3, 1e3]
