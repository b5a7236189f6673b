"""What the armature model leaves out, by cause, along a motion.

With the mass matrix M_locked + G'JG + G'JZ + Z'JG the armature model keeps diag(G'JG) only:

    transmission   (G'JG - diag) a                  drives of several joints, wheels shared
    rotor-link     (G'JZ + Z'JG) a                  rotors feel their carriers' acceleration
    gyroscopic     the Coriolis forces of the same  spinning rotors resist being turned

Part of it may be absorbed: there are other masses and inertias of the links with which the
armature model gives exactly the same torques. For a rotor coaxial with its joint on the link
before it that is all of it (I_zz,j += N J, I_a += (N^2 - N) J, I_zz,j-1 -= N J), so that no
recording of motions and torques can show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import geared_dynamics as gd
from geared_dynamics.analysis.crosscheck import Ranges, random_states, state_ranges
from geared_dynamics.analysis.report import table
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.packing import BODY_PARAMETERS, columns_of
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.dynamics.rigid import bias_forces, inverse_dynamics
from geared_dynamics.model import GearedModel

# -- How far the usual models of the rotors are from the complete one, in N m per joint -----------


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

    def __repr__(self) -> str:
        """One line."""
        worst = self.worst
        return (
            f"<CouplingGap over {self.states} states: armature model off by "
            f"{worst.diagonal.percent:.3g} % at {worst.joint}>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        heads = ("joint", "unit", "force RMS", "armature RMS", "peak", "%", "no rotors RMS", "%")
        rows = [
            (j.joint, j.unit, j.rms, *j.diagonal, j.none.rms, j.none.percent) for j in self.joints
        ]
        return table("Error of simpler rotor models", heads, rows)


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
    rms = _rms(complete)
    joints = tuple(
        JointGap(
            joint=name,
            unit=model.force_units[k],
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


# -- For which elements of the mass matrix the diagonal (armature) model is exact -----------------


POSTURES = 64  # an element that differs anywhere differs at random postures
EXACT = 1e-12  # relative to sqrt(M_ii M_jj), far above rounding


class Exactness(NamedTuple):
    """Where M with armature only equals the complete M, in every posture.

    Attributes:
        exact: True where the two agree (n, n).
        error: Largest difference of the element over random postures (n, n) [as M].
        share: The same relative to sqrt(M_ii M_jj) of the complete model (n, n).
    """

    exact: Array
    error: Array
    share: Array


def diagonal_exactness(model: GearedModel, *, seed: int = 0) -> Exactness:
    """Compare the mass matrices of the complete and the diagonal model.

    The difference is Gamma' J Z + Z' J Gamma and the off-diagonal of Gamma' J Gamma:
    it vanishes for a motor on a link whose angular velocity is null or orthogonal to
    the rotor's axis in every posture, and that drives one joint only (Sciavicco 1994, end
    of section 4).

    Args:
        model: Geared model.
        seed: Of the random postures.
    """
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, (POSTURES, model.n))
    complete = gd.mass_matrix(model.with_coupling("complete"), q)
    diagonal = gd.mass_matrix(model.with_coupling("diagonal"), q)
    size = np.sqrt(np.diagonal(complete, axis1=-2, axis2=-1))
    error = np.abs(complete - diagonal)
    share = (error / (size[:, :, None] * size[:, None, :])).max(axis=0)
    return Exactness(share < EXACT, np.where(share < EXACT, 0.0, error.max(axis=0)), share)


# -- What the armature model leaves out, by cause, along a motion ---------------------------------


CAUSES = ("transmission", "rotor-link", "gyroscopic")
STATES = 40  # random ones per unknown of the absorbing fit
ROUNDING = 1e-11  # of the torque: coupling below it is none
ABSORBED = 1e-6  # share that is left: rounding of a fit


class CouplingShares(NamedTuple):
    """What the armature model gets wrong.

    Attributes:
        rms: RMS of the joint torque, complete model (n,) [N m or N].
        parts: RMS of each cause (3, n).
        total: RMS of all three together (n,).
        peak: Peak of all three together (n,).
        unabsorbed: Share of ``total`` that no other link parameters give (n,), over random
            states: 0 where a recording cannot show it.
    """

    rms: Array
    parts: Array
    total: Array
    peak: Array
    unabsorbed: Array

    @property
    def percent(self) -> Array:
        """Total in percent of the joint torque (n,)."""
        return 100.0 * self.total / np.where(self.rms > 0.0, self.rms, np.inf)


class CouplingSums(NamedTuple):
    """Sums over samples, from which the shares follow; sums of spans add."""

    samples: int
    torque: Array
    parts: Array
    total: Array
    peak: Array

    def plus(self, other: CouplingSums) -> CouplingSums:
        """Return the sums of both."""
        return CouplingSums(
            self.samples + other.samples,
            self.torque + other.torque,
            self.parts + other.parts,
            self.total + other.total,
            np.maximum(self.peak, other.peak),
        )

    def shares(self, unabsorbed: Array) -> CouplingShares:
        """Return the shares."""
        sums = (self.torque, self.parts, self.total)
        torque, parts, total = (np.sqrt(x / max(self.samples, 1)) for x in sums)
        return CouplingShares(torque, parts, total, self.peak, unabsorbed)


def coupling_parts(model: GearedModel, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """Torque of each of the three causes (k, n) [N m or N], joint side.

    Args:
        model: Geared model; its ``coupling`` does not matter.
        q: Joint position (k, n) [rad or m].
        v: Joint velocity (k, n).
        a: Joint acceleration (k, n).
    """
    complete, locked = model.with_coupling("complete"), model.with_coupling("none")
    inertia = model.reflected_inertia
    transmission = a @ (inertia - np.diag(inertia.diagonal()))
    gyroscopic = bias_forces(complete, q, v) - bias_forces(locked, q, v)
    whole = inverse_dynamics(complete, q, v, a) - inverse_dynamics(locked, q, v, a)
    return transmission, whole - a @ inertia - gyroscopic, gyroscopic


def coupling_sums(model: GearedModel, q: Array, v: Array, a: Array) -> CouplingSums:
    """Sum up states (k, n)."""
    parts = np.stack(coupling_parts(model, q, v, a))
    total = parts.sum(axis=0)
    torque = inverse_dynamics(model.with_coupling("complete"), q, v, a)
    return CouplingSums(
        len(q),
        (torque**2).sum(axis=0),
        (parts**2).sum(axis=1),
        (total**2).sum(axis=0),
        np.abs(total).max(axis=0, initial=0.0),
    )


def unabsorbed_share(model: GearedModel, *, seed: int = 0) -> Array:
    """Share of the coupling that no other parameters of links and armature give (n,).

    Args:
        model: Geared model.
        seed: Of the random states.
    """
    first = [*columns_of(model).bodies]
    columns = [k + i for k in first for i in range(len(BODY_PARAMETERS))]
    random = np.random.default_rng(seed)
    states = -(-STATES * len(columns) // model.n)
    q = random.uniform(-np.pi, np.pi, (states, model.n))
    v, a = 3.0 * random.normal(size=(2, states, model.n))
    total = np.sum(coupling_parts(model, q, v, a), axis=0)
    size = np.sqrt(np.mean(total**2, axis=0))
    torque = inverse_dynamics(model.with_coupling("complete"), q, v, a)
    size[size <= ROUNDING * np.sqrt(np.mean(torque**2, axis=0))] = 0.0
    weight = 1.0 / np.where(size > 0.0, size, 1.0)
    own = a[:, :, None] * np.eye(model.n)
    Y = np.concatenate([regressor(model, q, v, a)[..., columns], own], axis=-1)
    W = (weight[:, None] * Y).reshape(-1, Y.shape[-1])
    scale = np.maximum(np.linalg.norm(W, axis=0), 1e-300)
    x = np.linalg.lstsq(W / scale, (weight * total).ravel(), rcond=1e-12)[0] / scale
    left = np.sqrt(np.mean((total - Y @ x) ** 2, axis=0)) * weight
    share = np.where(size > 0.0, left, 0.0)
    return np.where(share < ABSORBED, 0.0, share)
