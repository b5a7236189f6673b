"""Arms with elastic joints for the tests."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import geared_dynamics as gd
from random_robots import random_robot

URDF = Path(__file__).resolve().parent.parent / "urdf"
STIFFNESS = (9.0e3, 7.0e3, 3.0e3)  # [N m/rad]


def elbow_drives(damping: float = 0.0, factor: float = 1.0) -> dict[str, Any]:
    """The elbow's drivetrain with three springs; ``factor`` multiplies their stiffness."""
    drives = yaml.safe_load((URDF / "elbow.drivetrain.yaml").read_text(encoding="utf-8"))
    drives["joints"] = {
        f"joint_{k + 1}": {"stiffness": factor * stiffness, "damping": damping}
        for k, stiffness in enumerate(STIFFNESS)
    }
    return drives


def elbow(damping: float = 0.0, factor: float = 1.0) -> gd.GearedModel:
    """The elbow with three elastic joints."""
    return gd.load_model(URDF / "elbow.urdf", elbow_drives(damping, factor))


def elastic_arm(
    seed: int,
    joints: int = 5,
    *,
    share: float = 1.0,
    coupled: bool = True,
    extra: bool = True,
    damping: float = 3.0,
    ratio: float = 1.0,
    belts: int = 0,
    **options: Any,  # forwarded: keywords of random_robot
) -> gd.GearedModel:
    """A random arm with a motor for each joint, anywhere and skew.

    Args:
        seed: Makes the arm.
        joints: Number of coordinates q.
        share: Part of the joints that are elastic; at least one is.
        coupled: Whether motors turn with two joints.
        extra: Whether there are other wheels, some of them on the link side, and mimics.
        damping: Of the springs.
        ratio: Multiplies the first motor's ratios (a negative control).
        belts: How many of the first motors have a spring between rotor and a pulley, with a
            brake disc on the rotor's side.
        options: Other keywords of ``random_robot``.
    """
    parts = {"mimics": 1, "wheels": 4} if extra else {"mimics": 0, "wheels": 0, "coupled": False}
    case = random_robot(seed, **{"joints": joints, "fixed": 1, **parts, **options})
    random = np.random.default_rng(seed + 1)
    drives = copy.deepcopy(case.drivetrain)
    for wheel in drives["wheels"].values():
        wheel["side"] = str(random.choice(["motor", "link"]))
    links = [part.split('"')[0] for part in case.urdf.split('<link name="')[1:]]
    drives["motors"], drives["joints"] = {}, {}
    names = case.joint_names
    for k, joint in enumerate(names):
        name = f"rotor_{k}"
        drives["wheels"][name] = {
            "carrier": links[random.integers(len(links))],
            "axis": random.normal(size=3).tolist(),
            "position": random.uniform(-0.2, 0.2, 3).tolist(),
            "mass": 0.2,
            "inertia": {"axial": float(random.uniform(1e-4, 4e-4)), "transverse": 3e-4},
        }
        ratios = {joint: float(random.uniform(20, 80))}
        if k and coupled:
            ratios[names[k - 1]] = float(random.uniform(-30, 30))
        if k == 0:
            ratios = {joint: ratio * value for joint, value in ratios.items()}
        drives["spins"].append({"wheel": name, "coefficients": ratios})
        drives["motors"][f"motor_{k}"] = {"wheel": name}
        for part, factor in (("brake", 1.0), ("pulley", -0.4)) if k < belts else ():
            drives["wheels"][f"{part}_{k}"] = {
                "carrier": links[random.integers(len(links))],
                "axis": random.normal(size=3).tolist(),
                "inertia": {"axial": 2e-4},
                "mass": 0.1,
            }
            scaled = {name: factor * value for name, value in ratios.items()}
            drives["spins"].append({"wheel": f"{part}_{k}", "coefficients": scaled})
        if k < belts:
            drives.setdefault("springs", {})[f"belt_{k}"] = {
                "between": [name, f"pulley_{k}"],
                "with": [f"brake_{k}"],
                "stiffness": float(random.uniform(1.0, 9.0)),
                "damping": 1e-3,
            }
        if k == joints // 2 or random.random() < share:
            stiffness = float(10 ** random.uniform(3, 4.5))
            drives["joints"][joint] = {"stiffness": stiffness, "damping": damping}
    return gd.load_model(case.urdf, drives, gravity=case.gravity)


def joined(
    q: np.ndarray, theta: np.ndarray, v: np.ndarray, vtheta: np.ndarray, *more: np.ndarray
) -> gd.State:
    """A state from pairs (q, theta) and (v, vtheta), as ``state`` makes them; more is left out."""
    return gd.State(q, v, theta, vtheta)


def with_state(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name with q, v, theta and vtheta as one state; what is missing is zero."""
    rest = dict(given)
    parts = {name: rest.pop(name, np.zeros(2)) for name in ("q", "v", "theta", "vtheta")}
    return {"state": gd.State(**parts), **rest}


def state(model: gd.GearedModel, seed: int, rows: int = 3) -> list[np.ndarray]:
    """Random q, theta near it, v, vtheta, a, atheta, ...: pairs, ``rows`` of them."""
    random = np.random.default_rng(seed)
    rigid = model.elasticity.rigid
    arrays = []
    for row in range(rows):
        link = random.uniform(-2, 2, model.n)
        shaft = rigid @ link + random.normal(size=len(rigid)) * (0.01 if row == 0 else 1.0)
        arrays += [link, shaft]
    return arrays
