"""Columns of another record of the same motion, at the stamps of the equations.

What is left out of the one record, as samples that were sent twice, is not left out of the
other: samples are paired by their stamps, never by their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from geared_dynamics.analysis.comparison.analyze import ranges_of
from geared_dynamics.analysis.comparison.span import Plan
from geared_dynamics.analysis.identification.equations import Equations
from geared_dynamics.analysis.identification.gathering import Settings, span_motions
from geared_dynamics.analysis.identification.rows import Rows, filtered, joined_motions
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.reading.recording import Recording
from geared_dynamics.analysis.reading.samples import Tally
from geared_dynamics.analysis.signals.turns import TURN, turning_of
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.model import GearedModel

SAME_MOTION = 0.2  # of a joint's motion (RMS) by which instruments' positions may be off
FEWEST = 0.5  # share of the equations that must have an instrument
REMEDY = "give a record of the same motion with the same stamps, such as its reference"


def instrument_columns(
    model: GearedModel,
    recordings: Sequence[Recording],
    instruments: Sequence[Recording],
    settings: Settings,
    found: Equations,
) -> tuple[Array, BoolArray]:
    """Columns of the instruments (i, n, p), and the samples of the equations they are for (k,).

    Args:
        model: The model.
        recordings: What the equations are of.
        instruments: Of the same motions, one for each recording.
        settings: How recordings become equations, with the bandwidths of ``found``.
        found: The equations.

    Raises:
        RecordingError: If they are not of the same motions.
    """
    if len(instruments) != len(recordings):
        finding = f"are {len(instruments)} recordings for {len(recordings)}"
        raise RecordingError("instruments", finding, "give one for each recording, in their order")
    Y, q = np.zeros(found.Y.shape), np.zeros(found.q.shape)
    there = np.zeros(len(q), bool)
    for run, (recording, instrument) in enumerate(zip(recordings, instruments, strict=True)):
        rows = np.flatnonzero(found.run == run)
        ahead = clock_difference(recording, instrument)
        for part, place in paired_rows(model, instrument, settings, found.stamp[rows] + ahead):
            new = ~there[rows[place]]  # a clock that starts anew shows a time twice
            at = rows[place[new]]
            Y[at], q[at], there[at] = part.Y[new], part.q[new], True
        refuse_others(model, instrument, q[rows], found.q[rows], there[rows])
    return Y[there], there


def paired_rows(
    model: GearedModel, instrument: Recording, settings: Settings, stamp: IntArray
) -> list[tuple[Rows, IntArray]]:
    """Rows of an instrument that are nearest to stamps (k,) [ns], and which of them they are for.

    Nearest is within half a period.
    """
    cutoff, keep = settings.bandwidth or 0.0, settings.keep or 0.0
    silent = replace(settings.meaning, effort="joint_torque", gains=())  # efforts are not read
    plan = Plan(model, instrument, settings.meaning, cutoff, settings.velocity, ranges_of(model))
    order = np.argsort(stamp, kind="stable")
    later = stamp[order]
    pairs = []
    for part in joined_motions(span_motions(plan, lambda: None, [Tally()]), instrument.period):
        index = nearest(part.stamp, later)
        close = np.abs(part.stamp[index] - later) <= instrument.period // 2
        wanted, first = np.unique(index[close], return_index=True)
        rows = filtered(model, silent, part, instrument.rate, keep, wanted)
        kept = np.isin(part.stamp[wanted], rows.stamp)
        pairs.append((rows, order[np.flatnonzero(close)[first[kept]]]))
    return pairs


def nearest(stamp: IntArray, wanted: IntArray) -> IntArray:
    """Which of stamps (k,), that grow, are nearest to others."""
    after = np.clip(np.searchsorted(stamp, wanted), 1, len(stamp) - 1)
    before = after - 1
    return np.asarray(np.where(wanted - stamp[before] <= stamp[after] - wanted, before, after))


def clock_difference(recording: Recording, instrument: Recording) -> int:
    """What is added to a recording's stamps to find them in an instrument [ns].

    Nothing where the two overlap; a repetition, or a reference with a clock of its own, is
    taken from its first sample on.
    """
    (first, last), (other_first, other_last) = ends(recording), ends(instrument)
    overlap = first <= other_last and other_first <= last
    return 0 if overlap else other_first - first


def ends(recording: Recording) -> tuple[int, int]:
    """Stamps of the first and the last sample [ns]."""
    found = []
    for spans, place in ((range(recording.spans), 0), (range(recording.spans)[::-1], -1)):
        stamps = (recording.read(span, 0).samples.stamp for span in spans)
        found.append(next((int(stamp[place]) for stamp in stamps if len(stamp)), 0))
    return found[0], found[1]


def refuse_others(
    model: GearedModel, instrument: Recording, q: Array, expected: Array, there: BoolArray
) -> None:
    """Raise if an instrument has few of the stamps, or other positions."""
    if there.sum() < FEWEST * len(there):
        finding = f"has {there.sum()} of {len(there)} stamps that the equations have"
        raise RecordingError(instrument.path, finding, REMEDY)
    apart = q[there] - expected[there]
    turns = np.where(turning_of(model).angular, np.rint(apart / TURN), 0.0)  # one may count them
    off = np.sqrt(np.mean((apart - TURN * turns) ** 2, axis=0))
    far = off > SAME_MOTION * np.maximum(expected.std(axis=0), 1e-6)
    if far.any():
        j = int(np.argmax(far))
        finding = f"is another motion: {model.joint_names[j]} is {off[j]:.2g} off (RMS)"
        raise RecordingError(instrument.path, finding, REMEDY)
