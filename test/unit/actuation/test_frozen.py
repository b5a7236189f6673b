"""Motors and friction that move nothing."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm, state

LINK = """<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
ixz="0" iyz="0"/></inertial></link><joint name="j{0}" type="continuous"><parent link="{1}"/>
<child link="l{0}"/><axis xyz="1 0 0"/>{2}</joint>"""
LOSS = {"efficiency": {"driving": 0.9, "backdriving": 0.85}}
ROUGH = {"friction": {"coulomb": 0.01, "load": 0.02}}


def arm(second: dict[str, object], **options: object) -> gd.GearedModel:
    """Two joints about one axis with a motor each, the second with its own loss."""
    urdf = LINK.format(1, "base", "") + LINK.format(2, "l1", "")
    wheel = {"carrier": "base", "axis": [1, 0, 0], "mass": 1, "inertia": {"axial": 1e-3}}
    drives = {
        "version": 1,
        "wheels": {"w1": wheel, "w2": {**wheel, "carrier": "l1"}},
        "spins": [{"wheel": f"w{k}", "joint": f"j{k}", "ratio": 100} for k in (1, 2)],
        "motors": {"m1": {"wheel": "w1", **LOSS}, "m2": {"wheel": "w2", **second}},
    }
    return gd.load_model(f'<robot name="a"><link name="base"/>{urdf}</robot>', drives, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("second", [LOSS, ROUGH, {**LOSS, **ROUGH}], ids=["loss", "rough", "both"])
@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_motor_of_a_frozen_joint(second: dict[str, object], rate: float) -> None:
    """It neither jams nor moves anything: as if it had no loss."""
    model, plain = arm(second, lock={"j2": 0.0}), arm({}, lock={"j2": 0.0})
    assert not model.structure_matrix[:, 1].any()
    state = ([0.2], [rate])
    for torque in ([0.1, 0.0], [0.3, -0.2]):
        for mode in ("smooth", "exact"):
            found = gd.motion_from_torque(model, *state, torque, mode=mode)
            wanted = gd.motion_from_torque(plain, *state, torque, mode=mode)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            assert found.any()
        assert gd.sticking(model, *state, torque).motors == ()


def test_friction_of_a_mimic_that_follows_nothing() -> None:
    """Multiplier 0: the joint stands still and its friction has no say."""
    found = []
    for friction in ("", '<dynamics damping="1" friction="2"/>'):
        mimic = f'<mimic joint="j1" multiplier="0"/>{friction}'
        urdf = LINK.format(1, "base", "") + LINK.format(2, "l1", mimic)
        model = gd.load_model(f'<robot name="a"><link name="base"/>{urdf}</robot>')
        found.append(gd.motion_from_torque(model, [0.2], [0.0], [], external=[3.0], mode="exact"))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
    assert found[0].any()


def test_step_of_an_arm_with_a_frozen_joint() -> None:
    """The exact step, stopping included, has no use for a motor that moves nothing."""
    frozen = driven_arm(3, lock={driven_arm(3).joint_names[0]: 0.2})
    assert (~frozen.structure_matrix.any(axis=0)).any()
    m = len(frozen.motor_names)
    q, v, u = state(frozen, 3)
    begin = gd.State(q, 1e-3 * v, current=np.zeros(m))
    end = gd.driven_step(frozen, begin, np.resize(u, m), 5e-3, mode="exact")
    assert all(np.isfinite(x).all() for x in (end.q, end.v, end.current))
