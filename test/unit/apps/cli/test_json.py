"""``--json``: one document that fits its schema, with the numbers that Python gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import geared_dynamics as gd
from command_documents import SCHEMA, validate
from elbow_run import DRIVE, URDF, elbow_bag
from geared_dynamics.apps.cli import command_output, warm_up
from geared_dynamics.apps.cli.main import COMMANDS, main
from geared_dynamics.kernels.door import fault
from geared_dynamics.trace import cache

ROBOTS = Path(URDF).parent
ELBOW = [URDF, DRIVE]


@pytest.fixture
def found(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command and return its document, after the schema has seen it."""

    def run(*words: str, code: int = 0) -> Any:
        assert main([*words, "--json"]) == code
        document = json.loads(capsys.readouterr().out)
        validate(document)
        assert document["command"] == words[0]
        assert document["version"] == gd.__version__
        return document

    return run


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    named = {entry["$ref"].rpartition("/")[2] for entry in SCHEMA["oneOf"]}
    assert named <= set(COMMANDS)
    with pytest.raises(jsonschema.ValidationError):
        validate({"command": "warm-up", "version": "1", "kernels": [1]})
    with pytest.raises(jsonschema.ValidationError):
        validate({"command": "warm-up", "version": "1", "kernels": [], "more": 1})


def test_the_page_lists_all_commands() -> None:
    page = (ROBOTS.parent / "docs" / "commands.md").read_text("utf-8")
    assert all(f"\n| `{command}` |" in page for command in COMMANDS)


def test_compile(
    found: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The code is there afterwards, and gd.compiled compiles nothing."""
    if fault():
        pytest.skip(fault())
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "code")
    monkeypatch.setattr(cache, "_loaded", {})
    document = found("compile", *ELBOW, "--functions", "mass_matrix", "gravity_forces")
    assert set(document["functions"]) == {"mass_matrix", "gravity_forces"}
    assert document["kernels"] == []
    assert Path(document["folder"]) == tmp_path / "code"
    files = sorted((tmp_path / "code").iterdir())
    assert len(files) == 2
    monkeypatch.setattr(cache, "object_code", lambda _text: pytest.fail("compiled again"))
    model = gd.load_model(*ELBOW)
    assert "compiled: mass_matrix, gravity_forces" in repr(
        gd.compiled(model, ["mass_matrix", "gravity_forces"])
    )
    assert main(["compile", *ELBOW, "--functions", "mass_matrix"]) == 0
    output = capsys.readouterr().out
    assert "mass_matrix" in output
    assert f"kept in {tmp_path / 'code'}" in output
    assert main(["compile", *ELBOW, "--functions", "speed"]) == 2
    assert "speed" in capsys.readouterr().err


def test_check(found: Any) -> None:
    pytest.importorskip("pinocchio")
    document = found("check", *ELBOW, "--states", "20")
    assert document["passed"] is True
    assert [joint["name"] for joint in document["joints"]] == ["joint_1", "joint_2", "joint_3"]
    assert document["joints"][0]["armature"]["rms"] > 0.0
    bare = found("check", URDF, "--states", "20")
    assert bare["joints"][0]["armature"] is None
    assert bare["robot"]["knowledge"]["rotors"] == "none"
    assert not any("exact" in line for line in bare["verdict"])


def test_check_that_fails_says_so(found: Any) -> None:
    pytest.importorskip("pinocchio")
    assert found("check", *ELBOW, "--tolerance", "0", code=1)["passed"] is False


def test_coupling(found: Any, tmp_path: Path) -> None:
    along = found("coupling", *ELBOW, elbow_bag(tmp_path))
    assert along["recording"].endswith("run.db3")
    assert along["samples"] > 1000
    document = found("coupling", *ELBOW, "--states", "200")
    assert document["recording"] is None
    for joint in document["joints"]:
        assert joint["percent"] == pytest.approx(100.0 * joint["total"] / joint["torque"])
    assert found("coupling", URDF)["joints"] == []


@pytest.mark.parametrize("robot", ["elbow", "planetary_2r", "tx40"])
def test_describe(robot: str, found: Any) -> None:
    files = [str(ROBOTS / f"{robot}{end}") for end in (".urdf", ".drivetrain.yaml")]
    document, model = found("describe", *files), gd.load_model(*files)
    assert document["structure_matrix"] == model.structure_matrix.tolist()
    assert [one["reflected_inertia"] for one in document["joints"]] == pytest.approx(
        np.diag(model.reflected_inertia)
    )
    assert [list(one["spin"].values()) for one in document["wheels"]] == model.Gamma.tolist()
    assert document["missing"] is not None


def test_limits_that_are_unknown_are_null(found: Any, tmp_path: Path) -> None:
    text = Path(URDF).read_text("utf-8")
    cut = tmp_path / "bare.urdf"
    cut.write_text(text.replace("revolute", "continuous"), "utf-8")
    for joint in found("describe", str(cut))["joints"]:
        assert (joint["kind"], joint["lower"], joint["upper"]) == ("continuous", None, None)


def test_init_and_export(found: Any, tmp_path: Path) -> None:
    out = tmp_path / "drive.yaml"
    document = found("init", URDF, "--out", str(out))
    assert (document["file"], document["missing"]) == (str(out), None)
    assert out.read_text("utf-8").count("???") in (0, document["blanks"])
    code = found("export", *ELBOW, "--c", "-o", str(tmp_path / "c"))
    assert all(Path(file).is_file() for file in code["files"])


def test_view(found: Any, tmp_path: Path) -> None:
    pytest.importorskip("viser")
    out = tmp_path / "arm.html"
    assert found("view", *ELBOW, "--out", str(out))["files"] == [str(out)]


def test_excite(found: Any, tmp_path: Path) -> None:
    out = tmp_path / "motion.yaml"
    document = found(
        "excite",
        *ELBOW,
        "--output",
        str(out),
        "--duration",
        "5",
        "--starts",
        "2",
        "--changes",
        "5",
    )
    assert document["files"] == [str(out)]
    assert document["condition"] > 1.0
    assert all(joint["lower"] < joint["upper"] for joint in document["joints"])


def test_analyze_and_identify(found: Any) -> None:
    """On the recording that comes with the package, whose truth the files have."""
    pytest.importorskip("clarabel")
    (one,) = found("analyze", "brisk6")["recordings"]
    for joint in one["joints"]:
        assert joint["residual"]["complete"] < joint["residual"]["armature"]
    document = found("identify", "brisk6", "--check")
    assert document["usable"] is True
    near = [abs(p["value"] - p["files"]) <= 5.0 * p["deviation"] for p in document["parameters"]]
    assert np.mean(near) > 0.9
    assert {joint["joint"] for joint in document["residuals"]} == {
        f"joint_{k}" for k in range(1, 7)
    }


def test_warm_up(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_up, "compiled", lambda names: iter(names))
    assert found("warm-up")["kernels"]


def test_numbers_that_json_has_no_word_for() -> None:
    given = {"a": np.array([1.0, np.nan, -np.inf]), "b": (Path("x"), np.bool_(True), None)}
    assert command_output.plain(given) == {"a": [1.0, None, None], "b": ["x", True, None]}
