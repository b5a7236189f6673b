"""Kinds of trains, each against its ratio on paper."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from geared_dynamics.description import freeze
from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    HarmonicRecord,
    MeshRecord,
    MotorRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.gear_sections import spins as read_spins
from geared_dynamics.description.robot_records import MimicRecord, RobotRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel, build_model
from geared_dynamics.model.gears import resolve
from geared_dynamics.model.gears.mesh_equation import COLLINEAR, PARALLEL
from random_gears import body_wheel, serial_robot, vec

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
PLANAR = serial_robot(("revolute", Z, (0, 0, 0)), ("revolute", Z, (0.4, 0, 0)))
WRIST = serial_robot(
    ("revolute", X, (0, 0, 0)), ("revolute", Y, (0.1, 0, 0)), ("revolute", X, (0, 0, 0))
)


def gamma(robot: RobotRecord, wheels: Any, meshes: Any, **more: Any) -> Any:
    """Gamma of a train."""
    train = DrivetrainRecord("train", wheels=tuple(wheels), meshes=tuple(meshes), **more)
    return build_model(robot, train).Gamma


def pinion(name: str, carrier: str, x: float = 0.0, axis: Any = Z) -> WheelRecord:
    """A wheel on a link, a distance along x."""
    return body_wheel(name, carrier, axis=axis, position=(x, 0.0, 0.0))


def test_screw_and_rack_of_a_joint_that_slides() -> None:
    """A screw turns once per lead; a joint that turns has neither (see test_bad_input)."""
    slide = serial_robot(("prismatic", X, (0, 0, 0)), ("revolute", Z, (0.4, 0, 0)))
    wheels = [pinion("screw", "base"), pinion("pinion", "base")]
    spins = [
        {"wheel": "screw", "joint": "joint_1", "lead": 0.01},
        {"wheel": "pinion", "joint": "joint_1", "pinion_radius": 0.02, "sign": -1},
    ]
    found = gamma(slide, wheels, (), spins=read_spins(spins))
    np.testing.assert_allclose(found, [[2 * np.pi / 0.01, 0], [-1 / 0.02, 0]], rtol=1e-15)


def test_belt_past_a_joint() -> None:
    """Motor on the base, pulleys on joint 1 and link 2: it feels both joints."""
    pulley = MeshRecord(("motor", "link_2"), "link_1", (20, 50), "internal")
    found = gamma(PLANAR, [pinion("motor", "base")], [pulley])
    np.testing.assert_array_equal(found, [[1, 2.5]])
    crossed = replace(pulley, kind=None, sign=-1)
    np.testing.assert_array_equal(gamma(PLANAR, [pinion("motor", "base")], [crossed]), [[1, -2.5]])


def test_belt_over_a_pulley_at_the_joint_between() -> None:
    wheels = [pinion("motor", "base", -0.1), pinion("double", "base")]
    meshes = [
        MeshRecord(("motor", "double"), "base", (0.01, 0.03), "internal"),
        MeshRecord(("double", "link_2"), "link_1", (0.02, 0.05), "internal"),
    ]
    np.testing.assert_allclose(gamma(PLANAR, wheels, meshes), [[3, 7.5], [1, 2.5]], rtol=1e-16)


def test_idlers_change_sign_and_nothing_else() -> None:
    wheels = [pinion("motor", "link_1", 0.1), pinion("idler", "link_1", 0.2)]
    meshes = [
        MeshRecord(("motor", "idler"), "link_1", (17, 31), "external"),
        MeshRecord(("idler", "link_2"), "link_1", (31, 85), "external"),
    ]
    assert gamma(PLANAR, wheels, meshes)[0].tolist() == [0, 5]


def test_axes_drawn_the_other_way_round_turn_the_other_way_round() -> None:
    mesh = MeshRecord(("motor", "link_2"), "link_1", (20, 50), "external")
    up, down = (pinion("motor", "link_1", 0.1, axis=(0.0, 0.0, z)) for z in (1.0, -1.0))
    np.testing.assert_array_equal(gamma(PLANAR, [up], [mesh])[0], [0, -2.5])
    np.testing.assert_array_equal(gamma(PLANAR, [down], [mesh])[0], [0, 2.5])


def test_bevel_and_worm_by_literal_sign() -> None:
    bevel = MeshRecord(("motor", "link_1"), "base", (15, 45), sign=-1)
    worm = MeshRecord(("worm", "link_1"), "base", (1, 60), sign=1)
    assert gamma(PLANAR, [pinion("motor", "base", 0.1, X)], [bevel])[0, 0] == -3
    assert gamma(PLANAR, [pinion("worm", "base", 0.1, Y)], [worm])[0, 0] == 60


def test_stated_axes_set_the_sign() -> None:
    """About -x and +z, that is: the sign belongs to the directions that are stated."""
    mesh = MeshRecord(
        ("motor", "link_1"), "base", (15, 45), sign=-1, axes=((-1.0, 0.0, 0.0), (0.0, 0.0, 2.0))
    )
    assert gamma(PLANAR, [pinion("motor", "base", 0.1, X)], [mesh])[0, 0] == 3


def test_differential_wrist() -> None:
    """Two side gears on joint 2's axis mesh with the bevel of link 3 inside link 2."""
    wheels = [pinion(f"side_{k}", "link_1", 0.1, Y) for k in (1, 2)]
    meshes = [
        MeshRecord(("side_1", "link_3"), "link_2", (30, 30), sign=1),
        MeshRecord(("side_2", "link_3"), "link_2", (30, 30), sign=-1),
    ]
    np.testing.assert_array_equal(gamma(WRIST, wheels, meshes), [[0, 1, 1], [0, 1, -1]])


