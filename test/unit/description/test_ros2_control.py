"""ros2_control's transmissions: the maps of its own code, roles, and every trap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description import read_robot, read_urdf_drives
from geared_dynamics.errors import DescriptionError, UnknownNameError
from geared_dynamics.model.build import encoder_zeros
from geared_dynamics.model.facts import following

# Products of three factors and sums of two: a few roundings.
ROUNDING = 1e-14


def block(*transmissions: str, joints: Sequence[str] = ("joint_1", "joint_2", "joint_3")) -> str:
    declared = "".join(f'<joint name="{name}"/>' for name in joints)
    return (
        f'<ros2_control name="Arm" type="system">{declared}{"".join(transmissions)}</ros2_control>'
    )


def end(word: str, name: str, role: str, reduction: object = None, offset: object = None) -> str:
    inside = (
        "" if reduction is None else f"<mechanical_reduction>{reduction}</mechanical_reduction>"
    )
    inside += "" if offset is None else f"<offset>{offset}</offset>"
    return f'<{word} name="{name}" role="{role}">{inside}</{word}>'


def transmission(kind: str, *ends: str, name: str = "t") -> str:
    plugin = f"<plugin>transmission_interface/{kind}Transmission</plugin>"
    return f'<transmission name="{name}">{plugin}{"".join(ends)}</transmission>'


SIMPLE = transmission(
    "Simple", end("actuator", "m", "actuator1"), end("joint", "joint_2", "joint1", -50, 0.3)
)


class Theirs:
    """joint_to_actuator of simple_, differential_ and four_bar_linkage_transmission.hpp.

    Written down term by term: jr, ar, o stand for joint_reduction_, actuator_reduction_
    and joint_offset_.
    """

    def __init__(self, ar: Sequence[float], jr: Sequence[float], o: Sequence[float]) -> None:
        self.ar, self.jr, self.o = ar, jr, o

    def position(self, kind: str, x: Sequence[float]) -> list[float]:
        return self.velocity(kind, [x[i] - self.o[i] for i in range(len(x))])

    def velocity(self, kind: str, v: Sequence[float]) -> list[float]:
        ar, jr = self.ar, self.jr
        if kind == "Simple":
            return [v[0] * jr[0]]
        if kind == "Differential":
            return [
                (v[0] * jr[0] + v[1] * jr[1]) * ar[0],
                (v[0] * jr[0] - v[1] * jr[1]) * ar[1],
            ]
        return [v[0] * jr[0] * ar[0], (v[0] + v[1] * jr[1]) * ar[1]]

    def effort(self, kind: str, f: Sequence[float]) -> list[float]:
        ar, jr = self.ar, self.jr
        if kind == "Simple":
            return [f[0] / jr[0]]
        if kind == "Differential":
            return [
                (f[0] / jr[0] + f[1] / jr[1]) / (2.0 * ar[0]),
                (f[0] / jr[0] - f[1] / jr[1]) / (2.0 * ar[1]),
            ]
        return [(f[0] - f[1] / jr[1]) / (jr[0] * ar[0]), f[1] / (ar[1] * jr[1])]


def structure(urdf: str, motors: Sequence[str], joints: Sequence[str]):
    """A' (m, n) and phi(q = 0) (m,) of what is read."""
    robot, found = read_robot(urdf)
    record = found.drivetrain
    rows = {spin.wheel: dict(spin.coefficients) for spin in record.spins}
    wheel = {motor.name: motor.wheel for motor in record.motors}
    zeros = dict(zip(wheel, encoder_zeros(record, following(robot)), strict=True))
    matrix = [[rows[wheel[motor]].get(joint, 0.0) for joint in joints] for motor in motors]
    return np.array(matrix), np.array([zeros[motor] for motor in motors])


KINDS = {"Simple": 1, "Differential": 2, "FourBarLinkage": 2}
AR, JR, OFFSETS = (50.0, -30.0), (2.0, 0.7), (0.3, -0.2)


