"""The report of ``analyze``: what its page shows of each recording.

The plots' data are thinned for display; the numbers in the tables are not.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.compare import Analysis
from geared_dynamics.analysis.comparison_numbers import (
    compared,
    delay_note,
    friction_yaml,
    joint_figures,
    motor_figures,
    summary,
    unexplained,
)
from geared_dynamics.analysis.report import Curve, Panel, Provenance, Report, ReportPlot
from geared_dynamics.analysis.span_comparison import BINS, BUCKETS, TERMS
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.checks import or_dash, percent_cell
from geared_dynamics.recordings.samples import GAP

# -- What is drawn of an analysis: envelopes over time, residual over position and velocity -------


DRAWN = ("measured", "without rotors", "armature", "complete", "residual")
SIMPLER = DRAWN[1:3]  # the same as the complete one where no rotor inertia is known
FINEST = 3 * BUCKETS // 2  # drawn of a signal; a recording in many short spans may have more
FEWEST = 5  # samples in a bin that is drawn


class Profile(NamedTuple):
    """Mean and RMS of the residual over bins (b,) that hold samples, at their centres."""

    x: Array
    mean: Array
    rms: Array


def envelope(
    analysis: Analysis, signal: int, joint: int, finest: int = FINEST
) -> tuple[Array, Array]:
    """Time [s] and values of one signal: least and largest of each bucket in turn.

    NaN between buckets that a gap parts breaks the line there. Never more than ``finest`` buckets
    are drawn.
    """
    low, high = analysis.drawn[:, signal, :, joint]
    stamp = analysis.stamp
    if not low.size:
        return np.empty(0), np.empty(0)
    if len(stamp) > finest:
        stamp, low, high = coarser(stamp, low, high, finest)
    x = ((stamp - stamp.min()) * 1e-9).ravel()
    x[1::2] = 0.5 * (x[0::2] + x[1::2])
    y = np.empty(2 * len(stamp))
    rising = np.concatenate([[True], 0.5 * np.diff(low + high) >= 0])
    y[0::2], y[1::2] = np.where(rising, low, high), np.where(rising, high, low)
    hole = stamp[1:, 0] - stamp[:-1, 1]
    parted = (hole > GAP * analysis.recording.period) | (hole < 0)
    breaks = 2 * (np.flatnonzero(parted) + 1)
    return np.insert(x, breaks, np.nan), np.insert(y, breaks, np.nan)


def coarser(
    stamp: IntArray, low: Array, high: Array, finest: int = FINEST
) -> tuple[IntArray, Array, Array]:
    """Join neighbouring buckets, so many that ``finest`` or fewer are left."""
    edges = np.arange(0, len(stamp), -(-len(stamp) // finest))
    last = np.append(edges[1:], len(stamp)) - 1
    joined = np.stack([stamp[edges, 0], stamp[last, 1]], axis=1)
    return joined, np.minimum.reduceat(low, edges), np.maximum.reduceat(high, edges)


def profile(sums: Array, range_: Array, joint: int) -> Profile:
    """Residual of one joint over bins, from count, sum and sum of squares (3, n, BINS)."""
    count, total, square = sums[:, joint]
    low, high = range_[:, joint]
    centres = low + (np.arange(BINS) + 0.5) * (high - low) / BINS
    some = count >= FEWEST
    return Profile(centres[some], total[some] / count[some], np.sqrt(square[some] / count[some]))


# -- The page -------------------------------------------------------------------------------------


COLOURS = ("#111111", "#c8862a", "#4a9a5b", "#2a6fb8", "#b8413a")  # of DRAWN in pictures
NAMES = ("measured", "plain", "armature", "model", "residual")  # of DRAWN on the page
ROOM = 120_000  # points of all curves over time: about 250 kB of the page


def write_html(analyses: list[Analysis], path: Path, provenance: Provenance | None = None) -> None:
    """Write one report of all analyses.

    Args:
        analyses: What ``analyze`` gives.
        path: The file.
        provenance: Where it comes from.
    """
    first = analyses[0]
    figures = joint_figures(first)
    verdict = ". ".join(filter(None, (unexplained(figures), summary(first, figures))))
    answer = f"{verdict[0].upper()}{verdict[1:].rstrip('.')}."
    if len(analyses) > 1:
        answer = f"{len(analyses)} recordings. {Path(first.recording.path).name}: {answer}"
    report = Report(f"analyze {first.model.name}", answer, facts(first))
    report.plot(bars(analyses))
    curves = sum(analysis.model.n * len(drawn_of(analysis)) for analysis in analyses)
    for analysis in analyses:
        section(report, analysis, max(100, min(FINEST, ROOM // (2 * curves))))
    report.write(path, provenance)


def facts(analysis: Analysis) -> str:
    """What a comparison was made from."""
    recording, totals, rate = analysis.recording, analysis.totals, analysis.recording.rate
    place = ", ".join(filter(None, (Path(recording.path).name, recording.topic)))
    return (
        f"{place} against {analysis.model.name}: {totals.samples} "
        f"samples at {rate:.4g} Hz ({totals.samples / rate:.4g} s), filtered below "
        f"{analysis.cutoff:.3g} Hz"
    )


def bars(analyses: list[Analysis]) -> ReportPlot:
    """Residual of each joint, models beside each other."""
    colours = {"without rotors": "plain", "armature": "armature"}
    panels = []
    for analysis in analyses[:3]:
        figures = joint_figures(analysis)
        curves = [
            Curve(
                name, colours.get(name, "model"), [joint.joint for joint in figures],
                np.array([joint.percent[i] for joint in figures]), "bars",
            )
            for name, i in compared(analysis).items()
        ]  # fmt: skip
        title = "residual" if len(analyses) == 1 else Path(analysis.recording.path).name
        panels.append(Panel(title, "% of measured RMS", curves, from_zero=True))
    return ReportPlot("Measured less predicted torque of each joint, RMS.", panels, height=220)


def section(report: Report, analysis: Analysis, finest: int) -> None:
    """One recording."""
    report.heading(Path(analysis.recording.path).name)
    report.text(facts(analysis), "facts")
    joints = joint_figures(analysis)
    wrong = unexplained(joints)
    if wrong:
        report.finding(wrong, (), red=True)
    for note in analysis.notes:
        report.finding(note, (), red=False)
    joint_table(report, analysis)
    report.heading("Torques over time", 3)
    report.plot(torques(analysis, finest))
    report.heading("What the residual looks like", 3)
    rows = [(joint.joint, joint.hint) for joint in joints]
    report.table("Simple terms that would explain it", ("joint", "missing"), rows, words=True)
    lines = friction_yaml(analysis.model, joints)
    if lines:
        report.text("Friction to paste into the drivetrain file, what it has added:")
        report.code(lines)
    report.plot(residuals(analysis))
    share_table(report, analysis)
    motor_table(report, analysis)


def joint_table(report: Report, analysis: Analysis) -> None:
    """Residuals of the models, and what the complete one's looks like."""
    figures, models = joint_figures(analysis), compared(analysis)
    heads = ["joint [unit]", "measured RMS", "peak", *(f"{model} %" for model in models)]
    heads += ["residual RMS", "peak", "at limit %", "delay ms"]
    rows = [
        [
            f"{joint.joint} [{joint.unit}]", f"{joint.rms:.4g}", f"{joint.peak:.4g}",
            *(or_dash(joint.percent[i], ".1f") for i in models.values()),
            f"{joint.residual[-1]:.3g}", f"{joint.residual_peak[-1]:.3g}",
            percent_cell(joint.saturated),
            or_dash(1e3 * joint.delay, ".1f"),
        ]
        for joint in figures
    ]  # fmt: skip
    report.table("Measured less predicted", heads, rows)
    if delay_note(figures):
        report.text(delay_note(figures), "facts")


