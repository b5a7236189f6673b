"""An elastic arm in MuJoCo with explicit rotors, for the observers' figures.

Every rotor is a body with a hinge on its carrier; a fixed tendon with stiffness and damping lies
between each joint and its shaft. MuJoCo reads the URDF itself and integrates; ours are only the
numbers of the drivetrain file, and the law of the rotors' friction. ``Bodies`` is any other arm in
MuJoCo, as ``to_mjcf`` describes it to it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
import yaml

import geared_dynamics as gd
from geared_dynamics.simulation.mujoco_engine import MujocoMechanism

URDF = Path(__file__).resolve().parents[1] / "urdf"
KEEP = (
    '<mujoco><compiler fusestatic="false" discardvisual="true" balanceinertia="false"/></mujoco>'
)
DT = 1e-3  # of the readings [s]
TURN = 2 * np.pi / 2**17  # resolution of the encoders [rad]
SERVO = 50.0  # of the position control [rad/s]
STEP = 2e-4  # of MuJoCo, for ``Bodies`` [s]
SMOOTHING = 0.1  # of the rotors' friction, the package's default [rad/s]


class Arm(NamedTuple):
    """A URDF, its drives, the names of its joints, and MuJoCo's step."""

    urdf: str
    drives: dict[str, Any]
    joints: tuple[str, ...]
    step: float


def elbow(friction: bool = True, ratio: float = 1.0) -> Arm:
    """The elbow with three springs; ``ratio`` scales the ratios and, squared, divides J."""
    drives = yaml.safe_load((URDF / "elbow.drivetrain.yaml").read_text("utf-8"))
    drives["joints"] = {
        f"joint_{k}": {"stiffness": K, "damping": 2.0, "friction": {"viscous": 0.0}}
        for k, K in enumerate((9e3, 7e3, 3e3), start=1)
    }
    for motor in drives["motors"].values():
        if friction:
            motor["friction"] = {"viscous": 2e-5, "coulomb": 0.01}
    for wheel in drives["wheels"].values():
        wheel["inertia"]["axial"] /= ratio**2
        wheel["inertia"]["transverse"] = max(
            wheel["inertia"]["transverse"], wheel["inertia"]["axial"] / 2
        )
    for spin in drives["spins"]:
        spin["ratio"] *= ratio
    urdf = (URDF / "elbow.urdf").read_text("utf-8")
    return Arm(urdf, drives, ("joint_1", "joint_2", "joint_3"), 2e-4)


def changed(arm: Arm, stiffness: float, inertia: float, rotors: float = 1.0) -> Arm:
    """The arm with all stiffnesses, links' inertias and rotors' inertias multiplied."""
    from xml.etree import ElementTree

    tree, drives = ElementTree.fromstring(arm.urdf), copy.deepcopy(arm.drives)
    for element in tree.iter("inertial"):
        for part in (element.find("mass"), element.find("inertia")):
            for key in part.attrib:
                part.set(key, repr(inertia * float(part.get(key))))
    for joint in drives["joints"].values():
        joint["stiffness"] *= stiffness
    for wheel in drives["wheels"].values():
        for key in wheel["inertia"]:
            wheel["inertia"][key] *= rotors
    return arm._replace(urdf=ElementTree.tostring(tree, encoding="unicode"), drives=drives)


def ratios(arm: Arm) -> np.ndarray:
    """Rotors' angles by the shafts' (m, n), from the file's content."""
    G = np.zeros((len(arm.drives["wheels"]), len(arm.joints)))
    wheels = list(arm.drives["wheels"])
    for spin in arm.drives["spins"]:
        terms = spin.get("coefficients") or {spin["joint"]: spin["ratio"]}
        for joint, ratio in terms.items():
            G[wheels.index(spin["wheel"]), arm.joints.index(joint)] += ratio
    return G


def compiled(arm: Arm) -> Any:
    """MuJoCo's model of the arm."""
    end = arm.urdf.index(">", arm.urdf.index("<robot ")) + 1
    spec = mujoco.MjSpec.from_string(arm.urdf[:end] + KEEP + arm.urdf[end:])
    for name, wheel in arm.drives["wheels"].items():
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
    shafts = np.linalg.inv(ratios(arm))
    for j, joint in enumerate(arm.joints):
        tendon = spec.add_tendon(name=f"spring_{joint}", springlength=[0, 0])
        tendon.wrap_joint(joint, -1.0)
        for wheel, weight in zip(arm.drives["wheels"], shafts[j], strict=True):
            if weight != 0.0:
                tendon.wrap_joint(wheel, weight)
    mj = spec.compile()
    for j, joint in enumerate(arm.joints):
        law = arm.drives["joints"][joint]
        mj.tendon_stiffness[j], mj.tendon_damping[j] = law["stiffness"], law["damping"]
    mj.opt.gravity[:] = [0, 0, -9.81]
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    mj.opt.timestep = arm.step
    flags = mujoco.mjtDisableBit
    mj.opt.disableflags |= int(flags.mjDSBL_CONSTRAINT) | int(flags.mjDSBL_CONTACT)
    mj.dof_damping[:] = 0.0
    return mj