def written(kind: str, motors: Sequence[str], joints: Sequence[str], order=(0, 1, 2, 3)) -> str:
    """The transmission with its elements in any order."""
    count = KINDS[kind]
    ends = [
        end("actuator", motors[i], f"actuator{i + 1}", AR[i] if count > 1 else None)
        for i in range(count)
    ]
    ends += [end("joint", joints[i], f"joint{i + 1}", JR[i], OFFSETS[i]) for i in range(count)]
    return block(transmission(kind, *(ends[i] for i in order if i < len(ends))))


def agrees(kind: str, urdf: str, motors: Sequence[str], joints: Sequence[str]) -> bool:
    count = KINDS[kind]
    theirs = Theirs(AR[:count], JR[:count], OFFSETS[:count])
    turn, zeros = structure(urdf, motors[:count], joints[:count])
    q, v, force = np.random.default_rng(3).uniform(-2.0, 2.0, (3, count))
    scale = 1e2  # of the actuators' angles
    return (
        np.allclose(turn @ q + zeros, theirs.position(kind, q), rtol=0, atol=ROUNDING * scale)
        and np.allclose(turn @ v, theirs.velocity(kind, v), rtol=0, atol=ROUNDING * scale)
        and np.allclose(turn.T @ theirs.effort(kind, force), force, rtol=0, atol=ROUNDING * scale)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_maps_of_position_velocity_and_effort_are_theirs(kind: str, arm) -> None:
    motors, joints = ("m1", "m2"), ("joint_1", "joint_2")
    urdf = arm(written(kind, motors, joints))
    assert agrees(kind, urdf, motors, joints)
    assert not read_urdf_drives(urdf).notes
    for changed in (f"{JR[0]}<", f"{OFFSETS[0]}<"):
        number = float(changed[:-1])
        assert not agrees(kind, urdf.replace(changed, f"{1.01 * number}<"), motors, joints)


@pytest.mark.parametrize("order", list(permutations(range(4))))
@pytest.mark.parametrize("kind", ["Differential", "FourBarLinkage"])
@pytest.mark.parametrize("joints", [("joint_1", "joint_2"), ("joint_3", "joint_1")])
def test_roles_count_whatever_the_order(kind, order, joints, arm) -> None:
    motors = ("m1", "m2")
    urdf = arm(written(kind, motors, joints, order))
    assert agrees(kind, urdf, motors, joints)
    in_order = order.index(0) < order.index(1) and order.index(2) < order.index(3)
    (*notes,) = read_urdf_drives(urdf).notes
    assert len(notes) == (not in_order or joints != ("joint_1", "joint_2"))
    for note in notes:
        assert "transmission 't'" in note
        assert "the roles disagree with the order of the" in note
        assert "gets another transmission" in note


def test_order_that_makes_no_difference_to_ros2_control_is_said_to_make_none(arm) -> None:
    ends = [end("actuator", "m2", "actuator2"), end("actuator", "m1", "actuator1")]
    ends += [end("joint", "joint_1", "joint1", 2), end("joint", "joint_2", "joint2", 3)]
    (note,) = read_urdf_drives(arm(block(transmission("Differential", *ends)))).notes
    assert "uses the order only and gets the same" in note


def test_records_of_a_simple_transmission(arm) -> None:
    found = read_urdf_drives(arm(block(SIMPLE)))
    (wheel,) = found.drivetrain.wheels
    assert (wheel.name, wheel.carrier, wheel.mass, wheel.axial) == ("m", "base", 0.0, 0.0)
    assert wheel.included_in_link
    assert wheel.urdf_origin == "transmission 't' of <URDF text> (ros2_control), armature only"
    assert found.drivetrain.spins[0].coefficients == (("joint_2", -50.0),)
    assert found.drivetrain.spins[0].place == "transmission 't'"
    (motor,) = found.drivetrain.motors
    assert (motor.name, motor.wheel, motor.offsets) == ("m", "m", (("joint_2", 0.3),))
    assert motor.urdf_origin == "transmission 't' of <URDF text> (ros2_control)"
    assert found.drivetrain.joints == ()
    assert found.notes == found.remarks == ()


def test_reduction_and_offset_have_ros2_controls_defaults(arm) -> None:
    text = SIMPLE.replace("<mechanical_reduction>-50</mechanical_reduction>", "")
    record = read_urdf_drives(arm(block(text.replace("<offset>0.3</offset>", "")))).drivetrain
    assert record.spins[0].coefficients == (("joint_2", 1.0),)
    assert record.motors[0].offsets == ()


def test_rotor_inertia_is_our_own_element(arm) -> None:
    actuator = end("actuator", "m", "actuator1")
    rotor = actuator.replace("></", "><rotor_inertia>1e-4</rotor_inertia></")
    (wheel,) = read_urdf_drives(arm(block(SIMPLE.replace(actuator, rotor)))).drivetrain.wheels
    assert (wheel.axial, wheel.transverse) == (1e-4, 5e-5)


def test_a_block_without_transmissions_has_no_wheels_and_no_notes(arm) -> None:
    found = read_urdf_drives(arm(block()))
    assert found.drivetrain.wheels == ()
    assert found.drivetrain.source == "<no drivetrain>"
    assert found.notes == found.remarks == ()


def test_an_actuator_block_implies_its_actuator(arm) -> None:
    text = block(SIMPLE.replace(end("actuator", "m", "actuator1"), ""))
    record = read_urdf_drives(arm(text.replace('"system"', '"actuator"'))).drivetrain
    assert [motor.name for motor in record.motors] == ["t_actuator1"]


@pytest.mark.parametrize("number", ["50", "+50", " 50 ", "50.", "5e1", "0.5E+02", "\n50\t"])
def test_numbers_may_be_written_in_any_plain_way(number: str, arm) -> None:
    record = read_urdf_drives(arm(block(SIMPLE.replace(">-50<", f">{number}<")))).drivetrain
    assert record.spins[0].coefficients == (("joint_2", 50.0),)


def test_sensors_and_interfaces_are_no_joints(arm) -> None:
    other = """<sensor name="imu"/><gpio name="lamp"><command_interface name="on"/></gpio>
      <hardware><plugin>a/B</plugin><param name="joint">none</param></hardware>"""
    text = block(SIMPLE).replace('type="system">', f'type="system">{other}', 1)
    assert read_urdf_drives(arm(text)).notes == ()


def test_a_name_used_twice_or_by_a_link_is_made_another(arm) -> None:
    ends = end("actuator", "link_1", "actuator1"), end("joint", "joint_1", "joint1", 10)
    other = transmission("Simple", end("actuator", "m", "actuator1"), *ends[1:], name="u")
    found = read_urdf_drives(arm(block(SIMPLE, other, transmission("Simple", *ends, name="v"))))
    pairs = [(motor.name, motor.wheel) for motor in found.drivetrain.motors]
    assert pairs == [("m", "m"), ("m_2", "m_2"), ("link_1", "link_1_rotor")]
    assert len([note for note in found.notes if "is that of another actuator" in note]) == 2


def test_a_fixed_joint_is_left_out_with_a_remark(arm) -> None:
    found = read_urdf_drives(arm(block(SIMPLE), kinds=("revolute", "fixed", "revolute")))
    assert found.drivetrain.wheels == ()
    assert found.notes == ()
    (remark,) = found.remarks
    assert "transmission 't': left out, because its joint is fixed" in remark


def test_mimic_joints_turn_the_encoder_with_their_leader(arm) -> None:
    mimic = {2: '<mimic joint="joint_1" multiplier="-2" offset="0.7"/>'}
    robot, found = read_robot(arm(block(SIMPLE), more=mimic))
    (zero,) = encoder_zeros(found.drivetrain, following(robot))
    # phi = -50 (x - 0.3) with x = -2 q + 0.7.
    assert zero == pytest.approx(-50.0 * 0.4, rel=1e-15)


DIFFERENTIAL = written("Differential", ("m1", "m2"), ("joint_1", "joint_2"))
LONE = SIMPLE.replace("<mechanical_reduction>-50</mechanical_reduction>", "")
GOOD = {"simple": block(SIMPLE), "lone": block(LONE), "two": DIFFERENTIAL}

# of what, what, replaced by what, class, fragments of the message
BAD = [
    ("simple", "mechanical_reduction>", "mechanicalReduction>", DescriptionError,
     "transmission 't'/joint 'joint_2'", "ros2_control silently ignores <mechanicalReduction>",
     "write <mechanical_reduction>"),
    ("simple", 'role="actuator1">', 'role="actuator1"><motorInertia>1</motorInertia>',
     DescriptionError, "actuator 'm'", "ignores <motorInertia>", "write <rotor_inertia>"),
    ("simple", 'role="actuator1">', 'role="actuator1"><drake:gear_ratio value="2"/>',
     DescriptionError, "ignores <drake:gear_ratio>", "write <mechanical_reduction>"),
    ("simple", "<plugin>", "<mechanicalReduction>3</mechanicalReduction><plugin>",
     DescriptionError, "transmission 't':", "write <mechanical_reduction> inside the <joint>"),
    ("simple", "mechanical_reduction>", "MechanicalReduction>", DescriptionError,
     "ignores <MechanicalReduction> inside <joint>", "write <mechanical_reduction>"),
    ("simple", "offset>", "Offset>", DescriptionError, "ignores <Offset>", "write <offset>"),
    ("simple", "plugin>", "Plugin>", UnknownNameError, "no element 'Plugin'", "mean 'plugin'?"),
    ("simple", "plugin>", "type>", DescriptionError, "ignores <type>", "write <plugin>"),
    ("simple", ">-50<", ">fifty<", DescriptionError,
     "joint 'joint_2'/mechanical_reduction", "expected a finite number, found 'fifty'",
     "silently take their default"),
    ("simple", ">-50<", "><", DescriptionError, "expected a finite number, found ''"),
    ("simple", ">-50<", ">1_0<", DescriptionError, "expected a finite number, found '1_0'"),
    ("simple", ">-50<", ">50 100<", DescriptionError, "expected a finite number"),
    ("simple", ">-50<", ">nan<", DescriptionError, "expected a finite number, found 'nan'"),
    ("simple", ">-50<", ">\u0665\u0660<", DescriptionError, "finite number, found '\u0665\u0660'"),
    ("simple", ">-50<", ">\uff15\uff10<", DescriptionError, "expected a finite number"),
    ("simple", ">-50<", ">\u00a050<", DescriptionError, "expected a finite number"),
    ("simple", ">-50<", ">\u221250<", DescriptionError, "expected a finite number"),
    ("simple", ">-50<", ">1_000<", DescriptionError, "expected a finite number, found '1_000'"),
    ("simple", ">-50<", ">0x32<", DescriptionError, "expected a finite number, found '0x32'"),
    ("simple", ">-50<", ">1e999<", DescriptionError, "expected a finite number, found '1e999'"),
    ("simple", ">-50<", ">infinity<", DescriptionError, "expected a finite number"),
    ("simple", ">-50<", ">50:1<", DescriptionError, "expected a finite number, found '50:1'"),
    ("simple", ">-50<", ">50<b/><", DescriptionError, "<mechanical_reduction> holds <b>"),
    ("simple", ">-50<", ">inf<", DescriptionError, "expected a finite number, found 'inf'"),
    ("simple", ">-50<", ">${n}<", DescriptionError, "expected a finite number, found '${n}'"),
    ("simple", ">0.3<", ">0,3<", DescriptionError, "joint 'joint_2'/offset", "found '0,3'"),
    ("simple", ">-50<", ">0<", DescriptionError, "joint 'joint_2'", "the reduction is zero"),
    ("simple", ">-50<", ">-0.0<", DescriptionError, "joint 'joint_2'", "the reduction is zero"),
    ("two", ">50.0<", ">0<", DescriptionError, "actuator 'm1'", "the reduction is zero"),
    ("simple", "<offset>0.3</offset>", "<offset>1</offset><offset>2</offset>", DescriptionError,
     "joint 'joint_2'", "<offset> is given twice"),
    ("simple", 'name="joint_2" role', 'name="joint_9" role', UnknownNameError,
     "transmission 't'", "no joint 'joint_9'", "valid: joint_1, joint_2, joint_3"),
    ("two", 'role="joint2"', 'role="joint_2"', UnknownNameError,
     "joint 'joint_2'/role", "no role 'joint_2'", "did you mean 'joint2'?"),
    ("two", 'role="joint2"', 'role="joint1"', DescriptionError,
     "'joint_2' and 'joint_1' have the same role 'joint1'", "give them 'joint1' and 'joint2'"),
    ("two", 'role="actuator2"', 'role="actuator1"', DescriptionError, "'m2' and 'm1' have the sa"),
    ("simple", 'role="joint1"', 'role="foo"', UnknownNameError,
     "transmission 't'/joint 'joint_2'/role", "no role 'foo'", "valid: joint1"),
    ("simple", 'role="joint1"', 'role="actuator1"', UnknownNameError, "no role 'actuator1'"),
    ("simple", 'role="actuator1"', 'role="joint1"', UnknownNameError,
     "transmission 't'/actuator 'm'/role", "no role 'joint1'", "valid: actuator1"),
    ("simple", '<joint name="joint_2"/>', "", DescriptionError, "transmission 't'",
     "joint 'joint_2' is missing in this <ros2_control>", 'write <joint name="joint_2">'),
    ("simple", '<joint name="joint_3"/>', '<joint name="joint_4"/>', UnknownNameError,
     "ros2_control 'Arm'", "no joint 'joint_4'", "did you mean 'joint_", "joint_3"),
    ("simple", '"system"', '"System"', UnknownNameError,
     "ros2_control 'Arm'/type", "no type 'System'", "valid: system, actuator, sensor"),
    ("simple", ' type="system"', "", DescriptionError, "ros2_control 'Arm'", "attribute 'type'"),
    ("simple", 'name="Arm" ', "", DescriptionError, "ros2_control, line", "no attribute 'name'"),
    ("simple", '<joint name="joint_3"/>', "<joint/>", DescriptionError,
     "ros2_control 'Arm'", "<joint> has no attribute 'name'"),
    ("two", '"system"', '"actuator"', DescriptionError, "transmission 't'",
     'type="actuator"> has 1 joint, found 2', 'type="system"'),
    ("simple", ' role="joint1"', "", DescriptionError, "joint 'joint_2'", "no attribute 'role'"),
    ("simple", 'name="m" ', "", DescriptionError, "transmission 't'", "no attribute 'name'"),
    ("simple", '<transmission name="t">', "<transmission>", DescriptionError,
     "ros2_control 'Arm'", "<transmission> has no attribute 'name'"),
    ("simple", "<plugin>transmission_interface/SimpleTransmission</plugin>", "", DescriptionError,
     "transmission 't'", "<plugin> is missing"),
    ("simple", "SimpleTransmission", "DifferentialTransmission", DescriptionError,
     "a DifferentialTransmission has 2 joints, found 'joint_2'", "name 2 joints"),
    ("two", "DifferentialTransmission", "SimpleTransmission", DescriptionError,
     "a SimpleTransmission has 1 joint, found 'joint_1', 'joint_2'", "name 1 joint"),
    ("two", 'name="joint_2" role', 'name="joint_1" role', DescriptionError, "has 2 joints, found"),
    ("simple", 'role="actuator1">', 'role="actuator1"><rotor_inertia>-1</rotor_inertia>',
     DescriptionError, "actuator 'm'", "inertia is negative (-1 kg m^2)"),
    ("lone", '"actuator1">', '"actuator1"><mechanical_reduction>50</mechanical_reduction>',
     DescriptionError, "the mechanical_reduction 50 of actuator 'm' is not used",
     "into <joint>"),
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0]}: {case[1]} -> {case[2][:40]}")
def test_trap_is_refused(case, refused, arm) -> None:
    which, old, new, error, *fragments = case
    assert old in GOOD[which]
    refused(lambda: read_urdf_drives(arm(GOOD[which].replace(old, new))), error, *fragments)