def share_table(report: Report, analysis: Analysis) -> None:
    """Shares of the terms."""
    rows = [
        [joint.joint, *(or_dash(part, ".1f") for part in joint.shares.values())]
        for joint in joint_figures(analysis)
    ]
    report.table("RMS of each term, % of measured RMS", ["joint", *TERMS], rows)


def motor_table(report: Report, analysis: Analysis) -> None:
    """Budget of the motors."""
    motors = motor_figures(analysis)
    if not motors:
        return
    heads = ["motor", "torque RMS [N m]", "peak [N m]", "current RMS [A]", "peak [A]"]
    heads += ["voltage RMS [V]", "peak [V]", "beyond its limits %"]
    rows = []
    for motor in motors:
        pairs = [or_dash(x) for pair in zip(motor.rms, motor.peak, strict=True) for x in pair]
        rows.append([motor.motor, *pairs, percent_cell(motor.exceeded)])
    report.table("Motors along this motion, by the model", heads, rows)


def drawn_of(analysis: Analysis) -> list[int]:
    """Which of DRAWN are shown: one model where no rotor inertia is known."""
    one = len(compared(analysis)) == 1
    return [k for k, name in enumerate(DRAWN) if not (one and name in SIMPLER)]


def torques(analysis: Analysis, finest: int = FINEST) -> ReportPlot:
    """All torques of each joint over time."""
    panels = []
    for j, joint in enumerate(joint_figures(analysis)):
        curves = [
            Curve(
                DRAWN[k], NAMES[k], *envelope(analysis, k, j, finest),
                hidden=DRAWN[k] in SIMPLER,
            )
            for k in drawn_of(analysis)
        ]  # fmt: skip
        panels.append(Panel(joint.joint, joint.unit, curves))
    caption = "A click on the legend shows and hides a curve; drag to zoom, double click to reset."
    return ReportPlot(caption, panels, "time [s]")


def residuals(analysis: Analysis) -> ReportPlot:
    """Residual of each joint over position and velocity, with the joint's own units."""
    totals, ranges, panels = analysis.totals, analysis.ranges, []
    for j, joint in enumerate(joint_figures(analysis)):
        units = ("m", "m/s") if joint.unit == "N" else ("rad", "rad/s")
        pairs = ((totals.by_position, ranges.position), (totals.by_velocity, ranges.velocity))
        for quantity, unit, (sums, range_) in zip(
            ("position", "velocity"), units, pairs, strict=True
        ):
            found = profile(sums, range_, j)
            curves = [
                Curve("mean", "residual", found.x, found.mean),
                Curve("RMS", "residual", found.x, found.rms, "dots"),
                Curve("-RMS", "residual", found.x, -found.rms, "dots"),
            ]
            title = f"{joint.joint} over its {quantity}"
            panels.append(Panel(title, joint.unit, curves, f"{quantity} [{unit}]"))
    caption = "Residual of the complete model: mean, and RMS above and below zero."
    return ReportPlot(caption, panels, columns=2, height=120)
