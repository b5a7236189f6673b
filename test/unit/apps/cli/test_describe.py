"""``geared-dynamics describe``: what it shows of robots with known answers."""

from __future__ import annotations

from pathlib import Path
from unicodedata import category

import pytest

from geared_dynamics.apps.cli.main import main

URDF = Path(__file__).parents[4] / "urdf"


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what describe prints; every line fits 80 columns but a command to copy."""
    assert main(["describe", *arguments]) == 0
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if not line.startswith("next: ")]
    assert max(map(len, lines)) <= 80
    return text


def test_elbow(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml"))
    for words in ("3 coordinates", "+120 joint_1", "rotor_3", "3.456", "elbow.drivetrain.yaml"):
        assert words in text
    structure = text.split("Structure matrix")[1].split("Mass matrix")[0]
    assert ["joint_2", ".", "100", "."] in [line.split() for line in structure.splitlines()]


def test_the_next_command_is_named_where_nothing_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    urdf, drives = str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml")
    assert output(capsys, urdf, drives).endswith(f"next: geared-dynamics check {urdf} {drives}\n")
    assert "next:" not in output(capsys, urdf)


def test_the_next_command_is_about_the_same_robot(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml")]
    options = "--lock joint_1=0.1 joint_3=-2.0 --gravity 0.0 -9.81 0.0"
    text = output(capsys, *files, *options.split())
    assert text.endswith(f"check {' '.join(files)} {options}\n")


def test_gravity_that_no_joint_carries_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """The planetary arm of the paper stands upright; loaded without saying so it lies flat."""
    files = [str(URDF / f"planetary_2r{end}") for end in (".urdf", ".drivetrain.yaml")]
    assert "0 0 -9.81 m/s^2; no joint carries weight" in output(capsys, *files)
    for others in ([*files, "--gravity", "0", "-9.81", "0"], [str(URDF / "elbow.urdf")]):
        assert "no joint carries weight" not in output(capsys, *others)


def test_elbow_exactness_is_that_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    """Sciavicco 1994, section 7: only b_12 = k_2 I_2 and b_13 = k_3 s_2 I_3 are neglected."""
    text = output(capsys, str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml"))
    rows = [line.split() for line in text.split("Mass matrix")[1].splitlines()]
    assert ["joint_1", "=", "0.012"] in [row[:3] for row in rows]
    assert any(row[:1] == ["joint_2"] and row[2:] == ["=", "="] for row in rows)
    assert any(row[:1] == ["joint_3"] and row[2:] == ["=", "="] for row in rows)


def test_orbiting_planets_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their mass counts in the wheel that carries them, which says so and what is its own."""
    drives = tmp_path / "set.yaml"
    drives.write_text("""version: 1
planetary:
  g: {joint: joint_2, housing: link_1, layout: sun_fixed, input: carrier, output: ring,
      teeth: {sun: 20, planet: 10, ring: 40}, planets: 3, radius: 0.03,
      planet: {mass: 0.1, inertia: {axial: 1.0e-5}},
      carrier: {mass: 0.2, inertia: {axial: 2.0e-4}}}
""")
    text = output(capsys, str(URDF / "elbow.urdf"), str(drives))
    assert "g.carrier: mass and J with the wheels that orbit on it" in text
    assert "0.2 kg, 0.0002 kg m^2" in " ".join(text.split())
    rows = [line.split() for line in text.splitlines() if line.strip().startswith("g.planet")]
    assert all("in g.carrier" in " ".join(row) for row in rows)
    assert "wheels without mass" not in text


def test_without_drivetrain(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, str(URDF / "elbow.urdf"))
    assert "no drivetrain" in text
    assert "no wheel turns with: joint_1, joint_2, joint_3" in text


def test_motors_on_the_base_are_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drives = tmp_path / "base.yaml"
    wheel = "{carrier: base_link, axis: [1, 0, 0], mass: 1, inertia: {axial: 1.0e-3}}"
    drives.write_text(
        f"version: 1\nwheels:\n  r: {wheel}\nspins:\n  - {{wheel: r, joint: joint_3, ratio: 9}}\n"
    )
    text = output(capsys, str(URDF / "elbow.urdf"), str(drives))
    assert "exact in every posture, for every element" in text
    assert "no motors: section" in text


