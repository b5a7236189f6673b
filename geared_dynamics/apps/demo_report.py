"""The report: one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from geared_dynamics.analysis.report import Curve, Panel, Provenance, Report, ReportPlot
from geared_dynamics.apps.demo_figures import Outcome, advantage, saturation
from geared_dynamics.apps.demo_plan import ENCODER, LATENCY, RATE, DemoPlan, bandwidth_of
from geared_dynamics.arrays import Array
from geared_dynamics.model.derived import Knowledge

COLOURS = {
    "no_feedforward": "plain", "armature": "armature", "rigid": "armature", "complete": "model",
    "springs": "model",
}  # fmt: skip
LINES = 1000  # points of a curve, at most


def bars(found: Sequence[Outcome], joints: Sequence[str]) -> ReportPlot:
    """RMS error of each joint, each way beside the others."""
    curves = [
        Curve(one.way.label, COLOURS[one.way.name], joints, 1e3 * one.rms_by_joint, "bars")
        for one in found
    ]
    panel = Panel("RMS tracking error", "mrad", curves, from_zero=True)
    return ReportPlot("RMS tracking error of each joint.", [panel], height=220)


def over_time(
    found: Sequence[Outcome], names: Sequence[str], units: Sequence[str], values: Sequence[Array]
) -> list[Panel]:
    """A panel for each name; values (k, n) of each way; no feedforward is shown at a click."""
    panels = []
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        curves = []
        for one, signal in zip(found, values, strict=True):
            step = max(1, len(one.times) // LINES)
            hidden = one.way.name == "no_feedforward"
            curves.append(
                Curve(
                    one.way.label, COLOURS[one.way.name], one.times[::step], signal[::step, k],
                    hidden=hidden,
                )
            )  # fmt: skip
        panels.append(Panel(name, unit, curves))
    return panels


def errors(found: Sequence[Outcome], joints: Sequence[str]) -> ReportPlot:
    """Error over time, a panel for each joint."""
    panels = over_time(found, joints, ["mrad"] * len(joints), [1e3 * one.error for one in found])
    return ReportPlot(
        "A click on the legend shows and hides a curve.", panels, "time [s]", height=95
    )


def loads(found: Sequence[Outcome], motors: Sequence[str]) -> ReportPlot:
    """Torque of each motor, as a part of its limit where that is known."""
    limited = np.any([one.torque_part.any(axis=0) for one in found], axis=0)
    parts = [100.0 * np.sign(one.torque) * one.torque_part for one in found]
    values = [np.where(limited, part, one.torque) for part, one in zip(parts, found, strict=True)]
    units = np.where(limited, "% of limit", "N m").tolist()
    without = "" if limited.all() else ", in N m where that is not known"
    caption = f"Motor torque, part of the limit{without}."
    return ReportPlot(caption, over_time(found, motors, units, values), "time [s]", height=95)


# -- The report: one HTML file that needs no network ----------------------------------------------


ENGINES = {
    "mujoco": "MuJoCo, every rotor and gear wheel a body of its own",
    "equations": "our own equations of the complete model",
}
HEADER = ("feedforward", "RMS error [mrad]", "peak [mrad]", "peak torque", "at a torque limit",
          "peak voltage", "at a voltage limit")  # fmt: skip
FIRST_LIMIT = 3  # the first column about limits


def table_rows(found: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """The table's rows, as in the terminal: name, errors [mrad], parts of limits."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        errors = f"{1e3 * one.rms:.2f}", f"{1e3 * one.peak:.1f}"
        rows.append((one.way.label, *errors, *used(one.torque_part), *used(one.voltage_part)))
    return rows


