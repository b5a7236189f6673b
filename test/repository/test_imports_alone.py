"""Every module can be the first that is imported: no circle that another order hides."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Libraries once; then a process for each module, which knows nothing of the package yet.
PROGRAM = """
import os, sys
from importlib import import_module
for library in ("numba", "scipy.signal", "rich.table", "mujoco"):
    import_module(library)
for name in sys.stdin.read().split():
    child = os.fork()
    if child == 0:
        code = 1
        try:
            import_module(name)
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        print(name)
"""


def failing(names: list[str], folder: Path) -> list[str]:
    """Names of the modules that cannot be imported first."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=" ".join(names),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(folder)},
        check=True,
    )
    return done.stdout.split()


@pytest.mark.validate
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_each_module_alone() -> None:
    pytest.importorskip("mujoco")
    files = [p.relative_to(ROOT).with_suffix("") for p in (ROOT / "geared_dynamics").rglob("*.py")]
    names = sorted(".".join(file.parts).removesuffix(".__init__") for file in files)
    ros = "geared_dynamics.ros"  # needs the system's packages
    assert len(names) > 100
    assert failing([name for name in names if not name.startswith(ros)], ROOT) == []


@pytest.mark.validate
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_circle_is_found(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "first.py").write_text("import second\nONE = second.TWO\n")
    (tmp_path / "second.py").write_text("from first import ONE\nTWO = ONE\n")
    (tmp_path / "third.py").write_text("import math\n")
    assert failing(["first", "second", "third"], tmp_path) == ["first", "second"]
