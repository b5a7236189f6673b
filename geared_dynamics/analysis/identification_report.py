"""The report of ``identify``: verdict, held-out torques, parameters, what to record next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.hypotheses import fitted
from geared_dynamics.analysis.identification import FEWEST, Identified
from geared_dynamics.analysis.parameter_columns import unit_of
from geared_dynamics.analysis.report import (
    Curve,
    Mood,
    Panel,
    Provenance,
    Report,
    ReportPlot,
    mark,
)
from geared_dynamics.analysis.verdict import Judgement
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.checks import two_digits

LAGS = 20
POINTS = 1500  # of a curve over time
LISTED = 25  # parameters in the table of the important ones
SEEN = 0.01  # of a joint's torque, that a parameter gives to be important
ALIKE = 0.9  # correlation from which on two parameters are named together
SHOWN = 24  # parameters in the picture of correlations
FAR = 3.0  # deviations from the files' value that are marked
HELD_OUT = [5, 3, 4]  # rows of the residuals on what was held out: files, base, physical
HALF = 0.5  # of a range: that less of it was gone through is stressed
WHITE = 2.6  # deviations of a correlation of white numbers, that 1 in 100 is beyond


class ParameterRow(NamedTuple):
    """A base parameter, as tables show it.

    Attributes:
        name: The column that carries it, with ``+`` where others join.
        whole: All that joins.
        unit: Joint side.
        value: Identified.
        sigma: Its standard deviation.
        files: What the files say.
        share: RMS of its torque over the torque, at the joint where that is most.
    """

    name: str
    whole: str
    unit: str
    value: float
    sigma: float
    files: float
    share: float


def rows_of(result: Identified) -> list[ParameterRow]:
    """All base parameters, the ones with the largest torque first."""
    used = fitted(result)
    count = np.maximum(used.sum(axis=0), 1)
    given = result.equations.Y[..., list(result.base.selection)] * result.x
    power = np.einsum("kjb,kj->jb", given**2, used.astype(float)) / count[:, None]
    share = (np.sqrt(power) / np.maximum(result.rms, 1e-300)[:, None]).max(axis=0)
    columns = [result.equations.names[k] for k in result.base.selection]
    rows = [
        ParameterRow(
            column + (" +" if whole != column else ""), whole, unit_of(result.model, column),
            float(x), float(sigma), float(files), float(part),
        )
        for column, whole, x, sigma, files, part in zip(
            columns, result.base.names, result.x, result.sigma, result.files, share, strict=True
        )
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row.share)


def important(rows: Sequence[ParameterRow]) -> list[ParameterRow]:
    """Those that give a torque worth mentioning."""
    return [row for row in rows if row.share > SEEN][:LISTED]


def file_value(value: float) -> str:
    """Write a number of a file; below 1e-9 is 0."""
    return "0" if abs(value) < 1e-9 else f"{value:.4g}"


def write_identification(
    result: Identified,
    verdict: Judgement,
    path: Path,
    provenance: Provenance | None = None,
    *,
    wider: Array | None = None,
    files: Sequence[str] = (),
) -> None:
    """Write the report.

    Args:
        result: What was identified.
        verdict: What ``judged`` says of it.
        path: The file.
        provenance: Where it comes from.
        wider: Residual in the band of ``analyze`` (n,), over the torque.
        files: Names of the recordings.
    """
    mood: Mood = "good" if verdict.usable else "bad"
    report = Report(f"identify {result.model.name}", verdict.sentence, facts(result, files), mood)
    report.plot(prediction(result, worst(result)))
    for finding in verdict.findings:
        report.finding(finding.what, finding.lines, red=finding.severity == "red")
    report.heading("Residuals")
    report.table("Residual of each joint, % of its RMS torque", *residual_rows(result, wider))
    report.heading("Measured and predicted torques")
    report.plot(prediction(result, range(result.model.n)))
    next_motion(report, result, verdict)
    report.heading("Parameters")
    parameter_tables(report, result)
    report.heading("Correlations")
    correlations(report, result)
    report.heading("Is the residual white?")
    whiteness(report, result)
    report.write(path, provenance)


def facts(result: Identified, files: Sequence[str]) -> str:
    """What it was found from."""
    cutoff, keep = result.equations.bandwidth
    of = f"{', '.join(files)}: " if files else ""
    return (
        f"{of}{len(result.x)} base parameters of {result.model.name} from "
        f"{counted(result)} equations below {keep:.3g} Hz (filtered below {cutoff:.3g} Hz), "
        f"condition number {result.solution.condition:.3g}"
    )


def counted(result: Identified) -> str:
    """Write how many equations were fitted, and how many held out."""
    return f"{int(fitted(result).sum())} fitted + {int(result.held_used.sum())} held out"


def worst(result: Identified) -> list[int]:
    """The joint that is explained least, for the first screen."""
    own = result.residual[3] / np.maximum(result.held_rms, 1e-300)
    fit = result.residual[1] / np.maximum(result.rms, 1e-300)
    return [int(np.nanargmax(own if np.isfinite(own).any() else fit))]


def prediction(result: Identified, joints: Sequence[int]) -> ReportPlot:
    """Measured and predicted torques on what was held out; on what was fitted if that is all."""
    held = result.held
    there = result.held_used.any(axis=1)
    where = "held out: none of it was fitted"
    if there.sum() < FEWEST:
        held, there, where = (
            result.equations,
            fitted(result).any(axis=1),
            "fitted: all that there is",
        )
    index = np.flatnonzero(there)
    index = index[:: max(1, len(index) // POINTS)]
    expected = result.expected(held)[index]
    times, cuts = time_axis(held.stamp[index], held.run[index], held.rate)
    panels = []
    for j in joints:
        curves = [
            Curve("measured", "measured", times, np.insert(held.tau[index, j], cuts, np.nan)),
            Curve("base parameters", "model", times, np.insert(expected[:, j], cuts, np.nan)),
        ]
        if result.physical is not None:
            full = (held.Y[index, j] @ (result.physical.x + result.load)).ravel()
            curves.append(
                Curve("physical parameters", "armature", times, np.insert(full, cuts, np.nan),
                      "dots", hidden=True)
            )  # fmt: skip
        panels.append(Panel(result.model.joint_names[j], result.model.force_units[j], curves))
    alone = len(panels) == 1
    name = f"{panels[0].title}, explained least. " if alone else ""
    caption = f"{name}Torque that was {where}; filtered as the equations are."
    return ReportPlot(caption, panels, "time [s]", height=230 if alone else 120)


def time_axis(stamp: IntArray, run: IntArray, rate: float) -> tuple[Array, IntArray]:
    """Times [s] with NaN at gaps and between recordings, and where these were put."""
    if not len(stamp):
        return np.empty(0), np.empty(0, np.int64)
    step = np.diff(stamp) * 1e-9
    usual = max(float(np.median(step)) if len(step) else 0.0, 1.0 / rate)
    cuts = np.flatnonzero((step > 3.0 * usual) | (step < 0.0) | (np.diff(run) != 0)) + 1
    return np.insert((stamp - stamp[0]) * 1e-9, cuts, np.nan), cuts.astype(np.int64)


def residual_rows(result: Identified, wider: Array | None) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the residuals."""
    heads = ["joint", "RMS torque", "fitted: files", "base", "physical"]
    heads += ["held out: files", "base", "physical"]
    heads += [] if wider is None else ["all samples, less filtered (as in analyze)"]
    rows = []
    for j, name in enumerate(result.model.joint_names):
        fit = 100.0 * result.residual[:3, j] / max(result.rms[j], 1e-300)
        held = 100.0 * result.residual[HELD_OUT, j] / (result.held_rms[j] or np.nan)
        numbers = [*fit, *held, *([] if wider is None else [100.0 * wider[j]])]
        cells = ["–" if np.isnan(x) else f"{x:.1f}" for x in numbers]
        rows.append([name, f"{result.rms[j]:.3g} {result.model.force_units[j]}", *cells])
    return heads, rows


