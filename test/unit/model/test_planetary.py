"""Planetary sets against explicit bodies: Willis's relation and kinetic energy."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import geared_dynamics as gd
from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    MeshRecord,
    PlanetaryRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.geometry import Vector3, rotation_with_z
from geared_dynamics.description.robot_records import JointRecord, LinkRecord, RobotRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel, build_model
from geared_dynamics.model.gears.carried_wheels import refuse_unbalanced
from naive.drives import one_ratio_scaled
from random_gears import MEMBERS, body_wheel, serial_robot, vec

Array = NDArray[np.float64]

# Sums of a few rounded products, relative to the whole energy.
ROUNDING = 1e-12
# What a ratio that is 1 % off must cost in the same measure.
NEGATIVE = 1e-5

SUN, PLANET, RING = TEETH = (24, 18, 60)
RADIUS, PHASE, RATIO = 0.11, 0.4, 3.0
AXIS = np.array([0.36, -0.48, 0.8])  # of joint_2, in link_1
CENTRE = np.array([0.1, 0.2, -0.3])
LAYOUTS = list(permutations(MEMBERS))
Q, V = np.array([0.3, -0.8]), np.array([1.1, -0.7])


def around(radius: float, digits: int, count: int = 3) -> list[WheelRecord]:
    """Equal wheels on a wheel's axis x, equally spaced, their places printed with few digits."""
    angle = 0.3 + 2.0 * np.pi * np.arange(count) / count
    places = np.round(radius * np.stack([0.0 * angle, np.cos(angle), np.sin(angle)], 1), digits)
    made = [body_wheel(f"p{k}", "sun", mass=0.1) for k in range(count)]
    return [
        replace(wheel, axis=(1.0, 0.0, 0.0), position=vec(place))
        for wheel, place in zip(made, places, strict=True)
    ]


def balanced(riders: list[WheelRecord]) -> bool:
    """Whether they may orbit with the sun."""
    sun = replace(body_wheel("sun", "link_1"), axis=(1.0, 0.0, 0.0), position=(0.0, 0.0, 0.0))
    try:
        refuse_unbalanced(riders, sun, "f")
    except ModelError as error:
        return "not balanced" not in str(error)
    return True


@pytest.mark.parametrize("decade", [-2, -1, 0, 1])
@pytest.mark.parametrize("count", [3, 5])
def test_what_is_balanced_depends_on_no_unit(count: int, decade: int) -> None:
    """Places of four digits are, of two are not; nor is another mass, height or number."""
    radius, digits = 4.37 * 10.0**decade, 3 - decade
    riders = around(radius, digits, count)
    assert balanced(riders)
    assert not balanced(around(radius, digits - 2, count))
    assert not balanced(riders[:2])
    for k in range(count):
        others = riders[:k] + riders[k + 1 :]
        x, y, z = riders[k].position
        for share, expected in ((1e-4, True), (1e-2, False)):
            heavier = replace(riders[k], mass=0.1 * (1.0 + share))
            higher = replace(riders[k], position=(x + share * radius, y, z))
            outer = replace(riders[k], position=(x, y * (1.0 + share), z * (1.0 + share)))
            assert [balanced([one, *others]) for one in (heavier, higher, outer)] == [expected] * 3


def arm() -> RobotRecord:
    """Two links; the planetary set sits at the second joint, its axis askew."""
    return serial_robot(
        ("revolute", (0.6, 0.0, 0.8), (0, 0, 0.1)), ("revolute", vec(AXIS), vec(CENTRE))
    )


def gearbox(layout: tuple[Any, Any, Any], n: int, **more: Any) -> PlanetaryRecord:
    """A set at joint_2 of (fixed, input, output) with wheels of different inertia."""
    fixed, put_in, out = layout
    return PlanetaryRecord(
        name="box",
        housing="link_1",
        fixed=fixed,
        input=put_in,
        output=out,
        teeth=TEETH,
        planets=n,
        planet=body_wheel(mass=0.2, axial=7e-4, position=(0, 0, 0.03)),
        radius=RADIUS,
        phase=PHASE,
        **{
            "joint": "joint_2",
            "members": ((put_in, body_wheel(position=(0, 0, 0.05))),),
            **more,
        },
    )


