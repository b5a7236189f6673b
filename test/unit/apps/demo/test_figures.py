"""Figures and report from tracks whose errors are known."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.apps.demo_motion import swing, tempo_for
from geared_dynamics.apps.demo_plan import WAYS, DemoPlan, make_plan
from geared_dynamics.apps.demo_report import (
    Outcome,
    Series,
    Track,
    advantage,
    known_columns,
    loads,
    outcomes,
    reference,
    saturation,
    table_rows,
    used,
    verdict,
    write_report,
)
from geared_dynamics.files import robot_files
from geared_dynamics.model.derived import NO_ROTORS

OFFSETS = {"no_feedforward": 0.3, "armature": 0.02, "complete": -0.001}


@pytest.fixture(scope="module")
def plan() -> DemoPlan:
    return make_plan(robot_files("brisk6"), "equations")


@pytest.fixture(scope="module")
def found(plan: DemoPlan) -> tuple[Outcome, ...]:
    times = np.linspace(0.0, 5.0, 501)
    still = np.zeros((501, 6))
    tracks = {}
    for name, offset in OFFSETS.items():
        q = reference(plan.motion, times) - offset
        motors = Series(times, still, still, np.full((501, 6), 4.2))
        tracks[name] = Track(Series(times, q, still, still), motors)
    return outcomes(plan.model, plan.motion, tracks)


def test_reference_between_waypoints(plan: DemoPlan) -> None:
    """Quintic pieces between exact waypoints are the sines themselves, all but."""
    wanted = swing(plan.model)
    exact = wanted.at(plan.motion.times[:-1] + 0.0037, tempo_for(plan.model, wanted))
    np.testing.assert_allclose(reference(plan.motion, exact.times), exact.q, atol=1e-7)


def test_errors_are_those_of_the_tracks(found: tuple[Outcome, ...]) -> None:
    for one in found:
        offset = abs(OFFSETS[one.way.name])
        assert one.rms == pytest.approx(offset)
        assert one.peak == pytest.approx(offset)
        np.testing.assert_allclose(one.rms_by_joint, offset)
    assert advantage(found) == pytest.approx(20.0)


def test_a_motor_at_its_limit_is_seen(found: tuple[Outcome, ...]) -> None:
    """4.2 N m is the torque and current limit of the wrist's motors."""
    assert saturation(found[0].torque_part) == (pytest.approx(1.0), 1.0)


def test_time_at_a_limit() -> None:
    part = np.array([[0.1, 1.0], [0.2, 0.5], [1.0, 1.0], [0.0, 0.9]])
    assert saturation(part) == (1.0, 0.5)
    assert used(part) == ("100%", "50.0%")
    assert used(np.zeros((3, 2))) == ("-", "-")


def test_verdicts(found: tuple[Outcome, ...], plan: DemoPlan) -> None:
    known = plan.model.knowledge
    assert "20.0 times less error: 1.00 mrad" in verdict(found, known)
    same = tuple(one._replace(error=found[2].error) for one in found)
    assert "is as good as" in verdict(same, known)
    worse = (*found[:2], found[2]._replace(error=found[0].error))
    assert "tracked worse than" in verdict(worse, known)
    assert verdict(same, known._replace(rotors="none")).endswith(NO_ROTORS)


def test_the_report_is_one_file_that_asks_for_nothing(
    plan: DemoPlan, found: tuple[Outcome, ...], tmp_path: Path
) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed (extra demo)")
    path = tmp_path / "report.html"
    write_report(path, plan, found, lock_step=True)
    text = path.read_text(encoding="utf-8")
    page = re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:,)""", page)
    assert not re.findall(r"<script[^>]+src=", text)
    for name, *cells in table_rows(found):
        assert f'<th scope="row">{name}</th>' in page
        assert all(f"<td>{cell}</td>" in page for cell in cells)
    assert len(re.findall(r'class="plot" id="plot\d"', page)) == 3
    assert path.stat().st_size < 2_500_000
    assert page.index(verdict(found, plan.model.knowledge)[:40]) < page.index('class="plot"')


def test_motors_without_limits(plan: DemoPlan, found: tuple[Outcome, ...], tmp_path: Path) -> None:
    """Their torques are in N m, and the table has no columns of dashes."""
    pytest.importorskip("plotly", reason="plotly is not installed (extra demo)")
    names = plan.model.motor_names
    free = tuple(
        one._replace(torque_part=0 * one.torque_part, voltage_part=0 * one.voltage_part)
        for one in found
    )
    assert known_columns(table_rows(free)) == [0, 1, 2]
    assert known_columns(table_rows(found)) == list(range(7))
    partly = np.arange(len(names)) != 0
    some = tuple(one._replace(torque_part=one.torque_part * partly) for one in found)
    for ways, of_limit in ((free, 0 * partly), (found, partly | True), (some, partly)):
        plot = loads(ways, names)
        assert [panel.unit == "% of limit" for panel in plot.panels] == of_limit.tolist()
    largest = np.abs(loads(free, names).panels[0].curves[0].y).max()
    assert largest == np.abs(free[0].torque[:, 0]).max()
    write_report(tmp_path / "report.html", plan, free, lock_step=True)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "peak voltage" not in page
    assert "has no limits of motors" in page


def test_ways_are_in_the_order_of_the_table(found: tuple[Outcome, ...]) -> None:
    assert [one.way for one in found] == list(WAYS)
