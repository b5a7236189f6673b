"""Motors, friction laws and balancers: what each key becomes, and the defaults."""

from __future__ import annotations

from typing import Any

import pytest

import geared_dynamics as gd
from geared_dynamics.description import read_drivetrain, read_robot
from geared_dynamics.description.drive_records import (
    FrictionRecord,
    LineElementRecord,
    MotorLimitRecord,
    MotorRecord,
    RippleRecord,
    ThermalRecord,
    TorsionSpringRecord,
)
from geared_dynamics.model.drive_sources import one_drivetrain

WHEEL = {"carrier": "base", "axis": [0, 0, 1], "mass": 1, "inertia": {"axial": 1e-4}}
SPIN = {"wheel": "w", "joint": "joint_1", "ratio": 10}
FULL_FRICTION = {
    "viscous": 1e-5,
    "coulomb": [0.01, 0.012],
    "stribeck": {"static": [0.02, 0.03], "speed": 5},
    "load": 0.1,
    "offset": -0.001,
    "ripple": [{"order": 7, "amplitude": 0.003, "phase": 0.2}, {"order": 1, "amplitude": 1}],
    "smoothing": 0.5,
}
FULL_RECORD = FrictionRecord(
    viscous=1e-5,
    coulomb=0.01,
    coulomb_negative=0.012,
    static=0.02,
    static_negative=0.03,
    stribeck_speed=5.0,
    load=0.1,
    offset=-0.001,
    ripple=(RippleRecord(7.0, 0.003, 0.2), RippleRecord(1.0, 1.0, 0.0)),
    smoothing=0.5,
)


def drives(**sections: Any) -> dict[str, Any]:
    """A drivetrain of one wheel, with more sections."""
    return {"version": 1, "wheels": {"w": WHEEL}, "spins": [SPIN], **sections}


def motor(**keys: Any) -> MotorRecord:
    """The record of one motor's entry."""
    return read_drivetrain(drives(motors={"m": {"wheel": "w", **keys}})).motors[0]


def test_a_motor_with_every_key() -> None:
    found = motor(
        kind="brushless",
        resistance=0.8,
        inductance=1e-3,
        torque_constant=0.06,
        back_emf_constant=0.041,
        pole_pairs=4,
        friction=FULL_FRICTION,
        efficiency={"driving": 0.85, "backdriving": -0.1},
        limits={
            "voltage": 48,
            "current": 15,
            "torque": 0.9,
            "speed": 500,
            "envelope": [[0, 0.9], [300, 0.9], [500, 0]],
            "thermal": {"continuous_current": 5, "time_constant": 30},
        },
    )
    assert found == MotorRecord(
        name="m",
        wheel="w",
        kind="brushless",
        resistance=0.8,
        inductance=1e-3,
        torque_constant=0.06,
        back_emf_constant=0.041,
        pole_pairs=4,
        friction=FULL_RECORD,
        driving=0.85,
        backdriving=-0.1,
        limits=MotorLimitRecord(
            48.0,
            15.0,
            0.9,
            500.0,
            ((0.0, 0.9), (300.0, 0.9), (500.0, 0.0)),
            ThermalRecord(5.0, 30.0),
        ),
    )
    assert all(type(x) is float for point in found.limits.envelope for x in point)


def test_a_motor_of_a_wheel_alone_is_ideal_and_says_no_more() -> None:
    assert motor() == MotorRecord("m", "w")


@pytest.mark.parametrize(("kind", "share"), [("dc", 1.0), ("brushless", 2 / 3)])
def test_the_back_emf_constant_defaults_to_that_of_a_consistent_motor(
    kind: str, share: float
) -> None:
    found = motor(kind=kind, torque_constant=0.06)
    assert found.back_emf_constant == pytest.approx(0.06 * share, rel=1e-15)


@pytest.mark.parametrize(
    ("given", "driving", "backdriving"),
    [
        ({"driving": 0.8}, 0.8, 0.75),
        ({"driving": 0.4}, 0.4, -0.5),  # such a gear locks itself
        ({"backdriving": 0.75}, 0.8, 0.75),
        ({"backdriving": -0.5}, 0.4, -0.5),
        ({"driving": 1}, 1.0, 1.0),
        ({"driving": 0.9, "backdriving": 0.2}, 0.9, 0.2),
    ],
)
def test_one_efficiency_implies_the_other(given, driving, backdriving) -> None:
    """The same share of the transmitted torque is lost both ways: 1/d - 1 = 1 - b."""
    found = motor(efficiency=given)
    assert (found.driving, found.backdriving) == pytest.approx((driving, backdriving), rel=1e-15)


def test_a_joint_takes_the_same_law() -> None:
    joint = read_drivetrain(drives(joints={"joint_1": {"friction": FULL_FRICTION}})).joints[0]
    assert joint.friction == FULL_RECORD


def test_one_number_holds_for_both_directions() -> None:
    law = motor(friction={"coulomb": 1, "stribeck": {"static": 2, "speed": 3}}).friction
    assert law == FrictionRecord(coulomb=1.0, static=2.0, stribeck_speed=3.0)


