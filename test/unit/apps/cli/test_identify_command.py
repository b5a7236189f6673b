"""``identify``: what it writes where, and what it says beside the tables."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.apps.cli.identify_output import Targets, write
from geared_dynamics.apps.cli.main import main
from geared_dynamics.arrays import Array
from geared_dynamics.files import MARK
from recorded_motions import (
    JOINT_STATE,
    ROBOTS,
    elbow,
    messages,
    motion,
    torques,
    truth,
    write_sqlite,
)

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")
pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
T, Q, V, A = motion(30.0, 200.0)
LOAD = (3.0, 0.1, 0.0, 0.0)  # kg, and its centre of mass


@pytest.fixture
def robot(tmp_path: Path) -> list[str]:
    """The elbow's files, in a folder of their own, as arguments."""
    folder = tmp_path / "robot"
    folder.mkdir()
    for name in ("elbow.urdf", "elbow.drivetrain.yaml"):
        shutil.copy(ROBOTS / name, folder)
    return ["--robot", str(folder / "elbow.urdf"), "--drivetrain",
            str(folder / "elbow.drivetrain.yaml")]  # fmt: skip


def recorded(folder: Path, tau: Array, noise: float = 0.1) -> str:
    """A bag of the elbow arm."""
    noisy = tau + noise * np.random.default_rng(0).normal(size=tau.shape)
    data = messages(MODEL.joint_names, T, Q, V, noisy)
    return str(write_sqlite(folder / "run.db3", {"/joint_states": (JOINT_STATE, data)}))


