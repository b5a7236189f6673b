"""ROS from apt alone: no package that only PyPI has, in any process. Our part of it works."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from feedforward_rig import DRIVETRAIN, URDF
from recorded_motions import JOINT_STATE, messages, motion, string, torques, truth, write_sqlite
from recorded_motions import elbow as elbow_model
from ros_harness import Graph, Process, Processes

try:  # without ROS's launch, our folder of that name may be found as an empty package
    from launch import LaunchDescription  # noqa: F401
    from launch_ros.actions import LifecycleNode  # noqa: F401
except ImportError:
    HAS_LAUNCH = False
else:
    HAS_LAUNCH = True

launched = pytest.mark.skipif(not HAS_LAUNCH, reason="launch_ros is not installed (from ROS)")

ROOT = Path(__file__).resolve().parents[2]
HARNESS = ROOT / "test" / "ros_harness"
# What rosdep installs nothing for; ``pinocchio`` it does, but not on every platform.
PIP_ONLY = ("mujoco", "rosbags", "plotly", "clarabel", "dask", "distributed", "lz4", "pin",
            "pinocchio", "apsw", "zstandard", "backports")  # fmt: skip
TOPICS = ("joint_states", "motor_states", "feedforward_node/joint_commands")


@pytest.fixture
def bare(processes: Processes) -> Processes:
    """Processes that do not find those packages."""
    path = processes.env["PYTHONPATH"]
    processes.env["PYTHONPATH"] = f"{HARNESS / 'hidden'}:{path}"
    processes.env["HIDDEN_PACKAGES"] = ",".join(PIP_ONLY)
    return processes


def launch(processes: Processes, file: str, *arguments: str) -> Process:
    words = (HARNESS / "launch_file.py", ROOT / "launch" / file, *arguments)
    process = processes.start(*words, name=file)
    process.terminal = True
    return process


def counted(bag: Path) -> dict[str, int]:
    """Messages of a bag by topic, each of them read by the package rosbags."""
    pytest.importorskip("rosbags")
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    found: dict[str, int] = {}
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        for connection, _, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            assert np.isfinite(getattr(message, "effort", np.zeros(1))).all()
            found[connection.topic] = found.get(connection.topic, 0) + 1
    return found


def test_the_packages_are_hidden(bare: Processes) -> None:
    """Or these tests would show nothing."""
    for name in ("mujoco", "plotly.offline", "rosbags.rosbag2"):
        process = bare.start("-c", f"import {name}", name=name.replace(".", "_"))
        assert process.wait(30.0) == 1
        assert "ModuleNotFoundError" in process.output


@launched
def test_the_demo(bare: Processes, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = launch(bare, "demo.launch.py", "robot:=elbow", f"out:={out}")
    assert process.wait(280.0) == 0, process.report()
    (note,) = [line for line in process.output.splitlines() if "without " in line]
    for words in ("mujoco, plotly, rosbags", "our own equations", "no report.html", "SQLite"):
        assert words in note
    for way in ("no feedforward", "armature model", "complete model"):
        assert way in process.output
    assert "process has died" not in process.output, process.report()
    assert not (out / "report.html").exists()
    counts = counted(out / "recording")
    for way in ("no_feedforward", "armature", "complete"):
        states, motors, commands = (counts[f"/{way}/{topic}"] for topic in TOPICS)
        assert states == motors > 1000
        assert commands > 1
        assert counts[f"/{way}/feedforward_node/joint_trajectory"] == 1


@launched
def test_the_simulated_arm(bare: Processes, graph: Graph) -> None:
    """It moves; and when the plant dies, the launch ends."""
    from sensor_msgs.msg import JointState

    process = launch(bare, "mujoco.launch.py")
    graph.wait_for_state("/feedforward_node", "active")
    states = graph.listen("/joint_states", JointState)
    graph.until(lambda: states.count > 100, "a hundred joint states")
    for words in ("our own equations move the arm, not MuJoCo", "in equations, real_time"):
        graph.until(lambda words=words: words in process.output, words)
    process.ending = True
    kill(process, "plant_node")
    assert process.wait(30.0) in (0, 1), process.report()
    assert "was required: shutting down" in process.output, process.report()


def kill(parent: Process, module: str) -> None:
    """Kill a child of a process, as a crash would."""
    import os

    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_text().split("\0")
            group = os.getpgid(int(entry.name))
        except OSError:  # it has ended
            continue
        if group == parent.pid and any(word.endswith(f".{module}") for word in words):
            os.kill(int(entry.name), signal.SIGKILL)
            return
    raise AssertionError(f"no process of {module}")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A bag of the elbow's joint states and description."""
    t, q, v, a = motion(10.0, 100.0)
    model = elbow_model()
    states = messages(model.joint_names, t, q, v, torques(model, truth(model), q, v, a))
    topics = {
        "/joint_states": (JOINT_STATE, states),
        "/robot_description": ("std_msgs/msg/String", [string(URDF.read_bytes())]),
    }
    return write_sqlite(tmp_path / "run.db3", topics)


@launched
def test_a_replay(bare: Processes, recorded: Path, tmp_path: Path) -> None:
    torque, out = tmp_path / "torques", tmp_path / "report"
    process = launch(
        bare, "replay.launch.py", f"input_bag:={recorded}", f"drivetrain:={DRIVETRAIN}",
        f"output:={out}", f"output_bag:={torque}", "options:=--bandwidth 5",
    )  # fmt: skip
    assert process.wait(120.0) == 0, process.report()
    assert "process has died" not in process.output, process.report()
    assert "residual over all joints" in process.output, process.report()
    assert "without plotly" in process.output
    assert "without rosbags" in process.output
    names = {path.suffix for path in out.iterdir()}
    assert names >= {".png", ".csv"}
    assert ".html" not in names
    counts = counted(torque)
    assert len(counts) == 3
    assert set(counts.values()) == {max(counts.values())}
    assert max(counts.values()) > 500


def test_a_bag_as_rosbag2_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables and columns of rosbag2's fourth schema, as the package rosbags writes them."""
    pytest.importorskip("rosbags")
    from geared_dynamics.recordings import bag_writer

    layouts = []
    for library in (True, False):
        if not library:
            monkeypatch.setattr(bag_writer, "has_library", lambda: False)
        path = tmp_path / f"bag_{library}"
        with bag_writer.Bag(path, {"/joint_states": JOINT_STATE}, "sqlite3") as bag:
            for k, data in enumerate(
                messages(("a",), *motion(1.0, 10.0, n=1)[:3], np.ones((10, 1)))
            ):
                bag.write("/joint_states", 5 + k, data)
        (file,) = path.glob("*.db3")
        base = sqlite3.connect(file)
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master ORDER BY name")]
        layouts.append({name: base.execute(f"PRAGMA table_info({name})").fetchall()
                        for name in tables})  # fmt: skip
        base.close()
        assert counted(path) == {"/joint_states": 10}
    assert layouts[0] == layouts[1]


def test_mcap_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from geared_dynamics.errors import MissingPackageError
    from geared_dynamics.recordings import bag_writer

    monkeypatch.setattr(bag_writer, "has_library", lambda: False)
    with pytest.raises(MissingPackageError, match=r"'rosbags'.*pip install"):
        bag_writer.Bag(tmp_path / "bag", {}, "mcap")
    assert not (tmp_path / "bag").exists()
