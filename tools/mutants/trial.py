"""A copy of the tree, and runs of pytest in it: forked, so that the libraries are loaded once."""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

KEPT = 400  # characters of output that a failed run shows
FOLDERS = (
    *("geared_dynamics", "test", "benchmarks", "urdf", "examples"),
    *("config", "launch", "docs", "resource", "recordings", "policies", "tools"),
)


def prepare(root: Path, folder: Path) -> Path:
    """Copy a tree, and compiled kernels, into a folder; return the copy.

    numba names the folder of a source's compiled code by where the source lies. The copy gets
    links to the files of the original, so that nothing is compiled again but what a mutant
    changes, and nothing of a mutant is kept.
    """
    tree = folder / "tree"
    tree.mkdir()
    for name in FOLDERS:
        if (root / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "figures")
            shutil.copytree(root / name, tree / name, ignore=ignored)
    for path in root.iterdir():
        if path.is_file():
            shutil.copy2(path, tree)
    # Sources are known by their content: a mutant may have the size and second of the original.
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
    subprocess.run([*command, str(tree / "geared_dynamics")], check=True)
    kept = Path(os.environ["NUMBA_CACHE_DIR"])
    own = folder / "cache"
    source, target = kept / cache_name(root), own / cache_name(tree)
    target.mkdir(parents=True)
    if source.is_dir():
        for path in source.iterdir():
            (target / path.name).symlink_to(path.resolve())
    return tree


def cache_name(tree: Path) -> str:
    """Name of the folder in which numba keeps a tree's kernels."""
    folder = str(tree / "geared_dynamics" / "kernels")
    return "kernels_" + hashlib.sha1(folder.encode()).hexdigest()


def load_libraries(cache: Path) -> None:
    """Import what every run needs and no mutant touches."""
    os.environ["NUMBA_CACHE_DIR"] = str(cache)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not outlive a fork
    for name in ("yaml", "numpy", "scipy.linalg", "scipy.optimize", "numba", "hypothesis"):
        importlib.import_module(name)


def forked(work: Callable[[], int], tree: Path, log: Path, limit: float) -> int | None:
    """Exit status of some work in a process of its own, None where it took too long.

    Args:
        work: What is done there.
        tree: Where it is done, and what is imported.
        log: File for what it prints.
        limit: Time that it may take [s].
    """
    child = os.fork()
    if not child:
        inside(work, tree, log)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            end_group(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    end_group(child)
    os.waitpid(child, 0)
    return None


def end_group(child: int) -> None:
    """End a process with all that it has started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass


def inside(work: Callable[[], int], tree: Path, log: Path) -> None:
    """Work as another process, and do not come back."""
    status = 70
    try:
        os.setsid()
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(target, stream)
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        paths = [str(tree), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        status = work()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def failures(log: Path) -> str:
    """The tests that a run says failed."""
    lines = log.read_text("utf-8", errors="replace").splitlines()
    named = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (named or lines[-1:] or ["nothing printed"])[0][:KEPT]
