"""The commands about recordings: what they print and write, and their errors."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from elbow_run import DRIVE, MODEL, ROBOT, TAU, URDF, A, Q, T, V
from geared_dynamics.apps.cli.main import main
from geared_dynamics.arrays import Array
from geared_dynamics.recordings.bag import open_bag
from geared_dynamics.recordings.joint_topics import decoded, joint_samples
from geared_dynamics.recordings.recording import open_recording
from recorded_motions import (
    JOINT_STATE,
    ROBOTS,
    messages,
    string,
    write_sqlite,
)

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")


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
    assert len(page) < 2.5e6
    assert "http" not in page  # nothing is fetched
    assert f"geared-dynamics analyze {bag}" in page  # where it comes from
    assert hashlib.sha256(Path(bag).read_bytes()).hexdigest() in page
    assert (out / "run.png").stat().st_size > 10_000
    rows = list(csv.DictReader((out / "run.csv").open(encoding="utf-8")))
    assert [row["joint"] for row in rows] == list(MODEL.joint_names)
    assert (out / "run_motors.csv").read_text("utf-8").startswith("motor,rms_Nm")
    samples = np.genfromtxt(out / "run_samples.csv", delimiter=",", names=True)
    assert len(samples) > 5000
    torque = out / "run_torques"
    model = open_recording(torque, MODEL.joint_names, topic="/analysis/tau_model")
    measured, residual = (efforts_of(torque, kind) for kind in ("measured", "residual"))
    first = model.reader.read(0)
    np.testing.assert_allclose(
        first.stamp, np.rint(samples["time_s"] * 1e9)[: len(first.stamp)], atol=1000
    )
    np.testing.assert_array_equal(measured - first.effort, residual)


def test_a_run_that_fails_leaves_nothing_in_the_way(
    bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("rosbags", "plotly", "matplotlib"):
        pytest.importorskip(package, reason="needs geared_dynamics[analysis]")
    silent = messages(MODEL.joint_names, T, Q, V, 0.0 * TAU)
    good, out = Path(bag), tmp_path / "out"
    kept = good.rename(tmp_path / "kept.db3")
    write_sqlite(good, {"/joint_states": (JOINT_STATE, silent)})
    words = ["analyze", bag, *ROBOT, "--output", str(out), "--samples", "--bag"]
    for _ in range(2):
        assert main(words) == 2
        assert "efforts of zero" in capsys.readouterr().err
        assert not list(out.iterdir())
    kept.replace(good)
    assert main(words) == 0
    assert {path.name for path in out.iterdir()} == {
        "report.html", "run.png", "run.csv", "run_motors.csv", "run_samples.csv", "run_torques",
    }  # fmt: skip


def test_files_of_others_are_kept(
    bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of an earlier run are replaced, which is told; any other one with --force."""
    for package in ("plotly", "matplotlib"):
        pytest.importorskip(package, reason="needs geared_dynamics[analysis]")
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.csv").write_text("mine", encoding="utf-8")
    words = ["analyze", bag, *ROBOT, "--output", str(out), "--samples"]
    assert main(words) == 2
    assert "run.csv: exists, and was not written by geared-dynamics" in capsys.readouterr().err
    assert [path.read_text("utf-8") for path in out.iterdir()] == ["mine"]
    assert main([*words, "--force"]) == 0
    capsys.readouterr()
    assert main(words) == 0
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("replaced: "))
    assert {Path(name).name for name in line.removeprefix("replaced: ").split(", ")} == {
        "report.html", "run.png", "run.csv", "run_motors.csv", "run_samples.csv",
    }  # fmt: skip


def efforts_of(path: Path, kind: str) -> np.ndarray:
    """Efforts of a topic without positions, in the first piece."""
    topic = f"/analysis/tau_{kind}"
    return joint_samples(decoded(open_bag(path).read(topic, 0)), MODEL.joint_names).effort


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
        (["--rename-prefix", "left_"], "has no joint left_joint_1, left_joint_2, left_joint_3"),
        (["--effort", "motor_current"], "--gains"),
        (["--effort", "motor_current", "--gains", "1", "2"], "2 gains for 3"),
        (["--zero", "elbow=1"], "the robot has no joint 'elbow'"),
        (["--zero", "joint_1=1", "joint_1=2"], "--zero: joint_1 is given twice, 1.0 and 2.0"),
        (["--columns", "effort=x"], "--columns: does not apply to a bag"),
        (["--rate", "100"], "--rate: does not apply to a bag"),
        (["--time-unit", "ms"], "--time-unit: does not apply to a bag"),
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


def run_of(folder: Path, *states: tuple[tuple[str, ...], Array, Array]) -> str:
    """A bag; per topic joints, positions and efforts."""
    topics = {
        f"/arm_{k}/joint_states": (JOINT_STATE, messages(names, T, q, None, tau))
        for k, (names, q, tau) in enumerate(states)
    }
    return str(write_sqlite(folder / "odd.db3", topics))


