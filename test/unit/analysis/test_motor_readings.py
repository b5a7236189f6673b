"""Efforts and positions of motors, of arms with frozen joints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from brisk_run import AT, FILES, JOINTS, RATIOS, brisk_motion, smooth_drive
from geared_dynamics import analysis
from geared_dynamics.analysis import Meaning
from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.motions import joint_positions, joint_torques
from recorded_motions import ROBOTS

EFFORT = np.random.default_rng(3).normal(size=(50, 6))  # of motors 1 to 6, at joints 1 to 6
FROZEN: dict[str, dict[str, Any]] = {
    "joint_1": {"lock": {"joint_1": 0.3}},
    "joint_4": {"lock": {"joint_4": -0.2}},
    "joint_5": {"lock": {"joint_5": 0.4}},
    "joint_6": {"lock": {"joint_6": 0.3}},
    "all but two": {"joints": ["joint_1", "joint_2"]},
    "the shoulder": {"joints": ["joint_4", "joint_5", "joint_6"], "lock": {"joint_2": 1.0}},
}


def kept(model: gd.GearedModel) -> list[int]:
    """Numbers of the joints that still move."""
    return [JOINTS.index(name) for name in model.joint_names]


@pytest.mark.parametrize("frozen", FROZEN)
def test_torques_of_what_still_moves_are_rows_of_the_whole_map(frozen: str) -> None:
    """Virtual work: tau_j is the sum of all motors' torques times their ratios to joint j."""
    model = gd.load_model(*FILES, **FROZEN[frozen])
    meaning = Meaning("motor_torque")
    names = analysis.recorded_joints(model, meaning)
    assert names[: model.n] == model.joint_names
    columns = EFFORT[:, [JOINTS.index(name) for name in names]]
    tau = joint_torques(model, meaning, np.zeros((50, model.n)), columns)
    expected = (EFFORT @ RATIOS)[:, kept(model)]
    np.testing.assert_allclose(tau, expected, rtol=1e-13, atol=1e-13)
    needed = np.flatnonzero(RATIOS[:, kept(model)].any(axis=1))
    assert {JOINTS[k] for k in needed} | set(model.joint_names) == set(names)


def test_gains_are_those_of_all_motors() -> None:
    model = gd.load_model(*FILES, lock={"joint_5": 0.4})
    gains = np.array([0.4, 0.5, 0.6, 0.1, 0.2, 0.3])
    meaning = Meaning("motor_current", gains=tuple(gains))
    columns = EFFORT[:, [JOINTS.index(name) for name in analysis.recorded_joints(model, meaning)]]
    tau = joint_torques(model, meaning, np.zeros((50, 5)), columns)
    np.testing.assert_allclose(tau, ((EFFORT * gains) @ RATIOS)[:, kept(model)], rtol=1e-13)
    idle = gd.load_model(*FILES, joints=["joint_1", "joint_2"])
    unknown = replace(meaning, gains=(*gains[:3], np.nan, np.nan, np.nan))
    columns = EFFORT[:, [0, 1, 2]]
    tau = joint_torques(idle, unknown, np.zeros((50, 2)), columns)
    np.testing.assert_allclose(tau, ((EFFORT * gains) @ RATIOS)[:, :2], rtol=1e-13)
    with pytest.raises(RecordingError, match=r"5 gains for 6; give one for each of motor_1, mo"):
        joint_torques(model, replace(meaning, gains=(1.0,) * 5), np.zeros((50, 5)), EFFORT)


def test_a_missing_column_of_a_frozen_joint_is_named() -> None:
    model = gd.load_model(*FILES, lock={"joint_6": 0.3})
    with pytest.raises(RecordingError, match=r"recorded_joints.*keep joint_6 movable"):
        joint_torques(model, Meaning("motor_torque"), np.zeros((50, 5)), EFFORT[:, :5])


@pytest.mark.parametrize(
    ("frozen", "alone"),
    [("joint_1", True), ("joint_6", True), ("joint_4", False), ("joint_5", False)],
)
def test_motor_positions_are_those_of_what_still_moves(frozen: str, alone: bool) -> None:
    """Or refused, where an angle has a share of a frozen joint, whose position is in no model."""
    at = 0.35
    model = gd.load_model(*FILES, lock={frozen: at})
    q = np.random.default_rng(4).normal(size=(20, 6))
    q[:, JOINTS.index(frozen)] = at
    phi = q @ RATIOS.T
    meaning = Meaning("motor_torque", "motor")
    columns = phi[:, [JOINTS.index(name) for name in analysis.recorded_joints(model, meaning)]]
    if alone:
        found = joint_positions(model, meaning, columns)
        np.testing.assert_allclose(found, q[:, kept(model)], rtol=1e-12, atol=1e-12)
        return
    with pytest.raises(RecordingError, match=rf"also turns with the frozen {frozen}; keep"):
        joint_positions(model, meaning, columns)


def test_motors_that_end_together_are_refused() -> None:
    """In a differential both motors end at the same joint: no column says which is whose."""
    drive = {
        "version": 1,
        "wheels": {
            name: {
                "carrier": "link_1",
                "axis": [0, 1, 0],
                "mass": 0.2,
                "inertia": {"axial": 1e-4, "transverse": 1e-4},
            }
            for name in ("left", "right")
        },
        "spins": [
            {"wheel": "left", "coefficients": {"joint_2": 50, "joint_3": 50}},
            {"wheel": "right", "coefficients": {"joint_2": 50, "joint_3": -50}},
        ],
        "motors": {"left": {"wheel": "left"}, "right": {"wheel": "right"}},
    }
    for joints in (["joint_2", "joint_3"], ["joint_2"]):
        model = gd.load_model(ROBOTS / "elbow.urdf", drive, joints=joints)
        with pytest.raises(RecordingError, match="left at joint_3, right at joint_3; none dr"):
            analysis.recorded_joints(model, Meaning("motor_torque"))


@pytest.mark.parametrize("frozen", ["joint_1", "joint_5", "joint_6"])
def test_a_recording_of_the_whole_arm_fits_the_frozen_one(frozen: str) -> None:
    """Its motors' torques along a motion, from the arm with all joints free; and a control."""
    pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")
    model = gd.load_model(FILES[0], smooth_drive(), lock={frozen: AT})
    t, q, _, tau_m = brisk_motion(JOINTS.index(frozen))
    meaning = Meaning("motor_torque")
    order = [JOINTS.index(name) for name in analysis.recorded_joints(model, meaning)]
    for factor, most in ((1.0, 0.5), (1.3, np.inf)):
        effort = tau_m[:, order]
        effort[:, -1] *= factor  # of the motor that is read last
        run = analysis.recording_from_arrays(t, q[:, order], effort)
        found = analysis.analyze(model, run, meaning=meaning, bandwidth_hz=20.0)
        percent = max(joint.percent[-1] for joint in analysis.joint_figures(found))
        assert percent < most
        assert factor == 1.0 or percent > 1.0  # control
