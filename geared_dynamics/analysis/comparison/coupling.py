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

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.columns import BODY_PARAMETERS, columns_of
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.dynamics.rigid import bias_forces, inverse_dynamics
from geared_dynamics.model import GearedModel

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
