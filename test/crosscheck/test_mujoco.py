"""A second oracle: MuJoCo, which reads the same URDF and gets the wheels as hinged bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from random_robots import RobotCase, random_robot, random_state

mujoco = pytest.importorskip("mujoco")

RTOL = 1e-9  # MuJoCo diagonalises each inertia tensor iteratively, to about 1e-12
KEEP_LINKS = '<mujoco><compiler fusestatic="false" discardvisual="true"/></mujoco>'
CASES = [
    random_robot(11, joints=6, fixed=2, wheels=8, included=False),
    random_robot(12, joints=7, fixed=1, wheels=9, branched=True, included=False),
]


def build(case: RobotCase) -> Any:  # a mujoco.MjModel, which has no stubs
    """Read the URDF with MuJoCo's own parser and hang every wheel on its carrier link."""
    spec = mujoco.MjSpec.from_string(case.urdf.replace('"random">', f'"random">{KEEP_LINKS}'))
    for name, wheel in case.drivetrain["wheels"].items():
        axial = wheel["inertia"]["axial"]
        transverse = wheel["inertia"].get("transverse", axial / 2)
        quat = np.zeros(4)
        axis = np.array(wheel["axis"])
        mujoco.mju_quatZ2Vec(quat, axis / np.linalg.norm(axis))
        body = spec.body(wheel["carrier"]).add_body(
            name=name,
            pos=wheel["position"],
            quat=quat,
            mass=wheel["mass"],
            ipos=[0, 0, 0],
            iquat=[1, 0, 0, 0],
            inertia=[transverse, transverse, axial],
            explicitinertial=True,
        )
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    spec.option.gravity = case.gravity
    return spec.compile()


def constraint(mj: Any, case: RobotCase) -> np.ndarray:
    """Rates of MuJoCo's joints per coordinate rate, (nv, n), from the drivetrain's content."""
    row = {mj.joint(k).name: mj.jnt_dofadr[k] for k in range(mj.njnt)}
    G = np.zeros((mj.nv, case.n))
    for column, name in enumerate(case.joint_names):
        G[row[name], column] = 1.0
    for spin in case.drivetrain["spins"]:
        terms = spin.get("coefficients") or {spin["joint"]: spin["ratio"]}
        for joint, ratio in terms.items():
            G[row[spin["wheel"]], case.joint_names.index(joint)] += ratio
    return G


def worst_errors(case: RobotCase, mj: Any, G: np.ndarray) -> tuple[float, float]:
    """Relative errors of mass matrix and bias forces over five states."""
    model, data = case.load(), mujoco.MjData(mj)
    errors = []
    for seed in range(5):
        q, v, _ = random_state(case.n, seed)
        data.qpos[:], data.qvel[:] = G @ q, G @ v
        mujoco.mj_forward(mj, data)
        columns = np.zeros((mj.nv, case.n))
        for k in range(case.n):
            product = np.zeros(mj.nv)
            mujoco.mj_mulM(mj, data, product, np.ascontiguousarray(G[:, k]))
            columns[:, k] = product
        M, bias = G.T @ columns, G.T @ data.qfrc_bias
        M_error = np.abs(gd.mass_matrix(model, q) - M).max() / np.abs(M).max()
        bias_error = np.abs(gd.bias_forces(model, q, v) - bias).max() / np.abs(bias).max()
        errors.append((M_error, bias_error))
    return np.max(errors, axis=0)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_mass_matrix_and_bias_agree_with_explicit_rotors(case: RobotCase) -> None:
    mj = build(case)
    assert max(worst_errors(case, mj, constraint(mj, case))) < RTOL


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_ratios_changed_by_one_percent_fail(case: RobotCase) -> None:
    mj = build(case)
    G = constraint(mj, case)
    G[np.abs(G) != 1] *= 1.01  # the wheels' ratios; the joints' own rates are 1
    assert min(worst_errors(case, mj, G)) > 100 * RTOL
