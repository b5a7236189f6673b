"""One span of a recording, compared with the model: torques that are expected, sums of samples.

What a span gives is a pure function of task and number; the sums of spans add, and all numbers of
a comparison follow from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.actuation.motor_commands import motor_commands
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.dynamics.drives import balancer_forces, friction_forces
from geared_dynamics.dynamics.rigid import MODELS, TORQUE_TERMS, torque_terms
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import JointMotion, joint_torques
from geared_dynamics.recordings.samples import Tally
from geared_dynamics.recordings.spans import MotionReader

# -- One span, compared with the model ------------------------------------------------------------


BUCKETS = 1500  # of a whole recording, for display only; half as many again for gaps


@dataclass(frozen=True, eq=False)
class ComparisonTask:
    """What is done to each span of a recording; it can be sent to another process.

    Attributes:
        reader: Of the recording, with the complete model.
        cutoff: Of the filters [Hz].
        ranges: Of bins and limits.
        keep: Whether to return all samples.
        motors: Whether to compute the motors' currents and voltages.
        rest: Speed [rad/s or m/s] that a joint must reach for a sample to count; 0: all count.
    """

    reader: MotionReader
    cutoff: float
    ranges: SampleRanges
    keep: bool = False
    motors: bool = False
    rest: float = 0.0


class Kept(NamedTuple):
    """All samples of a span: stamp (k,) [ns] and arrays (k, n), joint side."""

    stamp: IntArray
    q: Array
    v: Array
    a: Array
    measured: Array
    models: tuple[Array, Array, Array]
    friction: Array


class SpanResult(NamedTuple):
    """What a span gives.

    Attributes:
        totals: Its sums.
        stamp: First and last sample of each bucket (b, 2) [ns].
        drawn: Least and largest value of measured, three models' and residual torque in each
            bucket (2, 5, b, n).
        kept: All samples, if asked for.
        travel: Sum of squares of the velocity (n,): where most of the motion is.
        turns: Jumps by whole turns that were taken out of the positions (n,).
    """

    totals: Totals
    stamp: IntArray
    drawn: Array
    kept: tuple[Kept, ...]
    travel: Array
    turns: Array


def span_result(task: ComparisonTask, span: int) -> SpanResult:
    """Compare one span with the model."""
    parts, tally, turns = task.reader.motions(span, task.cutoff)
    model, travel = task.reader.model, np.zeros(task.reader.model.n)
    totals = no_totals(model.n, len(model.motor_names))._replace(tally=tally)
    stamps, signals, kept = [], [], []
    resting = 0
    for whole in parts:
        part, runs = in_motion(whole, task.rest)
        resting += len(whole.q) - len(part.q)
        if not len(part.q):
            continue
        measured = joint_torques(model, task.reader.meaning, part.q, part.effort)
        raw = joint_torques(model, task.reader.meaning, part.q, part.raw)
        prediction = predicted(model, part.q, part.v, part.a)
        own = totals_of(part.q, part.v, part.a, measured, raw, prediction, task.ranges)
        motors, motors_peak, exceeded = motor_totals(task, part)
        own = own._replace(motors=motors, motors_peak=motors_peak, exceeded=exceeded)
        totals = totals.plus(own)
        travel = travel + squares(part.v)
        stamps += runs
        shown = np.empty((5, *measured.shape))
        shown[0], shown[1:4] = measured, prediction.models
        np.subtract(measured, prediction.models[-1], out=shown[4])
        signals.append(shown)
        if task.keep:
            kept.append(Kept(*part[:4], measured, prediction.models, prediction.terms[5]))
    totals = totals._replace(tally=totals.tally._replace(resting=resting))
    if not stamps:
        nothing = np.empty((2, 5, 0, model.n))
        return SpanResult(totals, np.empty((0, 2), np.int64), nothing, (), travel, turns)
    buckets = max(1, BUCKETS // task.reader.recording.spans)
    shown = signals[0] if len(signals) == 1 else np.concatenate(signals, axis=1)
    stamp, drawn = extremes_of(stamps, shown, buckets)
    return SpanResult(totals, stamp, drawn, tuple(kept), travel, turns)


def in_motion(part: JointMotion, rest: float) -> tuple[JointMotion, list[IntArray]]:
    """Leave out the samples at which every joint is slower than ``rest``.

    Args:
        part: A motion without gaps.
        rest: Speed [rad/s or m/s].

    Returns:
        The other samples, and the stamps of each run of them.
    """
    if not rest:
        return part, [part.stamp]
    moving = (np.abs(part.v) >= rest).any(axis=1)
    at = np.flatnonzero(moving)
    cuts = np.flatnonzero(np.diff(at) > 1) + 1
    return part.rows(at), np.split(part.stamp[at], cuts)


def motor_totals(task: ComparisonTask, part: JointMotion) -> tuple[Array, Array, Array]:
    """Sums of squares and peaks of the motors' torque, current, voltage; samples beyond limits.

    NaN is a current or voltage for which a motor's data are missing.
    """
    model = task.reader.model
    m = len(model.motor_names)
    if not task.motors:
        return np.zeros((3, m)), np.zeros((3, m)), np.zeros(m)
    commands = motor_commands(model, part.q, part.v, part.a)
    electrics = model.motors
    unknown = np.full(commands.torque.shape, np.nan)
    known = not np.isnan(electrics.torque_constant).any()
    current = commands.current if known else unknown
    voltage = commands.voltage if known and not np.isnan(electrics.resistance).any() else unknown
    values = np.stack([commands.torque, current, voltage])
    beyond = (commands.binding != 0).sum(axis=0).astype(float)
    return squares(values), peak(values), beyond


def extremes_of(stamps: list[IntArray], values: Array, buckets: int) -> tuple[IntArray, Array]:
    """Least and largest values within buckets of equal numbers of samples, cut at gaps.

    Args:
        stamps: Of each stretch (k,) [ns].
        values: Signals (s, k, n) of all stretches, one after another.
        buckets: Their number without gaps. Half as many of the longest gaps cut them once more;
            where there are more gaps than that, the short ones are within buckets.

    Returns:
        First and last sample of each bucket (b, 2) [ns], and extremes (2, s, b, n).
    """
    stamp, ends = np.concatenate(stamps), np.cumsum([len(part) for part in stamps])
    gaps = ends[:-1]
    jump = np.abs(stamp[gaps] - stamp[gaps - 1])  # a clock that is set back is a gap, too
    longest = gaps[np.argsort(-jump, kind="stable")[: max(1, buckets // 2)]]
    width = -(-len(stamp) // buckets)
    edges = np.union1d(np.arange(0, len(stamp), width), longest).astype(np.int64)
    low = np.minimum.reduceat(values, edges, axis=1)
    high = np.maximum.reduceat(values, edges, axis=1)
    last = np.append(edges[1:], len(stamp)) - 1
    return np.stack([stamp[edges], stamp[last]], axis=1), np.stack([low, high])


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
    """Compute all terms of the joint torque (k, n), joint side, of a complete model."""
    torques = torque_terms(model, q, v, a)
    friction, springs = np.zeros((2, *q.shape))
    rubs = model.joint_friction.count or len(model.motors.friction.index)
    if rubs:
        friction = resisting(model, q, v, torques[:, -1])
    if model.balancers.names:
        springs = -balancer_forces(model, q)
    if rubs or model.balancers.names:
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
        saturated=(np.abs(raw) >= ranges.effort).sum(axis=0).astype(float),
        outside=((q < low) | (q > high)).sum(axis=0).astype(float),
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
