"""Arms with motors."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

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


@pytest.fixture(scope="session")
def balanced() -> gd.GearedModel:
    """The three joints with a torsion spring and a coil between two links."""
    drives = yaml.safe_load((ROBOTS / "elbow.drivetrain.yaml").read_text("utf-8"))
    bare = gd.load_model(ROBOTS / "elbow.urdf", drives)
    first, _, last = bare.body_names
    drives["balancers"] = {
        "torsion": {
            "torsion": {"stiffness": 30.0, "rest": 0.2, "preload": 5.0},
            "joint": bare.joint_names[1],
        },
        "coil": {
            "coil": {"stiffness": 400.0, "length": 0.25, "preload": 10.0},
            "anchors": [
                {"link": first, "position": [-0.2, 0.1, 0.1]},
                {"link": last, "position": [0.3, 0.05, 0.0]},
            ],
        },
    }
    return gd.load_model(ROBOTS / "elbow.urdf", drives)
