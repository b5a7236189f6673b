"""Compiled code is kept on disk where possible, and never needed to be."""

from __future__ import annotations

import ast
import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import config, types

from geared_dynamics import kernels
from geared_dynamics.kernels import compilation, memory

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
def total(q, out):
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
        (self.folder / "__init__.py").touch()
        text = (FOLDER / "compilation.py").read_text("utf-8")
        (self.folder / "compilation.py").write_text(text, "utf-8")
        for name, text in SOURCES.items():
            (self.folder / f"{name}.py").write_text(text.format(package=self.name))
        # A file in its place keeps even a superuser from writing beside the sources.
        (self.folder / "__pycache__").write_text("not a folder")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def start(self) -> Any:
        """Compile the kernel as a new process does."""
        self.forget()
        importlib.invalidate_caches()
        compilation, entry = (
            importlib.import_module(f"{self.name}.{name}") for name in ("compilation", "entry")
        )
        vector = types.float64[::1]
        return compilation.compile_kernel(entry.total.py_func, [types.int64(vector, vector)])

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


def total(kernel: Any) -> float:
    """What the kernel says of (1, 2)."""
    out = np.empty(1)
    assert kernel(np.array([1.0, 2.0]), out) == 0
    return float(out[0])


def hits(kernel: Any) -> int:
    """How often the kernel was read from the cache."""
    return sum(kernel.stats.cache_hits.values())


