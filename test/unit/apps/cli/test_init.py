"""``geared-dynamics init``: a file that loads, with every joint in it, and says what it lacks."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.apps.cli.main import main

URDF = Path(__file__).parents[4] / "urdf"
WEIGHTLESS = {"kr300", "tx40"}  # their last links have no inertia but their rotors'
ROBOTS = sorted({path.stem for path in URDF.glob("*.urdf")} - WEIGHTLESS)


@pytest.mark.parametrize("robot", ROBOTS)
def test_it_loads_for_every_robot(robot: str, tmp_path: Path) -> None:
    """Nothing is known yet: the model with the file is the one without."""
    urdf, out = URDF / f"{robot}.urdf", tmp_path / "drive.yaml"
    assert main(["init", str(urdf), "--out", str(out)]) == 0
    bare, model = gd.load_model(urdf), gd.load_model(urdf, out)
    assert len(model.motor_names) == model.n
    assert model.knowledge.rotors == "none"
    np.testing.assert_array_equal(np.count_nonzero(model.structure_matrix, axis=0), 1)
    q = np.linspace(-0.5, 0.7, model.n)
    masses = gd.mass_matrix(bare, q)
    np.testing.assert_allclose(gd.mass_matrix(model, q), masses, atol=1e-12 * abs(masses).max())


@pytest.mark.parametrize("robot", sorted(WEIGHTLESS))
def test_a_robot_that_needs_its_rotors(
    robot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, out = URDF / f"{robot}.urdf", tmp_path / "drive.yaml"
    assert main(["init", str(urdf), "--out", str(out)]) == 0
    assert "it does not load yet: " in capsys.readouterr().out
    words = ["--force", "--ratio", "100", "--rotor-inertia", "1e-4"]
    assert main(["init", str(urdf), "--out", str(out), *words]) == 0
    assert "does not load" not in capsys.readouterr().out
    assert gd.load_model(urdf, out).knowledge.rotors == "all"


def test_a_robot_of_the_package_leaves_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (URDF / "elbow.drivetrain.yaml").read_bytes()
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--robot", "elbow", "--force"]) == 0
    assert (tmp_path / "elbow.drivetrain.yaml").is_file()
    assert (URDF / "elbow.drivetrain.yaml").read_bytes() == before
    assert main(["init", "elbwo"]) == 2
    assert "did you mean 'elbow'?" in capsys.readouterr().err
    assert main(["init"]) == 2
    assert "ROBOT.urdf: is missing" in capsys.readouterr().err


def test_numbers_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf, out = URDF / "elbow.urdf", tmp_path / "elbow.drivetrain.yaml"
    words = ["--ratio", "100", "joint_2=-80", "--rotor-inertia", "1.2e-4"]
    assert main(["init", str(urdf), "-o", str(out), *words]) == 0
    said = capsys.readouterr().out
    guesses = "carriers, axes and included_in_link are guesses (marked in the file)\n"
    assert f"3 motors; {guesses}" in said
    assert f"next: geared-dynamics describe {urdf} {out}" in said
    model = gd.load_model(urdf, out)
    np.testing.assert_array_equal(model.structure_matrix, np.diag([100.0, -80.0, 100.0]))
    np.testing.assert_array_equal(model.J, 3 * [1.2e-4])
    # As the shipped file has them where the axes of rotor and joint are one.
    assert model.records.drivetrain.wheels[0].axis == (0.0, 0.0, 1.0)
    assert model.knowledge.rotors == "all"
    assert "FILL IN" not in out.read_text("utf-8").split("wheels:", 1)[1]


def test_an_axis_in_the_frame_of_the_carrier(tmp_path: Path) -> None:
    """The joint's axis turned by its <origin rpy=>: what the joint turns about, on the carrier."""
    urdf, out = URDF / "elbow.urdf", tmp_path / "drive.yaml"
    assert main(["init", str(urdf), "-o", str(out)]) == 0
    model = gd.load_model(urdf, out)
    q = np.array([0.3, -0.4, 0.9])
    for wheel, link in zip(model.wheel_names, model.body_names, strict=True):
        shaft = gd.pose(model, q, wheel)[..., :3, :3]
        turned = gd.pose(model, q, link)[..., :3, :3]
        joint = next(joint for joint in model.records.robot.joints if joint.child == link)
        axis = model.records.drivetrain.wheels[model.wheel_names.index(wheel)].axis
        np.testing.assert_allclose(shaft @ axis, turned @ joint.axis, atol=1e-12)


