"""Compile all kernels for the tests, as ``geared-dynamics warm-up`` does.

    python tools/compile_kernels.py [--without WORD ...]

The tests' own processes would each compile what they need, all of them the same. What is
compiled already is read from the cache that ``test/conftest.py`` names. Kernels with one of the
words in their names are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

CONFTEST = Path(__file__).resolve().parent.parent / "test" / "conftest.py"


def main() -> None:
    """Name the cache as the tests do, then compile."""
    spec = importlib.util.spec_from_file_location("conftest", CONFTEST)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    from geared_dynamics import kernels
    from geared_dynamics.apps.cli.warm_up import compiled

    parser = argparse.ArgumentParser()
    parser.add_argument("--without", nargs="*", default=[], metavar="WORD")
    words = parser.parse_args().without
    names = [name for name in kernels.KERNELS if not any(word in name for word in words)]
    print(f"{sum(1 for _ in compiled(names))} kernels compiled or found")


if __name__ == "__main__":
    main()
