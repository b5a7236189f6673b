"""The commands about recordings: what they print and write, and their errors."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.reading.bag import open_bag
from geared_dynamics.analysis.reading.joints import joint_samples
from geared_dynamics.analysis.reading.recording import open_recording
from geared_dynamics.cli.main import main
from recorded_motions import (
    JOINT_STATE,
    ROBOTS,
    elbow,
    messages,
    motion,
    torques,
    truth,
    write_sqlite,
)

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
URDF, DRIVE = str(ROBOTS / "elbow.urdf"), str(ROBOTS / "elbow.drivetrain.yaml")
ROBOT = ["--robot", URDF, "--drivetrain", DRIVE]
T, Q, V, A = motion(30.0, 200.0)
TAU = torques(MODEL, truth(MODEL), Q, V, A)


@pytest.fixture
def bag(tmp_path: Path) -> str:
    """A bag of the elbow arm."""
    tau = TAU + np.random.default_rng(0).normal(size=TAU.shape)
    data = messages(MODEL.joint_names, T, Q, V, tau)
    return str(write_sqlite(tmp_path / "run.db3", {"/joint_states": (JOINT_STATE, data)}))


def test_analyze_prints_and_writes_everything(
    bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("rosbags", "plotly", "matplotlib"):
        pytest.importorskip(package, reason="needs geared_dynamics[analysis]")
    out = tmp_path / "out"
    assert main(["analyze", bag, *ROBOT, "--output", str(out), "--samples", "--bag"]) == 0
    text = capsys.readouterr().out
    assert "complete" in text
    assert "residual over all joints" in text
    assert "viscous +4" in text
    page = (out / "report.html").read_text("utf-8")
    assert "Plotly.newPlot" in page
    assert len(page) < 8e6
    own = page[page.index("</script></head>") :]
    assert "http" not in own.replace("http://www.w3.org", "")  # nothing is fetched
    assert (out / "run.png").stat().st_size > 10_000
    rows = list(csv.DictReader((out / "run.csv").open(encoding="utf-8")))
    assert [row["joint"] for row in rows[:3]] == list(MODEL.joint_names)
    samples = np.genfromtxt(out / "run_samples.csv", delimiter=",", names=True)
    assert len(samples) > 5000
    torque = out / "run_torques"
    model = open_recording(torque, MODEL.joint_names, topic="/analysis/tau_model")
    measured, residual = (efforts_of(torque, kind) for kind in ("measured", "residual"))
    first = model.reader.read(0)
    np.testing.assert_allclose(
        first.stamp, np.rint(samples["time"] * 1e9)[: len(first.stamp)], atol=1000
    )
    np.testing.assert_array_equal(measured - first.effort, residual)


def efforts_of(path: Path, kind: str) -> np.ndarray:
    """Efforts of a topic without positions, in the first piece."""
    topic = f"/analysis/tau_{kind}"
    return joint_samples(open_bag(path).read(topic, 0), MODEL.joint_names).effort


def test_one_bad_recording_does_not_keep_the_others_from_it(
    bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.db3"
    broken.write_bytes(b"nonsense")
    assert main(["analyze", str(broken), bag, *ROBOT]) == 2
    found = capsys.readouterr()
    assert "residual over all joints" in found.out
    assert "broken.db3: is neither an SQLite nor an MCAP file" in found.err


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--topic", "/nowhere"], "has no topic '/nowhere'"),
        (["--rename", "joint_1=shoulder"], "has no joint shoulder"),
        (["--rename", "elbow=shoulder"], "the robot has no joint 'elbow'"),
        (["--effort", "motor_current"], "--gains"),
        (["--effort", "motor_current", "--gains", "1", "2"], "2 gains for 3"),
        (["--zero", "elbow=1"], "the robot has no joint 'elbow'"),
        (["--samples"], "--output"),
    ],
)
def test_wrong_arguments_are_one_line(
    bag: str, extra: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", bag, *ROBOT, *extra]) == 2
    found = capsys.readouterr()
    assert words in found.err
    assert found.err.count("\n") == 1


def test_a_bag_of_another_robot(bag: str, capsys: pytest.CaptureFixture[str]) -> None:
    arm = ["--robot", str(ROBOTS / "tx40.urdf")]
    arm += ["--drivetrain", str(ROBOTS / "tx40.drivetrain.yaml")]
    assert main(["analyze", bag, *arm]) == 2
    assert "has no joint joint_4, joint_5, joint_6; it has joint_1" in capsys.readouterr().err


def test_identify_writes_files_that_load(
    bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    out = tmp_path / "out"
    assert main(["identify", bag, *ROBOT, "--output", str(out)]) == 0
    text = capsys.readouterr().out
    assert "base parameters of" in text
    assert "joint_1.viscous" in text
    new = gd.load_model(out / "elbow.urdf", out / "elbow.drivetrain.yaml")
    np.testing.assert_allclose(new.friction[0], [4.0, 5.0, 6.0], rtol=0.1)
    assert main(["analyze", bag, "--robot", str(out / "elbow.urdf"), "--drivetrain",
                 str(out / "elbow.drivetrain.yaml")]) == 0  # fmt: skip
    assert main(["identify", bag, *ROBOT, "--output", str(ROBOTS)]) == 2
    assert "would overwrite" in capsys.readouterr().err


def test_excite_and_coupling(bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "motion.yaml"
    few = ["--starts", "3", "--changes", "5", "--output", str(file)]
    assert main(["excite", URDF, DRIVE, *few]) == 0
    assert file.read_text("utf-8").startswith("# Exciting motion of")
    assert main(["coupling", URDF, DRIVE]) == 0
    assert main(["coupling", URDF, DRIVE, "--bag", bag]) == 0
    assert "does not matter here" in capsys.readouterr().out
    tx40 = [str(ROBOTS / "tx40.urdf"), str(ROBOTS / "tx40.drivetrain.yaml")]
    assert main(["coupling", *tx40]) == 0
    assert "It matters at" in capsys.readouterr().out
