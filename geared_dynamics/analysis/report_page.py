"""A report in one HTML file that needs no network: tables, and plots that can be zoomed.

The plots' data are thinned for display; the numbers in the tables are not.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.analysis.compare import Analysis
from geared_dynamics.analysis.comparison_figures import (
    compared,
    delay_note,
    joint_figures,
    milliseconds,
    motor_figures,
    percents,
    summary,
    three_digits,
)
from geared_dynamics.analysis.comparison_totals import BINS, TERMS
from geared_dynamics.analysis.span_comparison import BUCKETS
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.checks import percent_cell
from geared_dynamics.errors import extra
from geared_dynamics.files import write_text
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


def envelope(analysis: Analysis, signal: int, joint: int) -> tuple[Array, Array]:
    """Time [s] and values of one signal: least and largest of each bucket in turn.

    NaN between buckets that a gap parts breaks the line there. Never more than FINEST buckets
    are drawn.
    """
    low, high = analysis.drawn[:, signal, :, joint]
    stamp = analysis.stamp
    if not low.size:
        return np.empty(0), np.empty(0)
    if len(stamp) > FINEST:
        stamp, low, high = coarser(stamp, low, high)
    x = ((stamp - stamp.min()) * 1e-9).ravel()
    x[1::2] = 0.5 * (x[0::2] + x[1::2])
    y = np.empty(2 * len(stamp))
    rising = np.concatenate([[True], 0.5 * np.diff(low + high) >= 0])
    y[0::2], y[1::2] = np.where(rising, low, high), np.where(rising, high, low)
    hole = stamp[1:, 0] - stamp[:-1, 1]
    parted = (hole > GAP * analysis.recording.period) | (hole < 0)
    breaks = 2 * (np.flatnonzero(parted) + 1)
    return np.insert(x, breaks, np.nan), np.insert(y, breaks, np.nan)


def coarser(stamp: IntArray, low: Array, high: Array) -> tuple[IntArray, Array, Array]:
    """Join neighbouring buckets, so many that FINEST or fewer are left."""
    edges = np.arange(0, len(stamp), -(-len(stamp) // FINEST))
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


# -- A report in one HTML file that needs no network: tables, and plots that can be zoomed --------


COLOURS = ("#111111", "#c8862a", "#4a9a5b", "#2a6fb8", "#b8413a")
ROW = 210  # [px] height of one joint's plot
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222 }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap }
tr { border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
.scroll { overflow-x: auto } .note { color: #8a4b00 } h2 { margin-top: 2.2rem }
"""


def write_html(analyses: list[Analysis], path: Path) -> None:
    """Write one report of all analyses.

    Args:
        analyses: What ``analyze`` gives.
        path: The file.
    """
    library = extra("plotly.offline", "HTML report").get_plotlyjs()
    title = "Replay analysis"
    body = "".join(section(k, analysis) for k, analysis in enumerate(analyses))
    # An empty icon, or a browser would ask the server for one.
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<link rel="icon" href="data:,"><style>{STYLE}</style><script>{library}</script></head>'
        f"<body><h1>{title}</h1>{body}</body></html>"
    )
    write_text(path, text)


def section(number: int, analysis: Analysis) -> str:
    """One recording."""
    totals, recording = analysis.totals, analysis.recording
    facts = (
        f"{escape(analysis.model.name)}; {totals.samples} samples at {recording.rate:.4g} Hz "
        f"({totals.samples / recording.rate:.4g} s), filtered below {analysis.cutoff:.3g} Hz"
    )
    verdict = escape(summary(analysis))
    verdict = f"{verdict[0].upper()}{verdict[1:].rstrip(chr(46))}"
    notes = "".join(f'<li class="note">{escape(note)}</li>' for note in analysis.notes)
    return (
        f"<h2>{escape(recording.path)}</h2><p>{facts}. {verdict}.</p>"
        f"<ul>{notes}</ul>{joint_table(analysis)}{share_table(analysis)}{motor_table(analysis)}"
        f"<h3>Torques over time</h3>{plot(torques(analysis), f'torque{number}')}"
        f"<h3>Residual of the complete model</h3><p>Mean, and RMS above and below zero.</p>"
        f"{plot(residuals(analysis), f'residual{number}')}"
    )


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Write a table; the first column is left-aligned."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def joint_table(analysis: Analysis) -> str:
    """Residuals of the three models, and what the complete one's looks like."""
    figures, models = joint_figures(analysis), compared(analysis)
    heads = ["joint", "measured RMS", "peak", *(f"{model} %" for model in models)]
    heads += ["residual RMS", "peak", "at limit %", "delay ms"]
    rows = [
        [
            f"{joint.joint} [{joint.unit}]", f"{joint.rms:.4g}", f"{joint.peak:.4g}",
            *(percents(joint.percent[i]) for i in models.values()),
            f"{joint.residual[-1]:.3g}", f"{joint.residual_peak[-1]:.3g}",
            percent_cell(joint.saturated),
            milliseconds(joint.delay),
        ]
        for joint in figures
    ]  # fmt: skip
    hints = "".join(f"<li>{escape(joint.joint)}: {escape(joint.hint)}</li>" for joint in figures)
    note = f"<p>{escape(delay_note(figures))}</p>" if delay_note(figures) else ""
    return f"{table(heads, rows)}{note}<p>What the residual looks like:</p><ul>{hints}</ul>"


