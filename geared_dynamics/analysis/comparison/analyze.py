"""``analyze``: a recording held against the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from geared_dynamics.analysis.comparison.liveliest import delays_of
from geared_dynamics.analysis.comparison.liveliest import found_bandwidth as found_bandwidth
from geared_dynamics.analysis.comparison.schedule import over_spans
from geared_dynamics.analysis.comparison.span import Kept, Plan, span_result
from geared_dynamics.analysis.comparison.totals import Ranges, Totals, no_totals
from geared_dynamics.analysis.reading.meaning import Meaning
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.reading.recording import Recording
from geared_dynamics.analysis.signals.bandwidth import WIDER, cap_notes
from geared_dynamics.analysis.signals.filters import usable_cutoff
from geared_dynamics.analysis.signals.motion import Velocity
from geared_dynamics.analysis.signals.turns import turning_of
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.model import GearedModel
from geared_dynamics.numerals import percent

NO_LIMIT = 1e6  # a URDF's limit above it stands for none
SATURATED = 0.99  # of the effort limit
FASTEST = 10.0  # [rad/s or m/s] range of the bins of joints without a velocity limit

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a recording says about the model.

    Attributes:
        model: The model.
        recording: The recording.
        totals: All sums; ``figures`` derives the numbers.
        cutoff: Bandwidth of the filters [Hz].
        delays: Per joint, by how much measured torques come after the model's [s] (n,).
        ranges: Of the bins, and limits.
        stamp: First and last sample of each display bucket (b, 2) [ns].
        drawn: Extremes in each bucket (2, 5, b, n): measured, three models', residual.
        notes: What is doubtful, a line each.
    """

    model: GearedModel
    recording: Recording
    totals: Totals
    cutoff: float
    delays: Array
    ranges: Ranges
    stamp: IntArray
    drawn: Array
    notes: tuple[str, ...] = field(default=())