def test_a_known_payload_is_not_written(
    tmp_path: Path, robot: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Or the same payload, given again with the new files, would count twice."""
    mass, *place = LOAD
    loaded = MODEL.with_payload(mass, place)
    extra = gd.inverse_dynamics(loaded, Q, V, A) - gd.inverse_dynamics(MODEL, Q, V, A)
    bag = recorded(tmp_path, torques(MODEL, truth(MODEL), Q, V, A) + extra)
    out = tmp_path / "out"
    words = ["identify", bag, *robot, "--payload", *map(str, LOAD), "--output", str(out)]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "with the payload" in text
    assert "comments of elbow.drivetrain.yaml are not kept" in " ".join(text.split())
    new = gd.load_model(out / "elbow.urdf", out / "elbow.drivetrain.yaml")
    np.testing.assert_allclose(
        gd.gravity_forces(new, Q[:50]), gd.gravity_forces(MODEL, Q[:50]), atol=0.2
    )
    again = new.with_payload(mass, place)
    np.testing.assert_allclose(
        gd.gravity_forces(again, Q[:50]), gd.gravity_forces(loaded, Q[:50]), atol=0.2
    )
    assert np.abs(gd.gravity_forces(again, Q[:50]) - gd.gravity_forces(new, Q[:50])).max() > 10.0
    head = (out / "elbow.drivetrain.yaml").read_text("utf-8")
    assert "# The recordings had a load of 3 kg; it is not in here." in head


def test_nothing_is_written_where_something_would_be_overwritten(
    tmp_path: Path, robot: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    bag = recorded(tmp_path, torques(MODEL, truth(MODEL), Q, V, A))
    folder = Path(robot[1]).parent
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["identify", bag, *robot, "--output", str(folder)]) == 2
    found = capsys.readouterr()
    assert "would overwrite" in found.err
    assert found.out == ""  # told before the work is done
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert main(["identify", bag, *robot, "--output", bag]) == 2
    assert "run.db3 is a file; name a folder" in capsys.readouterr().err


def test_files_of_others_are_kept(
    tmp_path: Path, robot: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("plotly", reason="needs geared_dynamics[analysis]")
    bag = recorded(tmp_path, torques(MODEL, truth(MODEL), Q, V, A))
    out = tmp_path / "out"
    out.mkdir()
    (out / "elbow.urdf").write_text("<robot/>", encoding="utf-8")
    words = ["identify", bag, *robot, "--output", str(out)]
    assert main(words) == 2
    assert "elbow.urdf: exists, and was not written by" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0
    capsys.readouterr()
    assert main(words) == 0
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("replaced: "))
    assert {Path(name).name for name in line.removeprefix("replaced: ").split(", ")} == {
        "base_parameters.csv", "elbow.urdf", "elbow.drivetrain.yaml", "report.html",
    }  # fmt: skip
    assert (out / "elbow.urdf").read_text("utf-8").count(MARK) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], False),
        (["--joints", "joint_2", "joint_3"], True),
        (["--joints", "joint_2", "joint_3", "--lock", "joint_1=0.5"], True),
    ],
)
def test_a_frozen_joint_that_moves_is_told(
    tmp_path: Path, robot: list[str], words: list[str], said: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    bag = recorded(tmp_path, torques(MODEL, truth(MODEL), Q, V, A))
    assert main(["identify", bag, *robot, *words]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert ("joint_1 is frozen at" in text) == said
    if said:
        at = "0.5" if "--lock" in words else "0"
        low, high = Q[:, 0].min(), Q[:, 0].max()
        expected = f"joint_1 is frozen at {at} but goes from {low:.3g} to {high:.3g} in run.db3"
        assert expected in text


def test_a_frozen_joint_at_rest_is_not(
    tmp_path: Path, robot: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    q, v, a = Q.copy(), V.copy(), A.copy()
    q[:, 0], v[:, 0], a[:, 0] = 0.3, 0.0, 0.0
    data = messages(MODEL.joint_names, T, q, v, torques(MODEL, truth(MODEL), q, v, a))
    bag = str(write_sqlite(tmp_path / "run.db3", {"/joint_states": (JOINT_STATE, data)}))
    for lock, said in (("0.3", False), ("0.0", True)):
        words = ["--joints", "joint_2", "joint_3", "--lock", f"joint_1={lock}"]
        assert main(["identify", bag, *robot, *words]) == 0
        assert ("is frozen at" in capsys.readouterr().out) == said


def test_numbers_of_a_folder_of_tables_are_no_frozen_joint(
    tmp_path: Path, robot: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Asked for alone, joint 3 would be number 1, which moves."""
    q, v, a = Q.copy(), V.copy(), A.copy()
    q[:, 2], v[:, 2], a[:, 2] = 0.0, 0.0, 0.0
    tau = torques(MODEL, truth(MODEL), q, v, a)
    folder = tmp_path / "run"
    folder.mkdir()
    heads = ["time", *(f"{kind}_{i}" for kind in ("q", "tau") for i in (1, 2, 3))]
    table, header = np.column_stack([T, q, tau]), ",".join(heads)
    np.savetxt(folder / "run_0.csv", table, delimiter=",", header=header, comments="")
    assert main(["identify", str(folder), *robot, "--joints", "joint_1", "joint_2"]) == 0
    assert "is frozen at" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("known", "why"),
    [([], "there are no physical parameters"), (["link_1.m"], "some parameters were known")],
)
def test_without_physical_parameters_only_the_table_is_written(
    known: list[str], why: str, tmp_path: Path
) -> None:
    found: Any = SimpleNamespace(
        base=SimpleNamespace(selection=[1, 0], names=["b", "a"]),
        equations=SimpleNamespace(names=["col_a", "col_b"]),
        x=[2.0, 1.0],
        sigma=[0.2, 0.1],
        files=[2.5, 1.5],
        physical=None,
    )
    args: Any = SimpleNamespace(output=tmp_path / "new" / "out", known=known)
    targets = Targets(args.output / "t.csv", args.output / "r.urdf", args.output / "d.yaml")
    lines: list[str] = []
    console: Any = SimpleNamespace(print=lines.append)
    write(console, found, MODEL, args, targets, "", None)
    assert lines == [
        f"saved {targets.table}",
        f"no files of the robot are written, for {why}",
    ]
    assert targets.table.read_text().split() == [
        "parameter,column,value,sigma,files",
        "b,col_b,2.0,0.2,2.5",
        "a,col_a,1.0,0.1,1.5",
    ]
    assert [path.name for path in args.output.iterdir()] == ["t.csv"]