@pytest.mark.filterwarnings("error")
def test_read_only_install_without_a_home(installation: Installation, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert total(installation.start()) == 3.0
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.filterwarnings("error")
def test_read_only_install_uses_the_given_cache(installation: Installation, cache: Path) -> None:
    first = installation.start()
    assert (total(first), hits(first)) == (3.0, 0)
    assert len(list(cache.rglob("*.nbc"))) == 1
    second = installation.start()
    assert (total(second), hits(second)) == (3.0, 1)
    # A change that does not concern the kernel compiles nothing.
    (installation.folder / "stranger.py").write_text("X = 1\n")
    third = installation.start()
    assert (total(third), hits(third)) == (3.0, 1)


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
    installation.replace("compilation", 'OPTIONS = {"error_model": "numpy"}', "OPTIONS = {}")
    kernel = installation.start()
    assert (total(kernel), hits(kernel)) == (8.0, 0)


class Planted:
    """A pickle that leaves a mark when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


SUPERUSER = os.name == "posix" and os.geteuid() == 0
STRANGER = 12345  # no user and no group of any machine has this number


def kept(cache: Path) -> Path:
    """The folder in which numba put the kernel."""
    return next(cache.rglob("*.nbi")).parent


@pytest.mark.skipif(os.name != "posix", reason="folders have no modes here")
def test_code_in_a_folder_that_everyone_may_write_does_not_run(
    installation: Installation, cache: Path, tmp_path: Path
) -> None:
    assert total(installation.start()) == 3.0
    folder, mark = kept(cache), tmp_path / "mark"
    for file in folder.glob("*.nbc"):
        file.write_bytes(pickle.dumps(Planted(mark)))
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="compiled code is not kept: other users may write"):
        assert total(installation.start()) == 3.0
    assert not mark.exists()
    folder.chmod(0o700)
    assert total(installation.start()) == 3.0
    assert mark.exists()  # what a user puts into a folder of their own is trusted


@pytest.mark.skipif(os.name != "posix", reason="folders have no modes here")
@pytest.mark.parametrize(
    ("place", "mode", "trusted"),
    [
        ("folder", 0o755, True),
        ("folder", 0o757, False),
        ("folder", 0o1777, False),
        ("parent", 0o777, False),
        ("parent", 0o1777, True),  # as /tmp: others cannot replace what is ours
    ],
)
def test_who_may_write_a_folder(tmp_path: Path, place: str, mode: int, trusted: bool) -> None:
    folder = tmp_path / "parent" / "folder"
    folder.mkdir(parents=True, mode=0o700)
    (folder if place == "folder" else folder.parent).chmod(mode)
    fault = compilation.fault_of(folder, "inverse.")
    assert fault == "" if trusted else fault.startswith("other users may write")
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert compilation.fault_of(link, "inverse.") == fault


@pytest.mark.skipif(os.name != "posix", reason="folders have no modes here")
@pytest.mark.parametrize("relative", [True, False])
def test_who_may_replace_a_link_to_a_folder(tmp_path: Path, relative: bool) -> None:
    """They lead to a folder of theirs after the look and before the reading."""
    folder, shared = tmp_path / "folder", tmp_path / "shared"
    folder.mkdir(mode=0o700)
    shared.mkdir()
    inner, outer = shared / "link", tmp_path / "outer"
    inner.symlink_to(Path("..", "folder") if relative else folder)
    outer.symlink_to(Path("shared", "link") if relative else inner)
    for path in (inner, outer):
        shared.chmod(0o755)
        assert compilation.fault_of(path, "inverse.") == ""
        shared.chmod(0o777)
        assert compilation.fault_of(path, "inverse.") == f"other users may write {shared}"
        shared.chmod(0o1777)
        assert compilation.fault_of(path, "inverse.") == ""
        if SUPERUSER:
            os.chown(inner, STRANGER, -1, follow_symlinks=False)
            fault = compilation.fault_of(path, "inverse.")
            assert fault == f"{inner} belongs to another user"
            os.chown(inner, 0, -1, follow_symlinks=False)


@pytest.mark.skipif(not SUPERUSER, reason="only the superuser may give files away")
@pytest.mark.parametrize("given", ["folder", "parent", "file", "other file", "group"])
def test_whose_folder_it_is(tmp_path: Path, given: str) -> None:
    parent = tmp_path / "parent"
    folder = parent / "folder"
    folder.mkdir(parents=True)
    file, other = folder / "inverse.a.nbc", folder / "mass.a.nbc"
    for path in (file, other):
        path.touch()
    if given == "group":
        os.chown(folder, -1, STRANGER)
        assert compilation.fault_of(folder, "inverse.") == ""
        folder.chmod(0o775)
        assert "may write" in compilation.fault_of(folder, "inverse.")
        return
    places = {"folder": folder, "parent": parent, "file": file, "other file": other}
    os.chown(places[given], STRANGER, -1)
    fault = compilation.fault_of(folder, "inverse.")
    assert fault == ("" if given == "other file" else f"{places[given]} belongs to another user")


@pytest.mark.skipif(os.name != "posix", reason="folders have no modes here")
def test_a_private_group_is_no_other_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many systems give each user a group of the same name, and let it write."""
    tmp_path.chmod(0o770)

    def group(name: str, *members: str) -> None:
        found = SimpleNamespace(gr_name=name, gr_mem=list(members))
        monkeypatch.setattr(compilation.grp, "getgrgid", lambda _: found)

    monkeypatch.setattr(compilation.pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="ada"))
    for name, members, trusted in (
        ("ada", (), True),
        ("ada", ("ada",), True),
        ("ada", ("ada", "eve"), False),
        ("ada", ("eve",), False),
        ("staff", (), False),
    ):
        group(name, *members)
        assert compilation.others_write(tmp_path.stat()) is not trusted


def test_the_layout_of_arrays_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another NumPy's layout the kernels would take any array for a plain one, or none."""
    look = compilation.check_memory_layout.__wrapped__
    look()
    for name in ("DTYPE", "KIND"):
        with monkeypatch.context() as patch:
            patch.setattr(memory, name, getattr(memory, name) + 8)
            with pytest.raises(RuntimeError, match="have another memory layout"):
                look()


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
    assert set(compilation.sources(module)) == closure(module)


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
        "import geared_dynamics.kernels.control_cycle, geared_dynamics.kernels.regressor\n"
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