def analyze(
    model: GearedModel,
    recording: Recording,
    *,
    meaning: Meaning | None = None,
    bandwidth_hz: float | None = None,
    velocity: Velocity = "position",
    rest: float | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    keep: Callable[[Kept], None] | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Hold a recording against the model, span by span.

    Args:
        model: Geared model; its ``coupling`` does not matter.
        recording: What ``open_recording`` gives.
        meaning: What its positions and efforts are; joint positions and torques by default.
        bandwidth_hz: Cutoff of the filters [Hz]; found from the recording if not given.
        velocity: ``recorded`` differentiates recorded velocities instead of positions.
        rest: Samples are left out in which every joint is slower [rad/s or m/s]; None: none are.
        jobs: Processes on this machine.
        scheduler: Address of a Dask scheduler instead.
        keep: Called with all samples of each stretch, in order.
        progress: Called with spans done and all spans.

    Raises:
        RecordingError: If nothing in the recording can be compared.
    """
    meaning = meaning or Meaning()
    wanted = bandwidth_hz or WIDER * found_bandwidth(model, recording, meaning)
    cutoff = usable_cutoff(wanted, recording.rate)
    ranges = ranges_of(model)
    plan = Plan(
        model.with_coupling("complete"), recording, meaning, cutoff, velocity, ranges,
        keep is not None, has_motors(model), rest or 0.0,
    )  # fmt: skip
    totals = no_totals(model.n, len(model.motor_names))
    stamps, drawn, travel, turns = [], [], [], np.zeros(model.n)
    tasks = over_spans(span_result, plan, recording.spans, jobs=jobs, scheduler=scheduler)
    for done, result in enumerate(tasks, 1):
        totals = totals.plus(result.totals)
        stamps.append(result.stamp)
        drawn.append(result.drawn)
        travel.append(result.travel)
        turns += result.turns
        for part in result.kept:
            if keep is not None:
                keep(part)
        if progress is not None:
            progress(done, recording.spans)
    refuse_empty(recording, totals)
    notes = (*notes_of(model, recording, totals), *notes_of_turns(model, turns))
    if rest:
        share = 100.0 * totals.tally.resting / (totals.samples + totals.tally.resting)
        what = f"rest is left out: every joint slower than {rest:g} rad/s or m/s"
        notes = (*notes, f"{what}, {percent(share)} of the samples")
    capped = cap_notes(wanted, cutoff, recording.rate, given=bandwidth_hz is not None)
    notes = (*notes, *capped)
    return Analysis(
        model, recording, totals, cutoff, delays_of(plan, np.array(travel)), ranges,
        np.concatenate(stamps), np.concatenate(drawn, axis=2), notes,
    )  # fmt: skip


def ranges_of(model: GearedModel) -> Ranges:
    """Ranges of the bins and limits, from the URDF where it has them."""
    joints = {joint.name: joint for joint in model.robot.joints}
    n = model.n
    position = np.tile([[-2.0 * np.pi], [2.0 * np.pi]], (1, n))
    limits = np.tile([[-np.inf], [np.inf]], (1, n))
    velocity, effort = np.full(n, FASTEST), np.full(n, np.inf)
    for j, name in enumerate(model.joint_names):
        given = joints[name].limit if name in joints else None
        if given is None:
            continue
        if given.lower is not None and given.upper is not None and given.lower < given.upper:
            if joints[name].kind != "continuous" and given.upper - given.lower < NO_LIMIT:
                position[:, j] = limits[:, j] = given.lower, given.upper
        if given.velocity and given.velocity < NO_LIMIT:
            velocity[j] = given.velocity
        if given.effort and given.effort < NO_LIMIT:
            effort[j] = SATURATED * given.effort
    return Ranges(position, np.stack([-velocity, velocity]), limits, effort)


def has_motors(model: GearedModel) -> bool:
    """Whether the motors can produce every joint torque."""
    A = model.structure_matrix
    return A.shape[1] > 0 and int(np.linalg.matrix_rank(A)) == model.n


def refuse_empty(recording: Recording, totals: Totals) -> None:
    """Raise if no sample could be compared, or no effort is there."""
    if totals.samples == 0:
        finding = f"has no sample to compare ({totals.tally.in_words() or 'no samples'})"
        remedy = "record joint positions and efforts together, without gaps, for some seconds"
        if totals.tally.resting:
            remedy = "record the robot in motion, or lower --rest-speed"
        raise RecordingError(recording.path, finding, remedy)
    if not totals.measured_peak.any():
        finding = f"has efforts of zero in all {totals.samples} samples"
        remedy = f"record a source that measures efforts, or {recording.reader.other}"
        raise RecordingError(recording.path, finding, remedy)


def notes_of(model: GearedModel, recording: Recording, totals: Totals) -> tuple[str, ...]:
    """What is doubtful about a recording."""
    notes = [*recording.notes(totals.tally)]
    for j, name in enumerate(model.joint_names):
        if not totals.measured_peak[j]:
            notes.append(f"{name}: the effort is zero in all samples")
        share = totals.outside[j] / totals.samples
        if share > 0.01:
            what = f"{name}: {percent(100 * share)} of the positions are beyond its limits"
            notes.append(f"{what}: another robot, another zero, or degrees?")
        share = totals.saturated[j] / totals.samples
        if share > 0:
            notes.append(f"{name}: {percent(100 * share)} of the samples are at the effort limit")
    return tuple(notes)


def notes_of_turns(model: GearedModel, turns: Array) -> list[str]:
    """Joints whose angles jumped by whole turns."""
    kinds = turning_of(model)
    notes = []
    for j in np.flatnonzero(turns):
        what = f"{model.joint_names[j]}: {turns[j]:.0f} jumps by whole turns are taken out"
        why = "" if kinds.endless[j] else ", which could not be motion, though it has limits"
        notes.append(what + why)
    return notes
