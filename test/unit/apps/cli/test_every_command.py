"""Each command on six arms, on 80 and 140 columns, in a pipe and as JSON: what a reader finds.

No traceback, exit codes as docs/commands.md has them, whole names, a unit at every number's
heading, and of ``--json`` one document of the schema.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import geared_dynamics as gd
from command_documents import validate
from crosscheck.example_robots import example_files
from geared_dynamics.apps.cli import demo, loop_benchmark
from geared_dynamics.apps.cli.main import COMMANDS, main
from geared_dynamics.kernels.door import fault

pytestmark = pytest.mark.validate

URDF = Path(__file__).resolve().parents[4] / "urdf"
ARMS = ("elbow", "ur10_bare", "ur10", "brisk6", "planetary_2r", "wave6")
OUTPUTS = ("80", "140", "pipe", "json")
CUT = ("\u2026", "...]")  # what rich puts where a word was
UNIT = re.compile(
    r"\[[^\]]*\]|%|\b(N m|N|rad|m|kg|kg m\^2|Hz|ms|s|A|V|mm|deg)\b|ratio|rel\.|condition|teeth"
)
ROUNDING = re.compile(r"\d(?:\.\d+)?e-(?:09|[1-9]\d)\b")  # below 1e-9, which is 0 to a reader
KNOWS = ("exact", "does not matter", "as good as")  # not of arms whose rotors are not known
RULE = re.compile(r"^[ \u2500]*\u2500{3}[ \u2500]*$")


class Arm(NamedTuple):
    """An arm's files, and a short recording of it."""

    files: list[str]
    recording: str
    model: gd.GearedModel


def recorded(model: gd.GearedModel, path: Path) -> str:
    """A table of a motion whose torques are the model's, with noise."""
    motion = gd.analysis.excite(model, duration=5.0, harmonics=3, starts=1, changes=2, seed=1)
    times = np.arange(0.0, 10.0, 0.01)
    q, v, a = motion.motion.at(times)[:3]
    tau = gd.inverse_dynamics(model, q, v, a)
    tau += np.random.default_rng(3).normal(scale=0.01 * np.abs(tau).max(axis=0), size=tau.shape)
    heads = [f"{what}.{name}" for what in ("position", "effort") for name in model.joint_names]
    table = np.column_stack([times, q, tau])
    np.savetxt(path, table, delimiter=",", header=",".join(["time", *heads]), comments="")
    return str(path)


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Arm]:
    """The six; the UR10 with the rotors that ``init`` writes, and without."""
    folder = tmp_path_factory.mktemp("arms")
    files = {
        name: [str(URDF / f"{name}.urdf"), str(URDF / f"{name}.drivetrain.yaml")] for name in ARMS
    }
    found = [
        path
        for name, path in example_files().items()
        if name.endswith("ur10_robot.urdf") and path.is_file()
    ]
    if not found:
        del files["ur10"], files["ur10_bare"]
    else:
        drive = str(folder / "ur10.drivetrain.yaml")
        words = ["init", str(found[0]), "--ratio", "101", "--rotor-inertia", "1e-4"]
        assert main([*words, "--out", drive]) == 0
        files |= {"ur10": [str(found[0]), drive], "ur10_bare": [str(found[0])]}
    return {
        name: Arm(paths, recorded(model, folder / f"{name}.csv"), model)
        for name, paths in files.items()
        for model in [gd.load_model(*paths)]
    }


def words_of(command: str, arm: Arm, folder: Path) -> list[str]:
    """A command line for an arm, which is quick."""
    robot, recording = arm.files, [arm.recording, *arm.files]
    lines = {
        "demo": [*robot, "--out", str(folder / "demo")],
        "init": [robot[0], "--ratio", "50", "--rotor-inertia", "1e-4", "--force",
                 "--out", str(folder / "new.yaml")],
        "check": [*robot, "--states", "20"],
        "describe": [*robot, "--graph", str(folder / "gears.svg")],
        "view": [*robot, "--out", str(folder / "arm.html")],
        "export": [*robot, "--mjcf", str(folder / "arm.xml")],
        "coupling": [*robot, "--states", "100"],
        "analyze": [*recording, "--output", str(folder / "report")],
        "identify": [*recording, "--output", str(folder / "identified")],
        "excite": [*robot, "--output", str(folder / "motion.yaml"), "--duration", "5",
                   "--starts", "1", "--changes", "2"],
        "loop-benchmark": [*robot, "--duration", "1", "--rate", "100"],
        "warm-up": [],
        "compile": [*robot, "--functions", "gravity_forces"],
        "completion": ["bash"],
        "tune-observer": [*recording, "--resolution", "1e-4"],
    }  # fmt: skip
    return [command, *lines[command]]


