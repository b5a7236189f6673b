"""Arms whose motors sit before their joints, so that their elastic joints are flat outputs."""

from __future__ import annotations

import copy
from math import factorial
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

import geared_dynamics as gd
from random_robots import random_robot

# A law of friction with every term in it, smooth enough to look at its derivatives.
FRICTION: dict[str, Any] = {
    "viscous": 3.0,
    "coulomb": [4.0, 6.0],
    "stribeck": {"static": [7.0, 8.0], "speed": 0.9},
    "load": 0.05,
    "offset": 0.4,
    "ripple": [{"order": 3, "amplitude": 0.5, "phase": 0.2}],
    "smoothing": 0.7,
}


def flat_arm(
    seed: int,
    joints: int = 4,
    *,
    share: float = 1.0,
    coupled: bool = True,
    damping: float = 0.0,
    friction: bool = False,
    ratio: float = 1.0,
    motor: dict[str, Any] | None = None,
    **options: Any,  # forwarded: keywords of random_robot
) -> gd.GearedModel:
    """A random arm with skew motors, each on a link before all joints that it turns.

    Args:
        seed: Makes the arm.
        joints: Number of coordinates q.
        share: Part of the joints that are elastic; at least one is.
        coupled: Whether motors turn with two joints.
        damping: Of the springs.
        friction: Whether all joints rub.
        ratio: Multiplies the last motor's ratios (a negative control).
        motor: Keys of all motors.
        options: Other keywords of ``random_robot``.
    """
    parts = {"mimics": 0, "wheels": 3, "fixed": 1, **options}
    case = random_robot(seed, joints=joints, **parts)
    random = np.random.default_rng(seed + 1)
    drives = copy.deepcopy(case.drivetrain)
    for wheel in drives["wheels"].values():
        wheel["side"] = "link"
    names = case.joint_names
    before = earlier_joints(case.urdf)
    links = parents(case.urdf)
    drives["motors"], drives["joints"] = {}, {}
    for k, joint in enumerate(names):
        name, earlier = f"rotor_{k}", before[joint] if coupled else joint
        drives["wheels"][name] = {
            "carrier": links[earlier],
            "axis": random.normal(size=3).tolist(),
            "position": random.uniform(-0.2, 0.2, 3).tolist(),
            "mass": 0.2,
            "inertia": {"axial": float(random.uniform(1e-4, 4e-4)), "transverse": 3e-4},
        }
        ratios = {earlier: float(random.uniform(-30, 30)), joint: float(random.uniform(20, 80))}
        if k == joints - 1:
            ratios = {key: ratio * value for key, value in ratios.items()}
        drives["spins"].append({"wheel": name, "coefficients": ratios})
        drives["motors"][f"motor_{k}"] = {"wheel": name, **(motor or {})}
        drives["joints"][joint] = {"friction": copy.deepcopy(FRICTION)} if friction else {}
        if k == joints // 2 or random.random() < share:
            stiffness = float(10 ** random.uniform(3, 4))
            drives["joints"][joint] |= {"stiffness": stiffness, "damping": damping}
        if not drives["joints"][joint]:
            del drives["joints"][joint]
    return gd.load_model(case.urdf, drives, gravity=case.gravity)


def parents(urdf: str) -> dict[str, str]:
    """Parent link of each joint."""
    joints = ET.fromstring(urdf).findall("joint")
    return {j.get("name"): j.find("parent").get("link") for j in joints}  # type: ignore[union-attr,misc]


def earlier_joints(urdf: str) -> dict[str, str]:
    """The movable joint before each movable one, itself where there is none."""
    joints = ET.fromstring(urdf).findall("joint")
    above = {j.find("child").get("link"): j for j in joints}  # type: ignore[union-attr]
    found = {}
    for joint in joints:
        name, link = joint.get("name"), joint.find("parent").get("link")  # type: ignore[union-attr]
        while link in above and above[link].get("type") == "fixed":
            link = above[link].find("parent").get("link")  # type: ignore[union-attr]
        found[name] = above[link].get("name") if link in above else name
    return found  # type: ignore[return-value]


def path(model: gd.GearedModel, rows: int, seed: int = 0) -> np.ndarray:
    """Random q and its derivatives (rows, n), of a motion that turns at some rad/s."""
    random = np.random.default_rng(seed)
    scale = np.array([1.5, 1.0, *[3.0] * (rows - 2)])[:rows, None]
    return scale * random.uniform(-1, 1, (rows, model.n))


def later(given: np.ndarray, t: float) -> np.ndarray:
    """The same at time t, of the polynomial with these derivatives at t = 0."""
    powers = np.array([t**m / factorial(m) for m in range(len(given))])
    return np.array([powers[: len(given) - i] @ given[i:] for i in range(len(given))])
