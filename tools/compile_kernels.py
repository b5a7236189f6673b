"""Compile all kernels for the tests, as ``geared-dynamics warm-up`` does.

    python tools/compile_kernels.py [--share]

The tests' own processes would each compile what they need, all of them the same. What is
compiled already is read from the cache that ``test/conftest.py`` names. With ``--share`` the
compiled code is copied beside the sources, where programs look for it that a user starts.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

CONFTEST = Path(__file__).resolve().parent.parent / "test" / "conftest.py"


def main() -> None:
    """Name the cache as the tests do, then compile."""
    spec = importlib.util.spec_from_file_location("conftest", CONFTEST)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    from rich.progress import track

    from geared_dynamics import kernels
    from geared_dynamics.apps.cli.warm_up import compiled

    parser = argparse.ArgumentParser()
    parser.add_argument("--share", action="store_true")
    given = parser.parse_args()
    names = list(kernels.KERNELS)
    done = compiled(names)
    if sys.stdout.isatty():
        done = iter(track(done, "compiling kernels", len(names)))
    print(f"{sum(1 for _ in done)} kernels compiled or found")
    if given.share:
        share([getattr(kernels, name) for name in names])


def share(compiled_kernels: list[Any]) -> None:
    """Copy compiled code to ``__pycache__`` beside the sources; the index files last."""
    for kernel in compiled_kernels:
        module = kernel.py_func.__module__.rpartition(".")[2]
        source = Path(sys.modules[kernel.py_func.__module__].__file__ or "")
        folder = source.parent / "__pycache__"
        folder.mkdir(exist_ok=True)
        names = Path(kernel.stats.cache_path).glob(f"{module}.{kernel.py_func.__qualname__}-*")
        for path in sorted(names, key=lambda path: path.suffix == ".nbi"):
            shutil.copy2(path, folder / path.name)


if __name__ == "__main__":
    main()
