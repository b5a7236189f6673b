"""Trajectory files that may be published, and those that may not; no ROS."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from geared_dynamics.ros.publish_trajectory import main

MODULE = "geared_dynamics.ros.publish_trajectory"
START = "{positions: [0.5, 1e-1], velocities: [0, 0], time_from_start: {sec: 0, nanosec: 0}}"
END = "{positions: [1, 2], velocities: [0, 0], time_from_start: {sec: 2}}"
GOOD = f"joint_names: [a, b]\npoints: [{START.replace('1e-1', '0.1')}, {END}]\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "motion.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    real = importlib.util.find_spec

    def without(name: str, *rest: Any) -> Any:
        return None if name == "rclpy" else real(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    assert main(["publish_trajectory", str(written(tmp_path, GOOD))]) == 2
    assert "pip install 'ros-jazzy-" in capsys.readouterr().err


def test_importing_it_imports_no_ros() -> None:
    code = f"import sys, {MODULE}; print('rclpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("words", [["--timeout", "0"], ["--tolerance", "nan"], []])
def test_wrong_arguments_end_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["publish_trajectory", *words])
    assert caught.value.code == 2
