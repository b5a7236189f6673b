"""The program where there is no ROS."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

import pytest

from geared_dynamics.ros.feedforward_node import main


def test_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = importlib.util.find_spec

    def without(name: str, *rest: Any) -> Any:
        return None if name == "rclpy" else real(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    assert main(["feedforward_node"]) == 2
    assert "pip install 'ros-jazzy-" in capsys.readouterr().err


def test_importing_it_imports_no_ros() -> None:
    code = "import sys, geared_dynamics.ros.feedforward_node; print('rclpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
