"""Sums over samples, from which all numbers of a comparison follow; sums of spans add."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.friction_and_balancers import balancer_forces, friction_forces
from geared_dynamics.dynamics.rigid import MODELS, TORQUE_TERMS, torque_terms
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.samples import Tally

# -- Torques that the model expects along a motion, term by term ----------------------------------
#
# The complete model's torque is the sum of all terms; the armature model's leaves the coupling
# out, the model without rotors also the armature:
#
#     tau = inertia + Coriolis + gravity        of the links with their wheels locked
#         + armature                            diag(Gamma' J Gamma) a
#         + coupling                            what else the wheels' spin does
#         + friction + springs                  of the joints and motors; between the links


TERMS = (*TORQUE_TERMS, "friction", "springs")


class Prediction(NamedTuple):
    """Torques (k, n) [N m or N]: by term, and of the three models."""

    terms: tuple[Array, ...]
    models: tuple[Array, Array, Array]


def predicted(model: GearedModel, q: Array, v: Array, a: Array) -> Prediction:
    """Compute all terms of the joint torque (k, n), joint side."""
    whole = model.with_coupling("complete")
    torques = torque_terms(whole, q, v, a)
    friction, springs = np.zeros((2, *q.shape))
    rubs = whole.joint_friction.count or len(whole.motors.friction.index)
    if rubs:
        friction = resisting(whole, q, v, torques[:, -1])
    if whole.balancers.names:
        springs = -balancer_forces(whole, q)
    if rubs or whole.balancers.names:
        torques[:, len(TORQUE_TERMS) :] += (friction + springs)[:, None]
    terms = (*(torques[:, k] for k in range(len(TORQUE_TERMS))), friction, springs)
    return Prediction(terms, (torques[:, -3], torques[:, -2], torques[:, -1]))


def resisting(model: GearedModel, q: Array, v: Array, tau: Array) -> Array:
    """Friction of the joints and, through A, of the rotors (k, n), joint side.

    Of the rotors' laws the viscous, Coulomb and constant parts: what a load or an angle
    changes in a motor is left to ``motor_commands``.
    """
    result = np.zeros(q.shape)
    if model.joint_friction.count:
        result += friction_forces(model, v, q, tau)
    laws, A = model.motors.friction, model.structure_matrix
    for k, motor in enumerate(laws.index):
        rate = v @ A[:, motor]
        level = np.where(rate >= 0.0, laws.coulomb[k, 0], laws.coulomb[k, 1])
        force = laws.viscous[k] * rate + level * np.tanh(rate / max(laws.smoothing[k], 1e-12))
        result += np.outer(force + laws.offset[k], A[:, motor])
    return result


# -- Sums over samples, from which all numbers of a comparison follow; sums of spans add ----------


# What the residual is compared with, to see what is missing: [r, v, sign v, 1, a].
CLUES = ("residual", "velocity", "direction", "constant", "acceleration")
BINS = 60


class Totals(NamedTuple):
    """Sums over samples; arrays of joints (n,), peaks are largest magnitudes.

    Attributes:
        samples: Their number.
        measured: Sum of squares of the measured torque (n,).
        measured_sum: Its sum (n,).
        measured_peak: Its peak (n,).
        residual: Sums of squares of measured less predicted, by model (3, n).
        residual_peak: Its peaks (3, n).
        terms: Sums of squares of the terms (terms, n).
        clues: Products of CLUES with each other (n, 5, 5).
        by_position: Count, sum and sum of squares of the complete model's residual in
            BINS of position (3, n, BINS).
        by_velocity: The same in BINS of velocity (3, n, BINS).
        saturated: Samples at the effort limit (n,).
        outside: Samples beyond the position limits (n,).
        motors: Sums of squares of torque, current, voltage (3, m); NaN where not known.
        motors_peak: Their peaks (3, m).
        exceeded: Samples beyond a limit of the motor (m,).
        tally: What was left out.
    """

    samples: int
    measured: Array
    measured_sum: Array
    measured_peak: Array
    residual: Array
    residual_peak: Array
    terms: Array
    clues: Array
    by_position: Array
    by_velocity: Array
    saturated: Array
    outside: Array
    motors: Array
    motors_peak: Array
    exceeded: Array
    tally: Tally

    def plus(self, other: Totals) -> Totals:
        """Return the totals of both."""
        joint: dict[str, Any] = {}
        for name in self._fields:
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "tally":
                joint[name] = mine.plus(theirs)
            elif name.endswith("_peak"):
                joint[name] = np.maximum(mine, theirs)
            else:
                joint[name] = mine + theirs
        return Totals(**joint)


def no_totals(n: int, m: int) -> Totals:
    """Totals of no samples."""
    z, models, bins = np.zeros(n), np.zeros((len(MODELS), n)), np.zeros((3, n, BINS))
    return Totals(
        samples=0, measured=z, measured_sum=z, measured_peak=z, residual=models,
        residual_peak=models, terms=np.zeros((len(TERMS), n)),
        clues=np.zeros((n, len(CLUES), len(CLUES))), by_position=bins, by_velocity=bins,
        saturated=z, outside=z, motors=np.zeros((3, m)), motors_peak=np.zeros((3, m)),
        exceeded=np.zeros(m), tally=Tally(),
    )  # fmt: skip


class SampleRanges(NamedTuple):
    """What is sorted into bins, and what counts as saturated: lower and upper (2, n)."""

    position: Array
    velocity: Array
    limits: Array
    effort: Array


def totals_of(
    q: Array,
    v: Array,
    a: Array,
    measured: Array,
    raw: Array,
    prediction: Prediction,
    ranges: SampleRanges,
) -> Totals:
    """Sum up samples (k, n), all joint side.

    Args:
        q: Position.
        v: Velocity.
        a: Acceleration.
        measured: Torque, filtered.
        raw: Torque as recorded, for saturation.
        prediction: What the model expects.
        ranges: Ranges of the bins, limits of position and torque.
    """
    k, n = q.shape
    # Joint by joint: NumPy is many times faster along the samples than along a few joints.
    torque, speed = np.ascontiguousarray(measured.T), np.ascontiguousarray(v.T)
    residuals = np.empty((len(MODELS), n, k))
    for residual, tau in zip(residuals, prediction.models, strict=True):
        np.subtract(torque, tau.T, out=residual)
    best = residuals[-1]
    low, high = ranges.limits
    return no_totals(n, 0)._replace(
        samples=k,
        measured=squares(torque.T),
        measured_sum=torque.sum(axis=-1),
        measured_peak=peak(torque.T),
        residual=squares(np.swapaxes(residuals, -2, -1)),
        residual_peak=peak(np.swapaxes(residuals, -2, -1)),
        terms=np.stack([squares(term) for term in prediction.terms]),
        clues=products_of_clues(best, speed, a),
        by_position=binned(q.T, best, ranges.position),
        by_velocity=binned(speed, best, ranges.velocity),
        saturated=counted(np.abs(raw) >= ranges.effort),
        outside=counted((q < low) | (q > high)),
    )


def products_of_clues(residual: Array, speed: Array, a: Array) -> Array:
    """Products of CLUES with each other (n, 5, 5), of residuals and speeds (n, k), a (k, n)."""
    result = np.empty((len(speed), len(CLUES), len(CLUES)))
    clues = np.ones((len(CLUES), speed.shape[1]))  # of one joint at a time: they stay in the cache
    for j, products in enumerate(result):
        clues[0], clues[1], clues[4] = residual[j], speed[j], a[:, j]
        np.sign(speed[j], out=clues[2])
        np.matmul(clues, clues.T, out=products)
    return result


def squares(values: Array) -> Array:
    """Sum of squares of samples (..., k, n)."""
    rows = by_joint(values)
    return np.asarray(np.einsum("...k,...k->...", rows, rows))


def counted(flags: BoolArray) -> Array:
    """How many of the samples (k, n) have a flag set (n,); mostly none has."""
    return flags.sum(axis=0).astype(float) if flags.any() else np.zeros(flags.shape[1])


def peak(values: Array) -> Array:
    """Largest magnitude of samples (..., k, n); 0 of none."""
    rows = by_joint(values)
    return np.asarray(np.maximum(rows.max(axis=-1, initial=0.0), -rows.min(axis=-1, initial=0.0)))


def by_joint(values: Array) -> Array:
    """Samples (..., k, n) as (..., n, k), those of a joint side by side in memory."""
    return np.ascontiguousarray(np.swapaxes(values, -2, -1))


def binned(x: Array, r: Array, range_: Array) -> Array:
    """Count, sum and sum of squares of r (n, k) by bins of x (3, n, BINS)."""
    result = np.zeros((3, len(x), BINS))
    for j, (low, high) in enumerate(range_.T):
        index = np.clip((x[j] - low) / (high - low) * BINS, 0, BINS - 1).astype(np.int64)
        for i, weight in enumerate((None, r[j], r[j] ** 2)):
            result[i, j] = np.bincount(index, weight, BINS)
    return result
