"""Curves and files: bounded, cut at gaps, in the joints' own units, and whole or not there."""

from __future__ import annotations

import csv
import errno
import os
import re
import struct
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis import comparison_report
from geared_dynamics.analysis.analysis_files import (
    SamplesFile,
    TorqueBag,
    write_motors,
    write_png,
    write_summary,
)
from geared_dynamics.analysis.compare import Analysis, analyze
from geared_dynamics.analysis.comparison_numbers import friction_yaml, joint_figures, unexplained
from geared_dynamics.analysis.comparison_report import (
    COLOURS,
    DRAWN,
    FEWEST,
    FINEST,
    ROOM,
    coarser,
    envelope,
    profile,
    residuals,
    torques,
    write_html,
)
from geared_dynamics.analysis.span_comparison import BINS, BUCKETS, extremes_of
from geared_dynamics.arrays import Array
from geared_dynamics.description.yaml_files import read_data
from geared_dynamics.recordings.recording import recording_from_arrays
from recorded_motions import ROBOTS, elbow, motion

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
SLIDING = (ROBOTS / "elbow.urdf").read_bytes()
SLIDING = SLIDING.replace(b'name="joint_3" type="revolute"', b'name="joint_3" type="prismatic"')


def analysis(model: gd.GearedModel, seconds: float = 20.0, gap: float = 0.0) -> Analysis:
    """An exact recording at 500 Hz, with a gap after each second."""
    t, q, v, a = motion(seconds, 500.0)
    recording = recording_from_arrays(
        t + gap * np.floor(t), q, gd.inverse_dynamics(model, q, v, a)
    )
    return analyze(model, recording, bandwidth_hz=40.0)


@pytest.mark.parametrize("gap", [0.0, 0.02, 3.0])
def test_buckets_are_bounded_and_every_gap_is_drawn(gap: float) -> None:
    found = analysis(MODEL, gap=gap)
    gaps = 19 if gap else 0
    assert found.drawn.shape[2] <= BUCKETS + gaps + 1
    x, y = envelope(found, 0, 1)
    assert np.isnan(x).sum() == np.isnan(y).sum() == gaps
    for part in np.split(x, np.flatnonzero(np.isnan(x))):  # no line crosses a gap
        assert np.ptp(part[~np.isnan(part)]) < (1.0 if gap else 20.0)
    assert np.nanmax(y) == pytest.approx(found.drawn[1, 0, :, 1].max())


def stretches(count: int, each: int, pause: int) -> tuple[list[np.ndarray], Array]:
    """Stamps of stretches with pauses [samples], and two signals."""
    starts = np.arange(count) * (each + pause)
    stamps = [1000 * (start + np.arange(each)) for start in starts]
    return stamps, np.random.default_rng(0).normal(size=(2, count * each, 3))


@pytest.mark.parametrize("count", [1, 7, 400])
def test_buckets_do_not_grow_with_the_number_of_gaps(count: int) -> None:
    stamps, values = stretches(count, 10, 50)
    stamp, drawn = extremes_of(stamps, values, 20)
    assert len(stamp) == drawn.shape[2] <= 20 + 10
    assert (stamp[:, 1] >= stamp[:, 0]).all()
    np.testing.assert_array_equal(drawn[0].min(axis=1), values.min(axis=1))
    np.testing.assert_array_equal(drawn[1].max(axis=1), values.max(axis=1))


def test_the_longest_gaps_are_the_ones_that_cut() -> None:
    stamps, values = stretches(400, 10, 2)
    for part in stamps[200:]:
        part += 10**7
    stamp, _ = extremes_of(stamps, values, 20)
    assert stamps[200][0] in stamp[:, 0]
    assert stamps[199][-1] in stamp[:, 1]


def test_many_short_spans_are_drawn_coarser() -> None:
    count = 5 * FINEST + 1
    stamp = np.arange(2 * count).reshape(count, 2)
    low, high = -np.arange(float(count)), np.arange(float(count))
    joined, least, most = coarser(stamp, low, high)
    assert len(joined) <= FINEST
    assert (joined[0, 0], joined[-1, 1]) == (0, 2 * count - 1)
    assert (least.min(), most.max()) == (low.min(), high.max())


