"""Reductions, inertias and offsets at places where no reader looks: each is reported."""

from __future__ import annotations

import pytest

import geared_dynamics as gd
from geared_dynamics.description import read_urdf_drives
from geared_dynamics.errors import DescriptionError, GearedDynamicsWarning

ARM = """<ros2_control name="Arm" type="system">
  <hardware><plugin>a/B</plugin></hardware>
  <joint name="joint_1"><command_interface name="effort"/></joint>
  <joint name="joint_2" read_only="true"/>
  <gpio name="lamp"/>
  <transmission name="t"><plugin>transmission_interface/SimpleTransmission</plugin>
    <actuator name="m" role="actuator1"/>
    <joint name="joint_1" role="joint1"><offset>0.5</offset></joint>
  </transmission>
</ros2_control>"""
TRANSMISSION_JOINT = '<joint name="joint_1" role="joint1">'
BLOCK_JOINT = '<joint name="joint_1"><command'

# what, replaced by what, place, finding, remedy
REFUSED = [
    (TRANSMISSION_JOINT, '<joint name="joint_1" role="joint1" mechanical_reduction="50">',
     "transmission 't'/joint 'joint_1'", "the attribute 'mechanical_reduction' of <joint>",
     "write <mechanical_reduction> inside the <joint> of the <transmission>"),
    (TRANSMISSION_JOINT, '<joint name="joint_1" role="joint1" offset="0.2">',
     "transmission 't'/joint 'joint_1'", "the attribute 'offset' of <joint>", "write <offset>"),
    ('role="actuator1"', 'role="actuator1" rotor_inertia="1e-4"',
     "transmission 't'/actuator 'm'", "the attribute 'rotor_inertia'", "write <rotor_inertia>"),
    ('<transmission name="t">', '<transmission name="t" reduction="9">',
     "transmission 't'", "the attribute 'reduction' of <transmission>", "write <mechanical_red"),
    ("<actuator ", '<param name="mechanical_reduction">50</param><actuator ',
     "transmission 't'", '<param name="mechanical_reduction"> inside <transm', "inside the"),
    ("<actuator ", '<param name="motor_inertia">1e-4</param><actuator ',
     "transmission 't'", '<param name="motor_inertia"> inside <transm', "<rotor_inertia>"),
    ("<actuator ", "<offset>0.3</offset><actuator ",
     "transmission 't'", "<offset> inside <transmission>", "write <offset> inside the <joint>"),
    ("<offset>", '<param name="mechanical_reduction">50</param><offset>',
     "transmission 't'/joint 'joint_1'", '<param name="mechanical_reduction"> inside', "write"),
    ("<offset>", "<rotor_inertia>1e-4</rotor_inertia><offset>",
     "transmission 't'/joint 'joint_1'", "<rotor_inertia> inside <joint>", "the <actuator>"),
    ("<offset>", "<mechanicalReduction>50</mechanicalReduction><offset>",
     "transmission 't'/joint 'joint_1'", "<mechanicalReduction> inside <joint>", "<mechanical_r"),
    ("<offset>", '<drake:gear_ratio value="50"/><offset>',
     "transmission 't'/joint 'joint_1'", "<drake:gear_ratio> inside <joint>", "<mechanical_r"),
    (BLOCK_JOINT, f'<joint name="joint_1" mechanical_reduction="50">{BLOCK_JOINT[22:]}',
     "ros2_control 'Arm'/joint 'joint_1'", "the attribute 'mechanical_reduction' of <joint>",
     "write a <transmission>"),
    ("<command_interface", "<mechanical_reduction>50</mechanical_reduction><command_interface",
     "ros2_control 'Arm'/joint 'joint_1'", "<mechanical_reduction> inside <joint>",
     "write a <transmission>"),
    ("<hardware>", "<mechanical_reduction>50</mechanical_reduction><hardware>",
     "ros2_control 'Arm'", "<mechanical_reduction> inside <ros2_control>", "write a <transm"),
    ('name="effort"', 'name="effort" gear_ratio="50"',
     "joint 'joint_1'/command_interface 'effort'", "the attribute 'gear_ratio'", "write a <tra"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[1][:60]}")
def test_stray_number_is_refused(case, refused, arm) -> None:
    old, new, *fragments = case
    assert ARM.count(old) == 1
    text = ARM.replace(old, new)
    error = refused(lambda: read_urdf_drives(arm(text)), DescriptionError, *fragments)
    assert error.finding.startswith("ros2_control silently ignores")


# what, replaced by what, fragments of the one note
NOTED = [
    (TRANSMISSION_JOINT, '<joint name="joint_1" role="joint1" mechanical_reduction="1.0">',
     ("the attribute 'mechanical_reduction'", "write <mechanical_reduction>")),
    ("<plugin>a/B</plugin>", '<plugin>a/B</plugin><param name="gear_ratio">50</param>',
     ("ros2_control 'Arm'/hardware", '<param name="gear_ratio">', "left to the hardware's driver",
      "write a <transmission>")),
    ("<command_interface", '<param name="gear_ratio">50</param><command_interface',
     ("ros2_control 'Arm'/joint 'joint_1'", '<param name="gear_ratio"> inside <joint>',
      "left to the hardware's driver")),
]  # fmt: skip


@pytest.mark.parametrize("case", NOTED, ids=lambda case: f"{case[1][:60]}")
def test_stray_number_is_noted(case, arm) -> None:
    old, new, fragments = case
    assert ARM.count(old) == 1
    (note,) = read_urdf_drives(arm(ARM.replace(old, new))).notes
    for fragment in fragments:
        assert fragment in note


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        (ARM.replace("ros2_control", "ros2_Control"), "robot/ros2_Control 'Arm', line", "<robot>"),
        (f"<gazebo>{ARM}</gazebo>", "gazebo/ros2_control 'Arm', line", "<robot>"),
        ("<Transmission name='t'/>", "robot/Transmission 't', line", "<ros2_control>"),
        ("<gazebo><transmission/></gazebo>", "gazebo/transmission '', line", "<ros2_control>"),
    ],
)
def test_a_misplaced_or_misspelt_element_is_noted(text, place, remedy, arm) -> None:
    note = read_urdf_drives(arm(text)).notes[0]
    assert place in note
    assert f"has no effect; write <{'ros2_control' if remedy == '<robot>' else 'tr'}" in note
    assert f"right inside {remedy}" in note


def test_the_block_without_strays_is_read_without_notes(arm) -> None:
    assert read_urdf_drives(arm(ARM)).notes == ()


def test_neutral_parameters_of_the_driver_are_its_own_matter(arm) -> None:
    neutral = '<param name="gear_ratio">1.0</param><param name="offset">7</param>'
    text = ARM.replace("<command_interface", f"{neutral}<command_interface")
    assert read_urdf_drives(arm(text)).notes == ()


@pytest.mark.parametrize(
    ("more", "fragment"),
    [
        ("<mechanicalReduction>50</mechanicalReduction>", "<mechanicalReduction> inside <joint>"),
        ('<dynamics gear_ratio="50"/>', "the attribute 'gear_ratio' of <dynamics>"),
        ("<actuator><rotor_inertia>1</rotor_inertia></actuator>", "<rotor_inertia> inside <act"),
    ],
)
def test_strays_in_a_joint_of_the_urdf_are_warned_of(more: str, fragment: str, arm) -> None:
    with pytest.warns(GearedDynamicsWarning, match=fragment) as caught:
        gd.load_model(arm(more={2: more}))
    (text,) = [str(item.message) for item in caught]
    assert "joint 'joint_2'" in text
    assert "is not read; write a <transmission>" in text