ENDS = [{"link": "link_1", "position": [1, 2, 3]}, {"link": "link_2"}]
ENDS_RECORD = (("link_1", (1.0, 2.0, 3.0)), ("link_2", (0.0, 0.0, 0.0)))
GAS = {"area": 1e-3, "pressure": 2e6, "volume": 1e-3, "length": 0.3}
BALANCERS = {
    "gas": (
        {"gas": {**GAS, "exponent": 1.3, "action": "push"}, "anchors": ENDS},
        LineElementRecord(
            "b",
            "gas",
            ENDS_RECORD,
            length=0.3,
            area=1e-3,
            pressure=2e6,
            volume=1e-3,
            exponent=1.3,
            pull=False,
        ),
    ),
    "gas by default": (
        {"gas": GAS, "anchors": ENDS},
        LineElementRecord(
            "b", "gas", ENDS_RECORD, length=0.3, area=1e-3, pressure=2e6, volume=1e-3
        ),
    ),
    "coil": (
        {"coil": {"stiffness": 5, "length": 0.2, "preload": -3}, "anchors": ENDS},
        LineElementRecord("b", "coil", ENDS_RECORD, length=0.2, stiffness=5.0, preload=-3.0),
    ),
    "constant": (
        {"constant": {"force": -40}, "anchors": ENDS},
        LineElementRecord("b", "constant", ENDS_RECORD, preload=-40.0),
    ),
    "torsion": (
        {"torsion": {"stiffness": 5, "rest": 0.1, "preload": 2}, "joint": "joint_2"},
        TorsionSpringRecord("b", "joint_2", 5.0, 0.1, 2.0),
    ),
    "torsion by default": (
        {"torsion": {"stiffness": 5}, "joint": "joint_2"},
        TorsionSpringRecord("b", "joint_2", 5.0),
    ),
}


@pytest.mark.parametrize(("entry", "record"), BALANCERS.values(), ids=BALANCERS)
def test_balancers(entry, record) -> None:
    assert read_drivetrain({"version": 1, "balancers": {"b": entry}}).balancers == (record,)


TRANSMISSION = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
  <joint name="joint_3"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
  <actuator name="a"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>"""


def test_motors_friction_and_balancers_outlive_the_merge_with_a_urdf(arm) -> None:
    text = drives(
        motors={"m": {"wheel": "w", "friction": FULL_FRICTION}, "a": {"wheel": "a"}},
        joints={"joint_3": {"friction": FULL_FRICTION}},
        balancers={"b": BALANCERS["coil"][0], "t": BALANCERS["torsion"][0]},
    )
    robot, found = read_robot(arm(TRANSMISSION))
    assert found.drivetrain.wheels
    file = read_drivetrain(text, alone=False)
    record, _ = one_drivetrain(robot, robot, file, found.drivetrain, frozenset())
    assert [motor.friction for motor in record.motors] == [FULL_RECORD, FrictionRecord()]
    assert record.joints[0].friction == FULL_RECORD
    assert [balancer.name for balancer in record.balancers] == ["b", "t"]


def test_gear_trains_keep_motors_and_balancers(arm) -> None:
    data = {
        "version": 1,
        "harmonic": {
            "h": {
                "joint": "joint_1",
                "housing": "base",
                "fixed": "circular_spline",
                "teeth": {"flexspline": 200, "circular_spline": 202},
                "wave_generator": {"mass": 0.1, "inertia": {"axial": 1e-5}},
            }
        },
        "motors": {"m": {"wheel": "h.wave_generator", "efficiency": {"driving": 0.7}}},
        "balancers": {"b": BALANCERS["coil"][0]},
    }
    model = gd.load_model(arm(), data)
    assert model.motors.efficiency[0, 0] == 0.7
    assert model.balancers.names == ("b",)


def test_a_frozen_joint_has_no_friction_and_no_spring(arm) -> None:
    data = drives(
        joints={
            "joint_2": {"friction": {"viscous": 2}},
            "joint_1": {"friction": {"viscous": 1}},
        },
        balancers={
            "still": BALANCERS["torsion"][0],
            "stiff": BALANCERS["coil"][0],
            "acts": {**BALANCERS["coil"][0], "anchors": [{"link": "base"}, ENDS[0]]},
        },
    )
    urdf = arm(more={2: '<dynamics damping="9" friction="9"/>'})
    free = gd.load_model(urdf, data)
    assert free.joint_friction.viscous.tolist() == [1.0, 2.0]
    assert free.balancers.names == ("stiff", "acts", "still")
    held = gd.load_model(urdf, data, lock={"joint_2": 0.4})
    assert held.joint_names == ("joint_1", "joint_3")
    assert held.joint_friction.viscous.tolist() == [1.0]
    assert held.joint_friction.index.tolist() == [0]
    assert held.balancers.names == ("acts",)


def test_the_files_friction_replaces_the_urdfs(arm) -> None:
    urdf = arm(more={1: '<dynamics damping="9" friction="8"/>'})
    assert gd.load_model(urdf).joint_friction.viscous.tolist() == [9.0]
    model = gd.load_model(urdf, drives(joints={"joint_1": {"friction": {"load": 0.1}}}))
    assert model.joint_friction.viscous.tolist() == [0.0]
    assert model.joint_friction.coulomb.tolist() == [[0.0, 0.0]]
    assert model.joint_friction.load.tolist() == [0.1]