# of what, what, replaced by what, fragments of the note, the first coefficient then
NOTED = [
    ("simple", '"actuator1">', '"actuator1"><mechanical_reduction>9</mechanical_reduction>',
     ("the mechanical_reduction 9 of actuator 'm' is not used", "inside <joint>"), -50.0),
    ("simple", '"actuator1">', '"actuator1"><offset>0.1</offset>',
     ("the offset 0.1 of actuator 'm' is not used", "inside <joint>"), -50.0),
    ("simple", "mechanical_reduction>-50</mechanical_r", "mechanicalReduction>1</mechanicalR",
     ("silently ignores <mechanicalReduction>", "write <mechanical_reduction>"), 1.0),
    ("simple", 'role="joint1"', 'role="joint2"',
     ("joint 'joint_2'/role", "'joint2' is taken as 'joint1'"), -50.0),
    ("simple", 'role="actuator1"', 'role="actuator12"',
     ("actuator 'm'/role", "'actuator12' is taken as 'actuator1'"), -50.0),
    ("simple", '"actuator1">', '"actuator1"><color>red</color>',
     ("actuator 'm'", "<color> inside <actuator> has no effect"), -50.0),
    ("simple", "SimpleTransmission", "SimpleTransmision",
     ("left out, because 'transmission_interface/SimpleTransmision' is not known",
      "known: SimpleTransmission, Diff", "drivetrain file"), None),
]  # fmt: skip


