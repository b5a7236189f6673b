"""What describe shows of motors, friction and balancers."""

from __future__ import annotations

from pathlib import Path

import pytest

from geared_dynamics.apps.cli.main import main

URDF = Path(__file__).parents[4] / "urdf"
DRIVES = """
version: 1
wheels:
  a: {carrier: base_link, axis: [0, 0, 1], mass: 0.5, inertia: {axial: 1.0e-4}}
  b: {carrier: link_1, axis: [0, 1, 0], mass: 0.5, inertia: {axial: 1.0e-4}}
  c: {carrier: link_2, axis: [1, 0, 0], mass: 0.5, inertia: {axial: 1.0e-4}}
spins:
  - {wheel: a, joint: joint_1, ratio: 100}
  - {wheel: b, joint: joint_2, ratio: 100}
  - {wheel: c, joint: joint_3, ratio: 100}
motors:
  full:
    wheel: a
    kind: brushless
    pole_pairs: 4
    resistance: 0.8
    inductance: 1.0e-3
    torque_constant: 0.06
    friction: {viscous: 1.0e-5, coulomb: [0.01, 0.012]}
    efficiency: {driving: 0.8}
    limits: {voltage: 48, current: 15, envelope: [[0, 0.9], [500, 0.4]],
      thermal: {continuous_current: 5, time_constant: 30}}
  half: {wheel: b, torque_constant: 0.06, limits: {current: 4}}
  bare: {wheel: c}
joints:
  joint_2: {friction: {coulomb: 2, stribeck: {static: 3, speed: 0.1}, load: 0.05, offset: 0.1,
    ripple: [{order: 7, amplitude: 0.1}], smoothing: 0.01}}
balancers:
  strut: {gas: {area: 1.0e-3, pressure: 2.0e+6, volume: 1.0e-3, length: 0.3, action: push},
    anchors: [{link: base_link, position: [0.1, 0, 0]}, {link: link_2, position: [0.2, 0, 0]}]}
  coil: {coil: {stiffness: 100, length: 0.2}, anchors: [{link: link_1}, {link: link_3}]}
  cord: {constant: {force: 40}, anchors: [{link: base_link}, {link: link_3}]}
  clock: {torsion: {stiffness: 5}, joint: joint_3}
"""


def described(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What describe prints, in one line with single blanks."""
    assert main(["describe", *arguments]) == 0
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if not line.startswith("next: ")]  # to be pasted
    assert max(map(len, lines)) <= 80
    return " ".join(text.split())


@pytest.fixture
def drives(tmp_path: Path) -> str:
    path = tmp_path / "d.yaml"
    path.write_text(DRIVES, encoding="utf-8")
    return str(path)


def test_everything_that_is_given_shows(capsys: pytest.CaptureFixture[str], drives: str) -> None:
    text = described(capsys, str(URDF / "elbow.urdf"), drives)
    for words in (
        "full brushless 4p 0.8 0.001 0.06 0.04 0.8 0.75",
        "half dc - - 0.06 0.06 1 1",
        "full: 48 V, 15 A, envelope (0, 0.9) (500, 0.4), 5 A indefinitely (30 s)",
        "joint_2: Coulomb 2, static 3 (Stribeck speed 0.1), 0.05 of the load, offset 0.1,"
        " ripple of order 7, smoothed within 0.01 (joint side, the drivetrain file)",
        "full: viscous 1e-05, Coulomb +0.01/-0.012 (motor side, the drivetrain file)",
        "strut: gas spring from base_link to link_2, push 2000 N at 0.3 m",
        "coil: coil from link_1 to link_3, 100 N/m, 0 N at 0.2 m",
        "cord: 40 N from base_link to link_3",
        "clock: torsion spring on joint_3, 5 per rad or m, 0 at 0",
    ):
        assert words in text


def test_what_is_missing_is_named(capsys: pytest.CaptureFixture[str], drives: str) -> None:
    text = described(capsys, str(URDF / "elbow.urdf"), drives)
    for words in (
        "no torque constant, so torque and speed only: bare",
        "no resistance, so no voltage: half",
        "no limits: bare",
    ):
        assert words in text


def test_friction_of_the_urdf_is_named_as_such(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = (URDF / "elbow.urdf").read_text("utf-8")
    path = tmp_path / "arm.urdf"
    dynamics = '<dynamics damping="0.5" friction="1.5"/></joint>'
    path.write_text(text.replace("</joint>", dynamics), encoding="utf-8")
    found = described(capsys, str(path))
    law = "joint_1, joint_2, joint_3: viscous 0.5, Coulomb 1.5 (joint side, the URDF's <dynamics>)"
    assert law in found
    assert "Motors" not in found
    assert "joint friction: joint_1, joint_2, joint_3 from the URDF's <dynamics>" in found
    none = '<dynamics damping="0" friction="0"/></joint>'
    path.write_text(text.replace("</joint>", none), encoding="utf-8")
    found = described(capsys, str(path))
    assert "joint friction: none (the URDF's <dynamics> are 0)" in found


def test_robots_without_electrics_show_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    text = described(capsys, str(URDF / "tx40.urdf"), str(URDF / "tx40.drivetrain.yaml"))
    assert "k_t" not in text
    assert "motor_6: viscous 0.000601562, Coulomb 0.0609375 (motor side" in text
    assert "no torque constant, so torque and speed only: motor_1," in text


def test_springs_of_frozen_joints_are_marked(
    capsys: pytest.CaptureFixture[str], drives: str
) -> None:
    text = described(capsys, str(URDF / "elbow.urdf"), drives, "--lock", "joint_3=0.1")
    assert "0 at 0 (frozen, no effect)" in text
    assert "coil from link_1 to link_3, 100 N/m, 0 N at 0.2 m cord" in text
