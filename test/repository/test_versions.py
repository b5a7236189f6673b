"""One version and one list of dependencies, wherever they are written."""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

# What setup.py asks of PyPI -> the rosdep key for the same library.
ROSDEP_KEYS = {
    "numpy": "python3-numpy",
    "numba": "python3-numba",
    "pyyaml": "python3-yaml",
    "jsonschema": "python3-jsonschema",
    "lxml": "python3-lxml",
    "urdf-parser-py": "urdfdom_py",
    "rich": "python3-rich",
}
# Of the extras, what rosdep has without pip.
EXTRA_KEYS = {"python3-argcomplete", "python3-matplotlib", "python3-pil", "python3-scipy"}
# Not imported by name: used where they are found, by rclpy on the nodes' behalf, or as commands.
OPTIONAL = {"pinocchio", "control_msgs", "lifecycle_msgs", "ros2bag", "ros2launch", "rosbag2"}


@pytest.fixture(scope="module")
def manifest(root: Path) -> ET.Element:
    return ET.parse(root / "package.xml").getroot()


def first_text(manifest: ET.Element, tag: str) -> str:
    return (manifest.findtext(tag) or "").strip()


def core_requirements(root: Path) -> list[str]:
    """Return the names in the line CORE = [...] of setup.py."""
    found = re.search(r"^CORE = \[(.*?)\]$", (root / "setup.py").read_text("utf-8"), re.M | re.S)
    assert found is not None
    return [re.split(r"[<>=~!]", name)[0] for name in re.findall(r'"([^"]+)"', found.group(1))]


def test_version_is_the_same_everywhere(root: Path, manifest: ET.Element) -> None:
    text = (root / "geared_dynamics" / "__init__.py").read_text("utf-8")
    versions = re.findall(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    assert versions == [first_text(manifest, "version")]


def test_changelog_knows_the_version_or_has_a_forthcoming_section(root: Path) -> None:
    text = (root / "CHANGELOG.rst").read_text("utf-8")
    assert re.search(r"^Forthcoming\n-+$", text, re.MULTILINE)


def test_manifest_is_an_ament_python_package(manifest: ET.Element, root: Path) -> None:
    assert manifest.get("format") == "3"
    assert first_text(manifest, "name") == "geared_dynamics"
    assert first_text(manifest, "export/build_type") == "ament_python"
    assert first_text(manifest, "license") == "Apache-2.0"
    assert "Apache License" in (root / "LICENSE").read_text("utf-8")[:200]
    assert (root / "resource" / "geared_dynamics").is_file()


def ros_packages(root: Path) -> set[str]:
    """Return the ROS packages that nodes and launch files import, but not those of PyPI."""
    files = [*(root / "geared_dynamics" / "ros").rglob("*.py"), *(root / "launch").glob("*.py")]
    imported = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    plain = {"numpy", "yaml", "rosbags", "geared_dynamics"}
    return imported - set(sys.stdlib_module_names) - plain


def test_manifest_names_every_library_that_pip_installs(root: Path, manifest: ET.Element) -> None:
    keys = {(entry.text or "").strip() for entry in manifest.findall("exec_depend")}
    wanted = {ROSDEP_KEYS[name] for name in core_requirements(root)} | EXTRA_KEYS
    assert wanted <= keys
    assert {key for key in keys if key.startswith(("python3-", "urdfdom"))} == wanted


def test_manifest_names_every_ros_package_that_is_imported(
    root: Path, manifest: ET.Element
) -> None:
    """A ROS package's name is its rosdep key."""
    keys = {(entry.text or "").strip() for entry in manifest.findall("exec_depend")}
    python = {*ROSDEP_KEYS.values(), *EXTRA_KEYS}
    assert keys - python - OPTIONAL == ros_packages(root) - OPTIONAL


def test_pip_brings_the_messages_that_the_nodes_import(root: Path) -> None:
    """Beside what rclpy's wheel brings, and what exists in a ROS system only."""
    listed = set(re.findall(r'"ros-jazzy-([a-z-]+)', (root / "setup.py").read_text("utf-8")))
    brought = {"builtin_interfaces", "rcl_interfaces", "ament_index_python", "rosgraph_msgs"}
    brought |= {"action_msgs"}
    system_only = {"launch", "launch_ros", "xacro", "control_msgs"}
    wanted = ros_packages(root) - OPTIONAL - brought - system_only
    assert wanted <= {name.replace("-", "_") for name in listed}


def test_everybody_names_the_same_distributions(root: Path, manifest: ET.Element) -> None:
    """README, which the documentation shows, and the manifest."""
    row = re.search(r"^\| ROS 2 .*$", (root / "README.md").read_text("utf-8"), re.MULTILINE)
    assert row is not None
    _, _, tested, expected, refused, _ = row[0].split("|")
    described = " ".join((manifest.findtext("description") or "").split())
    for cell in (tested, expected):
        assert re.findall(r"[A-Z][a-z]+", cell)[0] in described
    assert refused.strip() not in described
    assert "support: begin" in (root / "docs" / "index.md").read_text("utf-8")


def test_manifest_names_nothing_twice(manifest: ET.Element) -> None:
    names = [(e.tag, (e.text or "").strip()) for e in manifest if e.tag.endswith("depend")]
    assert len(names) == len(set(names))
