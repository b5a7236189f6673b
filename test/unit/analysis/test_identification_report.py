"""The report of ``identify``: what its tables and plots are made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.identification import Identified, identify
from geared_dynamics.analysis.identification_report import (
    autocorrelation,
    important,
    known_elsewhere,
    prediction,
    rows_of,
    write_identification,
)
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.verdict import judged
from geared_dynamics.checks import two_digits
from geared_dynamics.recordings.recording import recording_from_arrays
from recorded_motions import elbow, motion, torques, truth

for package in ("scipy", "clarabel", "plotly"):
    pytest.importorskip(package, reason="needs geared_dynamics[analysis]")

MODEL = elbow()


@pytest.fixture(scope="module")
def found() -> Identified:
    """A fit with 2 % of noise."""
    t, q, v, a = motion(20.0, 200.0)
    tau = torques(MODEL, truth(MODEL), q, v, a)
    tau = tau + 0.02 * np.std(tau, axis=0) * np.random.default_rng(1).normal(size=tau.shape)
    return identify(MODEL, [recording_from_arrays(t, q, tau)], Settings(bandwidth=20.0, keep=4.0))


@pytest.mark.parametrize(
    ("value", "sigma", "said"),
    [
        (3.14159, 0.0234, ("3.142", "0.023")),
        (-314.159, 23.4, ("-314", "23")),
        (0.5, 0.0996, ("0.50", "0.10")),
        (1.5e-6, 6.47e-7, ("1.50e-06", "6.5e-07")),
        (12345678.0, 12.3, ("1.2345678e+07", "1.2e+01")),
        (2.0, 0.0, ("2", "0")),
        (0.001, 0.5, ("0.00", "0.50")),
    ],
)
def test_deviations_have_two_digits(value: float, sigma: float, said: tuple[str, str]) -> None:
    assert two_digits(value, sigma) == said


def test_rows_are_those_of_the_fit_by_their_torque(found: Identified) -> None:
    rows = rows_of(found)
    assert sorted(row.whole for row in rows) == sorted(found.base.names)
    shares = [row.share for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert 0 < len(important(rows)) < len(rows)
    for row in rows:
        column = row.name.removesuffix(" +")
        assert row.value == found.column_values[column]
        assert row.unit
        assert row.name.endswith("+") == (row.whole != column)


def test_what_is_plotted_is_what_was_held_out(found: Identified) -> None:
    panels = prediction(found, range(3)).panels
    held = found.equations.held & found.held_used.any(axis=1)
    for j, panel in enumerate(panels):
        assert (panel.title, panel.unit) == (MODEL.joint_names[j], "N m")
        measured, expected = (np.asarray(curve.y) for curve in panel.curves[:2])
        np.testing.assert_array_equal(measured, found.equations.tau[held, j])
        left = np.sqrt(np.mean((measured - expected) ** 2))
        assert left == pytest.approx(found.residual[3, j], rel=0.1)


def test_colour_of_the_residual_is_seen(found: Identified) -> None:
    """White noise stays within the bound but by chance; a slow disturbance does not."""
    rho, bound = autocorrelation(found)
    # Filtered and thinned noise is nearly white: 2.5 rows in a period of its band.
    assert np.mean(np.abs(rho[2:]) > bound) < 0.05
    equations = found.equations
    slow = np.sin(np.arange(len(equations.tau)) / 8.0)[:, None] * 5.0 * found.residual[1]
    rho, bound = autocorrelation(
        replace(found, equations=equations._replace(tau=equations.tau + slow))
    )
    assert (rho[0] > 0.8).all()
    assert (rho[0] > 4.0 * bound).all()


def test_the_page_has_all_parts(found: Identified, tmp_path: Path) -> None:
    verdict = judged(found)
    path = tmp_path / "report.html"
    write_identification(found, verdict, path, wider=np.full(3, 0.05), files=["run.db3"])
    page = path.read_text("utf-8").replace("<wbr>", "")
    assert page.index(verdict.sentence) < page.index('class="plot"') < page.index("<table")
    for part in ("held out", "What to record next", "Correlations", "white", "fitted: files",
                 "held out: files", "all samples, less filtered"):  # fmt: skip
        assert part in page, part
    used = found.equations.used
    kept = int(used[found.equations.held].sum())
    assert f"from {int(used.sum()) - kept} fitted + {kept} held out equations below" in page
    for row in rows_of(found):
        assert f">{row.name}</th>" in page
    assert len(page) < 2_500_000


def test_what_is_known_elsewhere_is_no_more_than_deviations_say(found: Identified) -> None:
    verdict = judged(found)._replace(
        elsewhere=np.array([0.001, 0.012, 0.002]), coverage=np.array([np.nan, 0.15, 0.9])
    )
    names = MODEL.joint_names
    said = known_elsewhere(names, verdict)
    assert "elsewhere in the range are known to 1.2 %; systematic errors are not in them" in said
    assert f"only 15 % of the range of {names[1]} was gone through" in said
    said = known_elsewhere(names, verdict._replace(coverage=np.array([0.95, 0.9, 1.0])))
    assert f"and 90 % of the range of {names[1]} was" in said
    said = known_elsewhere(names, verdict._replace(coverage=np.full(3, np.nan)))
    assert said.endswith("systematic errors are not in them. ")


def test_the_plot_shows_what_was_held_out_of_each_joint(found: Identified) -> None:
    """Measured against predicted torque; their difference is the stated residual."""
    pytest.importorskip("matplotlib")
    panels = gd.plot.identification(found).figure.axes
    assert len(panels) == MODEL.n
    for j, (panel, name) in enumerate(zip(panels, MODEL.joint_names, strict=True)):
        assert panel.get_ylabel() == f"{name}\n[{MODEL.force_units[j]}]"
        measured, predicted = (line.get_ydata() for line in panel.get_lines())
        used = np.isfinite(measured)
        assert used.sum() == found.held_used[:, j].sum() > 0
        residual = np.sqrt(np.mean((measured - predicted)[used] ** 2))
        assert residual == pytest.approx(found.residual[3, j], rel=1e-9)
        share = 100.0 * residual / np.sqrt(np.mean(measured[used] ** 2))
        assert panel.get_title(loc="right") == f"residual {share:.2g} %"
    assert [text.get_text() for text in panels[0].get_legend().get_texts()] == [
        "measured",
        "predicted",
    ]
    assert panels[-1].get_xlabel() == "time in the held-out part [s]"