def test_few_buckets_are_cut_at_one_gap() -> None:
    """Half as many of the gaps as buckets, and never none."""
    stamps = [1000 * (start + np.arange(count)) for start, count in ((0, 11), (90, 8), (180, 11))]
    values = np.random.default_rng(0).normal(size=(2, 30, 3))
    for buckets, cuts in ((1, 1), (2, 1), (3, 1), (4, 2)):
        stamp, _ = extremes_of(stamps, values, buckets)
        starts = {int(part[0]) for part in stamps[1:]}
        assert len(starts & set(stamp[:, 0].tolist())) == cuts


@pytest.mark.parametrize("count", [1, 10, 20, 100])
def test_a_page_of_many_recordings_has_no_more_points(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each curve has two points to a bucket, and no fewer than a hundred buckets."""
    pytest.importorskip("plotly", reason="needs geared_dynamics[analysis]")
    given: list[int] = []
    monkeypatch.setattr(comparison_report, "section", lambda *args: given.append(args[2]))
    found = analysis(MODEL)
    write_html([found] * count, tmp_path / "report.html")
    curves = count * MODEL.n * len(DRAWN)
    assert (
        given
        == [{1: FINEST, 10: ROOM // (2 * curves), 20: ROOM // (2 * curves), 100: 100}[count]]
        * count
    )
    assert 100 < ROOM // (2 * 20 * MODEL.n * len(DRAWN)) < FINEST


def test_plots_bear_the_units_of_each_joint(tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="needs geared_dynamics[analysis]")
    found = analysis(gd.load_model(SLIDING, ROBOTS / "elbow.drivetrain.yaml"))
    over_time, over_state = torques(found), residuals(found)
    assert [panel.unit for panel in over_time.panels] == ["N m", "N m", "N"]
    assert [panel.unit for panel in over_state.panels] == ["N m"] * 4 + ["N"] * 2
    first, last = over_state.panels[0], over_state.panels[5]
    assert (first.title, first.x_title) == ("joint_1 over its position", "position [rad]")
    assert (last.title, last.x_title) == ("joint_3 over its velocity", "velocity [m/s]")
    write_html([found], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8").replace("<wbr>", "")
    assert "joint_3 [N]" in page


def test_friction_hints_are_yaml_that_loads() -> None:
    """Pasted into the drivetrain file they take the residual away that they are made of."""
    t, q, v, a = motion(20.0, 500.0)
    tau = gd.inverse_dynamics(MODEL, q, v, a) + 4.0 * v + 3.0 * np.sign(v)
    recording = recording_from_arrays(t, q, tau)
    found = analyze(MODEL, recording, bandwidth_hz=40.0)
    drive = read_data(ROBOTS / "elbow.drivetrain.yaml")[0]
    pasted = {**drive, **read_data(friction_yaml(found.model, joint_figures(found)).encode())[0]}
    assert set(pasted["joints"]) == set(MODEL.joint_names)
    model = gd.load_model(ROBOTS / "elbow.urdf", pasted)
    np.testing.assert_allclose(model.friction[0], 4.0, rtol=0.05)
    np.testing.assert_allclose(model.friction[1], 3.0, rtol=0.05)
    again = analyze(model, recording, bandwidth_hz=40.0)
    for before, after in zip(joint_figures(found), joint_figures(again), strict=True):
        assert after.residual[-1] < 0.2 * before.residual[-1]
    assert friction_yaml(again.model, joint_figures(again)) == ""
    exact = analysis(MODEL)
    assert friction_yaml(exact.model, joint_figures(exact)) == ""  # control


def test_friction_that_gives_hardly_any_torque_is_not_offered() -> None:
    """Little viscous friction explains all of a small residual, but 0.2 % of the torque."""
    t, q, v, a = motion(20.0, 500.0)
    tau = gd.inverse_dynamics(MODEL, q, v, a)
    little = 0.002 * np.sqrt(np.mean(tau**2, axis=0) / np.mean(v**2, axis=0))
    for factor, offered in ((1.0, False), (5.0, True)):
        recording = recording_from_arrays(t, q, tau + factor * little * v)
        found = joint_figures(analyze(MODEL, recording, bandwidth_hz=40.0))
        assert all("velocity" in joint.missing for joint in found)
        weights = [joint.weights["velocity"] for joint in found]
        np.testing.assert_allclose(weights, 0.2 * factor, rtol=0.1)
        assert bool(friction_yaml(MODEL, found)) == offered


def test_friction_that_is_most_of_the_torque_is_offered() -> None:
    """Files without friction of an arm that moves slowly in stiff gears."""
    t, q, v, a = motion(20.0, 500.0)
    tau = gd.inverse_dynamics(MODEL, q, v, a)
    much = 4.0 * np.sqrt(np.mean(tau**2, axis=0))
    found = joint_figures(
        analyze(MODEL, recording_from_arrays(t, q, tau + much * np.sign(v)), bandwidth_hz=40.0)
    )
    assert all(joint.percent[-1] > 90.0 for joint in found)
    assert unexplained(found) == ""
    assert friction_yaml(MODEL, found) != ""


def test_a_model_that_does_not_explain_a_recording_is_named(tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="needs geared_dynamics[analysis]")
    t, q, v, a = motion(20.0, 500.0)
    recording = recording_from_arrays(t, np.deg2rad(q), gd.inverse_dynamics(MODEL, q, v, a))
    found = analyze(MODEL, recording, bandwidth_hz=40.0)
    joints = joint_figures(found)
    assert any(joint.missing for joint in joints)  # friction that would seem to be missing
    said = unexplained(joints)
    assert re.match(r"the model does not explain this recording \(\d+ % left\): check --deg", said)
    assert friction_yaml(MODEL, joints) == ""
    write_html([found], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8").replace("<wbr>", "")
    assert page.index("The model does not explain") < page.index("<table")
    assert "Friction to paste" not in page
    assert unexplained(joint_figures(analysis(MODEL))) == ""  # control


def test_tables_are_one_each_and_nan_where_nothing_is_known(tmp_path: Path) -> None:
    found = analysis(MODEL)
    write_summary(found, tmp_path / "joints.csv")
    write_motors(found, tmp_path / "motors.csv")
    joints, motors = (
        list(csv.DictReader((tmp_path / name).open(encoding="utf-8")))
        for name in ("joints.csv", "motors.csv")
    )
    assert [row["joint"] for row in joints] == list(MODEL.joint_names)
    assert [row["motor"] for row in motors] == list(MODEL.motor_names)
    for row in motors:
        assert float(row["rms_Nm"]) > 0.0
        assert np.isnan(
            [float(row[f"{kind}_{unit}"]) for kind in ("rms", "peak") for unit in "AV"]
        ).all()


def test_samples_bear_units_and_the_residual(tmp_path: Path) -> None:
    model = gd.load_model(SLIDING, ROBOTS / "elbow.drivetrain.yaml")
    t, q, v, a = motion(5.0, 500.0)
    recording = recording_from_arrays(t, q, gd.inverse_dynamics(model, q, v, a) + 1.0)
    with SamplesFile(tmp_path / "samples.csv", model) as samples:
        analyze(model, recording, bandwidth_hz=40.0, keep=samples.add)
    rows = list(csv.DictReader((tmp_path / "samples.csv").open(encoding="utf-8")))
    for name, unit in (("joint_1", "N m"), ("joint_3", "N")):
        measured, expected, residual = (
            np.array([float(row[f"tau_{kind}.{name} [{unit}]"]) for row in rows])
            for kind in ("measured", "model", "residual")
        )
        np.testing.assert_allclose(residual, measured - expected, atol=1e-6)
        assert np.median(residual) == pytest.approx(1.0, abs=0.01)
    assert {"time [s]", "q.joint_3 [m]", "v.joint_1 [rad/s]", "a.joint_3 [m/s^2]"} <= set(rows[0])


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    pytest.importorskip("rosbags", reason="needs geared_dynamics[analysis]")

    def start(kind: str) -> SamplesFile | TorqueBag:
        if kind == "samples":
            return SamplesFile(tmp_path / "samples.csv", MODEL)
        return TorqueBag(tmp_path / "deep" / "torques", MODEL.joint_names)

    for kind, place in (("samples", "samples.csv"), ("bag", "deep/torques")):
        with pytest.raises(KeyboardInterrupt), start(kind):
            raise KeyboardInterrupt
        assert not [path for path in tmp_path.rglob("*") if path.name != "deep"]
        with start(kind):
            assert not (tmp_path / place).exists()  # not before it is whole
        assert (tmp_path / place).exists()
        left = {re.sub(r"\..*", "", path.name) for path in tmp_path.rglob("*")}
        assert left <= {"samples", "deep", "torques", "metadata"}
        if kind == "samples":
            (tmp_path / place).unlink()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("kind", ["samples", "bag"])
def test_a_disk_that_is_full_at_the_end_leaves_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails is the closing alone, which writes what was buffered: the error has no path."""
    pytest.importorskip("rosbags", reason="needs geared_dynamics[analysis]")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write(path: Path) -> None:
        with start(path) as made:
            if isinstance(made, SamplesFile):
                made.stream.flush()
                os.dup2(os.open("/dev/full", os.O_WRONLY), made.stream.fileno())
                made.stream.write("1,2\n")

    def start(path: Path) -> SamplesFile | TorqueBag:
        if kind == "samples":
            return SamplesFile(path, MODEL)
        return TorqueBag(path, MODEL.joint_names)

    monkeypatch.setattr("rosbags.rosbag2.Writer.close", full)
    with pytest.raises(OSError, match="cannot be written: No space left") as caught:
        write(tmp_path / "out")
    assert caught.value.filename == str(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_picture_shows_each_joint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = pytest.importorskip("matplotlib.figure", reason="needs geared_dynamics[analysis]")
    found, drawn = analysis(MODEL, seconds=2.0), []
    real = figures.Figure.savefig

    def savefig(figure: object, *args: object, **more: object) -> None:
        drawn.append(figure)
        real(figure, *args, **more)

    monkeypatch.setattr(figures.Figure, "savefig", savefig)
    write_png(found, tmp_path / "a.png")
    data = (tmp_path / "a.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data.startswith(b"\x89PNG")
    assert (width, height) == (1210, pytest.approx(110 * (1.9 * 3 + 0.8), abs=1))
    (figure,) = drawn
    shown = [k for k, name in enumerate(DRAWN) if name != "without rotors"]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        DRAWN[k] for k in shown
    ]
    for j, (axes, joint) in enumerate(zip(figure.axes, joint_figures(found), strict=True)):
        assert axes.get_ylabel() == f"{joint.joint}\n[{joint.unit}]"
        assert axes.get_title(loc="right") == f"residual {joint.percent[-1]:.1f} %"
        for line, k in zip(axes.get_lines(), shown, strict=True):
            np.testing.assert_array_equal(line.get_xydata().T, envelope(found, k, j))
            assert line.get_color() == COLOURS[k]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "time [s]"]


def test_profiles_show_bins_with_enough_samples() -> None:
    """Mean and RMS of each bin over its centre; those with fewer than FEWEST are left out."""
    sums = np.zeros((3, 2, BINS))
    sums[0, 1, 0], sums[0, 1, 7], sums[0, 1, 9] = FEWEST - 1, FEWEST, 100 * FEWEST
    sums[1, 1, 7], sums[2, 1, 7] = 2.0 * FEWEST, 9.0 * FEWEST
    range_ = np.array([[0.0, -3.0], [1.0, 3.0]])
    found = profile(sums, range_, 1)
    np.testing.assert_allclose(found[0], [-3.0 + 7.5 * 6.0 / BINS, -3.0 + 9.5 * 6.0 / BINS])
    np.testing.assert_allclose(found[1], [2.0, 0.0])
    np.testing.assert_allclose(found[2], [3.0, 0.0])
