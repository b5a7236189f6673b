"""A motor whose housing is a spinning wheel is refused: A would hold another spin."""

from __future__ import annotations

import pytest

import geared_dynamics as gd

URDF = (
    '<robot name="arm"><link name="base"/><link name="l1"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j1" type="continuous">'
    '<parent link="base"/><child link="l1"/><axis xyz="0 0 1"/></joint></robot>'
)
WHEEL = {"axis": [0, 0, 1], "mass": 0.1, "inertia": {"axial": 1e-4}}
DRIVES = {
    "version": 1,
    "wheels": {"car": {**WHEEL, "carrier": "base"}, "rotor": {**WHEEL, "carrier": "car"}},
    "spins": [
        {"wheel": "car", "joint": "j1", "ratio": 2},
        {"wheel": "rotor", "joint": "j1", "ratio": 30},
    ],
}


def test_motor_on_a_carried_wheel_is_refused() -> None:
    motors = {"m": {"wheel": "rotor"}}
    with pytest.raises(gd.GearedDynamicsError, match=r"motors\.m\.wheel: turns 'rotor'.*'car'"):
        gd.load_model(URDF, {**DRIVES, "motors": motors})


def test_motor_on_the_carrying_wheel_is_taken() -> None:
    model = gd.load_model(URDF, {**DRIVES, "motors": {"m": {"wheel": "car"}}})
    assert model.structure_matrix.tolist() == [[2.0]]
    assert model.Gamma.tolist() == [[2.0], [32.0]]
