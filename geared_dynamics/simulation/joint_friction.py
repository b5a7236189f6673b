"""Friction of joints and rotors as the plants count it: with its jump, sticking, and impulses.

    force against a motion at rate v:  viscous v + constant + f
    f = level sign(v) in motion,  |f| <= level at rest

A law with two levels has their mean as ``level`` and half their difference as a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geared_dynamics.actuation.driven_dynamics import refuse_losses
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.model import GearedModel


@dataclass(frozen=True, eq=False)
class Friction:
    """Laws of joints, then of rotors, k of them.

    Attributes:
        joint: Coordinate of each (k,), -1 of rotors.
        motor: Motor of each (k,), -1 of joints.
        multiplier: Rate per rate of the coordinate (k,).
        shift: Position at q = 0, or the encoder's zero (k,).
        viscous: (k,) [N m s/rad or N s/m].
        coulomb: For positive and negative rates (k, 2).
        static: At breakaway, for positive and negative rates (k, 2).
        stribeck_speed: (k,).
        offset: Constant force (k,).
        ripple: Rows (law, order, amplitude, phase) (r, 4).
    """

    joint: IntArray
    motor: IntArray
    multiplier: Array
    shift: Array
    viscous: Array
    coulomb: Array
    static: Array
    stribeck_speed: Array
    offset: Array
    ripple: Array

    @property
    def count(self) -> int:
        """Number of laws."""
        return len(self.joint)

    def rows(self, structure: Array) -> Array:
        """Rates of the laws per rate of the coordinates x (k, N).

        Args:
            structure: The motors' structure matrix over x (N, m).
        """
        rows = np.zeros((self.count, len(structure)))
        joints = self.motor < 0
        rows[np.flatnonzero(joints), self.joint[joints]] = self.multiplier[joints]
        rows[~joints] = structure.T[self.motor[~joints]]
        return rows

    def of(self, joints: Array, motors: Array) -> Array:
        """Values of the laws (k,) from those of the joints (n,) and the motors (m,)."""
        both = np.concatenate([joints, motors])
        return np.asarray(
            self.multiplier * both[np.where(self.motor < 0, self.joint, len(joints) + self.motor)]
        )

    def levels(self, position: Array, rate: Array) -> tuple[Array, Array]:
        """Level f (k,), and constant force (k,) against the positive direction.

        Args:
            position: (k,) [rad or m].
            rate: (k,).
        """
        if self.steady:
            level, constant = self.mean, self.bias
        else:
            fade = np.exp(-((rate / self.stribeck_speed) ** 2))[:, None]
            pair = self.coulomb + (self.static - self.coulomb) * fade
            level = 0.5 * (pair[:, 0] + pair[:, 1])
            constant = 0.5 * (pair[:, 0] - pair[:, 1]) + self.offset
        if self.ripple.size:
            law = self.ripple[:, 0].astype(int)
            constant = constant.copy()
            order, amplitude, phase = self.ripple[:, 1:].T
            np.add.at(constant, law, amplitude * np.sin(order * position[law] + phase))
        return level, constant

    @cached_property
    def steady(self) -> bool:
        """Whether no level depends on the rate."""
        return bool(np.array_equal(self.static, self.coulomb))

    @cached_property
    def mean(self) -> Array:
        """Level in motion, of both directions (k,)."""
        return np.asarray(self.coulomb.mean(axis=1))

    @cached_property
    def bias(self) -> Array:
        """Half the difference of the two directions' levels, and the offset (k,)."""
        return np.asarray(self.coulomb @ [0.5, -0.5] + self.offset)


def friction_of(model: GearedModel, wanted: bool = True) -> Friction:
    """Friction of a model, or none.

    Raises:
        ModelError: naming a loss that depends on the load.
    """
    laws = (model.joint_friction, model.motors.friction)
    if wanted:
        refuse_losses(model, remedy="put the loss into coulomb friction for a plant")
    counts = [law.count for law in laws]
    joint = np.concatenate([laws[0].index, np.full(counts[1], -1)])
    motor = np.concatenate([np.full(counts[0], -1), laws[1].index])
    first = np.array([counts[0], 0.0, 0.0, 0.0])
    ripples = [laws[0].ripple, laws[1].ripple + first]
    keep = slice(None) if wanted else slice(0)

    def both(name: str) -> Array:
        return np.concatenate([getattr(law, name) for law in laws])[keep]

    return Friction(
        joint[keep],
        motor[keep],
        both("multiplier"),
        # A rotor's position is its encoder's angle, which has the zero in it already.
        np.concatenate([laws[0].shift, np.zeros(counts[1])])[keep],
        both("viscous"),
        both("coulomb"),
        both("static"),
        both("stribeck_speed"),
        both("offset"),
        np.concatenate(ripples) if wanted else np.zeros((0, 4)),
    )


# -- Impulses within bounds that bring rates to rest ----------------------------------------------


SLACK = 1e-10  # relative; a joint and its own rotor may rest together, W is then singular
ROUNDS = 60


def bounded_impulse(W: Array, rate: Array, low: Array, high: Array) -> Array:
    """Impulse p (k,) with low <= p <= high and rate + W p = 0 where p lies inside.

    At its lower bound a rate may stay below zero, at its upper above: the solution of a
    convex problem, min p' W p / 2 + rate' p within the bounds, by working sets; entries join and
    leave the bounds until none is wrong.

    Args:
        W: Rates per impulse, symmetric, positive semi-definite (k, k).
        rate: Rates before (k,).
        low: Lower bounds (k,).
        high: Upper bounds (k,).
    """
    if len(rate) == 1:  # most often
        return np.asarray(np.minimum(np.maximum(-rate / W[0, 0], low), high))
    soft = softened(W)
    p: Array = np.asarray(np.linalg.solve(soft, -rate), np.float64)
    clipped = np.minimum(np.maximum(p, low), high)
    tolerance = SLACK * (np.abs(rate).max() + W.trace() * np.abs(clipped).max())
    for _ in range(ROUNDS):
        if (clipped == p).all():
            slope = rate + soft @ p
            wrong = ((p <= low) & (slope < -tolerance)) | ((p >= high) & (slope > tolerance))
            if not wrong.any():
                return p
            inside = ((p > low) & (p < high)) | wrong
        else:
            inside = (clipped > low) & (clipped < high)
        p = clipped.copy()
        free = inside.nonzero()[0]
        p[free] = 0.0
        if len(free):
            load = rate + soft @ p
            p[free] = np.linalg.solve(soft[free[:, None], free], -load[free])
        clipped = np.minimum(np.maximum(p, low), high)
    return descended(soft, rate, low, high, clipped)


def softened(W: Array) -> Array:
    """W with a little more on its diagonal."""
    soft = W.copy()
    soft.flat[:: len(W) + 1] += SLACK * W.trace()
    return soft


def soft_solve(W: Array, right: Array) -> Array:
    """W^-1 right of a matrix that may be singular (k, k)."""
    if len(W) == 1:
        return np.asarray(right / W[0, 0])
    return np.asarray(np.linalg.solve(softened(W), right))


def descended(W: Array, rate: Array, low: Array, high: Array, p: Array) -> Array:
    """The same by descent along one entry after the other, which always converges."""
    p = p.copy()
    for _ in range(50 * len(p)):
        before = p.copy()
        for i in range(len(p)):
            slope = rate[i] + W[i] @ p
            p[i] = min(max(p[i] - slope / W[i, i], low[i]), high[i])
        if np.abs(p - before).max() <= SLACK * max(np.abs(p).max(), 1e-300):
            break
    return p
