"""The report's plots (plotly)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.demo.figures import Outcome

COLOURS = {"no_feedforward": "#9aa0a6", "armature": "#d9822b", "complete": "#1f6fb2"}
LINES = 1000  # points of a curve, at most
ROW = 120  # height of a joint's row [px]
LAYOUT = {
    "template": "plotly_white",
    "font": {"family": "system-ui, sans-serif", "size": 13},
    "margin": {"l": 70, "r": 20, "t": 40, "b": 50},
    "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0.0},
}


def figure(**layout: Any) -> Any:
    """An empty figure."""
    from plotly import graph_objects

    return graph_objects.Figure(layout={**LAYOUT, **layout})


def bars(found: Sequence[Outcome], joints: Sequence[str]) -> Any:
    """RMS error of each joint, each way beside the others, on a logarithmic scale."""
    drawn = figure(height=340, barmode="group", yaxis={"type": "log", "title": "RMS error [mrad]"})
    for one in found:
        drawn.add_bar(
            name=one.way.label,
            x=list(joints),
            y=1e3 * one.rms_by_joint,
            marker_color=COLOURS[one.way.name],
            hovertemplate="%{x}: %{y:.3g} mrad<extra>" + one.way.label + "</extra>",
        )
    drawn.update_yaxes(dtick=1, minor={"ticks": "outside", "dtick": "D1"})
    return drawn


def errors(found: Sequence[Outcome], joints: Sequence[str]) -> Any:
    """Error over time, a row for each joint; no feedforward is shown at a click."""
    drawn = rows(joints, "[mrad]")
    for one in found:  # the complete model is drawn last, above the others
        times, values = thinned(one.times, 1e3 * one.error)
        add_lines(drawn, one, times, values, hidden=one.way.name == "no_feedforward")
    return drawn


def loads(found: Sequence[Outcome], motors: Sequence[str]) -> Any:
    """Torque of each motor as a part of its limit."""
    drawn = rows(motors, "[%]")
    for one in found:
        signed = np.sign(one.torque) * one.torque_part
        times, values = thinned(one.times, 100.0 * signed)
        add_lines(drawn, one, times, values, hidden=one.way.name == "no_feedforward")
    return drawn


def rows(names: Sequence[str], unit: str) -> Any:
    """A figure with a row for each name, times below each other."""
    from plotly.subplots import make_subplots

    gap = 0.2 / len(names) / 2.0 if len(names) > 1 else 0.0
    drawn = make_subplots(len(names), 1, shared_xaxes=True, vertical_spacing=gap)
    drawn.update_layout(height=ROW * len(names) + 100, hovermode="x unified", **LAYOUT)
    for k, name in enumerate(names):
        drawn.update_yaxes(title=f"{name}<br>{unit}", row=k + 1, col=1)
    drawn.update_xaxes(title="time [s]", row=len(names), col=1)
    return drawn


def add_lines(drawn: Any, one: Outcome, times: Array, values: Array, *, hidden: bool) -> None:
    """Add a curve to each row (k, n)."""
    for k in range(values.shape[1]):
        drawn.add_scatter(
            x=times,
            y=values[:, k],
            name=one.way.label,
            legendgroup=one.way.name,
            showlegend=k == 0,
            visible="legendonly" if hidden else True,
            line={"color": COLOURS[one.way.name], "width": 1.3},
            hovertemplate="%{y:.3g}",
            row=k + 1,
            col=1,
        )


def thinned(times: Array, values: Array) -> tuple[Array, Array]:
    """Every few rows, so that a report stays small."""
    step = max(1, len(times) // LINES)
    return np.round(times[::step], 6), values[::step].astype(np.float32)
