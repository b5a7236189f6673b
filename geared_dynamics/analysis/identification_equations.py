"""Equations Y x = tau from recordings, both sides filtered alike and thinned out.

The same filter over both sides leaves the equations true and takes out what is above the
motion; after it, samples closer than its bandwidth say the same twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.band import band_found
from geared_dynamics.analysis.identification_rows import (
    EquationRows,
    count_of,
    counter,
    joined_motions,
    spacing,
    span_motions,
    thinned,
    together,
    top_speeds,
)
from geared_dynamics.analysis.identification_rows import Settings as Settings
from geared_dynamics.analysis.parameter_columns import column_names
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.errors import RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.samples import Tally
from geared_dynamics.recordings.signals import WIDER, cap_notes, usable_cutoff
from geared_dynamics.recordings.spans import MotionReader, found_bandwidth

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
