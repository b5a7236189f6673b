"""``<param>`` in ros2_control: drives of joints without a transmission, inertias."""

from __future__ import annotations

import pytest

from geared_dynamics.description import read_urdf_drives
from geared_dynamics.errors import DescriptionError

BLOCK = """<ros2_control name="Arm" type="system">
  <joint name="joint_1"><command_interface name="effort"/>{params}</joint>{more}</ros2_control>"""
SIMPLE = """<transmission name="t"><plugin>transmission_interface/SimpleTransmission</plugin>
  <actuator name="m" role="actuator1">{inside}</actuator>
  <joint name="joint_1" role="joint1"><mechanical_reduction>80</mechanical_reduction></joint>
  {params}</transmission>"""
FOUR_BAR = """<joint name="joint_2"/><transmission name="t">
  <plugin>transmission_interface/FourBarLinkageTransmission</plugin>
  <actuator name="m" role="actuator1"/><actuator name="n" role="actuator2"/>
  <joint name="joint_1" role="joint1"/><joint name="joint_2" role="joint2"/>
  {params}</transmission>"""


def param(name: str, value: object) -> str:
    return f'<param name="{name}">{value}</param>'


GEAR, ROTOR = param("mechanical_reduction", -50), param("rotor_inertia", "2e-4")


def drives(found):
    """Wheel -> coefficients, inertia."""
    record = found.drivetrain
    return {
        spin.wheel: (dict(spin.coefficients), wheel.axial)
        for wheel, spin in zip(record.wheels, record.spins, strict=True)
    }


def read(arm, params: str = "", more: str = ""):
    return read_urdf_drives(arm(BLOCK.format(params=params, more=more)))


def test_a_joint_without_transmission_gets_a_drive(arm) -> None:
    found = read(arm, GEAR + ROTOR)
    assert drives(found) == {"joint_1_rotor": ({"joint_1": -50.0}, 2e-4)}
    assert [motor.name for motor in found.drivetrain.motors] == ["joint_1_rotor"]
    (note,) = found.notes
    assert "ros2_control 'Arm'/joint 'joint_1': mechanical_reduction -50 is read here" in note
    assert "leaves it to the hardware's driver, and Gazebo ignores it" in note


def test_an_inertia_alone_has_the_ratio_one(arm) -> None:
    found = read(arm, ROTOR)
    assert drives(found) == {"joint_1_rotor": ({"joint_1": 1.0}, 2e-4)}
    assert found.notes == ()


def test_a_transmission_takes_the_inertia_of_its_joints_parameter(arm) -> None:
    found = read(arm, ROTOR, SIMPLE.format(inside="", params=""))
    assert drives(found) == {"m": ({"joint_1": 80.0}, 2e-4)}
    assert found.notes == ()
    assert "(ros2_control, <param>)" in found.drivetrain.wheels[0].urdf_origin


OWN = "<rotor_inertia>3e-4</rotor_inertia>"


@pytest.mark.parametrize(
    ("params", "more", "inertia", "note"),
    [
        (GEAR, SIMPLE.format(inside="", params=""), 0.0, "reduction -50 is not used; trans"),
        (ROTOR, SIMPLE.format(inside=OWN, params=""), 3e-4, "inertia 0.0002 is not used; trans"),
        (ROTOR, FOUR_BAR.format(params=""), 0.0, "inertia 0.0002 is not used; transmission 't'"),
    ],
)
def test_a_transmission_goes_before_parameters(params, more, inertia, note, arm) -> None:
    found = read(arm, params, more)
    assert found.drivetrain.wheels[0].axial == inertia
    (line,) = found.notes
    assert note in line
    assert line.startswith("<URDF text>, ros2_control 'Arm'/joint 'joint_1': ")


def test_parameters_that_agree_with_the_transmission_are_no_doubt(arm) -> None:
    found = read(
        arm, param("mechanical_reduction", 80) + ROTOR, SIMPLE.format(inside="", params=ROTOR)
    )
    assert drives(found) == {"m": ({"joint_1": 80.0}, 2e-4)}
    assert found.notes == ()


def test_the_transmissions_own_parameter_is_the_inertia_of_its_actuator(arm) -> None:
    found = read(arm, "", SIMPLE.format(inside="", params=ROTOR))
    assert drives(found) == {"m": ({"joint_1": 80.0}, 2e-4)}
    assert found.notes == ()


def test_the_element_goes_before_the_transmissions_parameter(arm) -> None:
    found = read(arm, "", SIMPLE.format(inside=OWN, params=ROTOR))
    assert drives(found) == {"m": ({"joint_1": 80.0}, 3e-4)}
    (note,) = found.notes
    assert "<rotor_inertia> 0.0003 is taken, not <param> 0.0002" in note


def test_a_fixed_joint_gets_no_drive(arm) -> None:
    urdf = arm(BLOCK.format(params=GEAR, more=""), kinds=("fixed", "revolute", "revolute"))
    found = read_urdf_drives(urdf)
    assert found.drivetrain.wheels == ()
    assert "left out, because its joint is fixed" in found.remarks[0]


JOINT = "ros2_control 'Arm'/joint 'joint_1'"


@pytest.mark.parametrize(
    ("params", "more", "fragments"),
    [
        (param("mechanical_reduction", 0), "", (JOINT, "the reduction is zero")),
        (param("mechanical_reduction", "1_0"), "", (JOINT, "expected a finite number")),
        (GEAR + GEAR, "", (JOINT, "is given twice")),
        (param("rotor_inertia", -1), "", (JOINT, "inertia is negative")),
        ("", SIMPLE.format(inside="", params=param("rotor_inertia", "x")), ("transmission 't'",)),
        ("", FOUR_BAR.format(params=ROTOR), ("transmission 't'", "does not name the actuator")),
    ],
)
def test_bad_parameter_is_refused(params, more, fragments, refused, arm) -> None:
    refused(lambda: read(arm, params, more), DescriptionError, *fragments)
