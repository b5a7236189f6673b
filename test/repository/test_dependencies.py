"""What the package imports, rosdep installs, or docs/launch.md says what there is without it."""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "geared_dynamics").rglob("*.py")) + sorted((ROOT / "launch").glob("*.py"))
# Keys of rosdep/python.yaml and of released packages by module; others have the module's name.
KEYS = {
    "PIL": "python3-pil",
    "urdf_parser_py": "urdfdom_py",
    "llvmlite": "python3-numba",
} | {
    name: f"python3-{name}"
    for name in (
        "argcomplete",
        "jsonschema",
        "lxml",
        "matplotlib",
        "numba",
        "numpy",
        "rich",
        "scipy",
        "yaml",
    )
}
PIP_ONLY = (
    "mujoco",
    "rosbags",
    "plotly",
    "clarabel",
    "dask",
    "distributed",
    "lz4",
    "backports",
    "viser",
    "trimesh",
)
OURS = ("geared_dynamics",)
# With Python from 3.14 on; optional for JTC's action.
OTHERS = ("compression", "control_msgs")


def imported(file: Path) -> set[str]:
    """First names of the modules that a file imports, by ``extra`` and ``import_module`` too."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
        elif isinstance(node, ast.Call) and getattr(
            node.func, "attr", getattr(node.func, "id", "")
        ) in ("extra", "import_module"):
            texts = [a for a in ast.walk(node.args[0]) if isinstance(a, ast.Constant)]
            found |= {str(text.value) for text in texts if re.match(r"[a-z]", str(text.value))}
    return {name.partition(".")[0] for name in found} - set(sys.stdlib_module_names)


def depended() -> set[str]:
    """Keys that package.xml depends on."""
    root = ET.parse(ROOT / "package.xml").getroot()
    return {str(node.text) for node in root.iter("exec_depend")}


def without() -> str:
    """The table of docs/launch.md."""
    page = (ROOT / "docs" / "launch.md").read_text("utf-8")
    return page.split("| package, `pip install` | without it |")[1].split("\n\n")[0]


def test_rosdep_installs_what_has_a_key() -> None:
    names = set().union(*map(imported, SOURCES)) - {*PIP_ONLY, *OURS, *OTHERS}
    assert {"scipy", "matplotlib", "rclpy", "launch_ros"} <= names
    missing = {KEYS.get(name, name) for name in names} - depended()
    assert not missing, f"package.xml lacks {sorted(missing)}"


def test_the_commands_of_launch_files_are_installed() -> None:
    """``ros2 bag``, ``ros2 launch`` and the storages that bags are in."""
    assert {"ros2bag", "rosbag2", "ros2launch"} <= depended()


def test_what_only_pip_has_is_named() -> None:
    said = re.findall(r"`([\w.]+)`", without())
    for name in PIP_ONLY:
        assert any(word.partition(".")[0] == name for word in said), name
