"""All recordings' rows as one system of equations Y x = tau, and drive gains.

The same filter over both sides leaves the equations true and takes out what is above the
motion; after it, samples closer than its bandwidth say the same twice. Drive gains follow from
equations with a known load and without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.band import band_found
from geared_dynamics.analysis.identification_rows import (
    EquationRows,
    Settings,
    count_of,
    counter,
    joined_motions,
    spacing,
    span_motions,
    thinned,
    together,
    top_speeds,
)
from geared_dynamics.analysis.parameter_columns import base_columns, column_names
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics.packing import BODY_PARAMETERS, columns_of
from geared_dynamics.errors import RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import motor_readings
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.samples import Tally
from geared_dynamics.recordings.signals import WIDER, cap_notes, usable_cutoff
from geared_dynamics.recordings.spans import MotionReader, found_bandwidth

# -- From recordings to equations -----------------------------------------------------------------


MOST = 20_000  # samples in all


class Equations(NamedTuple):
    """Equations of k samples, n each.

    Attributes:
        names: Of the columns (p,).
        Y: (k, n, p).
        tau: (k, n) [N m or N], joint side; what is known is in it.
        known: The part of it that was not measured: springs' forces, less friction that no
            column stands for (k, n).
        effort: Recorded motor efforts (k, m), for gains; empty if they are not the motors'.
        q: Joint positions (k, n) [rad or m].
        v: Joint velocities, filtered as the equations are (k, n).
        a: Joint accelerations, filtered as the equations are (k, n).
        used: Which joints move enough in which sample (k, n).
        run: Which recording a sample is of (k,).
        held: Samples kept for validation (k,).
        stamp: When they were taken (k,) [ns].
        rate: Samples per second of a run.
        bandwidth: Of the filter before differentiation, and of the equations [Hz].
        notes: What of the recordings is missing or left out.
    """

    names: tuple[str, ...]
    Y: Array
    tau: Array
    known: Array
    effort: Array
    q: Array
    v: Array
    a: Array
    used: BoolArray
    run: IntArray
    held: BoolArray
    stamp: IntArray
    rate: float
    bandwidth: tuple[float, float]
    notes: tuple[str, ...] = ()

    def of_samples(self, chosen: BoolArray) -> Equations:
        """Return the equations of some samples (k,)."""
        own = ("Y", "tau", "known", "effort", "q", "v", "a", "used", "run", "held", "stamp")
        return self._replace(**{name: getattr(self, name)[chosen] for name in own})


def equations(
    model: GearedModel,
    recordings: Sequence[Recording],
    settings: Settings | None = None,
    *,
    known: Sequence[str] = (),
    predicted: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Equations:
    """Make equations of recordings.

    Args:
        model: Geared model; its geometry, Gamma, A, springs and friction that is not linear
            matter, its other parameters do not.
        recordings: Of the same robot and of the same meaning.
        settings: How.
        known: Names or patterns of parameters that will not be looked for, where the band is.
        predicted: Whether the band, if none is given, is the one that predicts best; else that
            of the motion, as for instruments: noise that has no bias needs no narrow band.
        progress: Called with spans done and all spans.

    Raises:
        RecordingError: If there is too little motion in them.
    """
    settings = settings or Settings()
    readers = settings.readers(model, recordings)
    cutoff, keep, capped = bandwidths(readers, settings, known, predicted)
    kept, thin, notes = gathered(readers, cutoff, keep, progress)
    all_rows = together([rows for own in kept for rows in own])
    counts = [count_of(own) for own in kept]
    share = np.concatenate([np.arange(k) / k for k in counts])
    found = Equations(
        names=column_names(model), Y=all_rows.Y, tau=all_rows.tau, known=all_rows.known,
        effort=all_rows.effort, q=all_rows.q, v=all_rows.v, a=all_rows.a,
        used=np.abs(all_rows.v) > settings.slow * top_speeds(model, all_rows.v),
        run=np.repeat(np.arange(len(recordings)), counts), held=share >= 1.0 - settings.holdout,
        stamp=all_rows.stamp, bandwidth=(cutoff, keep), notes=(*capped, *notes),
        rate=recordings[0].rate / (spacing(recordings[0], keep) * thin),
    )  # fmt: skip
    refuse_still(model, found, found.used, recordings[0].path)
    return found


def bandwidths(
    readers: Sequence[MotionReader],
    settings: Settings,
    known: Sequence[str] = (),
    predicted: bool = True,
) -> tuple[float, float, tuple[str, ...]]:
    """Bandwidths of the filter and of the equations [Hz], and what is doubtful about them.

    Nothing is left in the equations above the filter: rows for more would say the same twice.
    """
    rate = max(reader.recording.rate for reader in readers)
    notes: list[str] = []
    requested, keep = settings.bandwidth, settings.keep
    if predicted and requested is None and keep is None:
        keep, notes = band_found(readers, settings, known)
        requested = None if keep is None else min(WIDER * keep, usable_cutoff(WIDER * keep, rate))
    if requested is None:
        band = max(map(found_bandwidth, readers))
        requested, keep = WIDER * band, keep or band
    cutoff = usable_cutoff(requested, rate)
    notes += cap_notes(requested, cutoff, rate, given=settings.bandwidth is not None)
    keep = min(keep or cutoff / WIDER, cutoff)
    if settings.keep is not None and keep < settings.keep:
        what = f"equations are kept below {keep:.4g} Hz, not {settings.keep:g} Hz"
        notes.append(f"{what}: the filter leaves nothing above")
    return cutoff, keep, tuple(notes)


def gathered(
    readers: Sequence[MotionReader],
    cutoff: float,
    keep: float,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[list[EquationRows]], int, tuple[str, ...]]:
    """Rows of each recording's stretches, by what they are thinned beyond their band, notes."""
    kept: list[list[EquationRows]] = [[] for _ in readers]
    tell, thin = counter(progress, sum(reader.recording.spans for reader in readers)), 1
    notes: list[str] = []
    for reader, own in zip(readers, kept, strict=True):
        model, item = reader.model, reader.recording
        measured, left_out = np.zeros(model.n, bool), [Tally()]
        for part in joined_motions(span_motions(reader, cutoff, tell, left_out), item.period):
            measured |= (part.effort[:, : model.n] != 0.0).any(axis=0)
            factor = spacing(item, keep) * thin
            own.append(thinned(model, reader.meaning, part, item.rate, keep, factor))
            while sum(map(count_of, kept)) > MOST:
                thin *= 2
                for parts in kept:
                    parts[:] = [rows.every(2) for rows in parts]
        if not count_of(own):
            finding = "no gap-free interval is long enough to filter"
            raise RecordingError(item.path, finding, "record several seconds without gaps")
        refuse_unmeasured(model, measured, item.path)
        own_notes = item.notes(left_out[0])
        notes += [note if item.path in note else f"{item.path}: {note}" for note in own_notes]
    return kept, thin, tuple(notes)


