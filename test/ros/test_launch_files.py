"""Launch files, presets and policy without ROS: what they name exists."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from geared_dynamics.description import read_urdf
from geared_dynamics.runtime.acceptance import read_waypoints
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = sorted((ROOT / "launch").glob("*.launch.py"))
FILES = sorted((ROOT / "config").glob("*.yaml"))
PRESETS = [file for file in FILES if file.name != "moveit_controllers.yaml"]  # MoveIt reads that
EXAMPLES = sorted((ROOT / "config" / "examples").glob("*.yaml"))
SHARED = ROOT / "launch" / "shared.py"
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


def makers(file: Path) -> list[ast.FunctionDef]:
    """Functions of ``shared`` that declare arguments, and are called by a launch file."""
    called = {n.func.attr for n in ast.walk(tree(file))
              if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}  # fmt: skip
    functions = [node for node in tree(SHARED).body if isinstance(node, ast.FunctionDef)]
    return [node for node in functions if node.name in called and "argument" in node.name]


def declarations(file: Path) -> list[ast.Call]:
    """Calls that declare launch arguments, in a file or in what it shares with others."""
    return [
        node
        for part in (tree(file), *makers(file))
        for node in ast.walk(part)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "DeclareLaunchArgument"
    ]


def declared(file: Path) -> dict[str, dict[str, ast.expr]]:
    """The launch arguments, each with its keywords."""
    found = {}
    for call in declarations(file):
        keywords = {keyword.arg or "": keyword.value for keyword in call.keywords}
        found[ast.literal_eval(call.args[0])] = keywords
    return found


def console_scripts() -> dict[str, str]:
    """Programs of setup.py with their modules."""
    text = (ROOT / "setup.py").read_text("utf-8")
    return dict(re.findall(r'"([\w-]+) = ([\w.]+):main"', text))


@pytest.mark.parametrize("file", LAUNCH, ids=lambda path: path.stem)
def test_arguments_are_declared_once_described_and_used(file: Path) -> None:
    names = [ast.literal_eval(call.args[0]) for call in declarations(file)]
    assert names
    assert len(names) == len(set(names))
    literals = [
        node.value
        for part in ({file, SHARED} if makers(file) else {file})
        for node in ast.walk(tree(part))
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


@pytest.mark.parametrize("file", [*LAUNCH, SHARED], ids=lambda path: path.stem)
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


@pytest.mark.parametrize("file", [*LAUNCH, SHARED], ids=lambda path: path.stem)
def test_no_launch_file_imports_the_package(file: Path) -> None:
    """Which takes a second and more; what they share stands beside them, and is no launch file."""
    found = [
        node for node in ast.walk(tree(file)) if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    names = [a.name for node in found for a in node.names if isinstance(node, ast.Import)]
    names += [node.module or "" for node in found if isinstance(node, ast.ImportFrom)]
    assert not {name.partition(".")[0] for name in names} & {"geared_dynamics", "numpy", "numba"}


def test_what_launch_files_share_is_written_once() -> None:
    own = {node.name for node in tree(SHARED).body if isinstance(node, ast.FunctionDef)}
    assert {"command", "node_arguments", "plant", "included"} <= own
    for file in LAUNCH:
        again = {node.name for node in tree(file).body if isinstance(node, ast.FunctionDef)}
        assert not own & again, file.name


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
    schema = {parameter.name: parameter for parameter in FeedforwardParameters.rows()}
    for name, value in values.items():
        schema[name].checked(value)


def test_launch_arguments_are_the_nodes_parameters() -> None:
    schema = {parameter.name: parameter for parameter in FeedforwardParameters.rows()}
    values = constants(ONE_ARM)
    for argument, name in values["AS_PARAMETER"].items():
        assert argument in declared(ONE_ARM)
        assert schema[name].kind == "string"
    assert tuple(values["MODES"]) == schema["mode"].choices


# What each preset has, in words, as it stands in config/drivers/stock.yaml.
DRIVERS = yaml.safe_load((ROOT / "config" / "drivers" / "stock.yaml").read_text("utf-8"))
KEYS = {"joint_states", "speed_scaling", "trajectory_controller", "effort_controller",
        "controllers", "replaces", "reason", "works"}  # fmt: skip


def controllers(file: Path) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Types and parameters of the controllers in a file of ros2_control."""
    data = yaml.safe_load(file.read_text("utf-8"))
    if "/**" in data:
        data = data["/**"]
    own = {name: entry["ros__parameters"] for name, entry in data.items()}
    manager = own.pop("controller_manager")
    types = {k: v["type"] for k, v in manager.items() if isinstance(v, dict)}
    types |= {k: v["type"] for k, v in own.items() if "type" in v}
    return types, own


