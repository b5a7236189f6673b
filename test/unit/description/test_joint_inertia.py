"""Pinocchio's rotor_params and MuJoCo's armature."""

from __future__ import annotations

from pathlib import Path

import pytest

from geared_dynamics.description import read_urdf_drives
from geared_dynamics.errors import DescriptionError

SRDF = """<robot name="arm"><rotor_params>
  <joint name="joint_1" mass="2e-4" gear_ratio="100"/>
  <joint name="joint_2" mass="3e-4" gear_ratio="-50"/>
</rotor_params></robot>"""
TRANSMISSION = """<transmission name="t"><type>SimpleTransmission</type>
  <joint name="joint_2"/><actuator name="m">{inside}</actuator></transmission>"""
DIFFERENTIAL = """<transmission name="t"><type>DifferentialTransmission</type>
  <joint name="joint_2" role="joint1"/><joint name="joint_3" role="joint2"/>
  <actuator name="m" role="actuator1"/><actuator name="n" role="actuator2"/></transmission>"""


def drives(found):
    """Motor or wheel -> coefficients, inertia."""
    record = found.drivetrain
    spins = {spin.wheel: spin.coefficients for spin in record.spins}
    return {wheel.name: (spins[wheel.name], wheel.axial) for wheel in record.wheels}


def test_rotor_params_give_inertia_and_ratio(arm) -> None:
    found = read_urdf_drives(arm(), SRDF)
    assert drives(found) == {
        "joint_1_rotor": ((("joint_1", 100.0),), 2e-4),
        "joint_2_rotor": ((("joint_2", -50.0),), 3e-4),
    }
    assert [m.wheel for m in found.drivetrain.motors] == ["joint_1_rotor", "joint_2_rotor"]
    assert found.drivetrain.source == "<URDF text> and <SRDF text>"
    origin = found.drivetrain.wheels[0].urdf_origin
    assert origin == "rotor_params/joint 'joint_1' of <SRDF text> (Pinocchio), armature only"
    assert found.notes == found.remarks == ()


def test_a_path_is_as_good(arm, tmp_path: Path) -> None:
    file = tmp_path / "arm.srdf"
    file.write_text(SRDF, encoding="utf-8")
    assert drives(read_urdf_drives(arm(), file)) == drives(read_urdf_drives(arm(), SRDF))


def test_rotor_params_complete_the_transmission_of_the_same_joint(arm) -> None:
    found = read_urdf_drives(arm(TRANSMISSION.format(inside="")), SRDF)
    assert drives(found)["m"] == ((("joint_2", -50.0),), 3e-4)
    assert found.notes == ()


def test_rotor_params_win_over_other_numbers_with_a_note(arm) -> None:
    inside = "<mechanicalReduction>60</mechanicalReduction><motorInertia>1e-3</motorInertia>"
    found = read_urdf_drives(arm(TRANSMISSION.format(inside=inside)), SRDF)
    assert drives(found)["m"] == ((("joint_2", -50.0),), 3e-4)
    assert any("its gear_ratio -50 is taken, not 60 of transmission 't'" in n for n in found.notes)
    assert any("its mass 0.0003 is taken, not 0.001 of transm" in note for note in found.notes)


def test_rotor_params_of_a_coupled_joint_stay_with_the_joint_alone(arm) -> None:
    found = read_urdf_drives(arm(DIFFERENTIAL), SRDF)
    assert drives(found)["joint_2_armature"] == ((("joint_2", -50.0),), 3e-4)
    assert [motor.name for motor in found.drivetrain.motors] == ["m", "n", "joint_1_rotor"]
    (note,) = found.notes
    assert "rotor_params/joint 'joint_2': applied to this joint alone, although 'm', 'n'" in note


def test_rotor_params_of_a_coupled_joint_do_not_add_to_given_inertias(arm) -> None:
    text = DIFFERENTIAL.replace(
        '"actuator1"/>', '"actuator1"><motorInertia>1</motorInertia></actuator>'
    )
    found = read_urdf_drives(arm(text), SRDF)
    assert [axial for _, axial in drives(found).values()] == [1.0, 0.0, 2e-4]
    (note,) = found.notes
    assert "joint 'joint_2': left out, because the inertia of 'm', 'n' is given" in note


