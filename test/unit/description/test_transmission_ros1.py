"""Transmissions below <robot>: ROS 1, PR2, FROST and Drake."""

from __future__ import annotations

import pytest

import geared_dynamics as gd
from geared_dynamics.description import read_urdf_drives
from geared_dynamics.errors import DescriptionError, GearedDynamicsWarning, UnknownNameError

SIMPLE = """<transmission name="t">
  <type>transmission_interface/SimpleTransmission</type>
  <joint name="joint_2"><hardwareInterface>EffortJointInterface</hardwareInterface>
    <offset>0.2</offset></joint>
  <actuator name="m"><mechanicalReduction>100</mechanicalReduction></actuator>
</transmission>"""
DIFFERENTIAL = """<transmission name="t">
  <type>transmission_interface/DifferentialTransmission</type>
  <actuator name="b"><role>actuator2</role><mechanicalReduction>20</mechanicalReduction></actuator>
  <actuator name="a"><role>actuator1</role><mechanicalReduction>10</mechanicalReduction></actuator>
  <joint name="joint_3"><role>joint1</role><mechanicalReduction>2</mechanicalReduction></joint>
  <joint name="joint_1"><role>joint2</role><mechanicalReduction>3</mechanicalReduction></joint>
</transmission>"""
ROS2 = """<ros2_control name="Arm" type="system"><joint name="joint_2"/><transmission name="u">
  <plugin>transmission_interface/SimpleTransmission</plugin>
  <actuator name="m" role="actuator1"/>
  <joint name="joint_2" role="joint1"><mechanical_reduction>50</mechanical_reduction></joint>
</transmission></ros2_control>"""


def only(found):
    """The one drive: ratio, inertia."""
    (wheel,), (spin,) = found.drivetrain.wheels, found.drivetrain.spins
    ((_, ratio),) = spin.coefficients
    return ratio, wheel.axial


def test_a_simple_transmission_has_its_reduction_inside_the_actuator(arm) -> None:
    found = read_urdf_drives(arm(SIMPLE))
    assert only(found) == (100.0, 0.0)
    assert [motor.offsets for motor in found.drivetrain.motors] == [(("joint_2", 0.2),)]
    (note,) = found.notes
    assert "transmission 't': the reduction is read here; ros2_control, Gazebo and" in note


def test_a_reduction_of_one_that_nobody_reads_matters_to_nobody(arm) -> None:
    found = read_urdf_drives(arm(SIMPLE.replace(">100<", ">1<")))
    assert only(found) == (1.0, 0.0)
    assert found.notes == ()


def test_roles_of_a_differential_transmission_are_elements(arm) -> None:
    record = read_urdf_drives(arm(DIFFERENTIAL)).drivetrain
    assert [(spin.wheel, dict(spin.coefficients)) for spin in record.spins] == [
        ("a", {"joint_3": 20.0, "joint_1": 30.0}),
        ("b", {"joint_3": 40.0, "joint_1": -60.0}),
    ]


def test_pr2_form(arm) -> None:
    text = """<transmission type="pr2_mechanism_model/SimpleTransmission" name="t">
      <actuator name="m"/><joint name="joint_2"/><mechanicalReduction>-60</mechanicalReduction>
    </transmission>"""
    assert only(read_urdf_drives(arm(text))) == (-60.0, 0.0)


REDUCTION = "<mechanicalReduction>100</mechanicalReduction>"
MOTOR = "<motorInertia>2e-4</motorInertia>"
DRAKE = '<drake:rotor_inertia value="3e-4"/>'
RATIO = '<drake:gear_ratio value="80"/>'

# inside the actuator, ratio, inertia, fragment of a note
INSIDE = [
    (REDUCTION + MOTOR, 100.0, 2e-4, None),
    (DRAKE + RATIO, 80.0, 3e-4, None),
    (RATIO, 80.0, 0.0, None),
    (DRAKE, 1.0, 3e-4, None),
    (REDUCTION + RATIO, 80.0, 0.0, "<drake:gear_ratio> 80 is taken, not <mechanicalReduction> 1"),
    (DRAKE + MOTOR, 1.0, 3e-4, "<drake:rotor_inertia> 0.0003 is taken, not <motorInertia> 0.00"),
]


@pytest.mark.parametrize(("inside", "ratio", "inertia", "note"), INSIDE)
def test_inertia_of_frost_and_drake(inside: str, ratio, inertia, note, arm) -> None:
    found = read_urdf_drives(arm(SIMPLE.replace(REDUCTION, inside)))
    assert only(found) == (ratio, inertia)
    if note:
        assert any(note in line for line in found.notes)


def test_ros2_control_wins_over_the_same_joint_below_robot(arm) -> None:
    found = read_urdf_drives(arm(SIMPLE + ROS2))
    assert only(found) == (50.0, 0.0)
    assert found.drivetrain.motors[0].offsets == ()
    (note,) = found.notes
    assert "transmission 't': left out: <ros2_control> has transmissions of 'joint_2'" in note


def test_other_joints_below_robot_stay(arm) -> None:
    found = read_urdf_drives(arm(SIMPLE.replace("joint_2", "joint_1") + ROS2))
    assert [m.name for m in found.drivetrain.motors] == ["m", "m_2"]