def free_output(layout: tuple[Any, Any, Any], n: int) -> DrivetrainRecord:
    """A set whose output is a wheel that a spin ties to joint_2."""
    members = tuple((member, body_wheel(mass=0.5, axial=3e-3)) for member in layout[1:])
    place = {"joint": None, "axis": vec(AXIS), "position": vec(CENTRE), "members": members}
    spin = SpinRecord(f"box.{layout[2]}", (("joint_2", RATIO),))
    return DrivetrainRecord(spins=(spin,), planetary=(gearbox(layout, n, **place),))


def willis(layout: tuple[Any, Any, Any], output: float) -> tuple[dict[str, float], float]:
    """Rates of sun, ring and carrier relative to the housing, and the planets' (Fernini 2023)."""
    fixed, _, out = (MEMBERS.index(member) for member in layout)
    rows = np.zeros((3, 3))
    rows[0] = SUN, RING, -(SUN + RING)  # (s - c) Zs = -(r - c) Zr
    rows[1, fixed] = rows[2, out] = 1
    rates = np.linalg.solve(rows, [0, 0, output])
    planet = rates[2] - (rates[0] - rates[2]) * SUN / PLANET
    return dict(zip(MEMBERS, rates.tolist(), strict=True)), float(planet)


def energy(
    plain: GearedModel, record: PlanetaryRecord, output: float, carrier_angle: float
) -> float:
    """Kinetic energy of links, member wheels and orbiting planets as bodies of their own."""
    layout = (record.fixed, record.input, record.output)
    rates, planet_rate = willis(layout, output)
    pose, twist = gd.pose(plain, Q, "link_1"), gd.jacobian(plain, Q, "link_1") @ V
    R, omega = pose[:3, :3], twist[3:]
    frame = R @ rotation_with_z(AXIS)
    e = frame[:, 2]

    def body(wheel: Any, at: Array, orbit: float, rate: float) -> float:
        """Energy of a wheel at a place in the set's frame, orbiting and spinning."""
        arm = frame @ at
        velocity = twist[:3] + np.cross(omega, R @ CENTRE + arm) + orbit * np.cross(e, arm)
        turning = omega + rate * e
        across = turning - (turning @ e) * e
        spin = wheel.axial * (turning @ e) ** 2 + wheel.transverse * (across @ across)
        return float(wheel.mass * (velocity @ velocity) + spin) / 2

    total = float(gd.kinetic_energy(plain, Q, V))
    for member, wheel in record.members:
        assert not isinstance(wheel, str)
        total += body(wheel, np.array(wheel.position), 0.0, rates[member])
    for k in range(record.planets):
        angle = record.phase + carrier_angle + 2 * np.pi * k / record.planets
        at = [RADIUS * np.cos(angle), RADIUS * np.sin(angle), record.planet.position[2]]
        total += body(record.planet, np.array(at), rates["carrier"], planet_rate)
    return total


# One or two planets on a spinning carrier are refused.
CASES = [(x, n) for x in LAYOUTS for n in (1, 2, 3, 4) if n > 2 or x[1] != "carrier"]


@pytest.mark.parametrize(("layout", "n"), CASES)
def test_energy_with_the_output_on_the_joint(layout: tuple[Any, Any, Any], n: int) -> None:
    record = gearbox(layout, n)
    model = build_model(arm(), DrivetrainRecord(planetary=(record,)))
    angle = {"fixed": 0.0, "input": 0.7, "output": Q[1]}[
        ("fixed", "input", "output")[layout.index("carrier")]
    ]
    expected = energy(build_model(arm()), record, V[1], float(angle))
    assert gd.kinetic_energy(model, Q, V) == pytest.approx(expected, rel=ROUNDING)
    wrong = gd.kinetic_energy(one_ratio_scaled(model, 1.01), Q, V)
    assert abs(wrong - expected) > NEGATIVE * expected