@pytest.mark.parametrize("preset", DRIVERS)
def test_what_is_said_of_a_driver_is_complete(preset: str) -> None:
    driver = DRIVERS[preset]
    assert set(driver) <= KEYS
    assert driver["joint_states"]
    for mode in ("trajectory_controller", "effort_controller"):
        assert mode in driver or {"reason", "works"} <= set(driver)
    if "controllers" in driver:
        types, _ = controllers(ROOT / "config" / "controllers" / driver["controllers"])
        assert driver["trajectory_controller"] in types


def test_each_preset_of_real_robots_has_its_driver() -> None:
    assert set(constants(ROOT / "launch" / "hardware.launch.py")["PRESETS"]) == set(DRIVERS)


@pytest.mark.parametrize(
    "file", sorted((ROOT / "config" / "controllers").glob("*.yaml")), ids=lambda path: path.stem
)
def test_our_controllers_command_effort(file: Path) -> None:
    """A joint trajectory controller that commands another interface refuses our trajectories."""
    types, own = controllers(file)
    moving = {name for name, kind in types.items() if "Broadcaster" not in kind}
    assert moving
    for name in moving:
        values = own[name]
        if types[name] == "joint_trajectory_controller/JointTrajectoryController":
            assert values["command_interfaces"] == ["effort"]
            assert {"position", "velocity"} <= set(values["state_interfaces"])
            assert set(values["gains"]) == set(values["joints"])
            assert all(gain["p"] > 0.0 and gain["d"] > 0.0 for gain in values["gains"].values())
        else:
            assert types[name] == "forward_command_controller/ForwardCommandController"
            assert values["interface_name"] == "effort"


@pytest.mark.parametrize(
    "file", sorted((ROOT / "config" / "motions").glob("*.yaml")), ids=lambda path: path.stem
)
def test_motions_are_the_robots_and_begin_where_it_stands(file: Path) -> None:
    found = read_waypoints(file)
    robot = read_urdf(ROOT / "urdf" / f"{file.stem}.urdf")
    limits = {joint.name: joint.limit for joint in robot.joints if joint.limit is not None}
    assert found.joint_names == tuple(limits)
    assert not found.positions[0].any()
    lower, upper = (np.array([getattr(x, side) for x in limits.values()], float)
                    for side in ("lower", "upper"))  # fmt: skip
    assert (lower < found.positions).all()
    assert (found.positions < upper).all()


@pytest.mark.parametrize("name", ["FORWARD", "TRAJECTORY"])
def test_gazebos_controllers_are_in_their_files(name: str) -> None:
    file, controller = constants(ROOT / "launch" / "gazebo.launch.py")[name]
    types, own = controllers(ROOT / "config" / "controllers" / file)
    assert controller in types
    robot = (ROOT / "urdf" / "brisk6.urdf").read_text("utf-8")
    assert all(f'<joint name="{joint}"' in robot for joint in own[controller]["joints"])
    assert "joint_state_broadcaster" in types


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_of_several_robots(file: Path) -> None:
    known = declared(ONE_ARM)
    for arguments in yaml.safe_load(file.read_text("utf-8")).values():
        assert set(arguments) <= set(known) - {"namespace"}
        for name in ("urdf", "drivetrain", "params_file", "xacro"):
            assert name not in arguments or (file.parent / arguments[name]).is_file()
        assert arguments.get("mode", "stream") in constants(ONE_ARM)["MODES"]