def known_elsewhere(names: Sequence[str], verdict: Judgement) -> str:
    """Say how well torques are known where nothing was recorded, and how much that is."""
    known = 100.0 * verdict.elsewhere.max()
    said = f"By the standard deviations, torques elsewhere in the range are known to {known:.2g} %"
    if not np.isfinite(verdict.coverage).any():
        return f"{said}; systematic errors are not in them. "
    least = int(np.nanargmin(verdict.coverage))
    way = verdict.coverage[least]
    share = f"{'only ' if way < HALF else ''}{100.0 * way:.0f} %"
    return (
        f"{said}; systematic errors are not in them, and {share} of the range of {names[least]} "
        "was gone through. "
    )


def next_motion(report: Report, result: Identified, verdict: Judgement) -> None:
    """What to record next."""
    report.heading("What to record next")
    model, found = result.model, result.equations
    least = int(np.argmax(verdict.elsewhere))
    away = 100.0 * verdict.elsewhere[least]
    if away > 10.0:
        said = (
            f"The torque of {model.joint_names[least]} is uncertain by {away:.0f} % in other "
            "motions: record one in which it goes through more of its range, and faster. "
        )
    else:
        said = known_elsewhere(model.joint_names, verdict)
    report.text(
        said + "geared-dynamics excite makes a motion within the limits that determines all "
        "parameters; keep one recording aside for --validate."
    )
    rows = []
    for j, name in enumerate(model.joint_names):
        way, limit = verdict.coverage[j], model.limits.velocity[j]
        low, high, top = found.q[:, j].min(), found.q[:, j].max(), np.abs(found.v[:, j]).max()
        unit = "m" if model.prismatic[j] else "rad"
        rows.append([
            f"{name} [{unit}]", f"{low:.3g} to {high:.3g}",
            "–" if np.isnan(way) else f"{100 * way:.0f} %", f"{top:.3g} {unit}/s",
            f"{100 * top / limit:.0f} %" if np.isfinite(limit) else "–",
            f"{100 * verdict.elsewhere[j]:.1f} %",
        ])  # fmt: skip
    heads = ["joint", "from, to", "of its range", "top speed", "of its limit"]
    report.table(
        "What was recorded, and how uncertain torques are elsewhere",
        [*heads, "torque elsewhere ±"], rows,
    )  # fmt: skip