@pytest.mark.parametrize("layout", LAYOUTS, ids="-".join)
@pytest.mark.parametrize("angle", [0.0, 1.3])
def test_energy_with_the_output_on_a_wheel(layout: tuple[Any, Any, Any], angle: float) -> None:
    train = free_output(layout, 3)
    model = build_model(arm(), train)
    expected = energy(
        build_model(arm()), train.planetary[0], RATIO * V[1], angle * (layout[0] != "carrier")
    )
    assert gd.kinetic_energy(model, Q, V) == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize("layout", LAYOUTS, ids="-".join)
def test_spins_are_willis(layout: tuple[Any, Any, Any]) -> None:
    model = build_model(arm(), DrivetrainRecord(planetary=(gearbox(layout, 3),)))
    rates, planet = willis(layout, 1.0)
    driven = 1.0 if layout[2] == "carrier" else 0.0  # planets on the driven link
    expected = [[0, rates[layout[1]]], *[[0, planet - driven]] * 3]
    np.testing.assert_allclose(model.Gamma, expected, rtol=1e-14)


def test_fernini_2023_with_physical_signs() -> None:
    """Fixed carrier: sun -Zr/Zs = -2, planets +Zr/Zp = +4 (eq. 9 and 10, errata)."""
    record = replace(gearbox(("carrier", "sun", "ring"), 6), teeth=(20, 10, 40))
    model = build_model(arm(), DrivetrainRecord(planetary=(record,)))
    assert model.wheel_names == ("box.sun", *(f"box.planet_{k}" for k in range(1, 7)))
    np.testing.assert_array_equal(model.Gamma[:, 1], [-2, 4, 4, 4, 4, 4, 4])


def test_stacked_stages() -> None:
    """Ring fixed in both, the first one's carrier is the second one's sun."""
    layout = ("ring", "sun", "carrier")
    place = {"joint": None, "axis": vec(AXIS), "position": vec(CENTRE)}
    first = gearbox(layout, 3, **place, members=(("sun", body_wheel()), ("carrier", body_wheel())))
    second = replace(gearbox(layout, 3), name="last", members=(("sun", "box.carrier"),))
    for sets in ((first, second), (second, first)):
        model = build_model(arm(), DrivetrainRecord(planetary=sets))
        row = model.wheel_names.index("box.sun")
        assert model.Gamma[row, 1] == (1 + RING / SUN) ** 2


def test_gearbox_mounted_beyond_its_joint() -> None:
    """Housing and motor on the driven link: everything turns the other way round."""
    layout = ("ring", "sun", "carrier")
    inverted = replace(gearbox(layout, 3), housing="link_2")
    model = build_model(arm(), DrivetrainRecord(planetary=(inverted,)))
    assert model.Gamma[0, 1] == -(1 + RING / SUN)
    carriers = {wheel.name: wheel.carrier for wheel in model.records.drivetrain.wheels}
    assert carriers["box.sun"] == "link_2"
    assert carriers["box.planet_1"] == "link_1"


def test_stepped_planets_from_explicit_wheels() -> None:
    """A compound set, ring fixed: sun/carrier = 1 + Zp1 Zr / (Zs Zp2), planets' mass orbiting."""
    at = [vec([0.1 * np.cos(a), 0.1 * np.sin(a), 0.0]) for a in 2 * np.pi * np.arange(3) / 3]
    robot = serial_robot(("revolute", (0, 0, 1), (0, 0, 0)))
    planets = [body_wheel(f"planet_{k}", "cage", position=at[k], mass=0.2) for k in range(3)]
    sun, planet_1, planet_2, ring = 21, 30, 17, 68
    meshes = [
        MeshRecord(("sun", f"planet_{k}"), "cage", (sun, planet_1), "external") for k in range(3)
    ]
    meshes.append(MeshRecord(("planet_0", "base"), "cage", (planet_2, ring), "internal"))
    train = DrivetrainRecord(
        wheels=(body_wheel("sun", "base"), body_wheel("cage", "base"), *planets),
        meshes=tuple(meshes),
        spins=(SpinRecord("cage", (("joint_1", 5.0),)),),
    )
    model = build_model(robot, train)
    assert model.Gamma[0, 0] == pytest.approx(5 * (1 + planet_1 * ring / (sun * planet_2)))
    assert model.Gamma[2, 0] == pytest.approx(5 * (1 - ring / planet_2))
    assert model.J[1] == pytest.approx(2e-3 + 3 * 0.2 * 0.1**2)
    assert model.records.drivetrain.wheels[1].mass == pytest.approx(0.3 + 3 * 0.2)