def rotor_friction(arm: Arm, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Viscous and Coulomb friction of the rotors (m,)."""
    laws = [motor.get("friction", {}) for motor in arm.drives["motors"].values()]
    return (
        scale * np.array([law.get("viscous", 0.0) for law in laws]),
        scale * np.array([law.get("coulomb", 0.0) for law in laws]),
    )


class Row(NamedTuple):
    """An instant of a motion: what is true, what was read, and the torque over the step before.

    The readings of the links and of the springs are true; whoever wants noise adds it.
    """

    q: np.ndarray
    theta: np.ndarray
    v: np.ndarray
    vtheta: np.ndarray
    spring: np.ndarray
    external: np.ndarray
    phi: np.ndarray
    tau_m: np.ndarray


def moving(arm: Arm, seconds: float, seed: int = 0, **how: Any) -> Row:
    """A whole motion, one array for each field (t, ...); arguments as of ``motion``."""
    rows = list(motion(arm, seconds, seed, **how))
    return Row(*(np.array(column) for column in zip(*rows, strict=True)))


def motion(
    arm: Arm,
    seconds: float,
    seed: int = 0,
    *,
    speed: float = 1.0,
    noise: float = TURN,
    push: Callable[[float], Any] | None = None,
    friction: float = 1.0,
) -> Iterator[Row]:
    """Random motion under position control of the motors, instant by instant at 1 kHz.

    Args:
        arm: The arm.
        seconds: How long.
        seed: Of motion and noise.
        speed: Scales the frequencies of the motion.
        noise: Of the encoders beside their resolution, standard deviation [rad].
        push: External force on the joints as a function of the time, if any.
        friction: Scales the rotors' true friction.
    """
    mj, G, random = compiled(arm), ratios(arm), np.random.default_rng(seed)
    data, n = mujoco.MjData(mj), len(arm.joints)
    place = [mj.joint(name).qposadr[0] for name in (*arm.joints, *arm.drives["wheels"])]
    rate = [mj.joint(name).dofadr[0] for name in (*arm.joints, *arm.drives["wheels"])]
    inertia = np.array([w["inertia"]["axial"] for w in arm.drives["wheels"].values()])
    stiffness = np.array([arm.drives["joints"][j]["stiffness"] for j in arm.joints])
    damping = np.array([arm.drives["joints"][j]["damping"] for j in arm.joints])
    viscous, coulomb = rotor_friction(arm, friction)
    f = random.uniform(0.05, 1.5, (5, n))
    phase, size = random.uniform(0, 2 * np.pi, (5, n)), random.uniform(0.2, 1.0, (5, n)) * 0.35
    centre = random.uniform(-0.4, 0.4, n)
    back, steps, substeps = np.linalg.inv(G), round(seconds / DT), round(DT / arm.step)

    def wanted(t: float) -> tuple[np.ndarray, np.ndarray]:
        angle = 2 * np.pi * f * speed * t + phase
        w = 2 * np.pi * f * speed
        return centre + (size / np.sqrt(1 + f) * np.sin(angle)).sum(0), (
            size / np.sqrt(1 + f) * w * np.cos(angle)
        ).sum(0)

    q = wanted(0.0)[0]
    data.qpos[place] = np.r_[q, G @ q]
    total = inertia * 2.5
    shown, before = G @ q, G @ q
    for k in range(steps + 1):
        x, xdot = data.qpos[place], data.qvel[rate]
        theta, vtheta = back @ x[n:], back @ xdot[n:]
        spring = stiffness * (theta - x[:n]) + damping * (vtheta - xdot[:n])
        before, shown = shown, TURN * np.round((x[n:] + noise * random.normal(size=n)) / TURN)
        goal, pace = wanted(k * DT)
        if k == 0:
            tau_m = np.zeros(n)
        force = np.zeros(n) if push is None else np.asarray(push(k * DT), float)
        yield Row(x[:n].copy(), theta, xdot[:n].copy(), vtheta, spring, force, shown, tau_m)
        tau_m = total * (
            SERVO**2 * (G @ goal - shown)
            + 1.4 * SERVO * (G @ pace - (shown - before) / DT * (k > 0))
        )
        data.qfrc_applied[rate[:n]] = force
        for _ in range(substeps):
            spin = data.qvel[rate[n:]]
            loss = viscous * spin + coulomb * np.tanh(spin / SMOOTHING)
            data.qfrc_applied[rate[n:]] = tau_m - loss
            mujoco.mj_step(mj, data)
        mujoco.mj_forward(mj, data)


class Bodies:
    """A model's arm in MuJoCo at 1 kHz: links, rotors and wheels are bodies, tied by its gears.

    MuJoCo integrates (Runge and Kutta, fourth order); friction at rest is its constraint.
    """

    def __init__(self, model: gd.GearedModel, z: np.ndarray, step: float = STEP) -> None:
        """Put it at z = (x, rate), x = (q, theta)."""
        self._arm = MujocoMechanism(model, step)
        self._arm.place(*np.split(z, 2))
        self._substeps = round(DT / step)
        self._undamped = np.zeros(len(model.motor_names))

    @property
    def x(self) -> np.ndarray:
        """Angles of joints, and of shafts by the rotors' (n + n_e,)."""
        return self._arm.x

    @property
    def rate(self) -> np.ndarray:
        """Their velocities."""
        return self._arm.rate

    @property
    def angle(self) -> np.ndarray:
        """Angles of the motors' rotors in their carriers (m,)."""
        return self._arm.angle

    def advance(self, tau_m: np.ndarray) -> None:
        """Move on by ``DT`` under the motors' torques (m,)."""
        for _ in range(self._substeps):
            self._arm.advance(tau_m, self._undamped)