def test_wrist_motor_carried_several_links_before() -> None:
    """A shaft along joint 1 and bevels at joint 2 bring a motor of the base to joint 3."""
    wheels = [body_wheel("motor", "base", axis=X), pinion("middle", "link_1", 0.1, Y)]
    meshes = [
        MeshRecord(("motor", "middle"), "link_1", (20, 40), sign=1),
        MeshRecord(("middle", "link_3"), "link_2", (25, 50), sign=-1),
    ]
    np.testing.assert_array_equal(gamma(WRIST, wheels, meshes), [[1, 2, -4], [0, 1, -2]])


def test_two_motors_on_one_joint() -> None:
    wheels = [pinion("left", "base", -0.1), pinion("right", "base", 0.1)]
    meshes = [MeshRecord((w.name, "link_1"), "base", (10, 60), "external") for w in wheels]
    motors = tuple(MotorRecord(f"m_{w.name}", w.name) for w in wheels)
    train = DrivetrainRecord(wheels=tuple(wheels), meshes=tuple(meshes), motors=motors)
    model = build_model(PLANAR, train)
    np.testing.assert_array_equal(model.structure_matrix, [[-6, -6], [0, 0]])


def test_wheel_on_wheel_counts_from_it() -> None:
    """Coaxial shafts, one running in the other: the spin is the carrying wheel's plus its own."""
    wheels = [pinion("outer", "base"), pinion("inner", "outer", axis=(0.0, 0.0, -1.0))]
    spins = (SpinRecord("outer", (("joint_1", 3.0),)), SpinRecord("inner", (("joint_2", 7.0),)))
    found = gamma(PLANAR, wheels, (), spins=spins)
    np.testing.assert_array_equal(found, [[3, 0], [-3, 7]])


def test_cage_as_the_arm_of_two_side_gears() -> None:
    """A differential without its pinions: half the sum of both sides is the cage's spin."""
    wheels = [pinion(name, "base") for name in ("cage", "left", "right")]
    mesh = MeshRecord(("left", "right"), "cage", (1, 1), sign=-1)
    spins = (SpinRecord("left", (("joint_1", 4.0),)), SpinRecord("right", (("joint_2", 2.0),)))
    found = gamma(PLANAR, wheels, [mesh], spins=spins)
    np.testing.assert_array_equal(found[0], [2, 1])


@pytest.mark.parametrize(
    ("fixed", "ratio"), [("circular_spline", -100 / 2), ("flexspline", 102 / 2)]
)
@pytest.mark.parametrize("housing", ["base", "link_1"])
def test_harmonic_drive(fixed: Any, ratio: float, housing: str) -> None:
    generator = body_wheel(axial=1e-4, position=(0, 0, 0.02))
    drive = HarmonicRecord("drive", housing, "joint_1", fixed, 100, 102, generator)
    model = build_model(PLANAR, DrivetrainRecord(harmonic=(drive,)))
    sign = 1 if housing == "base" else -1
    np.testing.assert_array_equal(model.Gamma, [[sign * ratio, 0]])
    wheel = model.records.drivetrain.wheels[0]
    assert (wheel.name, wheel.carrier, wheel.axis) == ("drive.wave_generator", housing, Z)
    assert wheel.position == (0, 0, 0.02)