def test_rotor_params_of_no_use_are_remarked(arm) -> None:
    text = SRDF.replace("joint_1", "root_joint").replace('"-50"', '"0"')
    found = read_urdf_drives(arm(), text)
    assert drives(found) == {}
    assert found.notes == ()
    assert "'root_joint': left out, because the joint is not in the URDF" in found.remarks[0]
    assert "'joint_2': left out, because its gear_ratio is 0" in found.remarks[1]


BAD = [
    ('mass="2e-4"', 'mass="light"', "rotor_params/joint 'joint_1'/mass", "found 'light'"),
    ('mass="2e-4"', "", "rotor_params/joint 'joint_1'/mass", "expected a finite number"),
    ('mass="2e-4"', 'mass="-1"', "rotor_params/joint 'joint_1'", "is negative (-1 kg m^2)"),
    ('gear_ratio="100"', 'gear_ratio="1:100"', "joint 'joint_1'/gear_ratio", "found '1:100'"),
    ('name="joint_1" ', "", "rotor_params", "<joint> has no attribute 'name'"),
    ("</robot>", "", "<SRDF text>", "not well-formed XML"),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0]} -> {case[1]}")
def test_bad_srdf_is_refused(case, refused, arm) -> None:
    old, new, *fragments = case
    text = SRDF.replace(old, new)
    refused(lambda: read_urdf_drives(arm(), text), DescriptionError, "<SRDF text>", *fragments)


@pytest.mark.parametrize(
    ("source", "fragments"),
    [("no/such.srdf", ("there is no such SRDF file",)), ("", ("srdf", "the text is empty"))],
)
def test_srdf_that_cannot_be_read_is_refused(source, fragments, refused, arm) -> None:
    refused(lambda: read_urdf_drives(arm(), source), DescriptionError, *fragments)


ARMATURE = {2: '<dynamics damping="0.1" armature="0.5"/>'}


def test_armature_is_a_wheel_of_ratio_one_without_a_motor(arm) -> None:
    record = read_urdf_drives(arm(more=ARMATURE)).drivetrain
    assert drives(read_urdf_drives(arm(more=ARMATURE))) == {
        "joint_2_armature": ((("joint_2", 1.0),), 0.5)
    }
    assert record.motors == ()


def test_armature_is_the_reflected_inertia_of_the_joints_own_drive(arm) -> None:
    inside = "<mechanicalReduction>100</mechanicalReduction>"
    found = read_urdf_drives(arm(TRANSMISSION.format(inside=inside), more=ARMATURE))
    ((_, ratio),), axial = drives(found)["m"]
    # J n^2 gives back 0.5 to rounding.
    assert axial * ratio**2 == pytest.approx(0.5, rel=1e-15)


def test_armature_beside_a_known_inertia_is_left_out_with_a_note(arm) -> None:
    inside = "<motorInertia>1e-3</motorInertia>"
    (note,) = read_urdf_drives(arm(TRANSMISSION.format(inside=inside), more=ARMATURE)).notes
    assert "joint 'joint_2'/dynamics/armature: left out, because the inertia of 'm'" in note


def test_armature_of_a_coupled_joint_stays_with_the_joint_alone(arm) -> None:
    found = read_urdf_drives(arm(DIFFERENTIAL, more=ARMATURE))
    assert drives(found)["joint_2_armature"] == ((("joint_2", 1.0),), 0.5)
    assert "applied to this joint alone, although 'm', 'n' couple it" in found.notes[0]


def test_armature_of_zero_and_of_a_fixed_joint_are_nothing(arm) -> None:
    zero = {2: '<dynamics armature="0"/>'}
    assert read_urdf_drives(arm(more=zero)).drivetrain.wheels == ()
    fixed = ("revolute", "fixed", "revolute")
    assert read_urdf_drives(arm(kinds=fixed, more=ARMATURE)).drivetrain.wheels == ()


@pytest.mark.parametrize("value", ["much", "-1", ""])
def test_bad_armature_is_refused(value: str, refused, arm) -> None:
    text = arm(more={2: f'<dynamics armature="{value}"/>'})
    refused(lambda: read_urdf_drives(text), DescriptionError, "joint 'joint_2'/dynamics/armature")
