"""What is known of a robot: none, some or all of its joints."""

from __future__ import annotations

from pathlib import Path

import pytest

import geared_dynamics as gd
from geared_dynamics.model.derived import NO_ROTORS

URDF = Path(__file__).parents[3] / "urdf"
ROTOR = """
version: 1
wheels:
  rotor: {carrier: base_link, mass: 0.1, axis: [0, 0, 1], inertia: {axial: 1.0e-4}}
  idle: {carrier: base_link, mass: 0.1, axis: [0, 0, 1], inertia: {axial: 0.0}}
spins:
  - {wheel: rotor, joint: %s, ratio: 50}
  - {wheel: idle, joint: joint_3, ratio: 50}
"""


def known(drive: str | Path | None) -> dict[str, object]:
    """The extents, by name."""
    model = gd.load_model(URDF / "elbow.urdf", drive)
    return {k: v for k, v in model.knowledge._asdict().items() if k != "without_rotors"}


def test_nothing_beside_the_links() -> None:
    model = gd.load_model(URDF / "elbow.urdf")
    assert model.knowledge.rotors == "none"
    assert model.knowledge.without_rotors == model.joint_names
    assert model.knowledge.rotor_note == NO_ROTORS


def test_a_wheel_without_inertia_says_nothing() -> None:
    some = gd.load_model(URDF / "elbow.urdf", ROTOR % "joint_1").knowledge
    assert some.rotors == "partial"
    assert some.without_rotors == ("joint_2", "joint_3")
    assert some.rotor_note.startswith("No rotor inertia is known for joint_2, joint_3;")


@pytest.mark.parametrize(
    ("robot", "extents"),
    [
        ("brisk6", ("all", "all", "all", "all", "none")),
        ("wave6", ("all", "all", "all", "all", "all")),
        ("planetary_2r", ("all", "none", "all", "none", "none")),
    ],
)
def test_robots_of_this_package(robot: str, extents: tuple[str, ...]) -> None:
    drive = URDF / f"{robot}.drivetrain.yaml"
    found = gd.load_model(URDF / f"{robot}.urdf", drive).knowledge
    assert found[:5] == extents
    assert found.rotor_note == ""
