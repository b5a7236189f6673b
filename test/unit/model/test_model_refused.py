"""What only records or code can say: payloads, leaders and carriers that there cannot be."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from geared_dynamics.description.drivetrain_reader import read_drivetrain
from geared_dynamics.description.robot_records import (
    JointRecord,
    LinkRecord,
    MimicRecord,
    RobotRecord,
)
from geared_dynamics.description.urdf_reader import read_urdf
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.load import load_model
from geared_dynamics.model import build_model
from geared_dynamics.model.facts import Follow, following
from geared_dynamics.model.inertia import payload_parameters
from shafts import URDF

SOLID = np.diag([0.01, 0.01, 0.01])
SQUARE = np.zeros((3, 3))
PAYLOADS = {
    "text": ("heavy", (0, 0, 0), SOLID, "not real numbers of the right shape"),
    "two numbers": (1.0, (0, 0), SOLID, "not real numbers of the right shape"),
    "a list of moments": (1.0, (0, 0, 0), np.ones(3), "not real numbers of the right shape"),
    "NaN": (np.nan, (0, 0, 0), SOLID, "NaN or infinity"),
    "infinite centre": (1.0, (0, np.inf, 0), SOLID, "NaN or infinity"),
    "infinite moments": (1.0, (0, 0, 0), np.full((3, 3), np.inf), "NaN or infinity"),
    "grams of a planet": (1.1e30, (0, 0, 0), SQUARE, "too large"),
    "light-years": (1.0, (0, 0, -1.1e30), SQUARE, "too large"),
    "absurd moments": (1.0, (0, 0, 0), 1.1e30 * np.eye(3), "too large"),
    "negative": (
        -1e-9,
        (0, 0, 0),
        SQUARE,
        "mass: is -1e-09 kg; give a mass of zero or more; to remove a payload",
    ),
    "one product": (1.0, (0, 0, 0), SOLID + np.eye(3, k=1) * 1e-6, "inertia: is not symmetric"),
    "a rod's third": (1.0, (0, 0, 0), np.diag([1.0, 0.4, 0.5]), "about the centre of mass"),
}


@pytest.mark.parametrize("case", PAYLOADS)
def test_a_payload_that_is_none(case: str) -> None:
    mass, com, inertia, words = PAYLOADS[case]
    with pytest.raises(GearedDynamicsError, match=words):
        payload_parameters(mass, com, inertia)  # type: ignore[arg-type]


def test_a_payload_at_the_border_of_what_there_can_be() -> None:
    """Nothing at all, a rod, and products that differ by rounding only."""
    assert not payload_parameters(0.0, (0, 0, 0), SQUARE).any()
    payload_parameters(1.0, (0, 0, 0), np.diag([1.0, 1.0, 0.0]))
    uneven = SOLID + np.eye(3, k=1) * 1e-12
    found = payload_parameters(1.0, (0.1, 0, 0), uneven)
    np.testing.assert_allclose(found[5], 0.5e-12, rtol=1e-3)


def test_a_leader_that_does_not_move() -> None:
    """Files with one are refused earlier; freezing makes followers fixed as well."""
    links = tuple(LinkRecord(name) for name in "abc")
    joints = (
        JointRecord("glue", "fixed", "a", "b"),
        JointRecord("turn", "revolute", "b", "c", axis=(0, 0, 1), mimic=MimicRecord("glue")),
    )
    robot = RobotRecord("r", "<records>", links, joints)
    with pytest.raises(GearedDynamicsError, match=r"'turn'/mimic: follows 'glue', which does not"):
        following(robot)
    moving = replace(joints[0], kind="revolute", axis=(0, 0, 1))
    found = following(replace(robot, joints=(moving, joints[1])))
    assert found["turn"] == Follow(0, 1.0, 0.0)


def test_followers_of_followers_multiply() -> None:
    """q_c = 2 (3 q_a + 0.5) + 1 = 6 q_a + 2."""
    links = tuple(LinkRecord(name) for name in "abcd")
    turns = {"axis": (0.0, 0.0, 1.0)}
    joints = (
        JointRecord("c", "revolute", "c", "d", mimic=MimicRecord("b", 2.0, 1.0), **turns),
        JointRecord("b", "revolute", "b", "c", mimic=MimicRecord("a", 3.0, 0.5), **turns),
        JointRecord("a", "revolute", "a", "b", **turns),
    )
    found = following(RobotRecord("r", "<records>", links, joints))
    assert found["c"] == Follow(0, 6.0, 2.0)
    assert found["b"] == Follow(0, 3.0, 0.5)
    assert found["a"] == Follow(0, 1.0, 0.0)


DRIVES = """version: 1
wheels:
  boat: {{carrier: {}, axis: [1, 0, 0], mass: 1, inertia: {{axial: 1e-3}}}}
planetary:
  set:
    housing: base
    layout: ring_fixed
    input: sun
    output: carrier
    teeth: {{sun: 30, planet: 15, ring: 60}}
    planets: 3
    radius: 0.04
    axis: [1, 0, 0]
    position: [0, 0, 0]
    sun: {{mass: 0.2, inertia: {{axial: 2e-4}}}}
    carrier: {}
    planet: {{mass: 0.1, inertia: {{axial: 1e-5}}}}
"""


@pytest.mark.parametrize(
    ("carries", "carrier"), [("nowhere", "boat"), ("boat", "boat"), ("base", "ship")]
)
def test_a_planet_carrier_that_no_link_carries(carries: str, carrier: str) -> None:
    with pytest.raises(GearedDynamicsError) as caught:
        load_model(URDF, DRIVES.format(carries, carrier))
    assert carrier in str(caught.value)
    assert "planetary.set.carrier" in caught.value.place


def largest(joints: int, size: str = "1e30") -> str:
    """A chain in which every number is as large as one may be, each joint following the first."""
    follow = f'<mimic joint="j0" multiplier="{size}"/>'
    parts = [
        f'<link name="l{k}"><inertial><origin xyz="{size} {size} 0"/><mass value="{size}"/>'
        f'<inertia ixx="{size}" iyy="{size}" izz="{size}"/></inertial></link>'
        f'<joint name="j{k}" type="{"continuous" if k % 2 else "prismatic"}">'
        f'<origin xyz="0 {size} {size}" rpy="1 2 3"/>'
        f'<parent link="{f"l{k - 1}" if k else "base"}"/>'
        f'<child link="l{k}"/><axis xyz="0 1 1"/>{follow if k == joints - 1 else ""}'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for k in range(joints)
    ]
    return f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>'


def test_the_largest_numbers_there_may_be_do_not_overflow() -> None:
    """``load`` relies on it: mass matrices of what it has read are finite."""
    size = 1e30
    robot = read_urdf(largest(30))
    wheel = {"carrier": "base", "axis": [0, 1, 0], "mass": size, "inertia": {"axial": size}}
    spins = [{"wheel": "w", "joint": "j0", "ratio": size}]
    drives = read_drivetrain({"version": 1, "wheels": {"w": wheel}, "spins": spins})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = build_model(robot, drives)
        matrix = mass_matrix(model, np.full(model.n, 0.5))
    assert np.isfinite(matrix).all()
    assert matrix.max() > 1e140
    load_model(largest(30), {"version": 1, "wheels": {"w": wheel}, "spins": spins})
    with pytest.raises(GearedDynamicsError, match="too large a number"):
        load_model(largest(2, "1.1e30"))
