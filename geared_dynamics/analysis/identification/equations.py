"""Equations Y x = tau from recordings, both sides filtered alike and thinned out.

The same filter over both sides leaves the equations true and takes out what is above the
motion; after it, samples closer than its bandwidth say the same twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.comparison.analyze import found_bandwidth, ranges_of
from geared_dynamics.analysis.comparison.span import Plan, motions
from geared_dynamics.analysis.identification.columns import column_names, columns
from geared_dynamics.analysis.reading.meaning import Meaning, joint_torques, motor_columns
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.reading.recording import Recording
from geared_dynamics.analysis.reading.samples import Tally
from geared_dynamics.analysis.signals.bandwidth import WIDER
from geared_dynamics.analysis.signals.filters import context, usable_cutoff, zero_phase
from geared_dynamics.analysis.signals.motion import Motion, Velocity
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.model import GearedModel

BLOCK = 4096  # samples whose columns are held at full rate
PER_BANDWIDTH = 2.5  # samples per second and Hz that are kept
MOST = 20_000  # samples in all
SLOW = 0.02  # of the joint's top speed: around a reversal friction is no constant


JOINT_TORQUES = Meaning()


@dataclass(frozen=True)
class Settings:
    """How recordings become equations.

    Attributes:
        meaning: What their numbers are.
        bandwidth: Of the filter before differentiation [Hz]; None: five times the motion's.
        keep: Bandwidth of the equations [Hz]; None: a fifth of ``bandwidth``.
        slow: Share of top speed below which a joint's equation is left out.
        velocity: Where velocities come from.
        holdout: Share of each recording, at its end, that is kept for validation.
    """

    meaning: Meaning = JOINT_TORQUES
    bandwidth: float | None = None
    keep: float | None = None
    slow: float = SLOW
    velocity: Velocity = "position"
    holdout: float = 0.2


class Equations(NamedTuple):
    """Equations of k samples, n each.

    Attributes:
        names: Of the columns (p,).
        Y: (k, n, p).
        tau: (k, n) [N m or N], joint side.
        effort: Recorded motor efforts (k, m), for gains; empty if they are not the motors'.
        used: Which joints move enough in which sample (k, n).
        run: Which recording a sample is of (k,).
        held: Samples kept for validation (k,).
        rate: Samples per second of a run.
        bandwidth: Of the filter before differentiation, and of the equations [Hz].
        notes: What is wrong with the recordings, and what was left out, a line each.
    """

    names: tuple[str, ...]
    Y: Array
    tau: Array
    effort: Array
    used: BoolArray
    run: IntArray
    held: BoolArray
    rate: float
    bandwidth: tuple[float, float]
    notes: tuple[str, ...] = ()


def equations(
    model: GearedModel,
    recordings: Sequence[Recording],
    settings: Settings | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Equations:
    """Make equations of recordings.

    Args:
        model: Geared model; its geometry, Gamma and A matter, its parameters do not.
        recordings: Of the same robot and of the same meaning.
        settings: How.
        progress: Called with spans done and all spans.

    Raises:
        RecordingError: If there is too little motion in them.
    """
    settings = settings or Settings()
    cutoff = settings.bandwidth or WIDER * max(
        found_bandwidth(model, item, settings.meaning) for item in recordings
    )
    keep = settings.keep or cutoff / WIDER
    total = sum(item.spans for item in recordings)
    done, parts, counts, notes = 0, [], [], []
    samples = (
        sum(item.reader.pieces * 4096 / item.rate for item in recordings) * PER_BANDWIDTH * keep
    )
    thin = max(1, int(np.ceil(samples / MOST)))
    for item in recordings:
        plan = Plan(model, item, settings.meaning, cutoff, settings.velocity, ranges_of(model))
        factor = max(1, int(item.rate / (PER_BANDWIDTH * keep))) * thin
        own: list[tuple[Array, Array, Array, Array]] = []
        measured, tally = np.zeros(model.n, bool), Tally()
        for span in range(item.spans):
            found_motions, left_out = motions(plan, span)
            tally = tally.plus(left_out.tally)
            for part in found_motions:
                own += thinned(model, settings.meaning, part, item.rate, keep, factor)
                measured |= (part.effort != 0.0).any(axis=0)
            done += 1
            if progress is not None:
                progress(done, total)
        if not own:
            finding = "has no stretch of motion long enough to filter"
            raise RecordingError(item.path, finding, "record some seconds without gaps")
        refuse_unmeasured(model, measured, item.path)
        parts.append([np.concatenate(column) for column in zip(*own, strict=True)])
        counts.append(len(parts[-1][1]))
        own_notes = item.notes(tally)
        notes += [x if item.path in x else f"{item.path}: {x}" for x in own_notes]
    Y, tau, effort, v = (np.concatenate([part[i] for part in parts]) for i in range(4))
    run_of = np.repeat(np.arange(len(recordings)), counts)
    place = np.concatenate([np.arange(count) / count for count in counts])
    used = np.abs(v) > settings.slow * top_speeds(model, v)
    rate = recordings[0].rate / (max(1, int(recordings[0].rate / (PER_BANDWIDTH * keep))) * thin)
    found = Equations(
        column_names(model), Y, tau, effort, used, run_of, place >= 1.0 - settings.holdout,
        rate, (cutoff, keep), tuple(notes),
    )  # fmt: skip
    refuse_still(model, found, recordings[0].path)
    return found


def thinned(
    model: GearedModel, meaning: Meaning, part: Motion, rate: float, keep: float, factor: int
) -> list[tuple[Array, Array, Array, Array]]:
    """Filter and thin a motion's equations, block by block: Y, tau, motors' efforts, v."""
    k, n = part.q.shape
    around = context(keep, rate)
    tau = joint_torques(model, meaning, part.q, part.effort)
    if model.balancers.names:  # springs are known: Y x = tau + what they give
        tau = tau + balancer_forces(model, part.q)
    effort = part.effort[:, motor_columns(model)] if meaning.of_motors else np.zeros((k, 0))
    result = []
    edge = min(int(np.ceil(rate / keep)), k // 4)  # a period, where filters know one side only
    for start in range(0, k, BLOCK):
        low, high = max(0, start - around), min(k, start + BLOCK + around)
        if high - low < 4:
            continue
        piece = slice(low, high)
        Y = columns(model, part.q[piece], part.v[piece], part.a[piece])
        p = Y.shape[-1]
        table = [Y.reshape(high - low, n * p), tau[piece], effort[piece], part.v[piece]]
        if keep < usable_cutoff(keep * 1.0001, rate):
            table = [zero_phase(x, keep, rate) if x.shape[1] else x for x in table]
        chosen = np.arange(start + (-start) % factor, min(k, start + BLOCK), factor)
        chosen = chosen[(chosen >= edge) & (chosen < k - edge)] - low
        Y_kept = np.ascontiguousarray(table[0][chosen]).reshape(len(chosen), n, p)
        result.append((Y_kept, table[1][chosen], table[2][chosen], table[3][chosen]))
    return result


def top_speeds(model: GearedModel, v: Array) -> Array:
    """Top speed of each joint (n,): the URDF's limit, or what was reached if that is less."""
    return np.asarray(np.minimum(ranges_of(model).velocity[1], np.abs(v).max(axis=0)))


def refuse_unmeasured(model: GearedModel, measured: BoolArray, path: str) -> None:
    """Raise if the effort of a joint is zero in a whole recording: parameters would fit that."""
    silent = [name for name, there in zip(model.joint_names, measured, strict=True) if not there]
    if silent:
        finding = f"has efforts of zero in all samples of {', '.join(silent)}"
        remedy = "record a source that measures them, or choose another topic with --topic"
        raise RecordingError(path, finding, remedy)


def refuse_still(model: GearedModel, found: Equations, path: str) -> None:
    """Raise if there are fewer equations than unknowns, or a joint never moves."""
    moving = found.used.sum(axis=0)
    still = [name for name, count in zip(model.joint_names, moving, strict=True) if count < 10]
    if still:
        finding = f"joints {', '.join(still)} hardly move (fewer than 10 samples in motion)"
        remedy = (
            "record a motion of all joints (geared-dynamics excite), or freeze them (--joints)"
        )
        raise RecordingError(path, finding, remedy)
    if moving.sum() < 2 * len(found.names):
        finding = f"{moving.sum()} equations for {len(found.names)} unknowns"
        raise RecordingError(path, finding, "record a longer motion")
