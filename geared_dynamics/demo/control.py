"""The three ways to control the arm: the same gains, other terms of the dynamics fed forward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.terms import Terms
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.model import GearedModel

BANDWIDTH = 30.0  # of each joint's loop [rad/s], critically damped


class Way(NamedTuple):
    """One way to control the arm.

    Attributes:
        name: On the graph and in the recording.
        label: For people.
        terms: What is fed forward.
    """

    name: str
    label: str
    terms: Terms


NOTHING = Terms(**dict.fromkeys((field.name for field in fields(Terms)), False))
WAYS = (
    Way("no_feedforward", "no feedforward", NOTHING),
    Way("armature", "armature model", Terms(use_rotor_coupling=False)),
    Way("complete", "complete model", Terms()),
)


def gains(model: GearedModel, q: Array) -> Mapping[str, float]:
    """Parameters ``gains.<joint>.p``, ``.d``: k = w^2 M_ii, d = 2 w M_ii, M_ii the largest.

    Args:
        model: Geared model.
        q: Positions of the motion (k, n).
    """
    inertia = np.diagonal(mass_matrix(model, q), axis1=-2, axis2=-1).max(axis=0)
    found = {}
    for name, value in zip(model.joint_names, inertia, strict=True):
        found[f"gains.{name}.p"] = float(BANDWIDTH**2 * value)
        found[f"gains.{name}.d"] = float(2.0 * BANDWIDTH * value)
    return found


def switches(way: Way) -> dict[str, Any]:
    """The node's parameters for a way."""
    return {field.name: getattr(way.terms, field.name) for field in fields(Terms)}
