"""MJCF: what is written loads in plain MuJoCo and moves as the plant does."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from elastic_arms import elastic_arm, elbow
from geared_dynamics.simulation.mujoco_bodies import blueprint, body_name, compiled
from geared_dynamics.simulation.mujoco_engine import MujocoMechanism
from plant_arms import URDF, example, hold
from random_robots import random_robot

mujoco = pytest.importorskip("mujoco")
S = gd.simulation
NO_BODIES = {"kr300", "tx40"}  # their last links are points of mass


def load(text: str):
    """The file in plain MuJoCo."""
    mj = mujoco.MjModel.from_xml_string(text)
    return mj, mujoco.MjData(mj)


@pytest.mark.parametrize(
    "robot", ["brisk6", "elbow", "virtual_link_arm", "planetary_2r", "manutec_r3"]
)
@pytest.mark.parametrize("friction", [True, False])
def test_moves_as_the_plant_does(robot: str, friction: bool) -> None:
    model = example(robot)
    mj, data = load(S.to_mjcf(model, friction=friction))
    q = np.full(model.n, 0.2)
    torque = 1.3 * hold(model, q) + 0.05
    arm = MujocoMechanism(model, 1e-3, friction=friction)
    arm.place(q, np.zeros(model.n))
    for name, value in zip(model.joint_names, q, strict=True):
        data.joint(name).qpos[:] = value
    for wheel, row in zip(model.wheel_names, arm.plan.gears.follow, strict=True):
        data.joint(f"wheel {wheel}").qpos[:] = row @ q
    data.ctrl[:] = torque
    for _ in range(200):
        mujoco.mj_step(mj, data)
        arm.advance(torque, 0.0 * torque)
    found = [data.joint(name).qpos[0] for name in model.joint_names]
    assert np.abs(arm.x - q).max() > 1e-3
    np.testing.assert_allclose(found, arm.x, atol=1e-10)


@pytest.mark.filterwarnings("ignore::geared_dynamics.GearedDynamicsWarning")
@pytest.mark.parametrize("path", sorted(URDF.glob("*.urdf")), ids=lambda path: path.stem)
def test_the_jacobian_is_dense(path: Path) -> None:
    """MuJoCo 4.0.0 is wrong with a sparse one."""
    model = example(path.stem)
    dense = mujoco.mjtJacobian.mjJAC_DENSE
    if path.stem in NO_BODIES:
        with pytest.raises(gd.GearedDynamicsError):
            S.to_mjcf(model)
    else:
        assert compiled(blueprint(model, 1e-3)).opt.jacobian == dense
        assert load(S.to_mjcf(model))[0].opt.jacobian == dense


def test_the_root_that_does_not_move_has_a_centre_of_mass_of_numbers() -> None:
    """MuJoCo's own value for one that is not given is NaN, of which it warns when it reads."""
    text = S.to_mjcf(example("elbow"))
    inertials = [line for line in text.splitlines() if "<inertial" in line]
    assert len(inertials) == 7  # the root, three links, three rotors
    assert "nan" not in "".join(inertials)


def test_the_jacobian_of_a_long_arm_is_dense() -> None:
    """With 60 velocities and more MuJoCo would choose a sparse one."""
    model = random_robot(3, joints=40, wheels=30, included=False).load()
    plan = blueprint(model, 1e-3)
    assert compiled(plan).nv >= 60
    for arm in (compiled(plan), load(S.to_mjcf(model))[0]):
        assert arm.opt.jacobian == mujoco.mjtJacobian.mjJAC_DENSE
        data = mujoco.MjData(arm)
        mujoco.mj_forward(arm, data)
        assert data.efc_J.size == data.nefc * arm.nv