# Without arms of their own; and those that start processes.
ALONE, PROCESSES = ("warm-up", "completion"), ("demo", "loop-benchmark")
# (command, arm): what is refused, since it cannot be for such an arm.
REFUSED = {("tune-observer", arm) for arm in ARMS if arm != "wave6"}
REFUSED |= {("export", "ur10_bare")}  # its transmissions' wheels have no mass
JUDGES = ("check", "tune-observer")  # whose exit code is their answer
LISTING = ("check", "describe", "analyze", "identify")  # names of all joints
NEEDED = {"check": "pinocchio", "view": "viser", "identify": "clarabel", "demo": "rclpy",
          "loop-benchmark": "rclpy"}  # fmt: skip


def run_once(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes run for the first output; the others show what these have given."""
    if command == "demo":
        record, kept = demo.record, []

        def recorded_once(plan: Any, bag: Path, **settings: Any) -> list[str]:
            copy = bag.parent / "kept"
            if not kept:
                kept.append(record(plan, bag, **settings))
                shutil.copytree(bag, copy)
            else:
                shutil.copytree(copy, bag, dirs_exist_ok=True)  # as the real one replaces it
            return list(kept[0])

        monkeypatch.setattr(demo, "record", recorded_once)
        return
    measure, found = loop_benchmark.measure, []

    def measured_once(node: Any, options: Any) -> Any:
        if not found:
            found.append(measure(node, options))
        return found[0]

    monkeypatch.setattr(loop_benchmark, "measure", measured_once)


def faults_of(text: str) -> list[str]:
    """What is wrong with text for people: cut words, tables whose numbers have no unit."""
    found = [f"{mark!r} in the output" for mark in CUT if mark in text]
    # The relative errors of ``check`` are its result: that two programs agree to rounding.
    numbers = [] if "worst rel. error" in text else ROUNDING.findall(text)
    found += [f"{number} in the output" for number in numbers]
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if not RULE.match(line):
            continue
        head = k
        while head and lines[head - 1].strip() and not RULE.match(lines[head - 1]):
            head -= 1
        title = lines[max(head - 2, 0) : k]
        body = next((row for row in lines[k + 1 :] if row.strip()), "")
        row = body.strip().partition("  ")[0]  # where each row has a unit of its own
        if re.search(r"\d\.\d", body) and not UNIT.search(" ".join([*title, row])):
            found.append(f"no unit in {title}")
    return found


def wide_tables(text: str, width: int) -> list[str]:
    """Tables that a terminal of this width would break."""
    rules = [line for line in text.splitlines() if RULE.match(line)]
    return [f"a table of {len(line)} columns" for line in rules if len(line) > width]


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_it_prints(
    command: str,
    name: str,
    arms: dict[str, Arm],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if command in NEEDED:
        pytest.importorskip(NEEDED[command], reason=f"{NEEDED[command]} is not installed")
    if name not in arms:
        pytest.skip("example-robot-data is not installed")
    if command in ALONE and name != ARMS[0]:
        pytest.skip("needs no arm")
    if command == "compile" and fault():
        pytest.skip(fault())
    arm, missed = arms[name], []
    codes = (2,) if (command, name) in REFUSED else (0, 1) if command in JUDGES else (0,)
    if command in PROCESSES:
        run_once(command, monkeypatch)
    for output in OUTPUTS:
        if output == "json" and command == "completion":
            continue
        monkeypatch.delenv("COLUMNS", raising=False)
        if output in ("80", "140"):
            monkeypatch.setenv("COLUMNS", output)
        words = words_of(command, arm, tmp_path)
        code = main([*words, *(["--json"] if output == "json" else [])])
        out, err = capsys.readouterr()
        problems = [] if code in codes else [f"exit code {code}: {err.strip()}"]
        problems += ["a traceback"] if "Traceback" in out + err else []
        if code == 2:
            problems += ["more than a line of error"] if err.count("error:") != 1 or out else []
        elif output == "json":
            validate(json.loads(out))
        else:
            problems += faults_of(out)
            if output != "pipe":
                problems += wide_tables(out, int(output))
            lost = [joint for joint in arm.model.joint_names if joint not in out]
            problems += [f"{lost} not named"] if lost and command in LISTING else []
            claimed = [words for words in KNOWS if name == "ur10_bare" and words in out]
            problems += [f"says {claimed}"] if claimed else []
        missed += [f"{output}: {problem}" for problem in problems]
    assert missed == []


def test_faults_are_seen() -> None:
    """The negative control of what is looked for."""
    table = " joint  RMS{}\n \u2500\u2500\u2500\u2500\u2500\u2500\n shoulder  1.25\n"
    assert faults_of(table.format(" [N m]")) == []
    assert faults_of(table.format("")) != []
    assert faults_of("shoul\u2026") != []
    assert faults_of("axis 6.1e-17") != []
    assert faults_of("inertia 1.2e-06") == []
    assert wide_tables("\u2500" * 81, 80) != []
    assert wide_tables("\u2500" * 80, 80) == []
