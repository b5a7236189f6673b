"""Arms with motors."""

from __future__ import annotations

from pathlib import Path

import pytest

import geared_dynamics as gd

ROBOTS = Path(__file__).parents[3] / "urdf"


@pytest.fixture(scope="session")
def tx40() -> gd.GearedModel:
    """Six joints, a coupled wrist, rotors coupled to the links that carry them."""
    return gd.load_model(ROBOTS / "tx40.urdf", ROBOTS / "tx40.drivetrain.yaml")


@pytest.fixture(scope="session")
def elbow() -> gd.GearedModel:
    """Three joints."""
    return gd.load_model(ROBOTS / "elbow.urdf", ROBOTS / "elbow.drivetrain.yaml")