def test_springs_mimics_and_slides_are_in_the_file() -> None:
    cases = [
        random_robot(5, joints=5, mimics=2, branched=True, included=False).load(),
        elastic_arm(2, belts=2),
        elbow(2.0),
    ]
    for model in cases:
        mj, data = load(S.to_mjcf(model))
        arm = MujocoMechanism(model, 1e-3)
        law = model.elasticity
        q = np.full(model.n, 0.1)
        arm.place(np.concatenate([q, law.rigid @ q]), np.zeros(model.n + law.count))
        data.qpos[:] = arm.data.qpos
        for _ in range(20):
            mujoco.mj_step(mj, data)
            arm.advance(np.zeros(len(model.motor_names)), np.zeros(len(model.motor_names)))
        np.testing.assert_allclose(data.qpos, arm.data.qpos, atol=1e-9)
        assert mj.nv == len(model.body_names) + len(model.wheel_names)


def test_masses_are_those_of_the_files() -> None:
    """Nothing is invented for the base, which has none."""
    links, rotors = 10.5, 3 * 0.75 + 3 * 0.22
    mj, _ = load(S.to_mjcf(example("brisk6")))
    assert mj.body_mass.sum() == pytest.approx(links + rotors, rel=1e-12)


def test_names_and_limits() -> None:
    model = example("brisk6")
    mj, _ = load(S.to_mjcf(model))
    bodies = {mj.body(b).name for b in range(mj.nbody)}
    assert bodies >= {link.name for link in model.records.robot.links} | set(model.wheel_names)
    assert [mj.actuator(k).name for k in range(mj.nu)] == list(model.motor_names)
    np.testing.assert_allclose(mj.actuator_ctrlrange[0], [-25.0, 25.0])
    np.testing.assert_allclose(mj.joint("joint_1").range, [-3.0, 3.0])


def test_one_percent_of_a_ratio_shows() -> None:
    """The negative control of the comparisons above."""
    drives = yaml.safe_load((URDF / "brisk6.drivetrain.yaml").read_text("utf-8"))
    wrong = copy.deepcopy(drives)
    wrong["spins"][2]["coefficients"]["joint_2"] *= 1.01
    texts = [S.to_mjcf(gd.load_model(URDF / "brisk6.urdf", d)) for d in (drives, wrong)]
    ends = []
    for text in texts:
        mj, data = load(text)
        data.ctrl[:] = [0.5, 1.0, -0.5, 0.05, 0.05, 0.05]
        for _ in range(200):
            mujoco.mj_step(mj, data)
        ends.append(data.joint("joint_2").qpos[0])
    assert abs(ends[0] - ends[1]) > 1e-4


def test_what_the_file_cannot_say_is_warned_of() -> None:
    drives = yaml.safe_load((URDF / "brisk6.drivetrain.yaml").read_text("utf-8"))
    drives["balancers"] = {"coil": {"torsion": {"stiffness": 5.0}, "joint": "joint_2"}}
    drives["joints"]["joint_1"]["friction"]["offset"] = 0.1
    drives["joints"]["joint_2"]["friction"]["coulomb"] = [0.6, 0.5]
    model = gd.load_model(URDF / "brisk6.urdf", drives)
    with pytest.warns(gd.GearedDynamicsWarning) as caught:
        S.to_mjcf(model)
    words = " ".join(str(one.message) for one in caught)
    for part in ("coil", "same in both directions", "offset"):
        assert part in words
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        S.to_mjcf(example("brisk6"))


@pytest.mark.parametrize("timestep", [0, -1.0, float("nan"), "1"])
def test_bad_steps(timestep: object) -> None:
    with pytest.raises(gd.GearedDynamicsError, match="timestep"):
        S.to_mjcf(example("brisk6"), timestep=timestep)


@pytest.mark.parametrize(
    ("links", "found"),
    [(["tool"], "tool"), (["world"], "world_"), (["world", "world_"], "world__")],
)
def test_no_body_has_the_name_of_mujocos_root_or_of_another(links: list[str], found: str) -> None:
    model: Any = SimpleNamespace(frames=dict.fromkeys(links))
    assert body_name(model, links[0]) == found
