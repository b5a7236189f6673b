"""The report: one HTML file that needs no network."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geared_dynamics.apps.demo_figures import Outcome, advantage, saturation
from geared_dynamics.apps.demo_plan import BANDWIDTH, ENCODER, LATENCY, RATE, DemoPlan
from geared_dynamics.arrays import Array
from geared_dynamics.files import write_text
from geared_dynamics.model.derived import Knowledge

# -- The report's plots (plotly) ------------------------------------------------------------------


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


# -- The report: one HTML file that needs no network ----------------------------------------------


ENGINES = {
    "mujoco": "MuJoCo, every rotor and gear wheel a body of its own",
    "equations": "our own equations of the complete model",
}
HEADER = ("", "RMS error", "peak error", "peak torque", "at a torque limit", "peak voltage",
          "at a voltage limit")  # fmt: skip
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #202124; max-width: 60rem;
       margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: right; padding: 0.35rem 0.7rem; border-bottom: 1px solid #dadce0; }
th { font-weight: 600; font-size: 0.85rem; color: #5f6368; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
tr.complete td { font-weight: 600; }
table.facts td { text-align: left; } p.note { color: #5f6368; font-size: 0.9rem; }
"""


def table_rows(found: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """The table's rows, as in the terminal: name, errors [mrad], parts of limits."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        errors = f"{1e3 * one.rms:.2f}", f"{1e3 * one.peak:.1f}"
        rows.append((one.way.label, *errors, *used(one.torque_part), *used(one.voltage_part)))
    return rows


def used(part: Array) -> tuple[str, str]:
    """How near a limit came, and for how long it was reached; a dash where there is none."""
    if not part.any():
        return "-", "-"
    found = saturation(part)
    return f"{found.peak:.0%}", f"{found.time:.1%}"


def verdict(found: Sequence[Outcome], knowledge: Knowledge) -> str:
    """The demo in one sentence, and what is not known."""
    ratio = advantage(tuple(found))
    by_name = {one.way.name: 1e3 * one.rms for one in found}
    if knowledge.rotors == "none":
        return (
            f"Tracking error {by_name['complete']:.2f} mrad RMS with the model, "
            f"{by_name['no_feedforward']:.2f} without feedforward. {knowledge.rotor_note}"
        )
    if ratio < 0.9:
        return (
            f"The complete model ({by_name['complete']:.2f} mrad RMS) tracked worse than the "
            f"armature model ({by_name['armature']:.2f}): in real time a busy machine does that."
        )
    if ratio < 1.1:
        return (
            f"On this arm the armature model ({by_name['armature']:.2f} mrad RMS) is as good as "
            f"the complete one ({by_name['complete']:.2f})."
        )
    return (
        f"The same gains, {ratio:.1f} times less error: {by_name['complete']:.2f} mrad RMS with "
        f"the complete model, {by_name['armature']:.2f} with the armature model."
    )


def facts(plan: DemoPlan, lock_step: bool) -> list[tuple[str, str]]:
    """What was run."""
    pace = "simulated, one command for each joint state: the table does not depend on the machine"
    model, times = plan.model, plan.motion.times
    return [
        ("robot", f"{model.name}, {model.n} joints, {len(model.wheel_names)} wheels"),
        ("plant", ENGINES[plan.engine]),
        ("sensors", f"encoders of {ENCODER} counts; commands act after {1e3 * LATENCY:g} ms"),
        ("feedforward node", f"pd_plus_feedforward, {BANDWIDTH:g} rad/s, {RATE:g} Hz over DDS"),
        ("reference", f"{len(times)} waypoints in {times[-1]:g} s, one frequency for each joint"),
        ("time", pace if lock_step else "the wall clock's"),
    ]  # fmt: skip


def write_report(path: Path, plan: DemoPlan, found: Sequence[Outcome], *, lock_step: bool) -> None:
    """Write the report.

    Args:
        path: File to write.
        plan: What was run.
        found: What came of it.
        lock_step: Whether time was simulated.
    """
    from plotly.offline import get_plotlyjs

    model = plan.model
    head = html.escape(f"{model.name}: the effect of the complete model")
    parts = [
        f"<h1>{head}</h1><p>{html.escape(verdict(found, model.knowledge))}</p>",
        outcome_table(found),
        '<p class="note">Errors over all joints [mrad]. Torque and voltage: the hardest-worked '
        "motor, part of its limit, and the part of the time in which a motor was at it.</p>",
        "<h2>RMS error of each joint</h2>", drawn(bars(found, model.joint_names)),
        "<h2>Tracking error</h2>", drawn(errors(found, model.joint_names)),
        '<p class="note">A click on the legend shows and hides a way.</p>',
        "<h2>Motor torque, part of the limit</h2>", drawn(loads(found, model.motor_names)),
        "<h2>What was run</h2>", fact_table(facts(plan, lock_step)),
        "<h2>Gains, the same for all</h2>", gain_table(plan),
    ]  # fmt: skip
    write_text(
        path,
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # An icon of no bytes: browsers would ask for one.
        f'<link rel="icon" href="data:,"><title>{head}</title><style>{STYLE}</style>'
        f"<script>{get_plotlyjs()}</script></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n",
    )  # fmt: skip


def drawn(figure: Any) -> str:
    """HTML of a figure; the library stands in the page's head."""
    config = {"displaylogo": False, "responsive": True}
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config=config))


def outcome_table(found: Sequence[Outcome]) -> str:
    """HTML of the table."""
    names = [one.way.name for one in found]
    head = "".join(f"<th>{name}</th>" for name in HEADER)
    body = "".join(
        f'<tr class="{name}">{cells(row)}</tr>'
        for name, row in zip(names, table_rows(found), strict=True)
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def fact_table(rows: Sequence[tuple[str, str]]) -> str:
    """HTML of a table with two columns."""
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return f'<table class="facts">{body}</table>'


def gain_table(plan: DemoPlan) -> str:
    """HTML of the gains."""
    units = {"p": "p [N m/rad]", "d": "d [N m s/rad]"}
    head = "".join(f"<th>{name}</th>" for name in ("", *units.values()))
    rows = [
        (name, *(f"{plan.gains[f'gains.{name}.{key}']:.4g}" for key in units))
        for name in plan.model.joint_names
    ]
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def cells(row: Sequence[str]) -> str:
    """HTML of a row's cells."""
    return "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