def refuse_unmeasured(model: GearedModel, measured: BoolArray, path: str) -> None:
    """Raise if the effort of a joint is zero in a whole recording: parameters would fit that."""
    silent = [name for name, there in zip(model.joint_names, measured, strict=True) if not there]
    if silent:
        finding = f"has efforts of zero in all samples of {', '.join(silent)}"
        remedy = "record a source that measures them, or choose another topic with --topic"
        raise RecordingError(path, finding, remedy)


def refuse_still(
    model: GearedModel, equations: Equations, used: BoolArray, path: str, where: str = ""
) -> None:
    """Raise if there are fewer equations than unknowns, or a joint never moves.

    Args:
        model: The model.
        equations: The equations.
        used: Which of them are solved (k, n).
        path: The recording.
        where: Which part of it that is, if it is not all of it.
    """
    more = ", or hold out less (--holdout)" if where else ""
    moving = used.sum(axis=0)
    still = [name for name, count in zip(model.joint_names, moving, strict=True) if count < 10]
    if still:
        finding = f"joints {', '.join(still)} hardly move (fewer than 10 samples in motion){where}"
        remedy = (
            "record a motion of all joints (geared-dynamics excite), or freeze them (--joints)"
        )
        raise RecordingError(path, finding, remedy + more)
    if moving.sum() < 2 * len(equations.names):
        finding = f"{moving.sum()} equations for {len(equations.names)} unknowns{where}"
        raise RecordingError(path, finding, f"record a longer motion{more}")


# -- Drive gains: joint torque per unit of recorded current, from a load that is known ------------
#
# A motor's current says nothing of its scale: Y x = A diag(i) k holds with any multiple of x and
# k. A second recording with a known load fixes it (Gautier and Briot 2014):
#
#     A diag(i) k - Y x = -f              without,
#     A diag(i) k - Y x = Y_L pi_L - f    with the load,
#
# f the forces that are known in any case, such as those of springs. Both sides are measured, so it
# is solved by total least squares.


SCALES = 3  # rounds of scaling joints by their residual
CERTAIN = 3.0  # standard deviations by which a gain must be above zero
FARTHEST = 10.0  # times what is expected, or one over it, beyond which a gain is refused
LOST = 1e-3  # share of a parameter in a direction that is not determined
SINGULAR = 1e-7  # of the largest singular value: below it a direction is not determined


class DriveGains(NamedTuple):
    """Gains (m,) of the recorded efforts, and their standard deviations (m,).

    NaN of motors that act on no joint of the model, as where their joints are frozen.
    """

    gains: Array
    sigma: Array


