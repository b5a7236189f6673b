"""The drivetrain file over the URDF: entry by entry, nothing twice."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description import read_drivetrain, read_robot
from geared_dynamics.errors import DescriptionError, GearedDynamicsWarning, UnknownNameError
from geared_dynamics.model.drive_sources import one_drivetrain

TRANSMISSION = """<transmission name="t{i}">
  <plugin>transmission_interface/SimpleTransmission</plugin>
  <actuator name="m{i}" role="actuator1"><rotor_inertia>{i}e-4</rotor_inertia></actuator>
  <joint name="joint_{i}" role="joint1"><mechanical_reduction>{i}0</mechanical_reduction>
    <offset>0.{i}</offset></joint></transmission>"""
DECLARED = "".join(f'<joint name="joint_{i}"/>' for i in (1, 2, 3))
BLOCK = "".join(TRANSMISSION.format(i=i) for i in (1, 2, 3))
URDF = f'<ros2_control name="Arm" type="system">{DECLARED}{BLOCK}</ros2_control>'
WHEEL = "{carrier: link_1, axis: [0, 0, 1], mass: 0.3, inertia: {axial: 5e-4}}"


def merged(text: str, arm, urdf: str = URDF):
    """The record, and all that is said of it: first what is dropped, then what is overridden."""
    robot, found = read_robot(arm(urdf))
    file = read_drivetrain(f"version: 1\n{text}" if text else None, alone=False)
    return one_drivetrain(robot, robot, file, found.drivetrain, frozenset())


def spins(record):
    return {spin.wheel: dict(spin.coefficients) for spin in record.spins}


def motors(record):
    return {motor.name: motor.wheel for motor in record.motors}


def test_without_a_file_the_urdf_is_all(arm) -> None:
    _, found = read_robot(arm(URDF))
    assert merged("", arm) == (found.drivetrain, ())


def test_without_drives_in_the_urdf_the_file_is_all(arm) -> None:
    text = f"wheels: {{w: {WHEEL}}}\nspins: [{{wheel: w, joint: joint_1, ratio: 2}}]"
    assert merged(text, arm, "") == (read_drivetrain(f"version: 1\n{text}"), ())


def test_a_wheel_of_the_same_name_keeps_spin_and_motor_of_the_urdf(arm) -> None:
    record, (note,) = merged(f"wheels: {{m2: {WHEEL}}}", arm)
    assert [wheel.name for wheel in record.wheels] == ["m2", "m1", "m3"]
    assert (record.wheels[0].carrier, record.wheels[0].axial) == ("link_1", 5e-4)
    assert record.wheels[0].urdf_origin == ""
    assert spins(record)["m2"] == {"joint_2": 20.0}
    assert record.spins[1].place == "transmission 't2' of <URDF text>"
    assert motors(record) == {"m1": "m1", "m2": "m2", "m3": "m3"}
    assert "transmission 't2' of <URDF text>" in note
    assert "overridden by wheels.m2 of <drivetrain text>" in note


def test_a_spin_of_the_same_wheel_wins(arm) -> None:
    record, notes = merged("spins: [{wheel: m2, joint: joint_2, ratio: 25}]", arm)
    assert spins(record) == {
        "m2": {"joint_2": 25.0},
        "m1": {"joint_1": 10.0},
        "m3": {"joint_3": 30},
    }
    assert [wheel.axial for wheel in record.wheels] == [1e-4, 2e-4, 3e-4]
    assert record.wheels[1].urdf_origin.endswith(
        "armature only, its spin from the drivetrain file"
    )
    assert notes == ()


def test_a_motor_of_the_same_name_or_wheel_wins(arm) -> None:
    text = f"wheels: {{w: {WHEEL}}}\nspins: [{{wheel: w, joint: joint_2, ratio: 2}}]\n"
    record, notes = merged(f"{text}motors: {{m1: {{wheel: w}}, other: {{wheel: m3}}}}", arm)
    assert motors(record) == {"m1": "w", "other": "m3"}
    assert "transmission 't2'" in notes[0]
    assert "left out, because" in notes[0]
    assert "transmission 't1'" in notes[1]
    assert "its motor is left out, because motors.m1" in notes[1]
    assert "wheel 'm1' has no motor now" in notes[1]
    assert "transmission 't3'" in notes[2]
    assert "motors.other of <drivetrain text>" in notes[2]
    assert "its offset stays" in notes[2]


def test_a_drive_of_another_name_on_the_same_joint_replaces_the_urdfs(arm) -> None:
    text = f"wheels: {{w: {WHEEL}}}\nspins: [{{wheel: w, joint: joint_2, ratio: 99}}]\n"
    record, (note,) = merged(text + "motors: {m: {wheel: w}}", arm)
    assert spins(record) == {
        "w": {"joint_2": 99.0},
        "m1": {"joint_1": 10.0},
        "m3": {"joint_3": 30},
    }
    assert motors(record) == {"m": "w", "m1": "m1", "m3": "m3"}
    offsets = {motor.name: motor.offsets for motor in record.motors}
    assert offsets == {"m": (), "m1": (("joint_1", 0.1),), "m3": (("joint_3", 0.3),)}
    assert "transmission 't2' of <URDF text>" in note
    assert "left out, because <drivetrain text> has motors on joint_2;" in note
    assert "name a wheel there 'm2'" in note


DIFFERENTIAL = """<ros2_control name="Arm" type="system">
  <joint name="joint_1"/><joint name="joint_2"/><transmission name="t">
  <plugin>transmission_interface/DifferentialTransmission</plugin>
  <actuator name="m1" role="actuator1"/><actuator name="m2" role="actuator2"/>
  <joint name="joint_1" role="joint1"><mechanical_reduction>10</mechanical_reduction></joint>
  <joint name="joint_2" role="joint2"><mechanical_reduction>20</mechanical_reduction></joint>
  </transmission></ros2_control>"""
DISC = f"wheels: {{disc: {WHEEL}}}\nspins: [{{wheel: disc, joint: joint_1, ratio: 1}}]\n"


def test_a_wheel_without_a_motor_replaces_nothing(arm) -> None:
    record, notes = merged(DISC, arm, DIFFERENTIAL)
    assert motors(record) == {"m1": "m1", "m2": "m2"}
    assert set(spins(record)) == {"disc", "m1", "m2"}
    assert notes == ()
    model = gd.load_model(arm(DIFFERENTIAL), f"version: 1\n{DISC}")
    assert model.structure_matrix.tolist() == [[10, 10], [20, -20], [0, 0]]


def test_a_wheel_with_a_motor_replaces_all_drives_of_its_joint(arm) -> None:
    record, (first, second) = merged(DISC + "motors: {m: {wheel: disc}}", arm, DIFFERENTIAL)
    assert motors(record) == {"m": "disc"}
    assert record.replaced == (("m1", ("joint_1",)), ("m2", ("joint_1",)))
    for note in (first, second):
        assert "has motors on joint_1;" in note
        assert "joint_2" not in note


def test_what_is_dropped_is_warned_of_and_refused_when_strict(arm, refused) -> None:
    file = f"version: 1\n{DISC}motors: {{m: {{wheel: disc}}}}"
    with pytest.warns(
        GearedDynamicsWarning, match="transmission 't' .* left out, because"
    ) as seen:
        model = gd.load_model(arm(DIFFERENTIAL), file)
    assert {str(item.message) for item in seen} == set(model.notes)
    call = lambda: gd.load_model(arm(DIFFERENTIAL), file, strict=True)  # noqa: E731
    refused(call, DescriptionError, "transmission 't'", "left out, because")


def test_two_inertias_of_one_joint_that_may_be_the_same_are_warned_of(arm) -> None:
    _, (note,) = merged(DISC, arm)
    assert "transmission 't1' of <URDF text>" in note
    assert "its inertia is added to that of disc of <drivetrain text>" in note
    assert "name it 'm1'" in note
    _, notes = merged(DISC.replace("wheels: {", f"wheels: {{m1: {WHEEL}, "), arm)
    assert not any("is added to" in text for text in notes)


def test_a_wheel_beside_one_that_is_named_leaves_both(arm) -> None:
    text = f"wheels: {{w: {WHEEL}, m2: {WHEEL}}}\nspins: [{{wheel: w, joint: joint_2, ratio: 9}}]"
    record, _ = merged(text, arm)
    assert spins(record)["w"] == {"joint_2": 9.0}
    assert spins(record)["m2"] == {"joint_2": 20.0}


PLANETARY = """planetary:
  g: {joint: joint_2, housing: base, layout: carrier_fixed, input: sun, output: ring,
      teeth: {sun: 20, planet: 10, ring: 40}, planets: 3, planet: {mass: 0, inertia: {axial: 1}},
      sun: {mass: 0, inertia: {axial: 1}}}
