"""Every example runs to its end without a display."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SLOW = {  # more than 3 s of a processor
    "control_laws", "crocoddyl_voltages", "driven_arm_volts", "elastic_observer",
    "energy_optimal_motion", "feedforward_worth", "identify_tx40", "line_on_a_plane",
    "optimal_motion", "payload_and_locked_joints", "planetary_arm", "stiffness_of_a_kr300",
    "torque_of_a_kr300",
}  # fmt: skip


def test_there_are_examples() -> None:
    assert EXAMPLES


def run(arguments: list[str], folder: Path) -> str:
    """Run Python on the source tree and return what it prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "example",
    [pytest.param(e, marks=[pytest.mark.validate] * (e.stem in SLOW)) for e in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    text = example.read_text("utf-8")
    for package in ("casadi", "crocoddyl"):
        if f"import {package}" in text or (package == "casadi" and "optimal_motion" in text):
            pytest.importorskip(package)
    printed = run([str(example), str(tmp_path / "figures")], tmp_path)
    assert printed.strip(), "an example ends in a printed result"
    strays = {path.name for path in tmp_path.iterdir()} - {"figures"}
    assert not strays, "pictures go to the folder that is named"


def test_pictures_of_the_examples_are_not_committed() -> None:
    """Without a folder they go to one that git ignores."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    for example in EXAMPLES:
        text = example.read_text("utf-8")
        if "savefig" in text:
            assert 'FIGURES = Path(__file__).parent / "figures"' in text, example.name
            assert "/examples/figures/" in ignored
