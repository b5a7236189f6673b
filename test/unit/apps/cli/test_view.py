"""``geared-dynamics view``: the page, the live page, a still, an animation, a recording."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.apps.cli import view
from geared_dynamics.apps.cli.main import main
from geared_dynamics.errors import GearedDynamicsError

URDF = Path(__file__).parents[4] / "urdf"
ELBOW = [str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml")]
SMALL = ["--size", "64x48"]


def draw(out: Path, *files: str) -> Any:
    """Draw a picture in a process of its own, without viser: MuJoCo chooses OpenGL once."""
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("mujoco")
    program = (
        "import sys; sys.modules['viser'] = None\n"
        "from geared_dynamics.apps.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "view", *files, *SMALL, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2 and "no picture can be drawn" in done.stderr:
        pytest.skip(f"MuJoCo cannot draw here: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, done.stderr
    assert "kB" in done.stdout
    return image.open(out)


def rendering(monkeypatch: pytest.MonkeyPatch, context: object, renderer: Any) -> Any:
    """What draws, on stand-ins for MuJoCo and its OpenGL."""
    monkeypatch.setitem(sys.modules, "mujoco.gl_context", SimpleNamespace(GLContext=context))
    return view.drawing(SimpleNamespace(Renderer=renderer), "arm", 64, 48)


@pytest.mark.parametrize(("chosen", "named"), [("egl", "egl"), (None, "OpenGL")])
def test_where_nothing_can_be_drawn(
    chosen: str | None, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first words of what failed, in one line, and two ways out."""
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    if chosen is not None:
        monkeypatch.setenv("MUJOCO_GL", chosen)

    def fail(*_: object) -> None:
        raise OSError(f"no\n display {'x' * 200}")

    way_out = f"; {view.PAGE}; or install EGL: apt-get install libegl1 libgl1-mesa-dri"
    for context, renderer, why in (
        (object, fail, f"no display {'x' * 108}"),
        (None, object, "MuJoCo was imported without OpenGL: set MUJOCO_GL=egl before"),
    ):
        with pytest.raises(GearedDynamicsError) as caught:
            with rendering(monkeypatch, context, renderer):
                pass
        said = f"--out: no picture can be drawn: {named} fails ({why})"
        assert str(caught.value) == said + way_out


def test_the_renderer_is_closed_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[tuple[object, ...]] = []

    def renderer(*given: object) -> Any:
        return SimpleNamespace(close=lambda: closed.append(given))

    with pytest.raises(KeyError):
        with rendering(monkeypatch, object, renderer):
            raise KeyError
    assert closed == [("arm", 48, 64)]


def test_still(tmp_path: Path) -> None:
    draw(tmp_path / "arm.png", *ELBOW).close()
    with draw(tmp_path / "arm.png", *ELBOW) as picture:  # replaces its own
        assert picture.size == (64, 48)
        colours = np.asarray(picture.convert("RGB"), int)
    assert np.ptp(colours, axis=2).max() > 60  # the wheels' and links' colours
    edge = np.concatenate([colours[0], colours[-1], colours[:, 0], colours[:, -1]])
    assert np.ptp(edge, axis=1).max() < 60  # nothing of the arm is cut off


@pytest.mark.validate
def test_animation(tmp_path: Path) -> None:
    """Also of a robot without a drivetrain file."""
    with draw(tmp_path / "elbow.gif", ELBOW[0]) as picture:
        assert picture.n_frames == 72
        assert picture.info["loop"] == 0
        first = np.asarray(picture.convert("RGB"), int)
        picture.seek(12)
        assert np.abs(np.asarray(picture.convert("RGB"), int) - first).max() > 50


def test_without_a_renderer_the_error_names_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(view, "has_display", lambda: False)
    monkeypatch.setattr(view.sys, "platform", "linux")
    monkeypatch.setattr(view.ctypes.util, "find_library", lambda _: None)
    assert main(["view", *ELBOW, "--out", str(tmp_path / "a.png")]) == 2
    said = capsys.readouterr().err
    assert "neither EGL nor OSMesa is installed" in said
    assert "--out arm.html" in said
    assert not (tmp_path / "a.png").exists()