def parameter_tables(report: Report, result: Identified) -> None:
    """Parameters with deviations against the files."""
    rows = rows_of(result)
    first = important(rows)
    report.text(
        "The dot is the identified value with two standard deviations to both sides, the upright "
        "line what the files say, the thin line zero. Parameters marked + have others in them: "
        "only the sum acts. Sides: joint side of the gears, but a wheel's J about its own axis."
    )
    for title, chosen in (
        ("Parameters with more than 1 % of a joint's torque", first),
        ("All others", [row for row in rows if row not in first]),
    ):
        if chosen:
            report.table(
                title,
                ["parameter", "value", "± 1σ", "unit", "files", "off by", "of torque", "drawn"],
                [cells(row) for row in chosen],
                red=[(i, 5) for i, row in enumerate(chosen) if abs(apart(row)) > FAR],
                marks=[mark(row.value, row.sigma, row.files) for row in chosen],
            )
    report.heading("What joins in the sums", 3)
    sums = [(row.name.removesuffix(" +"), row.whole) for row in rows if row.name.endswith("+")]
    report.table("Sums that only act together", ("parameter", "sum"), sums, words=True)


def cells(row: ParameterRow) -> list[str]:
    """Texts of a row."""
    value, sigma = two_digits(row.value, row.sigma)
    off = apart(row)
    shown = "–" if not np.isfinite(off) else f"{off:+.1f} σ" if abs(off) < 1000 else "> 1000 σ"
    share = f"{100 * row.share:.1f} %" if row.share >= 5e-4 else "0 %"
    return [row.name, value, sigma, row.unit, file_value(row.files), shown, share]


