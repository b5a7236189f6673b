"""Arms with complete drives for the tests of the actuation room."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import geared_dynamics as gd
from random_robots import random_robot

MOTOR: dict[str, Any] = {
    "resistance": 0.8,
    "inductance": 1.5e-3,
    "torque_constant": 0.06,
    "friction": {
        "viscous": 2.0e-5,
        "coulomb": [0.02, 0.03],
        "stribeck": {"static": [0.05, 0.06], "speed": 3.0},
        "load": 0.01,
        "offset": 0.004,
        "ripple": [{"order": 7, "amplitude": 0.003, "phase": 0.4}],
        "smoothing": 0.5,
    },
    "efficiency": {"driving": 0.85, "backdriving": 0.7},
}
JOINT: dict[str, Any] = {
    "friction": {"viscous": 0.3, "coulomb": [0.8, 0.6], "load": 0.02, "smoothing": 0.01}
}


def driven_arm(
    seed: int = 0,
    joints: int = 4,
    balancers: dict[str, Any] | None = None,
    lock: dict[str, float] | None = None,
    **motor: Any,
) -> gd.GearedModel:
    """A random tree, a wheel carried somewhere and a motor for every joint, all coupled.

    Args:
        seed: Makes the tree.
        joints: Number of coordinates.
        balancers: Content of that section.
        lock: Joints to freeze, by name.
        motor: Overrides keys of every motor; None takes one away.
    """
    case = random_robot(seed, joints=joints, mimics=1, fixed=1, wheels=3, massless=False)
    drivetrain = copy.deepcopy(case.drivetrain)
    random = np.random.default_rng(seed + 1)
    links = [w["carrier"] for w in drivetrain["wheels"].values()]
    names = case.joint_names
    for k, joint in enumerate(names):
        name = f"rotor_{k}"
        drivetrain["wheels"][name] = {
            "carrier": links[k % len(links)],
            "axis": random.normal(size=3).tolist(),
            "mass": 0.2,
            "inertia": {"axial": float(random.uniform(1e-4, 4e-4))},
        }
        ratios = {joint: float(random.uniform(20, 80))}
        if k:
            ratios[names[k - 1]] = float(random.uniform(-30, 30))
        drivetrain["spins"].append({"wheel": name, "coefficients": ratios})
        entry = {"wheel": name, **copy.deepcopy(MOTOR), **motor}
        entry = {key: value for key, value in entry.items() if value is not None}
        drivetrain.setdefault("motors", {})[f"motor_{k}"] = entry
        drivetrain.setdefault("joints", {})[joint] = copy.deepcopy(JOINT)
    if balancers:
        drivetrain["balancers"] = balancers
    return gd.load_model(case.urdf, drivetrain, gravity=case.gravity, lock=lock or {})


def state(model: gd.GearedModel, seed: int, rows: int = 3) -> np.ndarray:
    """Random q, v, a, ... (rows, n)."""
    return np.random.default_rng(seed).normal(size=(rows, model.n))
