"""Compiled code is kept on disk where possible, and never needed to be."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba import config

from geared_dynamics import kernels

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "geared_dynamics" / "kernels"
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")

ENTRY = """
from numba import njit

from {package}.deeper import (
    add,
)
from {package} import unrelated as other


@njit
def total(model, q, out):
    \"\"\"Sum of two numbers.\"\"\"
    out[0] = add(q[0], q[1])
    return 0
"""
DEEPER = """
from numba import njit

from {package} import (
    number as given,
)


@njit
def add(x, y):
    \"\"\"Sum of two numbers, and more.\"\"\"
    return x + y + given.MORE
"""
SOURCES = {"entry": ENTRY, "deeper": DEEPER, "number": "MORE = 0.0\n", "unrelated": "X = 1\n"}


class Installation:
    """The package's compilation over three small modules, installed in a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = "small_kernels"
        self.folder = folder / self.name
        self.folder.mkdir(parents=True)
        (self.folder / "__init__.py").write_bytes((FOLDER / "__init__.py").read_bytes())
        for name, text in SOURCES.items():
            (self.folder / f"{name}.py").write_text(text.format(package=self.name))
        # A file in its place keeps even a superuser from writing beside the sources.
        (self.folder / "__pycache__").write_text("not a folder")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def start(self) -> ModuleType:
        """Import it as a new process does: nothing is compiled yet."""
        self.forget()
        importlib.invalidate_caches()
        package = importlib.import_module(self.name)
        package.KERNELS = {"total": ("entry", 0, 1)}
        return package

    def forget(self) -> None:
        """Take it out of this process."""
        for name in [n for n in sys.modules if n.partition(".")[0] == self.name]:
            del sys.modules[name]

    def replace(self, module: str, before: str, after: str) -> None:
        """Change a source."""
        path = self.folder / f"{module}.py"
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    """Return small kernels in a folder that cannot be written to, without a home."""
    home = tmp_path / "home"
    home.write_text("not a folder")
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setattr(config, "CACHE_DIR", "")
    installation = Installation(tmp_path / "install", monkeypatch)
    yield installation
    installation.forget()


@pytest.fixture
def cache(tmp_path: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that the user names for compiled code of the installation."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(config, "CACHE_DIR", str(folder))
    return folder


def total(package: ModuleType) -> float:
    """What the kernel says of (1, 2)."""
    out = np.empty(1)
    assert package.total(np.zeros(1), np.array([1.0, 2.0]), out) == 0
    return float(out[0])


def hits(package: ModuleType) -> int:
    """How many of the kernel's two versions were read from the cache."""
    return sum(package.total.stats.cache_hits.values())


@pytest.mark.filterwarnings("error")
def test_read_only_install_without_a_home(installation: Installation, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert total(installation.start()) == 3.0
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.filterwarnings("error")
def test_read_only_install_uses_the_given_cache(installation: Installation, cache: Path) -> None:
    first = installation.start()
    assert (total(first), hits(first)) == (3.0, 0)
    assert len(list(cache.rglob("*.nbc"))) == 2
    second = installation.start()
    assert (total(second), hits(second)) == (3.0, 2)
    # A change that does not concern the kernel compiles nothing.
    installation.replace("__init__", '"joint_regressor"', '"regressor_of_joints"')
    (installation.folder / "stranger.py").write_text("X = 1\n")
    third = installation.start()
    assert (total(third), hits(third)) == (3.0, 2)


@pytest.mark.filterwarnings("error")
def test_a_broken_cache_is_not_needed(installation: Installation, cache: Path) -> None:
    assert total(installation.start()) == 3.0
    for kind in ("*.nbc", "*.nbi"):
        for file in cache.rglob(kind):
            file.write_bytes(b"broken")
        assert total(installation.start()) == 3.0


@pytest.mark.usefixtures("cache")
def test_a_changed_source_is_compiled_again(installation: Installation) -> None:
    """Code is not taken from the cache when only a file that a kernel imports has changed."""
    assert total(installation.start()) == 3.0
    installation.replace("number", "0.0", "5.0")
    assert total(installation.start()) == 8.0
    installation.replace("__init__", 'OPTIONS = {"error_model": "numpy"}', "OPTIONS = {}")
    package = installation.start()
    assert (total(package), hits(package)) == (8.0, 0)


def closure(module: str) -> set[str]:
    """Modules of the package that a module is made of, by Python's own grammar."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name in found or name not in MODULES:
            continue
        found.add(name)
        for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
                assert node.level == 0, f"{name}: a relative import, which the digest overlooks"
            else:
                continue
            for target in targets:
                if target.startswith(f"{kernels.__name__}."):
                    assert isinstance(node, ast.ImportFrom), f"{name}: {target}"
                    waiting.append(target.split(".")[2])
    return found


@pytest.mark.parametrize("module", sorted({entry[0] for entry in kernels.KERNELS.values()}))
def test_the_digest_is_of_the_imports(module: str) -> None:
    assert set(kernels.sources(module)) == closure(module)


def test_no_module_has_the_name_of_a_kernel() -> None:
    """It would take the kernel's place in the package as soon as anything imports it."""
    assert not set(kernels.KERNELS) & set(MODULES)


@pytest.mark.validate
def test_a_fresh_process_without_a_home(tmp_path: Path) -> None:
    """The whole package in a process of its own, which says nothing on standard error."""
    home = tmp_path / "home"
    home.write_text("not a folder")
    urdf = ROOT / "urdf" / "elbow.urdf"
    program = (
        "import geared_dynamics.kernels.calm, geared_dynamics.kernels.regressor\n"
        "import geared_dynamics as gd\n"
        f"model = gd.load_model({str(urdf)!r}, {str(urdf.with_suffix('.drivetrain.yaml'))!r})\n"
        "print(gd.regressor(model, [0.1, 0.2, 0.3], [1, 1, 1], [1, 1, 1]).shape[0])\n"
    )
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    inherited |= {"HOME": str(home), "XDG_CACHE_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        env=inherited,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
