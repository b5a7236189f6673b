"""What must hold wherever the package is installed: by colcon, by pip, or not at all.

colcon runs these tests only (see colcon.pkg). The subprocesses start in an empty
folder, so that they see the installed package and not the source tree.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = "geared_dynamics"
SOURCE = Path(__file__).resolve().parents[2]
OPTIONAL = ("rclpy", "pinocchio", "mujoco", "scipy", "matplotlib", "rich")


def prefixes() -> list[Path]:
    """Return the installation prefixes where this package may live, colcon's first."""
    listed = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [Path(entry) for entry in listed if entry] + [Path(sys.prefix)]


def installed(relative: str) -> Path:
    """Return an installed file, or skip when no prefix has it."""
    for prefix in prefixes():
        if (prefix / relative).exists():
            return prefix / relative
    return pytest.skip(f"{relative}: not in an editable install; `make colcon` tests it")


def elsewhere(code: str, folder: Path) -> str:
    """Run Python code in an empty folder and return what it prints."""
    return run([sys.executable, "-c", code], folder)


def run(command: list[str], folder: Path) -> str:
    """Run a command that must succeed, and return what it prints."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_needs_nothing_optional(tmp_path: Path) -> None:
    """None in sys.modules makes an import fail as if the package were not there."""
    code = (
        f"import sys; sys.modules |= dict.fromkeys({OPTIONAL!r})\n"
        f"import {PACKAGE}; print({PACKAGE}.__version__)"
    )
    assert elsewhere(code, tmp_path).strip()


def test_import_loads_nothing_optional(tmp_path: Path) -> None:
    """numba brings scipy in by itself, where it is installed."""
    names = f"[n for n in {OPTIONAL!r} if n in sys.modules and n != 'scipy']"
    code = f"import json, sys, {PACKAGE}; print(json.dumps({names}))"
    assert json.loads(elsewhere(code, tmp_path)) == []


def test_elbow_arm_loads_and_moves(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np, geared_dynamics as gd\n"
        "m = gd.load_model(sys.argv[1], sys.argv[2])\n"
        "q, v, a = 0.3 * np.ones((3, m.n))\n"
        "tau = gd.inverse_dynamics(m, q, v, a)\n"
        "assert np.allclose(gd.forward_dynamics(m, q, v, tau), a), tau\n"
        "print(m.n, len(m.wheel_names))\n"
    )
    files = [str(SOURCE / "urdf" / f"elbow.{kind}") for kind in ("urdf", "drivetrain.yaml")]
    joints, wheels = run([sys.executable, "-c", code, *files], tmp_path).split()
    assert int(joints) == 3
    assert int(wheels) >= 3


def test_schema_travels_with_the_package(tmp_path: Path) -> None:
    code = (
        "import json, importlib.resources as r\n"
        "print(json.loads((r.files('geared_dynamics.description')"
        " / 'drivetrain.schema.json').read_text(encoding='utf-8'))['type'])\n"
    )
    assert elsewhere(code, tmp_path).strip() == "object"


def test_console_script_prints_help(tmp_path: Path) -> None:
    ros = [prefix / "lib" / PACKAGE / "geared-dynamics" for prefix in prefixes()]
    found = next((str(path) for path in ros if path.exists()), None)
    script = found or shutil.which("geared-dynamics", path=str(Path(sys.executable).parent))
    if script is None:
        pytest.skip("not installed: no console script geared-dynamics")
    text = run([script, "--help"], tmp_path)
    assert "check" in text
    assert "describe" in text


def test_ament_index_knows_the_package() -> None:
    installed(f"share/ament_index/resource_index/packages/{PACKAGE}")
    assert installed(f"share/{PACKAGE}/package.xml").read_text(encoding="utf-8").count(PACKAGE)


@pytest.mark.parametrize(
    "file",
    [
        "urdf/elbow.urdf",
        "urdf/elbow.drivetrain.yaml",
        "launch/feedforward.launch.py",
        "launch/robots.launch.py",
        "config/generic.yaml",
        "config/fastdds_fast_discovery.xml",
        "config/examples/two_robots.yaml",
        "policies/geared_dynamics.policy.xml",
    ],
)
def test_files_are_shared(file: str) -> None:
    assert installed(f"share/{PACKAGE}/{file}").read_bytes() == (SOURCE / file).read_bytes()


def programs() -> list[str]:
    """Return the names of the programs that the package installs."""
    code = "from importlib.metadata import entry_points as e\nprint(*(p.name for p in e("
    code += f"group='console_scripts') if p.module.partition('.')[0] == {PACKAGE!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_programs_are_where_ros_looks_for_them(tmp_path: Path) -> None:
    """``ros2 run`` and ``Node(package=..., executable=...)`` search lib/<package>."""
    folder = installed(f"lib/{PACKAGE}")
    names = programs()
    assert {"geared-dynamics", "feedforward_node"} <= set(names)
    for name in names:
        assert os.access(folder / name, os.X_OK), f"{folder / name} cannot be run"
    assert run([str(folder / "geared-dynamics"), "--version"], tmp_path).strip()


def test_programs_have_their_modules(tmp_path: Path) -> None:
    """Each entry point's module exists; the nodes' cannot be imported without ROS."""
    code = (
        "import importlib.util as u\nfrom importlib.metadata import entry_points as e\n"
        f"found = [p for p in e(group='console_scripts') if p.module.startswith({PACKAGE!r})]\n"
        "print(*(p.module for p in found if u.find_spec(p.module) is None))"
    )
    assert elsewhere(code, tmp_path).split() == []
