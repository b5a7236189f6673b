"""Elastic arms with motors for the tests of the simulation room."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import geared_dynamics as gd
from elastic_arms import URDF, elbow_drives

MOTOR: dict[str, Any] = {"resistance": 0.8, "inductance": 1.6e-4, "torque_constant": 0.06}
FRICTION: dict[str, Any] = {"viscous": 2e-5, "coulomb": 0.01}
JOINT: dict[str, Any] = {"viscous": 0.3, "coulomb": 1.0, "smoothing": 0.02}


def arm(
    *,
    elastic: tuple[int, ...] = (1, 2, 3),
    damping: float = 2.0,
    factor: float = 1.0,
    friction: bool = False,
    backlash: float = 0.0,
    balancers: dict[str, Any] | None = None,
    **motor: Any,
) -> gd.GearedModel:
    """The elbow with motors and springs, those of the other joints rigid.

    Args:
        elastic: Joints with a spring, counted from 1.
        damping: Of the springs.
        factor: Multiplies the springs' stiffness.
        friction: Whether joints and rotors rub.
        backlash: Of the springs [rad].
        balancers: Content of that section.
        motor: Keys of every motor to change; None takes one away.
    """
    drives = elbow_drives(damping, factor)
    for k in (1, 2, 3):
        joint = drives["joints"][f"joint_{k}"]
        if k not in elastic:
            joint.clear()
        elif backlash:
            joint["backlash"] = backlash
        if friction:
            joint["friction"] = dict(JOINT)
        entry = {"wheel": f"rotor_{k}", **copy.deepcopy(MOTOR), **motor}
        if friction:
            entry["friction"] = dict(FRICTION)
        if not joint:
            del drives["joints"][f"joint_{k}"]
        drives["motors"][f"motor_{k}"] = {a: b for a, b in entry.items() if b is not None}
    if balancers:
        drives["balancers"] = balancers
    return gd.load_model(URDF / "elbow.urdf", drives)


def moving(model: gd.GearedModel, current: float | None = None, twist: float = 1e-4) -> Any:
    """A state in motion, springs twisted a little."""
    q, v = np.array([0.3, -0.5, 0.8]), np.array([0.4, -0.3, 0.5])
    R = model.elasticity.rigid
    flow = None if current is None else np.full(3, current)
    return gd.State(q, v, R @ q + twist, R @ v, flow)


def kinds() -> dict[str, gd.GearedModel]:
    """Arms of every kind."""
    return {
        "all elastic": arm(),
        "some elastic": arm(elastic=(2,)),
        "friction": arm(elastic=(1, 3), friction=True),
        "no inductance": arm(inductance=None),
        "stiff": arm(factor=100.0, damping=500.0),
    }
