"""Elastic arms against MuJoCo, whose own integrator moves rotors as bodies of their own.

Every rotor is a body with a free hinge on its carrier, and a fixed tendon with stiffness and
damping lies between each joint and its shaft, whose angle is a sum of rotor angles. Nothing of
ours is in that plant but the numbers of the drivetrain file.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from elastic_arms import URDF, elbow_drives
from naive.measure import holds

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("scipy")

SECONDS = 2.0
# Steps [s] of MuJoCo's Runge-Kutta scheme of fourth order; the wrist vibrates faster.
STEPS = {"elbow": (4e-4, 2e-4, 1e-4), "coupled wrist": (1e-4, 5e-5, 2.5e-5)}
CLOSE = 1e-6  # of the angles and velocities, at the smallest step [rad, rad/s]
KEEP = (
    '<mujoco><compiler fusestatic="false" discardvisual="true" balanceinertia="false"/></mujoco>'
)
Plant = tuple[str, dict[str, Any], np.ndarray]


def elbow() -> Plant:
    """The elbow, three springs; constant torques on its motors."""
    return (URDF / "elbow.urdf").read_text("utf-8"), elbow_drives(2.0), np.array([0.05, 0.3, 0.1])


def wrist() -> Plant:
    """The TX40, whose motor 6 turns with joints 5 and 6, with springs and rotors of mass."""
    drives = yaml.safe_load((URDF / "tx40.drivetrain.yaml").read_text("utf-8"))
    for wheel in drives["wheels"].values():
        wheel.update(mass=0.3, included_in_link=False)
    drives["joints"] = {
        f"joint_{k}": {"stiffness": stiffness, "damping": 1.0, "friction": {"viscous": 0.0}}
        for k, stiffness in enumerate((9e3, 9e3, 4e3, 1e3, 1e3, 3e2), start=1)
    }
    del drives["motors"]["motor_6"]["friction"]
    urdf = (URDF / "tx40.urdf").read_text("utf-8")
    # Its link 6 is a point on the axis: a spring before it needs a body behind it.
    point = 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"'
    urdf = urdf.replace(point, 'ixx="3e-3" ixy="0" ixz="0" iyy="4e-3" iyz="0" izz="2e-3"')
    return urdf, drives, np.array([0.1, 0.8, 0.4, 0.05, 0.1, 0.0])


PLANTS = {"elbow": elbow(), "coupled wrist": wrist()}


def rows(drives: dict[str, Any], joints: tuple[str, ...]) -> np.ndarray:
    """Rotors' angles by the shafts' (m, n), from the file's content."""
    G = np.zeros((len(drives["wheels"]), len(joints)))
    wheels = list(drives["wheels"])
    for spin in drives["spins"]:
        terms = spin.get("coefficients") or {spin["joint"]: spin["ratio"]}
        for joint, ratio in terms.items():
            G[wheels.index(spin["wheel"]), joints.index(joint)] += ratio
    return G


def build(urdf: str, drives: dict[str, Any], joints: tuple[str, ...]) -> Any:
    """Read the URDF with MuJoCo's own parser; hang rotors and springs on it."""
    end = urdf.index(">", urdf.index("<robot ")) + 1
    spec = mujoco.MjSpec.from_string(urdf[:end] + KEEP + urdf[end:])
    for name, wheel in drives["wheels"].items():
        axial = wheel["inertia"]["axial"]
        across, quat = wheel["inertia"].get("transverse", axial / 2), np.zeros(4)
        axis = np.array(wheel["axis"], float)
        mujoco.mju_quatZ2Vec(quat, axis / np.linalg.norm(axis))
        carrier = spec.body(wheel["carrier"]) or spec.worldbody
        body = carrier.add_body(
            name=name,
            pos=wheel.get("position", [0, 0, 0]),
            quat=quat,
            mass=wheel["mass"],
            ipos=[0, 0, 0],
            iquat=[1, 0, 0, 0],
            inertia=[across, across, axial],
            explicitinertial=True,
        )
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    shafts = np.linalg.inv(rows(drives, joints))
    for j, joint in enumerate(joints):
        tendon = spec.add_tendon(name=f"spring_{joint}", springlength=[0, 0])
        tendon.wrap_joint(joint, -1.0)
        for wheel, weight in zip(drives["wheels"], shafts[j], strict=True):
            if weight != 0.0:
                tendon.wrap_joint(wheel, weight)
    mj = spec.compile()
    for j, joint in enumerate(joints):
        law = drives["joints"][joint]
        mj.tendon_stiffness[j], mj.tendon_damping[j] = law["stiffness"], law["damping"]
    mj.opt.gravity[:] = [0, 0, -9.81]
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    flags = mujoco.mjtDisableBit
    mj.opt.disableflags |= int(flags.mjDSBL_CONSTRAINT) | int(flags.mjDSBL_CONTACT)
    mj.dof_damping[:] = 0.0  # of the URDF; friction is no part of this comparison
    return mj