def test_planets_without_mass_may_be_one() -> None:
    planet = body_wheel(mass=0.0, axial=1e-4)
    record = replace(gearbox(("ring", "carrier", "sun"), 1), planet=planet, radius=0.0)
    model = build_model(arm(), DrivetrainRecord(planetary=(record,)))
    assert model.wheel_names == ("box.carrier", "box.planet_1")


def test_expanded_meshes_are_kept_for_pictures() -> None:
    layout: tuple[Any, Any, Any] = ("ring", "carrier", "sun")
    train = DrivetrainRecord(planetary=(gearbox(layout, 3),))
    resolved = build_model(arm(), train).records.drivetrain
    assert len(resolved.meshes) == 2 * 3
    assert resolved.planetary == train.planetary
    assert dict(resolved.riders) == {  # type: ignore[attr-defined]
        f"box.planet_{k}": "box.carrier" for k in (1, 2, 3)
    }


def test_phase_counts_from_x_for_an_axis_along_z() -> None:
    robot = serial_robot(("revolute", (0, 0, 1), (0, 0, 0)))
    record = replace(gearbox(("carrier", "sun", "ring"), 1), housing="base", joint="joint_1")
    place: Vector3 = (
        build_model(robot, DrivetrainRecord(planetary=(record,)))
        .records.drivetrain.wheels[1]
        .position
    )
    assert place == pytest.approx((RADIUS * np.cos(PHASE), RADIUS * np.sin(PHASE), 0.03))


@pytest.mark.parametrize("housing", ["link_1", "link_2", "casing"])
def test_axis_and_place_where_the_joint_itself_is_turned(housing: str) -> None:
    """Every joint's origin has a rotation: axis and centre in the housing, one fixed to link_1."""
    first, second = (rotation_with_z(np.array(z)) for z in ((0.0, 0.6, 0.8), (0.48, -0.6, 0.64)))
    robot = arm()
    joints = [
        replace(joint, rotation=vec(turn))
        for joint, turn in zip(robot.joints, (first, second), strict=True)
    ]
    aside = np.array([0.2, -0.1, 0.05])
    fixed = {
        "parent": "link_1",
        "child": "casing",
        "position": vec(aside),
        "axis": vec((1, 0, 0)),
    }
    joints.append(JointRecord(name="bolts", kind="fixed", rotation=vec(second.T), **fixed))
    links = (*robot.links, LinkRecord("casing"))
    # In the root frame at q = 0: how the links are turned, and where they are.
    poses = {"link_1": (first, np.array([0, 0, 0.1]))}
    poses["link_2"] = (first @ second, poses["link_1"][1] + first @ CENTRE)
    poses["casing"] = (first @ second.T, poses["link_1"][1] + first @ aside)
    axis = first @ second @ AXIS
    turn, origin = poses[housing]
    record = replace(gearbox(("ring", "sun", "carrier"), 3), housing=housing)
    robot = replace(robot, links=links, joints=tuple(joints))
    model = build_model(robot, DrivetrainRecord(planetary=(record,)))
    sun = next(wheel for wheel in model.records.drivetrain.wheels if wheel.name == "box.sun")
    assert sun.carrier == housing
    np.testing.assert_allclose(sun.axis, turn.T @ axis, atol=1e-12)
    centre = poses["link_2"][1] + 0.05 * axis  # the sun lies 5 cm along the axis
    np.testing.assert_allclose(sun.position, turn.T @ (centre - origin), atol=1e-12)
    assert np.abs(turn.T @ axis - AXIS).max() > 0.1 or housing == "link_2"
