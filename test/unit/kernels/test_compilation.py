"""Compiled code is kept on disk where possible, and never needed to be."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics import kernels

ROOT = Path(__file__).parents[3]
PROGRAM = """
import geared_dynamics as gd
assert gd.__file__.startswith({package!r}), gd.__file__
model = gd.load_model({urdf!r}, {drives!r})
print(gd.gravity_forces(model, [0.1, 0.2, 0.3]).round(9).tolist())
"""


def run(package: Path, home: Path, **environment: str) -> str:
    """Output of a fresh interpreter that imports the package from a folder."""
    urdf = ROOT / "urdf" / "elbow.urdf"
    drives = urdf.with_suffix(".drivetrain.yaml")
    program = PROGRAM.format(package=str(package), urdf=str(urdf), drives=str(drives))
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    inherited |= {"PYTHONPATH": str(package), "HOME": str(home), "XDG_CACHE_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        env=inherited | environment,
        cwd=package,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return a folder from which the package imports and that nothing can be written to.

    Its ``__pycache__`` is a file, which stops even a superuser.
    """
    folder = tmp_path / "install"
    target = folder / "geared_dynamics"
    for source in sorted((ROOT / "geared_dynamics").rglob("*")):
        if source.is_file() and source.suffix in {".py", ".json"}:
            copy = target / source.relative_to(ROOT / "geared_dynamics")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
    (target / "kernels" / "__pycache__").write_text("not a folder")
    return folder


def test_read_only_install_without_a_home(installed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("not a folder")
    before = sorted(tmp_path.rglob("*"))
    assert run(installed, home).startswith("[")
    assert sorted(tmp_path.rglob("*")) == before


def test_read_only_install_uses_the_given_cache(installed: Path, tmp_path: Path) -> None:
    home, cache = tmp_path / "home", tmp_path / "cache"
    home.write_text("not a folder")
    first = run(installed, home, NUMBA_CACHE_DIR=str(cache))
    assert list(cache.rglob("*.nbc"))
    assert run(installed, home, NUMBA_CACHE_DIR=str(cache)) == first
    for file in cache.rglob("*.nbi"):
        file.write_bytes(b"broken")
    assert run(installed, home, NUMBA_CACHE_DIR=str(cache)) == first


def test_a_changed_helper_is_compiled_anew(installed: Path, tmp_path: Path) -> None:
    """Code is not taken from the cache when only a file that a kernel imports has changed."""
    home, cache = tmp_path / "home", str(tmp_path / "cache")
    home.mkdir()
    first = run(installed, home, NUMBA_CACHE_DIR=cache)
    helper = installed / "geared_dynamics" / "kernels" / "joint.py"
    text = helper.read_text("utf-8")
    helper.write_text(text.replace("return math.cos(x)", "return math.cos(x + 0.1)"), "utf-8")
    assert run(installed, home, NUMBA_CACHE_DIR=cache) != first


def test_a_kernel_that_uses_anothers_module_leaves_it_a_kernel() -> None:
    """A module of the kernel's own name would take its place when it is imported."""
    importlib.import_module(f"{kernels.__name__}.elastic")
    assert "elimination" in vars(kernels)
    assert callable(kernels.eliminate)