def test_a_file_that_exists_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf, out = tmp_path / "arm.urdf", tmp_path / "arm.drivetrain.yaml"
    urdf.write_bytes((URDF / "elbow.urdf").read_bytes())
    out.write_text("mine")
    assert main(["init", str(urdf)]) == 2
    assert "exists, and is not as geared-dynamics init wrote it" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main(["init", str(urdf), "--force"]) == 0
    assert gd.load_model(urdf, out).motor_names


def test_names_that_yaml_takes_for_something_else(tmp_path: Path) -> None:
    text = (URDF / "elbow.urdf").read_text("utf-8")
    names = {"joint_1": "no", "joint_2": "a: b # c", "link_1": "1e3", "link_2": "- x"}
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    urdf, out = tmp_path / "arm.urdf", tmp_path / "drive.yaml"
    urdf.write_text(text, encoding="utf-8")
    assert main(["init", str(urdf), "-o", str(out)]) == 0
    model = gd.load_model(urdf, out)
    assert model.motor_names == ("motor_no", "motor_a: b # c", "motor_joint_3")
    assert [wheel.carrier for wheel in model.records.drivetrain.wheels] == [
        "base_link",
        "1e3",
        "- x",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ratio", "joint_9=3"], "--ratio: there is no driven joint 'joint_9'; did you mean"),
        (["--ratio", "2", "3"], "--ratio: is given twice for all joints; give it once"),
        (["--ratio", "joint_1=0"], "--ratio: is 0 for 'joint_1'; give a ratio other than 0"),
        (["--rotor-inertia", "-1"], "--rotor-inertia: is -1; give 0 or more"),
        (
            ["--rotor-inertia", "joint_2=1e3"],
            "--rotor-inertia: 1000 kg m^2 is more than link link_1",
        ),
    ],
)
def test_wrong_numbers(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "drive.yaml"
    assert main(["init", str(URDF / "elbow.urdf"), "-o", str(out), *words]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("text", ["=3", "joint_1=", "nan", "inf", "x=inf"])
def test_what_is_no_number(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["init", str(URDF / "elbow.urdf"), "--ratio", text])
    assert end.value.code == 2
    assert "is neither a number nor joint=number" in capsys.readouterr().err


def robot(joint: str, link: str) -> str:
    """Two joints, of which the second is called x and its link rotor_x."""
    heavy = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    one, other = quoteattr(joint, {"\n": "&#10;"}), quoteattr(link, {"\n": "&#10;"})
    return (
        f'<robot name={one}><link name="base"/><link name={other}>{heavy}</link>'
        f'<link name="rotor_x">{heavy}</link><joint name={one} type="continuous">'
        f'<parent link="base"/><child link={other}/><axis xyz="0 0 1"/></joint>'
        f'<joint name="x" type="continuous"><parent link={other}/><child link="rotor_x"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )


@pytest.mark.parametrize(
    "joint",
    ["shoulder", "x_2", "null", "1e3", "a: b", "- a", "a #b", "{0}", "<<", "*a", "!a", 'a"b',
     "a\nwheels:\n  x", "\U0001f600", "\u200b", "2001-01-01", ".inf", "motor_x"],
)  # fmt: skip
def test_names_of_any_kind(joint: str, tmp_path: Path) -> None:
    """Links called as rotors would be, and names that mean something in YAML."""
    urdf, out = tmp_path / "robot.urdf", tmp_path / "drive.yaml"
    urdf.write_text(robot(joint, "rotor_x_2"), "utf-8")
    assert main(["init", str(urdf), "--out", str(out)]) == 0
    model = gd.load_model(urdf, out)
    assert model.joint_names == (joint, "x")
    assert len(model.motor_names) == 2
    assert "rotor_x_3" in model.wheels.names
