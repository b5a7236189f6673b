"""Planets on a turning carrier: in the reference they orbit as bodies of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.crosscheck import cross_check
from geared_dynamics.analysis.pinocchio_tree import spanning_tree
from geared_dynamics.apps.cli.main import main
from geared_dynamics.description.drive_records import WheelRecord
from geared_dynamics.model import GearedModel
from geared_dynamics.model.gears import resolve

pytest.importorskip("pinocchio")

LINK = """<link name="{0}"><inertial><origin xyz="0.1 0.02 0.05"/><mass value="3"/>
  <inertia ixx="0.2" iyy="0.25" izz="0.3" ixy="0.01" ixz="0.02" iyz="-0.01"/></inertial></link>"""
JOINT = """<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>
  <origin xyz="0.3 0.1 0.1" rpy="0.4 0.3 0"/><axis xyz="0.6 0 0.8"/></joint>"""
URDF = f"""<robot name="r"><link name="base"/>{LINK.format("one")}{LINK.format("two")}
  {JOINT.format("j1", "base", "one")}{JOINT.format("j2", "one", "two")}</robot>"""
# The first stage's carrier is a wheel, the second stage's sun; its planets have mass.
DRIVES = """version: 1
wheels:
  c: {carrier: one, axis: AXIS, position: PLACE, mass: 0.2, inertia: {axial: 1.0e-3}}
planetary:
  second: {joint: j2, housing: one, layout: ring_fixed, input: sun, output: carrier,
           teeth: {sun: 20, planet: 10, ring: 40}, planets: 3, radius: 0.03,
           planet: {mass: 0.1, inertia: {axial: 1.0e-4}}, sun: c}
  first: {housing: one, axis: AXIS, position: PLACE, layout: ring_fixed,
          input: sun, output: carrier, teeth: {sun: 20, planet: 10, ring: 40}, planets: 3,
          radius: 0.03, phase: 0.3, planet: {mass: 0.1, inertia: {axial: 1.0e-4}},
          carrier: c, sun: {mass: 0.05, inertia: {axial: 1.0e-5}}}
motors: {m: {wheel: first.sun}}
"""


@pytest.fixture(scope="module")
def drives() -> str:
    """The drivetrain with the second joint's axis and place, which Pinocchio knows."""
    robot = gd.load_model(URDF).records.robot
    joint = robot.joints[1]
    axis = (np.array(joint.rotation) @ joint.axis).tolist()
    return DRIVES.replace("AXIS", str(axis)).replace("PLACE", str(list(joint.position)))


def lumped(change: Callable[[WheelRecord], WheelRecord]) -> Callable[..., WheelRecord]:
    """The lumping of planets into their carrier, with a mistake."""
    from geared_dynamics.model.gears import carried_wheels

    right = carried_wheels.with_orbits
    return lambda carrier, orbiting: change(right(carrier, orbiting))


def test_planets_that_orbit_agree(drives: str) -> None:
    inside = "included_in_link: true, mass"
    head, tail = drives.split("phase: 0.3, ")
    contained = head.replace("mass: 0.2", f"{inside}: 0.2") + "phase: 0.3, "
    contained += tail.replace("mass: 0.1", f"{inside}: 0.1")
    assert contained.count("included") == 2
    for text in (drives, contained):
        result = cross_check(gd.load_model(URDF, text), states=5, urdf=URDF)
        assert result.passed, result.verdict


@pytest.mark.parametrize(
    "change",
    [
        lambda wheel: replace(wheel, axial=1.5 * wheel.axial),
        lambda wheel: replace(wheel, transverse=1.5 * wheel.transverse),
        lambda wheel: replace(wheel, mass=1.01 * wheel.mass),
        lambda wheel: replace(wheel, position=tuple(1.01 * x for x in wheel.position)),
    ],
)
def test_a_mistake_in_their_lumped_mass_is_found(
    change: Callable[[WheelRecord], WheelRecord],
    drives: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reference must not take the planets from our own flattening."""
    files = [tmp_path / "r.urdf", tmp_path / "r.yaml"]
    for path, text in zip(files, (URDF, drives), strict=True):
        path.write_text(text)
    arguments = ["check", *map(str, files), "--states", "3"]
    assert main(arguments) == 0
    monkeypatch.setattr("geared_dynamics.model.gears.carried_wheels.with_orbits", lumped(change))
    assert main(arguments) == 1


def test_the_reference_has_a_planet_on_its_carrier(drives: str) -> None:
    ref = spanning_tree(gd.load_model(URDF, drives), urdf=URDF)
    planet, carrier = ref.wheel_joint["first.planet_2"], ref.wheel_joint["c"]
    assert ref.tree.parents[planet] == carrier
    # Relative to the carrier, which spins at 3: -9 - 3, of Willis's relation.
    assert ref.G[planet - 1].tolist() == [0.0, -12.0]
    assert ref.tree.inertias[planet].mass == pytest.approx(0.1)
    assert ref.tree.inertias[carrier].mass == pytest.approx(0.2)


def test_frames_of_such_wheels(drives: str) -> None:
    """A carrier's frame is at its own centre; a planet's is where it is before any spin."""
    model: GearedModel = gd.load_model(URDF, drives)
    drivetrain = model.records.drivetrain
    assert drivetrain.wheels[0].mass == pytest.approx(0.5)
    assert resolve(model.records.robot, drivetrain) is drivetrain
    at = {wheel: gd.pose(model, [0.2, 0.9], wheel)[:3, 3] for wheel in model.wheel_names}
    place = gd.pose(model, [0.2, 0.9], "two")[:3, 3]
    assert at["c"] == pytest.approx(place, abs=1e-12)
    assert np.linalg.norm(at["first.planet_1"] - place) == pytest.approx(0.03)
    spun = gd.jacobian(model, [0.2, 0.9], "first.planet_1")
    assert spun[:3, 1] == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(spun[3:, 1]) == pytest.approx(9.0)
