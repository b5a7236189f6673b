"""``geared-dynamics export``: a file for MuJoCo, or one line of what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from geared_dynamics.apps.cli.main import main

mujoco = pytest.importorskip("mujoco")
URDF = Path(__file__).parents[4] / "urdf"
BRISK = [str(URDF / "brisk6.urdf"), str(URDF / "brisk6.drivetrain.yaml")]


def test_file_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "arm.xml"
    assert main(["export", *BRISK, "--mjcf", str(out), "--timestep", "5e-4"]) == 0
    assert "6 moving links, 6 wheels, 6 motors" in capsys.readouterr().out
    model = mujoco.MjModel.from_xml_path(str(out))
    assert (model.nv, model.nu, model.neq) == (12, 6, 6)
    assert model.opt.timestep == 5e-4
    assert model.dof_frictionloss.any()
    assert main(["export", *BRISK, "--mjcf", str(out), "--no-friction"]) == 0
    assert not mujoco.MjModel.from_xml_path(str(out)).dof_frictionloss.any()


def test_gravity_and_locked_joints(tmp_path: Path) -> None:
    out = tmp_path / "arm.xml"
    extra = ["--gravity", "0", "0", "-1.62", "--lock", "joint_2=0.5"]
    assert main(["export", *BRISK, "--mjcf", str(out), *extra]) == 0
    model = mujoco.MjModel.from_xml_path(str(out))
    assert model.opt.gravity[2] == -1.62
    assert "joint_2" not in {model.joint(j).name for j in range(model.njnt)}


def test_links_called_world(tmp_path: Path) -> None:
    """As the root of many URDFs; MuJoCo's own root has this name."""
    text = Path(BRISK[0]).read_text("utf-8")
    assert '"base_link"' in text
    renamed = tmp_path / "arm.urdf"
    renamed.write_text(text.replace('"base_link"', '"world"').replace('"link_2"', '"world_"'))
    drive = tmp_path / "arm.yaml"
    given = Path(BRISK[1]).read_text("utf-8")
    drive.write_text(given.replace("base_link", "world").replace("link_2", "world_"))
    out = tmp_path / "arm.xml"
    assert main(["export", str(renamed), str(drive), "--mjcf", str(out)]) == 0
    model = mujoco.MjModel.from_xml_path(str(out))
    names = [model.body(b).name for b in range(model.nbody)]
    assert names[:2] == ["world", "world__"]
    assert "world_" in names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([str(URDF / "tx40.urdf"), str(URDF / "tx40.drivetrain.yaml")], 2, "link_6"),
        (["missing.urdf"], 2, "missing.urdf"),
    ],
)
def test_errors(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    out = tmp_path / "arm.xml"
    assert main(["export", *arguments, "--mjcf", str(out)]) == code
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert not out.exists()


def test_a_folder_that_does_not_exist(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["export", *BRISK, "--mjcf", str(tmp_path / "no" / "arm.xml")]) == 3
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("step", ["0", "-1", "nan", "1.0", "x"])
def test_bad_steps(step: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["export", *BRISK, "--mjcf", str(tmp_path / "a.xml"), f"--timestep={step}"])


def test_files_of_others_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Our own earlier file is replaced and named; another one with ``--force`` only."""
    out = tmp_path / "arm.xml"
    assert main(["export", *BRISK, "--mjcf", str(out)]) == 0
    assert "replaced" not in capsys.readouterr().out
    assert main(["export", *BRISK, "--mjcf", str(out)]) == 0
    assert f"replaced: {out}" in capsys.readouterr().out
    out.write_text("<mujoco>mine</mujoco>", "utf-8")
    assert main(["export", *BRISK, "--mjcf", str(out)]) == 2
    assert f"{out}: exists, and was not written by" in capsys.readouterr().err
    assert out.read_text("utf-8") == "<mujoco>mine</mujoco>"
    assert main(["export", *BRISK, "--mjcf", str(out), "--force"]) == 0
    assert "<mujoco model=" in out.read_text("utf-8")


def test_folders_with_files_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", *BRISK, "--c", "-o", str(tmp_path), "--functions", "mass_matrix"]
    (tmp_path / "CMakeLists.txt").write_text("project(mine)", "utf-8")
    assert main(command) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["CMakeLists.txt"]
    assert main([*command, "--force"]) == 0
    capsys.readouterr()
    assert main(command) == 0
    assert capsys.readouterr().out.count("CMakeLists.txt") == 2