def drive_gains_from_load(
    model: GearedModel,
    equations: Equations,
    loaded: BoolArray,
    load: Array,
    link: str | None = None,
    *,
    expected: Array | None = None,
) -> DriveGains:
    """Find the gains of the drives.

    Args:
        model: The arm without the load.
        equations: Equations of recordings whose efforts are the motors' (currents, at gain 1).
        loaded: Samples with the load (k,).
        load: Its ten parameters in the link's frame (10,).
        link: The link that holds it, frames of fixed joints included; None: the only tip.
        expected: What the gains should be near (m,), such as the torque constants; NaN or None:
            nothing is known.

    Raises:
        RecordingError: If one of the two kinds of recordings is missing, or if a gain is not
            positive, not determined, or more than FARTHEST times off what is expected.
    """
    if loaded.all() or not loaded.any():
        finding = "all recordings are " + ("with" if loaded.all() else "without") + " the load"
        raise RecordingError("gains", finding, "give recordings with and without the known load")
    if not equations.effort.shape[1]:
        remedy = "drive gains need efforts of type motor_current or motor_torque (--effort)"
        raise RecordingError("gains", "the efforts are joint torques", remedy)
    selection = list(base_columns(model).selection)
    frame = model.payload_frame(link, "gains: link")
    first = columns_of(model).bodies[frame.body]
    Y_load = equations.Y[..., first : first + len(BODY_PARAMETERS)] * loaded[:, None, None]
    acting = list(motor_readings(model).motors)
    A = model.structure_matrix[:, acting]
    left = A[None] * equations.effort[:, None, acting]  # (k, n, motors that act)
    known_torque = equations.known - Y_load @ frame.in_body(load)
    table = np.concatenate([left, -equations.Y[..., selection], known_torque[..., None]], axis=-1)
    m = left.shape[-1]
    weight = equations.used / np.maximum(np.sqrt(np.mean(equations.tau**2, axis=0)), 1e-300)
    for _ in range(SCALES):
        rows = (table * weight[..., None]).reshape(-1, table.shape[-1])
        x, sigma = null_vector(rows)
        residual = table @ np.append(x, 1.0)
        spread = np.sqrt(
            (residual**2 * equations.used).sum(0) / np.maximum(equations.used.sum(0), 1)
        )
        weight = equations.used / np.maximum(spread, 1e-300)
    result = DriveGains(*np.full((2, len(model.motor_names)), np.nan))
    result.gains[acting], result.sigma[acting] = x[:m], sigma[:m]
    refuse_impossible(model, result, expected)
    return result


def refuse_impossible(
    model: GearedModel, gains: DriveGains, expected: Array | None = None
) -> None:
    """Raise if a gain cannot be that of a drive.

    Args:
        model: The model.
        gains: The gains.
        expected: As in ``drive_gains_from_load``.
    """
    if expected is None:
        expected = np.full(len(gains.gains), np.nan)
    findings, remedies = [], []
    for name, k, sigma, usual in zip(model.motor_names, *gains, expected, strict=True):
        ratio = abs(k / usual) if usual else np.nan
        if np.isnan(k):
            continue
        if not sigma * CERTAIN < abs(k):
            problem, remedy = "is not determined", "record more motion with a heavier known load"
        elif k <= 0.0:
            problem = "is not positive"
            remedy = (
                "compare the sign of the ratio in the drivetrain file with that of the current"
            )
        elif ratio > FARTHEST or ratio < 1.0 / FARTHEST:
            problem = f"is {ratio:.2g} times the file's {usual:.4g}"
            remedy = "compare the units of efforts and of the known load with SI units"
        else:
            continue
        findings.append(f"{name} {problem} ({k:.4g}, deviation {sigma:.2g})")
        remedies += [remedy] if remedy not in remedies else []
    if findings:
        remedy = "; ".join(remedies)
        raise RecordingError("drive gains", "; ".join(findings), remedy)


def null_vector(rows: Array) -> tuple[Array, Array]:
    """Solve rows (x, 1) = 0 by total least squares; x and its standard deviations.

    Infinite is the deviation of what the rows do not determine.
    """
    scale = np.maximum(np.linalg.norm(rows, axis=0), 1e-300)
    triangle = np.asarray(np.linalg.qr(rows / scale, mode="r"))
    _, s, right = np.linalg.svd(triangle)
    pivot = right[-1, -1]
    vector = right[-1] / (pivot if pivot else 1e-300)
    x = vector[:-1] * scale[-1] / scale[:-1]
    count, p = rows.shape
    values, basis = np.linalg.eigh(triangle[:, :-1].T @ triangle[:, :-1])
    values = values - s[-1] ** 2
    weak = values < (SINGULAR * s[0]) ** 2
    noise = s[-1] ** 2 / max(count - p, 1) * (1.0 + vector[:-1] @ vector[:-1])
    variance = basis[:, ~weak] ** 2 @ (noise / values[~weak])
    sigma = np.sqrt(variance) * scale[-1] / scale[:-1]
    sigma[(np.abs(basis[:, weak]) > LOST).any(axis=1)] = np.inf
    return x, sigma