"""
HARMONIC = """harmonic:
  h: {joint: joint_2, housing: link_1, fixed: flexspline, wave_generator: {mass: 0,
      inertia: {axial: 1}}, teeth: {flexspline: 200, circular_spline: 202}}
"""
BESIDE = WHEEL.replace("axis", "position: [0.1, 0, 0], axis")
MESH = f"""wheels: {{w: {BESIDE}}}
spins: [{{mesh: [w, link_2], arm: link_1, teeth: [1, 50], kind: external}}]
"""
ARM_TURNS = MESH.replace(
    "[w, link_2], arm: link_1, teeth: [1, 50], kind: external",
    "[w, link_1], arm: link_2, teeth: [1, 50], sign: -1",
).replace("position: [0.1, 0, 0], ", "")
TRAIN = MESH.replace("{w: ", f"{{v: {WHEEL}, w: ").replace(
    "spins: [", "spins: [{mesh: [v, w], arm: link_1, teeth: [9, 8], kind: external}, "
)
FLANGE = MESH.replace("w, link_2", "w, flange")  # which is fixed to link_2
RING = (
    MESH.replace("link_1", "link_2")
    .replace("w, link_2", "w, link_1_ring")
    .replace("position: [0.1, 0, 0], ", "")
    .replace("kind: external", "sign: 1")
)  # walks round a ring
CARRIED = f"""wheels:
  s: {WHEEL}
  c: {WHEEL}
  p: {WHEEL.replace("link_1", "c").replace("mass: 0.3", "position: [0.1, 0, 0], mass: 0")}
