"""Where nothing can be written, the kernels are compiled at each start, without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import tempfile

def refuse(*args, **kwargs):
    raise PermissionError(13, "read-only file system")

tempfile.TemporaryFile = refuse  # how numba finds out whether a folder can hold its cache

import numpy as np
import geared_dynamics as gd

model = gd.load_model("urdf/elbow.urdf", "urdf/elbow.drivetrain.yaml")
print(gd.gravity_forces(model, np.zeros(model.n)).shape)
"""


def test_read_only_install_works(root: Path, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(3,)"
    assert done.stderr == ""
    assert list(tmp_path.rglob("*.nb?")) == []
