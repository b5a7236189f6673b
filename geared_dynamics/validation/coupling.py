"""How far the usual models of the rotors are from the complete one, in N m per joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from geared_dynamics.validation.states import Ranges, random_states, state_ranges


class Gap(NamedTuple):
    """Difference of a joint's force between two models over the states.

    Attributes:
        rms: Root mean square [N m or N].
        peak: Largest magnitude [N m or N].
        percent: rms in percent of the joint's RMS force (complete model, with gravity).
    """

    rms: float
    peak: float
    percent: float


class JointGap(NamedTuple):
    """What the wheels' coupling is worth at one joint.

    Attributes:
        joint: The joint's name.
        unit: ``N m``, or ``N`` for a prismatic joint.
        rms: The joint's RMS force, complete model [unit].
        diagonal: Complete less diagonal (armature) model.
        none: Complete less the model without the wheels' spin.
    """

    joint: str
    unit: str
    rms: float
    diagonal: Gap
    none: Gap


@dataclass(frozen=True)
class CouplingGap:
    """Gap of every joint, over ``states`` random states drawn from ``ranges``."""

    joints: tuple[JointGap, ...]
    states: int
    seed: int
    ranges: Ranges

    @property
    def worst(self) -> JointGap:
        """The joint where the diagonal model is worst in percent of the joint's force."""
        return max(self.joints, key=lambda joint: joint.diagonal.percent)


def coupling_gap(model: GearedModel, *, states: int = 100, seed: int = 0) -> CouplingGap:
    """Compare inverse dynamics of the complete, diagonal and spinless model.

    Args:
        model: Geared model; its own ``coupling`` does not matter.
        states: Number of random states, drawn as ``state_ranges`` says.
        seed: Seed of the states.
    """
    drawn = random_states(model, states, seed)
    complete, diagonal, none = (
        np.asarray(gd.inverse_dynamics(model.with_coupling(kind), *drawn))
        for kind in ("complete", "diagonal", "none")
    )
    kinds = {joint.name: joint.kind for joint in model.robot.joints}
    rms = _rms(complete)
    joints = tuple(
        JointGap(
            joint=name,
            unit="N" if kinds[name] == "prismatic" else "N m",
            rms=float(rms[k]),
            diagonal=_gap(complete[:, k] - diagonal[:, k], float(rms[k])),
            none=_gap(complete[:, k] - none[:, k], float(rms[k])),
        )
        for k, name in enumerate(model.joint_names)
    )
    return CouplingGap(joints, states, seed, state_ranges(model))


def _gap(difference: Array, reference: float) -> Gap:
    """Sum up one joint's differences (N,); percent of 0 force is 0 when nothing differs."""
    rms = float(_rms(difference))
    share = rms / reference if reference > 0 else float(rms > 0)
    return Gap(rms, float(np.abs(difference).max()), 100 * share)


def _rms(values: Array) -> Array:
    """Root mean square over the first axis."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))
