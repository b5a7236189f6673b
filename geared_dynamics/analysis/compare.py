"""``analyze``: a recording compared with the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from geared_dynamics.analysis.span_comparison import (
    ComparisonTask,
    Kept,
    SampleRanges,
    Totals,
    no_totals,
    resisting,
    span_result,
    squares,
)
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.checks import percent
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.errors import GearedDynamicsError, RecordingError, extra
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import JointMotion, Meaning, Velocity, joint_torques
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.signals import WIDER, cap_notes, delay, usable_cutoff
from geared_dynamics.recordings.spans import (
    LAG,
    RESTING,
    MotionReader,
    found_bandwidth,
    relative,
    turning_of,
    without_rests,
)
from geared_dynamics.workers import worker_pool

# -- ``analyze``: a recording compared with the model ---------------------------------------------


SATURATED = 0.99  # of the effort limit
FASTEST = 10.0  # [rad/s or m/s] range of the bins of joints without a velocity limit

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a recording says about the model.

    Attributes:
        model: The model.
        recording: The recording.
        totals: All sums; ``comparison_numbers.py`` derives the numbers.
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
    ranges: SampleRanges
    stamp: IntArray
    drawn: Array
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        """One line."""
        return (
            f"<Analysis of {self.recording.path!r} with {self.model.name!r}: "
            f"{self.totals.samples} samples, bandwidth {self.cutoff:.3g} Hz>"
        )


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
    complete, ranges = model.with_coupling("complete"), ranges_of(model)
    reader = MotionReader(complete, recording, meaning or Meaning(), velocity)
    requested = bandwidth_hz or WIDER * found_bandwidth(reader)
    cutoff = usable_cutoff(requested, recording.rate)
    task = ComparisonTask(
        reader, cutoff, ranges, keep is not None, model.motor_map.complete, rest or 0.0
    )
    totals = no_totals(model.n, len(model.motor_names))
    stamps, drawn, travel, turns = [], [], [], np.zeros(model.n)
    results = over_spans(span_result, task, recording.spans, jobs=jobs, scheduler=scheduler)
    for done, result in enumerate(results, 1):
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
    capped = cap_notes(requested, cutoff, recording.rate, given=bandwidth_hz is not None)
    notes = (*notes, *capped)
    return Analysis(
        model=model, recording=recording, totals=totals, cutoff=cutoff,
        delays=delays_of(task, np.array(travel)), ranges=ranges, stamp=np.concatenate(stamps),
        drawn=np.concatenate(drawn, axis=2), notes=notes,
    )  # fmt: skip


def ranges_of(model: GearedModel) -> SampleRanges:
    """Ranges of the bins and limits, from the URDF where it has them."""
    given, n = model.limits, model.n
    whole = np.tile([[-2.0 * np.pi], [2.0 * np.pi]], (1, n))
    free = np.tile([[-np.inf], [np.inf]], (1, n))
    range_ = np.stack([given.lower, given.upper])
    position, limits = (np.where(given.bounded, range_, x) for x in (whole, free))
    velocity = np.where(np.isinf(given.velocity), FASTEST, given.velocity)
    effort = SATURATED * given.effort
    return SampleRanges(position, np.stack([-velocity, velocity]), limits, effort)


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
        what = f"{model.joint_names[j]}: {turns[j]:.0f} jumps by whole turns are removed"
        why = "" if kinds.endless[j] else ", although the joint has limits"
        notes.append(what + why)
    return notes


# -- A function over numbered spans: here, in several processes, or on a Dask cluster -------------
#
# Results come in the order of the spans whatever ran where, and each is a pure function of task
# and number, so sums are the same to the last digit.


Result = TypeVar("Result")
SpanFunction = Callable[[Any, int], Any]
AHEAD = 2  # spans in flight for each worker: enough to keep it busy, and memory bounded

_shared: dict[str, Any] = {}  # of a worker process: what its initializer was given


def over_spans(
    function: Callable[[Any, int], Result],
    task: Any,
    spans: int,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
) -> Iterator[Result]:
    """Yield function(task, k) for k = 0, 1, ..., spans - 1.

    Args:
        function: A function of a module, so that it can be pickled.
        task: Its first argument; sent to each worker once.
        spans: Number of spans.
        jobs: Processes on this machine.
        scheduler: Address of a Dask scheduler, whose workers have this package and see the
            recording under the same path; ``jobs`` is then ignored.
    """
    if scheduler is not None:
        yield from on_cluster(function, task, spans, scheduler)
    elif jobs > 1 and spans > 1:
        yield from in_processes(function, task, spans, min(jobs, spans))
    else:
        for span in range(spans):
            yield function(task, span)


def in_processes(function: SpanFunction, task: Any, spans: int, jobs: int) -> Iterator[Any]:
    """Run on this machine."""
    remedy = "give the machine more memory, or run with --jobs 1"
    with worker_pool(jobs, "--jobs", remedy, remember, (function, task)) as pool:
        yield from in_order(lambda k: pool.submit(remembered, k), spans, AHEAD * jobs)


def remember(function: SpanFunction, task: Any) -> None:
    """Keep what all spans share, in a worker process."""
    _shared.update(function=function, task=task)


def remembered(span: int) -> Any:
    """Run one span, in a worker process."""
    return _shared["function"](_shared["task"], span)


def on_cluster(function: SpanFunction, task: Any, spans: int, scheduler: str) -> Iterator[Any]:
    """Run on the workers of a Dask scheduler."""
    distributed = extra("distributed", "--scheduler")
    try:
        client = distributed.Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        remedy = "start one (dask scheduler), or give its address, such as tcp://host:8786"
        finding = f"no scheduler answers ({str(error)[:80]})"
        raise GearedDynamicsError(f"--scheduler {scheduler}", finding, remedy) from None
    with client:
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise GearedDynamicsError(
                f"--scheduler {scheduler}", "has no workers", "start some: dask worker ADDRESS"
            )
        shared = client.scatter(task, broadcast=True)
        results = in_order(
            lambda k: client.submit(function, shared, k, pure=False), spans, AHEAD * workers
        )
        while True:
            try:
                result = next(results)
            except StopIteration:
                return
            except GearedDynamicsError:
                raise
            except Exception as error:
                finding = f"a worker failed ({type(error).__name__}: {str(error)[:200]})"
                remedy = "give the workers the same package and enough memory, or run with --jobs"
                raise GearedDynamicsError(f"--scheduler {scheduler}", finding, remedy) from error
            yield result


def in_order(submit: Callable[[int], Any], spans: int, ahead: int) -> Iterator[Any]:
    """Submit spans, no more than ``ahead`` of the one that is waited for."""
    waiting: deque[Any] = deque()
    for span in range(spans):
        waiting.append(submit(span))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


# -- Delay of the measured torques, where there is most motion ------------------------------------


TELLING = 0.1  # of the most motion that a joint has in a span, for its delay to be taken elsewhere


def delays_of(task: ComparisonTask, travel: Array) -> Array:
    """Delay of the measured torques behind the model's (n,) [s], where there is most motion.

    Args:
        task: Of the analysis.
        travel: Motion of each joint in each span (spans, n).
    """
    reader = task.reader
    delays = np.full(reader.model.n, np.nan)
    best = int(np.argmax(relative(travel)))
    most = travel.max(axis=0)
    spans = np.where(travel[best] >= TELLING * most, best, np.argmax(travel, axis=0))
    for span in sorted(set(spans.tolist())):
        long = 8 * reader.recording.rate / task.cutoff
        parts = [part for part in reader.motions(span, task.cutoff).motions if len(part.q) > long]
        if not parts:
            continue
        best_part = np.argmax([squares(part.v) for part in parts], axis=0)
        for k in np.unique(best_part):
            joints = np.flatnonzero((spans == span) & (most > 0.0) & (best_part == k))
            delays[joints] = delays_in(reader, parts[k], joints, int(long))
    return delays


def delays_in(
    reader: MotionReader, part: JointMotion, joints: IntArray, shortest: int
) -> list[float]:
    """Delays of some joints' torques in a motion [s], over where the joint moves."""
    model = reader.model
    measured = joint_torques(model, reader.meaning, part.q, part.effort)
    expected = inverse_dynamics(model, part.q, part.v, part.a)
    expected = expected + resisting(model, part.q, part.v, expected)
    delays = []
    for j in joints:
        rows = without_rests(LAG * part.v[:, [j]])
        inner = slice(rows.start + RESTING, rows.stop - RESTING)  # without starts and stops
        rows = inner if inner.stop - inner.start > shortest else slice(0, len(part.q))
        signals = expected[rows, j], measured[rows, j], signs_of(part.v[rows, j])
        delays.append(delay(*signals, reader.recording.rate))
    return delays


def signs_of(v: Array) -> Array:
    """What friction and an offset look like (k, 3): velocity, its sign, one."""
    return np.column_stack([v, np.sign(v), np.ones(len(v))])
