"""Options that say how recordings are read: honoured or refused, never passed over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbow_run import DRIVE, MODEL, ROBOT, TAU, URDF, Q, T, V
from geared_dynamics.apps.cli.main import main
from recorded_motions import (
    JOINT_STATE,
    messages,
    write_sqlite,
)

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--load-link", "link_3"], "--load-link: is given without --loaded"),
        (["--instrument-columns", "position=x"], "is given without --instruments"),
    ],
)
def test_options_without_their_recordings(
    bag: str, extra: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["identify", bag, *ROBOT, *extra]) == 2
    found = capsys.readouterr()
    assert words in found.err
    assert found.err.count("\n") == 1


def test_degrees_of_a_bag(bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tau = TAU + np.random.default_rng(0).normal(size=TAU.shape)
    data = messages(MODEL.joint_names, T, np.rad2deg(Q), np.rad2deg(V), tau)
    path = write_sqlite(tmp_path / "degrees.db3", {"/joint_states": (JOINT_STATE, data)})
    assert main(["analyze", bag, *ROBOT]) == 0
    radian = capsys.readouterr().out.split()[1:]
    assert main(["analyze", str(path), *ROBOT, "--degrees"]) == 0
    assert capsys.readouterr().out.split()[1:] == radian


@pytest.fixture
def reference(tmp_path: Path) -> str:
    """The motion of the bag without efforts, as a table."""
    names = ["time", *(f"position.{joint}" for joint in MODEL.joint_names)]
    rows = np.column_stack([T, Q])
    path = tmp_path / "reference.csv"
    np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="")
    return str(path)


def test_a_reference_without_efforts_is_an_instrument(
    bag: str, reference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    words = ["identify", bag, *ROBOT, "--topic", "/joint_states"]  # for the bag only
    assert main([*words, "--instruments", reference]) == 0
    assert "base parameters of" in capsys.readouterr().out
    assert main(["analyze", reference, *ROBOT]) == 2  # control: here they are used
    assert "has no effort columns" in capsys.readouterr().err


def test_coupling_needs_no_efforts(
    bag: str, reference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["coupling", URDF, DRIVE, "--bag", bag]) == 0
    expected = capsys.readouterr().out.partition("samples")[2]
    assert main(["coupling", URDF, DRIVE, "--bag", reference]) == 0
    assert capsys.readouterr().out.partition("samples")[2] == expected


def test_identify_marks_what_is_partial(
    bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    folder = tmp_path / "split"
    folder.mkdir()
    Path(bag).rename(folder / "run_0.db3")
    (folder / "run_1.db3").write_bytes(b"")
    assert main(["identify", str(folder), *ROBOT, "--output", str(tmp_path / "new")]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "run_1.db3 is empty: it is left out" in text.replace("- ", "-")
    drive = (tmp_path / "new" / Path(DRIVE).name).read_text("utf-8")
    assert "run_1.db3 is empty: it is left out" in drive.partition("\nversion")[0]