TRANSMISSIONS = """<ros2_control name="Arm" type="system">
  <joint name="joint_1"/><joint name="joint_2"/>
  <transmission name="t1"><plugin>transmission_interface/SimpleTransmission</plugin>
    <actuator name="m1" role="actuator1"/>
    <joint name="joint_1" role="joint1"><mechanical_reduction>10</mechanical_reduction>
      <offset>0.1</offset></joint></transmission>
  <transmission name="t2"><plugin>transmission_interface/SimpleTransmission</plugin>
    <actuator name="m2" role="actuator1"/>
    <joint name="joint_2" role="joint1"><mechanical_reduction>20</mechanical_reduction>
      <offset>0.2</offset></joint></transmission>
</ros2_control></robot>"""
OWN_DRIVES = """version: 1
wheels:
  r: {carrier: base_link, axis: [1, 0, 0], mass: 1, inertia: {axial: 1.0e-3}}
spins: [{wheel: r, joint: joint_3, ratio: 9}]
motors: {own: {wheel: r}}
joints: {joint_2: {offset: 0.5}}
"""


def test_who_speaks_of_motors_and_offsets_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    urdf = (URDF / "elbow.urdf").read_text().replace("</robot>", TRANSMISSIONS)
    Path("arm.urdf").write_text(urdf)
    Path("own.yaml").write_text(OWN_DRIVES)
    text = " ".join(output(capsys, "arm.urdf", "own.yaml").split())
    for words in (
        "motors: own from own.yaml; m1, m2 from the robot's own files",
        "m1: from transmission 't1' of arm.urdf (ros2_control), armature only",
        "offset of m1 on joint_1: 0.1 from transmission 't1' of arm.urdf (ros2_control)",
        "offset of m2 on joint_2: 0.5 from joints.joint_2 of own.yaml, not 0.2 of the URDF",
        "Motor angles at q = 0 [rad]: phi = A' q + phi(0) m1 -1, m2 -10",
    ):
        assert words in text, words


def test_without_transmissions_nothing_is_said_of_motors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = output(capsys, str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml"))
    assert "offset of" not in text
    assert "Motor angles" not in text


def test_planets_are_carried_by_the_wheel_they_ride_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drives = tmp_path / "box.yaml"
    drives.write_text(
        """
version: 1
planetary:
  box:
    {joint: joint_1, housing: base_link, layout: ring_fixed, input: carrier, output: sun,
     teeth: {sun: 20, planet: 10, ring: 40}, planets: 3,
     planet: {mass: 0, inertia: {axial: 1e-3}}, carrier: {mass: 1, inertia: {axial: 1e-2}}}
""",
        encoding="utf-8",
    )
    text = output(capsys, str(URDF / "elbow.urdf"), str(drives))
    wheels = text.split("Wheels")[1].split("Links")[0]
    rows = [line.split() for line in wheels.splitlines() if line.strip()]
    planet = next(k for k, row in enumerate(rows) if row[0] == "box.planet_1")
    assert rows[planet][1] == "box.carrier"
    assert rows[planet + 1][:2] == ["on", "base_link"]
    carrier = next(row for row in rows if row[0] == "box.carrier")
    assert carrier[1] == "base_link"


def test_wide_robot_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, str(URDF / "puma560.urdf"), str(URDF / "puma560.drivetrain.yaml"))
    assert "rotor_6" in text


def test_names_do_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A joint called with an escape sequence, a link with marks of direction, a file with both."""
    text = (URDF / "elbow.urdf").read_text("utf-8")
    odd = {"joint_2": "j\u009b2Joint", "link_2": "l\u202eink\u200b", "elbow": "\x7f"}
    for name, odd_name in odd.items():
        text = text.replace(f'"{name}"', f'"{odd_name}"')
    drives = (URDF / "elbow.drivetrain.yaml").read_text("utf-8")
    drives = drives.replace("link_2", '"l\\u202eink\\u200b"')
    drives = drives.replace("joint_2", '"j\\x9b2Joint"')
    files = [tmp_path / "a\x1b]0;owned\x07.urdf", tmp_path / "a.drivetrain.yaml"]
    for file, content in zip(files, (text, drives), strict=True):
        file.write_text(content, "utf-8")
    shown = output(capsys, *map(str, files))
    assert {x for x in shown if category(x) in {"Cc", "Cf"}} == {"\n"}
    for escape in ("j\\x9b2Joint", "l\\u202eink\\u200b", "a\\x1b]0;owned\\x07.urdf"):
        assert escape in shown.replace("\n", "")
    assert main(["describe", str(files[0]), "no\x1b[2J.yaml"]) == 2
    assert "no\\x1b[2J.yaml" in capsys.readouterr().err