spins:
  - {{wheel: c, joint: joint_2, ratio: 1}}
  - {{mesh: [s, p], arm: c, teeth: [20, 10], kind: external}}
  - {{mesh: [p, link_1], arm: c, teeth: [10, 40], kind: internal}}
"""
MOTOR_OF = {
    PLANETARY: "motors: {m: {wheel: g.sun}}",
    HARMONIC: "motors: {m: {wheel: h.wave_generator}}",
    MESH: "motors: {m: {wheel: w}}",
    ARM_TURNS: "motors: {m: {wheel: w}}",
    TRAIN: "motors: {m: {wheel: v}}",  # which touches no link itself
    FLANGE: "motors: {m: {wheel: w}}",
    RING: "motors: {m: {wheel: w}}",
    CARRIED: "motors: {m: {wheel: s}}",  # its only tie to joint_2 is the planets' arm
}
FIXED = """<link name="flange"/><joint name="f" type="fixed"><parent link="link_2"/>
  <child link="flange"/></joint><link name="link_1_ring"/><joint name="r" type="fixed">
  <parent link="link_1"/><child link="link_1_ring"/></joint>"""


@pytest.mark.parametrize("text", list(MOTOR_OF))
def test_sets_and_meshes_replace_the_drive_of_their_joint(text: str, arm) -> None:
    record, (note,) = merged(text + MOTOR_OF[text], arm, URDF + FIXED)
    assert "has motors on joint_2; name a wheel there 'm2'" in note
    assert set(motors(record)) == {"m", "m1", "m3"}


@pytest.mark.parametrize("text", [PLANETARY, HARMONIC, MESH, TRAIN])
def test_sets_and_meshes_without_a_motor_stand_beside_the_drive(text: str, arm) -> None:
    record, _ = merged(text, arm)
    assert motors(record) == {"m1": "m1", "m2": "m2", "m3": "m3"}
    assert record.replaced == ()


PASSING = {"coefficients": {"joint_1": 4, "joint_2": 4}}
TRAINS = [
    {"mesh": ["w", "idler"], "arm": "base", "radii": [0.01, 0.04], "sign": 1},
    {"mesh": ["idler", "link_2"], "arm": "link_1", "radii": [0.04, 0.04], "sign": 1},
]
FOURBAR = DIFFERENTIAL.replace("Differential", "FourBarLinkage")
# What the file's motors w, v turn with: the URDF's drives that are left out then.
ENDS = {
    "one joint": ([{"joint_2": 9}], ["m2"]),
    "past a joint": ([PASSING["coefficients"]], ["m2"]),
    "past a joint that another motor turns": ([PASSING["coefficients"], {"joint_1": 9}],
                                              ["m1", "m2"]),
    "differential": ([{"joint_1": 5, "joint_2": 7}, {"joint_1": 5, "joint_2": -7}], ["m1", "m2"]),
    "two on one joint": ([{"joint_3": 5}, {"joint_3": 7}], ["m3"]),
    "one beyond the other": ([{"joint_1": 5, "joint_2": 7, "joint_3": 1}, {"joint_3": 7}],
                             ["m2", "m3"]),
}  # fmt: skip


def motored(ratios: list[dict[str, float]], carrier: str = "base") -> dict[str, object]:
    """A drivetrain of motors with these ratios."""
    wheel = {"carrier": carrier, "axis": [0, 0, 1], "mass": 0.1, "inertia": {"axial": 1e-3}}
    names = ["w", "v"][: len(ratios)]
    return {
        "version": 1,
        "wheels": dict.fromkeys(names, wheel),
        "spins": [
            {"wheel": name, "coefficients": row} for name, row in zip(names, ratios, strict=True)
        ],
        "motors": {f"motor_{name}": {"wheel": name} for name in names},
    }


def left_out(urdf: str, file: dict[str, object], **options: object) -> list[str]:
    """The URDF's drives that the file's replace."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GearedDynamicsWarning)
        model = gd.load_model(urdf, file, **options)
    return [wheel for wheel, _ in model.records.drivetrain.replaced]


