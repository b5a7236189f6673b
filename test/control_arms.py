"""Arms, states and references for the tests of the control room."""

from __future__ import annotations

import numpy as np

import geared_dynamics as gd
from driven_arms import driven_arm

Array = np.ndarray


def sample(model: gd.GearedModel, seed: int = 0) -> tuple[Array, Array, Array]:
    """Random q, v, a."""
    q, v, a = np.random.default_rng(seed).uniform(-1, 1, (3, model.n)) * [[2.0], [1.0], [3.0]]
    return q, v, a


def arms() -> dict[str, gd.GearedModel]:
    """Arms of all kinds: coupled with losses, balanced, armature only, without rotors' spin."""
    full = driven_arm(3)
    return {
        "complete": full,
        "diagonal": full.with_coupling("diagonal"),
        "none": full.with_coupling("none"),
        "balanced": driven_arm(4, balancers=balancers(driven_arm(4))),
        "low ratio": driven_arm(5, efficiency=None, friction=None),
    }


def balancers(model: gd.GearedModel) -> dict[str, object]:
    """A torsion spring on the first joint."""
    return {"coil": {"joint": model.joint_names[0], "torsion": {"stiffness": 30.0, "rest": 0.2}}}