def apart(row: ParameterRow) -> float:
    """Deviations between the identified value and the files'."""
    return (row.value - row.files) / row.sigma if row.sigma > 0.0 else np.nan


def correlations(report: Report, result: Identified) -> None:
    """Correlation of the important parameters, and pairs that are hardly separated."""
    covariance = result.solution.covariance
    scale = np.sqrt(np.maximum(covariance.diagonal(), 1e-300))
    rho = np.clip(covariance / np.outer(scale, scale), -1.0, 1.0)
    names = [result.equations.names[k] for k in result.base.selection]
    order = [names.index(row.name.removesuffix(" +")) for row in important(rows_of(result))][
        :SHOWN
    ]
    if len(order) > 1:
        shown = [names[k] for k in order]
        grid = Curve("correlation", "model", shown, shown, "grid", z=rho[np.ix_(order, order)])
        caption = "Correlation of the parameters with the largest torques, from -1 to 1."
        report.plot(ReportPlot(caption, [Panel("", "", [grid])], height=22 * len(order)))
    upper = np.argwhere(np.triu(np.abs(rho) > ALIKE, 1))
    pairs = sorted(((abs(rho[i, j]), int(i), int(j)) for i, j in upper), reverse=True)
    rows = [(names[i], names[j], f"{rho[i, j]:+.3f}") for _, i, j in pairs[:20]]
    if rows:
        more = f", {len(rows)} of {len(pairs)}" if len(pairs) > len(rows) else ""
        title = f"Pairs that this motion hardly separates (beyond {ALIKE:g}{more})"
        report.table(title, ("parameter", "and", "correlation"), rows)
    else:
        report.text(f"No two parameters have a correlation beyond {ALIKE:g}.")


def autocorrelation(result: Identified) -> tuple[Array, Array]:
    """Correlation of each joint's residual with itself 1 to LAGS rows before (LAGS, n).

    And what correlations of white residuals stay below (n,). Pairs are of one recording.
    """
    found, used = result.equations, fitted(result)
    left = np.where(used, found.tau - result.expected(found), 0.0)
    rho = np.zeros((LAGS, result.model.n))
    for lag in range(1, min(LAGS, len(left) - 1) + 1):
        same = (found.run[lag:] == found.run[:-lag])[:, None] & used[lag:] & used[:-lag]
        pairs = np.maximum(same.sum(axis=0), 1)
        rho[lag - 1] = (left[lag:] * left[:-lag] * same).sum(axis=0) / pairs
    power = (left**2).sum(axis=0) / np.maximum(used.sum(axis=0), 1)
    return rho / np.maximum(power, 1e-300), WHITE / np.sqrt(np.maximum(used.sum(axis=0), 1))


def whiteness(report: Report, result: Identified) -> None:
    """Whether residuals go with themselves."""
    rho, bound = autocorrelation(result)
    rate = result.equations.rate
    coloured = [
        f"{name} ({rho[:, j][np.argmax(np.abs(rho[:, j]))]:+.2f})"
        for j, name in enumerate(result.model.joint_names)
        if np.abs(rho[:, j]).max() > max(2.0 * bound[j], 0.3)
    ]
    if coloured:
        report.text(
            f"No: {', '.join(coloured)}. What is left of the torque goes with itself in time, so "
            "something acts that the model does not have: friction that is not linear, elastic "
            "gears, a load that changes. Deviations allow for it."
        )
    else:
        report.text("Yes, all but: what is left of the torques is noise.")
    lags = np.arange(1, LAGS + 1) / rate
    panels = [
        Panel(
            name, "correlation",
            [
                Curve("correlation", "model", lags, rho[:, j], "bars"),
                Curve("99 % of white noise", "residual", lags, np.full(LAGS, bound[j]), "dots"),
                Curve("to the other side", "residual", lags, np.full(LAGS, -bound[j]), "dots"),
            ],
            "time apart [s]",
        )
        for j, name in enumerate(result.model.joint_names)
    ]  # fmt: skip
    caption = "Correlation of each joint's residual with itself, some time before."
    report.plot(ReportPlot(caption, panels, columns=2, height=95))