def test_two_links_about_a_wheel_make_a_cycloidal_drive() -> None:
    """A disc of 40 lobes on an eccentric, in 41 pins of the base."""
    mesh = MeshRecord(("link_1", "base"), "eccentric", (40, 41), "internal")
    assert gamma(PLANAR, [pinion("eccentric", "base")], [mesh])[0, 0] == -40


def test_spline_slides_and_transmits() -> None:
    """A nut on a spline: the sliding joint along the axis takes nothing from the turn."""
    robot = serial_robot(("prismatic", Z, (0, 0, 0)), ("revolute", Z, (0, 0, 0)))
    mesh = MeshRecord(("motor", "link_2"), "link_1", (20, 40), "internal")
    np.testing.assert_array_equal(gamma(robot, [pinion("motor", "base")], [mesh]), [[0, 2]])


def test_mimic_joints_lead_to_their_coordinate() -> None:
    first, second = PLANAR.joints
    robot = replace(PLANAR, joints=(first, replace(second, mimic=MimicRecord("joint_1", -0.5))))
    mesh = MeshRecord(("motor", "link_2"), "link_1", (20, 50), "internal")
    np.testing.assert_array_equal(gamma(robot, [pinion("motor", "base")], [mesh]), [[1 - 1.25]])


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_frozen_joints_keep_the_train(angle: float) -> None:
    mesh = MeshRecord(("motor", "link_2"), "link_1", (20, 50), "internal")
    train = DrivetrainRecord(wheels=(pinion("motor", "base"),), meshes=(mesh,))

    def held(name: str) -> GearedModel:
        robot = freeze(PLANAR, lock={name: angle})
        return build_model(robot, train, frozen=frozenset({name}))

    np.testing.assert_array_equal(held("joint_1").Gamma, [[2.5]])
    np.testing.assert_array_equal(held("joint_2").Gamma, [[1]])


def test_spins_that_the_file_states_stay_as_they_are() -> None:
    spin = SpinRecord("first", (("joint_1", 0.1), ("joint_2", 1 / 3)), place="spins[0]")
    mesh = MeshRecord(("second", "first"), "base", (30, 10), "internal")
    wheels = (pinion("first", "base"), pinion("second", "base", 0.1))
    resolved = resolve(PLANAR, DrivetrainRecord(wheels=wheels, spins=(spin,), meshes=(mesh,)))
    assert resolved.spins[0] is spin
    third = float(Fraction("0.1") / 3), float(Fraction(repr(1 / 3)) / 3)
    assert resolved.spins[1].coefficients == (("joint_1", third[0]), ("joint_2", third[1]))


def test_wheels_of_the_urdf_come_last() -> None:
    drive = HarmonicRecord("drive", "base", "joint_1", "flexspline", 100, 102, body_wheel())
    foreign = replace(pinion("armature", "base"), urdf_origin="<transmission>")
    train = DrivetrainRecord(
        wheels=(pinion("own", "base"), foreign),
        spins=tuple(SpinRecord(name, (("joint_2", 5.0),)) for name in ("own", "armature")),
        harmonic=(drive,),
    )
    assert build_model(PLANAR, train).wheel_names == ("own", "drive.wave_generator", "armature")


def test_without_trains_the_record_is_returned() -> None:
    wheel, spin = pinion("rotor", "base"), SpinRecord("rotor", (("joint_1", 5.0),))
    train = DrivetrainRecord(wheels=(wheel,), spins=(spin,))
    assert resolve(PLANAR, train) is train


@pytest.mark.parametrize(("share", "fits"), [(0.5, True), (2.0, False)])
def test_tolerances_of_the_geometry(share: float, fits: bool) -> None:
    """Axes may be as much askew, and lines as far apart, as files print them."""
    mesh = MeshRecord(("motor", "link_2"), "link_1", (20, 50), "internal")
    askew = np.array([np.sin(share * PARALLEL), 0.0, np.cos(share * PARALLEL)])
    beside = pinion("motor", "base", share * COLLINEAR)
    for motor in (pinion("motor", "base", axis=vec(askew)), beside):
        if fits:
            np.testing.assert_array_equal(gamma(PLANAR, [motor], [mesh]), [[1, 2.5]])
        else:
            with pytest.raises(ModelError, match="apart"):
                gamma(PLANAR, [motor], [mesh])