@pytest.mark.parametrize("case", list(ENDS))
def test_a_motor_replaces_the_drive_of_the_joint_where_its_train_ends(case: str, arm) -> None:
    ratios, gone = ENDS[case]
    assert left_out(arm(URDF), motored(ratios)) == gone


def test_the_same_drive_spelt_by_trains_replaces_the_same(arm) -> None:
    file = motored([PASSING["coefficients"]])
    spelt = {**file, "spins": TRAINS}
    spelt["wheels"] = {**file["wheels"], "idler": {**file["wheels"]["w"], "carrier": "link_1"}}
    model = gd.load_model(arm(), spelt)
    assert model.Gamma[0].tolist() == [4, 4, 0]
    assert left_out(arm(URDF), spelt) == left_out(arm(URDF), file) == ["m2"]
    # Seen from the far side the same joints lie the other way round.
    assert left_out(arm(URDF), motored([PASSING["coefficients"]], "link_2")) == ["m1"]


def test_a_drive_of_a_joint_that_follows_another_is_the_leaders(arm) -> None:
    mimic = {2: '<mimic joint="joint_1" multiplier="-0.5"/>'}
    urdf = arm(URDF, more=mimic)
    assert left_out(urdf, motored([{"joint_1": 9}])) == ["m1", "m2"]
    assert left_out(urdf, motored([{"joint_2": 9}])) == ["m1", "m2"]
    locked = left_out(urdf, motored([{"joint_1": 9}]), lock={"joint_1": 0.1})
    assert locked == ["m1", "m2"]


def test_a_four_bar_linkage_keeps_the_drive_of_its_other_joint(arm) -> None:
    assert left_out(arm(FOURBAR), motored([{"joint_1": 9}])) == ["m1"]
    assert left_out(arm(FOURBAR), motored([{"joint_2": 9}])) == ["m2"]
    assert left_out(arm(DIFFERENTIAL), motored([{"joint_2": 9}])) == ["m1", "m2"]


def test_a_wheel_that_the_file_meshes_is_fixed_by_the_mesh(arm) -> None:
    text = MESH.replace("w: ", "m2: ").replace("[w,", "[m2,")
    record, _ = merged(text, arm)
    assert set(spins(record)) == {"m1", "m3"}
    assert motors(record) == {"m1": "m1", "m2": "m2", "m3": "m3"}


def test_a_wheel_that_is_a_member_of_a_set_is_fixed_by_the_set(arm) -> None:
    text = PLANETARY.replace("sun: {mass: 0, inertia: {axial: 1}}", "sun: m2")
    record, _ = merged(f"wheels: {{m2: {WHEEL}}}\n{text}", arm)
    assert set(spins(record)) == {"m1", "m3"}
    assert motors(record) == {"m1": "m1", "m2": "m2", "m3": "m3"}


