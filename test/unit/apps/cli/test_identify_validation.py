"""``identify`` validates the base parameters, the physical ones and the files it writes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from brisk_run import FILES, smooth_drive
from elbow_run import MODEL, ROBOT, A, Q, T, V
from geared_dynamics import analysis
from geared_dynamics.analysis.parameter_columns import column_names, prior
from geared_dynamics.apps.cli.main import main
from geared_dynamics.arrays import Array
from geared_dynamics.description.yaml_files import yaml_text
from recorded_motions import JOINT_STATE, messages, motion, torques, truth, write_sqlite

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")
pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")
pytest.importorskip("plotly", reason="needs geared_dynamics[analysis]")

NOISE = 0.1
SAME = "physical parameters explain the held-out part as well as the base parameters do"
OTHER = "different residuals of the held-out part than the base parameters"


def changed(**values: float) -> Array:
    """True parameters of the elbow, some of them others."""
    x, names = truth(MODEL), column_names(MODEL)
    for name, value in values.items():
        x[names.index(name.replace("__", "."))] = value
    return x


def recorded(folder: Path, x: Array) -> str:
    """A bag of the elbow with these parameters, and noise."""
    tau = torques(MODEL, x, Q, V, A)
    tau = tau + NOISE * np.random.default_rng(2).normal(size=tau.shape)
    data = messages(MODEL.joint_names, T, Q, V, tau)
    return str(write_sqlite(folder / "run.db3", {"/joint_states": (JOINT_STATE, data)}))


def rows_of(text: str) -> dict[str, list[float]]:
    """The table of residuals."""
    table = text.partition("Residual, %")[2].partition("Base parameters")[0]
    rows = [line.split() for line in table.splitlines() if line.strip().startswith("joint_")]
    return {row[0]: [float(cell) for cell in row[1:7]] for row in rows}


def test_an_arm_that_can_exist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new"
    words = [recorded(tmp_path, changed()), *ROBOT, "--check", "--output", str(out)]
    assert main(["identify", *words]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Use these parameters: they leave ")
    assert SAME in text
    page = (out / "report.html").read_text("utf-8")
    assert len(page) < 2.5e6
    assert '<h1 class="good">Use these parameters: they leave ' in page
    assert OTHER not in text
    assert "the written files, loaded again, explain what was held out as these" in text
    for files, base, physical, held_files, held, held_physical in rows_of(text).values():
        assert files > 3.0 * base
        assert held_files > 3.0 * held
        assert abs(physical - base) < 0.2
        assert abs(held_physical - held) < 0.2


def test_friction_that_no_arm_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its viscous friction pushes: base parameters have it, physical ones do not."""
    bag = recorded(tmp_path, changed(joint_2__viscous=-6.0))
    assert main(["identify", bag, *ROBOT, "--check"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("Do not use these parameters: no arm has joint_2.viscous = -6.")
    assert "N m s/rad" in text.splitlines()[0]
    assert main(["identify", bag, *ROBOT, "--all"]) == 0
    text = capsys.readouterr().out
    assert " stands for " in text
    assert SAME not in text
    said = re.search(rf"{OTHER}: .*joint_2 ([\d.]+) % for ([\d.]+) %", text)
    assert said is not None
    *_, held, held_physical = rows_of(text)["joint_2"]
    assert (held_physical, held) == (float(said[1]), float(said[2]))
    assert held_physical > 3.0 * held
    assert "the best fit would need what no arm has: joint_2.viscous = -6\n" in text
    assert re.search(r"in standard deviations: .*joint_2\.viscous", text)


def test_the_residual_of_the_physical_parameters(tmp_path: Path) -> None:
    """Computed again from the model that they describe, over the same samples."""
    bag = recorded(tmp_path, changed(joint_2__viscous=-6.0))
    run = analysis.open_recording(bag, MODEL.joint_names)
    found = analysis.identify(MODEL, [run])
    assert found.physical is not None
    assert any("joint_2.viscous" in text for text in found.physical.forbidden)
    held = found.equations.held
    error = (found.equations.tau - found.equations.Y @ found.physical.x)[held]
    used = found.equations.used[held]
    expected = np.sqrt((error**2 * used).sum(0) / used.sum(0))
    np.testing.assert_allclose(found.residual[4], expected, rtol=1e-12)
    np.testing.assert_allclose(found.held_residual(found.physical.x), expected, rtol=1e-12)
    assert found.residual[4, 1] > 3.0 * found.residual[3, 1]
    assert max(found.shifts, key=lambda name: abs(found.shifts[name])).count("joint_2.viscous")


def test_what_the_files_have_no_place_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An inertia of joint 3 beside the belt's rotor of joints 2 and 3 is in none of the files."""
    drive = tmp_path / "smooth.drivetrain.yaml"
    drive.write_text(yaml_text(smooth_drive(), "without friction"), encoding="utf-8")
    model = gd.load_model(FILES[0], drive)
    x = prior(model)
    x[column_names(model).index("joint_3.inertia")] = 1.0
    t, q, v, a = motion(30.0, 100.0, n=6)
    tau = torques(model, x, q, v, a)
    tau = tau + 0.01 * np.random.default_rng(2).normal(size=tau.shape)
    data = messages(model.joint_names, t, q, v, tau)
    bag = str(write_sqlite(tmp_path / "run.db3", {"/joint_states": (JOINT_STATE, data)}))
    words = ["--robot", str(FILES[0]), "--drivetrain", str(drive), "--output", str(tmp_path / "n")]
    assert main(["identify", bag, *words]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "has no place in these files: joint_3.inertia" in text
    said = re.search(
        r"files, loaded again, leave different residuals of what was held out: (.*);", text
    )
    assert said is not None
    assert "joint_3" in said[1]
