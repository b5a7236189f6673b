"""The kernels' scratch memory: theirs until they are done with it."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys

import pytest

from geared_dynamics import kernels

PROGRAM = """
import numpy as np
import geared_dynamics as gd

n = 18  # so long that scratch memory is not on the stack, nor in the C library's smallest bins
row = {"a": 0.1, "alpha": 0.3, "d": 0.1, "mass": 1.0, "tensor": np.eye(3)}
model = gd.from_dh([row] * n)
one, many = np.linspace(0, 1, n), np.linspace(0, 1, 3 * n).reshape(3, n)
for q in (one, many):
    print([f(model, q, q, q).tolist() for f in (
        gd.inverse_dynamics, gd.forward_dynamics, gd.regressor)])
    print([f(model, q, q).tolist() for f in (gd.coriolis_matrix, gd.kinetic_energy)])
    print([f(model, q, "link_9").tolist() for f in (gd.pose, gd.jacobian)])
    print(gd.jacobian_drift(model, q, q, "link_9").tolist(), gd.mass_matrix(model, q).tolist())
    print(gd.external_forces(model, q, np.ones((n, 6))).tolist())
short = gd.from_dh([row] * 11)
print(gd.forward_dynamics(short, one[:11], one[:11], one[:11]).tolist())
"""


def output(**environment: str) -> str:
    """Output of the program in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_freed_memory_is_not_read() -> None:
    """glibc overwrites what is freed when told to; elsewhere the setting does nothing."""
    assert output(MALLOC_PERTURB_="127") == output()


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_every_kernel_keeps_what_it_allocates(name: str) -> None:
    text = inspect.getsource(getattr(kernels, name).py_func)
    assert text.count("= np.") == text.count("buffer = np.") == 1
    assert re.search(r"return keep\(buffer, \w+\.OK\)$", text.rstrip())
