"""Random arms for the tests of compiled models: trees, slides, mimics, drives, springs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import geared_dynamics as gd
from control_arms import balancers
from driven_arms import driven_arm
from geared_dynamics.kernels.door import make_door
from geared_dynamics.trace.functions import FUNCTIONS
from random_robots import random_robot, random_state


def any_arm(seed: int) -> gd.GearedModel:
    """One of many kinds of arms: every second with complete drives, some with springs."""
    random = np.random.default_rng(seed)
    joints = int(random.integers(1, 7))
    if seed % 2:
        model = driven_arm(seed, joints=max(joints, 2), lock=locked(seed, max(joints, 2)))
        if seed % 3 == 0:
            model = driven_arm(seed, joints=max(joints, 2), balancers=balancers(model))
        return model
    case = random_robot(
        seed,
        joints=joints,
        mimics=int(random.integers(3)),
        fixed=1,
        wheels=int(random.integers(9)),
        branched=bool(random.integers(2)),
        massless=bool(random.integers(2)),
    )
    for spin in case.drivetrain["spins"]:
        if "ratio" in spin and seed % 4 == 0:
            spin["ratio"] *= 1000.0 / max(abs(spin["ratio"]), 1.0)
    return case.load()


def locked(seed: int, joints: int) -> dict[str, float]:
    """Joints of ``driven_arm`` that are frozen: of every fifth arm its first."""
    if seed % 5:
        return {}
    case = random_robot(seed, joints=joints, mimics=1, fixed=1, wheels=3, massless=False)
    return {case.joint_names[0]: 0.3} if seed % 3 else {}


def calls(model: gd.GearedModel, name: str, states: int) -> Iterator[dict[str, Any]]:
    """Arguments of a function, by name, at random states."""
    for k in range(states):
        yield dict(zip(FUNCTIONS[name].inputs, random_state(model.n, k), strict=False))


def difference(got: Any, expected: Any) -> float:
    """Largest difference, relative to the largest number expected."""
    largest = np.abs(expected).max(initial=0.0)
    return float(np.abs(np.asarray(got) - expected).max(initial=0.0) / (largest or 1.0))


def code_of(model: gd.GearedModel, name: str) -> Callable[..., Any]:
    """Return a model's own ``f(input 0, .., out or None)``; None where it declines."""
    inputs = FUNCTIONS[name].inputs

    def nothing(*_arguments: Any, **_named: Any) -> None:
        return None

    bare: Any = make_door(nothing, name, len(inputs), None, None)
    return lambda *values: bare(model, *values[:-1], out=values[-1])
