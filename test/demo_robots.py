"""Robots for the tests of the demo."""

from __future__ import annotations

from pathlib import Path

import geared_dynamics as gd

URDF = Path(__file__).resolve().parents[1] / "urdf"


def brisk6() -> gd.GearedModel:
    """Low ratios, motors with all limits."""
    return gd.load_model(URDF / "brisk6.urdf", URDF / "brisk6.drivetrain.yaml")


def elbow() -> gd.GearedModel:
    """Motors without limits."""
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")
