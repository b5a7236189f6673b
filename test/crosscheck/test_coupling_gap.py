"""What the coupling is worth, on an arm where it can be written down; the random states."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.coupling_gap import coupling_gap
from geared_dynamics.analysis.crosscheck import random_states, state_ranges
from geared_dynamics.errors import ArrayError
from random_robots import random_robot

PLANAR = """<robot name="planar">
<link name="base"/>
<link name="one"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="two"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j1" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="2" velocity="3" effort="9"/></joint>
<joint name="j2" type="continuous"><parent link="one"/><child link="two"/>
<origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""
AXIAL, RATIO = 1e-3, 50.0


def drivetrain(carrier: str) -> dict[str, object]:
    wheel = {"carrier": carrier, "axis": [0, 0, 1], "mass": 0.3, "inertia": {"axial": AXIAL}}
    return {
        "version": 1,
        "wheels": {"rotor": wheel},
        "spins": [{"wheel": "rotor", "joint": "j2", "ratio": RATIO}],
    }


def test_gap_of_a_planar_arm_is_j_times_ratio() -> None:
    """T = J (v1 + N v2)^2 / 2: the diagonal model lacks J N a2 at joint 1, J N a1 at joint 2."""
    model = gd.load_model(PLANAR, drivetrain("one"))
    gap = coupling_gap(model, states=50, seed=3)
    states = random_states(model, 50, 3)
    missing = AXIAL * RATIO * states.a[:, ::-1]
    tau = gd.inverse_dynamics(model, *states)
    for k, joint in enumerate(gap.joints):
        assert joint.unit == "N m"
        assert joint.diagonal.rms == pytest.approx(np.sqrt(np.mean(missing[:, k] ** 2)), rel=1e-9)
        assert joint.diagonal.peak == pytest.approx(np.abs(missing[:, k]).max(), rel=1e-9)
        assert joint.rms == pytest.approx(np.sqrt(np.mean(tau[:, k] ** 2)), rel=1e-12)
        assert joint.diagonal.percent == pytest.approx(100 * joint.diagonal.rms / joint.rms)
    armature = AXIAL * RATIO**2 * states.a[:, 1] + missing[:, 1]
    assert gap.joints[1].none.peak == pytest.approx(np.abs(armature).max(), rel=1e-9)
    assert gap.worst in gap.joints


def test_motor_on_the_base_leaves_no_gap() -> None:
    gap = coupling_gap(gd.load_model(PLANAR, drivetrain("base")), states=20)
    assert gap.worst.diagonal.percent < 1e-9
    assert gap.joints[1].none.percent > 1


def test_states_keep_to_the_limits() -> None:
    model = gd.load_model(PLANAR)
    ranges = state_ranges(model)
    assert ranges.lower.tolist() == [-1, -np.pi]
    assert ranges.upper.tolist() == [2, np.pi]
    assert ranges.velocity.tolist() == [3, 1]
    assert ranges.acceleration.tolist() == [6, 2]
    q, v, a = random_states(model, 500, 0)
    assert ((q >= ranges.lower) & (q <= ranges.upper)).all()
    assert (np.abs(v) <= ranges.velocity).all()
    assert (np.abs(a).max(axis=0) > 0.9 * ranges.acceleration).all()


def test_no_states_is_refused() -> None:
    with pytest.raises(ArrayError, match="one state or more"):
        random_states(gd.load_model(PLANAR), 0, 0)


def test_prismatic_joints_are_in_newton() -> None:
    case = random_robot(7, joints=5, wheels=5)
    sliding = {name for name in case.joint_names if f'"{name}" type="prismatic"' in case.urdf}
    for joint in coupling_gap(case.load(), states=5).joints:
        assert joint.unit == ("N" if joint.joint in sliding else "N m")
