"""Launch files, presets and policy without ROS: what they name exists."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from geared_dynamics.nodes.feedforward.schema import SCHEMA

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = sorted((ROOT / "launch").glob("*.launch.py"))
PRESETS = sorted((ROOT / "config").glob("*.yaml"))
EXAMPLES = sorted((ROOT / "config" / "examples").glob("*.yaml"))
ONE_ARM = ROOT / "launch" / "feedforward.launch.py"

# What a preset's head says about each term -> the switches for it.
SWITCHES = {
    "Gravity": {"use_gravity_compensation"},
    "Coriolis": {"use_coriolis_compensation"},
    "Friction": {"use_friction"},
    "Rotors": {"use_rotor_inertia", "use_rotor_coupling"},
}


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def constants(file: Path) -> dict[str, Any]:
    """Module-level names with literal values."""
    found = {}
    for node in tree(file).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def calls(file: Path, name: str) -> list[ast.Call]:
    """Calls of a function or class by its plain name."""
    return [
        node
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name
    ]


def declared(file: Path) -> dict[str, dict[str, ast.expr]]:
    """The launch arguments, each with its keywords."""
    found = {}
    for call in calls(file, "DeclareLaunchArgument"):
        keywords = {keyword.arg or "": keyword.value for keyword in call.keywords}
        found[ast.literal_eval(call.args[0])] = keywords
    return found


def console_scripts() -> dict[str, str]:
    """Programs of setup.py with their modules."""
    text = (ROOT / "setup.py").read_text("utf-8")
    return dict(re.findall(r'"([\w-]+) = ([\w.]+):main"', text))


@pytest.mark.parametrize("file", LAUNCH, ids=lambda path: path.stem)
def test_arguments_are_declared_once_described_and_used(file: Path) -> None:
    names = [ast.literal_eval(c.args[0]) for c in calls(file, "DeclareLaunchArgument")]
    assert names
    assert len(names) == len(set(names))
    literals = [
        node.value
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    for name, keywords in declared(file).items():
        assert ast.literal_eval(keywords["description"])
        assert literals.count(name) >= 2, f"{name} is declared and not used"


@pytest.mark.parametrize("file", LAUNCH, ids=lambda path: path.stem)
def test_arguments_that_are_read_are_declared(file: Path) -> None:
    read = [*calls(file, "value"), *calls(file, "LaunchConfiguration")]
    texts = [c.args[0].value for c in read if isinstance(c.args[0], ast.Constant)]
    listed = constants(file)
    texts += [*listed.get("AS_PARAMETER", {}), *listed.get("SHARED", ())]
    assert set(texts) <= set(declared(file))


@pytest.mark.parametrize("file", LAUNCH, ids=lambda path: path.stem)
def test_arguments_stand_in_the_documentation(file: Path) -> None:
    page = (ROOT / "docs" / "launch.md").read_text("utf-8")
    section = page.split(f"## {file.name}")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == set(declared(file))


@pytest.mark.parametrize("file", LAUNCH, ids=lambda path: path.stem)
def test_the_program_exists(file: Path) -> None:
    values = constants(file)
    if "EXECUTABLE" not in values:
        for call in [*calls(file, "Node"), *calls(file, "LifecycleNode")]:
            packages = [ast.literal_eval(k.value) for k in call.keywords if k.arg == "package"]
            assert packages
            assert "geared_dynamics" not in packages
        return
    assert values["PACKAGE"] == "geared_dynamics"
    assert console_scripts()[values["EXECUTABLE"]] == values["MODULE"]
    assert importlib.util.find_spec(values["MODULE"]) is not None


def test_each_program_can_be_found_by_ros_after_pip() -> None:
    files = {path.name: path for path in (ROOT / "resource" / "lib").iterdir()}
    assert set(files) == set(console_scripts())
    assert len({path.read_bytes() for path in files.values()}) == 1
    assert all(path.stat().st_mode & 0o111 for path in files.values())


def test_files_of_other_launch_files_exist() -> None:
    for file in LAUNCH:
        text = file.read_text("utf-8")
        for name in re.findall(r'"([\w]+\.launch\.py)"', text):
            assert (ROOT / "launch" / name).is_file()


@pytest.mark.parametrize("file", PRESETS, ids=lambda path: path.stem)
def test_a_preset_says_who_compensates_what(file: Path) -> None:
    """The head of the file in words, the switches below it alike."""
    text = file.read_text("utf-8")
    switches = yaml.safe_load(text)["/**"]["ros__parameters"]
    assert set().union(*SWITCHES.values()) < set(switches)
    for term, names in SWITCHES.items():
        found = re.search(rf"^# {term}: +(\S.*)$", text, re.MULTILINE)
        assert found, f"{file.name} does not say who compensates: {term}"
        by_us = found.group(1).startswith("this node")
        assert {switches[name] for name in names} == {by_us}, f"{file.name}: {term}"


@pytest.mark.parametrize("file", PRESETS, ids=lambda path: path.stem)
def test_a_preset_has_parameters_of_the_node(file: Path) -> None:
    values = yaml.safe_load(file.read_text("utf-8"))["/**"]["ros__parameters"]
    schema = {parameter.name: parameter for parameter in SCHEMA}
    for name, value in values.items():
        schema[name].checked(value)


def test_launch_arguments_are_the_nodes_parameters() -> None:
    schema = {parameter.name: parameter for parameter in SCHEMA}
    values = constants(ONE_ARM)
    for argument, name in values["AS_PARAMETER"].items():
        assert argument in declared(ONE_ARM)
        assert schema[name].kind == "string"
    assert tuple(values["MODES"]) == schema["mode"].choices


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_of_several_robots(file: Path) -> None:
    known = declared(ONE_ARM)
    for arguments in yaml.safe_load(file.read_text("utf-8")).values():
        assert set(arguments) <= set(known) - {"namespace"}
        for name in ("urdf", "drivetrain", "params_file", "xacro"):
            assert name not in arguments or (file.parent / arguments[name]).is_file()
        assert arguments.get("mode", "stream") in constants(ONE_ARM)["MODES"]