@pytest.mark.parametrize("case", NOTED, ids=lambda case: f"{case[1]} -> {case[2][:40]}")
def test_trap_is_noted(case, arm) -> None:
    which, old, new, fragments, coefficient = case
    assert old in GOOD[which]
    found = read_urdf_drives(arm(GOOD[which].replace(old, new)))
    (note,) = found.notes
    assert note.startswith("<URDF text>, transmission 't'")
    for fragment in fragments:
        assert fragment in note
    values = [spin.coefficients[0][1] for spin in found.drivetrain.spins]
    assert values == ([] if coefficient is None else [coefficient])


def test_two_transmissions_of_one_joint_keep_an_offset_each(arm) -> None:
    ends = end("actuator", "n", "actuator1"), end("joint", "joint_2", "joint1", 10, 0.5)
    urdf = arm(block(SIMPLE, transmission("Simple", *ends, name="u")))
    assert read_urdf_drives(urdf).notes == ()
    model = gd.load_model(urdf)
    q = np.array([0.1, 0.7, -0.2])
    theirs = [
        Theirs([1.0], [n], [o]).position("Simple", q[1:2])[0] for n, o in ((-50, 0.3), (10, 0.5))
    ]
    assert gd.motor_angles(model, q) == pytest.approx(theirs, abs=ROUNDING * 1e2)
    assert model.motor_zeros == pytest.approx([15.0, -5.0], abs=ROUNDING * 1e2)


def test_a_joint_of_two_blocks_is_noted(arm) -> None:
    again = SIMPLE.replace('"m"', '"n"').replace('"t"', '"u"')
    other = block(again, joints=("joint_2",)).replace('"Arm"', '"Simulated"')
    found = read_urdf_drives(arm(block(SIMPLE) + other))
    (note,) = found.notes
    assert "transmission 'u'/joint 'joint_2': another <ros2_control> also has" in note
    assert "(transmission 't'), and both are added" in note
    assert len(found.drivetrain.wheels) == 2
    elsewhere = other.replace("joint_2", "joint_3")
    assert read_urdf_drives(arm(block(SIMPLE) + elsewhere)).notes == ()


def test_the_same_doubt_about_many_elements_is_one_line(arm) -> None:
    odd = [SIMPLE.replace("Simple", "Odd").replace('"t"', f'"t{k}"') for k in range(6)]
    (note,) = read_urdf_drives(arm(block(*odd))).notes
    assert "transmission 't0', transmission 't1'" in note
    assert "and 2 more: left out" in note
