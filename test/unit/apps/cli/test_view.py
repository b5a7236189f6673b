"""``geared-dynamics view``: a still, an animation, a window."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geared_dynamics.apps.cli import view
from geared_dynamics.apps.cli.main import main

pytest.importorskip("mujoco")
Image = pytest.importorskip("PIL.Image")
URDF = Path(__file__).parents[4] / "urdf"
ELBOW = [str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml")]
SMALL = ["--size", "64x48"]


def test_still(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "arm.png"
    assert main(["view", *ELBOW, *SMALL, "--out", str(out)]) == 0
    assert "kB" in capsys.readouterr().out
    with Image.open(out) as picture:
        assert picture.size == (64, 48)
        assert np.ptp(np.asarray(picture.convert("RGB"))) > 100


def test_without_a_display_an_animation_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a robot without a drivetrain file, in the current folder."""
    monkeypatch.setattr(view, "has_display", lambda: False)
    monkeypatch.setattr(view, "RATE", 2.0)
    monkeypatch.chdir(tmp_path)
    assert main(["view", ELBOW[0], *SMALL]) == 0
    with Image.open(tmp_path / "elbow.gif") as picture:
        assert picture.n_frames == 8
        assert picture.info["loop"] == 0
        first = np.asarray(picture.convert("RGB"), int)
        picture.seek(2)
        assert np.abs(np.asarray(picture.convert("RGB"), int) - first).max() > 50


def test_with_a_display_a_window_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo's viewer is given the bodies, which move, until it is closed."""
    seen: list[np.ndarray] = []

    class Window:
        """Stands for MuJoCo's window."""

        def __init__(self, data: Any) -> None:
            self.data = data

        def is_running(self) -> bool:
            return len(seen) < 3

        def lock(self) -> contextlib.nullcontext[None]:
            return contextlib.nullcontext()

        def sync(self) -> None:
            seen.append(self.data.qpos.copy())

    @contextlib.contextmanager
    def launch(_: object, data: Any) -> Iterator[Window]:
        yield Window(data)

    import mujoco

    viewer = types.ModuleType("mujoco.viewer")
    viewer.launch_passive = launch  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mujoco.viewer", viewer)
    monkeypatch.setattr(mujoco, "viewer", viewer, raising=False)
    monkeypatch.setattr(view, "has_display", lambda: True)
    assert main(["view", *ELBOW]) == 0
    assert np.any(seen[0] != seen[-1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*ELBOW, "--out", "arm.mp4"], "neither a GIF nor a PNG"),
        (["missing.urdf", "--out", "arm.gif"], "missing.urdf"),
    ],
)
def test_errors(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["view", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_without_pillow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert main(["view", *ELBOW, "--out", str(tmp_path / "a.png")]) == 2
    assert "pip install 'pillow'" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["64", "64x", "0x0", "9999x9", "64xx48", "-64x48"])
def test_bad_sizes(size: str) -> None:
    with pytest.raises(SystemExit):
        main(["view", *ELBOW, f"--size={size}"])