def with_column(values: Array, number: float, rows: slice = slice(None)) -> Array:
    """The same, the second joint's replaced."""
    changed = values.copy()
    changed[rows, 1] = number
    return changed


def test_a_joint_without_efforts_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_of(tmp_path, (MODEL.joint_names, Q, with_column(TAU, np.nan)))
    assert main(["analyze", path, *ROBOT]) == 2
    found = capsys.readouterr().err
    assert "has no efforts of joint_2 (NaN in all samples)" in found
    assert "--lock joint_2=POSITION" in found


@pytest.mark.parametrize("number", [1e300, -1e12, np.inf, np.nan])
def test_senseless_numbers_are_left_out(
    tmp_path: Path, number: float, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = slice(3000, 3002)
    for q, tau in ((with_column(Q, number, bad), TAU), (Q, with_column(TAU, number, bad))):
        place = tmp_path / str(tau is TAU)
        place.mkdir()
        path = run_of(place, (MODEL.joint_names, q, tau))
        assert main(["analyze", path, *ROBOT]) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert "left out: 2 samples with NaN, infinity or numbers beyond 1e9" in text
        assert "inf" not in text.split("Measured less")[1].replace("infinity", "")
        assert "complete 49.0 %" in text  # as without them


def test_a_joint_with_efforts_of_zero_has_no_percents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_of(tmp_path, (MODEL.joint_names, Q, with_column(TAU, 0.0)))
    assert main(["analyze", path, *ROBOT]) == 0
    text = capsys.readouterr().out
    assert "joint_2: the effort is zero in all samples" in text
    rows = [line.split() for line in text.splitlines() if line.split()[:1] == ["joint_2"]]
    assert rows[0][1:5] == ["0", "-", "-", "-"]
    assert set(rows[1][1:]) == {"-"}
    assert "complete nan" not in text


@pytest.mark.parametrize(
    ("effort", "said"),
    [
        (0.0 * TAU, "of zero in all samples of joint_1, joint_2, joint_3"),
        (with_column(TAU, 0.0), "efforts of zero in all samples of joint_2;"),
    ],
)
def test_identify_refuses_efforts_of_zero(
    tmp_path: Path, effort: Array, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_of(tmp_path, (MODEL.joint_names, Q, effort))
    assert main(["identify", path, *ROBOT]) == 2
    found = capsys.readouterr().err
    assert said in found
    assert found.count("\n") == 1


def test_two_topics_with_these_joints_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_of(tmp_path, (MODEL.joint_names, Q, TAU), (MODEL.joint_names, Q, 2.0 * TAU))
    assert main(["analyze", path, *ROBOT]) == 0
    first = capsys.readouterr()
    assert "/arm_0/joint_states is read; /arm_1/joint_states has these joints too" in first.err
    assert main(["analyze", path, *ROBOT, "--topic", "/arm_1/joint_states"]) == 0
    second = capsys.readouterr()
    assert second.err == ""
    for k, said in enumerate((first.out, second.out)):
        assert said.startswith(f"{path}, /arm_{k}/joint_states: "), said


def test_joints_in_separate_messages_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [messages(MODEL.joint_names[k], T, Q[:, k], None, TAU[:, k])
             for k in (slice(2), slice(2, 3))]  # fmt: skip
    both = [message for pair in zip(*parts, strict=True) for message in pair]
    path = write_sqlite(tmp_path / "run.db3", {"/joint_states": (JOINT_STATE, both)})
    assert main(["analyze", str(path), *ROBOT]) == 2
    assert "messages without all joints); record all joints in" in capsys.readouterr().err


def test_a_topic_without_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_sqlite(tmp_path / "run.db3", {"/joint_states": (JOINT_STATE, [])})
    assert main(["analyze", str(path), *ROBOT]) == 2
    assert "/joint_states: holds no messages" in capsys.readouterr().err


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


def current_bags(folder: Path) -> list[str]:
    """Currents of the elbow arm without and with a load of 4 kg, for gains 0.07, 0.05, 0.09."""
    gains, com = np.array([0.07, 0.05, 0.09]), (0.05, -0.02, 0.1)
    heavy = MODEL.with_payload(4.0, com, link=MODEL.body_names[-1])
    extra = gd.inverse_dynamics(heavy, Q, V, A) - gd.inverse_dynamics(MODEL, Q, V, A)
    bags = []
    for name, tau in (("empty", TAU), ("loaded", TAU + extra)):
        noise = np.random.default_rng(len(bags)).normal(size=TAU.shape) * 0.02
        data = messages(MODEL.joint_names, T, Q, V, gd.motor_torques(MODEL, tau) / gains + noise)
        place = write_sqlite(folder / f"{name}.db3", {"/joint_states": (JOINT_STATE, data)})
        bags.append(str(place))
    return bags


@pytest.mark.parametrize("effort", ["motor_current", "motor_torque"])
def test_identify_finds_drive_gains_and_writes_them(
    effort: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of currents are torque constants; those of torques have no place in the files."""
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    empty, loaded = current_bags(tmp_path)
    drive = tmp_path / "elbow.drivetrain.yaml"
    text = Path(DRIVE).read_text("utf-8")
    drive.write_text(text, encoding="utf-8")
    words = ["identify", empty, "--robot", URDF, "--drivetrain", str(drive),
             "--effort", effort, "--loaded", loaded, "--load-link", MODEL.body_names[-1],
             "--identify-drive-gains"]  # fmt: skip
    load = ["--known-load", "4", "0.05", "-0.02", "0.1"]
    out = tmp_path / "new"
    assert main([*words, *load, "--output", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Drive gains" in printed
    new = gd.load_model(out / "elbow.urdf", out / "elbow.drivetrain.yaml")
    constants = [0.07, 0.05, 0.09] if effort == "motor_current" else [np.nan] * 3
    np.testing.assert_allclose(new.motors.torque_constant, constants, rtol=0.05)
    np.testing.assert_allclose(new.friction[0], [4.0, 5.0, 6.0], rtol=0.1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "needs efforts of motors, not joint_torque"),
        (["--effort", "motor_current"],
         "needs recordings of the arm with a known load; name them with --loaded"),
        (
            ["--effort", "motor_current", "--gains", "1", "1", "1"],
            "is given with --identify-drive-gains",
        ),
        (["--effort", "motor_current", "--loaded", "BAG"], "--known-load: is not given"),
        (["--effort", "motor_current", "--loaded", "BAG", "--load-link", "base_link"],
         "--load-link: 'base_link' is fixed to the root"),
        (["--effort", "motor_current", "--loaded", "BAG", "--load-link", "LINK"],
         "--known-load: is not given"),
        (["--effort", "motor_current", "--loaded", "BAG", "--load-link", "LINK",
          "--known-load", "4", "0"], "has 2 numbers"),
        (["--effort", "motor_current", "--loaded", "BAG", "--load-link", "LINK",
          "--known-load", "0", "0", "0", "0"], "has no mass"),
        (["--effort", "motor_current", "--loaded", "BAG", "--load-link", "LINK",
          "--known-load", "1", "0", "0", "0", "-1", "0", "0", "1", "0", "1"], "negative"),
    ],
)  # fmt: skip
def test_drive_gains_need_all_their_options(
    bag: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"BAG": bag, "LINK": MODEL.body_names[-1]}
    words = [names.get(word, word) for word in words]
    assert main(["identify", bag, *ROBOT, "--identify-drive-gains", *words]) == 2
    found = capsys.readouterr()
    assert said in found.err
    assert found.err.count("\n") == 1


def test_the_robot_may_come_from_the_bag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rosbags", reason="needs geared_dynamics[analysis]")
    states = (JOINT_STATE, messages(MODEL.joint_names, T, Q, V, TAU))
    urdf = ("std_msgs/msg/String", [string(Path(URDF).read_bytes())])
    whole = write_sqlite(
        tmp_path / "run.db3", {"/arm/robot_description": urdf, "/joint_states": states}
    )
    place = tmp_path / "torques"
    words = ["--drivetrain", DRIVE, "--output-bag", str(place)]
    assert main(["analyze", str(whole), *words]) == 0
    first = capsys.readouterr().out
    assert main(["analyze", str(whole), *ROBOT]) == 0
    assert capsys.readouterr().out == first
    assert open_recording(place, MODEL.joint_names, topic="/analysis/tau_model").spans == 1
    assert main(["analyze", str(whole), *words]) == 0
    assert f"replaced: {place}" in capsys.readouterr().out.splitlines()
    assert main(["analyze", str(whole), str(whole), *words]) == 2
    assert "one file for 2 recordings" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ({}, "has no topic robot_description"),
        ({"/a/robot_description": b"<robot/>", "/b/robot_description": b"<robot/>"}, "several"),
        ({"/robot_description": b""}, "holds no whole message"),
        ({"/robot_description": b"<robot"}, "run.db3, /robot_description"),
    ],
)
def test_a_bag_without_a_robot(
    tmp_path: Path, topics: dict[str, bytes], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    states = (JOINT_STATE, messages(MODEL.joint_names, T, Q, V, TAU))
    texts = {name: ("std_msgs/msg/String", [string(text)]) for name, text in topics.items()}
    whole = write_sqlite(tmp_path / "run.db3", {"/joint_states": states, **texts})
    assert main(["analyze", str(whole)]) == 2
    found = capsys.readouterr().err
    assert said in found
    assert found.count("\n") == 1