def start(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Joint angles and velocities at first, springs relaxed."""
    q, v = np.random.default_rng(0).uniform(-0.5, 0.5, (2, n))
    return q, v


def theirs(plant: Plant, joints: tuple[str, ...], dt: float) -> np.ndarray:
    """Angles and velocities of joints and shafts at the end (2, 2 n)."""
    urdf, drives, tau_m = plant
    mj = build(urdf, drives, joints)
    mj.opt.timestep = dt
    data, G = mujoco.MjData(mj), rows(drives, joints)
    names = [*joints, *drives["wheels"]]
    place = [mj.joint(name).qposadr[0] for name in names]
    rate = [mj.joint(name).dofadr[0] for name in names]
    q, v = start(len(joints))
    data.qpos[place], data.qvel[rate] = np.r_[q, G @ q], np.r_[v, G @ v]
    data.qfrc_applied[rate[len(joints) :]] = tau_m
    mujoco.mj_step(mj, data, round(SECONDS / dt))
    both, n = np.stack([data.qpos[place], data.qvel[rate]]), len(joints)
    return np.hstack([both[:, :n], np.linalg.solve(G, both[:, n:].T).T])


def ours(plant: Plant) -> tuple[np.ndarray, tuple[str, ...]]:
    """The same, of the elastic model, integrated tightly; and its joints' names."""
    urdf, drives, tau_m = plant
    model = gd.load_model(urdf, drives)
    q, v = start(model.n)
    run = gd.simulation.simulate_elastic(
        model,
        gd.State(q, v, q, v),
        [0.0, SECONDS],
        torque=tau_m,
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    )
    end = run.end
    return np.stack([np.r_[end.q, end.theta], np.r_[end.v, end.vtheta]]), model.joint_names


@pytest.mark.parametrize("name", PLANTS)
def test_same_motion_over_two_seconds(name: str) -> None:
    """To the accuracy of MuJoCo's integrator, whose error falls with its step."""
    found, joints = ours(PLANTS[name])
    errors = [np.abs(theirs(PLANTS[name], joints, dt) - found).max() for dt in STEPS[name]]
    for dt, error in zip(STEPS[name], errors, strict=True):
        print(f"\nfigure: MuJoCo, elastic {name}, 2 s, step {dt:.1e} s: apart {error:.1e}")
    assert holds(f"MuJoCo, elastic {name}, motion over 2 s", errors[-1], CLOSE)
    assert np.all(np.divide(errors[:-1], errors[1:]) > 8.0), errors  # 16 in the limit


@pytest.mark.parametrize(
    ("name", "spin"), [("elbow", 1), ("coupled wrist", 0), ("coupled wrist", 5)]
)
def test_a_ratio_one_percent_off_fails(name: str, spin: int) -> None:
    """One of a motor with one joint, and that of the wrist's motor 6 with joint 5."""
    urdf, drives, tau_m = PLANTS[name]
    wrong = copy.deepcopy(drives)
    changed = wrong["spins"][spin]
    if "ratio" in changed:
        changed["ratio"] *= 1.01
    else:
        changed["coefficients"]["joint_5"] *= 1.01
    found, joints = ours((urdf, wrong, tau_m))
    expected = theirs(PLANTS[name], joints, STEPS[name][0])
    assert np.abs(expected - found).max() > 100 * CLOSE
