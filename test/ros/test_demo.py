"""The demo as a user runs it: its table, its files, its end, also by Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from long_cases import cases
from ros_harness.processes import watch_the_clock

for package in ("rclpy", "rosbags", "plotly"):
    pytest.importorskip(package, reason=f"{package} is not installed (extras ros and demo)")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True, scope="module")
def on_time() -> Iterator[None]:
    """Beside tests whose processes never wait for a processor, the demo's would for minutes."""
    watch_the_clock()
    yield
    watch_the_clock(False)


class Demo:
    """The command, with a mark in the environment that its processes inherit."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.mark = f"GEARED_DYNAMICS_TEST={uuid.uuid4()}"
        name, _, value = self.mark.partition("=")
        words = [sys.executable, "-m", "geared_dynamics.apps.cli.main", "demo", *arguments]
        self.process = subprocess.Popen(
            words, cwd=folder, env=os.environ | {name: value, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def left(self) -> list[str]:
        """Command lines of processes with the mark."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((entry / "cmdline").read_text().replace("\0", " "))
            except OSError:  # it has ended, or is somebody else's
                continue
        return found


def test_the_complete_model_tracks_twice_as_well(tmp_path: Path) -> None:
    demo = Demo(tmp_path)
    out, said = demo.process.communicate(timeout=280.0)
    assert demo.process.returncode == 0, said
    assert demo.left() == []
    rms = {name: float(value) for name, value in re.findall(r"^ (\w+ \w+) +([\d.]+)", out, re.M)}
    assert set(rms) == {"no feedforward", "armature model", "complete model"}, out
    assert rms["complete model"] < 0.5 * rms["armature model"] < 0.5 * rms["no feedforward"]
    assert "note:" not in out  # MuJoCo moved the arm, and no node complained
    assert (tmp_path / "demo_report" / "report.html").stat().st_size > 1_000_000
    check_bag(tmp_path / "demo_report" / "recording")


def check_bag(bag: Path) -> None:
    """Every state of every run is in it, a millisecond apart."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        for way in ("no_feedforward", "armature", "complete"):
            for topic, least in (("joint_states", 5001), ("feedforward_node/joint_commands", 1)):
                chosen = [c for c in reader.connections if c.topic == f"/{way}/{topic}"]
                stamps = []
                for connection, stamp, data in reader.messages(connections=chosen):
                    reader.deserialize(data, connection.msgtype)
                    stamps.append(stamp)
                assert len(stamps) >= least
                assert stamps == sorted(set(stamps))


@pytest.mark.parametrize("step", cases(["starting"], ["armature"]))
def test_ctrl_c_ends_everything(tmp_path: Path, step: str) -> None:
    demo = Demo(tmp_path, "elbow", "--engine", "equations")
    assert demo.process.stderr is not None
    for line in demo.process.stderr:
        if line.startswith(step):
            break
    demo.process.send_signal(signal.SIGINT)
    demo.process.communicate(timeout=30.0)
    assert demo.process.returncode == 130
    assert demo.left() == []


def test_wrong_input_is_one_line(tmp_path: Path) -> None:
    demo = Demo(tmp_path, "brisk7")
    _, said = demo.process.communicate(timeout=60.0)
    assert demo.process.returncode == 2
    assert said.startswith("geared-dynamics: error: robot: 'brisk7' does not exist;")
    assert "did you mean 'brisk6'?" in said
