"""Commands that are killed, or meet a full disk, leave the old files or the new ones, whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks, signals and limits of POSIX")

ROOT = Path(__file__).resolve().parents[4]
QUICK = {
    "init": ["init", "urdf/elbow.urdf", "--out", "@/drives.yaml"],
    "export --c": ["export", "elbow", "--c", "-o", "@/c", "--functions", "gravity_forces"],
}
SHORT = ["--duration", "4", "--starts", "1", "--changes", "1"]
SLOW = {
    "export --mjcf": ["export", "elbow", "--mjcf", "@/arm.xml"],
    "describe --graph": ["describe", "elbow", "--graph", "@/gears.svg"],
    "view page": ["view", "elbow", "--demo", "--out", "@/arm.html"],
    "view picture": ["view", "elbow", "--out", "@/arm.png", "--size", "64x64"],
    "view animation": ["view", "elbow", "--out", "@/arm.gif", "--size", "64x64"],
    "excite": ["excite", "elbow", "--output", "@/m.yaml", "--bag", "@/bag", *SHORT],
    "analyze": ["analyze", "brisk6", "--output", "@/r", "--samples", "--bag",
                "--save-topic", "@/topic.txt"],
    "analyze --storage": ["analyze", "brisk6", "--output-bag", "@/bag", "--storage", "sqlite3"],
    "identify": ["identify", "brisk6", "--output", "@/r"],
    "demo": ["demo", "elbow", "--out", "@"],
}  # fmt: skip
NEEDED = {
    "export --mjcf": ["mujoco"],
    "view page": ["viser"],
    "view picture": ["viser", "mujoco", "PIL"],
    "view animation": ["viser", "mujoco", "PIL"],
    "excite": ["rosbags", "scipy"],
    "analyze": ["rosbags", "matplotlib", "plotly"],
    "identify": ["matplotlib", "plotly", "clarabel"],
    "demo": ["rclpy", "rosbags", "plotly"],
}


def wrong(command: str, ways: str, folder: Path) -> list[str]:
    """What a command leaves that is neither old nor new."""
    for package in NEEDED.get(command, []):
        if find_spec(package) is None:
            pytest.skip(f"needs {package}")
    words = [*(QUICK | SLOW)[command], "--force"]
    done = subprocess.run(
        [sys.executable, "test/ended_commands.py", ways, str(folder), *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if "no picture can be drawn" in done.stderr:
        pytest.skip(f"MuJoCo cannot draw here: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, done.stderr
    return done.stdout.rpartition("\n\n")[2].split("\n")[:-1]


def test_what_is_cut_mixed_or_gone_is_found() -> None:
    """The negative control."""
    from ended_commands import faults

    old, new = {"a": b"old", "b": b"old"}, {"a": b"<p>one 1</p>", "b": b"<p>two 2</p>"}
    assert faults(old, new, old) == faults(new, new, old) == faults({}, new, {}) == []
    assert faults({"a": b"<p>one 7.5</p>"}, new, {}) == []
    assert faults({"a": b"<p>one 1"}, new, {}) == ["a has 8 bytes of 12"]
    assert faults({"a": b""}, new, {}) == ["a has 0 bytes of 12"]
    assert faults({"a": b"<p>two 2</p>"}, new, {}) == ["a has 12 bytes of 12"]
    assert faults({"a": b"old"}, new, old) == ["b is gone"]
    assert faults({"c": b"left"}, new, {}) == ["c has 4 bytes of 0"]
    bag = {"b/b.mcap": b"12", "b/metadata.yaml": b"a: 5"}
    assert faults(bag, bag, {}) == faults({}, bag, {}) == []
    assert faults(bag, bag, dict.fromkeys(bag, b"old")) == []
    mixed = {**bag, "b/b.mcap": b"old"}
    (said,) = faults(mixed, bag, dict.fromkeys(bag, b"old"))
    assert said == "b/b.mcap and b/metadata.yaml are not of one bag"
    assert len(faults({"b/b.mcap": b"12"}, bag, {})) == 1


@pytest.mark.parametrize("command", QUICK)
def test_a_few_ends(command: str, tmp_path: Path) -> None:
    assert wrong(command, "event:8,size:3,error:3", tmp_path) == []


@pytest.mark.validate
@pytest.mark.parametrize("command", [*QUICK, *SLOW])
def test_many_ends(command: str, tmp_path: Path) -> None:
    """A hundred are ended by a signal in the middle of writing, half of them over old files."""
    assert wrong(command, "event:100,size:50,error:20", tmp_path) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder that is a disk of 32 megabytes; the demo keeps two recordings for a moment."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "none", str(tmp_path)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a disk cannot be made here: {done.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.validate
@pytest.mark.parametrize("command", [*QUICK, *SLOW])
def test_a_full_disk(command: str, small_disk: Path) -> None:
    assert wrong(command, "disk:20", small_disk) == []
