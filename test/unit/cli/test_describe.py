"""``geared-dynamics describe``: what it shows of robots with known answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from geared_dynamics.cli.main import main

URDF = Path(__file__).parents[3] / "urdf"


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what describe prints; every line fits 80 columns."""
    assert main(["describe", *arguments]) == 0
    text = capsys.readouterr().out
    assert max(len(line) for line in text.splitlines()) <= 80
    return text


def test_elbow(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml"))
    for words in ("3 coordinates", "+120 joint_1", "rotor_3", "3.456", "elbow.drivetrain.yaml"):
        assert words in text
    structure = text.split("Structure matrix")[1].split("Mass matrix")[0]
    assert ["joint_2", ".", "100", "."] in [line.split() for line in structure.splitlines()]


def test_elbow_exactness_is_that_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    """Paper 000, section 7: only b_12 = k_2 I_2 and b_13 = k_3 s_2 I_3 are neglected."""
    text = output(capsys, str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml"))
    rows = [line.split() for line in text.split("Mass matrix")[1].splitlines()]
    assert ["joint_1", "=", "0.012"] in [row[:3] for row in rows]
    assert any(row[:1] == ["joint_2"] and row[2:] == ["=", "="] for row in rows)
    assert any(row[:1] == ["joint_3"] and row[2:] == ["=", "="] for row in rows)


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
    assert "triangle inequality" in text
