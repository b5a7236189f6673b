"""Commands on recordings of motors' efforts, with driven joints frozen."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from brisk_run import AT, JOINTS, brisk_motion, brisk_run
from geared_dynamics.analysis import open_recording
from geared_dynamics.apps.cli.main import main

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")


def words(command: str, folder: Path, joint: int, *, without: bool = False) -> list[str]:
    """The command on a recording of the whole arm, with one joint frozen."""
    bag, robot = brisk_run(folder, joint - 1, without=without)
    lock = ["--effort", "motor_current", "--lock", f"joint_{joint}={AT}", "--bandwidth", "20"]
    return [command, bag, *robot, *lock]


@pytest.mark.parametrize("joint", [1, 4, 5, 6])
def test_currents_of_the_whole_arm_are_read_with_a_frozen_joint(
    joint: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words("analyze", tmp_path, joint)) == 0
    table = capsys.readouterr().out.partition("Measured less")[2].partition("RMS of each")[0]
    rows = [line.split() for line in table.splitlines()]
    complete = {row[0]: float(row[4]) for row in rows if row and row[0] in JOINTS}
    assert set(complete) == set(JOINTS) - {f"joint_{joint}"}
    assert max(complete.values()) < 0.5


@pytest.mark.parametrize(("joint", "needed"), [(1, False), (6, True)])
def test_a_recording_without_the_frozen_joint(
    joint: int, needed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It lacks nothing if the joint's motor moves that joint alone; else the joint is named."""
    assert main(words("analyze", tmp_path, joint, without=True)) == (2 if needed else 0)
    said = capsys.readouterr().err
    for part in ("no efforts at the frozen joint_6, whose motors", "keep joint_6 movable"):
        assert (part in said) == needed


def test_identification_with_a_frozen_joint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
    assert main(words("identify", tmp_path, 6)) == 0
    rows = [line.split() for line in capsys.readouterr().out.partition("Residual")[2].splitlines()]
    found = {row[0]: float(row[2]) for row in rows if row and row[0] in JOINTS}
    assert set(found) == set(JOINTS[:5])
    assert max(found.values()) < 0.5


def test_a_table_by_numbers_does_not_say_which_is_the_frozen_joint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns 1 to 6 would be taken for joints 1, 2, 3, 4, 6 and 5; by name they are clear."""
    t, q, _, tau_m = brisk_motion(4)
    options = words("analyze", tmp_path, 5)[2:]
    options[options.index("motor_current")] = "motor_torque"
    for pattern, code in (("{kind}_{number}", 2), ("{kind}.{joint}", 0)):
        heads = ["time"]
        for kind in ("position", "effort"):
            heads += [pattern.format(kind=kind, number=k + 1, joint=JOINTS[k]) for k in range(6)]
        table = tmp_path / "run.csv"
        rows = np.column_stack([t, q, tau_m])
        np.savetxt(table, rows, delimiter=",", header=",".join(heads), comments="")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gd.GearedDynamicsWarning)
            assert main(["analyze", str(table), *options]) == code
        said = capsys.readouterr().err
        assert ("in a table under headings by name" in said) == (code == 2)


def test_numbers_beyond_the_joints_are_doubted(tmp_path: Path) -> None:
    names = ["time", *(f"{kind}_{k}" for kind in ("q", "tau") for k in (1, 2, 3))]
    table = tmp_path / "run.csv"
    rows = 0.01 * np.arange(40.0)[:, None] * np.ones(7)
    np.savetxt(table, rows, delimiter=",", header=",".join(names), comments="")
    with pytest.warns(gd.GearedDynamicsWarning, match=r"has q_3 as well; numbers go to"):
        open_recording(table, ["joint_2", "joint_3"])
