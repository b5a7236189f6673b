"""Robots whose graphs are known."""

from __future__ import annotations

import pytest

from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    MeshRecord,
    MotorRecord,
    WheelRecord,
)
from geared_dynamics.description.geometry import Matrix3, Vector3
from geared_dynamics.description.robot_records import JointRecord, LinkRecord, RobotRecord

Z: Vector3 = (0.0, 0.0, 1.0)
ABOUT_X: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # a quarter turn
ABOUT_Y: Matrix3 = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
SHOULDER: Vector3 = (0.0, 0.0, 0.3)

Mechanism = tuple[RobotRecord, DrivetrainRecord]


def wheel(name: str, carrier: str, axis: Vector3, position: Vector3) -> WheelRecord:
    """A wheel of no particular size."""
    return WheelRecord(name, carrier, axis, position, 0.1, 1e-4, 1e-4)


def mesh(one: str, other: str, arm: str, sizes: tuple[float, float]) -> MeshRecord:
    """A gear pair."""
    return MeshRecord((one, other), arm, sizes, sign=1)


def mechanism(carrier_5: str = "0", carrier_6: str = "1") -> Mechanism:
    """The 3-dof mechanism of Chen 1998, fig. 1: links 0 to 3, wheels 4 to 7.

    Wheels 5 and 6 are coaxial with joints 1 and 2; either of the joint's links may
    carry them.
    """
    along = {"1": ((0.0, -1.0, 0.0), SHOULDER), "2": (Z, (0.0, 0.0, 0.0))}
    robot = RobotRecord(
        "chen_wang_1998",
        "<records>",
        tuple(LinkRecord(name) for name in "0123"),
        (
            JointRecord("theta_1", "revolute", "0", "1", axis=Z),
            JointRecord("theta_2", "revolute", "1", "2", ABOUT_X, SHOULDER, Z),
            JointRecord("theta_3", "revolute", "2", "3", ABOUT_Y, (0.4, 0.0, 0.0), Z),
        ),
    )
    drives = DrivetrainRecord(
        source="<records>",
        wheels=(
            wheel("4", "0", Z, (0.1, 0.0, 0.0)),
            wheel("5", carrier_5, Z, (0.0, 0.0, 0.1)),
            wheel("6", carrier_6, *along[carrier_6]),
            wheel("7", "2", (1.0, 0.0, 0.0), (0.2, 0.0, 0.0)),
        ),
        meshes=(
            mesh("4", "1", "0", (20, 60)),
            mesh("5", "2", "1", (30, 45)),
            mesh("7", "6", "2", (25, 50)),
            mesh("3", "7", "2", (40, 20)),
        ),
        motors=tuple(MotorRecord(f"motor_{name}", name) for name in "456"),
    )
    return robot, drives


@pytest.fixture
def chen_wang_1998() -> Mechanism:
    """The mechanism with its wheels where the paper's fig. 2 (b) has them."""
    return mechanism()


@pytest.fixture
def rearranged() -> Mechanism:
    """The same with wheels 5 and 6 carried by the further of their coaxial links."""
    return mechanism("1", "2")