def known_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns of the table that say something: those of limits only where one is known."""
    return [k for k in range(len(HEADER)) if k < FIRST_LIMIT or any(row[k] != "-" for row in rows)]


def used(part: Array) -> tuple[str, str]:
    """How near a limit came, and for how long it was reached; a dash where there is none."""
    if not part.any():
        return "-", "-"
    found = saturation(part)
    return f"{found.peak:.0%}", f"{found.time:.1%}"


def verdict(found: Sequence[Outcome], knowledge: Knowledge) -> str:
    """The demo in one sentence, and what is not known."""
    ratio = advantage(tuple(found))
    nothing, simpler, complete = (f"{1e3 * one.rms:.2f}" for one in found)
    names = [f"the {one.way.label}" for one in found[1:]]
    if knowledge.rotors == "none":
        return (
            f"Tracking error {complete} mrad RMS with the model, "
            f"{nothing} without feedforward. {knowledge.rotor_note}"
        )
    if ratio < 0.9:
        return (
            f"{names[1].capitalize()} ({complete} mrad RMS) tracked worse than "
            f"{names[0]} ({simpler}): in real time a busy machine does that."
        )
    if ratio < 1.1:
        return (
            f"On this arm {names[0]} ({simpler} mrad RMS) is as good as {names[1]} ({complete})."
        )
    return (
        f"The same gains, {ratio:.1f} times less error: {complete} mrad RMS by "
        f"{names[1]}, {simpler} by {names[0]}."
    )


def facts(plan: DemoPlan, lock_step: bool) -> list[tuple[str, str]]:
    """What was run."""
    pace = "simulated, one command for each joint state: the table does not depend on the machine"
    model, times = plan.model, plan.motion.times
    bandwidth = bandwidth_of(plan.gains, model.joint_names[0])
    return [
        ("robot", f"{model.name}, {model.n} joints, {len(model.wheel_names)} wheels"),
        ("plant", ENGINES[plan.engine]),
        ("sensors", f"encoders of {ENCODER} counts; commands act after {1e3 * LATENCY:g} ms"),
        ("feedforward node", f"pd_plus_feedforward, {bandwidth:.3g} rad/s, {RATE:g} Hz over DDS"),
        ("reference", f"{len(times)} waypoints in {times[-1]:g} s, one frequency for each joint"),
        ("time", pace if lock_step else "the wall clock's"),
    ]  # fmt: skip


def write_report(
    path: Path,
    plan: DemoPlan,
    found: Sequence[Outcome],
    *,
    lock_step: bool,
    provenance: Provenance | None = None,
) -> None:
    """Write the report.

    Args:
        path: File to write.
        plan: What was run.
        found: What came of it.
        lock_step: Whether time was simulated.
        provenance: Where it comes from.
    """
    model = plan.model
    run = facts(plan, lock_step)
    line = "; ".join(text for _, text in run[:2])
    report = Report(f"demo {model.name}", verdict(found, model.knowledge), line)
    report.plot(bars(found, model.joint_names))
    last = [len(found) - 1]
    rows = table_rows(found)
    known = known_columns(rows)
    shown = [[row[k] for k in known] for row in rows]
    header = [HEADER[k] for k in known]
    report.table("Tracking error, and what it took", header, shown, strong=last)
    limits = (
        "Torque and voltage: the hardest-worked motor, part of its limit, and the part of the "
        "time in which a motor was at it."
        if known[FIRST_LIMIT:]
        else "The drivetrain file has no limits of motors, so their load is not known."
    )
    report.text(f"Errors over all joints [mrad]. {limits}", "facts")
    report.heading("Tracking error over time")
    report.plot(errors(found, model.joint_names))
    report.heading("Motor torque")
    report.plot(loads(found, model.motor_names))
    report.heading("What was run")
    report.table("The demo", ("", ""), run, words=True)
    units = {"p": "p [N m/rad]", "d": "d [N m s/rad]"}
    rows = [
        (name, *(f"{plan.gains[f'gains.{name}.{key}']:.4g}" for key in units))
        for name in model.joint_names
    ]
    report.table("Gains, the same for all", ("joint", *units.values()), rows)
    report.write(path, provenance)
