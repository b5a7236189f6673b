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
SLOW = {
    "export --mjcf": ["export", "elbow", "--mjcf", "@/arm.xml"],
    "describe --graph": ["describe", "elbow", "--graph", "@/gears.svg"],
    "view page": ["view", "elbow", "--demo", "--out", "@/arm.html"],
    "excite": ["excite", "elbow", "--output", "@/m.yaml", "--bag", "@/bag", "--duration", "4"],
    "analyze": ["analyze", "brisk6", "--output", "@/r", "--samples", "--bag"],
    "identify": ["identify", "brisk6", "--output", "@/r"],
}
NEEDED = {
    "export --mjcf": ["mujoco"],
    "view page": ["viser"],
    "excite": ["rosbags", "scipy"],
    "analyze": ["rosbags", "matplotlib"],
    "identify": ["matplotlib"],
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


@pytest.mark.parametrize("command", QUICK)
def test_a_few_ends(command: str, tmp_path: Path) -> None:
    assert wrong(command, "event:8,size:3,error:3", tmp_path) == []


@pytest.mark.validate
@pytest.mark.parametrize("command", [*QUICK, *SLOW])
def test_many_ends(command: str, tmp_path: Path) -> None:
    """A hundred are killed, each with nothing there and over old files."""
    assert wrong(command, "event:50,size:50,error:20", tmp_path) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder that is a disk of eight megabytes."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(tmp_path)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a disk cannot be made here: {done.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.validate
@pytest.mark.parametrize("command", [*QUICK, *SLOW])
def test_a_full_disk(command: str, small_disk: Path) -> None:
    assert wrong(command, "disk:20", small_disk) == []
