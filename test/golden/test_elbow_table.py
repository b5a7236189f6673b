"""The elbow of Sciavicco 1994, section 7, from its Denavit-Hartenberg table: one frame per row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description.robot_records import LinkRecord
from geared_dynamics.model.model import GearedModel

LENGTHS = (0.0, 0.45, 0.4)
TWISTS = (np.pi / 2, 0.0, 0.0)
RATIOS = (120, 100, 80)
ROUNDING = 1e-12  # relative
STATES = np.random.default_rng(12).uniform(-3, 3, (3, 5, 3))


@pytest.fixture(scope="module")
def arm(published: Callable[[str], GearedModel]) -> GearedModel:
    """The published robot, whose frames are parallel to the paper's D-H frames."""
    return published("elbow")


def rows(arm: GearedModel, *, modified: bool) -> list[dict[str, Any]]:
    """The table; the URDF's frame i is D-H frame i moved back by a_i along x."""
    table = []
    for i, link in enumerate(links(arm)):
        body = link.inertia
        assert body is not None
        turn, shift = frame_of_row(i, modified=modified)
        table.append(
            {
                "a": (0.0, *LENGTHS)[i] if modified else LENGTHS[i],
                "alpha": (0.0, *TWISTS)[i] if modified else TWISTS[i],
                "mass": body.mass,
                "com": turn @ body.com + shift,
                "tensor": symmetric(turn @ np.array(body.tensor) @ turn.T),
            }
        )
    return table


def symmetric(tensor: np.ndarray) -> np.ndarray:
    """Without rounding."""
    return np.asarray((tensor + tensor.T) / 2)


def links(arm: GearedModel) -> list[LinkRecord]:
    """The three that move."""
    return [
        link for link in arm.records.robot.links if link.name in ("link_1", "link_2", "link_3")
    ]


def frame_of_row(i: int, *, modified: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and shift from the URDF's frame of link i + 1 to the row's D-H frame."""
    if not modified:
        return np.eye(3), np.array([-LENGTHS[i], 0.0, 0.0])
    c, s = np.cos(TWISTS[i]), np.sin(TWISTS[i])  # modified frame i: before Rx(alpha_i)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), np.zeros(3)


def drives(arm: GearedModel, *, modified: bool) -> dict[str, Any]:
    """The paper's rotors, each in the D-H frame of the link that carries it."""
    wheels, spins = {}, []
    for i, wheel in enumerate(arm.records.drivetrain.wheels):
        turn, shift = (
            (np.eye(3), np.zeros(3)) if i == 0 else frame_of_row(i - 1, modified=modified)
        )
        wheels[wheel.name] = {
            "carrier": f"link_{i}" if i else "base",
            "axis": (turn @ wheel.axis).tolist(),
            "position": (turn @ wheel.position + shift).tolist(),
            "mass": wheel.mass,
            "inertia": {"axial": wheel.axial, "transverse": wheel.transverse},
        }
        spins.append({"wheel": wheel.name, "joint": f"joint_{i + 1}", "ratio": RATIOS[i]})
    return {"version": 1, "wheels": wheels, "spins": spins}


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_table_makes_the_published_arm(arm: GearedModel, convention: Any) -> None:
    modified = convention == "modified"
    model = gd.from_dh(
        rows(arm, modified=modified),
        drives(arm, modified=modified),
        convention=convention,
        carrier_frame="dh",
    )
    expected = gd.inverse_dynamics(arm, *STATES)
    found = gd.inverse_dynamics(model, *STATES)
    assert np.abs(found - expected).max() < ROUNDING * np.abs(expected).max()


def test_the_rotor_of_joint_two_couples_with_joint_one(arm: GearedModel) -> None:
    """Eq. (51): b12 holds k_r2 I_m2 = 100 * 1.2e-4; in the joint's frame nothing is left of it."""
    table, given = rows(arm, modified=False), drives(arm, modified=False)
    alone = {
        **given,
        "wheels": {"rotor_2": given["wheels"]["rotor_2"]},
        "spins": [given["spins"][1]],
    }
    q = np.zeros(3)
    shares = []
    for frame in ("dh", "joint"):
        model = gd.from_dh(table, alone, carrier_frame=frame)
        spinning = gd.mass_matrix(model, q) - gd.mass_matrix(model.with_coupling("none"), q)
        shares.append(spinning[0, 1])
    np.testing.assert_allclose(shares, [0.012, 0.0], atol=1e-12)


def test_named_frames_and_the_keyword_agree(arm: GearedModel) -> None:
    table, given = rows(arm, modified=False), drives(arm, modified=False)
    named = {
        name: {**wheel, "carrier": wheel["carrier"].replace("link_1", "link_1_dh")}
        for name, wheel in given["wheels"].items()
    }
    named["rotor_3"]["carrier"] = "link_2_dh"
    model = gd.from_dh(table, {**given, "wheels": named})
    other = gd.from_dh(table, given, carrier_frame="dh")
    np.testing.assert_array_equal(
        gd.inverse_dynamics(model, *STATES), gd.inverse_dynamics(other, *STATES)
    )