# what, replaced by what, fragments of the note
NOTED = [
    ("SimpleTransmission", "HarmonicTransmission", ("'transmission_interface/HarmonicTransmis",)),
    ("<type>transmission_interface/SimpleTransmission</type>", "", ("it has no <type>",)),
    ("joint_2", "joint_9", ("transmission 't'/joint 'joint_9'", "there is no such joint")),
    ('<actuator name="m">', '<actuator name="n"/><actuator name="m">', ("has 1 <actuator>",)),
    ("<offset>0.2</offset>", "<mechanicalReduction>5</mechanicalReduction>",
     ("joint 'joint_2'", "<mechanicalReduction> 5 is not used", "move it into <actuator>")),
    ("</actuator>", "</actuator><mechanicalReduction>7</mechanicalReduction>",
     ("<mechanicalReduction> 7 below <transmission> is not used",)),
]  # fmt: skip


@pytest.mark.parametrize("case", NOTED, ids=lambda case: f"{case[0]} -> {case[1][:40]}")
def test_trap_is_noted(case, arm) -> None:
    old, new, fragments = case
    assert old in SIMPLE
    notes = read_urdf_drives(arm(SIMPLE.replace(old, new))).notes
    assert any(all(fragment in note for fragment in fragments) for note in notes), notes


BAD = [
    (">100<", ">fast<", DescriptionError,
     "transmission 't'/actuator 'm'/mechanicalReduction", "expected a finite number, found 'fas"),
    (">100<", ">0<", DescriptionError, "actuator 'm'", "the reduction is zero"),
    (REDUCTION, '<drake:gear_ratio value="0"/>', DescriptionError, "the reduction is zero"),
    (REDUCTION, "<drake:gear_ratio>80</drake:gear_ratio>", DescriptionError,
     "actuator 'm'/drake:gear_ratio", "expected a finite number, found ''"),
    (REDUCTION, RATIO + RATIO.replace("80", "5"), DescriptionError,
     "actuator 'm'", "<drake:gear_ratio> is given twice", "keep one"),
    (REDUCTION, DRAKE + DRAKE, DescriptionError, "<drake:rotor_inertia> is given twice"),
    (REDUCTION, '<drake:rotor_inertia value="-1"/>', DescriptionError, "is negative (-1 kg m^2)"),
    (REDUCTION, "<mechanical_reduction>100</mechanical_reduction>", DescriptionError,
     "actuator 'm'", "<mechanical_reduction> inside <actuator> has no effect",
     "write <mechanicalReduction> inside <actuator>"),
    (REDUCTION, "<gearRatio>100</gearRatio>", DescriptionError, "actuator 'm'",
     "<gearRatio> inside <actuator> has no effect", "write <mechanicalReduction>"),
    ("<joint ", "<motorInertia>1e-4</motorInertia><joint ", DescriptionError,
     "transmission 't'", "<motorInertia> inside <transmission>", "<motorInertia> inside <act"),
    ("<offset>", "<mechanical_reduction>50</mechanical_reduction><offset>", DescriptionError,
     "joint 'joint_2'", "<mechanical_reduction> inside <joint> has no effect"),
    ('<actuator name="m">', '<actuator name="m" gear_ratio="9">', DescriptionError,
     "actuator 'm'", "the attribute 'gear_ratio' of <actuator> has no effect"),
    ('<joint name="joint_2">', '<joint name="joint_2" offset="0.4">', DescriptionError,
     "joint 'joint_2'", "the attribute 'offset' of <joint>", "write <offset> inside <joint>"),
    ('<actuator name="m">', '<actuator name="m"><param name="motor_inertia">2</param>',
     DescriptionError, "actuator 'm'", '<param name="motor_inertia"> inside <actuator>'),
    ('<joint name="joint_2">', '<joint name="joint_2"><role>foo</role>', UnknownNameError,
     "joint 'joint_2'/role", "no role 'foo'", "valid: joint1"),
    (">100<", ">\u0661\u0660\u0660<", DescriptionError, "expected a finite number"),
    (REDUCTION, "<rotor_inertia>1e-4</rotor_inertia>", DescriptionError, "write <motorInertia>"),
    (">0.2<", ">0.2 rad<", DescriptionError, "joint 'joint_2'/offset", "found '0.2 rad'"),
    ('<actuator name="m">', "<actuator>", DescriptionError, "<actuator> has no attribute 'name'"),
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0]} -> {case[1][:40]}")
def test_trap_is_refused(case, refused, arm) -> None:
    old, new, error, *fragments = case
    assert old in SIMPLE
    refused(lambda: read_urdf_drives(arm(SIMPLE.replace(old, new))), error, *fragments)


def test_a_differential_needs_its_roles(refused, arm) -> None:
    text = DIFFERENTIAL.replace("<role>joint2</role>", "")
    refused(lambda: read_urdf_drives(arm(text)), UnknownNameError, "joint 'joint_1'/role")


def test_a_reduction_inside_the_joint_alone_was_meant_for_the_actuator(refused, arm) -> None:
    text = SIMPLE.replace(REDUCTION, "").replace("<offset>", f"{REDUCTION}<offset>")
    refused(
        lambda: read_urdf_drives(arm(text)),
        DescriptionError,
        "transmission 't'/joint 'joint_2'",
        "<mechanicalReduction> 100 is not used, as in ROS 1",
        "move it into <actuator>",
    )


def test_a_transmission_of_a_joint_that_is_not_there_is_warned_of(arm) -> None:
    with pytest.warns(GearedDynamicsWarning, match="'joint_9': left out, because there is no su"):
        gd.load_model(arm(SIMPLE.replace("joint_2", "joint_9")))