def share_table(analysis: Analysis) -> str:
    """Shares of the terms."""
    rows = [
        [joint.joint, *map(percents, joint.shares.values())] for joint in joint_figures(analysis)
    ]
    heads = ["RMS of each term, % of measured", *TERMS]
    return table(heads, rows)


def motor_table(analysis: Analysis) -> str:
    """Budget of the motors."""
    motors = motor_figures(analysis)
    if not motors:
        return ""
    heads = ["motor, by the model", "torque RMS [N m]", "peak", "current RMS [A]", "peak"]
    heads += ["voltage RMS [V]", "peak", "beyond its limits %"]
    rows = []
    for motor in motors:
        pairs = [three_digits(x) for pair in zip(motor.rms, motor.peak, strict=True) for x in pair]
        rows.append([motor.motor, *pairs, percent_cell(motor.exceeded)])
    return table(heads, rows)


def plot(figure: Any, name: str) -> str:
    """A figure without the library, which stands in the page's head."""
    return str(
        figure.to_html(
            full_html=False, include_plotlyjs=False, div_id=name, config={"displaylogo": False}
        )
    )


def torques(analysis: Analysis) -> Any:
    """All torques of each joint over time."""
    objects, subplots = extra("plotly.graph_objects", "HTML"), extra("plotly.subplots", "HTML")
    names, models = analysis.model.joint_names, len(compared(analysis))
    figure = subplots.make_subplots(
        rows=len(names), cols=1, shared_xaxes=True, vertical_spacing=0.15 / len(names),
        subplot_titles=[escape(name) for name in names],
    )  # fmt: skip
    for j in range(len(names)):
        for k, name in enumerate(DRAWN):
            if models == 1 and name in SIMPLER:
                continue
            x, y = envelope(analysis, k, j)
            figure.add_trace(
                objects.Scatter(
                    x=x.astype(np.float32), y=y.astype(np.float32), name=name, legendgroup=name,
                    showlegend=j == 0, mode="lines", line={"color": COLOURS[k], "width": 1},
                    visible="legendonly" if name == "without rotors" else True,
                ),
                row=j + 1, col=1,
            )  # fmt: skip
    figure.update_xaxes(title_text="time [s]", row=len(names), col=1)
    for j, joint in enumerate(joint_figures(analysis)):
        figure.update_yaxes(title_text=joint.unit, row=j + 1, col=1)
    return laid_out(figure, len(names))


def residuals(analysis: Analysis) -> Any:
    """Residual of each joint over position and velocity, with the joint's own units."""
    objects, subplots = extra("plotly.graph_objects", "HTML"), extra("plotly.subplots", "HTML")
    joints = joint_figures(analysis)
    units = [("m", "m/s") if joint.unit == "N" else ("rad", "rad/s") for joint in joints]
    figure = subplots.make_subplots(
        rows=len(joints), cols=2, vertical_spacing=0.25 / len(joints),
        subplot_titles=[
            f"{escape(joint.joint)}, over its {quantity} [{unit}]"
            for joint, pair in zip(joints, units, strict=True)
            for quantity, unit in zip(("position", "velocity"), pair, strict=True)
        ],
    )  # fmt: skip
    totals, ranges = analysis.totals, analysis.ranges
    for j, joint in enumerate(joints):
        figure.update_yaxes(title_text=joint.unit, row=j + 1)
        pairs = ((totals.by_position, ranges.position), (totals.by_velocity, ranges.velocity))
        for column, (sums, range_) in enumerate(pairs, 1):
            found = profile(sums, range_, j)
            for y, dash in ((found.mean, "solid"), (found.rms, "dot"), (-found.rms, "dot")):
                figure.add_trace(
                    objects.Scatter(
                        x=found.x, y=y, mode="lines", showlegend=False,
                        line={"color": COLOURS[-1], "width": 1, "dash": dash},
                    ),
                    row=j + 1, col=column,
                )  # fmt: skip
    return laid_out(figure, len(joints))


def laid_out(figure: Any, rows: int) -> Any:
    """Size and margins."""
    figure.update_layout(
        height=ROW * rows + 80, template="plotly_white", hovermode="x",
        margin={"l": 60, "r": 20, "t": 60, "b": 50},
        legend={"orientation": "h", "y": 1.0 + 0.25 / rows},
    )  # fmt: skip
    return figure
