"""Chen and Wang's three-joint geared mechanism, from its gear pairs only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from geared_dynamics.description.denavit_hartenberg import DHRow, robot_from_dh
from geared_dynamics.description.drive_records import DrivetrainRecord, MeshRecord, MotorRecord
from geared_dynamics.description.robot_records import RobotRecord
from geared_dynamics.model import build_model
from geared_dynamics.model.gears import resolve
from random_gears import body_wheel

N4, N1, N5, N2, N6, N7S, N7L, N3 = 20, 63, 25, 70, 30, 41, 36, 55  # teeth
Z = (0.0, 0.0, 1.0)


def robot() -> RobotRecord:
    """Links 0 to 3 with the Denavit-Hartenberg parameters of table 1."""
    rows = [
        DHRow(a=0.0, alpha=np.pi / 2, d=0.5, mass=1.0, tensor=np.eye(3)),
        DHRow(a=0.4, alpha=0.0, d=0.0, mass=1.0, tensor=np.eye(3)),
        DHRow(a=0.0, alpha=np.pi / 2, d=0.0, mass=1.0, tensor=np.eye(3)),
    ]
    return robot_from_dh(rows, convention="standard")


# 4 and 5 are carried by the base, 6 by link 1, 7 by link 2 (section 2); _dh are the frames.
WHEELS = (
    body_wheel("wheel_4", "base", axis=Z, position=(0.1, 0.0, 0.2)),
    body_wheel("wheel_5", "base", axis=Z),
    body_wheel("wheel_6", "link_1_dh", axis=Z),
    body_wheel("wheel_7", "link_2_dh", axis=(1.0, 0.0, 0.0)),
)
# Ratios are positive as printed: the axes are taken to turn alike (eq. 9).
MESHES = (
    MeshRecord(("wheel_4", "link_1"), "base", (N4, N1), sign=1),
    MeshRecord(("wheel_5", "link_2"), "link_1", (N5, N2), sign=1),
    MeshRecord(("wheel_6", "wheel_7"), "link_2", (N6, N7S), sign=1),
    MeshRecord(("wheel_7", "link_3"), "link_2", (N7L, N3), sign=1),
)
TRAIN = DrivetrainRecord(
    "Chen 1998",
    wheels=WHEELS,
    meshes=MESHES,
    motors=tuple(MotorRecord(f"input_{k}", f"wheel_{k}") for k in (4, 5, 6)),
)
g14, g25, g76, g37 = N1 / N4, N2 / N5, N7S / N6, N3 / N7L
B = np.array(
    [
        [g14, 0, 0],  # eq. (27)
        [1, g25, 0],  # eq. (28)
        [0, 1, g76 * g37],  # eq. (29)
        [0, 0, g37],  # eq. (30)
    ]
)


def test_coefficients_and_structure_matrix() -> None:
    model = build_model(robot(), TRAIN)
    # One rounding of an exact rational number, against two of the printed products.
    np.testing.assert_allclose(model.Gamma, B, rtol=4e-16, atol=0)
    np.testing.assert_allclose(model.structure_matrix, B[:3].T, rtol=4e-16, atol=0)  # eq. (45)


def test_order_of_the_meshes_is_irrelevant_to_the_last_digit() -> None:
    model = build_model(robot(), TRAIN)
    other = build_model(robot(), replace(TRAIN, meshes=TRAIN.meshes[::-1]))
    np.testing.assert_array_equal(model.Gamma, other.Gamma)


@pytest.mark.parametrize("k", range(4))
def test_a_tooth_more_fails(k: int) -> None:
    meshes = list(MESHES)
    meshes[k] = replace(meshes[k], sizes=(meshes[k].sizes[0], meshes[k].sizes[1] + 1))
    model = build_model(robot(), replace(TRAIN, meshes=tuple(meshes)))
    assert np.abs(model.Gamma - B).max() > 0.01


def test_flipped_axes_flip_what_they_must() -> None:
    """Signs are literal: about wheel 7's own axis, whichever way it is drawn."""
    flipped = (*WHEELS[:3], replace(WHEELS[3], axis=(-1.0, 0.0, 0.0)))
    model = build_model(robot(), replace(TRAIN, wheels=flipped))
    np.testing.assert_array_equal(model.Gamma, build_model(robot(), TRAIN).Gamma)
    stated = list(MESHES)
    stated[2] = replace(stated[2], axes=((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    model = build_model(robot(), replace(TRAIN, wheels=flipped, meshes=tuple(stated)))
    np.testing.assert_allclose(model.Gamma[2], [0, 1, -g76 * g37], rtol=4e-16)


def test_wheel_five_may_ride_on_link_one_as_well() -> None:
    """Coaxial with joint 1, it only counts its spin from elsewhere (eq. 10)."""
    other = replace(WHEELS[1], carrier="link_1_dh", axis=(0.0, 1.0, 0.0))
    resolved = resolve(robot(), replace(TRAIN, wheels=(WHEELS[0], other, *WHEELS[2:])))
    assert dict(resolved.spins[1].coefficients) == {"joint_2": pytest.approx(g25)}
