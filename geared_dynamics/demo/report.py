"""The report: one HTML file that needs no network."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geared_dynamics.arrays import Array
from geared_dynamics.demo import plots
from geared_dynamics.demo.control import BANDWIDTH
from geared_dynamics.demo.figures import Outcome, advantage, saturation
from geared_dynamics.demo.plan import ENCODER, LATENCY, RATE, Plan
from geared_dynamics.files import write_text

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


def verdict(found: Sequence[Outcome]) -> str:
    """The demo in one sentence."""
    ratio = advantage(tuple(found))
    by_name = {one.way.name: 1e3 * one.rms for one in found}
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


def facts(plan: Plan, lock_step: bool) -> list[tuple[str, str]]:
    """What was run."""
    pace = "simulated, one command for each joint state: the table does not depend on the machine"
    model, times = plan.model, plan.motion.times
    return [
        ("robot", f"{model.name}, {model.n} joints, {len(model.wheel_names)} wheels"),
        ("plant", ENGINES[plan.engine]),
        ("sensors", f"encoders of {ENCODER} counts; commands act after {1e3 * LATENCY:g} ms"),
        ("feedforward node", f"pd_plus_feedforward, {BANDWIDTH:g} rad/s, {RATE:g} Hz over DDS"),
        ("reference", f"{len(times)} waypoints in {times[-1]:g} s, every joint at its own beat"),
        ("time", pace if lock_step else "the wall clock's"),
    ]  # fmt: skip


def write_report(path: Path, plan: Plan, found: Sequence[Outcome], *, lock_step: bool) -> None:
    """Write the report.

    Args:
        path: File to write.
        plan: What was run.
        found: What came of it.
        lock_step: Whether time was simulated.
    """
    from plotly.offline import get_plotlyjs

    model = plan.model
    head = html.escape(f"{model.name}: what the complete model is worth")
    parts = [
        f"<h1>{head}</h1><p>{html.escape(verdict(found))}</p>",
        outcome_table(found),
        '<p class="note">Errors over all joints [mrad]. Torque and voltage: the hardest-worked '
        "motor, part of its limit, and the part of the time in which a motor was at it.</p>",
        "<h2>RMS error of each joint</h2>", drawn(plots.bars(found, model.joint_names)),
        "<h2>Tracking error</h2>", drawn(plots.errors(found, model.joint_names)),
        '<p class="note">A click on the legend shows and hides a way.</p>',
        "<h2>Motor torque, part of the limit</h2>", drawn(plots.loads(found, model.motor_names)),
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


def gain_table(plan: Plan) -> str:
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