def test_motors_keep_the_urdfs_offset_unless_the_file_gives_one(arm) -> None:
    text = "joints: {joint_2: {damping: 5, stiffness: 9}, joint_3: {offset: 0}}"
    record, _ = merged(text, arm)
    assert [joint.offset for joint in record.joints] == [None, 0.0]
    model = gd.load_model(arm(URDF), f"version: 1\n{text}")
    # -n o: 10 * 0.1, 20 * 0.2, and 30 * 0.
    assert model.motor_zeros == pytest.approx([-1.0, -4.0, 0.0], abs=1e-15)


def test_a_motor_of_the_file_on_a_wheel_of_the_urdf_has_that_motors_offset(arm) -> None:
    model = gd.load_model(arm(URDF), {"version": 1, "motors": {"a": {"wheel": "m2"}}})
    zeros = dict(zip(model.motor_names, model.motor_zeros, strict=True))
    assert zeros == pytest.approx({"a": -4.0, "m1": -1.0, "m3": -9.0}, abs=1e-14)


def test_the_files_errors_know_the_urdfs_wheels(arm, refused) -> None:
    error = refused(
        lambda: merged("motors: {a: {wheel: m9}}", arm), UnknownNameError, "no wheel 'm9'"
    )
    assert "valid: m1, m2, m3" in error.remedy
    refused(
        lambda: merged("motors: {a: {wheel: m1}, b: {wheel: m1}}", arm),
        DescriptionError,
        "turned by two motors",
    )


def test_a_model_takes_the_drives_and_says_so(arm) -> None:
    model = gd.load_model(arm(URDF), {"version": 1, "joints": {"joint_1": {"offset": 0.5}}})
    assert model.motor_names == ("m1", "m2", "m3")
    assert model.structure_matrix.diagonal().tolist() == [10.0, 20.0, 30.0]
    plain = gd.mass_matrix(gd.load_model(arm()), [0.1, 0.2, 0.3])
    added = gd.mass_matrix(model, [0.1, 0.2, 0.3]) - plain
    # J n^2 of each drive and nothing else: an armature. 1e-15 is rounding.
    assert added == pytest.approx(np.diag([0.01, 0.08, 0.27]), abs=1e-15)


def test_frozen_joints_keep_their_drives_without_spin(arm) -> None:
    model = gd.load_model(arm(URDF), joints=["joint_1", "joint_2"])
    assert model.Gamma.tolist() == [[10, 0], [0, 20], [0, 0]]


@pytest.mark.parametrize("kind", ["revolute", "floating", "planar"])
def test_a_wheel_that_turns_with_a_frozen_joint_of_any_kind_is_loaded(kind: str) -> None:
    mass = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial>"
    )
    limit = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'
    joint = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'
    urdf = (
        '<robot name="arm"><link name="base"/>'
        + "".join(f'<link name="{name}">{mass}</link>' for name in ("one", "two"))
        + joint.format("j", "revolute", "base", "one", limit + '<axis xyz="0 0 1"/>')
        + joint.format("p", kind, "one", "two", limit + '<axis xyz="0 0 1"/>')
        + "</robot>"
    )
    wheel = {"carrier": "base", "axis": [0, 0, 1], "mass": 1.0, "inertia": {"axial": 1e-3}}
    drives = {
        "version": 1,
        "wheels": {"rotor": wheel},
        "spins": [{"wheel": "rotor", "coefficients": {"j": 10.0, "p": 1.0}}],
        "motors": {"m": {"wheel": "rotor"}},
    }
    model = gd.load_model(urdf, drives, joints=["j"])
    assert model.Gamma.tolist() == [[10.0]]


def test_doubts_are_warned_of_and_refused_when_strict(arm, refused) -> None:
    text = arm(URDF.replace("SimpleTransmission", "OddTransmission"))
    with pytest.warns(GearedDynamicsWarning, match="'transmission_interface/OddTransmission'"):
        model = gd.load_model(text)
    assert "left out, because" in model.notes[0]
    refused(
        lambda: gd.load_model(text, strict=True),
        DescriptionError,
        "<URDF text>, transmission 't1'",
        "left out, because",
        "without strict=True",
    )


def test_srdf_reaches_the_model(arm) -> None:
    srdf = """<robot name="arm"><rotor_params>
      <joint name="joint_1" mass="2e-4" gear_ratio="100"/></rotor_params></robot>"""
    assert gd.load_model(arm(), srdf=srdf).Gamma.tolist() == [[100, 0, 0]]