def test_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("viser")
    out = tmp_path / "arm.html"
    assert main(["view", *ELBOW, "--demo", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out == f"{out}: {out.stat().st_size / 1000:.0f} kB\n"
    assert out.stat().st_size < 1_500_000
    assert "the demo's" in out.read_text(encoding="utf-8")


def test_a_file_of_others_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command's own page is replaced, with a line; another file with --force only."""
    pytest.importorskip("viser")
    out = tmp_path / "arm.html"
    out.write_text("mine", encoding="utf-8")
    command = ["view", *ELBOW, "--out", str(out)]
    assert main(command) == 2
    assert "give --force" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "mine"
    assert main([*command, "--force"]) == 0
    assert main(command) == 0
    assert f"replaced: {out}" in capsys.readouterr().out


def test_live_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is served until the user interrupts."""
    pytest.importorskip("viser")
    moved: list[np.ndarray] = []

    def serve(live: view.LivePage) -> None:
        for _ in range(3):
            live.step(0.1)
            moved.append(live._nodes.wheels[0].wxyz.copy())
        raise KeyboardInterrupt

    monkeypatch.setattr(view.LivePage, "serve", serve)
    monkeypatch.setattr(view, "has_display", lambda: False)
    assert main(["view", *ELBOW, "--port", "18080"]) == 130
    assert "open http://localhost:18" in capsys.readouterr().out
    assert np.abs(moved[0] - moved[-1]).max() > 1e-3


def table(path: Path, model: gd.GearedModel, *, efforts: bool) -> np.ndarray:
    """A recording of 3 s at 100 Hz as a CSV file; its positions."""
    t = np.arange(0.0, 3.0, 0.01)
    q = 0.3 * np.sin(2.0 * t[:, None] + np.arange(model.n))
    names = [f"position_{name}" for name in model.joint_names]
    columns = [t, *q.T]
    if efforts:
        names += [f"effort_{name}" for name in model.joint_names]
        columns += list((5.0 + q).T)
    heading = ",".join(["time", *names])
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=heading, comments="")
    return q


@pytest.mark.parametrize("efforts", [True, False])
def test_a_recording_is_replayed_with_its_torques(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, efforts: bool
) -> None:
    model = gd.load_model(*map(Path, ELBOW))
    q = table(tmp_path / "run.csv", model, efforts=efforts)
    seen: list[Any] = []
    monkeypatch.setattr(view, "view", lambda _, motion, **__: seen.append(motion) or stop())
    columns = ["--columns", "time=time", "position=position_{joint}"]
    columns += ["effort=effort_{joint}"] if efforts else []
    arguments = [*ELBOW, "--bag", str(tmp_path / "run.csv"), "--begin", "0.5", "--seconds", "2"]
    assert main(["view", *arguments, *columns]) == 2
    (motion,) = seen
    assert motion.length == pytest.approx(2.0, abs=0.011)
    np.testing.assert_allclose(motion.q, q[50 : 50 + len(motion.q)], atol=1e-9)
    if efforts:
        np.testing.assert_allclose(motion.joint_torque, 5.0 + motion.q, atol=1e-9)
        given = motion.motor_torque @ model.structure_matrix.T
        np.testing.assert_allclose(given, motion.joint_torque, atol=1e-9)
    else:
        assert np.isnan(motion.joint_torque).all()
        assert motion.torques == "not recorded"


def stop() -> None:
    """End a command."""
    raise GearedDynamicsError("test", "has seen enough", "go on")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*ELBOW, "--out", "arm.mp4"], "neither a page (.html) nor a GIF nor a PNG"),
        (["missing.urdf", "--out", "arm.gif"], "missing.urdf"),
        ([*ELBOW, "--bag", "a.csv", "--demo"], "leave one of them out"),
        ([*ELBOW, "--json"], "is given without --out"),
        ([*ELBOW, "--bag", "missing.csv"], "missing.csv"),
        ([ELBOW[0], "--demo"], "no motors are described"),
    ],
)
def test_errors(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["view", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_without_viser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["view", *ELBOW, "--out", str(tmp_path / "a.html")]) == 2
    assert "pip install 'viser'" in capsys.readouterr().err


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


@pytest.mark.parametrize("port", ["80", "70000", "x", "-1"])
def test_bad_ports(port: str) -> None:
    with pytest.raises(SystemExit):
        main(["view", *ELBOW, f"--port={port}"])
