"""The published robots, loaded once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import geared_dynamics as gd
from geared_dynamics.model.model import GearedModel

ROBOTS = Path(__file__).parents[2] / "urdf"


def load(name: str) -> GearedModel:
    """Load a robot of ``urdf/``; the PUMA's link 1 is known to warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gd.GearedDynamicsWarning)
        return gd.load_model(ROBOTS / f"{name}.urdf", ROBOTS / f"{name}.drivetrain.yaml")


@pytest.fixture(scope="session")
def published() -> Callable[[str], GearedModel]:
    """A function that loads a robot by name, each once."""
    loaded: dict[str, GearedModel] = {}

    def find(name: str) -> GearedModel:
        if name not in loaded:
            loaded[name] = load(name)
        return loaded[name]

    return find
